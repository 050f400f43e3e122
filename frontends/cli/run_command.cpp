#include <algorithm>
#include <iostream>
#include <sstream>

#include "driver/check_kernel.h"
#include "driver/executable_kernel.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/guard.h"
#include "frontends/cli/items.h"
#include "frontends/cli/scratch.h"
#include "frontends/cli/space_text.h"
#include "frontends/cli/table.h"
#include "driver/work.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

/// The same program with the loops as written, through the same printer; none on a GPU, where one thread would run them.
std::optional<ExecutableKernel> compile_original(const Item& item, bool proves_all) {
  if (item.request.machine.has_agents()) return std::nullopt;
  Item original = item;
  original.request.plan.reset();
  original.request.pins = parse_pins("schedule(\"original\")", "original");
  original.request.resolve.threads = 1;
  original.edited.clear();
  original.trace = {};
  original.certificate.clear();
  original.request.proof.attempt = proves_all;
  const Compiled compiled = compile_item(original);
  if (!compiled.module) return std::nullopt;
  return ExecutableKernel::compile(*item.program, compiled.module->text, item.request.machine);
}

std::string time_text(double seconds) { return fixed(seconds * 1e3, seconds < 1e-2 ? 3 : 1) + " ms"; }

std::string compact_sizes(const Program& program, const Sizes& sizes) {
  std::vector<std::string> parts;
  for (const std::string& parameter : program.parameters()) parts.push_back(parameter + "=" + std::to_string(sizes.at(parameter)));
  return parts.empty() ? "-" : join(parts, " ");
}

ItemResult run_one(const Item& item, const Options& options, Table& table) {
  const Sizes sizes = sizes_to_time(item);
  Item timed = item;
  timed.request.resolve.typical_sizes = {sizes.begin(), sizes.end()};
  Compiled compiled = compile_item(timed);
  if (!compiled.module) return compiled.failed;
  const ExecutableKernel kernel = ExecutableKernel::compile(*item.program, compiled.module->text, item.request.machine);

  const CheckReport report = check_kernels(*item.program, {&kernel}, spread_sizes(*item.program, timing_check_spread()), options.seed);
  ItemResult result;
  result.details["obligations"] = certificate_summary(compiled.module->certificate);
  result.details["sizes"] = sizes;
  if (!report.failure.empty()) {
    ItemResult wrong = wrong_result(item.file, item.program->name(), report.failure);
    for (const auto& [key, value] : result.details.items()) wrong.details[key] = value;
    return wrong;
  }

  const Arrays arguments = make_arguments(*item.program, sizes, options.seed, Fill::uniform);
  const std::optional<ExecutableKernel> original = compile_original(item, options.prove == "all");
  std::vector<const ExecutableKernel*> kernels = {&kernel};
  if (original) kernels.push_back(&*original);
  const std::vector<double> seconds = ExecutableKernel::bench(kernels, sizes, arguments, 1.0);
  const Work work = count_work(*item.program, sizes);

  table.add({item.program->name(), compact_sizes(*item.program, sizes), compiled.module->certificate.proved() ? result.details["obligations"]["proved"].dump() : "no",
             report.runs == 0 ? "too large" : "ok (" + std::to_string(report.runs) + ")", time_text(seconds[0]), rate_text(work, seconds[0]),
             original ? time_text(seconds[1]) : "-", original && seconds[0] > 0 ? fixed(seconds[1] / seconds[0], 2) + "x" : "-"});

  result.details["checked_runs"] = report.runs;
  result.details["compile_milliseconds"] = compiled.milliseconds;
  result.details["seconds"] = seconds[0];
  if (original) result.details["original_seconds"] = seconds[1];
  result.details["operations"] = work.operations;
  result.details["bytes"] = work.bytes;
  return result;
}

}  // namespace

int run_run(const Options& options) {
  const ScratchFolder scratch;
  Table table({"kernel", "sizes", "proved", "check", "time", "rate", "as written", "speedup"}, 2);
  const int exit_code = run_items(options, [&](const Item& item) { return run_one(item, options, table); });
  if (!options.json && !table.empty()) std::cout << table.text();
  return exit_code;
}

}  // namespace tileopt::cli
