#include "driver/pipeline.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "driver/check_rewrites.h"
#include "driver/check_versions.h"
#include "passes/passes.h"
#include "rewrites/apply_rewrites.h"
#include "verify/verify.h"

namespace tileopt {

namespace {

constexpr const char* version = TILEOPT_VERSION;

[[noreturn]] void reject_plan(const std::string& message, const std::string& hint) {
  throw Errors(Diagnostic{ErrorCode::invalid_plan, {}, message, hint, ""});
}

void check_plan(const Program& program, const Plan& plan, const Machine& machine) {
  if (plan.version != version)
    reject_plan("the plan was made by tileopt " + plan.version + ", this is " + version,
                "make the plan again with this version: leave --plan out, or pin its decisions in a @schedule function");
  if (plan.program != program.name())
    reject_plan("the plan is for program `" + plan.program + "`, not `" + program.name() + "`", "give the plan of this program");
  if (plan.program_hash != program.hash())
    reject_plan("the plan is for another text of program `" + program.name() + "`",
                "the program changed after the plan was made; make the plan again");
  if (plan.machine != machine.name)
    reject_plan("the plan is for machine `" + plan.machine + "`, not `" + machine.name + "`", "use --machine " + plan.machine);
}

Candidate<Ast> choose_ast(const SynchronizedSchedule& synchronized, const std::string& kernel, const EditedAsts& edited, const PlannedStages* planned) {
  const auto found = edited.find(kernel);
  if (found != edited.end()) return found->second;
  return planned != nullptr && planned->ast ? Candidate<Ast>(*planned->ast) : build_ast(synchronized);
}

/// Of the same kernel plan: what planning made of it is what the passes would make of it.
const PlannedStages* find_planned(const Kernel& kernel, const std::vector<PlannedStages>& planned) {
  const std::string text = write_kernel_plan(kernel.plan()).dump();
  const auto found = std::find_if(planned.begin(), planned.end(), [&](const PlannedStages& stages) { return stages.plan == text; });
  return found == planned.end() ? nullptr : &*found;
}

/// Schedule to Ast of one kernel. `planned`: its stages where they are known, or null.
Candidate<KernelStages> compile_kernel(const Kernel& kernel, const Machine& machine, Trace& trace, const EditedAsts& edited, const PlannedStages* planned) {
  const std::string& name = kernel.name();
  const SynchronizedSchedule* known = planned == nullptr ? nullptr : &planned->synchronized;
  const FittedSchedule* known_fitted = known == nullptr ? nullptr : &known->promoted().fitted();
  TILEOPT_TRY(schedule,     trace("20-schedule",     name, [&] { return known ? known_fitted->digits().schedule() : compute_schedule(kernel); }));
  TILEOPT_TRY(digits,       trace("30-digits",       name, [&] { return known ? known_fitted->digits() : digitize(schedule, machine); }));
  TILEOPT_TRY(fitted,       trace("40-fitted",       name, [&] { return known ? *known_fitted : fit_atoms(digits, machine); }));
  TILEOPT_TRY(promoted,     trace("50-promoted",     name, [&] { return known ? known->promoted() : promote_footprints(fitted, machine); }));
  TILEOPT_TRY(pipelined,    trace("55-pipelined",    name, [&] { return known ? known->pipelined() : pipeline_copies(promoted, machine); }));
  TILEOPT_TRY(synchronized, trace("58-synchronized", name, [&] { return known ? *known : place_barriers(pipelined, machine); }));
  TILEOPT_TRY(ast,          trace("60-ast",          name, [&] { return choose_ast(synchronized, name, edited, planned); }));
  return KernelStages{std::move(synchronized), std::move(ast)};
}

/// Every kernel, also after one that stops where `--stop-after` asks; the first refusal otherwise.
Candidate<std::vector<KernelStages>> compile_kernels(const std::vector<Kernel>& kernels, const Machine& machine, Trace& trace,
                                                     const EditedAsts& edited, const std::vector<PlannedStages>& planned = {}) {
  std::vector<KernelStages> all;
  std::optional<Infeasible> stopped;
  for (const Kernel& kernel : kernels) {
    Candidate<KernelStages> stages = compile_kernel(kernel, machine, trace, edited, trace.options().dumps() ? nullptr : find_planned(kernel, planned));
    if (feasible(stages)) {
      all.push_back(std::get<KernelStages>(std::move(stages)));
    } else {
      stopped = std::get<Infeasible>(std::move(stages));
      if (stopped->kernel.empty()) stopped->kernel = kernel.name();
      if (stopped->code != stopped_code) break;
    }
  }
  if (stopped) return std::move(*stopped);
  return all;
}

std::vector<Ast> asts_of(const std::vector<KernelStages>& kernels) {
  std::vector<Ast> asts;
  for (const KernelStages& kernel : kernels) asts.push_back(kernel.ast);
  return asts;
}

}  // namespace

Candidate<std::vector<KernelStages>> compile_stages(std::shared_ptr<const Program> source, const Plan& plan, const Machine& machine,
                                                    Trace& trace, const EditedAsts& edited, std::shared_ptr<const Dependences> known) {
  check_plan(*source, plan, machine);
  trace.begin(source, plan, machine);
  TILEOPT_TRY(rewritten,   trace("05-rewritten",   [&] { return apply_rewrites(source, plan.rewrites); }));
  TILEOPT_TRY(dependences, trace("10-dependences", [&] {
    return known != nullptr && rewritten.rewrites.empty() ? known : std::make_shared<const Dependences>(analyze_dependences(*rewritten.program));
  }));
  TILEOPT_TRY(kernels,     trace("15-kernels",     [&] { return group_kernels(rewritten.program, dependences, plan); }));
  return compile_kernels(kernels, machine, trace, edited);
}

Candidate<Module> compile(std::shared_ptr<const Program> source, const Plan& plan, const Machine& machine,
                          const Backend& backend, Trace& trace, const EditedAsts& edited, const ProofOptions& proof,
                          const std::vector<PlannedStages>& planned) {
  check_plan(*source, plan, machine);
  trace.begin(source, plan, machine);
  TILEOPT_TRY(rewritten,   trace("05-rewritten",   [&] { return apply_rewrites(source, plan.rewrites); }));
  const Program& program = *rewritten.program;
  TILEOPT_TRY(dependences, trace("10-dependences", [&] { return std::make_shared<const Dependences>(analyze_dependences(program)); }));
  TILEOPT_TRY(kernels,     trace("15-kernels",     [&] { return group_kernels(rewritten.program, dependences, plan); }));
  TILEOPT_TRY(stages,      compile_kernels(kernels, machine, trace, edited, planned));
  std::vector<Ast> asts = asts_of(stages);
  TILEOPT_TRY(text,        trace("70-source",      [&] { return backend.print(program, asts, machine, version); }));
  TILEOPT_TRY(certificate, trace("80-certificate", [&] {
    Certificate proved = verify(program, asts, text.facts, machine, version, proof);
    if (proof.attempt) attest_rewrites(*source, rewritten, proved);
    if (proof.attempt) attest_versions(program, plan, asts, proved);
    return proved;
  }));
  return Module{source->name(), plan, std::move(text), std::move(certificate), std::move(asts)};
}

}  // namespace tileopt
