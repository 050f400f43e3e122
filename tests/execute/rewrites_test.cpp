// Rewritten programs, compiled, proved, run with one and two threads, and compared with the interpreter's run of the source.
#include <gtest/gtest.h>

#include "backends/openmp/runner.h"
#include "cost_models/machines.h"
#include "driver/check_kernel.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"

namespace tileopt::test {
namespace {

class ExecuteRewrites : public ::testing::Test {
 protected:
  /// Compiles `text` under `pins` for typical sizes, with one and two threads, and runs both at `sizes`.
  void check(const std::string& text, const std::string& pins, const std::map<std::string, std::int64_t>& typical, const std::vector<Sizes>& sizes,
             const std::string& printed = "") {
    const auto program = std::make_shared<const Program>(parse_tile_file(context_.get(), text, "test.tile").programs.at(0));
    std::vector<CompiledKernel> kernels;
    for (const int threads : {1, 2}) {
      Request request;
      request.machine = find_machine("host");
      request.resolve.threads = threads;
      request.resolve.typical_sizes = typical;
      request.pins = parse_pins(pins, "pins");
      Trace trace;
      Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
      ASSERT_FALSE(std::holds_alternative<Infeasible>(outcome)) << to_string(std::get<Infeasible>(outcome));
      const Module& module = std::get<Outcome>(outcome).module;
      EXPECT_EQ(unproved_text(module.certificate), "");
      if (pins.find("\"none\"") == std::string::npos) {
        EXPECT_NE(module.certificate.assumed.back().find("rewrites "), std::string::npos);
      }
      if (threads == 2 && !printed.empty()) {
        EXPECT_TRUE(runs_on_threads(module.plan, printed)) << module.plan.write().dump(2);
      }
      kernels.push_back(CompiledKernel::compile(*program, module.text, request.machine, {"", {"-Wall", "-Werror", "-Wno-unused-function"}}));
    }
    std::vector<const IsolatedKernel*> pointers;
    for (const CompiledKernel& kernel : kernels) pointers.push_back(&kernel);
    const CheckReport report = check_kernels(*program, pointers, sizes, 7);
    EXPECT_EQ(report.failure, "");
    EXPECT_GE(report.runs, 2 * static_cast<int>(sizes.size()));
  }

  /// The loop `digit` of some kernel is spread over threads.
  static bool runs_on_threads(const Plan& plan, const std::string& member) {
    for (const KernelPlan& kernel : plan.kernels)
      for (const auto& [name, digits] : kernel.digits)
        if (name == member && digits.front().level == "thread") return true;
    return false;
  }

