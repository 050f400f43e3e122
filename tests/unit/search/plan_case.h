/// Plans of programs given as tile text, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cost_models/machines.h"
#include "frontends/tile_text/tile_text.h"
#include "passes/passes.h"
#include "rewrites/apply_rewrites.h"
#include "search/resolve_plan.h"

namespace tileopt {

/// One program in a context of its own.
class PlanCase {
 public:
  explicit PlanCase(const std::string& text) : file_(parse_tile_file(context_.get(), text, "t.tile")) {}

  const Program& program() const { return file_.programs.at(0); }

  Candidate<ResolvedPlan> resolve(const std::string& pins = "", const std::string& machine = "x86-64-v3", ResolveOptions options = {}) const {
    return resolve_plan(program(), pins.empty() ? Pins{} : parse_pins(pins, "pins"), find_machine(machine), options);
  }

  /// The only kernel of the resolved plan; fails the test where there is none.
  KernelPlan kernel(const std::string& pins = "", const std::string& machine = "x86-64-v3", ResolveOptions options = {}) const {
    const auto candidate = resolve(pins, machine, options);
    if (const Infeasible* refused = std::get_if<Infeasible>(&candidate)) {
      ADD_FAILURE() << to_string(*refused);
      return {};
    }
    const Plan& plan = std::get<ResolvedPlan>(candidate).plan;
    EXPECT_EQ(plan.kernels.size(), 1u);
    expect_compiles(plan, machine);
    return plan.kernels.front();
  }

  /// Runs every pass up to the loops on the plan as it is read back from its own text.
  void expect_compiles(const Plan& resolved, const std::string& machine_name) const {
    const Machine machine = find_machine(machine_name);
    const Plan plan = Plan::read(parse_json(resolved.write().dump(2), "plan"), "plan");
    EXPECT_EQ(plan.write().dump(), resolved.write().dump());
    const auto rewritten = apply_rewrites(std::make_shared<const Program>(program()), plan.rewrites);
    ASSERT_TRUE(feasible(rewritten)) << to_string(std::get<Infeasible>(rewritten));
    const std::shared_ptr<const Program> shared = std::get<RewrittenProgram>(rewritten);
    const auto kernels = group_kernels(shared, std::make_shared<const Dependences>(analyze_dependences(*shared)), plan);
    ASSERT_TRUE(feasible(kernels)) << to_string(std::get<Infeasible>(kernels));
    for (const Kernel& kernel : std::get<0>(kernels)) {
      const auto synchronized = run_passes(kernel, machine);
      ASSERT_TRUE(feasible(synchronized)) << to_string(std::get<Infeasible>(synchronized));
      EXPECT_TRUE(feasible(build_ast(std::get<0>(synchronized))));
    }
  }

  std::string infeasible(const std::string& pins, const std::string& machine = "x86-64-v3") const {
    const auto candidate = resolve(pins, machine);
    if (feasible(candidate)) {
      ADD_FAILURE() << "feasible: " << pins;
      return "";
    }
    EXPECT_EQ(std::get<Infeasible>(candidate).code, "pin");
    return std::get<Infeasible>(candidate).reason;
  }

  static Candidate<SynchronizedSchedule> run_passes(const Kernel& kernel, const Machine& machine) {
    TILEOPT_TRY(schedule, compute_schedule(kernel));
    TILEOPT_TRY(digits, digitize(schedule, machine));
    TILEOPT_TRY(fitted, fit_atoms(digits, machine));
    TILEOPT_TRY(promoted, promote_footprints(fitted, machine));
    TILEOPT_TRY(pipelined, pipeline_copies(promoted, machine));
    return place_barriers(pipelined, machine);
  }

 private:
  poly::Context context_;
  TileFile file_;
};

inline std::string kernel_file(const std::string& name) {
  return read_file(std::string(TILEOPT_SOURCE_DIR) + "/benchmarks/kernels/" + name + ".tile");
}

/// "ic:0@serial ir:42@serial ii:6@atom"
inline std::string digits_text(const KernelPlan& kernel, const std::string& member) {
  std::string text;
  for (const auto& [name, digits] : kernel.digits) {
    if (name != member) continue;
    for (const Digit& digit : digits) {
      text += (text.empty() ? "" : " ") + digit.name + ":" + std::to_string(digit.radix) + "@" + digit.level;
    }
  }
  return text;
}

inline const Promotion* find_promotion(const KernelPlan& kernel, const std::string& tensor) {
  for (const Promotion& promotion : kernel.promotions) {
    if (promotion.tensor == tensor) return &promotion;
  }
  return nullptr;
}

}  // namespace tileopt
