/// Programs that were measured on an H200, with the medians: benchmarks/results/gpu_rows.jsonl, gpu_gemm.jsonl and gpu_conv.jsonl, the last line of each row
/// that today's planner would print (cumsum and histogram: the same script on the texts of f8aad9a). Times of older forms of a kernel are left out.
#pragma once

#include <string>
#include <vector>

namespace tileopt {

struct MeasuredRow {
  std::string name;
  std::string program;  ///< tile text
  std::string sizes;    ///< as --size
  double microseconds = 0;
};

/// Rows of gpu_rows.py.
inline const std::vector<MeasuredRow> measured_rows = {
    {"softmax", R"tile(@numerics(contract=True, flush_subnormals=True, approx_ulp=210)
def k(X: bf16[R, N], Y: out[bf16[R, N]]):
    for r in range(R):
        m: f32 = max(f32(X[r, j]) for j in range(N))
        l: f32 = sum(exp(f32(X[r, j]) - m) for j in range(N))
        for j in range(N):
            Y[r, j] = bf16(exp(f32(X[r, j]) - m) / l)
)tile",
     "R=16384,N=8192", 190.24},
    {"rmsnorm", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(X: bf16[R, N], gamma: bf16[N], Y: out[bf16[R, N]]):
    assume(N >= 1)
    for r in range(R):
        square: f32 = sum(f32(X[r, j]) * f32(X[r, j]) for j in range(N)) / f32(N)
        for j in range(N):
            Y[r, j] = bf16(f32(X[r, j]) * rsqrt(square + f32(0.00001)) * f32(gamma[j]))
)tile",
     "R=16384,N=8192", 136.96},
    {"layernorm", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(X: bf16[R, N], gamma: bf16[N], beta: bf16[N], Y: out[bf16[R, N]]):
    assume(N >= 1)
    for r in range(R):
        mean: f32 = sum(f32(X[r, j]) for j in range(N)) / f32(N)
        variance: f32 = sum((f32(X[r, j]) - mean) * (f32(X[r, j]) - mean) for j in range(N)) / f32(N)
        scale: f32 = rsqrt(variance + f32(0.00001))
        for j in range(N):
            Y[r, j] = bf16((f32(X[r, j]) - mean) * scale * f32(gamma[j]) + f32(beta[j]))
)tile",
     "R=16384,N=8192", 162.88},
    {"gelu_tanh", R"tile(@numerics(contract=True, flush_subnormals=True, approx_ulp=8192)
def k(X: bf16[N], Y: out[bf16[N]]):
    for i in range(N):
        x: f32 = f32(X[i])
        Y[i] = bf16(0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))))
)tile",
     "N=134217728", 130.56},
    {"gelu_erf", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(X: bf16[N], Y: out[bf16[N]]):
    for i in range(N):
        x: f32 = f32(X[i])
        Y[i] = bf16(0.5 * x * (1 + erf(0.7071067811865476 * x)))
)tile",
     "N=134217728", 182.88},
    {"transpose_bf16", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(A: bf16[M, N], B: out[bf16[N, M]]):
    for i, j in grid(M, N):
        B[j, i] = A[i, j]
)tile",
     "M=16384,N=8192", 176.7},
    {"transpose_f32", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(A: f32[M, N], B: out[f32[N, M]]):
    for i, j in grid(M, N):
        B[j, i] = A[i, j]
)tile",
     "M=16384,N=8192", 315.46},
    {"row_sum", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(A: f32[M, N], S: out[f32[M]]):
    for i in range(M):
        S[i] = sum(A[i, j] for j in range(N))
)tile",
     "M=16384,N=8192", 121.22},
    {"column_sum", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(A: f32[M, N], S: out[f32[N]]):
    for j in range(N):
        S[j] = sum(A[i, j] for i in range(M))
)tile",
     "M=16384,N=8192", 135.01},
    {"full_sum", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(A: f32[M, N], S: out[f32]):
    S = sum(A[i, j] for i, j in grid(M, N))
)tile",
     "M=16384,N=8192", 141.54},
    {"row_sum_bf16", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(A: bf16[M, N], S: out[f32[M]]):
    for i in range(M):
        S[i] = sum(f32(A[i, j]) for j in range(N))
)tile",
     "M=16384,N=8192", 68.45},
    {"cumsum", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(X: f32[R, N], Y: out[f32[R, N]]):
    for r, i in grid(R, N):
        Y[r, i] = scan(sum(X[r, j] for j in range(i + 1)))
)tile",
     "R=16384,N=8192", 282.34},
    {"argmax", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(X: f32[R, N], I: out[i32[R]]):
    for r in range(R):
        I[r] = argmax(X[r, j] for j in range(N))
)tile",
     "R=16384,N=8192", 156.13},
    {"top_8", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(X: f32[R, N], V: out[f32[R, 8]], I: out[i32[R, 8]]):
    assume(N >= 8)
    for r in range(R):
        best: tuple[f32, i32][8] = topk(X[r, j] for j in range(N))
        for t in range(8):
            V[r, t] = best[t][0]
            I[r, t] = best[t][1]
)tile",
     "R=2048,N=8192", 141.15},
    {"embedding", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(token: i32[T], table: bf16[V, D], Y: out[bf16[T, D]]):
    assume(0 <= token[:] < V)
    for t, d in grid(T, D):
        Y[t, d] = table[token[t], d]
)tile",
     "T=65536,V=32768,D=2048", 142.02},
    {"histogram", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(key: i32[N], count: inout[i32[B]]):
    assume(0 <= key[:] < B)
    for i in range(N):
        count[key[i]] += 1
)tile",
     "N=268435456,B=1024", 254.02},
    {"softmax_128", R"tile(@numerics(contract=True, flush_subnormals=True, approx_ulp=210)
def k(X: f32[B, R, 128], Y: out[f32[B, R, 128]]):
    for b, r in grid(B, R):
        m: f32 = max(X[b, r, j] for j in range(128))
        l: f32 = sum(exp(X[b, r, j] - m) for j in range(128))
        for j in range(128):
            Y[b, r, j] = exp(X[b, r, j] - m) / l
)tile",
     "B=4096,R=64", 128.86},
    {"gemm_16", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(A: f32[B, 16, 16], W: f32[B, 16, 16], C: out[f32[B, 16, 16]]):
    for b, i, j in grid(B, 16, 16):
        C[b, i, j] = sum(A[b, i, k] * W[b, k, j] for k in range(16))
)tile",
     "B=65536", 122.02},
    {"gemv_1", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(A: bf16[M, K], W: bf16[N, K], C: out[bf16[M, N]]):
    assume(K % 8 == 0)
    for i, j in grid(M, N):
        acc: f32 = sum(f32(A[i, k]) * f32(W[j, k]) for k in range(K))
        C[i, j] = bf16(acc)
)tile",
     "M=1,N=8192,K=8192", 37.66},
    {"gemv_4", R"tile(@numerics(contract=True, flush_subnormals=True)
def k(A: bf16[M, K], W: bf16[N, K], C: out[bf16[M, N]]):
    assume(K % 8 == 0)
    for i, j in grid(M, N):
        acc: f32 = sum(f32(A[i, k]) * f32(W[j, k]) for k in range(K))
        C[i, j] = bf16(acc)
)tile",
     "M=4,N=8192,K=8192", 37.57},
};

