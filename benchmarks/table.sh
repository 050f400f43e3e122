#!/usr/bin/env bash
# tileopt beside its peers: ./benchmarks/table.sh [--rows NAME,NAME...] [options of tileopt-table, e.g. --repetitions 15]
# Each row is one process; its contenders take turns. Lines are appended to benchmarks/results/table.jsonl.
# Peers: OpenBLAS, BLIS, oneDNN and Halide from Debian; clang-19 with Polly where it is installed. Needs an idle machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/packages.sh
install_packages "${build_packages[@]}" libbenchmark-dev libopenblas-pthread-dev libblis-dev libdnnl-dev libhalide14-0-dev
build build/benchmarks -DTILEOPT_TESTS=OFF -DTILEOPT_BENCHMARKS=ON
table=build/benchmarks/benchmarks/table/tileopt-table
rows=$("$table" --list)
if [ "${1:-}" = --rows ]; then rows=${2//,/ }; shift 2; fi
TILEOPT_COMMIT=$(git rev-parse --short HEAD)
export TILEOPT_COMMIT OMP_PROC_BIND=close OMP_WAIT_POLICY=active
failed=0
for row in $rows; do
  "$table" "$row" --append benchmarks/results/table.jsonl "$@" || failed=1
done
python3 benchmarks/draw.py benchmarks/results/table.jsonl benchmarks/results/table.svg
exit $failed
