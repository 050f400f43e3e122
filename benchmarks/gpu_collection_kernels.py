"""The kernels of benchmarks/kernels at sizes for a GPU: data, what moves and is computed, and the same in torch.

Each function takes sizes and gives a Case. The decorator says the sizes for a GPU, smaller ones that replace some of them where the table itself is
tried on a CPU, the unit that bounds the arithmetic (PEAKS), and torch's formula: `torch=` is one operation, `composed=` several. `check=`: sizes at which
results are compared where the reference is a loop that is slow at those of the GPU."""
import math
from dataclasses import dataclass, field
from typing import Callable, Optional

import torch
import torch.nn.functional as F

# Operations a second of an H200 (SXM): f32 and f64 multiply-adds as two, matrix instructions as what cuBLAS reaches of 990 (16 bits) and twice that (8 bits),
# integers one a lane.
PEAKS = {"f32": 60e12, "f64": 30e12, "matrix 16": 800e12, "matrix 8": 1600e12, "i32": 15e12}
device = "cuda"


@dataclass
class Case:
    arguments: dict                      # by name: tensors and scalars; outputs are poisoned, inouts hold their start
    outputs: list                        # names, in the order of what `peer` and `wanted` give
    bytes: float                         # that have to move: every argument once; every step of a time loop its fields once
    flops: float                         # as the definition counts them
    peer: Optional[Callable] = None      # torch, as timed: a tuple
    wanted: Optional[Callable] = None    # what outputs are compared with, where that is not what the peer gives
    error: float = 1e-4                  # the most |have - wanted| / (|wanted| + root mean square of wanted)
    start: dict = field(default_factory=dict)  # inouts before every run


@dataclass
class Entry:
    name: str
    make: Callable
    sizes: dict
    small: dict
    check: dict
    peak: str
    formula: str
    composed: bool

    def small_sizes(self):
        return {**{name: min(value, 20) for name, value in self.sizes.items()}, **self.small}


KERNELS = {}


def kernel(peak="f32", torch="", composed="", small=None, check=None, **sizes):
    def register(make):
        KERNELS[make.__name__] = Entry(make.__name__, make, sizes, small or {}, check or {}, peak, torch or composed, bool(composed))
        return make
    return register


def floats(*shape, kind=torch.float32):
    return torch.randn(shape, device=device, dtype=kind)


def empty(*shape, kind=torch.float32):
    return torch.full(shape, -7 if kind == torch.int32 else math.nan, device=device, dtype=kind)


def integers(below, *shape, kind=torch.int32):
    return torch.randint(0, below, shape, device=device, dtype=kind)


def eye(n):
    return torch.eye(n, device=device, dtype=torch.float64)


def inout(outputs, start, others, **rest):
    """A case whose outputs are also inputs."""
    return Case({**others, **{name: value.clone() for name, value in start.items()}}, outputs, start=start, **rest)


# ---- Products.


def product(M, N, K, A, B, peer):
    return Case(dict(A=A, B=B, C=empty(M, N)), ["C"], 4 * (M * K + K * N + M * N), 2 * M * N * K, lambda: (peer(A, B),))


@kernel(torch="A @ B", M=4096, N=4096, K=4096)
def gemm(M, N, K):
    return product(M, N, K, floats(M, K), floats(K, N), lambda A, B: A @ B)


@kernel(torch="A @ B.t()", M=4096, N=4096, K=4096)
def gemm_nt(M, N, K):
    return product(M, N, K, floats(M, K), floats(N, K), lambda A, B: A @ B.t())


@kernel(torch="A.t() @ B", M=4096, N=4096, K=4096)
def gemm_tn(M, N, K):
    return product(M, N, K, floats(K, M), floats(K, N), lambda A, B: A.t() @ B)


@kernel(torch="A.t() @ B.t()", M=4096, N=4096, K=4096)
def gemm_tt(M, N, K):
    return product(M, N, K, floats(K, M), floats(N, K), lambda A, B: A.t() @ B.t())


