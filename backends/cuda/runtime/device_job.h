/// What the process that holds the GPU is asked, and what it answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tileopt::cuda {

struct DeviceJob {
  struct Argument {
    std::string name;
    bool written = false;
    bool by_value = false;   ///< stays on the host: the launcher reads it
    std::string bytes;
  };
  std::vector<std::int64_t> sizes;
  std::vector<Argument> arguments;
  double seconds = 0;        ///< > 0: further calls are timed for so long
  std::int64_t least = 0;    ///< but at least so often
  bool flush_cache = true;   ///< timed calls find the L2 cache full of other lines

  std::string write() const;
  static bool read(const std::string& text, DeviceJob& job);
};

struct DeviceAnswer {
  enum class End {
    done,        ///< the results of the first call are in `results`
    refused,     ///< the launcher returned `code`
    overrun,     ///< wrote outside an array, or into an input
    crashed,     ///< the device reported an error; its context is lost
    unavailable, ///< no driver, no GPU, too little memory, code for another GPU: exit 4
  };
  End end = End::unavailable;
  std::int64_t code = 0;
  std::string text;                   ///< what went wrong
  std::vector<std::string> results;   ///< one an argument; empty where it is not written
  std::vector<std::string> last;      ///< timed: the same after the last call, on the same arguments
  std::vector<double> samples;        ///< seconds on the device of each timed call

  std::string write() const;
  static bool read(const std::string& text, DeviceAnswer& answer);
};

}  // namespace tileopt::cuda
