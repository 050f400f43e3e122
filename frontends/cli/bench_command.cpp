#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "driver/check_kernel.h"
#include "driver/executable_kernel.h"
#include "driver/work.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/guard.h"
#include "frontends/cli/items.h"
#include "frontends/cli/scratch.h"
#include "frontends/cli/space_text.h"
#include "frontends/cli/table.h"
#include "measure/measure_plan.h"
#include "records/record_file.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

/// One plan of a program on its way through the comparison.
struct Contender {
  std::string name;
  Item item;
  std::optional<ExecutableKernel> kernel;
  std::string problem;  ///< why it takes no part
  int exit_code = exit_done;
  double seconds = 0;
};

Item with_pins(const Item& item, const Pins& pins) {
  Item other = item;
  other.request.plan.reset();
  other.request.pins = pins;
  other.trace = {};
  other.certificate.clear();
  return other;
}

/// The fastest record of this program, machine and sizes.
std::optional<Plan> recorded_plan(const Item& item, const Sizes& sizes, const std::string& records) {
  std::optional<Record> best;
  const std::string machine = machine_hash(item.request.machine);
  for (const Record& record : read_records(records)) {
    const bool fits = record.key.program_hash == item.program->hash() && record.key.machine_hash == machine &&
                      record.outcome == RecordOutcome::measured &&
                      record.key.sizes == std::map<std::string, std::int64_t>(sizes.begin(), sizes.end()) &&
                      record.key.threads == item.request.resolve.threads;
    if (fits && (!best || record.seconds < best->seconds)) best = record;
  }
  if (!best) return std::nullopt;
  return Plan::read(best->plan, records);
}

std::vector<Contender> contenders_of(const Item& item, const Sizes& sizes, const Options& options) {
  std::vector<Contender> contenders;
  if (!item.request.machine.has_agents()) {
    Item original = with_pins(item, parse_pins("schedule(\"original\")", "original"));
    original.request.resolve.threads = 1;
    contenders.push_back({"original", std::move(original), {}, "", exit_done, 0});
  }
  const bool given = item.request.plan.has_value() || !item.request.pins.pins.empty();
  contenders.push_back({"planned", with_pins(item, {}), {}, "", exit_done, 0});
  if (given) contenders.push_back({item.request.plan ? "--plan" : "--pin", item, {}, "", exit_done, 0});
  for (const Pins& schedule : item.schedules)
    contenders.push_back({"@" + schedule.name, with_pins(item, schedule), {}, "", exit_done, 0});
  if (!options.records.empty()) {
    if (auto plan = recorded_plan(item, sizes, options.records)) {
      Contender recorded{"records", with_pins(item, {}), {}, "", exit_done, 0};
      recorded.item.request.plan = std::move(plan);
      contenders.push_back(std::move(recorded));
    }
  }
  return contenders;
}

/// Proves, compiles and checks at small sizes; what fails there takes no part and says so.
void prepare(Contender& contender, std::uint64_t seed) {
  const Compiled compiled = compile_item(contender.item);
  if (!compiled.module) {
    contender.problem = compiled.failed.summary;
    contender.exit_code = compiled.failed.exit_code;
    return;
  }
  ExecutableKernel kernel =
      ExecutableKernel::compile(*contender.item.program, compiled.module->text, contender.item.request.machine);
  const CheckReport report =
      check_kernels(*contender.item.program, {&kernel}, spread_sizes(*contender.item.program, timing_check_spread()), seed);
  if (!report.failure.empty()) {
    contender.problem = report.failure;
    contender.exit_code = exit_not_proved;
    return;
  }
  contender.kernel = std::move(kernel);
}

std::string ratio_text(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << value << "x";
  return text.str();
}

ItemResult bench_one(const Item& item, const Options& options, Table& table) {
  const Sizes sizes = sizes_to_time(item);
  Item timed = item;
  timed.request.resolve.typical_sizes = {sizes.begin(), sizes.end()};
  std::vector<Contender> contenders = contenders_of(timed, sizes, options);
  std::vector<const ExecutableKernel*> kernels;
  for (Contender& contender : contenders) {
    prepare(contender, options.seed);
    if (contender.kernel) kernels.push_back(&*contender.kernel);
  }
  const Arrays arguments = make_arguments(*item.program, sizes, options.seed, Fill::uniform);
  const std::vector<double> seconds =
      kernels.empty() ? std::vector<double>()
                      : ExecutableKernel::bench(kernels, sizes, arguments, options.seconds * double(kernels.size()));
  const Work work = count_work(*item.program, sizes);
  ItemResult result;
  result.details["sizes"] = sizes;
  result.details["plans"] = Document::array();
  std::size_t next = 0;
  double original = 0;
  for (Contender& contender : contenders) {
    if (contender.kernel) contender.seconds = seconds[next++];
    if (contender.name == "original") original = contender.seconds;
    Document entry = {{"name", contender.name}, {"seconds", contender.seconds}};
    if (!contender.problem.empty()) {
      entry["problem"] = contender.problem;
      result.messages += item.program->name() + ": " + contender.name + " takes no part: " + contender.problem + "\n";
      result.exit_code = std::max(result.exit_code, contender.exit_code);
      result.summary = contender.name + ": " + contender.problem;
    }
    result.details["plans"].push_back(std::move(entry));
    const bool ran = contender.seconds > 0;
    table.add({item.program->name(), contender.name, ran ? milliseconds_text(contender.seconds) : "-",
               ran ? rate_text(work, contender.seconds) : "-",
               ran && original > 0 ? ratio_text(original / contender.seconds) : "-"});
  }
  return result;
}

}  // namespace

int run_bench(const Options& options) {
  const ScratchFolder scratch;
  Table table({"kernel", "plan", "time", "rate", "speedup"}, 2);
  const int exit_code = run_items(options, [&](const Item& item) { return bench_one(item, options, table); });
  if (!options.json && !table.empty()) std::cout << table.text();
  return exit_code;
}

}  // namespace tileopt::cli
