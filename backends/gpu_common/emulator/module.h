/// Printed GPU text compiled for the emulator by the host's C++ compiler, and loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/gpu_common/emulator/settings.h"

namespace tileopt::emulator {

struct LoadedObject;

/// $TILEOPT_CXX, or the first of c++, g++, clang++ and versioned ones on $PATH. @throws ToolchainError where there is none.
std::string find_cxx_compiler();

/// A loaded object. Its text defines, besides kernels and launchers,
///   extern "C" int32_t tileopt_call(const int64_t* sizes, void** arguments, void* workspace)   calls the launcher
///   extern "C" int64_t tileopt_workspace(const int64_t* sizes)                                 bytes; negative: refused
class Module {
 public:
  /// `text`: as printed; it includes tileopt_emulator.h where TILEOPT_EMULATE is defined. `calls`: definitions of the two functions
  /// above, compiled behind it. @throws ToolchainError where there is no compiler or it fails.
  static Module compile(const std::string& text, const std::string& calls, const std::string& compiler = "");
  /// The same without instrumentation, for its launcher alone: kernels run on a device, their host code is never called.
  static Module compile_launcher(const std::string& text, const std::string& calls, const std::string& compiler = "");

  /// Alive as long as a copy of this value is.
  const LoadedObject& object() const;

  /// Runs the launcher in a process of its own. Arrays that are written hold the results where the end is `done`.
  /// @throws ToolchainError where no process can be started, or no memory for the arrays is there.
  Outcome run(const std::vector<std::int64_t>& sizes, std::vector<Array>& arguments, const Settings& settings) const;

 private:
  struct State;
  static Module build(const std::string& text, const std::string& calls, const std::string& compiler, bool instrumented);
  explicit Module(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace tileopt::emulator
