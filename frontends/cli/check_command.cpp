#include "backends/runner/emulated_kernel.h"
#include "driver/check_kernel.h"
#include "driver/check_stages.h"
#include "driver/check_versions.h"
#include "driver/executable_kernel.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/guard.h"
#include "frontends/cli/items.h"
#include "frontends/cli/scratch.h"
#include "support/render_error.h"

namespace tileopt::cli {

namespace {

/// The sizes of --size alone where they name every parameter; a spread otherwise, in which every version runs.
std::vector<Sizes> sizes_to_check(const Item& item, const SizeSpread& spread, const std::vector<isl::set>& versions) {
  if (!item.sizes.empty() && item.sizes.size() == item.program->parameters().size()) return {item.sizes};
  std::vector<Sizes> all;
  for (const Sizes& vector : spread_sizes(*item.program, spread, versions)) {
    Sizes fixed = vector;
    for (const auto& [name, value] : item.sizes) fixed[name] = value;
    if (sizes_fit(*item.program, fixed, spread)) all.push_back(fixed);
  }
  if (all.empty())
    throw Errors(Diagnostic{ErrorCode::invalid_size, {item.file, 0, 0}, "program `" + item.program->name() + "` has no sizes small enough for the interpreter",
                            "its loops run too often at every size (--stages runs fewer than a plain check does); `compile` proves it without running it", ""});
  return all;
}

/// The compiled kernel where its machine is; or, emulated, GPU text on the host under several orders.
CheckReport check_module(const Item& item, const Module& module, const Options& options) {
  const Machine& machine = item.request.machine;
  const std::vector<isl::set> versions = versions_of(*item.program, module.plan);
  if (!options.emulate) {
    const ExecutableKernel kernel = ExecutableKernel::compile(*item.program, module.text, machine);
    return check_kernels(*item.program, {&kernel}, sizes_to_check(item, check_spread(), versions), options.seed);
  }
  const EmulatedKernel kernel = EmulatedKernel::compile(*item.program, module.text);
  std::vector<EmulatedKernel> settings;
  for (const emulator::Settings& setting : check_settings(machine, options.seed))
    settings.push_back(kernel.with(setting));
  std::vector<const IsolatedKernel*> kernels;
  for (const EmulatedKernel& each : settings) kernels.push_back(&each);
  return check_kernels(*item.program, kernels, sizes_to_check(item, emulation_spread(), versions), options.seed);
}

/// @throws Errors(invalid_option) where the machine is none whose kernels the emulator runs.
void require_device_text(const Item& item) {
  const Machine& machine = item.request.machine;
  if (machine.has_agents()) return;
  throw Errors(Diagnostic{ErrorCode::invalid_option, {}, "--emulate runs kernels of GPUs; machine " + machine.name + " is a processor",
                          "choose a GPU, e.g. --machine h200, or leave --emulate away", ""});
}

ItemResult check_one(const Item& item, const Options& options) {
  if (options.emulate) require_device_text(item);
  Compiled compiled = compile_item(item);
  if (!compiled.module) return compiled.failed;
  const CheckReport report = check_module(item, *compiled.module, options);
  ItemResult result;
  result.summary = std::string(item.request.proof.attempt ? "proved; " : "not proved, as asked; ") + (options.emulate ? "emulated: " : "") + report.text();
  result.details["obligations"] = certificate_summary(compiled.module->certificate);
  result.details["runs"] = report.runs;
  result.details["sizes"] = Document::array();
  for (const Sizes& sizes : report.sizes) result.details["sizes"].push_back(sizes);
  if (report.failure.empty()) return result;
  ItemResult wrong = wrong_result(item.file, item.program->name(), report.failure);
  for (const auto& [key, value] : result.details.items()) wrong.details[key] = value;
  return wrong;
}

std::vector<isl::set> versions_of_stages(const std::vector<KernelStages>& kernels) {
  std::vector<isl::set> versions;
  for (const KernelStages& kernel : kernels)
    if (const Kernel& of = kernel.schedule().kernel(); !of.plan().when.empty()) versions.push_back(of.program().context());
  return versions;
}

/// The stages alone: no compiler is needed, and a plan whose kernel cannot be proved is the very thing to look at.
ItemResult check_stages_of(const Item& item, std::uint64_t seed) {
  Trace trace(item.trace);
  const Candidate<std::vector<KernelStages>> candidate = resolve_and_stage(item.program, item.request, trace, item.edited);
  if (const auto* refused = std::get_if<Infeasible>(&candidate)) return refused_result(item, *refused);
  const std::vector<RunnableKernel> kernels = runnable_stages(std::get<0>(candidate));
  const Machine& machine = item.request.machine;
  StagesReport report = check_stages(*item.program, machine, kernels, sizes_to_check(item, stages_spread(), versions_of_stages(std::get<0>(candidate))), seed);
  if (!report.deviation) {
    report.growth = measure_growth(*item.program, machine, kernels, item.sizes, seed);
    report.warnings = measure_accumulators(*item.program, item.sizes, seed);
  }
  ItemResult result;
  result.summary = report.text();
  result.details = report.write();
  result.messages = report.growth_text();
  for (const AccumulatorWarning& warning : report.warnings)
    result.messages += to_string(warning.where) + ": warning: " + warning.text() + "\n" + render_excerpt(warning.where, item.texts);
  if (report.deviation) {
    result.exit_code = exit_not_proved;
    result.messages = render_message({item.file, 0, 0}, "program `" + item.program->name() + "`: " + report.text(), "not-proved", "",
                                     "--dump-dir writes the stages: compare this one with the one before it", SourceTexts()) + "\n";
    result.details["message"] = report.text();
  }
  return result;
}

}  // namespace

int run_check(const Options& options) {
  const ScratchFolder scratch;
  return run_items(options, [&](const Item& item) { return options.stages ? check_stages_of(item, options.seed) : check_one(item, options); });
}

}  // namespace tileopt::cli
