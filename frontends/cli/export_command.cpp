#include <iostream>
#include <sstream>

#include "frontends/cli/commands.h"
#include "records/record_file.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

/// RFC 4180: quoted where it must be, quotes doubled.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string number(double value) {
  std::ostringstream text;
  text.precision(9);
  text << value;
  return text.str();
}

std::string csv_line(const Record& record) {
  std::vector<std::string> sizes;
  for (const auto& [name, value] : record.key.sizes) sizes.push_back(name + "=" + std::to_string(value));
  const std::vector<std::string> fields = {record.id(), record.time, record.key.program, join(sizes, " "), record.key.machine, record.key.processor,
                                           record.key.compiler, std::to_string(record.key.threads), record.key.version, record.origin,
                                           outcome_name(record.outcome), number(record.seconds), number(record.noise), std::to_string(record.samples.size()),
                                           number(record.predicted), record.plan_hash(), record.source_hash, record.detail};
  std::string line;
  for (const std::string& field : fields) line += (line.empty() ? "" : ",") + csv_field(field);
  return line + "\n";
}

const char* const csv_head = "id,time,program,sizes,machine,processor,compiler,threads,version,origin,outcome,seconds,noise,calls,predicted,plan,text,detail\n";

}  // namespace

int run_export(const Options& options) {
  std::string text = options.format == "csv" ? csv_head : "";
  const RecordScan scan = scan_union(options.inputs, [&](const Record& record) {
    text += options.format == "csv" ? csv_line(record) : record.line() + "\n";
  });
  for (const std::string& message : bad_line_messages(join(options.inputs, ", "), scan)) std::cerr << message << "\n";
  if (options.output.empty()) std::cout << text;
  else write_file(options.output, text);
  return exit_done;
}

}  // namespace tileopt::cli
