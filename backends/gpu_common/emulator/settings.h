/// How a run in the emulator goes about what a GPU leaves open, and what comes out of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tileopt::emulator {

/// In which order threads and blocks go on; `random` also switches between any two accesses of memory that is shared.
enum class Order { forward, reverse, random };
/// When asynchronous copies arrive: at once, as late as they may, or at any time between.
enum class Completion { early, late, random };

struct Settings {
  Order order = Order::forward;
  Completion completion = Completion::late;
  std::uint64_t seed = 1;
  unsigned warp_size = 32;                  ///< 32 or 64
  std::uint32_t max_threads = 1024;         ///< of a block; more fail to launch
  std::uint32_t max_shared_bytes = 232448;  ///< of a block; more fail to launch
  double timeout_seconds = 60;
};
/// "random order (seed 3), late copies"
std::string settings_text(const Settings& settings);

/// A fault of the kernel.
struct Report {
  std::string kind;          ///< "race", "out of bounds", "uninitialised", "barrier", "warp", "deadlock", "misaligned", "overflow", "index",
                             ///< "asynchronous copy", "time", "crash", "limit"
  std::string text;          ///< what happened, who and where; one line, or more where several threads are listed
  std::string kernel;        ///< name of the printed kernel
  std::vector<int> lines;    ///< printed lines concerned, the faulty access first; empty where unknown
};

/// An argument: device memory of the emulated GPU.
struct Array {
  enum class Role { in, out, inout, workspace };
  std::string name;
  Role role = Role::in;
  std::int64_t element_bytes = 1;
  std::vector<std::byte> bytes;   ///< replaced by the results unless `in`
};

struct Outcome {
  enum class End { done, refused, faulty, crashed, hung };
  End end = End::done;
  int code = 0;                    ///< what the launcher returned
  std::vector<Report> reports;     ///< of `faulty`, `crashed`, `hung`
  std::int64_t accesses = 0, switches = 0, blocks = 0;
};

}  // namespace tileopt::emulator
