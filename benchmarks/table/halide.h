// Halide with its adams2019 autoscheduler as a contender. Without Halide at build time there is none.
#pragma once

#include "row.h"

namespace tileopt::table::halide {

// C[M, N] = A[M, K] B[K, N]
std::vector<Contender> gemm(int M, int N, int K, int threads, float* A, float* B, float* C);

}  // namespace tileopt::table::halide
