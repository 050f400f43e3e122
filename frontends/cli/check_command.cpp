#include "driver/check_kernel.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/items.h"
#include "frontends/cli/scratch.h"

namespace tileopt::cli {

namespace {

/// The sizes of --size alone where they name every parameter; a spread otherwise.
std::vector<Sizes> sizes_to_check(const Item& item) {
  if (!item.sizes.empty() && item.sizes.size() == item.program->parameters().size()) return {item.sizes};
  std::vector<Sizes> all;
  for (const Sizes& vector : spread_sizes(*item.program, check_spread())) {
    Sizes fixed = vector;
    for (const auto& [name, value] : item.sizes) fixed[name] = value;
    if (sizes_fit(*item.program, fixed, check_spread())) all.push_back(fixed);
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
  const CheckReport report = check_kernels(*item.program, {&kernel}, sizes_to_check(item), seed);
  ItemResult result;
  result.summary = "proved; " + report.text();
  result.details["obligations"] = certificate_summary(compiled.module->certificate);
  result.details["runs"] = report.runs;
  result.details["sizes"] = Document::array();
  for (const Sizes& sizes : report.sizes) result.details["sizes"].push_back(sizes);
  if (!report.failure.empty()) {
    result.exit_code = exit_not_proved;
    result.summary = report.failure;
    result.messages = item.program->name() + ": check failed " + report.failure + "\n";
    result.details["message"] = report.failure;
  }
  return result;
}

}  // namespace

int run_check(const Options& options) {
  const ScratchFolder scratch;
  return run_items(options, [&](const Item& item) { return check_one(item, options.seed); });
}

}  // namespace tileopt::cli
