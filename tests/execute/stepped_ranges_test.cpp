// Ranges with a step: printed code under several plans against loops written here, and against the interpreter.
#include "tests/execute/fixture.h"

namespace tileopt::test {
namespace {

TEST_F(Execute, StridedLoopsTouchEveryThirdElement) {
  compile(
      "def f(A: i32[N], B: inout[i32[N]], S: out[i32]):\n"
      "    for i in range(1, N, 3):\n"
      "        B[i] = A[i] + i\n"
      "    S = sum(A[i] * i for i in range(2, N - 1, 4))\n");
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 8, 31, 64, 200}) {
    const Sizes sizes = {{"N", n}};
    const Arrays a = arguments(sizes);
    std::int64_t sum = 0;
    for (std::int64_t i = 2; i < n - 1; i += 4) sum += a.at("A").get_integer(i) * i;
    run(sizes, a, [&](const Arrays& results) {
      for (std::int64_t i = 0; i < n; ++i)
        ASSERT_EQ(results.at("B").get_integer(i), i % 3 == 1 ? a.at("A").get_integer(i) + i : a.at("B").get_integer(i)) << n << " at " << i;
      ASSERT_EQ(results.at("S").get_integer(0), sum) << n;
    });
  }
}

TEST_F(Execute, DescendingLoopsRunFromHighToLow) {
  compile(
      "def f(B: inout[i64[N]], C: inout[i64[N]]):\n"
      "    for i in range(N - 2, -1, -1):\n"
      "        B[i] = B[i] + 2 * B[i + 1]\n"
      "    for i in range(N - 1, 0, -2):\n"
      "        C[i - 1] = 3 * C[i] + C[i - 1]\n");
  for (const std::int64_t n : {0, 1, 2, 3, 7, 20}) {
    const Sizes sizes = {{"N", n}};
    const Arrays a = arguments(sizes);
    std::vector<std::int64_t> b, c;
    for (std::int64_t i = 0; i < n; ++i) b.push_back(a.at("B").get_integer(i)), c.push_back(a.at("C").get_integer(i));
    for (std::int64_t i = n - 2; i > -1; --i) b[static_cast<std::size_t>(i)] += 2 * b[static_cast<std::size_t>(i + 1)];
    for (std::int64_t i = n - 1; i > 0; i -= 2) c[static_cast<std::size_t>(i - 1)] += 3 * c[static_cast<std::size_t>(i)];
    run(sizes, a, [&](const Arrays& results) {
      for (std::int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(results.at("B").get_integer(i), b[static_cast<std::size_t>(i)]) << n << " at " << i;
        ASSERT_EQ(results.at("C").get_integer(i), c[static_cast<std::size_t>(i)]) << n << " at " << i;
      }
    });
  }
}

// The index that comes first in the loop counts of equal values; indices below 0 are indices too.
TEST_F(Execute, SearchesFollowTheirLoop) {
  compile(
      "def f(X: i32[N], down: out[i32], odd: out[i32], below: out[i32], nothing: out[i32]):\n"
      "    down = argmax(X[i] for i in range(N - 1, -1, -1))\n"
      "    odd = argmin(X[i] for i in range(1, N, 2))\n"
      "    below = argmax(X[i + 4] for i in range(-4, N - 4))\n"
      "    nothing = argmax(X[i] for i in range(0, N, -1))\n");
  for (const std::int64_t n : {0, 1, 2, 3, 9, 40}) {
    const Sizes sizes = {{"N", n}};
    Arrays a = arguments(sizes);
    HostArray& x = a.at("X");
    for (std::int64_t i = 0; i < n; ++i) x.set_integer(i, i % 4 == 3 ? 7 : i % 3);
    const auto at = [&](std::int64_t i) { return x.get_integer(i); };
    std::int64_t down = -1, odd = -1, below = -1;
    for (std::int64_t i = n - 1; i > -1; --i)
      if (down < 0 || at(i) > at(down)) down = i;
    for (std::int64_t i = 1; i < n; i += 2)
      if (odd < 0 || at(i) < at(odd)) odd = i;
    for (std::int64_t i = 0; i < n; ++i)
      if (i == 0 || at(i) > at(below + 4)) below = i - 4;
    run(sizes, a, [&](const Arrays& results) {
      EXPECT_EQ(results.at("down").get_integer(0), down) << n;
      EXPECT_EQ(results.at("odd").get_integer(0), odd) << n;
      EXPECT_EQ(results.at("below").get_integer(0), below) << n;
      EXPECT_EQ(results.at("nothing").get_integer(0), -1) << n;
    });
  }
}

