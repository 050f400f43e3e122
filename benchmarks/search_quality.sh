#!/usr/bin/env bash
# How well plans are chosen without measuring: ./benchmarks/search_quality.sh TILEOPT_SCHEDULE [KERNEL SIZES [SAMPLES [TRIALS]]]
# Without a kernel: gemm, conv2d and softmax. Appends one line a kernel to benchmarks/results/search_quality.jsonl. The machine has to
# be idle. An interrupted run goes on where it was: its records stay in $TILEOPT_QUALITY_RECORDS (default: a new temporary folder).
set -euo pipefail
tool=$(realpath "$1"); shift
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=${TILEOPT_QUALITY_RECORDS:-$(mktemp -d)}; mkdir -p "$work"

measure() { # KERNEL SIZES SAMPLES TRIALS
  local kernel=$1 sizes=$2 samples=$3 trials=$4 input="$here/kernels/$1.tile" records="$work/$1.jsonl"
  "$tool" search "$input" --size "$sizes" --records "$records" --strategy random --trials "$samples" --seconds 0.2 --report "$work/$kernel-random.json" >&2
  "$tool" search "$input" --size "$sizes" --records "$records" --strategy evolutionary --trials "$trials" --seconds 0.2 --report "$work/$kernel-search.json" >&2
  "$tool" score "$input" --size "$sizes" --rate --json >"$work/$kernel-rate.json"
  python3 - "$work" "$kernel" "$sizes" "$here" <<'PYTHON' | tee -a "$here/results/search_quality.jsonl"
import datetime, json, subprocess, sys
work, kernel, sizes, here = sys.argv[1:]
read = lambda name: json.load(open(f"{work}/{kernel}-{name}.json"))
sampled, searched, rate = read("random"), read("search"), read("rate")["results"][0]
best = min(sampled["best_seconds"], searched["best_seconds"])
cpu = next((l.split(": ", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "unknown")
commit = subprocess.run(["git", "-C", here, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
print(json.dumps({
    "date": str(datetime.date.today()), "commit": commit, "cpu": cpu, "load": open("/proc/loadavg").read().split()[0],
    "kernel": kernel, "sizes": sizes, "points": sampled["space"]["points"], "exact": sampled["space"]["exact"],
    "samples": sampled["quality"]["plans"], "trials": searched["quality"]["plans"],
    "planned_seconds": sampled["planned_seconds"], "best_sampled_seconds": sampled["best_seconds"],
    "best_searched_seconds": searched["best_seconds"], "planned_over_best": best / searched["planned_seconds"],
    "kendall_tau": sampled["quality"]["kendall_tau"], "kendall_tau_fastest_quarter": sampled["quality"]["kendall_tau_fastest_quarter"],
    "points_per_second": rate["points_per_second"]}))
PYTHON
}

if [ $# -gt 0 ]; then
  measure "$1" "$2" "${3:-300}" "${4:-200}"
else
  measure gemm M=1024,N=1024,K=1024 300 200
  measure conv2d N=1,H=56,W=56,C=64,F=64 300 200
  measure softmax R=4096,N=4096 300 200
fi
