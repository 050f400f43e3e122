"""Stencils, factorisations, recurrences, whole reductions, and what indices from memory decide."""

import math

import numpy

from formulas import F32, F64, I32, double, floats, kernel, random


@kernel(N=[3, 20, 67], T=[0, 1, 5])
def jacobi_2d(N, T):
    A = floats(N, N)
    a = A.astype(F64)
    for _ in range(T):
        a[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
    return dict(A=A), dict(A=a), 1e-5


@kernel(M=[0, 1, 40], N=[1, 33])
def row_column_sums(M, N):
    A = floats(M, N)
    return (dict(A=A, rows=numpy.empty(M, F32), columns=numpy.empty(N, F32)),
            dict(rows=A.astype(F64).sum(1), columns=A.astype(F64).sum(0)), 1e-5)


@kernel(R=[1, 4], N=[1, 2, 100])
def cumsum(R, N):
    X = floats(R, N)
    return dict(X=X, Y=numpy.empty((R, N), F32)), dict(Y=numpy.cumsum(X.astype(F64), 1)), 1e-5


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


@kernel(M=[0, 1, 40], N=[1, 33])
def full_reductions(M, N):
    X = floats(M, N)
    greatest = X.max() if X.size > 0 else -numpy.inf
    return (dict(X=X, total=numpy.empty((), F32), greatest=numpy.empty((), F32), length=numpy.empty((), F32)),
            dict(total=X.astype(F64).sum(), greatest=greatest, length=numpy.linalg.norm(X.astype(F64))), 1e-4)


@kernel(B=[1, 4], S=[1, 2, 64])
def fft_stage(B, S):
    re, im = floats(B, 2, S), floats(B, 2, S)
    # Each half as the transform of one half of a signal: the stage gives the transform of the whole.
    halves = numpy.fft.ifft(re.astype(F64) + 1j * im, axis=2)
    signal = numpy.empty((B, 2 * S), complex)
    signal[:, ::2], signal[:, 1::2] = halves[:, 0], halves[:, 1]
    whole = numpy.fft.fft(signal, axis=1).reshape(B, 2, S)
    turn = numpy.exp(-1j * math.pi * numpy.arange(S) / S)
    return (dict(re=re, im=im, wr=turn.real.astype(F32), wi=turn.imag.astype(F32), out_re=numpy.empty((B, 2, S), F32), out_im=numpy.empty((B, 2, S), F32)),
            dict(out_re=whole.real, out_im=whole.imag), 1e-5)


@kernel(N=[3, 12, 20], T=[0, 1, 4])
def heat_3d(N, T):
    A = floats(N, N, N)
    a = A.astype(F64)
    for _ in range(T):
        inner = a[1:-1, 1:-1, 1:-1]
        laplace = sum(numpy.diff(a, 2, axis)[tuple(slice(None) if d == axis else slice(1, -1) for d in range(3))] for axis in range(3))
        a[1:-1, 1:-1, 1:-1] = inner + laplace / 8
    return dict(A=A), dict(A=a), 1e-5


@kernel(M=[1, 2, 20], N=[1, 17], T=[0, 1, 4])
def fdtd_2d(M, N, T):
    ex, ey, hz, pulse = floats(M, N), floats(M, N), floats(M, N), floats(T)
    x, y, z = double(ex, ey, hz)
    for t in range(T):
        y[0] = pulse[t]
        y[1:] -= 0.5 * numpy.diff(z, axis=0)
        x[:, 1:] -= 0.5 * numpy.diff(z, axis=1)
        z[:-1, :-1] -= 0.7 * (numpy.diff(x, axis=1)[:-1] + numpy.diff(y, axis=0)[:, :-1])
    return dict(ex=ex, ey=ey, hz=hz, pulse=pulse), dict(ex=x, ey=y, hz=z), 1e-5


@kernel(T=[0, 1, 9], E=[2, 3, 64])
def moe_route(T, E):
    score = random.integers(-9, 10, (T, E)).astype(F32)  # ties
    order = numpy.argsort(-score, axis=1, kind="stable")[:, :2]
    e = numpy.exp(numpy.take_along_axis(score, order, 1).astype(F64))
    return (dict(score=score, expert=numpy.empty((T, 2), I32), weight=numpy.empty((T, 2), F32)),
            dict(expert=order, weight=e / e.sum(1, keepdims=True)), 1e-5)


@kernel(P=[1, 30], D=[1, 33], T=[0, 1, 12])
def moe_combine(P, D, T):
    X, row, weight = floats(P, D), random.integers(0, P, (T, 2)).astype(I32), floats(T, 2)
    dense = numpy.zeros((T, P))
    for k in range(2):
        numpy.add.at(dense, (numpy.arange(T), row[:, k]), weight[:, k])
    return dict(X=X, row=row, weight=weight, Y=numpy.empty((T, D), F32)), dict(Y=dense @ X.astype(F64)), 1e-5


@kernel(P=[0, 1, 7], R=[1, 3], C=[1, 4], N=[1, 20])
def block_sparse_matmul(P, R, C, N):
    V, X, column = floats(P, 16, 16), floats(C, 16, N), random.integers(0, C, P).astype(I32)
    start = numpy.concatenate([[0], numpy.sort(random.integers(0, P + 1, R - 1)), [P]]).astype(I32)
    dense = numpy.zeros((R, 16, C, 16))
    for r in range(R):
        for p in range(start[r], start[r + 1]):
            dense[r, :, column[p], :] += V[p]
    expected = (dense.reshape(R * 16, C * 16) @ X.reshape(C * 16, N).astype(F64)).reshape(R, 16, N)
    return dict(V=V, column=column, start=start, X=X, Y=numpy.empty((R, 16, N), F32)), dict(Y=expected), 1e-5


@kernel(M=[0, 1, 20], N=[0, 1, 33])
def levenshtein(M, N):
    a, b = random.integers(0, 4, M).astype(I32), random.integers(0, 4, N).astype(I32)
    D = numpy.add.outer(numpy.arange(M + 1), numpy.arange(N + 1))
    for i in range(1, M + 1):  # a row at a time: what comes from the left is a running minimum of D[i, j] - j
        above = numpy.minimum(D[i - 1, 1:] + 1, D[i - 1, :-1] + (a[i - 1] != b))
        D[i] = numpy.minimum.accumulate(numpy.concatenate([[i], above]) - numpy.arange(N + 1)) + numpy.arange(N + 1)
    return dict(a=a, b=b, D=numpy.empty((M + 1, N + 1), I32)), dict(D=D), 0


@kernel(N=[0, 1, 2, 30, 65])
def lu(N):
    L, U = numpy.tril(floats(N, N, kind=F64) / max(N, 1), -1) + numpy.eye(N), numpy.triu(floats(N, N, kind=F64)) + 2 * numpy.eye(N)
    return dict(A=L @ U), dict(A=numpy.tril(L, -1) + U), 1e-11


@kernel(M=[20, 33], N=[1, 2, 17])
def gram_schmidt(M, N):
    A, R = floats(M, N, kind=F64), floats(N, N, kind=F64)
    q, r = numpy.linalg.qr(A)
    sign = numpy.sign(numpy.diag(r))
    return dict(A=A.copy(), R=R.copy()), dict(A=q * sign, R=numpy.where(numpy.tri(N, k=-1, dtype=bool), R, r * sign[:, None])), 1e-11


@kernel(T=[0, 1, 30], D=[1, 33], V=[1, 12])
def scatter_add_rows(T, D, V):
    index, X, Y = random.integers(0, V, T).astype(I32), floats(T, D), floats(V, D)
    chosen = (index[None, :] == numpy.arange(V)[:, None]).astype(F64)
    return dict(index=index, X=X, Y=Y.copy()), dict(Y=Y + chosen @ X.astype(F64)), 1e-5
