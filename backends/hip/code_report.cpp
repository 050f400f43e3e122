#include "backends/hip/code_report.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "backends/hip/declarations.h"
#include "support/document.h"
#include "support/error.h"
#include "support/process.h"
#include "support/text.h"

namespace tileopt {

namespace {
constexpr double compile_seconds = 300;

std::string architecture_of(const Machine& machine) {
  for (const std::string& feature : machine.features)
    if (feature.rfind("gfx", 0) == 0) return feature;
  throw ToolchainError("machine " + machine.name + " names no architecture of AMD's (a feature like gfx942)");
}

/// "17" of "... clang version 17.0.6 ..."; the whole first line where it reads otherwise.
std::string version_of(const std::string& compiler) {
  const std::string output = run_process({compiler, "--version"}, compile_seconds).output;
  const std::string first = output.substr(0, output.find('\n'));
  const std::size_t at = first.find("version ");
  return at == std::string::npos ? first : first.substr(at + 8, first.find_first_of(" -(", at + 8) - at - 8);
}

/// "    .vgpr_count:     34" as its key and value; a list's first entry has "  - " in front.
bool read_entry(const std::string& line, std::string& key, std::string& value) {
  const std::size_t dot = line.find_first_not_of(" -");
  if (dot == std::string::npos || line[dot] != '.') return false;
  const std::size_t colon = line.find(':', dot);
  if (colon == std::string::npos) return false;
  key = line.substr(dot + 1, colon - dot - 1);
  const std::size_t start = line.find_first_not_of(" '", colon + 1), end = line.find_last_not_of(" '");
  value = start == std::string::npos ? "" : line.substr(start, end - start + 1);
  return true;
}
/// How clang 14 and newer say that an architecture is none of theirs.
bool knows_not(const std::string& output) {
  for (const char* words : {"invalid target ID", "unknown target CPU", "unsupported HIP gpu architecture"})
    if (output.find(words) != std::string::npos) return true;
  return false;
}

/// A machine file's wave is what the proof and the emulator go by.
void check_wave(const std::string& assembly, const Machine& machine, const std::string& architecture) {
  const std::string entry = ".wavefront_size: ";
  const std::size_t at = assembly.find(entry);
  if (at == std::string::npos || !machine.multiprocessor) return;
  const long wave = std::atol(assembly.c_str() + at + entry.size());
  if (wave == machine.multiprocessor->warp) return;
  throw ToolchainError("clang compiles " + architecture + " for waves of " + std::to_string(wave) + ", the machine file " + machine.name + " has " +
                       std::to_string(machine.multiprocessor->warp) + "\n  hint: set `warp` of its `multiprocessor` to " + std::to_string(wave));
}
}  // namespace

std::string find_hip_compiler() {
  if (const char* chosen = std::getenv("TILEOPT_HIP_CXX"); chosen != nullptr && *chosen != '\0') {
    const std::string path = find_program(chosen);
    if (path.empty()) throw ToolchainError(std::string("TILEOPT_HIP_CXX names `") + chosen + "`, which is no executable file");
    return path;
  }
  for (const char* name : {"clang++-22", "clang++-21", "clang++-20", "clang++-19", "clang++-18", "clang++-17", "amdclang++", "clang++", "clang++-16", "clang++-15", "clang++-14"}) {
    const std::string path = find_program(name);
    if (!path.empty()) return path;
  }
  throw ToolchainError("no clang on PATH, which compiles HIP\n  hint: install clang-19, or set TILEOPT_HIP_CXX to a clang");
}

/// The metadata is a YAML document in the assembly; an entry of a kernel has an indentation of four.
std::vector<KernelResources> read_amdgpu_metadata(const std::string& assembly) {
  std::vector<KernelResources> kernels;
  std::istringstream lines(assembly);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("amdhsa.kernels:", 0) == 0) inside = true;
    else if (inside && !line.empty() && line[0] != ' ') break;
    if (!inside || line.size() < 5 || line[4] != '.') continue;
    if (line[2] == '-') kernels.emplace_back();
    std::string key, value;
    if (kernels.empty() || !read_entry(line, key, value)) continue;
    KernelResources& kernel = kernels.back();
    const long number = std::atol(value.c_str());
    if (key == "name") kernel.kernel = value;
    else if (key == "vgpr_count") kernel.registers = number;
    else if (key == "vgpr_spill_count") kernel.spilled_bytes = 4 * number;
    else if (key == "private_segment_fixed_size") kernel.stack_bytes = number;
    else if (key == "group_segment_fixed_size") kernel.shared_bytes = number;
  }
  return kernels;
}

DeviceReport report_hip_code(const SourceText& text, const Machine& machine, bool contract) {
  const std::string compiler = find_hip_compiler(), architecture = architecture_of(machine);
  const TemporaryDirectory folder;
  for (const auto& [path, content] : hip_declarations()) {
    std::filesystem::create_directories(std::filesystem::path(folder.path() + "/include/" + path).parent_path());
    write_file(folder.path() + "/include/" + path, content);
  }
  write_file(folder.path() + "/kernel.hip", text.source);
  std::vector<std::string> command = {compiler, "-x", "hip", "-std=c++17", "-O3", "-w", contract ? "-ffp-contract=fast" : "-ffp-contract=off"};
  command.insert(command.end(), machine.flags.begin(), machine.flags.end());
  command.insert(command.end(), {"--cuda-device-only", "-nogpuinc", "-nogpulib", "-ffreestanding", "-nostdlibinc", "-isystem", folder.path() + "/include", "-S", "-o",
                                 folder.path() + "/kernel.s", folder.path() + "/kernel.hip"});
  const ProcessResult result = run_process(command, compile_seconds);
  if (result.end != ProcessResult::End::exited || result.code != 0) {
    const std::string version = version_of(compiler);
    if (knows_not(result.output))
      throw ToolchainError(compiler + " (" + version + ") does not compile for " + architecture + "\n  hint: install a newer clang (17 knows gfx90a, gfx942 and gfx1100), or set TILEOPT_HIP_CXX to one");
    throw ToolchainError(compiler + " " + (result.end == ProcessResult::End::timed_out ? "did not finish in 300 s" : "failed") + " on generated code for " + architecture +
                         "\n  command: " + join(command, " ") + "\n" + result.output);
  }
  DeviceReport report;
  report.compiler = "clang " + version_of(compiler) + " for " + architecture;
  const std::string assembly = read_file(folder.path() + "/kernel.s");
  check_wave(assembly, machine, architecture);
  report.kernels = read_amdgpu_metadata(assembly);
  return report;
}

}  // namespace tileopt
