/// `scan(...)`: the value of the reduction inside it, in linear work.
#include <gtest/gtest.h>

#include "frontends/tile_text/tile_text.h"
#include "interpreter/interpreter.h"

namespace tileopt {
namespace {

class Scan : public ::testing::Test {
 protected:
  Program parse(const std::string& text) { return parse_tile_file(context_.get(), text, "test.tile").programs.front(); }

  /// `text` with $( for a scan: the same bits as the reduction without it, and at most `most` instances for N = 40.
  Program expect_scan(const std::string& text, std::int64_t most) {
    const auto replaced = [&](const std::string& by) {
      std::string result = text;
      for (std::size_t at = result.find("$("); at != std::string::npos; at = result.find("$(", at)) result.replace(at, 1, by);
      return result;
    };
    const Program scanned = parse(replaced("scan")), plain = parse(replaced(""));
    for (const std::int64_t n : {0, 1, 2, 7, 40}) {
      const Sizes sizes = {{"N", n}};
      const Arrays arguments = make_arguments(plain, sizes, 3, Fill::uniform);
      const InterpreterResult expected = interpret(plain, sizes, arguments), got = interpret(scanned, sizes, arguments);
      for (const auto& [name, array] : expected.values) EXPECT_TRUE(array.bytes == got.values.at(name).bytes) << name << " at N = " << n;
      if (n == 40) {
        EXPECT_LE(got.instances, most);
        EXPECT_GT(expected.instances, 2 * most);
      }
    }
    return scanned;
  }

  poly::Context context_;
};

TEST_F(Scan, PrefixesOfEveryKind) {
  const Program p = expect_scan(
      "@numerics(reassociate=False)\n"
      "def f(x: f32[N], y: out[f32[N]]):\n    for i in range(N):\n        y[i] = $(sum(x[j] for j in range(i + 1)))\n", 200);
  EXPECT_EQ(p.order().write(), "i > (y_init ; y_first: j ; y_carry ; y)");
  EXPECT_NE(p.text().find("scan(sum(x[j] for j in range(i + 1)))"), std::string::npos);
  expect_scan("def f(x: f16[N], y: out[f16[N]]):\n    for i in range(N):\n        y[i] = $(prod(x[j] for j in range(i)))\n", 200);
  expect_scan("def f(x: bf16[N], y: out[f32[N]]):\n    for i in range(N):\n        y[i] = 2 * $(max(f32(x[j]) for j in range(1, i + 1)))\n", 300);
  expect_scan("def f(x: f32[N], y: out[bool[N]]):\n    for i in range(N):\n        y[i] = $(any(x[j] > 0.5 for j in range(i + 1)))\n", 200);
}

TEST_F(Scan, ArgmaxMonoidsAndLocals) {
  expect_scan("def f(x: f32[N], y: out[i32[N]]):\n    for i in range(N):\n        y[i] = $(argmax(x[j] for j in range(i + 1)))\n", 300);
  expect_scan(
      "@monoid(identity=(1, 0))\n"
      "def then(a: tuple[f32, f32], b: tuple[f32, f32]) -> tuple[f32, f32]:\n"
      "    return (a[0] * b[0], a[1] * b[0] + b[1])\n"
      "def f(a: f32[N], x: f32[N], h: out[f32[N]]):\n"
      "    for t in range(N):\n"
      "        s: tuple[f32, f32] = $(then((a[u], x[u]) for u in range(t + 1)))\n"
      "        h[t] = s[1]\n", 300);
}

TEST_F(Scan, OfWhatIsComputedInTheSameLoop) {
  expect_scan(
      "def f(x: f32[N], y: out[f32[N]]):\n"
      "    t: f32[N]\n"
      "    for i in range(N):\n"
      "        t[i] = x[i] * x[i]\n"
      "        y[i] = $(sum(t[j] for j in range(i + 1)))\n", 300);
}

}  // namespace
}  // namespace tileopt
