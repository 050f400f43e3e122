/// Self-contained CUDA C++: kernels and the extern "C" function that launches them.
#pragma once

#include <memory>

#include "backends/backend.h"

namespace tileopt {

std::unique_ptr<Backend> make_cuda_backend();

}  // namespace tileopt
