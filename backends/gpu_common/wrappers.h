/// Wrappers, one instruction each, so that printed kernels name nothing of a vendor. Here: those that read alike in CUDA and in HIP.
#pragma once

#include <string>

namespace tileopt {

/// In front of all: with TILEOPT_EMULATE defined, a header "tileopt_emulator.h" defines every wrapper for a host compiler instead.
extern const char* const wrappers_begin;
extern const char* const wrappers_end;
/// Where a block and a thread find their numbers, and what is a function of both sides.
extern const char* const common_wrappers;

/// The definition of a further wrapper that kernels use: "tileopt_block_barrier", "TILEOPT_SHARED_BASE", "tileopt_atomic_add_f32", ...
std::string device_wrapper(const std::string& name);

}  // namespace tileopt
