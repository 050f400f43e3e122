/// Machines: built in, from a file, from text.
#include "capi/guard.h"
#include "cost_models/machines.h"
#include "support/json_text.h"

using namespace tileopt::capi;

namespace {

tileopt_machine* hand_out(tileopt::Machine machine) {
  auto object = std::make_shared<MachineObject>();
  object->json = tileopt::json_text(machine.write()) + "\n";
  object->machine = std::make_shared<const tileopt::Machine>(std::move(machine));
  return insert<tileopt_machine>(std::move(object));
}

const std::vector<std::string>& names() {
  static const std::vector<std::string> all = tileopt::machine_names();
  return all;
}

}  // namespace

extern "C" {

tileopt_error* tileopt_machine_create(const char* name_or_path, tileopt_machine** out_machine) {
  return guard([&] {
    need_pointer(name_or_path, "name_or_path");
    need_pointer(out_machine, "out_machine");
    *out_machine = hand_out(tileopt::find_machine(name_or_path));
  });
}

tileopt_error* tileopt_machine_parse(const char* json, size_t length, const char* file_name, tileopt_machine** out_machine) {
  tileopt::SourceTexts texts;
  return guard(texts, [&] {
    need_pointer(json, "json");
    need_pointer(out_machine, "out_machine");
    const std::string name = file_name == nullptr ? "<machine>" : file_name, text(json, length);
    texts.add(name, text);
    *out_machine = hand_out(tileopt::Machine::read(tileopt::parse_json(text, name), name));
  });
}

const char* tileopt_machine_peek_name(const tileopt_machine* machine) {
  return ask(machine, "", [](const MachineObject& object) { return object.machine->name.c_str(); });
}
const char* tileopt_machine_peek_backend(const tileopt_machine* machine) {
  return ask(machine, "", [](const MachineObject& object) { return object.machine->backend.c_str(); });
}
const char* tileopt_machine_peek_description(const tileopt_machine* machine) {
  return ask(machine, "", [](const MachineObject& object) { return object.machine->description.c_str(); });
}
const char* tileopt_machine_peek_json(const tileopt_machine* machine) {
  return ask(machine, "", [](const MachineObject& object) { return object.json.c_str(); });
}
int tileopt_machine_cores(const tileopt_machine* machine) {
  return ask(machine, 0, [](const MachineObject& object) { return object.machine->cores; });
}
void tileopt_machine_free(tileopt_machine* machine) { erase(machine); }

size_t tileopt_builtin_machine_count(void) {
  try {
    return names().size();
  } catch (...) {
    return 0;
  }
}
const char* tileopt_peek_builtin_machine(size_t index) {
  try {
    return index < names().size() ? names()[index].c_str() : "";
  } catch (...) {
    return "";
  }
}

}  // extern "C"
