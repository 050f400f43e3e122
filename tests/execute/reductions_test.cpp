// Reductions over several values, helper functions and narrow floats: printed code under several plans against results computed here.
#include <algorithm>
#include <cmath>
#include <limits>

#include "interpreter/number.h"
#include "tests/execute/fixture.h"

namespace tileopt::test {
namespace {

const double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

/// NumPy's argmax (or argmin) of one row, -1 where it is empty.
std::int64_t expected_extreme(const HostArray& x, std::int64_t row, std::int64_t count, bool greatest) {
  std::int64_t best = -1;
  for (std::int64_t j = 0; j < count; ++j) {
    const double value = x.get(row * count + j), held = best < 0 ? 0 : x.get(row * count + best);
    if (best < 0 || (!std::isnan(held) && (std::isnan(value) || (greatest ? value > held : value < held)))) best = j;
  }
  return best;
}

TEST_F(Execute, ASumThatNoIterationNeedsIsReadByNobody) {
  compile(
      "def f(X: i32[N], Y: out[i32[N]], Z: out[i32[N]]):\n"
      "    for i in range(2, N):\n"
      "        Y[i] = sum(X[k] for k in range(i)) if i == 0 else X[i]\n"
      "        Z[i] = X[i] if i > 1 else max(X[k] for k in range(i))\n");
  for (const std::int64_t n : {0, 3, 40}) {
    const Sizes sizes = {{"N", n}};
    const Arrays given = arguments(sizes);
    run(sizes, given, [&](const Arrays& values) {
      for (std::int64_t i = 2; i < n; ++i) {
        EXPECT_EQ(values.at("Y").get_integer(i), given.at("X").get_integer(i));
        EXPECT_EQ(values.at("Z").get_integer(i), given.at("X").get_integer(i));
      }
    });
  }
}

TEST_F(Execute, ArgmaxTakesTheFirstExtremeAndTheFirstNan) {
  compile(
      "def f(X: f32[R, N], I: out[i32[R]], J: out[i64[R]]):\n"
      "    for r in range(R):\n"
      "        I[r] = argmax(X[r, j] for j in range(N))\n"
      "        J[r] = argmin(X[r, j] for j in range(N))\n");
  for (const std::int64_t n : {0, 1, 2, 7, 33, 200}) {
    const Sizes sizes = {{"R", 9}, {"N", n}};
    Arrays a = arguments(sizes);
    HostArray& x = a.at("X");
    for (std::int64_t j = 0; j < n; ++j) {
      x.set(0 * n + j, 3);
      x.set(1 * n + j, -inf);
      x.set(2 * n + j, inf);
      x.set(3 * n + j, nan);
      if (j == n / 2 || j == n - 1) x.set(4 * n + j, nan);
      x.set(5 * n + j, static_cast<double>(j % 3));
      x.set(6 * n + j, j % 2 ? 0.0 : -0.0);
    }
    run(sizes, a, [&](const Arrays& results) {
      for (std::int64_t r = 0; r < 9; ++r) {
        EXPECT_EQ(results.at("I").get_integer(r), expected_extreme(x, r, n, true)) << n << " row " << r;
        EXPECT_EQ(results.at("J").get_integer(r), expected_extreme(x, r, n, false)) << n << " row " << r;
      }
    });
  }
}

TEST_F(Execute, ArgmaxOfIntegersAndOfAPart) {
  compile(
      "def f(X: i8[N], I: out[i64], J: out[u8]):\n"
      "    I = argmax(X[j] for j in range(2, N) if j % 3 != 0)\n"
      "    J = argmin(i32(X[j]) * 2 for j in range(N)) * 2 + 1\n");
  for (const std::int64_t n : {0, 2, 3, 4, 40, 128}) {
    const Sizes sizes = {{"N", n}};
    const Arrays a = arguments(sizes);
    const HostArray& x = a.at("X");
    std::int64_t best = -1;
    for (std::int64_t j = 2; j < n; ++j)
      if (j % 3 != 0 && (best < 0 || x.get_integer(j) > x.get_integer(best))) best = j;
    const std::int64_t least = expected_extreme(x, 0, n, false);
    run(sizes, a, [&](const Arrays& results) {
      EXPECT_EQ(results.at("I").get_integer(0), best) << n;
      EXPECT_EQ(results.at("J").get_integer(0), wrap_integer(least * 2 + 1, ElementType::u8)) << n;
    });
  }
}

TEST_F(Execute, TruthAndBits) {
  compile(
      "def f(X: i32[M, N], P: out[bool[M]], Q: out[bool[M]], O: out[bool], A: inout[u16[M]], B: inout[i64[M]], C: inout[i8[M]]):\n"
      "    O = any(X[i, j] == 8 for i, j in grid(M, N))\n"
      "    for i in range(M):\n"
      "        P[i] = any(X[i, j] > 6 for j in range(N))\n"
      "        Q[i] = all(X[i, j] > -8 for j in range(N)) or O\n"
      "        for j in range(N):\n"
      "            A[i] &= u16(X[i, j]) | 5\n"
      "            B[i] |= i64(X[i, j]) << i64(j)\n"
      "            C[i] ^= i8(X[i, j])\n");
  for (const std::int64_t n : {0, 1, 5, 16, 37}) {
    const Sizes sizes = {{"M", 6}, {"N", n}};
    const Arrays a = arguments(sizes);
    const HostArray& x = a.at("X");
    bool everywhere = false;
    for (std::int64_t i = 0; i < 6 * n; ++i) everywhere = everywhere || x.get_integer(i) == 8;
    run(sizes, a, [&](const Arrays& results) {
      EXPECT_EQ(results.at("O").get_integer(0), everywhere);
      for (std::int64_t i = 0; i < 6; ++i) {
        bool any = false, all = true;
        std::int64_t and_bits = a.at("A").get_integer(i), or_bits = a.at("B").get_integer(i), xor_bits = a.at("C").get_integer(i);
        for (std::int64_t j = 0; j < n; ++j) {
          const std::int64_t value = x.get_integer(i * n + j);
          any = any || value > 6;
          all = all && value > -8;
          and_bits &= wrap_integer(value, ElementType::u16) | 5;
          or_bits |= j < 64 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << j) : 0;
          xor_bits = wrap_integer(xor_bits ^ value, ElementType::i8);
        }
        EXPECT_EQ(results.at("P").get_integer(i), any) << n;
        EXPECT_EQ(results.at("Q").get_integer(i), all || everywhere) << n;
        EXPECT_EQ(results.at("A").get_integer(i), and_bits) << n;
        EXPECT_EQ(results.at("B").get_integer(i), or_bits) << n;
        EXPECT_EQ(results.at("C").get_integer(i), xor_bits) << n;
      }
    });
  }
}

TEST_F(Execute, WelfordGivesMeanAndVariance) {
  compile(
      "@monoid(identity=(0.0, 0.0, 0.0), commutative=True)\n"
      "def welford(a: tuple[f64, f64, f64], b: tuple[f64, f64, f64]) -> tuple[f64, f64, f64]:\n"
      "    n: f64 = a[0] + b[0]\n"
      "    delta: f64 = b[1] - a[1]\n"
      "    return (n, a[1] + delta * (b[0] / n), a[2] + b[2] + delta * delta * (a[0] * b[0] / n))\n"
      "def f(X: f32[R, N], mean: out[f64[R]], variance: out[f64[R]]):\n"
      "    assume(N >= 1)\n"
      "    for r in range(R):\n"
      "        w: tuple[f64, f64, f64] = welford((1, f64(X[r, j]), 0) for j in range(N))\n"
      "        mean[r] = w[1]\n"
      "        variance[r] = w[2] / w[0]\n");
  for (const std::int64_t n : {1, 2, 50, 257}) {
    const Sizes sizes = {{"R", 3}, {"N", n}};
    const Arrays a = make_arguments(*program_, sizes, 5, Fill::uniform);
    run(sizes, a, [&](const Arrays& results) {
      for (std::int64_t r = 0; r < 3; ++r) {
        double sum = 0, squares = 0;
        for (std::int64_t j = 0; j < n; ++j) sum += a.at("X").get(r * n + j);
        for (std::int64_t j = 0; j < n; ++j) squares += std::pow(a.at("X").get(r * n + j) - sum / static_cast<double>(n), 2);
        EXPECT_NEAR(results.at("mean").get(r), sum / static_cast<double>(n), 1e-12);
        EXPECT_NEAR(results.at("variance").get(r), squares / static_cast<double>(n), 1e-12);
      }
    });
  }
}

// Composition of affine functions does not commute: any other order than that of the indices shows.
TEST_F(Execute, AMonoidThatDoesNotCommuteRunsInIndexOrder) {
  compile(
      "@monoid(identity=(1, 0))\n"
      "def compose(f: tuple[i64, i64], g: tuple[i64, i64]) -> tuple[i64, i64]:\n"
      "    return (f[0] * g[0], g[0] * f[1] + g[1])\n"
      "def f(X: i64[M, N], R: out[i64[M]], S: out[i64]):\n"
      "    for i in range(M):\n"
      "        s: tuple[i64, i64] = compose((X[i, k], i64(k)) for k in range(N))\n"
      "        R[i] = s[1]\n"
      "    t: tuple[i64, i64] = compose((X[i, k], i64(k)) for i, k in grid(M, N))\n"
      "    S = t[0] + t[1]\n");
  for (const std::int64_t n : {0, 1, 3, 20}) {
    const Sizes sizes = {{"M", 7}, {"N", n}};
    const Arrays a = arguments(sizes);
    const auto compose = [&](std::int64_t from, std::int64_t to, std::uint64_t& product, std::uint64_t& value) {
      product = 1;
      value = 0;
      for (std::int64_t e = from; e < to; ++e) {
        const auto x = static_cast<std::uint64_t>(a.at("X").get_integer(e));
        product *= x;
        value = x * value + static_cast<std::uint64_t>(e % n);
      }
    };
    run(sizes, a, [&](const Arrays& results) {
      std::uint64_t product, value;
      for (std::int64_t i = 0; i < 7; ++i) {
        compose(i * n, (i + 1) * n, product, value);
        EXPECT_EQ(static_cast<std::uint64_t>(results.at("R").get_integer(i)), value) << n;
      }
      compose(0, 7 * n, product, value);
      EXPECT_EQ(static_cast<std::uint64_t>(results.at("S").get_integer(0)), product + value) << n;
    });
  }
}

TEST_F(Execute, LanesNeverShareAMonoid) {
  EXPECT_TRUE(is_infeasible(
      "def f(X: f32[N], I: out[i32]):\n"
      "    I = argmax(X[j] for j in range(N))\n",
      "vectorize(\"j\")"));
}

TEST_F(Execute, ThreadsNeverShareAMonoid) {
  const std::string monoid =
      "@monoid(identity=0)\n"
      "def latest(a: i32, b: i32) -> i32:\n"
      "    return b if b != 0 else a\n"
      "def f(X: i32[M, N], R: out[i32[M]], S: out[i32]):\n"
      "    for i in range(M):\n"
      "        R[i] = latest(X[i, j] for j in range(N))\n"
      "    S = latest(X[i, j] for i, j in grid(M, N))\n";
  EXPECT_TRUE(is_infeasible(monoid, "tile(\"thread\", \"S.i\", 4)"));
  EXPECT_FALSE(is_infeasible(monoid, "tile(\"thread\", \"R.i\", 4)"));
}

TEST_F(Execute, HelpersAndTupleArrays) {
  compile(
      "def order(p: tuple[f32, i32], q: tuple[f32, i32]) -> tuple[f32, i32]:\n"
      "    return p if p[0] <= q[0] else q\n"
      "def gelu(x: f32) -> f32:\n"
      "    inner: f32 = 0.79788456 * (x + 0.044715 * x * x * x)\n"
      "    return 0.5 * x * (1 + tanh(inner))\n"
      "def f(X: f32[N], Y: out[f32[N]], Z: out[i32[N]]):\n"
      "    t: tuple[f32, i32][N]\n"
      "    for i in range(N):\n"
      "        t[i] = order((gelu(gelu(X[i])), i), (X[N - 1 - i], -1))\n"
      "    for i in range(N):\n"
      "        Y[i] = t[N - 1 - i][0] + (gelu(X[i]) if X[i] > 0 else gelu(X[i] + 1))\n"
      "        Z[i] = t[i][1]\n");
  check_sizes({{0, 1, 2, 7, 33, 128}});
}

// What `topk` does, by a monoid of one's own, against sorting.
TEST_F(Execute, TheKGreatestAreSelectedOneByOne) {
  compile(
      "def before(p: tuple[f32, i32], q: tuple[f32, i32]) -> bool:\n"
      "    return p[0] > q[0] or (p[0] == q[0] and p[1] < q[1])\n"
      "@monoid(identity=(-inf, 0x7FFFFFFF), commutative=True)\n"
      "def first(p: tuple[f32, i32], q: tuple[f32, i32]) -> tuple[f32, i32]:\n"
      "    return p if before(p, q) else q\n"
      "def top_k(X: f32[R, N], V: out[f32[R, K]], I: out[i32[R, K]]):\n"
      "    assume(K <= N)\n"
      "    for r in range(R):\n"
      "        kept: tuple[f32, i32][K]\n"
      "        for t in range(K):\n"
      "            kept[t] = first((X[r, j], j) if t == 0 else (X[r, j], j) if before(kept[t - 1], (X[r, j], j)) else (-inf, 0x7FFFFFFF) "
      "for j in range(N))\n"
      "            V[r, t] = kept[t][0]\n"
      "            I[r, t] = kept[t][1]\n");
  for (const std::int64_t n : {1, 5, 40}) {
    for (const std::int64_t k : {std::int64_t(1), n / 2 + 1, n}) {
      const Sizes sizes = {{"R", 3}, {"N", n}, {"K", k}};
      Arrays a = arguments(sizes);  // small integers: many ties
      const HostArray& x = a.at("X");
      if (n > 1) a.at("X").set(1, -inf);
      run(sizes, a, [&](const Arrays& results) {
        for (std::int64_t r = 0; r < 3; ++r) {
          std::vector<std::int64_t> order(static_cast<std::size_t>(n));
          for (std::int64_t j = 0; j < n; ++j) order[static_cast<std::size_t>(j)] = j;
          std::stable_sort(order.begin(), order.end(), [&](std::int64_t p, std::int64_t q) { return x.get(r * n + p) > x.get(r * n + q); });
          for (std::int64_t t = 0; t < k; ++t) {
            EXPECT_EQ(results.at("I").get_integer(r * k + t), order[static_cast<std::size_t>(t)]) << n << " " << k;
            EXPECT_EQ(results.at("V").get(r * k + t), x.get(r * n + order[static_cast<std::size_t>(t)]));
          }
        }
      });
    }
  }
}

// Every encoding of the 8-bit floats read, and every value (with the points between two of them) written by printed code.
TEST_F(Execute, EightBitFloatsConvertAsDefined) {
  for (const ElementType type : {ElementType::e4m3fn, ElementType::e5m2, ElementType::e4m3fnuz, ElementType::e5m2fnuz, ElementType::tf32}) {
    kernels_.clear();
    const std::string name = type_name(type);
    compile("def f(A: " + name + "[M], F: f32[N], D: f64[N], X: out[f32[M]], Y: out[" + name + "[N]], Z: out[" + name + "[N]], W: out[" + name +
            "[M]]):\n"
            "    for i in range(M):\n"
            "        X[i] = f32(A[i])\n"
            "        W[i] = -A[i] * A[i]\n"
            "    for i in range(N):\n"
            "        Y[i] = " + name + "(F[i])\n"
            "        Z[i] = " + name + "(D[i])\n", {""});
    std::vector<double> values = {0.0, -0.0, inf, -inf, nan, 1e30, -1e30, 1e-30, 3.3e38};
    const bool bytes = size_bytes(type) == 1;
    for (std::uint32_t bits = 0; bits < (bytes ? 256u : 2048u); ++bits) {
      const double value = narrow_value(bytes ? bits : bits * 255u, type);
      values.push_back(value);
      if (!std::isfinite(value)) continue;
      const double up = std::fabs(value) * std::ldexp(1.0, -value_digits(type)), half = std::ldexp(1.0, least_exponent(type) - value_digits(type));
      for (const double step : {up, -up, 1.0001 * up, 0.9999 * up, half, 0.999 * half, 1.001 * half}) values.push_back(static_cast<float>(value + step));
    }
    const Sizes sizes = {{"M", 256}, {"N", static_cast<std::int64_t>(values.size())}};
    Arrays a = arguments(sizes);
    for (std::int64_t i = 0; i < 256; ++i) a.at("A").set(i, narrow_value(static_cast<std::uint32_t>(bytes ? i : i * 2047), type));
    if (bytes)
      for (std::size_t i = 0; i < 256; ++i) a.at("A").bytes[i] = static_cast<std::byte>(i);
    for (std::size_t i = 0; i < values.size(); ++i) {
      a.at("F").set(static_cast<std::int64_t>(i), values[i]);
      a.at("D").set(static_cast<std::int64_t>(i), i % 2 == 0 ? values[i] : values[i] * (1 + 0x1p-40));
    }
    const auto same = [](double got, double expected) {
      return (std::isnan(got) && std::isnan(expected)) || (got == expected && std::signbit(got) == std::signbit(expected));
    };
    run(sizes, a, [&](const Arrays& results) {
      for (std::int64_t i = 0; i < 256; ++i) {
        const double value = a.at("A").get(i);
        EXPECT_TRUE(same(results.at("X").get(i), value)) << name << " " << i;
        const double product = round_to_type(-value * value, type);
        EXPECT_TRUE(same(results.at("W").get(i), product)) << name << " " << value << ": " << results.at("W").get(i);
      }
      for (std::int64_t i = 0; i < sizes.at("N"); ++i) {
        EXPECT_TRUE(same(results.at("Y").get(i), round_to_type(a.at("F").get(i), type))) << name << " " << a.at("F").get(i);
        EXPECT_TRUE(same(results.at("Z").get(i), round_to_type(a.at("D").get(i), type))) << name << " " << a.at("D").get(i);
      }
    });
  }
}

TEST_F(Execute, NarrowFloatsAccumulateInF32) {
  compile(
      "def f(A: e4m3fn[M, K], B: e5m2[K, N], C: out[f32[M, N]], S: out[e4m3fnuz[M]]):\n"
      "    for i, j in grid(M, N):\n"
      "        C[i, j] = sum(f32(A[i, k]) * f32(B[k, j]) for k in range(K))\n"
      "    for i in range(M):\n"
      "        S[i] = max(e4m3fnuz(A[i, k]) for k in range(K))\n");
  check_sizes({{0, 1, 2, 7, 16, 33}});
}

}  // namespace
}  // namespace tileopt::test
