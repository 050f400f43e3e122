/// The search with kernels that are really compiled and run: faults that are planted in their texts cost themselves only.
#include <gtest/gtest.h>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "explore/measured_trials.h"
#include "explore/search.h"
#include "frontends/tile_text/tile_text.h"
#include "records/record_file.h"
#include "space/describe_space.h"
#include "tests/unit/records/sample_record.h"

namespace tileopt {
namespace {

const char* const product = R"(
def product(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))
)";

/// Builds as the Measurer does, but puts a line of C in front of some of the kernels.
class FaultyTrials : public Trials {
 public:
  FaultyTrials(std::shared_ptr<const Program> program, const Machine& machine, const MeasureOptions& options,
               std::vector<std::string> faults)
      : program_(program), machine_(machine), measurer_(program, machine, options), faults_(std::move(faults)) {}

  const RecordKey& key() const override { return measurer_.key(); }
  std::unique_ptr<Build> begin(const Plan& plan, const std::string& origin) override {
    Request request;
    request.machine = machine_;
    request.plan = plan;
    Trace trace;
    SourceText text = std::get<Outcome>(resolve_and_compile(program_, request, trace)).module.text;
    const std::string fault = next_ < faults_.size() ? faults_[next_] : "";
    ++next_;
    const std::size_t brace = text.source.find("{\n", text.source.rfind("int32_t product("));
    text.source.insert(brace + 2, "  " + fault + "\n");
    text.source.insert(0, "#include <stdlib.h>\n");
    auto build = std::make_unique<Faulty>();
    build->prepared = measurer_.prepare_text(plan, text, origin);
    return build;
  }
  Record time(Build& build) override { return measurer_.time(*static_cast<Faulty&>(build).prepared); }
  Record time_again(Build& build) override { return time(build); }

 private:
  struct Faulty : Build {
    std::optional<PreparedPlan> prepared;
    void settle() override {}
  };
  std::shared_ptr<const Program> program_;
  Machine machine_;
  Measurer measurer_;
  std::vector<std::string> faults_;
  std::size_t next_ = 0;
};

TEST(SearchForReal, FaultsAreToldApartAndTheBestIsSound) {
  poly::Context context;
  const auto program = std::make_shared<const Program>(parse_tile_file(context.get(), product, "t.tile").programs.at(0));
  const Machine machine = find_machine("host");
  MeasureOptions measured;
  measured.sizes = {{"M", 200}, {"N", 150}, {"K", 50}};
  measured.seconds = 0.002;
  measured.timeout = 1.5;
  ResolveOptions resolve;
  resolve.typical_sizes = {{"M", 200}, {"N", 150}, {"K", 50}};
  const auto described = describe_space(*program, {}, machine, resolve);
  ASSERT_TRUE(feasible(described));
  const PlanSpace& space = std::get<PlanSpace>(described);
  PointScorer scorer(space, machine, 1);
  // The first one is the planner's own; the last two are sound.
  FaultyTrials trials(program, machine, measured,
                      {"if (M > 100) *(volatile int*)8 = 1;", "if (M > 100) for (volatile int i = 0;; i = 1 - i) {}",
                       "if (M > 100) { C[7] = 3; return 0; }", "if (M > 100) C[M * N] = 1;", "", "", ""});
  const RecordFolder folder;
  SearchOptions options;
  options.strategy = "random";
  options.trials = 6;
  options.finalists = 1;
  options.rounds = 1;
  options.records = folder.file();
  const Resolver resolver = [&](const Point& point) -> Candidate<Plan> {
    TILEOPT_TRY(resolved, resolve_point(space, point, *program, machine, resolve));
    return std::move(resolved.plan);
  };
  const SearchResult result = run_search(space, scorer, resolver, trials, options);
  ASSERT_EQ(result.trials.size(), 6u);
  const std::vector<RecordOutcome> expected = {RecordOutcome::crashed, RecordOutcome::hung,     RecordOutcome::wrong,
                                               RecordOutcome::overrun, RecordOutcome::measured, RecordOutcome::measured};
  for (std::size_t t = 0; t < expected.size(); ++t)
    EXPECT_EQ(outcome_name(result.trials[t].outcome), outcome_name(expected[t])) << t << ": " << result.trials[t].detail;
  ASSERT_TRUE(result.best());
  EXPECT_GE(*result.best(), 4u);
  EXPECT_EQ(read_records(folder.file()).size(), 7u) << "six trials and one finalist";
}

}  // namespace
}  // namespace tileopt