TEST_F(Execute, HandTiledLoopsAndLocalsInsideThem) {
  compile(
      "def f(A: f32[M, N], B: out[f32[N, M]], C: inout[f32[M]]):\n"
      "    for ii in range(0, M, 16):\n"
      "        for jj in range(0, N, 8):\n"
      "            for i in range(ii, min(ii + 16, M)):\n"
      "                for j in range(jj, min(jj + 8, N)):\n"
      "                    B[j, i] = A[i, j]\n"
      "    for i in range(M - 1, -1, -3):\n"
      "        row: f32[N]\n"
      "        for j in range(N):\n"
      "            row[j] = A[i, j] * 2\n"
      "        C[i] += sum(row[j] for j in range(N - 1, -1, -1))\n");
  check_sizes({{1, 2, 7, 16, 33}, 40, 1 << 14});
}

TEST_F(Execute, StepsOverRowsThatDataBounds) {
  compile(
      "def f(start: i32[R + 1], v: i32[Z], even: out[i32[R]], down: inout[i32[R]]):\n"
      "    assume(0 <= start[:] <= Z and monotone(start))\n"
      "    for r in range(R):\n"
      "        even[r] = sum(v[k] for k in range(start[r], start[r + 1], 2))\n"
      "        for k in range(start[r + 1] - 1, start[r] - 1, -1):\n"
      "            down[r] = 2 * down[r] + v[k]\n");
  const Sizes sizes = {{"R", 5}, {"Z", 9}};
  Arrays a = arguments(sizes);
  const std::vector<std::int64_t> start = {0, 0, 3, 4, 9, 9};
  for (std::size_t r = 0; r < start.size(); ++r) a.at("start").set_integer(static_cast<std::int64_t>(r), start[r]);
  const auto v = [&](std::int64_t k) { return a.at("v").get_integer(k); };
  run(sizes, a, [&](const Arrays& results) {
    for (std::size_t r = 0; r < 5; ++r) {
      const auto row = static_cast<std::int64_t>(r);
      std::int64_t even = 0, down = a.at("down").get_integer(row);
      for (std::int64_t k = start[r]; k < start[r + 1]; k += 2) even += v(k);
      for (std::int64_t k = start[r + 1] - 1; k > start[r] - 1; --k) down = 2 * down + v(k);
      EXPECT_EQ(results.at("even").get_integer(row), even) << r;
      EXPECT_EQ(results.at("down").get_integer(row), down) << r;
    }
  });
}

TEST_F(Execute, ShiftsByTheWidthAndMore) {
  compile(
      "def f(A: i32[N], U: u8[N], L: out[i32[N]], R: out[i32[N]], V: out[u8[N]]):\n"
      "    for i in range(N):\n"
      "        L[i] = A[i] << 32\n"
      "        R[i] = A[i] >> 40\n"
      "        V[i] = (U[i] << 8) | (U[i] >> 200)\n");
  const Sizes sizes = {{"N", 37}};
  const Arrays a = arguments(sizes);
  run(sizes, a, [&](const Arrays& results) {
    for (std::int64_t i = 0; i < 37; ++i) {
      EXPECT_EQ(results.at("L").get_integer(i), 0) << i;
      EXPECT_EQ(results.at("R").get_integer(i), a.at("A").get_integer(i) < 0 ? -1 : 0) << i;
      EXPECT_EQ(results.at("V").get_integer(i), 0) << i;
    }
  });
}

}  // namespace
}  // namespace tileopt::test
