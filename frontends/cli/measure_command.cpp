#include <iomanip>
#include <iostream>
#include <sstream>

#include "driver/predict_device.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/guard.h"
#include "frontends/cli/items.h"
#include "frontends/cli/scratch.h"
#include "measure/measure_plan.h"
#include "records/record_file.h"
#include "space/score.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

Sizes sizes_to_measure(const Item& item) {
  if (item.sizes.size() == item.program->parameters().size()) return Sizes(item.sizes.begin(), item.sizes.end());
  throw Errors(Diagnostic{ErrorCode::invalid_size, {item.file, 0, 0}, "program `" + item.program->name() + "` is measured at given sizes, and some are missing",
                          "give all of them: --size " + join(item.program->parameters(), "=...,") + "=...", ""});
}

int exit_code_of(RecordOutcome outcome) {
  switch (outcome) {
    case RecordOutcome::measured: return exit_done;
    case RecordOutcome::infeasible: return exit_infeasible;
    case RecordOutcome::compile_failed: return exit_no_toolchain;
    default: return exit_not_proved;
  }
}

std::string summary_of(const Record& record, const Work& work) {
  if (record.outcome != RecordOutcome::measured) return outcome_name(record.outcome) + ": " + record.detail;
  std::ostringstream text;
  text << std::setprecision(4) << record.seconds * 1e3 << " ms (median of " << record.samples.size() << ", +-" << std::setprecision(2)
       << record.noise * 100 << " %), " << rate_text(work, record.seconds);
  return text.str();
}

ItemResult measure_one(const Item& item, const Options& options) {
  MeasureOptions measured;
  measured.sizes = sizes_to_measure(item);
  measured.seed = options.seed;
  measured.seconds = options.seconds;
  measured.threads = item.request.resolve.threads;
  const Measurer measurer(item.program, item.request.machine, measured);
  Plan plan;
  std::string origin = "given";
  if (item.request.plan) {
    plan = *item.request.plan;
  } else {
    const Candidate<ResolvedPlan> resolved = resolve_plan(*item.program, item.request.pins, item.request.machine, item.request.resolve);
    // Pins that cannot be honoured leave no Plan to record.
    if (const auto* refused = std::get_if<Infeasible>(&resolved)) return refused_result(item, *refused);
    plan = std::get<ResolvedPlan>(resolved).plan;
    origin = item.request.pins.pins.empty() ? "resolve" : "pins";
  }
  Record record = measurer.measure(plan, origin);
  const TypicalSizes sizes(item.sizes.begin(), item.sizes.end());
  if (item.request.machine.has_agents()) {
    const Candidate<DeviceCost> cost = predict_plan(item.program, plan, item.request.machine, find_backend(item.request.backend), sizes);
    record.predicted = feasible(cost) ? std::get<DeviceCost>(cost).seconds : 0;
  } else {
    record.predicted = score_plan(*item.program, plan, item.request.machine, sizes, measured.threads).cost.seconds;
  }
  append_record(options.records, record, true);

  ItemResult result;
  result.summary = summary_of(record, measurer.work());
  result.details["record"] = record.id();
  result.details["outcome"] = outcome_name(record.outcome);
  result.details["seconds"] = record.seconds;
  result.details["noise"] = record.noise;
  if (record.outcome == RecordOutcome::measured) return result;
  ItemResult failed = failure(exit_code_of(record.outcome), result.summary, item.program->name() + ": " + result.summary + " (record " + record.id() + ")\n");
  failed.details = result.details;
  return failed;
}

}  // namespace

int run_measure(const Options& options) {
  const ScratchFolder scratch;
  return run_items(options, [&](const Item& item) { return measure_one(item, options); });
}

}  // namespace tileopt::cli
