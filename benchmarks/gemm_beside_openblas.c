/* sgemm beside OpenBLAS in one process: interleaved runs, medians, random data. Prints one JSON line. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gemm.h"

void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                 int ldb, float beta, float* c, int ldc);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static int ascending(const void* a, const void* b) { return (*(const double*)a > *(const double*)b) - (*(const double*)a < *(const double*)b); }
static float* random_matrix(size_t n) {
  float* x = aligned_alloc(256, (n * sizeof(float) + 255) / 256 * 256);
  for (size_t i = 0; i < n; ++i) x[i] = (float)rand() / (float)RAND_MAX - 0.5f;
  return x;
}

int main(int argc, char** argv) {
  if (argc != 5) return fprintf(stderr, "usage: %s M N K runs\n", argv[0]), 1;
  const int M = atoi(argv[1]), N = atoi(argv[2]), K = atoi(argv[3]), runs = atoi(argv[4]);
  float *a = random_matrix((size_t)M * K), *b = random_matrix((size_t)K * N), *c = random_matrix((size_t)M * N), *d = random_matrix((size_t)M * N);
  void* workspace = aligned_alloc(256, (size_t)(gemm_workspace_bytes(M, K, N) + 256) / 256 * 256);
  double* ours = malloc(sizeof(double) * (size_t)runs);
  double* theirs = malloc(sizeof(double) * (size_t)runs);
  for (int r = -2; r < runs; ++r) {
    const double t0 = now();
    if (gemm(M, K, N, a, b, c, workspace) != 0) return fprintf(stderr, "gemm refused its arguments\n"), 1;
    const double t1 = now();
    cblas_sgemm(101, 111, 111, M, N, K, 1, a, K, b, N, 0, d, N);
    const double t2 = now();
    if (r >= 0) ours[r] = t1 - t0, theirs[r] = t2 - t1;
  }
  double worst = 0;
  for (size_t i = 0; i < (size_t)M * N; ++i) worst = fmax(worst, fabs((double)c[i] - (double)d[i]));
  if (worst > 1e-6 * K) return fprintf(stderr, "results differ by %g\n", worst), 1;
  qsort(ours, (size_t)runs, sizeof *ours, ascending);
  qsort(theirs, (size_t)runs, sizeof *theirs, ascending);
  const double flops = 2.0 * M * N * K, x = flops / ours[runs / 2] * 1e-9, y = flops / theirs[runs / 2] * 1e-9;
  printf("{\"work\": \"sgemm\", \"M\": %d, \"N\": %d, \"K\": %d, \"tileopt_gflops\": %.1f, \"openblas_gflops\": %.1f, \"ratio\": %.3f, \"worst_difference\": %.2g}\n",
         M, N, K, x, y, x / y, worst);
  return 0;
}
