/// The machine that we run on, from what the operating system tells.
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "cost_models/machines.h"
#include "support/text.h"

namespace tileopt {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  return line;
}

long to_long(const std::string& text, long otherwise) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  return end == text.c_str() ? otherwise : value;
}

/// "32K" -> 32768.
double parse_capacity(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !(value >= 0)) return 0;
  switch (*end) {
    case 'K': return value * 1024;
    case 'M': return value * 1024 * 1024;
    case 'G': return value * 1024 * 1024 * 1024;
  }
  return value;
}

/// First processor's entries of /proc/cpuinfo.
std::map<std::string, std::string> read_cpuinfo() {
  std::map<std::string, std::string> entries;
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
      if (!entries.empty()) break;
      continue;
    }
    const std::size_t key_end = line.find_last_not_of(" \t", colon - (colon > 0));
    const std::size_t value_start = line.find_first_not_of(" \t", colon + 1);
    if (colon == 0 || key_end == std::string::npos) continue;
    entries.emplace(line.substr(0, key_end + 1), value_start == std::string::npos ? "" : line.substr(value_start));
  }
  return entries;
}

std::vector<HostCache> read_caches() {
  std::vector<HostCache> caches;
  for (int index = 0; index < 16; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const std::string type = first_line(folder + "type");
    if (type.empty()) break;
    if (type != "Data" && type != "Unified") continue;
    HostCache cache;
    cache.level = static_cast<int>(to_long(first_line(folder + "level"), 1));
    cache.capacity = parse_capacity(first_line(folder + "size"));
    cache.line = static_cast<int>(to_long(first_line(folder + "coherency_line_size"), 64));
    cache.ways = static_cast<int>(to_long(first_line(folder + "ways_of_associativity"), 8));
    cache.shared = first_line(folder + "shared_cpu_list").find_first_of(",-") != std::string::npos && cache.level >= 3;
    if (cache.capacity > 0 && cache.line > 0 && cache.ways > 0) caches.push_back(cache);
  }
  std::sort(caches.begin(), caches.end(), [](const HostCache& a, const HostCache& b) { return a.level < b.level; });
  return caches;
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

/// Instruction sets that generated code may come to need, so that a module built for one host says what it asks of another.
const std::vector<std::string>& recorded_features() {
  static const std::vector<std::string> names = {
      "sse2",     "sse4_2",   "avx",      "avx2",     "fma",      "f16c",        "bmi1",        "bmi2",        "movbe",
      "avx512f",  "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "asimd",
      "asimddp",  "asimdhp",  "sve"};
  return names;
}

struct VectorUnit {
  int bytes = 0;
  int registers = 0;
  double fma_per_cycle = 1;
};

VectorUnit vector_unit(const HostFacts& facts) {
  const auto has = [&](const char* flag) { return contains(facts.flags, flag); };
  if (has("avx512f") && has("avx512vl") && has("avx512dq") && has("avx512bw")) return {64, 32, facts.half_rate_512 ? 1.0 : 2.0};
  if (has("avx2") && has("fma")) return {32, 16, 2};
  if (has("sse2")) return {16, 16, 1};
  if (has("asimd")) return {16, 32, 2};
  return {};
}

/// A guest is told the size of the whole cache, and not who else fills it: it may count on the part of its own cores. Parts lie between
/// 1.375 MB (Xeon Scalable) and 4 MB (EPYC) a core (WikiChip, "Skylake (server)", "Zen 3").
constexpr double kGuestBytesPerCore = 4 << 20;

std::vector<Memory> memories(const HostFacts& facts, double frequency, const VectorUnit& unit) {
  std::vector<HostCache> caches = facts.caches;
  if (contains(facts.flags, "hypervisor")) {
    for (HostCache& cache : caches)
      if (cache.level >= 3) cache.capacity = std::min(cache.capacity, kGuestBytesPerCore * facts.cores);
  }
  if (caches.empty()) caches = {{1, 32 << 10, 64, 8, false}, {2, 512 << 10, 64, 8, false}, {3, 8 << 20, 64, 16, true}};
  std::vector<Memory> result;
  const double word = std::max(unit.bytes, 8);
  for (const HostCache& cache : caches) {
    const double bytes_per_cycle = cache.level == 1 ? 2 * word : cache.level == 2 ? 32 : 20;
    result.push_back({"L" + std::to_string(cache.level), cache.capacity, bytes_per_cycle * frequency, cache.line, cache.ways, cache.shared});
  }
  result.push_back({"DRAM", 0, 20e9, result.front().line, 1, true});
  return result;
}

/// Box (rows, products, lanes): a word of the left factor against a vector of words of the right one.
Atom dot_atom(const std::string& name, const std::string& left, const std::string& right, const std::string& result, long depth, double throughput, int latency) {
  return {name, "dot", 3, {{"result", "register", "*01", result}, {"left", "memory", "*10", left}, {"right", "memory", "011", right}}, throughput, latency, "", {0, depth, 0}};
}

std::vector<Atom> atoms(const HostFacts& facts, const VectorUnit& unit, int latency) {
  const Atom fma{"outer_product_fma",
                 "multiply_add",
                 2,
                 {{"result", "register", "*1"}, {"left", "any", "*0"}, {"right", "any", "01"}},
                 unit.fma_per_cycle,
                 latency};
  const Atom box{"vector_box", "elementwise", 2, {{"result", "any", "*1"}, {"any", "any", "**"}}, unit.fma_per_cycle, latency};
  const Atom reduce{"vector_reduce", "reduce", 1, {{"result", "any", "0"}, {"any", "any", "*"}}, unit.fma_per_cycle, latency};
  const Atom update{"atomic_update", "atomic_update", 0, {{"result", "memory", ""}}, 0.05, 20};
  std::vector<Atom> found{fma, box, reduce, update};
  const auto has = [&](const char* flag) { return contains(facts.flags, flag); };
  const double rate = unit.fma_per_cycle;
  // Without VNNI the products are added by a second instruction.
  if (unit.bytes >= 32 && has("avx2")) found.push_back(dot_atom("dot_i16", "i16", "i16", "i32", 2, has("avx512_vnni") ? rate : rate / 2, latency));
  if (unit.bytes == 64 && has("avx512_vnni")) {
    found.push_back(dot_atom("dot_u8_i8", "u8", "i8", "i32", 4, rate, latency));
    found.push_back(dot_atom("dot_i8_u8", "i8", "u8", "i32", 4, rate, latency));
  }
  if (unit.bytes == 64 && has("avx512_bf16")) found.push_back(dot_atom("dot_bf16", "bf16", "bf16", "f32", 2, rate / 2, latency));
  return found;
}

}  // namespace

