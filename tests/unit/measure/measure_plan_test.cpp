/// Measuring: a sound kernel gives a sound record; kernels with a planted fault are each told apart, and cost themselves only.
#include "measure/measure_plan.h"

#include <gtest/gtest.h>

#include "cost_models/machines.h"
#include "frontends/tile_text/tile_text.h"

namespace tileopt {
namespace {

const char* const axpy = R"(
def axpy(a: f32, x: f32[N], y: inout[f32[N]], z: out[f32[N]]):
    for i in range(N):
        y[i] = a * x[i] + y[i]
        z[i] = x[i] - a
)";

const char* const gemm = R"(
@numerics(contract=True)
def gemm(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))
)";

// A program with its default plan and text, and what measures it.
class Bench {
 public:
  explicit Bench(const std::string& text, MeasureOptions options) {
    program_ = std::make_shared<const Program>(parse_tile_file(context_.get(), text, "t.tile").programs.at(0));
    Request request;
    request.machine = find_machine("host");
    request.resolve.typical_sizes = {options.sizes.begin(), options.sizes.end()};
    Trace trace;
    module_ = std::get<Outcome>(resolve_and_compile(program_, request, trace)).module;
    measurer_.emplace(program_, request.machine, std::move(options));
  }
  Measurer& measurer() { return *measurer_; }
  const Plan& plan() const { return module_->plan; }
  const SourceText& text() const { return module_->text; }

  // The kernel with `code` as the first thing that its launcher does.
  Record with_fault(const std::string& code) {
    SourceText faulty = module_->text;
    const std::size_t function = faulty.source.rfind("int32_t " + program_->name() + "(");
    const std::size_t brace = faulty.source.find("{\n", function);
    EXPECT_NE(function, std::string::npos);
    faulty.source.insert(brace + 2, "  " + code + "\n");
    faulty.source.insert(0, "#include <stdlib.h>\n#include <string.h>\n");
    return measurer_->time(measurer_->prepare_text(module_->plan, faulty, "planted"));
  }

 private:
  poly::Context context_;
  std::shared_ptr<const Program> program_;
  std::optional<Module> module_;
  std::optional<Measurer> measurer_;
};

MeasureOptions options_for(const Sizes& sizes) {
  MeasureOptions options;
  options.sizes = sizes;
  options.seconds = 0.02;
  options.timeout = 3;
  return options;
}

TEST(MeasurePlan, ASoundKernelGivesASoundRecord) {
  Bench bench(axpy, options_for({{"N", 20000}}));
  const Record record = bench.measurer().measure(bench.plan(), "resolve");
  EXPECT_EQ(record.outcome, RecordOutcome::measured) << record.detail;
  EXPECT_GE(record.samples.size(), 3u);
  EXPECT_GT(record.seconds, 0);
  EXPECT_EQ(record.origin, "resolve");
  EXPECT_EQ(record.source_hash, hash_text(bench.text().source + bench.text().header));
  EXPECT_EQ(record.key.sizes, (std::map<std::string, std::int64_t>{{"N", 20000}}));
  EXPECT_FALSE(record.key.compiler.empty());
  EXPECT_NE(record.key.flags.find("-O3"), std::string::npos);
  Record read;
  BadLine bad;
  EXPECT_TRUE(parse_record(record.line(), read, bad)) << bad.reason;
}

TEST(MeasurePlan, PlansThatCannotBeBuiltAreRecordsToo) {
  Bench bench(axpy, options_for({{"N", 2000}}));
  Plan plan = bench.plan();
  plan.kernels.at(0).tree = Tree::read("nonsense", "plan");
  const Record record = bench.measurer().measure(plan, "random");
  EXPECT_EQ(record.outcome, RecordOutcome::infeasible);
  EXPECT_NE(record.detail.find("nonsense"), std::string::npos) << record.detail;
  EXPECT_TRUE(record.samples.empty());
}

struct Fault {
  const char* code;
  RecordOutcome outcome;
};

