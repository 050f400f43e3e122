/// A printed GPU module in the emulator, called like any other kernel.
#pragma once

#include <memory>

#include "backends/gpu_common/emulator/module.h"
#include "backends/runner/isolated_kernel.h"
#include "ir/machine.h"
#include "ir/module.h"

namespace tileopt {

class EmulatedKernel : public IsolatedKernel {
  struct State;

 public:
  /// Compiles the text for the emulator. @throws ToolchainError: no C++ compiler, or it fails.
  static EmulatedKernel compile(const Program& program, const SourceText& text);
  /// The same module under other settings.
  EmulatedKernel with(const emulator::Settings& settings) const;
  const emulator::Settings& settings() const { return settings_; }

  /// A fault that the emulator reports is `faulty`; its report is the detail.
  IsolatedRun run_isolated(const Sizes& sizes, Arrays& arguments, double timeout_seconds) const override;

 private:
  EmulatedKernel(std::shared_ptr<const State> state, emulator::Settings settings) : state_(std::move(state)), settings_(settings) {}
  std::shared_ptr<const State> state_;
  emulator::Settings settings_;
};

/// The settings that `check --emulate` uses, late copies forwards, any time at random; with the warp (or wave) and the limits of a block that
/// the machine has.
std::vector<emulator::Settings> check_settings(const Machine& machine, std::uint64_t seed);

}  // namespace tileopt
