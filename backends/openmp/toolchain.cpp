#include "backends/openmp/toolchain.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "support/error.h"
#include "support/text.h"

namespace tileopt {

std::string find_c_compiler() {
  if (const char* chosen = std::getenv("TILEOPT_CC"); chosen != nullptr && *chosen != '\0') {
    const std::string path = find_program(chosen);
    if (path.empty()) throw ToolchainError(std::string("TILEOPT_CC names `") + chosen + "`, which is no executable file");
    return path;
  }
  for (const char* name : {"cc", "gcc", "clang", "clang-22", "clang-19", "clang-16", "clang-15", "clang-14"}) {
    const std::string path = find_program(name);
    if (!path.empty()) return path;
  }
  throw ToolchainError("no C compiler on PATH (looked for cc, gcc, clang): install gcc, or set TILEOPT_CC to a compiler");
}

std::vector<std::string> numeric_flags(const Numerics& numerics) {
  return {"-O3", "-std=gnu11", numerics.contract ? "-ffp-contract=fast" : "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"};
}

void compile_shared_object(const std::string& compiler, const std::vector<std::string>& sources, const std::string& object,
                           const Numerics& numerics, const Machine& machine, const std::vector<std::string>& extra_flags) {
  std::vector<std::string> command = {compiler};
  for (const std::string& flag : numeric_flags(numerics)) command.push_back(flag);
  for (const char* flag : {"-fopenmp", "-fPIC", "-shared", "-Wno-psabi"}) command.push_back(flag);
  command.insert(command.end(), machine.flags.begin(), machine.flags.end());
  command.insert(command.end(), extra_flags.begin(), extra_flags.end());
  command.insert(command.end(), {"-o", object});
  command.insert(command.end(), sources.begin(), sources.end());
  command.push_back("-lm");
  const ProcessResult result = run_process(command, 300);
  if (result.end == ProcessResult::End::exited && result.code == 0) return;
  const std::string how = result.end == ProcessResult::End::timed_out ? "did not finish in 300 s" : "failed";
  throw ToolchainError(compiler + " " + how + " on generated code\n  command: " + join(command, " ") + "\n" + result.output);
}

std::vector<std::string> run_with() {
  const char* chosen = std::getenv("TILEOPT_RUN_WITH");
  std::istringstream words(chosen == nullptr ? "" : chosen);
  std::vector<std::string> command;
  for (std::string word; words >> word;) command.push_back(word);
  if (command.empty()) return command;
  const std::string path = find_program(command.front());
  if (path.empty()) throw ToolchainError("TILEOPT_RUN_WITH begins with `" + command.front() + "`, which is no executable file");
  command.front() = path;
  return command;
}

std::vector<std::string> missing_features(const Machine& machine) {
  std::ifstream file("/proc/cpuinfo");
  std::vector<std::string> present;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) != 0 && line.rfind("Features", 0) != 0) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;) present.push_back(word);
    break;
  }
  std::vector<std::string> missing;
  if (present.empty()) return missing;
  for (const std::string& feature : machine.features)
    if (!contains(present, feature)) missing.push_back(feature);
  return missing;
}

void require_features(const Machine& machine) {
  if (!run_with().empty()) return;
  const std::vector<std::string> missing = missing_features(machine);
  if (!missing.empty()) throw ToolchainError("this processor lacks " + join(missing, ", ") + ", which machine " + machine.name + " has");
}

}  // namespace tileopt
