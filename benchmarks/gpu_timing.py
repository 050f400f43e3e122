"""What the scripts that time printed kernels beside torch have in common: text to function, and times that candidates take turns for."""
import ctypes, pathlib, re, subprocess, time


def schedule(tool, source, machine, sizes, out, timeout=None):
    """The tool's text for the program in the file `source`, and the seconds it took. RuntimeError: what it said instead."""
    began = time.time()
    run = [tool, "compile", str(source), "--machine", machine, "--size", sizes, "-o", str(out) + "/", "--json"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0:
        raise RuntimeError(f"compile: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return next(pathlib.Path(out).rglob("*.cu")), time.time() - began


def build(text, library):
    """nvcc makes `library` of the file `text`, whose head may say whether products may be fused with sums. The lines of ptxas about registers, spills
    and what it warns of. RuntimeError: nvcc's errors."""
    fused = re.search(r"Compile with: nvcc .*(--fmad=\w+)", pathlib.Path(text).read_text())
    nvcc = ["nvcc", "-gencode=arch=compute_90a,code=sm_90a", "-O3", "-std=c++17", *(fused.groups() if fused else ()), "-Xptxas", "-v", "-shared", "-Xcompiler", "-fPIC",
            str(text), "-o", str(library)]
    done = subprocess.run(nvcc, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-3000:])
    return [line.strip() for line in done.stderr.splitlines() if "Used" in line or "bytes spill" in line or "C75" in line]


def argument_names(text, function):
    """Of the entry `function` in the file `text`, in order."""
    head = re.search(r"\bint\d+_t " + function + r"\(([^)]*)\)", pathlib.Path(text).read_text()).group(1)
    return [part.split()[-1].lstrip("*") for part in head.split(",")]


def load(library, function):
    return getattr(ctypes.CDLL(str(library)), function)


def take_turns(candidates, settle=0.15, batch=10, before=None, rounds=3, runs=15):
    """Milliseconds of `rounds` times `runs` runs of each of `candidates` (by name), after it has run by itself for `settle` seconds; `before` runs ahead of
    every timed run."""
    import torch
    times = {key: [] for key in candidates}
    for _ in range(rounds):
        for key, work in candidates.items():
            torch.cuda.synchronize()
            end = time.time() + settle
            while time.time() < end:
                for _ in range(batch):
                    work()
                torch.cuda.synchronize()
            events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(runs)]
            for first, last in events:
                if before is not None:
                    before()
                first.record()
                work()
                last.record()
            torch.cuda.synchronize()
            times[key] += [first.elapsed_time(last) for first, last in events]
    return times
