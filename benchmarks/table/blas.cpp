#include "blas.h"

#include <dlfcn.h>

namespace tileopt::table {

namespace {

constexpr int row_major = 101, no_transpose = 111, transpose = 112;

struct Candidate {
  const char* name;
  const char* path;
  const char* set_threads;
  bool wide;  // its thread count is a 64-bit integer
};

// Debian's multiarch folders; the pthread OpenBLAS and the OpenMP BLIS.
constexpr Candidate candidates[] = {
    {"OpenBLAS", "openblas-pthread/libopenblas.so.0", "openblas_set_num_threads", false},
    {"BLIS", "blis-openmp/libblis.so.4", "bli_thread_set_num_threads", true},
};

void* open_library(const std::string& path) {
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib/"})
    if (void* handle = dlopen((folder + path).c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  return nullptr;
}

}  // namespace

std::vector<Blas> Blas::installed(int threads) {
  std::vector<Blas> found;
  for (const Candidate& candidate : candidates) {
    void* handle = open_library(candidate.path);
    if (handle == nullptr) continue;
    Blas blas;
    blas.name_ = candidate.name;
    blas.sgemm_ = reinterpret_cast<Sgemm>(dlsym(handle, "cblas_sgemm"));
    blas.dgemm_ = reinterpret_cast<Dgemm>(dlsym(handle, "cblas_dgemm"));
    void* set = dlsym(handle, candidate.set_threads);
    if (blas.sgemm_ == nullptr || blas.dgemm_ == nullptr || set == nullptr) continue;
    if (candidate.wide) reinterpret_cast<void (*)(long)>(set)(threads);
    else reinterpret_cast<void (*)(int)>(set)(threads);
    found.push_back(blas);
  }
  return found;
}

void Blas::gemm(bool a_transposed, bool b_transposed, int M, int N, int K, const float* A, const float* B, float* C) const {
  sgemm_(row_major, a_transposed ? transpose : no_transpose, b_transposed ? transpose : no_transpose, M, N, K, 1, A, a_transposed ? M : K, B,
         b_transposed ? K : N, 0, C, N);
}

void Blas::gemm(bool a_transposed, bool b_transposed, int M, int N, int K, const double* A, const double* B, double* C) const {
  dgemm_(row_major, a_transposed ? transpose : no_transpose, b_transposed ? transpose : no_transpose, M, N, K, 1, A, a_transposed ? M : K, B,
         b_transposed ? K : N, 0, C, N);
}

}  // namespace tileopt::table
