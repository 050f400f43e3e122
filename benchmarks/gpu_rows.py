#!/usr/bin/env python3
"""Row kernels and other work at memory speed on this machine's GPU, beside torch and plain kernels that only copy or read.

    benchmarks/gpu_rows.py TOOL RESULTS.jsonl [ROW...] [--list] [--pins TEXT] [--machine NAME] [--sources DIR]

A row is one process: the tool schedules, proves and prints the program, nvcc compiles it, the result is compared with torch's on fresh random
numbers into a poisoned output, and ours and the peers are timed interleaved: medians of 45 launches in 3 rounds, after each candidate has run for 100 ms
by itself. Peers: torch's operation, the same by torch.compile, and `copy` or `read`: the better of plain kernels of several shapes that move as many bytes.
One line of JSON a row is appended to RESULTS. GB/s count every argument's bytes once."""
import argparse, ctypes, json, pathlib, statistics, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

import gpu_timing

R, N = 16384, 8192

MOVES = r"""
#include <cstdint>
template <int U, bool W> __global__ void move(const uint4* x, uint4* y, long n) {
  const long step = long(gridDim.x) * blockDim.x;
  uint32_t sum = 0;
  for (long i = long(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step * U) {
    uint4 v[U];
#pragma unroll
    for (int u = 0; u < U; ++u) if (i + u * step < n) v[u] = __ldcs(x + i + u * step); else v[u] = uint4{0, 0, 0, 0};
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (W) { if (i + u * step < n) __stcs(y + i + u * step, v[u]); }
      else sum ^= v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
  }
  if (!W && sum == 0x12345678u) *reinterpret_cast<uint32_t*>(y) = sum;
}
__global__ void once(const uint4* x, uint4* y, long n) {
  const long i = long(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
extern "C" void moved(int how, const void* x, void* y, long bytes, void* stream) {
  const uint4* a = static_cast<const uint4*>(x);
  uint4* b = static_cast<uint4*>(y);
  const long n = bytes / 16;
  cudaStream_t s = static_cast<cudaStream_t>(stream);
  switch (how) {
    case 0: once<<<(n + 255) / 256, 256, 0, s>>>(a, b, n); break;
    case 1: move<4, true><<<132 * 8, 256, 0, s>>>(a, b, n); break;
    case 2: move<4, true><<<132 * 4, 512, 0, s>>>(a, b, n); break;
    case 10: move<8, false><<<132 * 8, 256, 0, s>>>(a, b, n); break;
    case 11: move<8, false><<<132 * 4, 512, 0, s>>>(a, b, n); break;
    case 12: move<4, false><<<132 * 16, 128, 0, s>>>(a, b, n); break;
  }
}
"""

NUMERICS = "@numerics(contract=True, flush_subnormals=True)\n"
GELU = "0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))"


def program(text, ulp):
    return (NUMERICS.replace(")", f", approx_ulp={ulp})") if ulp else NUMERICS) + text


