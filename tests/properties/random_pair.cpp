#include "random_pair.h"

#include "frontends/tile_text/tile_text.h"
#include "passes/passes.h"

namespace tileopt::testing {

std::string pair_text(const Program& program, const Plan& plan) { return program.text() + plan.write().dump(2); }

std::optional<RandomCase> RandomCase::make(isl::ctx ctx, std::uint64_t seed, const Machine& machine) {
  RandomCase random(machine);
  const std::string text = random_program(seed, &random.features_);
  random.program_ = std::make_shared<const Program>(parse_tile_file(ctx, text, "random.tile").programs.at(0));
  const poly::QuotaGuard quota(ctx, analysis_quota);
  try {
    random.dependences_ = std::make_shared<const Dependences>(analyze_dependences(*random.program_));
  } catch (const isl::exception& error) {
    // Where a C call fails first, its null result throws another exception than the quota's.
    if (dynamic_cast<const isl::exception_quota*>(&error) == nullptr && !poly::quota_exceeded(ctx)) throw;
    return std::nullopt;
  }
  return random;
}

const Plan& RandomCase::base(const std::string& pins, int threads, std::optional<Plan>& kept) {
  if (kept) return *kept;
  ResolveOptions options;
  options.threads = threads;
  options.rewrites = false;  // random plans change loops; rewrites have a test of their own
  const Candidate<ResolvedPlan> resolved = resolve_plan(*program_, pins.empty() ? Pins{} : parse_pins(pins, "pins"), machine_, options);
  if (const auto* refused = std::get_if<Infeasible>(&resolved)) TILEOPT_CHECK(false, "no base plan: " + to_string(*refused) + "\n" + program_->text());
  kept = std::get<ResolvedPlan>(resolved).plan;
  return *kept;
}

Plan RandomCase::plan(std::uint64_t seed, PlanFeatures* features) {
  const bool original = seed % 4 != 0;
  const bool threads = seed / 16 % 3 == 0;
  const Plan& from = original ? base("schedule(\"original\")", 1, original_)
                     : threads ? base("", 2, two_threads_)
                               : base("", 1, one_thread_);
  Plan plan = original ? random_plan(program_, dependences_, from, machine_, choices_, seed) : seed % 16 == 0 ? from : shrunk_plan(from, seed);
  if (features != nullptr) *features = features_of(plan, from, machine_);
  return plan;
}

}  // namespace tileopt::testing
