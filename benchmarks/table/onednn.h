// oneDNN's primitives as contenders. Without oneDNN at build time there are none.
#pragma once

#include "kernel.h"
#include "row.h"

namespace tileopt::table::onednn {

// C[b, M, N] = A[b, M, K] B[b, K, N]
std::vector<Contender> gemm(int batch, int M, int N, int K, bool a_transposed, bool b_transposed, const float* A, const float* B, float* C);
std::vector<Contender> gemm_int8(int M, int N, int K, const std::int8_t* A, const std::int8_t* B, std::int32_t* C);
std::vector<Contender> gemm_bf16(int M, int N, int K, const std::uint16_t* A, const std::uint16_t* B, std::uint16_t* C);

struct Conv {
  int n, h, w, c, f;      // of the output; c: channels of the input
  int kernel;             // kernel x kernel, stride 1, no padding
  bool depthwise;
};
// Input and output NHWC; weights [kernel, kernel, c, f], or [kernel, kernel, c]. Weights are in oneDNN's own format before.
std::vector<Contender> conv(const Conv& shape, const float* input, const float* weights, float* output);

// Of rows of X[R, N].
std::vector<Contender> softmax(int R, int N, const float* X, float* Y);
std::vector<Contender> layernorm(int R, int N, const float* X, const float* gamma, const float* beta, float epsilon, float* Y);
std::vector<Contender> gelu_tanh(int R, int N, const float* X, float* Y);

}  // namespace tileopt::table::onednn
