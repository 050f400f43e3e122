#include "frontends/cli/templates.h"

namespace tileopt::cli {

namespace {

const char* const elementwise = R"tile(# NAME: one result for each element, B = alpha * A clamped below at 0.
#
# Names in extents (M, N) are sizes: whoever calls the kernel gives them, and everything is proved for all of them.
# A parameter without `out` or `inout` is only read. `alpha` is a scalar.
def NAME(A: f32[M, N], alpha: f32, B: out[f32[M, N]]):
    for i, j in grid(M, N):
        # A name with a type is a local of the iteration that declares it.
        scaled: f32 = alpha * A[i, j]
        B[i, j] = max(scaled, 0.0)
)tile";

const char* const reduction = R"tile(# NAME: sums over the rows of a matrix, and the largest of all its elements.
#
# `sum`, `prod`, `min` and `max` over `for` clauses may be computed in any order, so they vectorise;
# write @numerics(reassociate=False) above `def` to forbid that.
def NAME(A: f32[M, N], total: out[f32[M]], largest: out[f32]):
    for i in range(M):
        total[i] = sum(A[i, j] for j in range(N))
    # Over an empty range the result is the identity: 0 for sum, minus infinity for max.
    largest = max(A[i, j] for i, j in grid(M, N))
)tile";

const char* const matmul = R"tile(# NAME: C = A * B, the product of two matrices.
#
# contract=True lets a * b + c round once (a fused multiply-add), which is what a matrix product wants.
@numerics(contract=True)
def NAME(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))


# Decisions that you pin yourself; what you leave open is decided for you. Use it with: --plan @NAME_threads
@schedule(NAME)
def NAME_threads():
    # One thread gets 64 rows at a time.
    tile("thread", i=64)
)tile";

const char* const convolution = R"tile(# NAME: a 3x3 convolution over images, channels last, without padding.
#
# Extents are affine in the sizes: the input is two rows and two columns larger than the output,
# and the checker proves that no subscript leaves it.
@numerics(contract=True)
def NAME(image: f32[N, H + 2, W + 2, C], weight: f32[3, 3, C, F], O: out[f32[N, H, W, F]]):
    for n, h, w, f in grid(N, H, W, F):
        O[n, h, w, f] = sum(image[n, h + r, w + s, c] * weight[r, s, c, f] for r, s, c in grid(3, 3, C))
)tile";

const char* const stencil = R"tile(# NAME: T steps of a five-point stencil; the border keeps its values.
#
# `inout` is read and written. `T: size` is a size that no extent mentions.
def NAME(A: inout[f32[N, N]], T: size):
    # A local tensor, uninitialised: every element that is read must have been written before.
    B: f32[N, N]
    for t in range(T):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                B[i, j] = f32(0.2) * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                A[i, j] = B[i, j]
)tile";

const char* const softmax = R"tile(# NAME: the softmax of every row. Subtracting the largest element first keeps exp from overflowing.
def NAME(X: f32[R, N], Y: out[f32[R, N]]):
    for r in range(R):
        m: f32 = max(X[r, j] for j in range(N))
        l: f32 = sum(exp(X[r, j] - m) for j in range(N))
        for j in range(N):
            Y[r, j] = exp(X[r, j] - m) / l
)tile";

const char* const scan = R"tile(# NAME: running sums of every row, y[r, i] = x[r, 0] + ... + x[r, i].
#
# Rows are independent; along a row every element needs the one before it, and statements run in the order written.
def NAME(x: f32[R, N], y: out[f32[R, N]]):
    for r in range(R):
        for i in range(N):
            # An affine condition chooses before anything is read, so y[r, -1] is never touched.
            y[r, i] = x[r, i] + (y[r, i - 1] if i > 0 else 0)
)tile";

const char* const transpose = R"tile(# NAME: B is A with rows and columns exchanged.
#
# A subscript is any affine function of the iterators; layouts and tiles are found, not written.
def NAME(A: f32[M, N], B: out[f32[N, M]]):
    for i, j in grid(M, N):
        B[j, i] = A[i, j]
)tile";

const char* const layernorm = R"tile(# NAME: every row is shifted and scaled to mean 0 and variance 1, then by its column's gain and bias.
def NAME(X: f32[R, N], gain: f32[N], bias: f32[N], Y: out[f32[R, N]], eps: f32):
    # The mean divides by N: rows have at least one element. Kernels refuse other sizes.
    assume(N >= 1)
    for r in range(R):
        total: f32 = sum(X[r, j] for j in range(N))
        mean: f32 = total / f32(N)
        spread: f32 = sum((X[r, j] - mean) * (X[r, j] - mean) for j in range(N))
        scale: f32 = rsqrt(spread / f32(N) + eps)
        for j in range(N):
            Y[r, j] = (X[r, j] - mean) * scale * gain[j] + bias[j]
)tile";

const char* const attention = R"tile(# NAME: causal attention of H heads over S positions with D features each.
def NAME(Q: f32[H, S, D], K: f32[H, S, D], V: f32[H, S, D], O: out[f32[H, S, D]], scale: f32):
    for h, i in grid(H, S):
        # A local inside loops is fresh in every iteration; what it costs in memory is the schedule's business.
        s: f32[S]
        for j in range(i + 1):
            s[j] = scale * sum(Q[h, i, d] * K[h, j, d] for d in range(D))
        m: f32 = max(s[j] for j in range(i + 1))
        l: f32 = sum(exp(s[j] - m) for j in range(i + 1))
        for d in range(D):
            O[h, i, d] = sum(exp(s[j] - m) * V[h, j, d] for j in range(i + 1)) / l
)tile";

}  // namespace

const std::vector<Template>& templates() {
  static const std::vector<Template> all = {
      {"attention", "causal attention: scores, softmax, weighted sum", attention},
      {"convolution", "3x3 convolution over images with channels", convolution},
      {"elementwise", "one result for each element", elementwise},
      {"layernorm", "rows shifted and scaled to mean 0 and variance 1", layernorm},
      {"matmul", "product of two matrices, with a schedule of its own", matmul},
      {"reduction", "sums over rows, and a maximum over everything", reduction},
      {"scan", "running sums along rows", scan},
      {"softmax", "softmax of every row", softmax},
      {"stencil", "steps of a five-point stencil, in place", stencil},
      {"transpose", "rows and columns exchanged", transpose},
  };
  return all;
}

std::vector<std::string> template_kinds() {
  std::vector<std::string> kinds;
  for (const Template& each : templates()) kinds.push_back(each.kind);
  return kinds;
}

}  // namespace tileopt::cli