  poly::Context context_;
};

TEST_F(ExecuteRewrites, CumulativeSumInBlocks) {
  const std::vector<Sizes> sizes = {{{"N", 0}}, {{"N", 1}}, {{"N", 1023}}, {{"N", 1024}}, {{"N", 1025}}, {{"N", 10000}}};
  const std::string blocks = "rewrite(\"block_scan\", y, block=1024)";
  check("def cumsum(x: f32[N], y: out[f32[N]]):\n    for i in range(N):\n        y[i] = scan(sum(x[j] for j in range(i + 1)))\n", blocks, {{"N", 1 << 20}}, sizes, "i_block");
  check("def exclusive(x: i64[N], y: out[i64[N]]):\n    for i in range(N):\n        y[i] = scan(max(x[j] for j in range(i)))\n", blocks, {{"N", 1 << 20}}, sizes, "i_block");
  check(
      "@monoid(identity=(1, 0))\n"
      "def then(a: tuple[i32, i32], b: tuple[i32, i32]) -> tuple[i32, i32]:\n"
      "    return (a[0] * b[0], a[1] * b[0] + b[1])\n"
      "def recurrence(a: i32[N], x: i32[N], h: out[i32[N]]):\n"
      "    y: tuple[i32, i32][N]\n"
      "    for t in range(N):\n"
      "        y[t] = scan(then((a[s], x[s]) for s in range(t + 1)))\n"
      "    for t in range(N):\n"
      "        h[t] = y[t][1]\n",
      "rewrite(\"block_scan\", y, block=256)", {{"N", 1 << 20}}, {{{"N", 0}}, {{"N", 255}}, {{"N", 257}}, {{"N", 2000}}});
}

TEST_F(ExecuteRewrites, HistogramWithPrivateCopies) {
  const std::vector<Sizes> sizes = {{{"N", 0}, {"B", 3}}, {{"N", 1}, {"B", 1}}, {{"N", 100}, {"B", 7}}, {{"N", 5000}, {"B", 64}}, {{"N", 3}, {"B", 0}}};
  const std::map<std::string, std::int64_t> typical = {{"N", 1 << 20}, {"B", 256}};
  const std::string pins = "rewrite(\"split\", H, \"i\", chunk=256, parts=4)";
  check("def histogram(key: i32[N], H: inout[i32[B]]):\n    assume(0 <= key[:] < B)\n    for i in range(N):\n        H[key[i]] += 1\n", pins, typical, sizes, "i_chunk");
  check("def weighted(key: i32[N], v: f32[N], H: inout[f32[B]]):\n    assume(0 <= key[:] < B)\n    for i in range(N):\n        if v[i] > 0:\n            H[key[i]] += v[i]\n",
        pins, typical, sizes, "i_chunk");
}

TEST_F(ExecuteRewrites, SplitContraction) {
  check("@numerics(contract=True)\n"
        "def gemm(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):\n"
        "    for i, j in grid(M, N):\n"
        "        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))\n",
        "rewrite(\"split\", C, \"k\", chunk=512)", {{"M", 16}, {"N", 32}, {"K", 1 << 18}},
        {{{"M", 0}, {"N", 1}, {"K", 5}}, {{"M", 5}, {"N", 33}, {"K", 0}}, {{"M", 16}, {"N", 32}, {"K", 2000}}, {{"M", 3}, {"N", 7}, {"K", 511}}, {{"M", 17}, {"N", 31}, {"K", 513}}});
  check("def dot(a: f64[N], b: f64[N], s: out[f64]):\n    s = sum(a[i] * b[i] for i in range(N))\n", "rewrite(\"split\", s, \"i\", chunk=1024)", {{"N", 1 << 22}},
        {{{"N", 0}}, {{"N", 1024}}, {{"N", 9999}}}, "i_chunk");
}

TEST_F(ExecuteRewrites, SoftmaxWithSharedPowersOfTwo) {
  const std::vector<Sizes> sizes = {{{"R", 1}, {"N", 1}}, {{"R", 3}, {"N", 100}}, {{"R", 33}, {"N", 17}}, {{"R", 0}, {"N", 5}}, {{"R", 7}, {"N", 0}}};
  const std::string softmax =
      "@numerics(approx_ulp=208)\n"
      "def softmax(X: f32[R, N], Y: out[f32[R, N]]):\n"
      "    for r in range(R):\n"
      "        m: f32 = max(X[r, j] for j in range(N))\n"
      "        l: f32 = sum(exp(X[r, j] - m) for j in range(N))\n"
      "        for j in range(N):\n"
      "            Y[r, j] = exp(X[r, j] - m) / l\n";
  for (const char* pins : {"rewrite(\"exp2\")", "rewrite(\"common_subexpressions\", l)", "rewrite(\"common_subexpressions\", l)\nrewrite(\"exp2\")"})
    check(softmax, pins, {{"R", 1024}, {"N", 1024}}, sizes);
}

TEST_F(ExecuteRewrites, HoistedFactorsAndInlinedLocals) {
  check("def scaled(a: f32[N], b: f32[N, K], y: out[f32[N]]):\n    for i in range(N):\n        y[i] = sum(a[i] * b[i, k] for k in range(K))\n", "rewrite(\"hoist\", y)",
        {{"N", 1024}, {"K", 1024}}, {{{"N", 0}, {"K", 3}}, {{"N", 9}, {"K", 0}}, {{"N", 40}, {"K", 33}}});
  check("def smooth(A: f32[N], B: out[f32[N]]):\n    t: f32[N]\n    for i in range(N):\n        t[i] = exp(A[i])\n    for i in range(1, N):\n        B[i] = t[i] - t[i - 1]\n    if N > 0:\n        B[0] = t[0]\n",
        "rewrite(\"inline\", t)", {{"N", 1 << 20}}, {{{"N", 0}}, {{"N", 1}}, {{"N", 1000}}});
}

TEST_F(ExecuteRewrites, SignedBytesAreOffset) {
  const std::vector<Sizes> sizes = {{{"M", 0}, {"N", 3}, {"K", 2}}, {{"M", 5}, {"N", 7}, {"K", 0}}, {{"M", 1}, {"N", 1}, {"K", 1}}, {{"M", 33}, {"N", 37}, {"K", 70}}};
  check("def product(A: i8[M, K], B: i8[K, N], C: out[i32[M, N]]):\n    for i, j in grid(M, N):\n        C[i, j] = sum(i32(A[i, k]) * i32(B[k, j]) for k in range(K))\n",
        "rewrite(\"offset\", C)", {{"M", 512}, {"N", 512}, {"K", 512}}, sizes);
}

// The register tile starts from another array, cut short at the edges.
TEST_F(ExecuteRewrites, ProductsOnABias) {
  const std::vector<Sizes> sizes = {{{"M", 0}, {"N", 3}, {"K", 2}}, {{"M", 5}, {"N", 7}, {"K", 0}}, {{"M", 33}, {"N", 37}, {"K", 70}}, {{"M", 3}, {"N", 16}, {"K", 600}}};
  for (const std::string type : {"f32", "i32"})
    check("def affine(A: " + type + "[M, K], B: " + type + "[K, N], bias: " + type + "[N], C: out[" + type + "[M, N]]):\n    for i, j in grid(M, N):\n        C[i, j] = 2 * bias[j]\n" +
              "        for k in range(K):\n            C[i, j] += A[i, k] * B[k, j]\n",
          "rewrite(\"none\")", {{"M", 512}, {"N", 512}, {"K", 512}}, sizes);
}

}  // namespace
}  // namespace tileopt::test
