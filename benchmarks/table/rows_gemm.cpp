// Products of matrices beside OpenBLAS, BLIS, oneDNN and Halide.
#include "blas.h"
#include "halide.h"
#include "kernel.h"
#include "onednn.h"
#include "row.h"

namespace tileopt::table {

namespace {

void append(std::vector<Contender>& to, std::vector<Contender> from) {
  for (Contender& contender : from) to.push_back(std::move(contender));
}

std::string gemm_text(const std::string& type, bool a_transposed, bool b_transposed) {
  const std::string a = a_transposed ? "K, M" : "M, K", b = b_transposed ? "N, K" : "K, N";
  const std::string read = std::string(a_transposed ? "A[k, i]" : "A[i, k]") + " * " + (b_transposed ? "B[j, k]" : "B[k, j]");
  return "@numerics(contract=True)\ndef gemm(A: " + type + "[" + a + "], B: " + type + "[" + b + "], C: out[" + type +
         "[M, N]]):\n    for i, j in grid(M, N):\n        C[i, j] = sum(" + read + " for k in range(K))\n";
}

struct Shape {
  int M, N, K;
  double flops() const { return 2.0 * M * N * K; }
};

// Sizes in the order in which the parameters occur in the text.
std::vector<std::int64_t> sizes_of(const Shape& s, bool a_transposed) {
  return a_transposed ? std::vector<std::int64_t>{s.K, s.M, s.N} : std::vector<std::int64_t>{s.M, s.K, s.N};
}

Instance sgemm(const Shape& s, bool ta, bool tb, int threads, bool with_halide) {
  const auto count = [](int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); };
  const Buffer<float> A(count(s.M, s.K), 1), B(count(s.K, s.N), 2), C(count(s.M, s.N), 3);
  Instance instance;
  instance.arguments = {A.keep(), B.keep(), C.keep()};
  instance.output = [=] { return as_floats(C); };
  for (const Blas& blas : Blas::installed(threads))
    instance.contenders.push_back({blas.name(), [=] { blas.gemm(ta, tb, s.M, s.N, s.K, A.data(), B.data(), C.data()); }});
  append(instance.contenders, onednn::gemm(1, s.M, s.N, s.K, ta, tb, A.data(), B.data(), C.data()));
  if (with_halide) append(instance.contenders, halide::gemm(s.M, s.N, s.K, threads, A.data(), B.data(), C.data()));
  const Kernel kernel = Kernel::compile(gemm_text("f32", ta, tb), {threads, "", "", {}, sizes_of(s, ta)});
  instance.contenders.push_back({"tileopt", kernel.bind(sizes_of(s, ta), {A.data(), B.data(), C.data()})});
  if (const std::string clang = find_clang(); !clang.empty() && threads == 1) {
    const Kernel by_clang = Kernel::compile(gemm_text("f32", ta, tb), {threads, "", clang, {}, sizes_of(s, ta)});
    instance.contenders.push_back({"tileopt by clang", by_clang.bind(sizes_of(s, ta), {A.data(), B.data(), C.data()})});
  }
  return instance;
}

Instance dgemm(const Shape& s) {
  const auto count = [](int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); };
  const Buffer<double> A(count(s.M, s.K), 1), B(count(s.K, s.N), 2), C(count(s.M, s.N), 3);
  Instance instance;
  instance.arguments = {A.keep(), B.keep(), C.keep()};
  instance.output = [=] { return as_floats(C); };
  for (const Blas& blas : Blas::installed(1))
    instance.contenders.push_back({blas.name(), [=] { blas.gemm(false, false, s.M, s.N, s.K, A.data(), B.data(), C.data()); }});
  const Kernel kernel = Kernel::compile(gemm_text("f64", false, false), {.sizes = sizes_of(s, false)});
  instance.contenders.push_back({"tileopt", kernel.bind(sizes_of(s, false), {A.data(), B.data(), C.data()})});
  return instance;
}

