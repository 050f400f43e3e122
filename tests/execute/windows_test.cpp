/// Register tiles whose edges are masked: sizes around every boundary, elements of several types.
#include "tests/execute/fixture.h"

namespace tileopt::test {
namespace {

using Windows = Execute;

TEST_F(Windows, DepthwiseOfEveryElement) {
  for (const char* type : {"f32", "i64", "i16"}) {
    kernels_.clear();
    const std::string t = type;
    compile("def f(X: " + t + "[H, W + 2, C], F: " + t + "[3, C], Y: out[" + t + "[H, W, C]]):\n    for h, w, c in grid(H, W, C):\n"
            "        Y[h, w, c] = sum(X[h, w + s, c] * F[s, c] for s in range(3))\n", {"", "tile(\"atom\", w=3, c=16)"});
    check_sizes({{1, 3, 4, 5, 8, 15, 16, 17, 31, 33, 70}});
  }
}

TEST_F(Windows, PoolingAndProducts) {
  compile("def f(X: f32[W + 4, C], Y: out[f32[W, C]], Z: out[f64[W, C]]):\n    for w, c in grid(W, C):\n"
          "        Y[w, c] = max(X[w + s, c] for s in range(5))\n    for w, c in grid(W, C):\n        Z[w, c] = prod(f64(X[w + s, c]) for s in range(2))\n");
  check_sizes({{1, 2, 7, 9, 15, 16, 31, 32, 33, 63, 65}});
}

TEST_F(Windows, AccumulateOnWhatIsThere) {
  compile("def f(X: f32[W + 2, C], F: f32[3, C], Y: inout[f32[W + 1, C + 3]]):\n    for w, c, s in grid(W, C, 3):\n"
          "        Y[w + 1, c + 2] += X[w + s, c] * F[s, c]\n");
  check_sizes({{1, 4, 5, 13, 16, 18, 31, 34}});
}

// The register tile of a product whose left factor is not packed ends in masked tiles, on every side.
TEST_F(Windows, ProductsWithAFactorWhereItLies) {
  compile("@numerics(contract=True)\ndef f(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):\n    for i, j in grid(M, N):\n"
          "        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))\n", {"promote(A, \"none\")"});
  check_sizes({{1, 5, 6, 7, 13, 14, 15, 16, 17, 31, 33, 64, 70}});
}

}  // namespace
}  // namespace tileopt::test
