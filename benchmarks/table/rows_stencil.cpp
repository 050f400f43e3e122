// Loops in time and factorisations: beside our own print of the source order, by gcc and by clang with Polly.
#include "kernel.h"
#include "row.h"

namespace tileopt::table {

namespace {

const char* const heat_text =
    "@numerics(contract=True)\ndef heat_3d(A: inout[f32[N, N, N]], T: size):\n    B: f32[N, N, N]\n    for t in range(T):\n"
    "        for i, j, k in grid(N, N, N):\n            if 1 <= i < N - 1 and 1 <= j < N - 1 and 1 <= k < N - 1:\n"
    "                B[i, j, k] = 0.125 * (A[i + 1, j, k] - 2 * A[i, j, k] + A[i - 1, j, k]) + 0.125 * (A[i, j + 1, k] - 2 * A[i, j, k] + A[i, j - 1, k])"
    " + 0.125 * (A[i, j, k + 1] - 2 * A[i, j, k] + A[i, j, k - 1]) + A[i, j, k]\n"
    "        for i, j, k in grid(N, N, N):\n            if 1 <= i < N - 1 and 1 <= j < N - 1 and 1 <= k < N - 1:\n                A[i, j, k] = B[i, j, k]\n";

// `kernel`: a name of benchmarks/kernels, or tile text. `array`: what it updates, f32 or f64 as the program says.
template <class T>
Instance beside_source_order(const std::string& kernel, const std::vector<std::int64_t>& sizes, const Buffer<T>& array, int threads, double tolerance) {
  const auto compile = [&](const KernelOptions& options) {
    return kernel.find('\n') == std::string::npos ? Kernel::load(kernel, options) : Kernel::compile(kernel, options);
  };
  const Buffer<T> start(array.size(), 1);
  std::copy(array.data(), array.data() + array.size(), start.data());
  // What is updated in place starts from the same numbers each time; the copy is a small part of the work.
  const auto fresh = [&](const Kernel& compiled) {
    return [bound = compiled.bind(sizes, {array.data()}), start, array] {
      std::copy(start.data(), start.data() + start.size(), array.data());
      bound();
    };
  };
  Instance instance;
  instance.tolerance = tolerance;
  instance.output = [array] { return as_floats(array); };
  instance.contenders.push_back({"gcc", fresh(compile({threads, "schedule(\"original\")", "", {"-march=native"}, sizes}))});
  if (const std::string clang = find_clang(); !clang.empty())
    instance.contenders.push_back({"clang with Polly", fresh(compile({threads, "schedule(\"original\")", clang, {"-march=native", "-mllvm", "-polly"}, sizes}))});
  instance.contenders.push_back({"tileopt", fresh(compile({threads, "", "", {}, sizes}))});
  return instance;
}

Buffer<double> positive_definite(std::int64_t n) {
  const Buffer<double> A(static_cast<std::size_t>(n * n), 1);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) A[static_cast<std::size_t>(j * n + i)] = A[static_cast<std::size_t>(i * n + j)];
    A[static_cast<std::size_t>(i * n + i)] = static_cast<double>(n);
  }
  return A;
}

}  // namespace

void add_stencil_rows(std::vector<Row>& rows) {
  for (const int threads : {1, 2}) {
    const std::string suffix = "_t" + std::to_string(threads);
    rows.push_back({"jacobi_2d_4000x100" + suffix, "GFLOP/s", 5.0 * 4000 * 4000 * 100, threads, 2.3, {},
                    [=] { return beside_source_order("jacobi_2d", {4000, 100}, Buffer<float>(4000 * 4000, 1), threads, 1e-5); }});
    rows.push_back({"seidel_2d_2000x20" + suffix, "GFLOP/s", 9.0 * 2000 * 2000 * 20, threads, 3.5, {},
                    [=] { return beside_source_order("seidel_2d", {2000, 20}, Buffer<double>(2000 * 2000, 1), threads, 1e-5); }});
    rows.push_back({"cholesky_1500" + suffix, "GFLOP/s", 1500.0 * 1500 * 1500 / 3, threads, 3, {},
                    [=] { return beside_source_order("cholesky", {1500}, positive_definite(1500), threads, 1e-4); }});
    rows.push_back({"heat_3d_200x50" + suffix, "GFLOP/s", 15.0 * 200 * 200 * 200 * 50, threads, 1.5, {},
                    [=] { return beside_source_order(heat_text, {200, 50}, Buffer<float>(200 * 200 * 200, 1), threads, 1e-5); }});
  }
}

}  // namespace tileopt::table
