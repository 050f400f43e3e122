#include <iomanip>
#include <iostream>
#include <sstream>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/cli/commands.h"
#include "measure/calibrate.h"
#include "support/document.h"
#include "support/error.h"
#include "support/json_text.h"

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

/// The facts as they are measured go to stderr, so that stdout is the file.
int run_calibrate(const Options& options) {
  const Calibration calibration = calibrate(find_machine(options.calibrated.empty() ? "host" : options.calibrated), options.seconds);
  for (const CalibratedFact& fact : calibration.facts) {
    std::ostringstream line;
    line << std::left << std::setw(24) << fact.fact << std::right << std::fixed << std::setprecision(2) << std::setw(10) << fact.before / 1e9 << " -> "
         << std::setw(8) << fact.after / 1e9 << (fact.fact == "frequency" ? " GHz   " : " GB/s  ") << fact.how;
    std::cerr << line.str() << "\n";
  }
  const std::string text = json_text(calibration.machine.write()) + "\n";
  if (options.output.empty()) std::cout << text;
  else write_file(options.output, text);
  return exit_done;
}

}  // namespace

int run_machines(const Options& options) {
  if (options.machine == "calibrate") return run_calibrate(options);
  if (!options.calibrated.empty())
    throw Errors(Diagnostic{ErrorCode::invalid_option, {}, "two machines are given: " + options.machine + " and " + options.calibrated,
                            "give one, or write `tileopt-schedule machines calibrate " + options.machine + "`"});
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
