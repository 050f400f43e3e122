"""Every kernel of benchmarks/kernels against an independent formula in NumPy, at several sizes and with two threads.

kernels_test.py TOOL KERNEL_FOLDER [NAME...]
"""

import itertools
import math
import pathlib
import sys

import numpy

from compiled_kernel import CompiledKernel

F32, F64, I32, I8 = numpy.float32, numpy.float64, numpy.int32, numpy.int8
random = numpy.random.default_rng(20)


def floats(*shape, kind=F32):
    return random.uniform(-1, 1, shape).astype(kind)


def double(*arrays):
    return [array.astype(F64) for array in arrays]


def to_bf16(array):
    """Nearest even, as bits."""
    bits = array.astype(F32).view(numpy.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16)


def from_bf16(bits):
    return (bits.astype(numpy.uint32) << 16).view(F32)


# name -> (sizes to try, function(sizes) -> (arguments, {output: expected}, relative tolerance))
KERNELS = {}


def kernel(**sizes):
    """Registers a check: every combination of the listed sizes."""
    def register(check):
        vectors = [dict(zip(sizes, values)) for values in itertools.product(*sizes.values())]
        KERNELS[check.__name__] = (vectors, check)
        return check
    return register


@kernel(M=[1, 33], N=[7, 64], K=[0, 1, 50])
def gemm(M, N, K):
    A, B = floats(M, K), floats(K, N)
    return dict(A=A, B=B, C=numpy.empty((M, N), F32)), dict(C=A.astype(F64) @ B.astype(F64)), 1e-5


@kernel(M=[1, 33], N=[7, 64], K=[1, 50])
def gemm_bf16(M, N, K):
    A, B = to_bf16(floats(M, K)), to_bf16(floats(K, N))
    return dict(A=A, B=B, C=numpy.empty((M, N), numpy.uint16)), dict(C=from_bf16(A).astype(F64) @ from_bf16(B).astype(F64)), 1e-2


@kernel(N=[1, 2], H=[1, 5], W=[9], C=[1, 6], F=[3, 32])
def conv2d(N, H, W, C, F):
    I, K = floats(N, 2 * H + 1, 2 * W + 1, C), floats(3, 3, C, F)
    windows = numpy.lib.stride_tricks.sliding_window_view(I.astype(F64), (3, 3), axis=(1, 2))[:, ::2, ::2]
    return dict(I=I, W3=K, O=numpy.empty((N, H, W, F), F32)), dict(O=numpy.einsum("nhwcrs,rscf->nhwf", windows, K.astype(F64))), 1e-5


@kernel(N=[2], H=[1, 4], W=[7, 18], C=[1, 33])
def depthwise_conv2d(N, H, W, C):
    I, F = floats(N, H + 2, W + 2, C), floats(3, 3, C)
    windows = numpy.lib.stride_tricks.sliding_window_view(I.astype(F64), (3, 3), axis=(1, 2))
    return dict(I=I, F=F, O=numpy.empty((N, H, W, C), F32)), dict(O=numpy.einsum("nhwcrs,rsc->nhwc", windows, F.astype(F64))), 1e-5


@kernel(N=[1], H=[1, 4], W=[9], C=[3], F=[1, 33])
def dilated_conv2d(N, H, W, C, F):
    I, K = floats(N, H + 4, W + 4, C), floats(3, 3, C, F)
    windows = numpy.lib.stride_tricks.sliding_window_view(I.astype(F64), (5, 5), axis=(1, 2))[..., ::2, ::2]
    return dict(I=I, K=K, O=numpy.empty((N, H, W, F), F32)), dict(O=numpy.einsum("nhwcrs,rscf->nhwf", windows, K.astype(F64))), 1e-5


@kernel(R=[1, 5], N=[1, 33, 100])
def softmax(R, N):
    X = floats(R, N) * 8
    e = numpy.exp(X.astype(F64) - X.max(1, keepdims=True))
    return dict(X=X, Y=numpy.empty((R, N), F32)), dict(Y=e / e.sum(1, keepdims=True)), 1e-5


