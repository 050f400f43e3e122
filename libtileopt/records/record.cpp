#include "records/record.h"

#include <algorithm>
#include <cmath>

#include "support/error.h"

namespace tileopt {
namespace {

struct Missing : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class T>
T entry(const Document& d, const char* name) {
  const auto found = d.find(name);
  if (found == d.end()) throw Missing(std::string("it has no `") + name + "`");
  try {
    return found->get<T>();
  } catch (const Document::exception&) {
    throw Missing(std::string("its `") + name + "` is of another type");
  }
}

double time_entry(const Document& d, const char* name) {
  const double value = entry<double>(d, name);
  if (!std::isfinite(value) || value < 0) throw Missing(std::string("its `") + name + "` is no time");
  return value;
}

Document body(const Record& record) {
  Document d;
  d["format"] = Record::format;
  d["key"] = record.key.write();
  d["outcome"] = outcome_name(record.outcome);
  d["detail"] = record.detail;
  d["seconds"] = record.seconds;
  d["samples"] = record.samples;
  d["noise"] = record.noise;
  d["predicted"] = record.predicted;
  d["source_hash"] = record.source_hash;
  d["origin"] = record.origin;
  d["seed"] = record.seed;
  d["time"] = record.time;
  d["plan"] = record.plan;
  return d;
}

// Bytes that are no UTF-8 (a compiler's message may hold any) must not cost the record.
std::string dump(const Document& d) { return d.dump(-1, ' ', false, Document::error_handler_t::replace); }

RecordKey read_key(const Document& d) {
  RecordKey key;
  key.program = entry<std::string>(d, "program");
  key.program_hash = entry<std::string>(d, "program_hash");
  key.sizes = entry<std::map<std::string, std::int64_t>>(d, "sizes");
  key.machine = entry<std::string>(d, "machine");
  key.machine_hash = entry<std::string>(d, "machine_hash");
  key.processor = entry<std::string>(d, "processor");
  key.compiler = entry<std::string>(d, "compiler");
  key.flags = entry<std::string>(d, "flags");
  key.threads = entry<int>(d, "threads");
  key.version = entry<std::string>(d, "version");
  key.space = entry<int>(d, "space");
  return key;
}

RecordOutcome read_outcome(const std::string& name) {
  for (const RecordOutcome outcome : all_outcomes())
    if (outcome_name(outcome) == name) return outcome;
  throw Missing("its outcome `" + name + "` is unknown");
}

}  // namespace

std::string outcome_name(RecordOutcome outcome) {
  switch (outcome) {
    case RecordOutcome::measured: return "measured";
    case RecordOutcome::infeasible: return "infeasible";
    case RecordOutcome::refuted: return "refuted";
    case RecordOutcome::compile_failed: return "compile_failed";
    case RecordOutcome::refused: return "refused";
    case RecordOutcome::crashed: return "crashed";
    case RecordOutcome::hung: return "hung";
    case RecordOutcome::wrong: return "wrong";
    case RecordOutcome::overrun: return "overrun";
    case RecordOutcome::unstable: return "unstable";
    case RecordOutcome::leaking: return "leaking";
    case RecordOutcome::implausible: return "implausible";
  }
  return "?";
}

const std::vector<RecordOutcome>& all_outcomes() {
  static const std::vector<RecordOutcome> outcomes = {
      RecordOutcome::measured, RecordOutcome::infeasible, RecordOutcome::refuted,  RecordOutcome::compile_failed, RecordOutcome::refused, RecordOutcome::crashed,
      RecordOutcome::hung,     RecordOutcome::wrong,      RecordOutcome::overrun,  RecordOutcome::unstable,       RecordOutcome::leaking, RecordOutcome::implausible};
  return outcomes;
}

Document RecordKey::write() const {
  Document d;
  d["program"] = program;
  d["program_hash"] = program_hash;
  d["sizes"] = Document::object();
  for (const auto& [name, value] : sizes) d["sizes"][name] = value;
  d["machine"] = machine;
  d["machine_hash"] = machine_hash;
  d["processor"] = processor;
  d["compiler"] = compiler;
  d["flags"] = flags;
  d["threads"] = threads;
  d["version"] = version;
  d["space"] = space;
  return d;
}

std::string RecordKey::hash() const { return hash_text(dump(write())); }

std::string Record::id() const { return hash_text(dump(body(*this))); }

std::string Record::plan_hash() const { return hash_text(dump(plan)); }

std::string Record::line() const {
  Document d = body(*this);
  d["id"] = id();
  return dump(d);
}

bool parse_record(const std::string& line, Record& record, BadLine& bad) {
  const Document d = Document::parse(line, nullptr, false);
  if (d.is_discarded()) {
    bad.reason = "it is no JSON (cut short or damaged)";
    return false;
  }
  try {
    if (!d.is_object()) throw Missing("it is no JSON object");
    const std::string format = entry<std::string>(d, "format");
    if (format != Record::format) throw Missing("its format is `" + format + "`, not `" + Record::format + "`");
    Record read;
    read.key = read_key(entry<Document>(d, "key"));
    read.outcome = read_outcome(entry<std::string>(d, "outcome"));
    read.detail = entry<std::string>(d, "detail");
    read.seconds = time_entry(d, "seconds");
    read.samples = entry<std::vector<double>>(d, "samples");
    read.noise = time_entry(d, "noise");
    read.predicted = time_entry(d, "predicted");
    read.source_hash = entry<std::string>(d, "source_hash");
    read.origin = entry<std::string>(d, "origin");
    read.seed = entry<std::uint64_t>(d, "seed");
    read.time = entry<std::string>(d, "time");
    read.plan = entry<Document>(d, "plan");
    if (read.id() != entry<std::string>(d, "id")) throw Missing("its content does not match its `id`: it was changed or damaged");
    record = std::move(read);
    return true;
  } catch (const Missing& missing) {
    bad.reason = missing.what();
    return false;
  }
}

}  // namespace tileopt
