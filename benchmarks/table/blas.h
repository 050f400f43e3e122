// CBLAS libraries by path: OpenBLAS and BLIS both own the same symbols, so neither is linked.
#pragma once

#include <string>
#include <vector>

namespace tileopt::table {

class Blas {
 public:
  // Those that are installed, with `threads` threads each.
  static std::vector<Blas> installed(int threads);

  const std::string& name() const { return name_; }
  // C[M, N] = A B, row-major; A is [M, K], or [K, M] where `a_transposed`; B likewise.
  void gemm(bool a_transposed, bool b_transposed, int M, int N, int K, const float* A, const float* B, float* C) const;
  void gemm(bool a_transposed, bool b_transposed, int M, int N, int K, const double* A, const double* B, double* C) const;

 private:
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  using Dgemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
  std::string name_;
  Sgemm sgemm_ = nullptr;
  Dgemm dgemm_ = nullptr;
};

}  // namespace tileopt::table