/// gpu_gemm.py LAYOUT --type TYPE --assume ASSUME --epilogue EPILOGUE
struct MeasuredProduct {
  const char *layout, *type, *assume, *epilogue;
  long m, n, k;
  double teraflops;
};
inline const std::vector<MeasuredProduct> measured_products = {
    {"NT", "bf16", "K % 8 == 0", "", 65536, 128, 4096, 442.1},
    {"NT", "bf16", "K % 8 == 0", "", 65536, 64, 4096, 233},
    {"NN", "f32", "", "", 4096, 4096, 4096, 42.9},
    {"NT", "f32", "", "", 4096, 4096, 4096, 33.5},
    {"NT", "bf16", "K % 8 == 0", "", 4096, 4096, 4096, 654.5},
    {"NN", "bf16", "K % 8 == 0 and N % 8 == 0", "", 4096, 4096, 4096, 641.1},
    {"NT", "bf16", "K % 8 == 0", "", 8192, 8192, 8192, 676.2},
    {"NN", "bf16", "K % 8 == 0 and N % 8 == 0", "", 8192, 8192, 8192, 679.1},
    {"NT", "bf16", "K % 8 == 0", "", 5000, 3000, 7000, 533.9},
    {"NT", "bf16", "K % 8 == 0", "", 4096, 14336, 4096, 643.7},
    {"NT", "bf16", "K % 8 == 0", "", 4096, 4096, 14336, 688.2},
    {"TT", "f16", "K % 8 == 0 and M % 8 == 0", "", 4096, 4096, 4096, 618.4},
    {"NT", "bf16", "K % 8 == 0", "", 256, 8192, 8192, 543.1},
    {"NT", "bf16", "K % 8 == 0", "", 2048, 2048, 2048, 588},
    {"TN", "bf16", "M % 8 == 0 and N % 8 == 0", "", 4096, 4096, 4096, 648.2},
    {"NT", "bf16", "K % 8 == 0", "gelu", 4096, 4096, 4096, 624.5},
    {"NT", "bf16", "K % 8 == 0", "residual", 4096, 4096, 4096, 581},
    {"NT", "bf16", "K % 8 == 0", "", 16, 8192, 8192, 57.9},
    {"NT", "bf16", "K % 8 == 0", "", 32, 8192, 8192, 114.1},
    {"NT", "bf16", "K % 8 == 0", "", 64, 8192, 8192, 222.6},
    {"NT", "bf16", "K % 8 == 0", "", 128, 8192, 8192, 395},
    {"NN", "bf16", "K % 8 == 0 and N % 8 == 0", "", 16, 8192, 8192, 62.3},
    {"NT", "bf16", "K % 8 == 0", "", 4, 8192, 8192, 14.2},
    {"NN", "bf16", "K % 8 == 0 and N % 8 == 0", "", 4, 8192, 8192, 15.3},
    {"NT", "bf16", "K % 8 == 0", "", 1, 8192, 8192, 3.7},
    {"NT", "bf16", "K % 8 == 0", "", 2, 8192, 8192, 7.4},
    {"NT", "bf16", "", "", 4096, 4096, 4096, 648.4},
    {"NT", "bf16", "", "", 4096, 4096, 4100, 164.2},
    {"NN", "bf16", "", "", 4096, 4096, 4096, 653.6},
};

/// gpu_conv.py N H H C F --stride STRIDE --weights WEIGHTS [--any-channels]; slots: of a pinned pipeline, 0: none
struct MeasuredConvolution {
  const char* weights;
  bool any_channels;
  long n, h, c, f, stride, slots;
  double teraflops;
};
inline const std::vector<MeasuredConvolution> measured_convolutions = {
    {"RSCF", false, 128, 28, 128, 128, 1, 0, 453.1},
    {"RSCF", false, 128, 14, 256, 256, 2, 0, 493.8},
    {"RSCF", false, 32, 56, 256, 256, 1, 0, 604.8},
    {"RSCF", false, 32, 224, 64, 64, 1, 0, 327.8},
    {"FRSC", true, 32, 56, 256, 256, 1, 0, 592.8},
    {"RSCF", true, 32, 56, 256, 256, 1, 0, 595.7},
    {"FRSC", false, 32, 56, 256, 256, 1, 0, 598.3},
};

}  // namespace tileopt