@kernel("matrix 16", torch="A @ B", M=4096, N=4096, K=4096)
def gemm_bf16(M, N, K):
    A, B = floats(M, K, kind=torch.bfloat16), floats(K, N, kind=torch.bfloat16)
    return Case(dict(A=A, B=B, C=empty(M, N, kind=torch.bfloat16)), ["C"], 2 * (M * K + K * N + M * N), 2 * M * N * K, lambda: (A @ B,), error=2e-2)


@kernel("matrix 8", torch="torch._int_mm(A, B)", small=dict(M=32, N=32, K=40), M=4096, N=4096, K=4096)
def gemm_int8(M, N, K):
    A, B = (torch.randint(-128, 128, shape, device=device, dtype=torch.int8) for shape in ((M, K), (K, N)))
    return Case(dict(A=A, B=B, C=empty(M, N, kind=torch.int32)), ["C"], M * K + K * N + 4 * M * N, 2 * M * N * K, lambda: (torch._int_mm(A, B),),
                lambda: ((A.double() @ B.double()).to(torch.int32),), error=0)


def unpacked(bytes_, columns):
    return torch.stack([bytes_ & 15, bytes_ >> 4], -1).flatten(-2)[:, :columns]


@kernel(composed="A @ ((W - Z) * S).t()", small=dict(K=70), M=4096, N=4096, K=4096)
def gemm_int4(M, N, K):
    groups = (K + 31) // 32
    A, S = floats(M, K), floats(N, groups)
    W, Z = integers(256, N, (K + 1) // 2, kind=torch.uint8), integers(256, N, (groups + 1) // 2, kind=torch.uint8)
    group = torch.arange(K, device=device) // 32

    def peer():
        return (A @ ((unpacked(W, K).float() - unpacked(Z, groups).float()[:, group]) * S[:, group]).t(),)
    return Case(dict(A=A, W=W, Z=Z, S=S, C=empty(M, N)), ["C"], 4 * (M * K + M * N) + N * K / 2, 2 * M * N * K, peer)


@kernel(composed="F.gelu(torch.baddbmm(bias[:, None], A, W))", B=16, M=1024, N=1024, K=1024)
def batched_gemm_bias_gelu(B, M, N, K):
    A, W, bias = floats(B, M, K), floats(B, K, N), floats(B, N)
    return Case(dict(A=A, W=W, bias=bias, C=empty(B, M, N)), ["C"], 4 * B * (M * K + K * N + M * N), 2 * B * M * N * K,
                lambda: (F.gelu(torch.baddbmm(bias[:, None], A, W)),))


@kernel(composed="torch.addmm(C, A, A.t(), beta=beta, alpha=alpha), both triangles", N=4096, K=4096)
def syrk(N, K):
    A, C = floats(N, K), floats(N, N)

    def peer():
        return (torch.addmm(C, A, A.t(), beta=-2.0, alpha=0.5),)
    return inout(["C"], dict(C=C), dict(A=A, alpha=0.5, beta=-2.0), bytes=4 * (N * K + N * N), flops=N * N * K, peer=peer,
                 wanted=lambda: (peer()[0].tril() + C.triu(1),))


@kernel(composed="alpha * (L.tril() @ B)", M=4096, N=4096)
def trmm(M, N):
    L, B = floats(M, M), floats(M, N)
    return Case(dict(L=L, B=B, alpha=0.5, C=empty(M, N)), ["C"], 4 * (M * M / 2 + 2 * M * N), M * M * N, lambda: (0.5 * (L.tril() @ B),))


@kernel(torch='torch.einsum("gdab,efgc->abcdef", X, Y)', small=dict(A=5, B=3, C=2, D=4, E=6, F=5), A=24, B=24, C=24, D=24, E=24, F=24, G=64)
def contraction_7(A, B, C, D, E, F, G):
    X, Y = floats(G, D, A, B), floats(E, F, G, C)
    return Case(dict(X=X, Y=Y, Z=empty(A, B, C, D, E, F)), ["Z"], 4 * A * B * C * D * E * F, 2 * A * B * C * D * E * F * G,
                lambda: (torch.einsum("gdab,efgc->abcdef", X, Y),))


@kernel(torch='torch.einsum("ijk,jr,kr->ir", X, B, C)', I=512, J=512, K=512, R=32)
def mttkrp(I, J, K, R):
    X, B, C = floats(I, J, K), floats(J, R), floats(K, R)
    return Case(dict(X=X, B=B, C=C, Y=empty(I, R)), ["Y"], 4 * I * J * K, 2 * I * J * K * R, lambda: (torch.einsum("ijk,jr,kr->ir", X, B, C),), error=1e-3)


@kernel(composed="an mm for every group", T=1024, K=256, N=256, G=8)
def ragged_grouped_gemm(T, K, N, G):
    X, W = floats(T, K), floats(G, K, N)
    bounds = [0, *sorted(torch.randint(0, T + 1, (G - 1,)).tolist()), T]
    start = torch.tensor(bounds, device=device, dtype=torch.int32)

    def peer(result=empty(T, N)):
        for g in range(G):
            torch.mm(X[bounds[g]:bounds[g + 1]], W[g], out=result[bounds[g]:bounds[g + 1]])
        return (result,)
    return Case(dict(X=X, W=W, start=start, Y=empty(T, N)), ["Y"], 4 * (T * K + G * K * N + T * N), 2 * T * K * N, peer)


@kernel(torch="torch.sparse_bsr_tensor(start, column, V) @ X", small=dict(P=40, R=10, C=10), P=32768, R=1024, C=1024, N=1024)
def block_sparse_matmul(P, R, C, N):
    each = P // R
    V, X = floats(P, 16, 16), floats(C, 16, N)
    column = torch.rand(R, C, device=device).argsort(1)[:, :each].sort(1).values.flatten().to(torch.int32)
    start = torch.arange(0, P + 1, each, device=device, dtype=torch.int32)
    matrix = torch.sparse_bsr_tensor(start, column, V, size=(16 * R, 16 * C))

    def wanted():
        dense = torch.zeros(R, C, 16, 16, device=device)
        dense[torch.arange(P, device=device) // each, column.long()] = V
        return ((dense.transpose(1, 2).reshape(16 * R, 16 * C) @ X.reshape(16 * C, N)).reshape(R, 16, N),)
    return Case(dict(V=V, column=column, start=start, X=X, Y=empty(R, 16, N)), ["Y"], 4 * (256 * P + 16 * (C + R) * N), 512 * P * N,
                lambda: ((matrix @ X.reshape(16 * C, N)).reshape(R, 16, N),), wanted)


@kernel(composed='torch.einsum("hd,bjd->hbj", Q, K[page]) * scale', H=32, D=128, P=16384, B=16384)
def paged_scores(H, D, P, B):
    Q, K, page = floats(H, D), floats(P, 16, D), integers(P, B)
    return Case(dict(Q=Q, K=K, page=page, scale=0.5, S=empty(H, B, 16)), ["S"], 4 * (16 * D * min(P, B) + H * B * 16), 2 * H * B * 16 * D,
                lambda: (torch.einsum("hd,bjd->hbj", Q, K[page]) * 0.5,))


@kernel(torch="F.scaled_dot_product_attention(Q, K, V, is_causal=True, scale=scale)", H=16, S=2048, D=64)
def causal_attention(H, S, D):
    Q, K, V = floats(H, S, D), floats(H, S, D), floats(H, S, D)
    return Case(dict(Q=Q, K=K, V=V, scale=0.125, O=empty(H, S, D)), ["O"], 16 * H * S * D, 2 * H * S * S * D,
                lambda: (F.scaled_dot_product_attention(Q[None], K[None], V[None], is_causal=True, scale=0.125)[0],))


@kernel(composed="(CB * exp(decay_t - decay_s) * dt).tril() @ X + exp(decay) * (C @ before.mT) + skip * X", NC=1024, L=256, P=64, S=128)
def mamba2_chunk_scan(NC, L, P, S):
    CB, X, C, before = floats(NC, L, L), floats(NC, L, P), floats(NC, L, S), floats(NC, P, S)
    dt, decay = torch.rand(NC, L, device=device), -torch.rand(NC, L, device=device).cumsum(1) / 2

    def peer():
        past = (CB * torch.exp(decay[:, :, None] - decay[:, None, :]) * dt[:, None, :]).tril() @ X
        return (past + torch.exp(decay)[..., None] * (C @ before.mT) + 0.25 * X,)
    return Case(dict(CB=CB, X=X, dt=dt, decay=decay, C=C, before=before, skip=0.25, Y=empty(NC, L, P)), ["Y"],
                4 * NC * (L * L / 2 + 2 * L * P + L * S + P * S), NC * (2 * L * P * S + L * L * P), peer)


# ---- Convolutions: channels last are torch's memory format of that name.


def last(channels_first):
    return channels_first.permute(0, *range(2, channels_first.dim()), 1)


def first(channels_last):
    return channels_last.permute(0, -1, *range(1, channels_last.dim() - 1))


def filters(K):
    """[r.., C, F] as [F, C, r..], channels last too."""
    turned = K.permute(-1, -2, *range(K.dim() - 2))
    return turned.contiguous(memory_format=torch.channels_last if turned.dim() == 4 else torch.channels_last_3d)


@kernel(torch="F.conv1d(X, K)", N=32, T=4096, C=256, F=256)
def conv1d(N, T, C, F):
    X, K = floats(N, T + 4, C), floats(5, C, F)
    weights = filters(K[None])
    return Case(dict(X=X, K=K, Y=empty(N, T, F)), ["Y"], 4 * N * T * (C + F), 10 * N * T * C * F, lambda: (last(torch.nn.functional.conv2d(first(X[:, None]), weights))[:, 0],))


@kernel(torch="F.conv2d(I, W3, stride=2)", N=32, H=56, W=56, C=128, F=256)
def conv2d(N, H, W, C, F):
    I, K = floats(N, 2 * H + 1, 2 * W + 1, C), floats(3, 3, C, F)
    weights = filters(K)
    return Case(dict(I=I, W3=K, O=empty(N, H, W, F)), ["O"], 4 * N * H * W * (4 * C + F), 18 * N * H * W * C * F,
                lambda: (last(torch.nn.functional.conv2d(first(I), weights, stride=2)),))


@kernel(torch="F.conv2d(I, K, dilation=2)", N=32, H=56, W=56, C=128, F=128)
def dilated_conv2d(N, H, W, C, F):
    I, K = floats(N, H + 4, W + 4, C), floats(3, 3, C, F)
    weights = filters(K)
    return Case(dict(I=I, K=K, O=empty(N, H, W, F)), ["O"], 4 * N * H * W * (C + F), 18 * N * H * W * C * F,
                lambda: (last(torch.nn.functional.conv2d(first(I), weights, dilation=2)),))


@kernel(torch="F.conv2d(X, K)", N=32, C=128, F=128, H=56, W=56)
def conv2d_nchw(N, C, F, H, W):
    X, K = floats(N, C, H + 2, W + 2), floats(F, C, 3, 3)
    return Case(dict(X=X, K=K, Y=empty(N, F, H, W)), ["Y"], 4 * N * H * W * (C + F), 18 * N * H * W * C * F, lambda: (torch.nn.functional.conv2d(X, K),))


@kernel(torch="F.conv3d(X, K)", N=4, D=16, H=56, W=56, C=64, F=64, small=dict(D=4, H=9, W=10))
def conv3d(N, D, H, W, C, F):
    X, K = floats(N, D + 2, H + 2, W + 2, C), floats(3, 3, 3, C, F)
    weights = filters(K)
    return Case(dict(X=X, K=K, Y=empty(N, D, H, W, F)), ["Y"], 4 * N * D * H * W * (C + F), 54 * N * D * H * W * C * F,
                lambda: (last(torch.nn.functional.conv3d(first(X), weights)),))


@kernel(torch="F.conv2d(I, F, groups=C)", N=32, H=112, W=112, C=128)
def depthwise_conv2d(N, H, W, C):
    I, K = floats(N, H + 2, W + 2, C), floats(3, 3, C)
    weights = filters(K[:, :, None])
    return Case(dict(I=I, F=K, O=empty(N, H, W, C)), ["O"], 8 * N * H * W * C, 18 * N * H * W * C,
                lambda: (last(F.conv2d(first(I), weights, groups=C)),))


@kernel(torch="F.max_pool2d(X, 3, 2)", N=32, H=112, W=112, C=128)
def max_pool2d(N, H, W, C):
    X = floats(N, 2 * H + 1, 2 * W + 1, C)
    return Case(dict(X=X, Y=empty(N, H, W, C)), ["Y"], 20 * N * H * W * C, 9 * N * H * W * C, lambda: (last(F.max_pool2d(first(X), 3, 2)),), error=0)


# ---- Rows and elements.


@kernel(torch="F.softmax(X, 1)", R=16384, N=8192)
def softmax(R, N):
    X = floats(R, N)
    return Case(dict(X=X, Y=empty(R, N)), ["Y"], 8 * R * N, 5 * R * N, lambda: (F.softmax(X, 1),))


@kernel(torch="F.layer_norm(X, (N,), gamma, beta, epsilon)", R=16384, N=8192)
def layernorm(R, N):
    X, gamma, beta = floats(R, N), floats(N), floats(N)
    return Case(dict(X=X, gamma=gamma, beta=beta, epsilon=1e-2, Y=empty(R, N)), ["Y"], 8 * R * N, 8 * R * N, lambda: (F.layer_norm(X, (N,), gamma, beta, 1e-2),))


@kernel(torch="F.rms_norm(X, (N,), gamma, epsilon)", R=16384, N=8192)
def rmsnorm(R, N):
    X, gamma = floats(R, N), floats(N)
    return Case(dict(X=X, gamma=gamma, epsilon=1e-3, Y=empty(R, N)), ["Y"], 8 * R * N, 4 * R * N, lambda: (F.rms_norm(X, (N,), gamma, 1e-3),))


@kernel(torch="F.batch_norm(X, None, None, gamma, beta, training=True)", R=16384, C=8192)
def batch_norm(R, C):
    X, gamma, beta = floats(R, C), floats(C), floats(C)
    return Case(dict(X=X, gamma=gamma, beta=beta, epsilon=1e-2, Y=empty(R, C)), ["Y"], 8 * R * C, 8 * R * C,
                lambda: (F.batch_norm(X, None, None, gamma, beta, training=True, eps=1e-2),))


@kernel(torch='F.cross_entropy(X, label, reduction="none")', R=16384, V=32768)
def cross_entropy(R, V):
    X, label = floats(R, V), integers(V, R)
    wide = label.long()
    return Case(dict(X=X, label=label, loss=empty(R)), ["loss"], 4 * R * V, 4 * R * V, lambda: (F.cross_entropy(X, wide, reduction="none"),))


@kernel(torch="X.argmax(1)", R=16384, N=8192)
def argmax_rows(R, N):
    X = floats(R, N)
    return Case(dict(X=X, I=empty(R, kind=torch.int32)), ["I"], 4 * R * N, R * N, lambda: (X.argmax(1),), error=0)


@kernel(torch="X.topk(K, 1)", R=4096, N=8192, K=8, small=dict(K=8))
def top_k(R, N, K):
    X = floats(R, N)
    return Case(dict(X=X, V=empty(R, K), I=empty(R, K, kind=torch.int32)), ["V", "I"], 4 * R * N, R * N, lambda: tuple(X.topk(K, 1)), error=0)


@kernel(torch="X.cumsum(1)", R=16384, N=8192)
def cumsum(R, N):
    X = floats(R, N)
    return Case(dict(X=X, Y=empty(R, N)), ["Y"], 8 * R * N, R * N, lambda: (X.cumsum(1),), error=1e-3)


@kernel(composed="A.sum(1), A.sum(0)", M=16384, N=8192)
def row_column_sums(M, N):
    A = floats(M, N)
    return Case(dict(A=A, rows=empty(M), columns=empty(N)), ["rows", "columns"], 4 * M * N, 2 * M * N, lambda: (A.sum(1), A.sum(0)), error=1e-3)


@kernel(composed="X.sum(), X.max(), X.norm()", M=16384, N=8192)
def full_reductions(M, N):
    X = floats(M, N) + 1  # or the sum is all rounding
    return Case(dict(X=X, total=empty(), greatest=empty(), length=empty()), ["total", "greatest", "length"], 4 * M * N, 4 * M * N,
                lambda: (X.sum(), X.max(), X.norm()), lambda: (X.double().sum(), X.max(), X.double().norm()), error=1e-2)


@kernel(torch='F.gelu(X, approximate="tanh")', small=dict(N=1000), N=1 << 27)
def gelu(N):
    X = floats(N)
    return Case(dict(X=X, Y=empty(N)), ["Y"], 8 * N, 9 * N, lambda: (F.gelu(X, approximate="tanh"),))


@kernel(torch="F.silu(X)", small=dict(N=1000), N=1 << 27)
def silu(N):
    X = floats(N)
    return Case(dict(X=X, Y=empty(N)), ["Y"], 8 * N, 4 * N, lambda: (F.silu(X),))


@kernel(torch="A.t().contiguous()", M=16384, N=8192)
def transpose(M, N):
    A = floats(M, N)
    return Case(dict(A=A, B=empty(N, M)), ["B"], 8 * M * N, 0, lambda: (A.t().contiguous(),), error=0)


@kernel(composed="torch.cat([x * c - y * s, y * c + x * s], 2)", S=8192, H=32, D=64)
def rope(S, H, D):
    X, angle = floats(S, H, 2 * D), torch.arange(S, device=device)[:, None] * 10000.0 ** (-torch.arange(D, device=device) / D)
    cosine, sine = torch.cos(angle), torch.sin(angle)

    def peer():
        x, y, c, s = X[..., :D], X[..., D:], cosine[:, None], sine[:, None]
        return (torch.cat([x * c - y * s, y * c + x * s], 2),)
    return Case(dict(X=X, cosine=cosine, sine=sine, Y=empty(S, H, 2 * D)), ["Y"], 16 * S * H * D, 6 * S * H * D, peer)


@kernel(composed="halves of torch.complex(re, im), the second times w, added and subtracted", B=8192, S=4096)
def fft_stage(B, S):
    re, im = floats(B, 2, S), floats(B, 2, S)
    angle = -math.pi * torch.arange(S, device=device) / S
    wr, wi = torch.cos(angle), torch.sin(angle)

    def peer():
        tr, ti = re[:, 1] * wr - im[:, 1] * wi, re[:, 1] * wi + im[:, 1] * wr
        return torch.stack([re[:, 0] + tr, re[:, 0] - tr], 1), torch.stack([im[:, 0] + ti, im[:, 0] - ti], 1)
    return Case(dict(re=re, im=im, wr=wr, wi=wi, out_re=empty(B, 2, S), out_im=empty(B, 2, S)), ["out_re", "out_im"], 32 * B * S, 10 * B * S, peer)


# ---- Indices from memory.


@kernel(torch="F.embedding(token, table)", T=65536, V=32768, D=2048)
def embedding(T, V, D):
    token, table = integers(V, T), floats(V, D)
    return Case(dict(token=token, table=table, Y=empty(T, D)), ["Y"], 4 * D * (T + min(T, V)), 0, lambda: (F.embedding(token, table),), error=0)


@kernel("i32", torch="torch.bincount(key, minlength=B)", small=dict(N=1000), N=1 << 27, B=1024)
def histogram(N, B):
    key, count = integers(B, N), integers(9, B)
    return inout(["count"], dict(count=count), dict(key=key), bytes=4 * N, flops=N, peer=lambda: (torch.bincount(key, minlength=B),),
                 wanted=lambda: (count + torch.bincount(key, minlength=B),), error=0)


@kernel(torch="Y.index_add_(0, index, X)", T=65536, D=1024, V=32768)
def scatter_add_rows(T, D, V):
    index, X, Y = integers(V, T), floats(T, D), floats(V, D)
    other = Y.clone()
    return inout(["Y"], dict(Y=Y), dict(index=index, X=X), bytes=4 * D * (T + 2 * min(T, V)), flops=T * D, peer=lambda: (other.index_add_(0, index, X),),
                 wanted=lambda: (Y.index_add(0, index, X),))


@kernel(composed="v, i = score.topk(2, 1); softmax of v", T=1 << 20, E=64)
def moe_route(T, E):
    score = floats(T, E)

    def peer():
        value, index = score.topk(2, 1)
        return index.to(torch.int32), F.softmax(value, 1)
    return Case(dict(score=score, expert=empty(T, 2, kind=torch.int32), weight=empty(T, 2)), ["expert", "weight"], 4 * T * (E + 4), T * E, peer)


@kernel(composed="(X[row] * weight[..., None]).sum(1)", P=131072, D=2048, T=65536)
def moe_combine(P, D, T):
    X, row, weight = floats(P, D), integers(P, T, 2), floats(T, 2)
    return Case(dict(X=X, row=row, weight=weight, Y=empty(T, D)), ["Y"], 12 * T * D, 4 * T * D, lambda: ((X[row] * weight[..., None]).sum(1),))


# ---- Time loops, factorisations, recurrences.


@kernel(composed="T times sums of shifted slices", N=8192, T=10)
def jacobi_2d(N, T):
    A, other = floats(N, N), floats(N, N)

    def step(a):
        a[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])

    def steps(a):
        for _ in range(T):
            step(a)
        return (a,)
    return inout(["A"], dict(A=A), {}, bytes=8 * N * N * T, flops=5 * N * N * T, peer=lambda: steps(other), wanted=lambda: steps(A.clone()))


@kernel(composed="T times sums of shifted slices", N=512, T=10)
def heat_3d(N, T):
    A, other = floats(N, N, N), floats(N, N, N)

    def steps(a):
        for _ in range(T):
            inner = a[1:-1, 1:-1, 1:-1]
            around = a[2:, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1] + a[1:-1, 2:, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 1:-1, 2:] + a[1:-1, 1:-1, :-2]
            a[1:-1, 1:-1, 1:-1] = 0.125 * around + 0.25 * inner
        return (a,)
    return inout(["A"], dict(A=A), {}, bytes=8 * N ** 3 * T, flops=8 * N ** 3 * T, peer=lambda: steps(other), wanted=lambda: steps(A.clone()))


@kernel(composed="T times differences of shifted slices", M=8192, N=8192, T=10)
def fdtd_2d(M, N, T):
    start, pulse = dict(ex=floats(M, N), ey=floats(M, N), hz=floats(M, N)), floats(T)
    other = [field.clone() for field in start.values()]

    def steps(x, y, z):
        for t in range(T):
            y[0] = pulse[t]
            y[1:] -= 0.5 * (z[1:] - z[:-1])
            x[:, 1:] -= 0.5 * (z[:, 1:] - z[:, :-1])
            z[:-1, :-1] -= 0.7 * (x[:-1, 1:] - x[:-1, :-1] + y[1:, :-1] - y[:-1, :-1])
        return x, y, z
    return inout(["ex", "ey", "hz"], start, dict(pulse=pulse), bytes=24 * M * N * T, flops=11 * M * N * T, peer=lambda: steps(*other),
                 wanted=lambda: steps(*(field.clone() for field in start.values())))


@kernel("f64", small=dict(N=30, T=2), check=dict(N=150, T=3), N=2000, T=10)
def seidel_2d(N, T):
    A = floats(N, N, kind=torch.float64)

    def wanted():
        a = A.cpu().clone().numpy()
        for _ in range(T):
            for i in range(1, N - 1):
                for j in range(1, N - 1):
                    a[i, j] = a[i - 1:i + 2, j - 1:j + 2].sum() / 9
        return (torch.from_numpy(a),)
    return inout(["A"], dict(A=A), {}, bytes=16 * N * N * T, flops=9 * N * N * T, wanted=wanted, error=1e-11)


@kernel(composed="N times torch.minimum(D, D[:, k:k + 1] + D[k])", N=512)
def floyd_warshall(N):
    D = torch.rand(N, N, device=device) * 100

    def paths(d=D):
        for k in range(N):
            d = torch.minimum(d, d[:, k:k + 1] + d[k])
        return (d,)
    return inout(["D"], dict(D=D), {}, bytes=8 * N * N, flops=4 * N ** 3, peer=paths, error=0)  # a minimum and a sum are not one instruction


@kernel("f64", torch="torch.linalg.cholesky(A)", N=2048)
def cholesky(N):
    half = floats(N, N, kind=torch.float64)
    A = half @ half.t() + N * eye(N)
    return inout(["A"], dict(A=A), {}, bytes=8 * N * N, flops=N ** 3 / 3, peer=lambda: (torch.linalg.cholesky(A),),
                 wanted=lambda: (torch.linalg.cholesky(A) + A.triu(1),), error=1e-11)


@kernel("f64", torch="torch.cholesky_solve(X, L)", N=2048, R=512)
def cholesky_solve(N, R):
    L, X = floats(N, N, kind=torch.float64).tril(-1) + N * eye(N), floats(N, R, kind=torch.float64)
    return inout(["X"], dict(X=X), dict(L=L), bytes=4 * N * N + 16 * N * R, flops=2 * N * N * R, peer=lambda: (torch.cholesky_solve(X, L),), error=1e-11)


@kernel("f64", torch="torch.linalg.lu_factor(A, pivot=False)", N=2048)
def lu(N):
    A = floats(N, N, kind=torch.float64) + 5 * N * eye(N)  # no pivot would change anything
    return inout(["A"], dict(A=A), {}, bytes=16 * N * N, flops=2 * N ** 3 / 3, peer=lambda: (torch.linalg.lu_factor(A, pivot=device == "cpu")[0],), error=1e-11)


@kernel("f64", torch="torch.linalg.qr(A)", small=dict(M=30, N=12), M=2048, N=512)
def gram_schmidt(M, N):
    A, R = floats(M, N, kind=torch.float64), torch.zeros(N, N, device=device, dtype=torch.float64)

    def wanted():
        q, r = torch.linalg.qr(A)
        sign = torch.sign(torch.diagonal(r))
        return q * sign, r * sign[:, None]
    return inout(["A", "R"], dict(A=A, R=R), {}, bytes=16 * M * N + 4 * N * N, flops=2 * M * N * N, peer=lambda: tuple(torch.linalg.qr(A)), wanted=wanted, error=1e-8)


@kernel("i32", check=dict(M=300, N=270), M=2048, N=2048)
def levenshtein(M, N):
    a, b = integers(4, M), integers(4, N)

    def wanted():
        rows, letters, columns = [torch.arange(N + 1)], b.cpu(), torch.arange(N + 1)
        for i, letter in enumerate(a.tolist(), 1):  # what comes from the left is a running minimum of D[i, j] - j
            row = torch.minimum(rows[-1][1:] + 1, rows[-1][:-1] + (letters != letter))
            rows.append(torch.cummin(torch.cat([torch.tensor([i]), row]) - columns, 0).values + columns)
        return (torch.stack(rows),)
    return Case(dict(a=a, b=b, D=empty(M + 1, N + 1, kind=torch.int32)), ["D"], 4 * M * N, 6 * M * N, wanted=wanted, error=0)


@kernel("i32", check=dict(N=60), N=1000)
def nussinov(N):
    base = integers(4, N)

    def wanted():
        bases, score = base.tolist(), torch.zeros(N, N, dtype=torch.int32)
        for length in range(2, N + 1):
            for i in range(N - length + 1):
                j = i + length - 1
                inner = (int(score[i + 1, j - 1]) if j > i + 1 else 0) + int(bases[i] + bases[j] == 3)
                score[i, j] = max(int(score[i + 1, j]), int(score[i, j - 1]), inner, int((score[i, i:j] + score[i + 1:j + 1, j]).max()))
        return (score,)
    return Case(dict(base=base, score=empty(N, N, kind=torch.int32)), ["score"], 4 * N * N, N ** 3 / 3, wanted=wanted, error=0)
