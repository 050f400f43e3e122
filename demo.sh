#!/usr/bin/env bash
# Schedules, proves, compiles, runs, checks and times every kernel of benchmarks/kernels on this machine's CPU, beside our
# own print of the schedule as written. Installs missing Debian packages first; safe to repeat.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=cmake/packages.sh
source cmake/packages.sh

install_packages "${build_packages[@]}"
echo "building (the first time takes some minutes) ..." >&2
build build/demo -DTILEOPT_TESTS=OFF

tool=build/demo/tileopt-schedule
"$tool" --version
sizes=(
  argmax_rows:R=4096,N=1000 top_k:R=512,N=1000,K=8
  batched_gemm_bias_gelu:B=8,M=128,N=512,K=256 causal_attention:H=4,S=512,D=64 cholesky:N=1024 cholesky_solve:N=512,R=256
  conv2d:N=1,H=56,W=56,C=64,F=64 cumsum:R=4096,N=1000 depthwise_conv2d:N=1,H=112,W=112,C=64
  dilated_conv2d:N=1,H=56,W=56,C=64,F=64 embedding:T=4096,V=30000,D=256 floyd_warshall:N=512 gemm:M=1024,N=1024,K=1024
  gemm_bf16:M=1024,N=1024,K=1024 gemm_int4:M=512,N=512,K=512 gemm_int8:M=512,N=512,K=512 histogram:N=4000000,B=256 jacobi_2d:N=2000,T=50
  layernorm:R=4096,N=1000 mamba2_chunk_scan:NC=16,L=128,P=64,S=64 nussinov:N=500 paged_scores:H=8,D=128,P=512,B=256
  ragged_grouped_gemm:T=1024,K=256,N=256,G=8 rmsnorm:R=4096,N=1000 row_column_sums:M=4096,N=4096 seidel_2d:N=1000,T=20
  softmax:R=4096,N=1000 transpose:M=4096,N=4096
  batch_norm:R=4096,C=1000 block_sparse_matmul:P=512,R=64,C=64,N=256 contraction_7:A=16,B=16,C=16,D=16,E=16,F=16,G=64
  conv1d:N=8,T=512,C=64,F=128 conv2d_nchw:N=1,C=64,F=64,H=56,W=56 conv3d:N=1,D=16,H=28,W=28,C=32,F=64
  cross_entropy:R=1024,V=4000 fdtd_2d:M=1000,N=1000,T=20 fft_stage:B=512,S=1024 full_reductions:M=2048,N=2048
  gelu:N=1000000 gemm_nt:M=1024,N=1024,K=1024 gemm_tn:M=1024,N=1024,K=1024 gemm_tt:M=1024,N=1024,K=1024
  gram_schmidt:M=512,N=256 heat_3d:N=100,T=20 levenshtein:M=2000,N=2000 lu:N=768 max_pool2d:N=1,H=112,W=112,C=64
  moe_combine:P=8192,D=1024,T=4096 moe_route:T=4096,E=64 mttkrp:I=128,J=128,K=128,R=64 rope:S=1024,H=16,D=64
  scatter_add_rows:T=8192,D=256,V=4096 silu:N=1000000 syrk:N=768,K=768 trmm:M=768,N=768
)
arguments=()
for size in "${sizes[@]}"; do arguments+=(--size "$size"); done
exec "$tool" run benchmarks/kernels "$@" "${arguments[@]}"
