"""Products, convolutions, what is done element by element or row by row."""

import math

import numpy

from formulas import F32, F64, I8, I32, double, floats, from_bf16, kernel, random, to_bf16


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


@kernel(H=[1, 2], S=[1, 9, 40], D=[8, 33])
def causal_attention(H, S, D):
    Q, K, V = floats(H, S, D), floats(H, S, D), floats(H, S, D)
    scores = 0.3 * numpy.einsum("hid,hjd->hij", *double(Q, K))
    scores[:, ~numpy.tril(numpy.ones((S, S), bool))] = -numpy.inf
    weights = numpy.exp(scores - scores.max(2, keepdims=True))
    expected = weights @ V.astype(F64) / weights.sum(2, keepdims=True)
    return dict(Q=Q, K=K, V=V, scale=0.3, O=numpy.empty((H, S, D), F32)), dict(O=expected), 2e-5


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


@kernel(M=[1, 33], N=[7, 64], K=[0, 1, 50])
def gemm_tn(M, N, K):
    A, B = floats(K, M), floats(K, N)
    return dict(A=A, B=B, C=numpy.empty((M, N), F32)), dict(C=A.T.astype(F64) @ B.astype(F64)), 1e-5


@kernel(M=[1, 33], N=[7, 64], K=[0, 1, 50])
def gemm_nt(M, N, K):
    A, B = floats(M, K), floats(N, K)
    return dict(A=A, B=B, C=numpy.empty((M, N), F32)), dict(C=A.astype(F64) @ B.T.astype(F64)), 1e-5


@kernel(M=[1, 33], N=[7, 64], K=[0, 1, 50])
def gemm_tt(M, N, K):
    A, B = floats(K, M), floats(N, K)
    return dict(A=A, B=B, C=numpy.empty((M, N), F32)), dict(C=(B.astype(F64) @ A.astype(F64)).T), 1e-5


@kernel(N=[0, 1, 40], K=[0, 1, 33])
def syrk(N, K):
    A, C = floats(N, K), floats(N, N)
    full = 0.5 * A.astype(F64) @ A.T.astype(F64) - 2 * C.astype(F64)
    return dict(A=A, C=C, alpha=0.5, beta=-2.0), dict(C=numpy.where(numpy.tri(N, dtype=bool), full, C)), 1e-5


@kernel(M=[1, 2, 40], N=[1, 33])
def trmm(M, N):
    L, B = floats(M, M), floats(M, N)
    return dict(L=L, B=B, alpha=0.5, C=numpy.empty((M, N), F32)), dict(C=0.5 * numpy.tril(L).astype(F64) @ B.astype(F64)), 1e-5


@kernel(N=[1, 2], T=[1, 20], C=[1, 6], F=[3, 32])
def conv1d(N, T, C, F):
    X, K = floats(N, T + 4, C), floats(5, C, F)
    windows = numpy.lib.stride_tricks.sliding_window_view(X.astype(F64), 5, axis=1)
    return dict(X=X, K=K, Y=numpy.empty((N, T, F), F32)), dict(Y=numpy.einsum("ntcr,rcf->ntf", windows, K.astype(F64))), 1e-5


@kernel(N=[1, 2], D=[1, 3], H=[4], W=[9], C=[3], F=[1, 32])
def conv3d(N, D, H, W, C, F):
    X, K = floats(N, D + 2, H + 2, W + 2, C), floats(3, 3, 3, C, F)
    windows = numpy.lib.stride_tricks.sliding_window_view(X.astype(F64), (3, 3, 3), axis=(1, 2, 3))
    return (dict(X=X, K=K, Y=numpy.empty((N, D, H, W, F), F32)), dict(Y=numpy.einsum("ndhwcqrs,qrscf->ndhwf", windows, K.astype(F64))), 1e-5)


@kernel(N=[1, 2], H=[1, 5], W=[9, 33], C=[1, 6], F=[3])
def conv2d_nchw(N, H, W, C, F):
    X, K = floats(N, C, H + 2, W + 2), floats(F, C, 3, 3)
    windows = numpy.lib.stride_tricks.sliding_window_view(X.astype(F64), (3, 3), axis=(2, 3))
    return dict(X=X, K=K, Y=numpy.empty((N, F, H, W), F32)), dict(Y=numpy.einsum("nchwrs,fcrs->nfhw", windows, K.astype(F64))), 1e-5


