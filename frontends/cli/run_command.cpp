#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "driver/check_kernel.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/guard.h"
#include "frontends/cli/items.h"
#include "frontends/cli/scratch.h"
#include "driver/work.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

/// Sizes for timing that nobody gave: all equal, halved until a run takes about a second and the arguments fit in memory.
Sizes default_sizes(const Item& item) {
  const SizeSpread limits{{}, 1, std::int64_t(1) << 30, std::int64_t(1) << 29};
  for (std::int64_t value = 1024; value >= 1; value /= 2) {
    Sizes sizes;
    for (const std::string& parameter : item.program->parameters()) sizes[parameter] = value;
    for (const auto& [name, given] : item.sizes) sizes[name] = given;
    if (sizes_fit(*item.program, sizes, limits)) return sizes;
  }
  throw Errors(Diagnostic{ErrorCode::invalid_size, {item.file, 0, 0}, "no sizes to time program `" + item.program->name() + "` at",
                          "give all of them: --size " + join(item.program->parameters(), "=...,") + "=...", ""});
}

Sizes sizes_to_time(const Item& item) {
  if (item.sizes.size() < item.program->parameters().size()) return default_sizes(item);
  const Sizes sizes(item.sizes.begin(), item.sizes.end());
  check_sizes(*item.program, sizes);
  return sizes;
}

/// The same program with the loops as written, through the same printer.
std::optional<CompiledKernel> compile_original(const Item& item, bool proves_all) {
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
  return CompiledKernel::compile(*item.program, compiled.module->text, item.request.machine);
}

struct Row {
  std::string kernel, sizes, proofs, check, milliseconds, rate, original, speedup;
};

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string time_text(double seconds) { return fixed(seconds * 1e3, seconds < 1e-2 ? 3 : 1) + " ms"; }

std::string compact_sizes(const Program& program, const Sizes& sizes) {
  std::vector<std::string> parts;
  for (const std::string& parameter : program.parameters()) parts.push_back(parameter + "=" + std::to_string(sizes.at(parameter)));
  return parts.empty() ? "-" : join(parts, " ");
}

/// One table of the whole run; the columns are as wide as their widest entry.
std::string table_text(const std::vector<Row>& rows) {
  const std::vector<std::string Row::*> columns = {&Row::kernel, &Row::sizes, &Row::proofs, &Row::check,
                                                   &Row::milliseconds, &Row::rate, &Row::original, &Row::speedup};
  std::vector<Row> all = {{"kernel", "sizes", "proved", "check", "time", "rate", "as written", "speedup"}};
  all.insert(all.end(), rows.begin(), rows.end());
  std::vector<std::size_t> widths(columns.size(), 0);
  for (const Row& row : all)
    for (std::size_t c = 0; c < columns.size(); ++c) widths[c] = std::max(widths[c], (row.*columns[c]).size());
  std::ostringstream text;
  for (const Row& row : all) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string& cell = row.*columns[c];
      const std::string blanks(widths[c] - cell.size(), ' ');
      text << (c == 0 ? "" : "  ") << (c < 2 ? cell + blanks : blanks + cell);
    }
    text << "\n";
  }
  return text.str();
}

ItemResult run_one(const Item& item, const Options& options, std::vector<Row>* rows) {
  const Sizes sizes = sizes_to_time(item);
  Item timed = item;
  timed.request.resolve.typical_sizes = {sizes.begin(), sizes.end()};
  Compiled compiled = compile_item(timed);
  if (!compiled.module) return compiled.failed;
  const CompiledKernel kernel = CompiledKernel::compile(*item.program, compiled.module->text, item.request.machine);

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
  const std::optional<CompiledKernel> original = compile_original(item, options.prove == "all");
  std::vector<const CompiledKernel*> kernels = {&kernel};
  if (original) kernels.push_back(&*original);
  const std::vector<double> seconds = CompiledKernel::bench_interleaved(kernels, sizes, arguments, 1.0);
  const Work work = count_work(*item.program, sizes);

  Row row;
  row.kernel = item.program->name();
  row.sizes = compact_sizes(*item.program, sizes);
  row.proofs = compiled.module->certificate.proved() ? result.details["obligations"]["proved"].dump() : "no";
  row.check = report.runs == 0 ? "too large" : "ok (" + std::to_string(report.runs) + ")";
  row.milliseconds = time_text(seconds[0]);
  row.rate = rate_text(work, seconds[0]);
  row.original = original ? time_text(seconds[1]) : "-";
  row.speedup = original && seconds[0] > 0 ? fixed(seconds[1] / seconds[0], 2) + "x" : "-";
  rows->push_back(row);

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
  std::vector<Row> rows;
  const int exit_code = run_items(options, [&](const Item& item) { return run_one(item, options, &rows); });
  if (!options.json && !rows.empty()) std::cout << table_text(rows);
  return exit_code;
}

}  // namespace tileopt::cli