// Faults that show at the sizes of the measurement alone, unless the small sizes catch them first.
TEST(MeasurePlan, PlantedFaultsAreToldApart) {
  const std::vector<Fault> faults = {
      {"*(volatile int*)8 = 1;", RecordOutcome::crashed},
      {"if (N > 1000) *(volatile int*)8 = 1;", RecordOutcome::crashed},
      {"if (N > 1000) abort();", RecordOutcome::crashed},
      {"if (N > 1000) _Exit(0);", RecordOutcome::crashed},
      {"if (N > 1000) for (volatile int i = 0;; i = 1 - i) {}", RecordOutcome::hung},
      {"if (N > 1000) return 7;", RecordOutcome::refused},
      {"if (N > 1) y[N / 2] += 1;", RecordOutcome::wrong},
      {"if (N > 1000) y[N / 2] += 1;", RecordOutcome::wrong},
      {"if (N > 1000) return 0;", RecordOutcome::wrong},
      {"if (N > 1000) y[N] = 1;", RecordOutcome::overrun},
      {"if (N > 1000) z[-1] = 1;", RecordOutcome::overrun},
      {"if (N > 1000) ((float*)x)[3] = 5;", RecordOutcome::overrun},
      {"static int calls; if (N > 1000 && ++calls > 2) return 0;", RecordOutcome::unstable},
      {"static int calls; if (N > 1000 && ++calls == 3) return 9;", RecordOutcome::refused},
      {"static int calls; if (N > 1000 && ++calls > 2) y[0] += 1;", RecordOutcome::unstable},
      {"if (N > 1000) { volatile char* p = malloc(8 << 20); for (int i = 0; i < 8 << 20; i += 512) p[i] = 1; }", RecordOutcome::leaking},
      {"this is no C;", RecordOutcome::compile_failed},
  };
  Bench bench(axpy, options_for({{"N", 20000}}));
  for (const Fault& fault : faults) {
    const Record record = bench.with_fault(fault.code);
    EXPECT_EQ(outcome_name(record.outcome), outcome_name(fault.outcome)) << fault.code << ": " << record.detail;
    EXPECT_FALSE(record.detail.empty()) << fault.code;
  }
  EXPECT_EQ(bench.measurer().measure(bench.plan(), "after").outcome, RecordOutcome::measured) << "nothing of it is left over";
}

// It computes once and hands out copies: all results are right, the time is not.
TEST(MeasurePlan, AKernelThatRemembersItsAnswerIsImplausiblyFast) {
  MeasureOptions options = options_for({{"M", 256}, {"N", 256}, {"K", 4096}});
  options.timeout = 60;
  Bench bench(gemm, options);
  bench.measurer().set_reference(CompiledKernel::compile(parse_tile_file(poly::Context().get(), gemm, "t.tile").programs.at(0), bench.text(), find_machine("host")));
  EXPECT_EQ(bench.measurer().measure(bench.plan(), "resolve").outcome, RecordOutcome::measured);
  const Record record = bench.with_fault("static float* known; if (K == 4096) { if (known != NULL) { memcpy(C, known, sizeof(float) * (size_t)(M * N)); return 0; }"
                                         " known = malloc(sizeof(float) * (size_t)(M * N)); for (int64_t i = 0; i < M; ++i) for (int64_t j = 0; j < N; ++j) {"
                                         " float s = 0; for (int64_t k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j]; known[i * N + j] = s; }"
                                         " memcpy(C, known, sizeof(float) * (size_t)(M * N)); return 0; }");
  EXPECT_EQ(outcome_name(record.outcome), "implausible") << record.detail << " " << record.seconds;
}

TEST(MeasurePlan, WithoutTheInterpreterResultsAreComparedWithACheckedKernel) {
  MeasureOptions options = options_for({{"N", std::int64_t(3) << 20}});
  options.timeout = 60;
  Bench bench(axpy, options);
  bench.measurer().set_reference(CompiledKernel::compile(parse_tile_file(poly::Context().get(), axpy, "t.tile").programs.at(0), bench.text(), find_machine("host")));
  EXPECT_EQ(outcome_name(bench.with_fault("if (N > 1000) y[N / 2] += 1;").outcome), "wrong");
  EXPECT_EQ(outcome_name(bench.measurer().measure(bench.plan(), "resolve").outcome), "measured");
}

}  // namespace
}  // namespace tileopt