Instance batched(int batch, const Shape& s) {
  const std::size_t a = static_cast<std::size_t>(s.M) * s.K, b = static_cast<std::size_t>(s.K) * s.N, c = static_cast<std::size_t>(s.M) * s.N;
  const Buffer<float> A(batch * a, 1), B(batch * b, 2), C(batch * c, 3);
  Instance instance;
  instance.arguments = {A.keep(), B.keep(), C.keep()};
  instance.output = [=] { return as_floats(C); };
  for (const Blas& blas : Blas::installed(1))
    instance.contenders.push_back({blas.name(), [=] {
                                     for (int i = 0; i < batch; ++i) blas.gemm(false, false, s.M, s.N, s.K, A.data() + i * a, B.data() + i * b, C.data() + i * c);
                                   }});
  append(instance.contenders, onednn::gemm(batch, s.M, s.N, s.K, false, false, A.data(), B.data(), C.data()));
  const Kernel kernel = Kernel::compile(
      "@numerics(contract=True)\ndef batched(A: f32[B, M, K], W: f32[B, K, N], C: out[f32[B, M, N]]):\n    for b, i, j in grid(B, M, N):\n"
      "        C[b, i, j] = sum(A[b, i, k] * W[b, k, j] for k in range(K))\n", {.sizes = {batch, s.M, s.K, s.N}});
  instance.contenders.push_back({"tileopt", kernel.bind({batch, s.M, s.K, s.N}, {A.data(), B.data(), C.data()})});
  return instance;
}

Instance int8(const Shape& s) {
  const Buffer<std::int8_t> A(static_cast<std::size_t>(s.M) * s.K, 1), B(static_cast<std::size_t>(s.K) * s.N, 2);
  const Buffer<std::int32_t> C(static_cast<std::size_t>(s.M) * s.N, 3);
  Instance instance;
  instance.arguments = {A.keep(), B.keep(), C.keep()};
  instance.output = [=] { return as_floats(C); };
  append(instance.contenders, onednn::gemm_int8(s.M, s.N, s.K, A.data(), B.data(), C.data()));
  instance.contenders.push_back({"tileopt", Kernel::load("gemm_int8", {.sizes = sizes_of(s, false)}).bind(sizes_of(s, false), {A.data(), B.data(), C.data()})});
  return instance;
}

Instance bf16(const Shape& s) {
  const Buffer<std::uint16_t> A(static_cast<std::size_t>(s.M) * s.K, 1), B(static_cast<std::size_t>(s.K) * s.N, 2), C(static_cast<std::size_t>(s.M) * s.N, 3);
  Instance instance;
  instance.arguments = {A.keep(), B.keep(), C.keep()};
  instance.tolerance = 2e-2;
  instance.output = [=] {
    std::vector<float> values;
    for (std::size_t i = 0; i < C.size(); ++i) {
      const std::uint32_t bits = static_cast<std::uint32_t>(C[i]) << 16;
      float value;
      std::memcpy(&value, &bits, 4);
      values.push_back(value);
    }
    return values;
  };
  append(instance.contenders, onednn::gemm_bf16(s.M, s.N, s.K, A.data(), B.data(), C.data()));
  instance.contenders.push_back({"tileopt", Kernel::load("gemm_bf16", {.sizes = sizes_of(s, false)}).bind(sizes_of(s, false), {A.data(), B.data(), C.data()})});
  return instance;
}

const char* const bias_gelu_loop = R"(
#include <math.h>
#include <stdint.h>
void bias_gelu(const int64_t* s, void* const* a) {
  float* restrict C = a[0];
  const float* restrict bias = a[1];
  for (int64_t i = 0; i < s[0]; ++i)
    for (int64_t j = 0; j < s[1]; ++j) {
      const float y = C[i * s[1] + j] + bias[j];
      C[i * s[1] + j] = 0.5f * y * (1 + tanhf(0.7978845608f * (y + 0.044715f * y * y * y)));
    }
}
)";

