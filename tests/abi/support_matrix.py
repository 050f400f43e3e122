"""The support matrix of docs/c-api.md is what the library says: every form of program on every backend, compiled and proved.

    support_matrix.py CLIENT_FOLDER REPOSITORY          compares
    support_matrix.py CLIENT_FOLDER REPOSITORY --print  prints the table to paste
"""
import json
import os
import sys
import time

sys.path.insert(0, sys.argv[1])
import tileopt  # noqa: E402

CONVOLUTION = """@numerics(contract=True, flush_subnormals=True)
def conv(I: f16[N, H + 2, W + 2, 128], K: f16[3, 3, 128, 256], O: out[f16[N, H, W, 256]]):
    for n, h, w, f in grid(N, H, W, 256):
        acc: f32 = sum(f32(I[n, h + r, w + s, c]) * f32(K[r, s, c, f]) for r, s, c in grid(3, 3, 128))
        O[n, h, w, f] = f16(acc)
"""
MACHINES = [("OpenMP C", "x86-64-v3"), ("plain C", "c11"), ("CUDA", "h100"), ("HIP", "mi300x")]
# What a form is, and the kernel of benchmarks/kernels (or a text) that stands for it.
FORMS = [
    ("elementwise, transposed", "transpose"),
    ("reductions, rows of several passes", "softmax"),
    ("matrix products", "gemm"),
    ("bf16 products, f32 sums", "gemm_bf16"),
    ("int8 products", "gemm_int8"),
    ("packed 4-bit operands", "gemm_int4"),
    ("bf16 products with bias and gelu",
     "@numerics(contract=True, flush_subnormals=True)\n"
     "def layer(A: bf16[M, K], W: bf16[N, K], b: bf16[N], C: out[bf16[M, N]]):\n    for i, j in grid(M, N):\n"
     "        acc: f32 = sum(f32(A[i, k]) * f32(W[j, k]) for k in range(K))\n        x: f32 = acc + f32(b[j])\n"
     "        C[i, j] = bf16(f32(0.5) * x * (f32(1.0) + tanh(f32(0.7978845608) * (x + f32(0.044715) * x * x * x))))\n"),
    ("f16 convolutions, channels last", CONVOLUTION),
    ("windows", "conv2d"),
    ("triangular domains",
     "@numerics(contract=True)\n"
     "def trmm(L: f32[M, M], B: f32[M, N], C: out[f32[M, N]]):\n    for i, j in grid(M, N):\n        C[i, j] = sum(L[i, k] * B[k, j] for k in range(i + 1))\n"),
    ("argmax", "argmax_rows"),
    ("top-k", "top_k"),
    ("prefix sums (`scan`)", "cumsum"),
    ("time loops", "jacobi_2d"),
    ("loops that all carry a dependence", "seidel_2d"),
    ("factorisations", "cholesky"),
    ("subscripts from memory", "embedding"),
    ("bounds from memory", "ragged_grouped_gemm"),
    ("scatter with collisions", "histogram"),
    ("user-defined monoids on tuples",
     "@monoid(identity=(0.0, -inf), commutative=True)\n"
     "def both(a: tuple[f64, f64], b: tuple[f64, f64]) -> tuple[f64, f64]:\n    return (a[0] + b[0], max(a[1], b[1]))\n\n\n"
     "def stats(X: f64[N], S: out[f64[2]]):\n    s: tuple[f64, f64] = both((X[i], abs(X[i])) for i in range(N))\n    S[0] = s[0]\n    S[1] = s[1]\n"),
    ("conditions on data",
     "def relu(X: f32[M, N], Y: inout[f32[M, N]]):\n    for i, j in grid(M, N):\n        if X[i, j] > 0.0:\n            Y[i, j] = X[i, j]\n"),
]
# On Hopper, what threads run together, and how many versions of a kernel the sizes choose from: form, text.
HOPPER = ["bf16 products, f32 sums", "bf16 products with bias and gelu", "f16 convolutions, channels last", "matrix products", "reductions, rows of several passes"]
BUILT = [("built: loops", None), ("built: strides and order", "strides"), ("built: a skewed isl schedule", "{ S[i,j] -> [i + j, j] }")]


def built(session, variant):
    b = session.builder("built")
    b.parameters("N", "LD")
    b.context("{ : LD >= N }")
    if variant == "strides":
        b.tensor("A", "f32", "inout", ["N", "N"], order=[1, 0], strides=["1", "LD"])
    else:
        b.tensor("A", "f32", "inout", ["N", "N"])
    b.statement("{ S[i,j] : 1 <= i < N and 1 <= j < N }", "{ S[i,j] -> A[i,j] }", b.read("{ S[i,j] -> A[i-1,j-1] }") * 0.5)
    if variant and variant != "strides":
        b.schedule(variant)
    return b.program()


def answer(make, machine):
    """One cell."""
    try:
        module = make().compile(machine=machine)
    except tileopt.TileoptError as error:
        return "no: `" + error.code + "`"
    return "proved" if '"refuted"' not in module.text("certificate") else "refuted"


def text_of(source, repository):
    return source if "\n" in source else open(os.path.join(repository, "benchmarks", "kernels", source + ".tile")).read()


def hopper(session, repository):
    """A line a form of HOPPER: versions, and the instructions and engines by the names of the Plan's atoms."""
    forms = dict(FORMS)
    lines = ["| form, for an H100 | versions | atoms of the Plan |", "| --- | --- | --- |"]
    for form in HOPPER:
        module = session.parse(text_of(forms[form], repository)).compile(machine="h100")
        kernels = json.loads(module.text("plan"))["kernels"]
        versions = [kernel for kernel in kernels if kernel.get("when")]
        lines.append(f"| {form} | {len(versions) or 1} | {', '.join(sorted(atoms(kernels))) or 'none'} |")
    return "\n".join(lines) + "\n"


def atoms(plan):
    """Every value of a field `atom` in a Plan."""
    if isinstance(plan, list):
        return set().union(*(atoms(part) for part in plan)) if plan else set()
    if not isinstance(plan, dict):
        return set()
    here = {plan["atom"]} if isinstance(plan.get("atom"), str) and plan["atom"] else set()
    return here | atoms(list(plan.values()))


def table(repository):
    session = tileopt.Session()
    lines = ["| form | " + " | ".join(name for name, _ in MACHINES) + " |", "| --- |" + " --- |" * len(MACHINES)]
    for form, source in FORMS:
        text = text_of(source, repository)
        start = time.time()
        cells = [answer(lambda: session.parse(text), machine) for _, machine in MACHINES]
        print(f"{form}: {time.time() - start:.1f} s", file=sys.stderr)
        lines.append("| " + form + ("" if "\n" in source else f" (`{source}`)") + " | " + " | ".join(cells) + " |")
    for form, variant in BUILT:
        lines.append("| " + form + " | " + " | ".join(answer(lambda: built(session, variant), machine) for _, machine in MACHINES) + " |")
    return "\n".join(lines) + "\n\n" + hopper(session, repository)


def main():
    found = table(sys.argv[2])
    if "--print" in sys.argv:
        print(found, end="")
        return
    page = open(os.path.join(sys.argv[2], "docs", "c-api.md")).read()
    if found not in page:
        print("docs/c-api.md has another support matrix; this is the one of the library:\n" + found)
        sys.exit(1)


main()