@kernel(N=[3, 20, 67], T=[0, 1, 5])
def jacobi_2d(N, T):
    A = floats(N, N)
    a = A.astype(F64)
    for _ in range(T):
        a[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
    return dict(A=A), dict(A=a), 1e-5


@kernel(M=[1, 40, 65], N=[3, 64])
def transpose(M, N):
    A = floats(M, N)
    return dict(A=A, B=numpy.empty((N, M), F32)), dict(B=A.T.astype(F64)), 0


@kernel(B=[1, 3], M=[1, 20], N=[33], K=[16, 17])
def batched_gemm_bias_gelu(B, M, N, K):
    A, W, bias = floats(B, M, K), floats(B, K, N), floats(B, N)
    y = A.astype(F64) @ W.astype(F64) + bias[:, None, :]
    return (dict(A=A, W=W, bias=bias, C=numpy.empty((B, M, N), F32)),
            dict(C=y * 0.5 * (1 + numpy.vectorize(math.erf)(y / math.sqrt(2)))), 1e-5)


@kernel(R=[1, 6], N=[1, 17, 256])
def layernorm(R, N):
    X, gamma, beta = floats(R, N), floats(N), floats(N)
    x = X.astype(F64)
    expected = (x - x.mean(1, keepdims=True)) / numpy.sqrt(x.var(1, keepdims=True) + 1e-2) * gamma + beta
    return dict(X=X, gamma=gamma, beta=beta, epsilon=1e-2, Y=numpy.empty((R, N), F32)), dict(Y=expected), 2e-5


@kernel(R=[1, 6], N=[1, 17, 256])
def rmsnorm(R, N):
    X, gamma = floats(R, N), floats(N)
    x = X.astype(F64)
    expected = x / numpy.sqrt((x * x).mean(1, keepdims=True) + 1e-3) * gamma
    return dict(X=X, gamma=gamma, epsilon=1e-3, Y=numpy.empty((R, N), F32)), dict(Y=expected), 1e-5


@kernel(M=[0, 1, 40], N=[1, 33])
def row_column_sums(M, N):
    A = floats(M, N)
    return (dict(A=A, rows=numpy.empty(M, F32), columns=numpy.empty(N, F32)),
            dict(rows=A.astype(F64).sum(1), columns=A.astype(F64).sum(0)), 1e-5)


@kernel(R=[1, 4], N=[1, 2, 100])
def cumsum(R, N):
    X = floats(R, N)
    return dict(X=X, Y=numpy.empty((R, N), F32)), dict(Y=numpy.cumsum(X.astype(F64), 1)), 1e-5


@kernel(H=[1, 2], S=[1, 9, 40], D=[8, 33])
def causal_attention(H, S, D):
    Q, K, V = floats(H, S, D), floats(H, S, D), floats(H, S, D)
    scores = 0.3 * numpy.einsum("hid,hjd->hij", *double(Q, K))
    scores[:, ~numpy.tril(numpy.ones((S, S), bool))] = -numpy.inf
    weights = numpy.exp(scores - scores.max(2, keepdims=True))
    expected = weights @ V.astype(F64) / weights.sum(2, keepdims=True)
    return dict(Q=Q, K=K, V=V, scale=0.3, O=numpy.empty((H, S, D), F32)), dict(O=expected), 2e-5


@kernel(N=[1, 2, 30, 65])
def cholesky(N):
    half = floats(N, N, kind=F64)
    A = half @ half.T + N * numpy.eye(N)
    expected = numpy.linalg.cholesky(A) + numpy.triu(A, 1)
    return dict(A=A.copy()), dict(A=expected), 1e-12


@kernel(N=[0, 1, 2, 40], R=[0, 1, 9])
def cholesky_solve(N, R):
    L, B = numpy.tril(floats(N, N, kind=F64)) + N * numpy.eye(N), floats(N, R, kind=F64)
    return dict(L=L, X=B.copy()), dict(X=numpy.linalg.solve(L @ L.T, B)), 1e-12


@kernel(N=[0, 1, 2, 33])
def floyd_warshall(N):
    D = random.uniform(0, 100, (N, N)).astype(F32)
    expected = D.copy()
    for k in range(N):
        expected = numpy.minimum(expected, expected[:, k:k + 1] + expected[k:k + 1, :])
    return dict(D=D), dict(D=expected), 0


@kernel(N=[3, 20], T=[0, 1, 4])
def seidel_2d(N, T):
    A = floats(N, N, kind=F64)
    expected = A.copy()
    for _ in range(T):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                expected[i, j] = expected[i - 1:i + 2, j - 1:j + 2].sum() / 9
    return dict(A=A), dict(A=expected), 1e-13


@kernel(T=[0, 1, 20], V=[1, 50], D=[1, 33])
def embedding(T, V, D):
    token, table = random.integers(0, V, T).astype(I32), floats(V, D)
    return dict(token=token, table=table, Y=numpy.empty((T, D), F32)), dict(Y=table[token].astype(F64)), 0


@kernel(N=[0, 1, 1000], B=[1, 40])
def histogram(N, B):
    key, count = random.integers(0, B, N).astype(I32), random.integers(0, 9, B).astype(I32)
    return dict(key=key, count=count), dict(count=count + numpy.bincount(key, minlength=B)), 0


@kernel(H=[1, 4], D=[32, 17], P=[1, 9], B=[0, 3, 12])
def paged_scores(H, D, P, B):
    Q, K, page = floats(H, D), floats(P, 16, D), random.integers(0, P, B).astype(I32)
    expected = 0.5 * numpy.einsum("hd,bjd->hbj", Q.astype(F64), K[page].astype(F64))
    return dict(Q=Q, K=K, page=page, scale=0.5, S=numpy.empty((H, B, 16), F32)), dict(S=expected), 1e-5


@kernel(T=[0, 1, 40], K=[1, 20], N=[33], G=[1, 5])
def ragged_grouped_gemm(T, K, N, G):
    X, W = floats(T, K), floats(G, K, N)
    start = numpy.concatenate([[0], numpy.sort(random.integers(0, T + 1, G - 1)), [T]]).astype(I32)
    expected = numpy.zeros((T, N))
    for g in range(G):
        rows = slice(start[g], start[g + 1])
        expected[rows] = X[rows].astype(F64) @ W[g].astype(F64)
    return dict(X=X, W=W, start=start, Y=numpy.empty((T, N), F32)), dict(Y=expected), 1e-5


@kernel(NC=[1, 3], L=[1, 16], P=[5, 32], S=[1, 8])
def mamba2_chunk_scan(NC, L, P, S):
    CB, X, C, before = floats(NC, L, L), floats(NC, L, P), floats(NC, L, S), floats(NC, P, S)
    dt = random.uniform(0, 1, (NC, L)).astype(F32)
    decay = numpy.cumsum(-random.uniform(0, 0.5, (NC, L)), 1).astype(F32)
    cb, x, c, b, t, d = double(CB, X, C, before, dt, decay)
    weights = numpy.tril(cb * numpy.exp(numpy.minimum(d[:, :, None] - d[:, None, :], 0)) * t[:, None, :])
    expected = weights @ x + numpy.exp(d)[..., None] * numpy.einsum("ctn,cpn->ctp", c, b) + 0.25 * x
    return (dict(CB=CB, X=X, dt=dt, decay=decay, C=C, before=before, skip=0.25, Y=numpy.empty((NC, L, P), F32)), dict(Y=expected), 2e-5)


@kernel(M=[1, 33], N=[7, 64], K=[0, 1, 200])
def gemm_int8(M, N, K):
    A, B = (random.integers(-128, 128, shape).astype(I8) for shape in ((M, K), (K, N)))
    return dict(A=A, B=B, C=numpy.empty((M, N), I32)), dict(C=A.astype(I32) @ B.astype(I32)), 0


def pack(values):
    """Two 4-bit values a byte along the last axis, the even one in the low bits; the last byte of an odd row is half empty."""
    low = values.astype(numpy.uint8) & 15
    low = numpy.concatenate([low, numpy.zeros(low.shape[:-1] + (low.shape[-1] % 2,), numpy.uint8)], -1)
    return numpy.ascontiguousarray(low[..., ::2] | low[..., 1::2] << 4)


@kernel(M=[1, 33], N=[7, 64], K=[0, 1, 31, 100])
def gemm_int4(M, N, K):
    groups = (K + 31) // 32
    A, S = floats(M, K), floats(N, groups)
    W, Z = random.integers(0, 16, (N, K)), random.integers(0, 16, (N, groups))
    group = numpy.arange(K) // 32
    weights = (W.astype(F64) - Z[:, group]) * S.astype(F64)[:, group]
    return (dict(A=A, W=pack(W), Z=pack(Z), S=S, C=numpy.empty((M, N), F32)), dict(C=A.astype(F64) @ weights.T), 1e-4)


@kernel(N=[1, 2, 30])
def nussinov(N):
    base = random.integers(0, 4, N).astype(I32)
    score = numpy.zeros((N, N), I32)
    for length in range(2, N + 1):  # by length of the strand, not by its start
        for i in range(N - length + 1):
            j = i + length - 1
            best = max(score[i + 1, j], score[i, j - 1], (score[i + 1, j - 1] if j > i + 1 else 0) + int(base[i] + base[j] == 3))
            score[i, j] = max([best] + [score[i, k] + score[k + 1, j] for k in range(i, j)])
    return dict(base=base, score=numpy.empty((N, N), I32)), dict(score=score), 0


@kernel(R=[1, 7], N=[0, 1, 100])
def argmax_rows(R, N):
    X = random.integers(-5, 6, (R, N)).astype(F32)  # many ties
    expected = numpy.argmax(X, 1) if N > 0 else numpy.full(R, -1)
    return dict(X=X, I=numpy.empty(R, I32)), dict(I=expected), 0


@kernel(R=[1, 5], N=[8, 100], K=[0, 1, 8])
def top_k(R, N, K):
    X = random.integers(-5, 6, (R, N)).astype(F32)
    X[0, N // 2] = numpy.nan
    order = numpy.argsort(numpy.where(numpy.isnan(X), -numpy.inf, -X), axis=1, kind="stable")[:, :K]
    return (dict(X=X, V=numpy.empty((R, K), F32), I=numpy.empty((R, K), I32)),
            dict(V=numpy.take_along_axis(X, order, 1), I=order), 0)


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
