#include <iomanip>
#include <iostream>
#include <sstream>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/cli/commands.h"

namespace tileopt::cli {

namespace {

std::string memories_text(const Machine& machine) {
  std::ostringstream text;
  for (const Memory& memory : machine.memories) {
    if (memory.name == "register" || memory.capacity <= 0) continue;
    text << (text.tellp() > 0 ? " " : "") << memory.name << " " << static_cast<long>(memory.capacity / 1024) << "K";
  }
  return text.str();
}

std::string row_text(const Machine& machine) {
  std::ostringstream text;
  text << std::left << std::setw(12) << machine.name << std::setw(8) << machine.backend << std::right << std::setw(5) << machine.cores
       << " cores " << std::setw(4) << 8 * machine.vector_bytes << "-bit  " << std::left << std::setw(44) << memories_text(machine)
       << machine.description;
  return text.str();
}

}  // namespace

int run_machines(const Options& options) {
  if (!options.machine.empty()) {
    std::cout << find_machine(options.machine).write().dump(2) << "\n";
    return exit_done;
  }
  Document all = Document::array();
  for (const std::string& name : machine_names()) {
    const Machine machine = find_machine(name);
    if (options.json) all.push_back(machine.write());
    else std::cout << row_text(machine) << "\n";
  }
  if (options.json) std::cout << all.dump(2) << "\n";
  return exit_done;
}

}  // namespace tileopt::cli
