#include "cost_models/machines.h"

#include <algorithm>

#include "cost_models/embedded_machines.h"
#include "support/document_reader.h"
#include "support/text.h"

namespace tileopt {
namespace {

bool is_path(const std::string& text) {
  const std::string suffix = ".json";
  if (text.find('/') != std::string::npos) return true;
  return text.size() > suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

[[noreturn]] void fail_unknown(const std::string& name) {
  const std::vector<std::string> names = machine_names();
  const std::string near = nearest_name(name, names);
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::unknown_machine;
  diagnostic.message = "unknown machine `" + name + "`";
  diagnostic.hint = (near.empty() ? "" : "did you mean `" + near + "`? ") + std::string("the machines are ") + join(names, ", ") +
                    "; a path to a machine file works too";
  throw Errors(std::move(diagnostic));
}

}  // namespace

std::vector<std::string> machine_names() {
  std::vector<std::string> names = {"host"};
  for (const EmbeddedMachine& machine : embedded_machines()) names.push_back(machine.name);
  std::sort(names.begin(), names.end());
  return names;
}

Machine find_machine(const std::string& name_or_path) {
  if (is_path(name_or_path)) return Machine::read(parse_json(read_file(name_or_path), name_or_path), name_or_path);
  if (name_or_path == "host") return detect_host();
  for (const EmbeddedMachine& machine : embedded_machines()) {
    if (machine.name == name_or_path) return Machine::read(parse_json(machine.text, machine.name), machine.name + ".json");
  }
  fail_unknown(name_or_path);
}

}  // namespace tileopt
