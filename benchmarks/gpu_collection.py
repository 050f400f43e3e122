#!/usr/bin/env python3
"""The kernels of benchmarks/kernels on this machine's GPU, beside the time that memory or arithmetic needs at least, and beside torch.

    benchmarks/gpu_collection.py RESULTS.jsonl [KERNEL...] [--sources DIR | --tool TOOL] [--compile] [--again] [--limit SECONDS]
    benchmarks/gpu_collection.py --sizes                  `NAME A=1,B=2` a line: what to print texts for, beforehand
    benchmarks/gpu_collection.py --table RESULTS.jsonl    the newest line of every kernel as a table

Texts come from DIR (NAME.cu), or the tool prints them. nvcc compiles all of them side by side; each kernel is then measured in a process of its own, which
ends after --limit seconds: its result is compared with torch's on fresh random numbers into poisoned outputs, and ours and torch's take turns, medians
of up to 45 runs, fewer where one takes long. One line of JSON a kernel is appended to RESULTS; kernels that have a line for the same text and sizes are
left out, but with --again. --compile: torch.compile of torch's formula too. Sizes, formulas, bytes and operations: gpu_collection_kernels.py.
The floor is the larger of bytes by the speed of a copy, measured first, and operations by the peak of their unit.

--device cpu tries the table itself: small sizes, C text for this CPU (--tool), one run."""
import argparse, ctypes, datetime, hashlib, json, multiprocessing, os, pathlib, statistics, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor

import gpu_timing

here = pathlib.Path(__file__).resolve().parent


def listed(sizes):
    return ",".join(f"{name}={value}" for name, value in sizes.items())


def compile_for_cpu(text, library):
    subprocess.run(["cc", "-std=gnu11", "-O1", "-march=native", "-fopenmp", "-ffp-contract=fast", "-fno-math-errno", "-shared", "-fPIC", str(text), "-lm", "-o", str(library)], check=True)
    return []


def prepare(arguments, entry, folder):
    """Text and library of a kernel, or why there is none."""
    state = {"kernel": entry.name, "sizes": entry.small_sizes() if arguments.device == "cpu" else entry.sizes}
    try:
        if arguments.sources:
            text = pathlib.Path(arguments.sources) / (entry.name + ".cu")
        elif arguments.device == "cpu":
            run = [arguments.tool, "compile", str(here / "kernels" / (entry.name + ".tile")), "-o", str(folder) + "/", "--json"]
            subprocess.run(run, check=True, capture_output=True)
            text = folder / (entry.name + ".c")
        else:
            text, _ = gpu_timing.schedule(arguments.tool, here / "kernels" / (entry.name + ".tile"), "h200", listed(entry.sizes), folder)
        state["text"] = hashlib.sha256(text.read_bytes()).hexdigest()[:16]
        if arguments.measured.get(entry.name) == (state["text"], state["sizes"]):
            return {**state, "skipped": True}
        state["ptxas"] = (gpu_timing.build if arguments.device == "cuda" else compile_for_cpu)(text, folder / "kernel.so")
        state["source"] = str(text)
    except (RuntimeError, OSError, subprocess.CalledProcessError) as problem:
        state["failed"] = str(problem)[-1500:]
    return state


