#include "backends/gpu_common/emulator/answer.h"

#include "support/wire.h"

namespace tileopt::emulator {

std::string write_answer(const Outcome& outcome) {
  WireWriter wire;
  for (const std::int64_t value : {std::int64_t(outcome.end), std::int64_t(outcome.code), outcome.accesses, outcome.switches, outcome.blocks}) wire.put(value);
  wire.put(static_cast<std::int64_t>(outcome.reports.size()));
  for (const Report& report : outcome.reports) {
    for (const std::string* part : {&report.kind, &report.text, &report.kernel}) wire.put(*part);
    wire.put(static_cast<std::int64_t>(report.lines.size()));
    for (const int line : report.lines) wire.put(std::int64_t(line));
  }
  return wire.text();
}

bool read_answer(const std::string& text, Outcome& outcome) {
  WireReader wire(text);
  outcome.end = static_cast<Outcome::End>(wire.integer());
  outcome.code = static_cast<int>(wire.integer());
  for (std::int64_t* value : {&outcome.accesses, &outcome.switches, &outcome.blocks}) *value = wire.integer();
  const std::int64_t reports = wire.integer();
  for (std::int64_t i = 0; i < reports && wire.good(); ++i) {
    Report report;
    for (std::string* part : {&report.kind, &report.text, &report.kernel}) *part = wire.string();
    const std::int64_t lines = wire.integer();
    for (std::int64_t l = 0; l < lines && wire.good(); ++l) report.lines.push_back(static_cast<int>(wire.integer()));
    outcome.reports.push_back(std::move(report));
  }
  return wire.at_end();
}

}  // namespace tileopt::emulator
