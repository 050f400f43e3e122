/// The first lines of printed CUDA: one wrapper an instruction, so that the text names nothing of CUDA itself.
#pragma once

#include <set>
#include <string>

namespace tileopt {

/// `requested`: further wrappers that the kernels use ("tileopt_block_barrier", "TILEOPT_SHARED_BASE", "tileopt_atomic_add_f32", ...). With TILEOPT_EMULATE defined, a
/// header "tileopt_emulator.h" defines all of them for a host compiler instead.
std::string cuda_prelude(const std::set<std::string>& requested);

}  // namespace tileopt
