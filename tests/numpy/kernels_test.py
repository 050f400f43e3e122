"""Every kernel of benchmarks/kernels against an independent formula in NumPy, at several sizes and with two threads.

kernels_test.py TOOL KERNEL_FOLDER [NAME...]
"""

import pathlib
import sys

import numpy

import dense_formulas  # noqa: F401  (fills KERNELS)
import loop_formulas  # noqa: F401
from compiled_kernel import CompiledKernel
from formulas import F64, KERNELS, from_bf16


def check(compiled, sizes, make):
    arguments, expected, tolerance = make(**sizes)
    compiled(sizes, **arguments)
    for name, wanted in expected.items():
        got = from_bf16(arguments[name]) if arguments[name].dtype == numpy.uint16 else arguments[name]
        got, wanted = got.astype(F64), numpy.asarray(wanted, F64)
        allowed = tolerance * (1 + numpy.abs(wanted))
        with numpy.errstate(invalid="ignore"):
            wrong = ~((numpy.abs(got - wanted) <= allowed) | (got == wanted) | (numpy.isnan(got) & numpy.isnan(wanted)))
        if wrong.any():
            at = tuple(int(i) for i in numpy.argwhere(wrong)[0])
            return f"{name}{list(at)} is {got[at]!r}, expected {wanted[at]!r} at {sizes} ({int(wrong.sum())} wrong)"
    return ""


def main():
    tool, folder, names = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    present = sorted(path.stem for path in folder.glob("*.tile"))
    failures = [f"{name}: no formula checks this kernel" for name in names or present if name not in KERNELS]
    for name in names or present:
        if name not in KERNELS:
            continue
        vectors, make = KERNELS[name]
        for threads in (1, 2):
            compiled = CompiledKernel(tool, str(folder / (name + ".tile")), name, threads=threads)
            problems = [problem for problem in (check(compiled, sizes, make) for sizes in vectors) if problem]
            failures += [f"{name}, {threads} threads: {problem}" for problem in problems]
        print(f"{name}: {len(vectors)} size vectors", flush=True)
    for failure in failures:
        print("FAILED", failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
