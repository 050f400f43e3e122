// Functions of rows: beside oneDNN, gcc -O3 -ffast-math on the plain loops, and the fastest copy.
#include "kernel.h"
#include "onednn.h"
#include "row.h"

namespace tileopt::table {

namespace {

const char* const loops = R"(
#include <math.h>
#include <stdint.h>
void softmax(const int64_t* s, void* const* a) {
  for (int64_t r = 0; r < s[0]; ++r) {
    const float* restrict x = (const float*)a[0] + r * s[1];
    float* restrict y = (float*)a[1] + r * s[1];
    float m = -INFINITY, l = 0;
    for (int64_t j = 0; j < s[1]; ++j) m = x[j] > m ? x[j] : m;
    for (int64_t j = 0; j < s[1]; ++j) l += y[j] = expf(x[j] - m);
    for (int64_t j = 0; j < s[1]; ++j) y[j] /= l;
  }
}
void gelu(const int64_t* s, void* const* a) {
  const float* restrict x = a[0];
  float* restrict y = a[1];
  for (int64_t i = 0; i < s[0] * s[1]; ++i) y[i] = 0.5f * x[i] * (1 + tanhf(0.7978845608f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}
void layernorm(const int64_t* s, void* const* a) {
  const float *restrict gamma = a[1], *restrict beta = a[2];
  const float epsilon = *(const float*)a[4];
  for (int64_t r = 0; r < s[0]; ++r) {
    const float* restrict x = (const float*)a[0] + r * s[1];
    float* restrict y = (float*)a[3] + r * s[1];
    float mean = 0, variance = 0;
    for (int64_t j = 0; j < s[1]; ++j) mean += x[j];
    mean /= s[1];
    for (int64_t j = 0; j < s[1]; ++j) variance += (x[j] - mean) * (x[j] - mean);
    const float scale = 1 / sqrtf(variance / s[1] + epsilon);
    for (int64_t j = 0; j < s[1]; ++j) y[j] = (x[j] - mean) * scale * gamma[j] + beta[j];
  }
}
void rmsnorm(const int64_t* s, void* const* a) {
  const float* restrict gamma = a[1];
  const float epsilon = *(const float*)a[3];
  for (int64_t r = 0; r < s[0]; ++r) {
    const float* restrict x = (const float*)a[0] + r * s[1];
    float* restrict y = (float*)a[2] + r * s[1];
    float square = 0;
    for (int64_t j = 0; j < s[1]; ++j) square += x[j] * x[j];
    const float scale = 1 / sqrtf(square / s[1] + epsilon);
    for (int64_t j = 0; j < s[1]; ++j) y[j] = x[j] * scale * gamma[j];
  }
}
)";

const char* const gelu_text =
    "@numerics(contract=True)\ndef gelu(X: f32[R, N], Y: out[f32[R, N]]):\n    for i, j in grid(R, N):\n"
    "        Y[i, j] = 0.5 * X[i, j] * (1 + tanh(0.7978845608 * (X[i, j] + 0.044715 * X[i, j] * X[i, j] * X[i, j])))\n";

struct Rows {
  std::int64_t R, N;
  Buffer<float> X, Y, gamma, beta, epsilon;
  Rows(std::int64_t rows, std::int64_t length)
      : R(rows), N(length), X(static_cast<std::size_t>(R * N), 1), Y(static_cast<std::size_t>(R * N), 2), gamma(static_cast<std::size_t>(N), 3),
        beta(static_cast<std::size_t>(N), 4), epsilon(1, 5) {
    epsilon[0] = 1e-5f;
  }
  std::vector<std::int64_t> sizes() const { return {R, N}; }
};

Instance with(const Rows& rows, const std::string& function, const std::vector<void*>& arguments, std::vector<Contender> peers, const Kernel& kernel) {
  Instance instance;
  instance.arguments = {rows.X.keep(), rows.Y.keep(), rows.gamma.keep(), rows.beta.keep(), rows.epsilon.keep()};
  instance.output = [Y = rows.Y] { return as_floats(Y); };
  instance.contenders.push_back({"gcc -ffast-math", plain_loop(loops, function, {"-ffast-math"}, rows.sizes(), arguments)});
  for (Contender& peer : peers) instance.contenders.push_back(std::move(peer));
  if (rows.N % 16 == 0)
    instance.contenders.push_back({"copy", plain_loop(stream_copy_text, "stream_copy", {}, {rows.R * rows.N}, {rows.X.data(), rows.Y.data()}), false});
  instance.contenders.push_back({"tileopt", kernel.bind(rows.sizes(), arguments)});
  return instance;
}

Instance softmax(const Rows& r) {
  return with(r, "softmax", {r.X.data(), r.Y.data()}, onednn::softmax(static_cast<int>(r.R), static_cast<int>(r.N), r.X.data(), r.Y.data()), Kernel::load("softmax", {.sizes = r.sizes()}));
}
Instance gelu(const Rows& r) {
  return with(r, "gelu", {r.X.data(), r.Y.data()}, onednn::gelu_tanh(static_cast<int>(r.R), static_cast<int>(r.N), r.X.data(), r.Y.data()), Kernel::compile(gelu_text, {.sizes = r.sizes()}));
}
Instance layernorm(const Rows& r) {
  const auto peers = onednn::layernorm(static_cast<int>(r.R), static_cast<int>(r.N), r.X.data(), r.gamma.data(), r.beta.data(), r.epsilon[0], r.Y.data());
  return with(r, "layernorm", {r.X.data(), r.gamma.data(), r.beta.data(), r.Y.data(), r.epsilon.data()}, peers, Kernel::load("layernorm", {.sizes = r.sizes()}));
}
Instance rmsnorm(const Rows& r) {
  return with(r, "rmsnorm", {r.X.data(), r.gamma.data(), r.Y.data(), r.epsilon.data()}, {}, Kernel::load("rmsnorm", {.sizes = r.sizes()}));
}

}  // namespace

void add_rowwise_rows(std::vector<Row>& rows) {
  const double bytes = 8.0 * 4096 * 4096;
  const auto add = [&](const std::string& name, double of_copy, double of_peers, Instance (*make)(const Rows&)) {
    rows.push_back({name + "_4096_of_copy", "GB/s", bytes, 1, of_copy, {"copy"}, [=] { return make(Rows(4096, 4096)); }});
    rows.push_back({name + "_4096", "GB/s", bytes, 1, of_peers, {"oneDNN", "gcc -ffast-math"}, [=] { return make(Rows(4096, 4096)); }});
  };
  add("layernorm", 0.75, 1.0, layernorm);
  add("gelu", 0.5, 1.0, gelu);
  add("softmax", 0.4, 1.0, softmax);
  add("rmsnorm", 0.75, 1.0, rmsnorm);
  for (const int length : {1, 7, 63})
    rows.push_back({"softmax_rows_of_" + std::to_string(length), "GB/s", 8.0 * (1 << 20), 1, 1.0, {"gcc -ffast-math"},
                    [=] { return softmax(Rows((1 << 20) / length, length)); }});
}

}  // namespace tileopt::table
