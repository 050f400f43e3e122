/// What the compiler of a machine's device makes of a module: NVRTC or clang, without a GPU.
#pragma once

#include "ir/machine.h"
#include "ir/module.h"
#include "ir/program.h"

namespace tileopt {

/// Registers, spills, stack and shared memory (that of the launcher included) of every printed kernel.
/// @throws ToolchainError where the compiler is not here or refuses the text; Errors(invalid_option) where the machine is no GPU.
DeviceReport report_device_code(const Program& program, const SourceText& text, const Machine& machine);

/// "tileopt_kernel_0_0_gemm: 96 registers, 0 bytes spilled, 8192 bytes of shared memory", a line each.
std::string device_report_text(const DeviceReport& report);

}  // namespace tileopt