Instance fused(const Shape& s) {
  const Buffer<float> A(static_cast<std::size_t>(s.M) * s.K, 1), B(static_cast<std::size_t>(s.K) * s.N, 2), bias(s.N, 3), C(static_cast<std::size_t>(s.M) * s.N, 4);
  Instance instance;
  instance.arguments = {A.keep(), B.keep(), bias.keep(), C.keep()};
  instance.output = [=] { return as_floats(C); };
  const auto after = plain_loop(bias_gelu_loop, "bias_gelu", {"-ffast-math"}, {s.M, s.N}, {C.data(), bias.data()});
  for (const Blas& blas : Blas::installed(1))
    instance.contenders.push_back({blas.name() + " and a loop", [=] {
                                     blas.gemm(false, false, s.M, s.N, s.K, A.data(), B.data(), C.data());
                                     after();
                                   }});
  const Kernel kernel = Kernel::compile(
      "@numerics(contract=True)\ndef fused(A: f32[M, K], B: f32[K, N], bias: f32[N], C: out[f32[M, N]]):\n    for i, j in grid(M, N):\n"
      "        y: f32 = sum(A[i, k] * B[k, j] for k in range(K)) + bias[j]\n"
      "        C[i, j] = 0.5 * y * (1 + tanh(0.7978845608 * (y + 0.044715 * y * y * y)))\n", {.sizes = sizes_of(s, false)});
  instance.contenders.push_back({"tileopt", kernel.bind(sizes_of(s, false), {A.data(), B.data(), bias.data(), C.data()})});
  return instance;
}

std::string text(const Shape& s) { return std::to_string(s.M) + "x" + std::to_string(s.N) + "x" + std::to_string(s.K); }

}  // namespace

void add_gemm_rows(std::vector<Row>& rows) {
  const std::vector<std::string> libraries = {"OpenBLAS", "BLIS", "oneDNN"};
  const auto add = [&](const std::string& name, const Shape& s, double target, int threads, std::vector<std::string> peers, std::function<Instance()> make) {
    rows.push_back({name, "GFLOP/s", s.flops(), threads, target, std::move(peers), std::move(make)});
  };
  for (const int size : {1024, 4096})
    for (const int threads : {1, 2}) {
      const Shape s{size, size, size};
      add("sgemm_" + std::to_string(size) + "_t" + std::to_string(threads), s, 0.92, threads, libraries, [=] { return sgemm(s, false, false, threads, false); });
    }
  add("sgemm_1024_halide", {1024, 1024, 1024}, 5, 1, {"Halide adams2019"}, [] { return sgemm({1024, 1024, 1024}, false, false, 1, true); });
  add("dgemm_1024", {1024, 1024, 1024}, 0.9, 1, libraries, [] { return dgemm({1024, 1024, 1024}); });
  add("sgemm_1000x1003x997", {1000, 1003, 997}, 0.9, 1, libraries, [] { return sgemm({1000, 1003, 997}, false, false, 1, false); });
  for (const auto& [name, ta, tb] : {std::tuple("tn", true, false), std::tuple("nt", false, true), std::tuple("tt", true, true)})
    add(std::string("sgemm_1024_") + name, {1024, 1024, 1024}, 0.9, 1, libraries, [ta = ta, tb = tb] { return sgemm({1024, 1024, 1024}, ta, tb, 1, false); });
  const Shape small{128, 128, 128};
  rows.push_back({"sgemm_batch64_128", "GFLOP/s", 64 * small.flops(), 1, 0.9, libraries, [=] { return batched(64, small); }});
  for (const int M : {1, 8}) {
    const Shape s{M, 4096, 4096};
    add("sgemm_" + text(s), s, 0.9, 1, libraries, [=] { return sgemm(s, false, false, 1, false); });
  }
  for (const Shape& s : {Shape{300, 600, 40}, Shape{33, 33, 33}, Shape{7, 64, 4096}})
    add("sgemm_" + text(s), s, 0.85, 1, {"OpenBLAS"}, [=] { return sgemm(s, false, false, 1, false); });
  add("gemm_int8_1024", {1024, 1024, 1024}, 0.75, 1, {"oneDNN"}, [] { return int8({1024, 1024, 1024}); });
  add("gemm_bf16_1024", {1024, 1024, 1024}, 0.75, 1, {"oneDNN"}, [] { return bf16({1024, 1024, 1024}); });
  add("gemm_bias_gelu_1024", {1024, 1024, 1024}, 1.05, 1, {"OpenBLAS and a loop"}, [] { return fused({1024, 1024, 1024}); });
}

}  // namespace tileopt::table
