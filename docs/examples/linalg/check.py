"""Compiles regression.la with lac (argument 1), loads the shared object and compares with plain Python; then lac's own errors."""
import array
import ctypes
import math
import os
import subprocess
import sys
import tempfile

lac, here = sys.argv[1], os.path.dirname(os.path.abspath(__file__))


def pointer(values):
    return (ctypes.c_double * len(values)).from_buffer(values)


def call(library, name, sizes, *arrays):
    measure = getattr(library, name + "_workspace_bytes")
    measure.restype = ctypes.c_int64
    values = [ctypes.c_int64(size) for size in sizes]
    room = measure(*values)
    assert room >= 0
    memory = ctypes.create_string_buffer(room + 256)
    workspace = ctypes.c_void_p((ctypes.addressof(memory) + 255) // 256 * 256)
    scalars = [a if isinstance(a, ctypes.c_double) else pointer(a) for a in arrays]
    assert getattr(library, name)(*values, *scalars, workspace) == 0


def numbers(count, seed):
    return array.array("d", [((i * 37 + seed) % 19) / 8 - 1 for i in range(count)])


def close(got, expected):
    assert len(got) == len(expected)
    assert all(abs(g - e) <= 1e-9 * (1 + abs(e)) for g, e in zip(got, expected)), (list(got)[:4], expected[:4])


def check_regression(library):
    n, p, q = 37, 11, 5
    x, y, w = numbers(n * p, 1), numbers(n, 2), numbers(p, 3)
    gram, moment = numbers(p * p, 0), numbers(p, 0)
    call(library, "normal", (n, p), x, y, array.array("d", [0.5]), gram, moment)
    close(gram, [sum(x[i * p + a] * x[i * p + b] for i in range(n)) + 0.5 * (a == b) for a in range(p) for b in range(p)])
    close(moment, [sum(x[i * p + a] * y[i] for i in range(n)) for a in range(p)])

    rest, square = numbers(n, 0), numbers(1, 0)
    call(library, "residual", (n, p), x, w, y, rest, square)
    expected = [y[i] - sum(x[i * p + a] * w[a] for a in range(p)) for i in range(n)]
    close(rest, expected)
    close(square, [sum(e * e for e in expected)])

    weights, bias, out = numbers(p * q, 4), numbers(q, 5), numbers(n * q, 0)
    call(library, "layer", (n, p, q), x, weights, bias, array.array("d", [1.0] * n), out)
    sums = [sum(x[i * p + a] * weights[a * q + b] for a in range(p)) + bias[b] for i in range(n) for b in range(q)]
    close(out, [max(s, 0) / (1 + math.exp(-s)) for s in sums])


MISTAKES = [
    ("function f(A[m, n]) -> B[m, m]\n  B = A * A\nend\n", ":2: error: the product of a [m, n] and a [m, n] matrix"),
    ("function f(A[m, n]) -> B[m, n]\n  B = A + A'\nend\n", ":2: error: add of a [m, n] and a [n, m] matrix"),
    ("function f(A[m, n]) -> B[m, n]\n  B = C\nend\n", ":2: error: `C` has no value yet"),
    ("function f(A[m, n]) -> B[m, n]\n  A = A\nend\n", ":2: error: `A` is a parameter"),
    ("function f(A[m, n]) -> B[m, n]\n  B = A\n", ":3: error: `f` has no `end`"),
    ("function f(A[m, n]) -> B[m, n]\n  B = B + A\nend\n", "uninitialised-read"),
    ("function exp(A[m, n]) -> B[m, n]\n  B = A\nend\n", "is a function of the C library"),
]


def main():
    with tempfile.TemporaryDirectory() as folder:
        built = os.path.join(folder, "regression.so")
        run = subprocess.run([lac, os.path.join(here, "regression.la"), "-o", built], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        assert run.stdout.count("proved") == 3, run.stdout
        assert "int32_t normal(" in open(built + ".h").read()
        check_regression(ctypes.CDLL(built))
        for text, message in MISTAKES:
            source = os.path.join(folder, "wrong.la")
            with open(source, "w") as file:
                file.write(text)
            run = subprocess.run([lac, source, "-o", os.path.join(folder, "wrong.so")], capture_output=True, text=True)
            assert run.returncode == 1 and message in run.stderr, (message, run.stderr)
    print("ok")


main()
