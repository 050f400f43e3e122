// What only moves data: beside a copy, or a read, of as many bytes.
#include "kernel.h"
#include "row.h"

namespace tileopt::table {

namespace {

const char* const loops = R"(
#include <stdint.h>
void read_all(const int64_t* s, void* const* a) {
  const float* restrict x = a[0];
  float sums[64] = {0};
  for (int64_t i = 0; i < s[0]; i += 64)
    for (int64_t j = 0; j < 64; ++j) sums[j] += x[i + j];
  float sum = 0;
  for (int64_t j = 0; j < 64; ++j) sum += sums[j];
  *(float*)a[1] = sum;
}
)";

Instance transpose(std::int64_t n) {
  const Buffer<float> A(static_cast<std::size_t>(n * n), 1), B(static_cast<std::size_t>(n * n), 2);
  Instance instance;
  instance.arguments = {A.keep(), B.keep()};
  instance.contenders.push_back({"copy", plain_loop(stream_copy_text, "stream_copy", {}, {n * n}, {A.data(), B.data()}), false});
  instance.contenders.push_back({"tileopt", Kernel::load("transpose", {.sizes = {n, n}}).bind({n, n}, {A.data(), B.data()})});
  return instance;
}

Instance sums(std::int64_t n, bool of_rows) {
  const Buffer<float> A(static_cast<std::size_t>(n * n), 1), S(static_cast<std::size_t>(n), 2), total(1, 3);
  const std::string text = of_rows ? "def sums(A: f32[M, N], S: out[f32[M]]):\n    for i in range(M):\n        S[i] = sum(A[i, j] for j in range(N))\n"
                                   : "def sums(A: f32[M, N], S: out[f32[N]]):\n    for j in range(N):\n        S[j] = sum(A[i, j] for i in range(M))\n";
  Instance instance;
  instance.arguments = {A.keep(), S.keep(), total.keep()};
  instance.contenders.push_back({"read", plain_loop(loops, "read_all", {"-ffast-math"}, {n * n}, {A.data(), total.data()}), false});
  instance.contenders.push_back({"tileopt", Kernel::compile(text, {.sizes = {n, n}}).bind({n, n}, {A.data(), S.data()})});
  return instance;
}

}  // namespace

void add_memory_rows(std::vector<Row>& rows) {
  const double bytes = 4.0 * 8192 * 8192;
  rows.push_back({"transpose_8192", "GB/s", 2 * bytes, 1, 0.6, {"copy"}, [] { return transpose(8192); }});
  rows.push_back({"column_sum_8192", "GB/s", bytes, 1, 0.9, {"read"}, [] { return sums(8192, false); }});
  rows.push_back({"row_sum_8192", "GB/s", bytes, 1, 0.9, {"read"}, [] { return sums(8192, true); }});
}

}  // namespace tileopt::table
