/// Finds machines: by name (built in), as `host` (detected), or in a file.
#pragma once

#include <string>
#include <vector>

#include "ir/machine.h"

namespace tileopt {

/// Names that find_machine knows, sorted: the embedded machine files and "host".
std::vector<std::string> machine_names();

/// A built-in machine, "host", or the machine file at a path (anything with a '/' or ending in ".json").
/// @throws Errors: unknown_machine with the nearest names; file_access, invalid_dump or invalid_machine for files.
Machine find_machine(const std::string& name_or_path);

/// One cache as seen by one core. Units: bytes, ways.
struct HostCache {
  int level = 1;
  double capacity = 0;
  int line = 64;
  int ways = 8;
  bool shared = false;  ///< by more cores than one
};

/// What the operating system says about the processor.
struct HostFacts {
  std::string architecture;         ///< "x86_64", "aarch64", ...
  std::string model;                ///< as text, for the description
  std::vector<std::string> flags;   ///< instruction set flags, names as in /proc/cpuinfo
  std::vector<HostCache> caches;    ///< data and unified caches, nearest first
  int cores = 1;                    ///< that this process may use
  double frequency = 0;             ///< Hz; 0: unknown
  bool half_rate_512 = false;       ///< 512-bit operations take two passes
};

/// Reads /proc/cpuinfo and sysfs; what they do not tell is left at its default.
HostFacts read_host_facts();

/// The Machine "host" of these facts: widest vectors that the flags allow, flags "-march=native".
Machine make_host_machine(const HostFacts& facts);

/// make_host_machine(read_host_facts()).
Machine detect_host();

}  // namespace tileopt
