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
exec "$tool" run benchmarks/kernels "$@" \
  --size "gemm:M=1024,N=1024,K=1024" --size "gemm_bf16:M=1024,N=1024,K=1024" \
  --size "conv2d:N=1,H=56,W=56,C=64,F=64" --size "softmax:R=4096,N=1000" \
  --size "jacobi_2d:N=2000,T=50" --size "transpose:M=4096,N=4096"
