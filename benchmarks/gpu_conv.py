#!/usr/bin/env python3
"""A convolution (NHWC) on this machine's GPU beside cuDNN (through torch, channels last), in one process.

    benchmarks/gpu_conv.py TOOL RESULTS.jsonl N H W C F [--taps 3] [--stride 1] [--weights RSCF|FRSC] [--type f16|bf16] [--any-channels] [--pins TEXT]...

H, W: of the result. The number of channels is written into the program, which is proved much faster so; `--any-channels`: it is a size. The input has the padding in it: `stride (H - 1) + taps` rows. The tool schedules, proves and prints the program; nvcc compiles
it; the result is compared with torch's convolution in f32 of the same numbers (random normal, output poisoned) and with torch's own of the type.
cuDNN searches its algorithms first (`cudnn.benchmark`), and is timed twice: on the same input, and where the stride is 1 on the unpadded one with its own
padding; the faster one counts. Times are medians of 45 launches in 3 rounds, interleaved, after each candidate has run for 150 ms by itself: the
card sits at its power cap. One line of JSON is appended to RESULTS."""
import argparse, ctypes, json, pathlib, statistics, sys, tempfile

import torch

import gpu_timing


def program(arguments):
    C = "C" if arguments.any_channels else str(arguments.C)
    t, stride, taps = arguments.type, arguments.stride, arguments.taps
    moved = (lambda x: x) if stride == 1 else (lambda x: f"{stride} * {x}")
    side = lambda X: moved(X) if taps == stride else f"{moved(X)} {'+' if taps > stride else '-'} {abs(taps - stride)}"
    shape, read = {"RSCF": (f"{taps}, {taps}, {C}, F", "G[r, s, c, f]"), "FRSC": (f"F, {taps}, {taps}, {C}", "G[f, r, s, c]")}[arguments.weights]
    known = ["C % 8 == 0"] * arguments.any_channels + ["F % 8 == 0"] * (arguments.weights == "RSCF")
    assumption = f"    assume({' and '.join(known)})\n" if known else ""
    return f"""@numerics(contract=True, flush_subnormals=True)
def conv(I: {t}[N, {side('H')}, {side('W')}, {C}], G: {t}[{shape}], O: out[{t}[N, H, W, F]]):
{assumption}    for n, h, w, f in grid(N, H, W, F):
        acc: f32 = sum(f32(I[n, {moved('h')} + r, {moved('w')} + s, c]) * f32({read}) for r, s, c in grid({taps}, {taps}, {C}))
        O[n, h, w, f] = {t}(acc)
"""


def compiled(arguments, scratch):
    """The function, the names of its arguments, what ptxas says, and the tool's seconds."""
    text, seconds = pathlib.Path(arguments.source or ""), 0.0
    try:
        if not arguments.source:
            source = scratch / "conv.tile"
            source.write_text(program(arguments) + "".join(arguments.pins))
            sizes = ",".join(f"{size}={getattr(arguments, size)}" for size in "NHWCF" if size != "C" or arguments.any_channels)
            text, seconds = gpu_timing.schedule(arguments.tool, source, arguments.machine, sizes, scratch / "out")
        library = scratch / "conv.so"
        report = gpu_timing.build(text, library)
    except RuntimeError as problem:
        sys.exit(str(problem))
    return gpu_timing.load(library, "conv"), gpu_timing.argument_names(text, "conv"), report, seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("results")
    for size in "NHWCF":
        parser.add_argument(size, type=int)
    parser.add_argument("--taps", type=int, default=3)
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--weights", default="RSCF", choices=["RSCF", "FRSC"], help="how the weights lie, the slowest first")
    parser.add_argument("--type", default="f16", choices=["f16", "bf16"])
    parser.add_argument("--any-channels", action="store_true")
    parser.add_argument("--machine", default="h200")
    parser.add_argument("--source", help="a printed text of the program to time instead")
    parser.add_argument("--pins", action="append", default=[], help="text of a @schedule function")
    parser.add_argument("--print", action="store_true", help="print the program and end")
    arguments = parser.parse_args()
    if arguments.print:
        return print(program(arguments), end="")
    N, H, W, C, F, taps, stride = (getattr(arguments, name) for name in ("N", "H", "W", "C", "F", "taps", "stride"))
    with tempfile.TemporaryDirectory() as name:
        function, names, report, seconds = compiled(arguments, pathlib.Path(name))
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    element = {"f16": torch.float16, "bf16": torch.bfloat16}[arguments.type]
    rows, columns = stride * (H - 1) + taps, stride * (W - 1) + taps
    torch.manual_seed(1)
    image = torch.randn((N, rows, columns, C), device="cuda", dtype=torch.float32).to(element)
    weights = torch.randn((F, taps, taps, C), device="cuda", dtype=torch.float32).to(element)
    own_weights = weights.permute(1, 2, 3, 0).contiguous() if arguments.weights == "RSCF" else weights
    result = torch.full((N, H, W, F), float("nan"), device="cuda", dtype=element)
    # Views: channels last in memory, channels second in name.
    peer_image, peer_weights = image.permute(0, 3, 1, 2), weights.permute(0, 3, 1, 2)
    border = taps // 2
    inner = image[:, border:rows - border, border:columns - border].contiguous().permute(0, 3, 1, 2) if stride == 1 and taps > 1 else None
    workspace = torch.empty(1 << 20, device="cuda", dtype=torch.uint8)
    stream = torch.cuda.current_stream()
    values = {"N": N, "H": H, "W": W, "C": C, "F": F, "I": image.data_ptr(), "G": own_weights.data_ptr(), "O": result.data_ptr(), "workspace": workspace.data_ptr(), "stream": stream.cuda_stream}
    call = [ctypes.c_int64(values[n]) if n in tuple("NHWCF") else ctypes.c_void_p(values[n]) for n in names]

    def ours():
        code = function(*call)
        if code != 0:
            sys.exit(f"the kernel returned {code}")

    def theirs():
        return torch.nn.functional.conv2d(peer_image, peer_weights, stride=stride)

    def theirs_unpadded():
        return torch.nn.functional.conv2d(inner, peer_weights, stride=stride, padding=border)

    candidates = {"ours": ours, "theirs": theirs}
    if inner is not None:
        candidates["theirs_unpadded"] = theirs_unpadded
    for work in candidates.values():
        work()
    torch.cuda.synchronize()
    wanted = torch.nn.functional.conv2d(peer_image.float(), peer_weights.float(), stride=stride).permute(0, 2, 3, 1)
    error = lambda have: float((have.float() - wanted).norm() / wanted.norm())
    row = {"source": arguments.source or "", "N": N, "H": H, "W": W, "C": C, "F": F, "taps": taps, "stride": stride, "weights": arguments.weights, "any_channels": arguments.any_channels, "type": arguments.type, "gpu": torch.cuda.get_device_name(),
           "compile_seconds": round(seconds, 2), "error": error(result), "peer_error": error(theirs().permute(0, 2, 3, 1)), "ptxas": report}
    times = gpu_timing.take_turns(candidates)
    flops = 2.0 * N * H * W * F * taps * taps * C
    for key, values in times.items():
        row[key + "_tflops"] = round(flops / statistics.median(values) * 1e-9, 1)
    row["ratio"] = round(row["ours_tflops"] / max(row["theirs_tflops"], row.get("theirs_unpadded_tflops", 0)), 3)
    with open(arguments.results, "a") as file:
        file.write(json.dumps(row) + "\n")
    print(json.dumps(row))
    if not row["error"] < 5e-3:
        sys.exit("wrong result")


main()
