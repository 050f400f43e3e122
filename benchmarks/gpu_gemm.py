#!/usr/bin/env python3
"""A product of matrices on this machine's GPU beside cuBLAS (through torch), in one process.

    benchmarks/gpu_gemm.py TOOL RESULTS.jsonl M N K [LAYOUT] [--type bf16|f16|f32] [--assume TEXT] [--epilogue gelu|residual|gate] [--pins TEXT]...

LAYOUT: NN (both row by row), NT, TN, TT: whether A and B are kept transposed. Nothing is assumed of M, N, K: where rows start at multiples of
16 bytes the version with boxes runs, else the other (docs/decisions/031); --assume leaves one. The tool schedules, proves and prints the program; nvcc compiles
it; the result is compared with torch's product in f32 (of f32: in f64) of the same numbers (random normal, output poisoned), and with torch's own of the type.
Times are medians of 45 launches in 3 rounds, interleaved, after each candidate has run for 150 ms by itself: the card sits at its power cap. One
line of JSON is appended to RESULTS."""
import argparse, ctypes, json, pathlib, statistics, sys, tempfile

import torch

import gpu_timing


EPILOGUES = {
    "": ("", "        C[i, j] = {element}(acc)\n"),
    "gelu": ("D: {element}[N], ", "        x: f32 = acc + f32(D[j])\n        C[i, j] = {element}(f32(0.5) * x * (f32(1.0) + tanh(f32(0.7978845608) * (x + f32(0.044715) * x * x * x))))\n"),
    "residual": ("D: {element}[M, N], ", "        C[i, j] = {element}(acc + f32(D[i, j]))\n"),
    "gate": ("D: {element}[{b_shape}], ", "        value: f32 = sum(f32({a}) * f32({d}) for l in range(K))\n        C[i, j] = {element}(acc / (f32(1.0) + exp(-acc)) * value)\n"),
}


def program(layout, element, assumption, epilogue):
    a = "A[i, k]" if layout[0] == "N" else "A[k, i]"
    b = "B[k, j]" if layout[1] == "N" else "B[j, k]"
    a_shape = "M, K" if layout[0] == "N" else "K, M"
    b_shape = "K, N" if layout[1] == "N" else "N, K"
    assumption = f"\n    assume({assumption})" if assumption else ""
    if element == "f32":
        return f"""@numerics(contract=True)
def product(A: f32[{a_shape}], B: f32[{b_shape}], C: out[f32[M, N]]):{assumption}
    for i, j in grid(M, N):
        C[i, j] = sum({a} * {b} for k in range(K))
"""
    tensor, last = (part.format(element=element, b_shape=b_shape, a=a.replace("k", "l"), d=b.replace("k", "l").replace("B", "D")) for part in EPILOGUES[epilogue])
    return f"""@numerics(contract=True, flush_subnormals=True)
def product(A: {element}[{a_shape}], B: {element}[{b_shape}], {tensor}C: out[{element}[M, N]]):{assumption}
    for i, j in grid(M, N):
        acc: f32 = sum(f32({a}) * f32({b}) for k in range(K))
{last}"""