@kernel(N=[2], H=[1, 4], W=[7, 18], C=[1, 33])
def max_pool2d(N, H, W, C):
    X = floats(N, 2 * H + 1, 2 * W + 1, C)
    windows = numpy.lib.stride_tricks.sliding_window_view(X, (3, 3), axis=(1, 2))[:, ::2, ::2]
    return dict(X=X, Y=numpy.empty((N, H, W, C), F32)), dict(Y=windows.max((4, 5))), 0


@kernel(N=[0, 1, 1000])
def gelu(N):
    X = floats(N) * 6
    x = X.astype(F64)
    # tanh(u) = 2 / (1 + exp(-2 u)) - 1
    return dict(X=X, Y=numpy.empty(N, F32)), dict(Y=x / (1 + numpy.exp(-2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))), 1e-5


@kernel(N=[0, 1, 1000])
def silu(N):
    X = floats(N) * 6
    x = X.astype(F64)
    return dict(X=X, Y=numpy.empty(N, F32)), dict(Y=x * 0.5 * (1 + numpy.tanh(x / 2))), 1e-5


@kernel(S=[1, 9], H=[1, 3], D=[1, 4, 33])
def rope(S, H, D):
    X = floats(S, H, 2 * D)
    angle = numpy.arange(S)[:, None] * 10000.0 ** (-numpy.arange(D) / D)
    turned = (X[..., :D] + 1j * X[..., D:].astype(F64)) * numpy.exp(1j * angle)[:, None, :]
    return (dict(X=X, cosine=numpy.cos(angle).astype(F32), sine=numpy.sin(angle).astype(F32), Y=numpy.empty((S, H, 2 * D), F32)),
            dict(Y=numpy.concatenate([turned.real, turned.imag], 2)), 1e-5)


@kernel(R=[0, 1, 7], V=[1, 33, 200])
def cross_entropy(R, V):
    X, label = floats(R, V) * 8, random.integers(0, V, R).astype(I32)
    e = numpy.exp(X.astype(F64))
    return dict(X=X, label=label, loss=numpy.empty(R, F32)), dict(loss=-numpy.log(e[numpy.arange(R), label] / e.sum(1))), 2e-5


@kernel(I=[1, 9], J=[1, 7], K=[5], R=[1, 20])
def mttkrp(I, J, K, R):
    X, B, C = floats(I, J, K), floats(J, R), floats(K, R)
    unfolded, b, c = X.reshape(I, J * K).astype(F64), *double(B, C)
    return dict(X=X, B=B, C=C, Y=numpy.empty((I, R), F32)), dict(Y=unfolded @ (b[:, None, :] * c[None, :, :]).reshape(J * K, R)), 1e-5


@kernel(A=[1, 4], B=[2], C=[1, 3], D=[2], E=[3], F=[1, 5], G=[1, 17])
def contraction_7(A, B, C, D, E, F, G):
    X, Y = floats(G, D, A, B), floats(E, F, G, C)
    left, right = X.reshape(G, D * A * B).T.astype(F64), Y.transpose(2, 0, 1, 3).reshape(G, E * F * C).astype(F64)
    expected = (left @ right).reshape(D, A, B, E, F, C).transpose(1, 2, 5, 0, 3, 4)
    return dict(X=X, Y=Y, Z=numpy.empty((A, B, C, D, E, F), F32)), dict(Z=expected), 1e-5


@kernel(R=[1, 6, 64], C=[1, 33])
def batch_norm(R, C):
    X, gamma, beta = floats(R, C), floats(C), floats(C)
    x = X.astype(F64)
    expected = (x - x.mean(0)) / numpy.sqrt(x.var(0) + 1e-2) * gamma + beta
    return dict(X=X, gamma=gamma, beta=beta, epsilon=1e-2, Y=numpy.empty((R, C), F32)), dict(Y=expected), 2e-5
