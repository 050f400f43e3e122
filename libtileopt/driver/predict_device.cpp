#include "driver/predict_device.h"

#include <algorithm>

#include "driver/pipeline.h"
#include "rewrites/apply_rewrites.h"
#include "search/versions.h"

namespace tileopt {
namespace {

std::shared_ptr<const Program> rewritten_program(const Program& source, const Plan& plan) {
  const std::shared_ptr<const Program> borrowed(std::shared_ptr<void>(), &source);
  const auto rewritten = apply_rewrites(borrowed, plan.rewrites);
  if (const auto* refused = std::get_if<Infeasible>(&rewritten))
    throw Errors(Diagnostic{ErrorCode::invalid_plan, {}, "the plan's rewrites do not fit the program: " + refused->reason,
                            "use the program that the plan was made for", ""});
  return std::get<RewrittenProgram>(rewritten).program;
}

DeviceCost predict(const Program& program, const Plan& plan, const std::vector<Ast>& asts, const std::vector<PrintFacts>& facts, const Machine& machine,
                   const TypicalSizes& given) {
  const TypicalSizes sizes = complete_sizes(program, given);
  const Plan running = running_at(plan, program, sizes);
  std::vector<LaunchCounts> launches;
  for (std::size_t k = 0; k < asts.size() && k < facts.size(); ++k) {
    const bool runs = std::any_of(running.kernels.begin(), running.kernels.end(), [&](const KernelPlan& kernel) { return kernel.name == asts[k].kernel; });
    if (!runs) continue;
    for (LaunchCounts& counts : count_launches(program, asts[k], facts[k], machine, sizes)) launches.push_back(std::move(counts));
  }
  return add_launches(launches, machine);
}

}  // namespace

DeviceCost predict_module(const Program& source, const Module& module, const Machine& machine, const TypicalSizes& sizes) {
  return predict(*rewritten_program(source, module.plan), module.plan, module.asts, module.text.facts, machine, sizes);
}

Candidate<DeviceCost> predict_plan(const std::shared_ptr<const Program>& source, const Plan& plan, const Machine& machine, const Backend& backend,
                                   const TypicalSizes& sizes) {
  Trace trace;
  TILEOPT_TRY(stages, compile_stages(source, plan, machine, trace));
  std::vector<Ast> asts;
  for (const KernelStages& kernel : stages) asts.push_back(kernel.ast);
  const std::shared_ptr<const Program> program = rewritten_program(*source, plan);
  TILEOPT_TRY(text, backend.print(*program, asts, machine, TILEOPT_VERSION));
  return predict(*program, plan, asts, text.facts, machine, sizes);
}

}  // namespace tileopt
