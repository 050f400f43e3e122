#include "cost_models/machines.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/guard.h"
#include "frontends/cli/items.h"
#include "frontends/cli/outputs.h"
#include "measure/measure_plan.h"
#include "records/record_file.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

[[noreturn]] void no_record(const Options& options, const std::string& message, const std::string& hint) {
  throw Errors(Diagnostic{ErrorCode::invalid_option, {options.records, 0, 0}, message, hint, ""});
}

/// The record of --id, or the fastest one of the program's text; of its name where no record is of the text.
Record record_for(const std::vector<Record>& records, const Item& item, const Options& options) {
  const Record* best = nullptr;
  for (const Record& record : records) {
    if (!options.id.empty()) {
      if (record.id().starts_with(options.id)) return record;
      continue;
    }
    if (record.key.program != item.program->name() || record.outcome != RecordOutcome::measured) continue;
    const bool same = record.key.program_hash == item.program->hash();
    const bool best_same = best != nullptr && best->key.program_hash == item.program->hash();
    if (best == nullptr || (same && !best_same) || (same == best_same && record.seconds < best->seconds)) best = &record;
  }
  if (best != nullptr) return *best;
  if (!options.id.empty()) no_record(options, "no record `" + options.id + "`", "tileopt-schedule export lists them with their identities");
  no_record(options, "no measured record of program `" + item.program->name() + "`", "measure it first: tileopt-schedule measure");
}

std::string differs(const std::string& what, const std::string& then, const std::string& now) {
  return then == now ? "" : what + " was " + then + " and is " + now;
}

ItemResult replay_one(const Item& item, const std::vector<Record>& records, const Options& options) {
  const Record record = record_for(records, item, options);
  const Machine machine = find_machine(record.key.machine);
  std::vector<std::string> differences;
  for (const std::string& difference :
       {differs("the version of tileopt", record.key.version, TILEOPT_VERSION), differs("the program's hash", record.key.program_hash, item.program->hash()),
        differs("the hash of machine " + machine.name, record.key.machine_hash, machine_hash(machine))})
    if (!difference.empty()) differences.push_back(difference);

  ItemResult result;
  result.details["record"] = record.id();
  std::string text_hash;
  if (differences.empty()) {
    Item replayed = item;
    replayed.request.machine = machine;
    replayed.request.pins = {};
    replayed.request.plan = Plan::read(record.plan, options.records);
    replayed.request.resolve.threads = record.key.threads;
    const Compiled compiled = compile_item(replayed);
    if (!compiled.module) {
      // A record of a failure is replayed when it fails again.
      const bool expected = record.source_hash.empty() && record.outcome == RecordOutcome::infeasible && compiled.failed.exit_code == exit_infeasible;
      if (!expected) return compiled.failed;
      result.summary = "refused, as it was: " + compiled.failed.summary;
      return result;
    }
    const SourceText& text = compiled.module->text;
    text_hash = hash_text(text.source + text.header);
    if (!record.source_hash.empty()) {
      const std::string difference = differs("the hash of the text", record.source_hash, text_hash);
      if (!difference.empty()) differences.push_back(difference);
    }
    if (differences.empty() && !item.output.empty()) {
      write_file(item.output, text.source);
      write_file(header_path(item.output), text.header);
    }
  }
  if (differences.empty()) {
    result.summary = "record " + record.id() + " (" + outcome_name(record.outcome) + "): the same bytes" + (item.output.empty() ? "" : " -> " + item.output);
    return result;
  }
  const std::string summary = "record " + record.id() + " cannot be replayed: " + join(differences, "; ");
  ItemResult failed = failure(exit_not_proved, summary, item.program->name() + ": " + summary + "\n");
  failed.details = result.details;
  failed.details["differences"] = differences;
  return failed;
}

}  // namespace

int run_replay(const Options& options) {
  std::vector<Record> records;
  std::vector<std::string> skipped;
  // Read inside, so that a missing file is reported as every other error is.
  return run_items(options, [&](const Item& item) {
    RecordScan scan;
    if (records.empty()) {
      records = read_records(options.records, &scan);
      skipped = bad_line_messages(options.records, scan);
    }
    ItemResult result = replay_one(item, records, options);
    for (const std::string& message : skipped) result.messages = message + "\n" + result.messages;
    skipped.clear();
    return result;
  });
}

}  // namespace tileopt::cli
