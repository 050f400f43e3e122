/// The C compiler on this machine: finding it and its flags.
#pragma once

#include <string>
#include <vector>

#include "ir/machine.h"
#include "ir/program.h"
#include "support/process.h"

namespace tileopt {

/// $TILEOPT_CC, or the first of cc, gcc, clang and versioned clangs on $PATH. @throws ToolchainError where there is none.
std::string find_c_compiler();

/// Flags that the meaning of printed code depends on: -O3 -std=gnu11 -ffp-contract=... ; never fast-math.
std::vector<std::string> numeric_flags(const Numerics& numerics);

/// Compiles C files into a shared object with the flags of `numerics` and `machine`.
/// @throws ToolchainError with the compiler's output where that fails.
void compile_shared_object(const std::string& compiler, const std::vector<std::string>& sources, const std::string& object,
                           const Numerics& numerics, const Machine& machine, const std::vector<std::string>& extra_flags);

/// $TILEOPT_RUN_WITH, a command that runs programs of another processor, with its arguments, divided at blanks: compiled kernels are
/// started by it, e.g. `qemu-aarch64 -L /usr/aarch64-linux-gnu`. Empty: they run as they are.
/// @throws ToolchainError where its first word is no program.
std::vector<std::string> run_with();

/// Features of `machine` (names of /proc/cpuinfo) that this processor lacks; empty where the system does not tell.
std::vector<std::string> missing_features(const Machine& machine);
/// Nothing is required of this processor where another program runs the kernels.
/// @throws ToolchainError naming the features that this processor lacks.
void require_features(const Machine& machine);

}  // namespace tileopt
