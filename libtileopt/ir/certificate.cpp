#include "ir/certificate.h"

#include <algorithm>

#include "ir/ast_fields.h"

namespace tileopt {

namespace {

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::proved: return "proved";
    case Verdict::refuted: return "refuted";
    case Verdict::not_attempted: return "not_attempted";
  }
  return "?";
}

Verdict read_verdict(const Field& field) {
  const std::string text = field.text();
  for (const Verdict verdict : {Verdict::proved, Verdict::refuted, Verdict::not_attempted})
    if (text == verdict_name(verdict)) return verdict;
  field.fail("expected proved, refuted or not_attempted, got `" + text + "`");
}

double read_milliseconds(const Field& field, const Document& value) {
  if (!value.is_number() || value.get<double>() < 0) field.fail("expected a number of milliseconds");
  return value.get<double>();
}

Document write_obligation(const Obligation& obligation) {
  Document document;
  document["name"] = obligation.name;
  document["subject"] = obligation.subject;
  document["verdict"] = verdict_name(obligation.verdict);
  document["reason"] = obligation.reason;
  document["witness"] = obligation.witness;
  document["where"] = Document{{"file", obligation.where.file}, {"line", obligation.where.line}, {"column", obligation.where.column}};
  document["plan_entry"] = obligation.plan_entry;
  document["milliseconds"] = obligation.milliseconds;
  return document;
}

SourceLocation read_location(const Field& field) {
  field.allow_only({"file", "line", "column"});
  SourceLocation where;
  where.file = field["file"].text();
  where.line = static_cast<int>(field["line"].integer());
  where.column = static_cast<int>(field["column"].integer());
  return where;
}

Obligation read_obligation(const Field& field, const Document& value) {
  field.allow_only({"name", "subject", "verdict", "reason", "witness", "where", "plan_entry", "milliseconds"});
  Obligation obligation;
  obligation.name = field["name"].text();
  obligation.subject = field["subject"].text();
  obligation.verdict = read_verdict(field["verdict"]);
  obligation.reason = field["reason"].text();
  obligation.witness = field["witness"].text();
  obligation.where = read_location(field["where"]);
  obligation.plan_entry = field["plan_entry"].text();
  const Field milliseconds = field["milliseconds"];
  obligation.milliseconds = read_milliseconds(milliseconds, value["milliseconds"]);
  return obligation;
}

Document write_device(const DeviceReport& report) {
  Document kernels = Document::array();
  for (const KernelResources& kernel : report.kernels)
    kernels.push_back({{"kernel", kernel.kernel},
                       {"registers", kernel.registers},
                       {"spilled_bytes", kernel.spilled_bytes},
                       {"stack_bytes", kernel.stack_bytes},
                       {"shared_bytes", kernel.shared_bytes}});
  return {{"compiler", report.compiler}, {"kernels", kernels}};
}

DeviceReport read_device(const Field& field) {
  field.allow_only({"compiler", "kernels"});
  DeviceReport report{field["compiler"].text(), {}};
  for (const Field& kernel : field["kernels"].items()) {
    kernel.allow_only({"kernel", "registers", "spilled_bytes", "stack_bytes", "shared_bytes"});
    report.kernels.push_back({kernel["kernel"].text(), kernel["registers"].integer(), kernel["spilled_bytes"].integer(), kernel["stack_bytes"].integer(),
                              kernel["shared_bytes"].integer()});
  }
  return report;
}

std::vector<std::string> read_texts(const Field& field) {
  std::vector<std::string> texts;
  for (const Field& item : field.items()) texts.push_back(item.text());
  return texts;
}

}  // namespace

bool Certificate::proved() const {
  return !obligations.empty() && std::all_of(obligations.begin(), obligations.end(),
                                             [](const Obligation& o) { return o.verdict == Verdict::proved; });
}

bool Certificate::refuted() const {
  return std::any_of(obligations.begin(), obligations.end(), [](const Obligation& o) { return o.verdict == Verdict::refuted; });
}

Document Certificate::write() const {
  Document document;
  document["format"] = format;
  document["program"] = program;
  document["program_hash"] = program_hash;
  document["machine"] = machine;
  document["version"] = version;
  document["obligations"] = Document::array();
  for (const Obligation& obligation : obligations) document["obligations"].push_back(write_obligation(obligation));
  document["assumed"] = assumed;
  document["numerics"] = numerics;
  if (device) document["device"] = write_device(*device);
  return document;
}

Certificate Certificate::read(const Document& document, const std::string& file) {
  const Field field(document, "", file);
  field.allow_only({"format", "program", "program_hash", "machine", "version", "obligations", "assumed", "numerics", "device"});
  const std::string found = field["format"].text();
  if (found != format) field["format"].fail("expected `" + std::string(format) + "`, got `" + found + "`");
  Certificate certificate;
  certificate.program = field["program"].text();
  certificate.program_hash = field["program_hash"].text();
  certificate.machine = field["machine"].text();
  certificate.version = field["version"].text();
  const std::vector<Field> items = field["obligations"].items();
  for (std::size_t i = 0; i < items.size(); ++i)
    certificate.obligations.push_back(read_obligation(items[i], document["obligations"][i]));
  certificate.assumed = read_texts(field["assumed"]);
  certificate.numerics = read_texts(field["numerics"]);
  if (field.has("device")) certificate.device = read_device(field["device"]);
  return certificate;
}

}  // namespace tileopt
