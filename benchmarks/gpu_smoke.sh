#!/bin/bash
# Compiles, checks and times every kernel of benchmarks/kernels on this machine's GPU.
#
#   benchmarks/gpu_smoke.sh TOOL RESULTS.jsonl [MACHINE]
#
# One process a row; each row is appended to RESULTS as one line of JSON as soon as it is known, also where it failed or ran out of time. Rows
# that RESULTS has already are left out, so the script can be run again until it says "complete": after $BUDGET seconds (540) it stops by
# itself. TOOL: build/device/tileopt-schedule of `cmake --preset device && cmake --build --preset device --target tileopt-schedule`; it needs nothing but the C library, g++, NVRTC and the driver.
# $KERNELS: only these names; $STEPS: "check run"; $ROW_SECONDS: time of one row (120).
set -u
tool=${1:?path of tileopt-schedule}
results=${2:?file to append to}
machine=${3:-h200}
here=$(cd "$(dirname "$0")" && pwd)
budget=${BUDGET:-540}
row_seconds=${ROW_SECONDS:-120}
steps=${STEPS:-check run}
start=$SECONDS
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
touch "$results"
version=$(sha256sum "$tool" | cut -c1-12)

# Sizes that `run` times; kernels that are not listed get the tool's own.
sizes_of() {
  case $1 in
    gemm | gemm_bf16) echo M=4096,N=4096,K=4096 ;;
    softmax | rmsnorm | layernorm) echo R=16384,N=8192 ;;
    transpose) echo M=16384,N=8192 ;;
    *) echo "" ;;
  esac
}

# The text of a file as the inside of a JSON string.
quoted() {
  tail -c 4000 "$1" | LC_ALL=C tr -d '\000-\010\013-\037\177-\377' | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/\t/\\t/g' | awk '{printf "%s\\n", $0}'
}

row() {
  local kernel=$1 step=$2 sizes arguments began=$EPOCHREALTIME code
  arguments=("$step" "$here/kernels/$kernel.tile" --machine "$machine" --json)
  sizes=$(sizes_of "$kernel")
  if [ "$step" = run ] && [ -n "$sizes" ]; then arguments+=(--size "$sizes"); fi
  timeout -k 5 "$row_seconds" "$tool" "${arguments[@]}" >"$scratch/out" 2>"$scratch/err"
  code=$?
  local taken
  taken=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN {printf "%.3f", b - a}')
  printf '{"kernel": "%s", "step": "%s", "machine": "%s", "tool": "%s", "exit": %d, "elapsed": %s, "output": "%s", "errors": "%s"}\n' "$kernel" "$step" \
    "$machine" "$version" "$code" "$taken" "$(quoted "$scratch/out")" "$(quoted "$scratch/err")" >>"$results"
  echo "$kernel $step: exit $code in $taken s"
}

left=0
for file in "$here"/kernels/*.tile; do
  kernel=$(basename "$file" .tile)
  if [ -n "${KERNELS:-}" ] && ! [[ " $KERNELS " == *" $kernel "* ]]; then continue; fi
  for step in $steps; do
    if grep -qF "\"kernel\": \"$kernel\", \"step\": \"$step\", \"machine\": \"$machine\", \"tool\": \"$version\"" "$results"; then continue; fi
    if [ $((SECONDS - start + row_seconds)) -gt "$budget" ]; then
      left=$((left + 1))
      continue
    fi
    row "$kernel" "$step"
  done
done
if [ "$left" -gt 0 ]; then
  echo "$left rows are left: run this again"
  exit 75
fi
echo "complete"
