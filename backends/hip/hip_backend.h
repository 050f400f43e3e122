/// Self-contained HIP C++ for AMD's GPUs: kernels and the extern "C" function that launches them.
#pragma once

#include <memory>

#include "backends/backend.h"

namespace tileopt {

std::unique_ptr<Backend> make_hip_backend();

}  // namespace tileopt
