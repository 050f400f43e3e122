#!/usr/bin/env bash
# sgemm beside OpenBLAS, one thread, one process: ./benchmarks/gemm_beside_openblas.sh TILEOPT_SCHEDULE [M N K [runs]]
# Appends a line to benchmarks/results/sgemm_openblas.jsonl. Needs libopenblas-pthread-dev.
set -euo pipefail
tool=$(realpath "$1"); M=${2:-1024}; N=${3:-1024}; K=${4:-1024}; runs=${5:-31}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
"$tool" compile "$here/kernels/gemm.tile" -o "$work/gemm.c" --threads 1 >&2
blas=$(ls /usr/lib/*/openblas-pthread/libopenblas.so* | head -1)
cc -O3 -std=gnu11 -ffp-contract=fast -fno-math-errno -fno-trapping-math -fopenmp -march=native -I"$work" \
  "$here/gemm_beside_openblas.c" "$work/gemm.c" "$blas" -Wl,-rpath,"$(dirname "$blas")" -lm -o "$work/bench"
line=$(OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 "$work/bench" "$M" "$N" "$K" "$runs")
stamp=$(printf '{"date": "%s", "commit": "%s", "cpu": "%s", "load": "%s", ' "$(date -u +%F)" "$(git -C "$here" rev-parse --short HEAD)" \
  "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(cut -d' ' -f1 /proc/loadavg)")
echo "$stamp${line#\{}" | tee -a "$here/results/sgemm_openblas.jsonl"