def compiled(arguments, scratch):
    """The function, the names of its arguments, what ptxas says, and the tool's seconds."""
    text, seconds = pathlib.Path(arguments.source or ""), 0.0
    try:
        if not arguments.source:
            source = scratch / "product.tile"
            source.write_text(program(arguments.layout, arguments.type, arguments.assume, arguments.epilogue) + "".join(arguments.pins))
            sizes = f"M={arguments.M},N={arguments.N},K={arguments.K}"
            text, seconds = gpu_timing.schedule(arguments.tool, source, arguments.machine, sizes, scratch / "out")
        library = scratch / "product.so"
        report = gpu_timing.build(text, library)
    except RuntimeError as problem:
        sys.exit(str(problem))
    return gpu_timing.load(library, "product"), gpu_timing.argument_names(text, "product"), report, seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("results")
    for size in "MNK":
        parser.add_argument(size, type=int)
    parser.add_argument("layout", nargs="?", default="NN", choices=["NN", "NT", "TN", "TT"])
    parser.add_argument("--type", default="bf16", choices=["bf16", "f16", "f32"])
    parser.add_argument("--machine", default="h200")
    parser.add_argument("--source", help="a printed text of the program to time instead")
    parser.add_argument("--assume", default="", help="what the program may count on, e.g. 'K %% 8 == 0': one version of the kernel instead of two")
    parser.add_argument("--epilogue", default="", choices=list(EPILOGUES), help="what is made of the product at once, beside torch's fused call")
    parser.add_argument("--pins", action="append", default=[], help="text of a @schedule function")
    arguments = parser.parse_args()
    M, N, K = arguments.M, arguments.N, arguments.K
    with tempfile.TemporaryDirectory() as name:
        function, names, report, seconds = compiled(arguments, pathlib.Path(name))
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_tf32 = False
    element = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}[arguments.type]
    torch.manual_seed(1)
    a = torch.randn((M, K) if arguments.layout[0] == "N" else (K, M), device="cuda", dtype=torch.float32).to(element)
    b = torch.randn((K, N) if arguments.layout[1] == "N" else (N, K), device="cuda", dtype=torch.float32).to(element)
    d = torch.randn(N if arguments.epilogue == "gelu" else b.shape if arguments.epilogue == "gate" else (M, N), device="cuda", dtype=torch.float32).to(element)
    c = torch.full((M, N), float("nan"), device="cuda", dtype=element)
    left = a if arguments.layout[0] == "N" else a.t()
    right = b if arguments.layout[1] == "N" else b.t()
    value = d if arguments.layout[1] == "N" else d.t()
    peer = torch.empty((M, N), device="cuda", dtype=element)
    workspace = torch.empty(1 << 20, device="cuda", dtype=torch.uint8)
    stream = torch.cuda.current_stream()
    values = {"M": M, "N": N, "K": K, "A": a.data_ptr(), "B": b.data_ptr(), "C": c.data_ptr(), "D": d.data_ptr(), "workspace": workspace.data_ptr(), "stream": stream.cuda_stream}
    call = [ctypes.c_int64(values[n]) if n in "MNK" else ctypes.c_void_p(values[n]) for n in names]

    def ours():
        code = function(*call)
        if code != 0:
            sys.exit(f"the kernel returned {code}")

    gated = torch.compile(lambda a, w, v: torch.nn.functional.silu(a @ w) * (a @ v))  # the peer of `gate`: two products and a fused last step

    def theirs():
        if arguments.epilogue == "gelu":
            peer.set_(torch._addmm_activation(d, left, right, use_gelu=True))
        elif arguments.epilogue == "residual":
            torch.addmm(d, left, right, out=peer)
        elif arguments.epilogue == "gate":
            peer.set_(gated(left, right, value))
        else:
            torch.matmul(left, right, out=peer)

    ours()
    theirs()
    torch.cuda.synchronize()
    wide = torch.float64 if arguments.type == "f32" else torch.float32
    wanted = left.to(wide) @ right.to(wide)
    if arguments.epilogue == "gate":
        wanted = torch.nn.functional.silu(wanted) * (left.to(wide) @ value.to(wide))
    elif arguments.epilogue:
        wanted = wanted + d.to(wide)
    if arguments.epilogue == "gelu":
        wanted = torch.nn.functional.gelu(wanted, approximate="tanh")
    error = lambda have: float((have.to(wide) - wanted).norm() / wanted.norm())
    row = {"source": arguments.source or "", "M": M, "N": N, "K": K, "layout": arguments.layout, "assume": arguments.assume, "epilogue": arguments.epilogue, "type": arguments.type, "gpu": torch.cuda.get_device_name(), "compile_seconds": round(seconds, 2),
           "error": error(c), "peer_error": error(peer), "ptxas": report}
    times = gpu_timing.take_turns({"ours": ours, "theirs": theirs})
    flops = 2.0 * M * N * K * (2 if arguments.epilogue == "gate" else 1)
    for key, values in times.items():
        row[key + "_tflops"] = round(flops / statistics.median(values) * 1e-9, 1)
    row["ratio"] = round(row["ours_tflops"] / row["theirs_tflops"], 3)
    with open(arguments.results, "a") as file:
        file.write(json.dumps(row) + "\n")
    print(json.dumps(row))
    if not row["error"] < 5e-3:
        sys.exit("wrong result")


main()
