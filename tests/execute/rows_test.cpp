/// Loops over rows that run as boxes of vectors: reductions whose lanes meet in one element, functions, masked ends, stores past the caches.
#include "tests/execute/fixture.h"

namespace tileopt::test {
namespace {

using Rows = Execute;
const std::vector<std::int64_t> lengths = {0, 1, 2, 3, 7, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 255, 257, 300};

TEST_F(Rows, ReductionsOfEveryKindAndElement) {
  for (const char* type : {"f32", "f64", "i32", "i64"}) {
    kernels_.clear();
    const std::string t = type;
    compile("def f(X: " + t + "[R, N], S: out[" + t + "[R]], P: out[" + t + "[R]], L: out[" + t + "[R]], G: out[" + t + "[R]]):\n    for r in range(R):\n"
            "        S[r] = sum(X[r, j] for j in range(N))\n        P[r] = prod(" + std::string(t[0] == 'f' ? "1 + X[r, j] / 1024" : "X[r, j]") + " for j in range(N))\n"
            "        L[r] = min(X[r, j] for j in range(N))\n        G[r] = max(X[r, j] for j in range(N))\n");
    check_sizes({lengths});
  }
}

TEST_F(Rows, SoftmaxAndNorms) {
  compile("def f(X: f32[R, N], Y: out[f32[R, N]]):\n    for r in range(R):\n        m: f32 = max(X[r, j] for j in range(N))\n"
          "        l: f32 = sum(exp(X[r, j] - m) for j in range(N))\n        for j in range(N):\n            Y[r, j] = exp(X[r, j] - m) / l\n");
  check_sizes({lengths});
  kernels_.clear();
  compile("@numerics(contract=True)\ndef f(X: f32[R, N], G: f32[N], Y: out[f32[R, N]], e: f32):\n    assume(N >= 1)\n    for r in range(R):\n"
          "        q: f32 = sum(X[r, j] * X[r, j] for j in range(N)) / f32(N)\n        for j in range(N):\n            Y[r, j] = X[r, j] * rsqrt(q + abs(e) + 1) * G[j]\n");
  check_sizes({lengths});
}

TEST_F(Rows, EveryFunction) {
  compile("def f(X: f32[N], A: out[f32[N]], B: out[f32[N]], C: out[f32[N]], D: out[f64[N]], E: out[f32[N]]):\n    for i in range(N):\n"
          "        A[i] = exp(X[i] / 8) + exp2(X[i] / 8) + tanh(X[i] / 8)\n    for i in range(N):\n        B[i] = log(abs(X[i]) + 1) + erf(X[i] / 8)\n"
          "    for i in range(N):\n        C[i] = sqrt(abs(X[i])) + rsqrt(abs(X[i]) + 1) + floor(X[i] / 3) + ceil(X[i] / 3) + round(X[i] / 2)\n"
          "    for i in range(N):\n        D[i] = sqrt(abs(f64(X[i]))) + floor(f64(X[i]) / 3)\n    for i in range(N):\n        E[i] = max(X[i], min(-X[i], X[i] * X[i]))\n");
  check_sizes({lengths});
}

// Index order is kept where it is asked for: no lanes meet.
TEST_F(Rows, SumsInIndexOrder) {
  compile("@numerics(reassociate=False)\ndef f(X: f32[R, N], S: out[f32[R]]):\n    for r in range(R):\n        S[r] = sum(X[r, j] for j in range(N))\n");
  check_sizes({lengths});
}

TEST_F(Rows, NansWinAndInfinitiesStay) {
  compile("def f(X: f32[N], S: out[f32], G: out[f32]):\n    S = sum(X[j] for j in range(N))\n    G = max(X[j] for j in range(N))\n");
  for (const std::int64_t n : {5, 40, 300})
    for (const double special : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
      for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
        Arrays given = arguments({{"N", n}});
        given.at("X").set(at, special);
        run({{"N", n}}, given, [&](const Arrays& result) {
          for (const char* name : {"S", "G"}) {
            const double value = result.at(name).get(0);
            EXPECT_TRUE(std::isnan(special) ? std::isnan(value) : value == special) << name << " of " << n << " with " << special << " at " << at << ": " << value;
          }
        });
      }
}

}  // namespace
}  // namespace tileopt::test
