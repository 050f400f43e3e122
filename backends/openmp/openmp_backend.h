/// The OpenMP-SIMD C backend: self-contained C11 (GNU vectors where the machine has vectors) and a header.
#pragma once

#include <memory>

#include "backends/backend.h"

namespace tileopt {

std::unique_ptr<Backend> make_openmp_backend();

}  // namespace tileopt