def bound(name, source, library, sizes, case, arguments):
    """A function that runs the kernel on the case's arguments."""
    import torch
    counted = gpu_timing.load(library, name + "_workspace_bytes")
    counted.restype = ctypes.c_int64
    need = counted(*[ctypes.c_int64(sizes[size]) for size in gpu_timing.argument_names(source, name + "_workspace_bytes")])
    if need < 0:
        raise RuntimeError("no workspace for these sizes")
    workspace = torch.empty(need + 512, device=arguments.device, dtype=torch.uint8)
    call = []
    for argument in gpu_timing.argument_names(source, name):
        value = case.arguments.get(argument)
        if argument == "stream":
            call.append(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        elif argument == "workspace":
            call.append(ctypes.c_void_p((workspace.data_ptr() + 255) // 256 * 256))
        elif value is None:
            call.append(ctypes.c_int64(sizes[argument]))
        else:
            call.append(ctypes.c_float(value) if isinstance(value, float) else ctypes.c_void_p(value.data_ptr()))
    function = gpu_timing.load(library, name)

    def run(keep=(workspace, case)):
        code = function(*call)
        if code != 0:
            raise RuntimeError(f"the kernel returned {code}")
    return run


def restore(case):
    for name, value in case.start.items():
        case.arguments[name].copy_(value)


def largest_error(case):
    """Of all outputs, relative to the value and to how large values are on the whole; infinite where a number is missing."""
    import torch
    worst = 0.0
    for name, want in zip(case.outputs, (case.wanted or case.peer)()):
        have = case.arguments[name].double()
        want = want.to(have.device).double()
        if have.shape != want.shape:
            raise RuntimeError(f"{name} has the shape {tuple(have.shape)}, torch's {tuple(want.shape)}")
        scale = want.abs() + want.square().mean().sqrt()
        error = torch.where(have == want, 0.0, (have - want).abs() / scale)
        worst = max(worst, float(torch.where(torch.isfinite(error), error, torch.inf).max()))
    return worst


def seconds_of(work, synchronize):
    synchronize()
    began = time.time()
    work()
    synchronize()
    return time.time() - began


def measure(arguments, state, library, path):
    """In a process of its own: the line of a kernel, written to `path`."""
    import torch
    import gpu_collection_kernels as table
    table.device = arguments.device
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(20)
    entry, sizes = table.KERNELS[state["kernel"]], state["sizes"]
    line = {key: state[key] for key in ("kernel", "sizes", "text", "ptxas")}
    synchronize = torch.cuda.synchronize if arguments.device == "cuda" else lambda: None
    line["checked_at"] = {**sizes, **entry.check} if arguments.device == "cuda" else sizes
    case = None
    if line["checked_at"] != sizes:
        case = entry.make(**line["checked_at"])
        bound(entry.name, state["source"], library, line["checked_at"], case, arguments)()
        line["error"] = largest_error(case)
    case = entry.make(**sizes)
    ours = bound(entry.name, state["source"], library, sizes, case, arguments)
    candidates = {"ours": ours}
    first = {"ours": seconds_of(ours, synchronize)}
    if "error" not in line:
        line["error"] = largest_error(case)
    line["agrees"] = line["error"] <= case.error
    if case.peer:
        candidates["torch"] = case.peer
        if arguments.compile:
            candidates["torch_compile"] = torch.compile(case.peer)
    for key in list(candidates)[1:]:
        try:
            candidates[key]()
            first[key] = seconds_of(candidates[key], synchronize)
        except Exception as problem:  # a peer that cannot do it is left out, and says so
            line[key + "_failed"] = str(problem)[:300]
            del candidates[key]
    restore(case)
    first["ours"] = min(first["ours"], seconds_of(ours, synchronize))
    line.update(torch=entry.formula, composed=entry.composed, bytes=case.bytes, flops=case.flops, peak=entry.peak)
    if arguments.device == "cuda":
        line["ms"], line["runs"] = {}, {}
        slowest = max(first.values())
        rounds, runs = (3, 15) if slowest < 0.01 else (3, 3) if slowest < 0.1 else (1, 3) if slowest < 1 else (1, 1)
        times = gpu_timing.take_turns(candidates, 0.05 if slowest < 0.1 else 0, 5 if slowest < 0.01 else 1, lambda: restore(case), rounds, runs)
        for key, values in times.items():
            line["ms"][key], line["runs"][key] = round(statistics.median(values), 5), len(values)
        line["gpu"] = torch.cuda.get_device_name()
    pathlib.Path(path).write_text(json.dumps(line))


def measure_copy(path):
    """Bytes a second, read and written, of the largest of several copies of 2 GiB."""
    import torch
    source = torch.empty(1 << 31, device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    times = gpu_timing.take_turns({"copy": lambda: target.copy_(source)}, 0.1, 2)
    pathlib.Path(path).write_text(json.dumps(2 * source.numel() / statistics.median(times["copy"]) * 1e3))


def in_own_process(limit, work, *arguments):
    """What `work` wrote to the path it was given last, or why there is nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "line")
        log = os.path.join(folder, "log")

        def run():
            os.dup2(os.open(log, os.O_CREAT | os.O_WRONLY), 2)
            work(*arguments, path)
        process = multiprocessing.get_context("fork").Process(target=run)
        process.start()
        process.join(limit)
        if process.is_alive():
            process.kill()
            process.join()
            return {"failed": f"not done in {limit:g} s"}
        if process.exitcode != 0 or not os.path.exists(path):
            return {"failed": f"exit {process.exitcode}: " + pathlib.Path(log).read_text()[-1500:]}
        return json.loads(pathlib.Path(path).read_text())


def with_floor(line, copy, peaks):
    line["copy_GB/s"] = round(copy / 1e9, 1)
    memory, arithmetic = line["bytes"] / copy * 1e3, line["flops"] / peaks[line["peak"]] * 1e3
    line["floor_ms"], line["bound"] = round(max(memory, arithmetic), 5), "memory" if memory >= arithmetic else line["peak"]
    line["of_floor"] = round(line["floor_ms"] / line["ms"]["ours"], 4)
    peers = [value for key, value in line["ms"].items() if key != "ours"]
    line["of_torch"] = round(min(peers) / line["ms"]["ours"], 3) if peers else None
    return line


def newest(results):
    lines = {}
    for text in pathlib.Path(results).read_text().splitlines() if pathlib.Path(results).exists() else []:
        line = json.loads(text)
        if "ms" in line or line["kernel"] not in lines:
            lines[line["kernel"]] = line
    return lines


def milliseconds(value):
    return "" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def table(results):
    lines = sorted(newest(results).values(), key=lambda line: line["kernel"])
    rows = ["| kernel | sizes | ms | floor, bound by | of the floor | torch | torch.compile | of torch | torch's formula |", "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for line in lines:
        name, sizes = line["kernel"], listed(line["sizes"]).replace(",", " ")
        if "ms" not in line:
            rows.append(f"| {name} | {sizes} | {line['failed'].splitlines()[0][:60]} | | | | | | |")
            continue
        formula = "`" + line["torch"] + "`" + (" (several)" if line["composed"] else "") if line["torch"] else "none"
        wrong = "" if line["agrees"] else " (**wrong**)"
        rows.append(f"| {name} | {sizes} | {milliseconds(line['ms']['ours'])}{wrong} | {milliseconds(line['floor_ms'])} {line['bound']} | {line['of_floor']:.2g} | "
                    f"{milliseconds(line['ms'].get('torch'))} | {milliseconds(line['ms'].get('torch_compile'))} | {'' if line['of_torch'] is None else format(line['of_torch'], '.2g')} | {formula} |")
    return "\n".join(rows)


def shown(line):
    if "skipped" in line:
        return f"{line['kernel']:24} measured before"
    if "failed" in line:
        return f"{line['kernel']:24} FAILED {line['failed'][-300:]}"
    times = "" if "ms" not in line else f"{line['ms']['ours']:10.4f} ms  of floor {line['of_floor']:6.3f}  of torch {line['of_torch'] or 0:6.2f}"
    return f"{line['kernel']:24} {times}  {'agrees' if line['agrees'] else 'WRONG'} ({line['error']:.1e})" + "".join(f"  {key}: {line[key][:100]}" for key in line if key.endswith("_failed"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="?")
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--sources", help="folder of printed texts, KERNEL.cu each")
    parser.add_argument("--tool", help="prints the texts")
    parser.add_argument("--compile", action="store_true", help="torch.compile beside torch")
    parser.add_argument("--again", action="store_true", help="measure what has been measured, too")
    parser.add_argument("--limit", type=float, default=60, help="seconds a kernel")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--table", help="RESULTS.jsonl")
    arguments = parser.parse_intermixed_args()
    if arguments.table:
        return print(table(arguments.table))
    import gpu_collection_kernels as collection  # torch, but nothing of CUDA before processes are forked
    if arguments.sizes:
        return print("\n".join(f"{entry.name} {listed(entry.sizes)}" for entry in collection.KERNELS.values()))
    if not arguments.results or not (arguments.sources or arguments.tool):
        parser.error("RESULTS.jsonl, and --sources or --tool")
    unknown = {path.stem for path in (here / "kernels").glob("*.tile")} ^ set(collection.KERNELS) if (here / "kernels").exists() else set(arguments.kernels) - set(collection.KERNELS)
    if unknown:
        parser.error("not in the table and the folder: " + " ".join(sorted(unknown)))
    entries = [collection.KERNELS[name] for name in arguments.kernels or sorted(collection.KERNELS)]
    arguments.measured = {name: (line["text"], line["sizes"]) for name, line in newest(arguments.results).items() if "ms" in line and not arguments.again}
    bad = False
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        def start(entry):
            folder = pathlib.Path(name) / entry.name
            folder.mkdir()
            return prepare(arguments, entry, folder)
        states = list(pool.map(start, entries))
        print(f"{sum('failed' not in state for state in states)} of {len(states)} kernels compiled", flush=True)
        copy = in_own_process(arguments.limit, measure_copy) if arguments.device == "cuda" else 1e9
        if isinstance(copy, dict):
            sys.exit("no copy was measured: " + copy["failed"])
        for state in states:
            line = state
            if "failed" not in state and "skipped" not in state:
                line = in_own_process(arguments.limit, measure, arguments, state, pathlib.Path(name) / state["kernel"] / "kernel.so")
                line = {key: state[key] for key in ("kernel", "sizes", "text")} | line
                if "ms" in line:
                    line = with_floor(line, copy, collection.PEAKS)
            line["date"] = datetime.date.today().isoformat()
            if "skipped" not in line:
                with open(arguments.results, "a") as file:
                    file.write(json.dumps(line) + "\n")
            bad = bad or "failed" in line or not line.get("agrees", True)
            print(shown(line), flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
