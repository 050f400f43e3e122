#include "driver/check_kernel.h"
#include "driver/check_stages.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/guard.h"
#include "frontends/cli/items.h"
#include "frontends/cli/scratch.h"
#include "support/render_error.h"

namespace tileopt::cli {

namespace {

/// The sizes of --size alone where they name every parameter; a spread otherwise.
std::vector<Sizes> sizes_to_check(const Item& item, const SizeSpread& spread) {
  if (!item.sizes.empty() && item.sizes.size() == item.program->parameters().size()) return {item.sizes};
  std::vector<Sizes> all;
  for (const Sizes& vector : spread_sizes(*item.program, spread)) {
    Sizes fixed = vector;
    for (const auto& [name, value] : item.sizes) fixed[name] = value;
    if (sizes_fit(*item.program, fixed, spread)) all.push_back(fixed);
  }
  if (all.empty())
    throw Errors(Diagnostic{ErrorCode::invalid_size, {item.file, 0, 0}, "program `" + item.program->name() + "` has no sizes small enough for the interpreter",
                            "its loops run too often at every size; `compile` proves it without running it", ""});
  return all;
}

ItemResult check_one(const Item& item, std::uint64_t seed) {
  Compiled compiled = compile_item(item);
  if (!compiled.module) return compiled.failed;
  const CompiledKernel kernel = CompiledKernel::compile(*item.program, compiled.module->text, item.request.machine);
  const CheckReport report = check_kernels(*item.program, {&kernel}, sizes_to_check(item, check_spread()), seed);
  ItemResult result;
  result.summary = "proved; " + report.text();
  result.details["obligations"] = certificate_summary(compiled.module->certificate);
  result.details["runs"] = report.runs;
  result.details["sizes"] = Document::array();
  for (const Sizes& sizes : report.sizes) result.details["sizes"].push_back(sizes);
  if (report.failure.empty()) return result;
  ItemResult wrong = wrong_result(item.file, item.program->name(), report.failure);
  for (const auto& [key, value] : result.details.items()) wrong.details[key] = value;
  return wrong;
}

/// The stages alone: no compiler is needed, and a plan whose kernel cannot be proved is the very thing to look at.
ItemResult check_stages_of(const Item& item, std::uint64_t seed) {
  Trace trace(item.trace);
  const Candidate<std::vector<KernelStages>> candidate = resolve_and_stage(item.program, item.request, trace, item.edited);
  if (const auto* refused = std::get_if<Infeasible>(&candidate)) return refused_result(item, *refused);
  const std::vector<RunnableKernel> kernels = runnable_stages(std::get<0>(candidate));
  const Machine& machine = item.request.machine;
  StagesReport report = check_stages(*item.program, machine, kernels, sizes_to_check(item, stages_spread()), seed);
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
  return run_items(options, [&](const Item& item) { return options.stages ? check_stages_of(item, options.seed) : check_one(item, options.seed); });
}

}  // namespace tileopt::cli
