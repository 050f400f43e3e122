/// The first lines of printed HIP: one wrapper an instruction, so that the text names nothing of HIP itself.
#pragma once

#include <set>
#include <string>

namespace tileopt {

/// As cuda_prelude; see gpu_common/wrappers.h.
std::string hip_prelude(const std::set<std::string>& requested);

}  // namespace tileopt