# name: (text, sizes, inputs {name: (shape, type)}, outputs, torch's operation, bytes of "copy" or "read", most relative error)
def rows(torch=None):
    F = torch.nn.functional if torch else None
    e = 1e-5
    table = {}

    def add(name, text, sizes, inputs, outputs, work, kind, error=5e-3, ulp=0):
        table[name] = dict(text=program(text, ulp), sizes=sizes, inputs=inputs, outputs=outputs, work=work, kind=kind, error=error)

    matrix = {"R": R, "N": N}
    add("softmax", """def k(X: bf16[R, N], Y: out[bf16[R, N]]):
    for r in range(R):
        m: f32 = max(f32(X[r, j]) for j in range(N))
        l: f32 = sum(exp(f32(X[r, j]) - m) for j in range(N))
        for j in range(N):
            Y[r, j] = bf16(exp(f32(X[r, j]) - m) / l)
""", matrix, {"X": ((R, N), "bf16")}, {"Y": ((R, N), "bf16")}, lambda X: F.softmax(X, 1), "copy", ulp=210)
    add("rmsnorm", """def k(X: bf16[R, N], gamma: bf16[N], Y: out[bf16[R, N]]):
    assume(N >= 1)
    for r in range(R):
        square: f32 = sum(f32(X[r, j]) * f32(X[r, j]) for j in range(N)) / f32(N)
        for j in range(N):
            Y[r, j] = bf16(f32(X[r, j]) * rsqrt(square + f32(0.00001)) * f32(gamma[j]))
""", matrix, {"X": ((R, N), "bf16"), "gamma": ((N,), "bf16")}, {"Y": ((R, N), "bf16")}, lambda X, gamma: F.rms_norm(X, (N,), gamma, e), "copy")
    add("layernorm", """def k(X: bf16[R, N], gamma: bf16[N], beta: bf16[N], Y: out[bf16[R, N]]):
    assume(N >= 1)
    for r in range(R):
        mean: f32 = sum(f32(X[r, j]) for j in range(N)) / f32(N)
        variance: f32 = sum((f32(X[r, j]) - mean) * (f32(X[r, j]) - mean) for j in range(N)) / f32(N)
        scale: f32 = rsqrt(variance + f32(0.00001))
        for j in range(N):
            Y[r, j] = bf16((f32(X[r, j]) - mean) * scale * f32(gamma[j]) + f32(beta[j]))
""", matrix, {"X": ((R, N), "bf16"), "gamma": ((N,), "bf16"), "beta": ((N,), "bf16")}, {"Y": ((R, N), "bf16")}, lambda X, gamma, beta: F.layer_norm(X, (N,), gamma, beta, e), "copy")
    flat = {"N": R * N}
    add("gelu_tanh", f"""def k(X: bf16[N], Y: out[bf16[N]]):
    for i in range(N):
        x: f32 = f32(X[i])
        Y[i] = bf16({GELU})
""", flat, {"X": ((R * N,), "bf16")}, {"Y": ((R * N,), "bf16")}, lambda X: F.gelu(X, approximate="tanh"), "copy", ulp=8192)
    add("gelu_erf", """def k(X: bf16[N], Y: out[bf16[N]]):
    for i in range(N):
        x: f32 = f32(X[i])
        Y[i] = bf16(0.5 * x * (1 + erf(0.7071067811865476 * x)))
""", flat, {"X": ((R * N,), "bf16")}, {"Y": ((R * N,), "bf16")}, lambda X: F.gelu(X), "copy")
    for t in ("bf16", "f32"):
        add("transpose_" + t, f"""def k(A: {t}[M, N], B: out[{t}[N, M]]):
    for i, j in grid(M, N):
        B[j, i] = A[i, j]
""", {"M": R, "N": N}, {"A": ((R, N), t)}, {"B": ((N, R), t)}, lambda A: A.t().contiguous(), "copy", 0)
    add("row_sum", """def k(A: f32[M, N], S: out[f32[M]]):
    for i in range(M):
        S[i] = sum(A[i, j] for j in range(N))
""", {"M": R, "N": N}, {"A": ((R, N), "f32")}, {"S": ((R,), "f32")}, lambda A: A.sum(1), "read", 1e-4)
    add("column_sum", """def k(A: f32[M, N], S: out[f32[N]]):
    for j in range(N):
        S[j] = sum(A[i, j] for i in range(M))
""", {"M": R, "N": N}, {"A": ((R, N), "f32")}, {"S": ((N,), "f32")}, lambda A: A.sum(0), "read", 1e-4)
    add("full_sum", """def k(A: f32[M, N], S: out[f32]):
    S = sum(A[i, j] for i, j in grid(M, N))
""", {"M": R, "N": N}, {"A": ((R, N), "f32")}, {"S": ((), "f32")}, lambda A: A.sum(), "read", 1e-2)
    add("row_sum_bf16", """def k(A: bf16[M, N], S: out[f32[M]]):
    for i in range(M):
        S[i] = sum(f32(A[i, j]) for j in range(N))
""", {"M": R, "N": N}, {"A": ((R, N), "bf16")}, {"S": ((R,), "f32")}, lambda A: A.sum(1, dtype=torch.float32), "read", 1e-4)
    add("cumsum", """def k(X: f32[R, N], Y: out[f32[R, N]]):
    for r, i in grid(R, N):
        Y[r, i] = scan(sum(X[r, j] for j in range(i + 1)))
""", matrix, {"X": ((R, N), "f32")}, {"Y": ((R, N), "f32")}, lambda X: X.cumsum(1), "copy", 1e-3)
    add("cumsum_long", """def k(X: f32[N], Y: out[f32[N]]):
    for i in range(N):
        Y[i] = scan(sum(X[j] for j in range(i + 1)))
""", flat, {"X": ((R * N,), "f32")}, {"Y": ((R * N,), "f32")}, lambda X: X.cumsum(0), "copy", 1e-2)
    add("argmax", """def k(X: f32[R, N], I: out[i32[R]]):
    for r in range(R):
        I[r] = argmax(X[r, j] for j in range(N))
""", matrix, {"X": ((R, N), "f32")}, {"I": ((R,), "i32")}, lambda X: X.argmax(1).to(torch.int32), "read", 0)
    add("top_8", """def k(X: f32[R, N], V: out[f32[R, 8]], I: out[i32[R, 8]]):
    assume(N >= 8)
    for r in range(R):
        best: tuple[f32, i32][8] = topk(X[r, j] for j in range(N))
        for t in range(8):
            V[r, t] = best[t][0]
            I[r, t] = best[t][1]
""", {"R": R // 8, "N": N}, {"X": ((R // 8, N), "f32")}, {"V": ((R // 8, 8), "f32"), "I": ((R // 8, 8), "i32")}, lambda X: (lambda p: (p[0], p[1].to(torch.int32)))(X.topk(8, 1)), "read", 0)
    add("embedding", """def k(token: i32[T], table: bf16[V, D], Y: out[bf16[T, D]]):
    assume(0 <= token[:] < V)
    for t, d in grid(T, D):
        Y[t, d] = table[token[t], d]
""", {"T": 65536, "V": 32768, "D": 2048}, {"token": ((65536,), ("i32", 32768)), "table": ((32768, 2048), "bf16")}, {"Y": ((65536, 2048), "bf16")}, lambda token, table: F.embedding(token, table), "copy", 0)
    add("histogram", """def k(key: i32[N], count: inout[i32[B]]):
    assume(0 <= key[:] < B)
    for i in range(N):
        count[key[i]] += 1
""", {"N": 1 << 28, "B": 1024}, {"key": ((1 << 28,), ("i32", 1024))}, {"count": ((1024,), "zero i32")}, lambda key: torch.bincount(key, minlength=1024).to(torch.int32), "read", 0)
    add("softmax_128", """def k(X: f32[B, R, 128], Y: out[f32[B, R, 128]]):
    for b, r in grid(B, R):
        m: f32 = max(X[b, r, j] for j in range(128))
        l: f32 = sum(exp(X[b, r, j] - m) for j in range(128))
        for j in range(128):
            Y[b, r, j] = exp(X[b, r, j] - m) / l
""", {"B": 4096, "R": 64}, {"X": ((4096, 64, 128), "f32")}, {"Y": ((4096, 64, 128), "f32")}, lambda X: F.softmax(X, 2), "copy", 1e-4, 210)
    add("gemm_16", """def k(A: f32[B, 16, 16], W: f32[B, 16, 16], C: out[f32[B, 16, 16]]):
    for b, i, j in grid(B, 16, 16):
        C[b, i, j] = sum(A[b, i, k] * W[b, k, j] for k in range(16))
""", {"B": 65536}, {"A": ((65536, 16, 16), "f32"), "W": ((65536, 16, 16), "f32")}, {"C": ((65536, 16, 16), "f32")}, lambda A, W: torch.bmm(A, W), "copy", 1e-4)
    for m in (1, 4):
        add(f"gemv_{m}", """def k(A: bf16[M, K], W: bf16[N, K], C: out[bf16[M, N]]):
    assume(K % 8 == 0)
    for i, j in grid(M, N):
        acc: f32 = sum(f32(A[i, k]) * f32(W[j, k]) for k in range(K))
        C[i, j] = bf16(acc)
""", {"M": m, "N": 8192, "K": 8192}, {"A": ((m, 8192), "bf16"), "W": ((8192, 8192), "bf16")}, {"C": ((m, 8192), "bf16")}, lambda A, W: A @ W.t(), "read flushed")
    return table


def prepare(arguments, name, folder):
    """Schedules, prints and compiles a row; the result is what its process reads."""
    folder.mkdir()
    row = rows()[name]
    state = {"row": name, "compile_seconds": 0.0}
    source = pathlib.Path(arguments.sources) / f"{name}.cu" if arguments.sources else None
    try:
        if source is None:
            (folder / "k.tile").write_text(row["text"] + arguments.pins)
            sizes = ",".join(f"{k}={v}" for k, v in row["sizes"].items())
            source, seconds = gpu_timing.schedule(arguments.tool, folder / "k.tile", arguments.machine, sizes, folder / "out", timeout=120)
            state["compile_seconds"] = round(seconds, 2)
        state["arguments"] = gpu_timing.argument_names(source, "k")
        state["ptxas"] = gpu_timing.build(source, folder / "k.so")
    except RuntimeError as problem:
        state["failed"] = str(problem)
    return state


def measure(arguments, name, folder):
    import torch
    state = json.loads((folder / "state.json").read_text())
    row = rows(torch)[name]
    types = {"bf16": torch.bfloat16, "f32": torch.float32, "i32": torch.int32}
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    inputs = {}
    for key, (shape, kind) in row["inputs"].items():
        inputs[key] = torch.randint(kind[1], shape, device="cuda", dtype=torch.int32) if isinstance(kind, tuple) else torch.randn(shape, device="cuda").to(types[kind])
    outputs = {}
    for key, (shape, kind) in row["outputs"].items():
        zero = kind.startswith("zero ")
        kind = kind.removeprefix("zero ")
        outputs[key] = torch.full(shape, 0 if zero else -7 if kind == "i32" else float("nan"), device="cuda", dtype=types[kind])
    total = sum(t.numel() * t.element_size() for t in (*inputs.values(), *outputs.values()))
    if name == "embedding":
        total = 2 * outputs["Y"].numel() * 2 + inputs["token"].numel() * 4
    workspace = torch.empty(1 << 28, device="cuda", dtype=torch.uint8)
    stream = torch.cuda.current_stream()
    call = []
    for argument in state["arguments"]:
        if argument in row["sizes"]:
            call.append(ctypes.c_int64(row["sizes"][argument]))
        elif argument == "workspace_bytes":
            call.append(ctypes.c_int64(workspace.numel()))
        else:
            pointer = {"workspace": workspace, **inputs, **outputs}.get(argument)
            call.append(ctypes.c_void_p(stream.cuda_stream if argument == "stream" else pointer.data_ptr()))
    function, moved = gpu_timing.load(folder / "k.so", "k"), gpu_timing.load(folder.parent / "moves.so", "moved")

    def ours():
        code = function(*call)
        if code != 0:
            sys.exit(f"the kernel returned {code}")

    ours()
    torch.cuda.synchronize()
    wanted = row["work"](*inputs.values())
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    line = {"row": name, "sizes": row["sizes"], "gpu": torch.cuda.get_device_name(), "compile_seconds": state["compile_seconds"], "ptxas": state["ptxas"]}
    line["error"] = max(float((have.double() - want.double()).norm() / want.double().norm()) for have, want in zip(outputs.values(), wanted))
    work = {"ours": ours, "torch": lambda: row["work"](*inputs.values())}
    if not arguments.no_compile:
        work["torch_compile"] = lambda f=torch.compile(row["work"], mode="max-autotune-no-cudagraphs"): f(*inputs.values())
    source = torch.empty(total if row["kind"].startswith("read") else total // 2, device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    for how in ([10, 11, 12] if row["kind"].startswith("read") else [0, 1, 2]):
        work[f"move {how}"] = lambda how=how: moved(how, ctypes.c_void_p(source.data_ptr()), ctypes.c_void_p(target.data_ptr()), ctypes.c_long(source.numel()), ctypes.c_void_p(stream.cuda_stream))
    flush = torch.empty(1 << 28, device="cuda", dtype=torch.uint8) if row["kind"].endswith("flushed") else None
    for key in list(work):
        try:
            work[key]()
            torch.cuda.synchronize()
        except Exception as problem:  # a peer that cannot do it is left out, and says so
            line[key + "_failed"] = str(problem)[:200]
            del work[key]
    # A read leaves clean lines behind.
    times = gpu_timing.take_turns(work, 0.1, 5, None if flush is None else flush.sum)
    line["us"] = {key: round(statistics.median(values) * 1e3, 2) for key, values in times.items()}
    line["GB/s"] = {key: round(total / value * 1e-3, 1) for key, value in line["us"].items()}
    best_move = min(value for key, value in line["us"].items() if key.startswith("move"))
    peers = [value for key, value in line["us"].items() if key.startswith("torch")]
    line["of_" + row["kind"].split()[0]] = round(best_move / line["us"]["ours"], 3)
    line["of_best_torch"] = round(min(peers) / line["us"]["ours"], 3)
    line["agrees"] = line["error"] <= row["error"]
    return line


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("results")
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--machine", default="h200")
    parser.add_argument("--pins", default="", help="text of a @schedule function of k")
    parser.add_argument("--sources", help="printed texts, ROW.cu each, to time instead")
    parser.add_argument("--no-compile", action="store_true", help="without torch.compile")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.list:
        return print("\n".join(rows()))
    if arguments.child:
        folder = pathlib.Path(arguments.child)
        return print(json.dumps(measure(arguments, folder.name, folder)))
    names = arguments.rows or list(rows())
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        (scratch / "moves.cu").write_text(MOVES)
        try:
            gpu_timing.build(scratch / "moves.cu", scratch / "moves.so")
        except RuntimeError as problem:
            sys.exit(f"nvcc does not compile the plain kernels: {problem}")
        with ThreadPoolExecutor(8) as pool:
            states = list(pool.map(lambda n: prepare(arguments, n, scratch / n), names))
        bad = False
        for state in states:
            folder = scratch / state["row"]
            line = state
            if "failed" not in state:
                (folder / "state.json").write_text(json.dumps(state))
                child = [sys.executable, __file__, arguments.tool, arguments.results, "--child", str(folder)] + (["--no-compile"] if arguments.no_compile else [])
                try:
                    done = subprocess.run(child, capture_output=True, text=True, timeout=120)
                    line = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {**state, "failed": done.stderr[-1500:]}
                except subprocess.TimeoutExpired:
                    line = {**state, "failed": "not done in 120 s"}
            bad = bad or "failed" in line or not line["agrees"]
            with open(arguments.results, "a") as file:
                file.write(json.dumps(line) + "\n")
            print(json.dumps({k: v for k, v in line.items() if k not in ("ptxas", "sizes", "gpu", "arguments")}), flush=True)
    sys.exit(1 if bad else 0)


main()