HostFacts read_host_facts() {
  HostFacts facts;
  utsname system{};
  if (uname(&system) == 0) facts.architecture = system.machine;
  const std::map<std::string, std::string> entries = read_cpuinfo();
  const auto entry = [&](const char* name) {
    const auto found = entries.find(name);
    return found == entries.end() ? std::string() : found->second;
  };
  facts.model = entry("model name");
  std::istringstream flags(entry("flags") + " " + entry("Features"));
  facts.flags.assign(std::istream_iterator<std::string>(flags), {});
  facts.frequency = std::strtod(entry("cpu MHz").c_str(), nullptr) * 1e6;
  facts.half_rate_512 = entry("vendor_id") == "AuthenticAMD" && to_long(entry("cpu family"), 0) <= 25;
  facts.caches = read_caches();
  facts.cores = usable_cores();
  return facts;
}

Machine make_host_machine(const HostFacts& facts) {
  const VectorUnit unit = vector_unit(facts);
  Machine machine;
  machine.name = "host";
  machine.backend = "openmp";
  machine.description = facts.model.empty() ? "the machine that tileopt runs on" : facts.model;
  machine.flags = {facts.architecture == "aarch64" ? "-mcpu=native" : "-march=native"};
  if (unit.bytes == 64) machine.flags.push_back("-mprefer-vector-width=512");
  for (const std::string& name : recorded_features()) {
    if (contains(facts.flags, name)) machine.features.push_back(name);
  }
  machine.cores = facts.cores;
  machine.frequency = facts.frequency > 0 ? facts.frequency : 3e9;
  machine.vector_bytes = unit.bytes;
  machine.vector_registers = unit.registers;
  machine.fma_latency = 4;
  machine.fma_per_cycle = unit.fma_per_cycle;
  machine.levels = {{"thread", LevelKind::independent, facts.cores},
                    {"simd", LevelKind::lockstep, 0},
                    {"serial", LevelKind::sequential, 0},
                    {"unroll", LevelKind::unrolled, 0},
                    {"atom", LevelKind::atom, 0}};
  machine.memories = memories(facts, machine.frequency, unit);
  const double register_bytes = unit.bytes > 0 ? double(unit.bytes) * unit.registers : 1024;
  machine.spaces = {{"workspace", 0}, {"stack", 1 << 20}, {"register", register_bytes}};
  machine.atoms = atoms(facts, unit, machine.fma_latency);
  return machine;
}

Machine detect_host() { return make_host_machine(read_host_facts()); }

}  // namespace tileopt
