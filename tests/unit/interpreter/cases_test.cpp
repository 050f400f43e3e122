/// The handed cases through the frontend, against results computed here in plain C++.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "frontends/tile_text/tile_text.h"
#include "interpreter/interpreter.h"
#include "program_fixture.h"
#include "support/document.h"

namespace tileopt {
namespace {
using namespace testing;

Program parse_case(isl::ctx ctx, const std::string& path) {
  const std::string full = std::string(TILEOPT_SOURCE_DIR) + "/" + path;
  return parse_tile_file(ctx, read_file(full), full).programs.front();
}

struct Outcome {
  Arrays arguments;
  InterpreterResult result;
};
Outcome run_case(const std::string& name, const Sizes& sizes, Fill fill = Fill::integers) {
  poly::Context context;
  const Program program = parse_case(context.get(), "tests/cases/" + name + ".tile");
  Arrays arguments = make_arguments(program, sizes, 21, fill);
  InterpreterResult result = interpret(program, sizes, arguments);
  EXPECT_EQ(result.instances, count_instances(program, sizes));
  return {std::move(arguments), std::move(result)};
}

TEST(Cases, LastWriteWins) {
  for (const std::int64_t n : {0, 1, 3, 4, 9}) {
    const Outcome o = run_case("last_write", {{"N", n}});
    std::vector<std::int64_t> c = integers_of(o.arguments.at("C"));
    for (std::int64_t i = 0; i < n; ++i) c[static_cast<std::size_t>(i % 4)] = o.arguments.at("x").get_integer(i);
    EXPECT_EQ(integers_of(o.result.values.at("C")), c);
    for (std::size_t r = 0; r < 4; ++r) EXPECT_EQ(o.result.written.at("C")[r], static_cast<std::int64_t>(r) < n);
  }
}

/// mod_index without its parametric modulus, which the language core cannot say yet.
TEST(Cases, ModuloIndexIsPythons) {
  const std::string source =
      "def mod_index(B: i32[7], C: i32[N], X: out[i32[N, 16]]):\n"
      "    for i, j in grid(N, 16):\n"
      "        X[i, j] = B[j % 7] + C[i] * ((j - 5) // 2) + ((j - 9) % 4)\n";
  const auto floor_of = [](std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b))); };
  poly::Context context;
  const Program program = parse_tile_file(context.get(), source, "mod_index.tile").programs.front();
  for (const std::int64_t n : {0, 1, 3, 8}) {
    const Sizes sizes{{"N", n}};
    const Arrays arguments = make_arguments(program, sizes, 3, Fill::integers);
    const InterpreterResult result = interpret(program, sizes, arguments);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < 16; ++j) {
        const std::int64_t rest = (j - 9) - 4 * floor_of(j - 9, 4);
        const std::int64_t expected = arguments.at("B").get_integer(j % 7) + arguments.at("C").get_integer(i) * floor_of(j - 5, 2) + rest;
        EXPECT_EQ(result.values.at("X").get_integer(i * 16 + j), expected) << n << " " << i << " " << j;
      }
  }
}

TEST(Cases, CausalSoftmaxHasNoNan) {
  for (const std::int64_t s : {0, 1, 2, 7, 33}) {
    const Outcome o = run_case("causal_softmax", {{"S", s}}, Fill::uniform);
    for (std::int64_t i = 0; i < s; ++i) {
      double total = 0;
      for (std::int64_t j = 0; j < s; ++j) {
        const auto at = static_cast<std::size_t>(i * s + j);
        EXPECT_EQ(o.result.written.at("P")[at], j <= i);
        if (j <= i) total += o.result.values.at("P").get(i * s + j);
        EXPECT_FALSE(std::isnan(o.result.values.at("P").get(i * s + j)));
        EXPECT_LT(o.result.bound.at("P")[at], 1e-5);
      }
      EXPECT_NEAR(total, 1, 1e-5);
    }
  }
}

TEST(Cases, ScanIsThePrefixSum) {
  const Outcome o = run_case("scan", {{"R", 3}, {"N", 10}});
  for (std::int64_t r = 0; r < 3; ++r) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < 10; ++i) {
      sum += o.arguments.at("x").get_integer(r * 10 + i);
      EXPECT_EQ(o.result.values.at("y").get_integer(r * 10 + i), sum);
    }
  }
}

TEST(Cases, HankelReadsEverySecondElement) {
  const Outcome o = run_case("hankel", {{"N", 6}, {"W", 5}});
  for (std::int64_t i = 0; i < 6; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < 5; ++j) sum += o.arguments.at("A").get(2 * i + 2 * j + 1) * o.arguments.at("w").get(j);
    EXPECT_EQ(o.result.values.at("y").get(i), sum);
    EXPECT_EQ(o.result.bound.at("y")[static_cast<std::size_t>(i)], 0);
  }
}

TEST(Cases, BackEdgeSweepsInOrder) {
  const std::size_t n = 9;
  const Outcome o = run_case("back_edge", {{"N", 9}, {"T", 3}}, Fill::uniform);
  std::vector<double> a = reals_of(o.arguments.at("a"));
  for (int t = 0; t < 3; ++t) {
    const std::vector<double> old = a;
    for (std::size_t i = 1; i < n - 1; ++i) {
      const float sum = (static_cast<float>(old[i - 1]) + 2.0f * static_cast<float>(old[i])) + static_cast<float>(old[i + 1]);
      a[i] = 0.25f * sum;
    }
  }
  EXPECT_EQ(reals_of(o.result.values.at("a")), a);
}

TEST(Cases, OddReductionsOfIntegersAreExact) {
  for (const std::int64_t w : {0, 1, 3, 5, 33, 100}) {
    const Outcome o = run_case("odd_reduction", {{"R", 4}, {"W", w}});
    for (std::size_t r = 0; r < 4; ++r) {
      double sum = 0, greatest = -HUGE_VAL;
      for (std::int64_t c = 0; c < w; ++c) {
        const double x = o.arguments.at("X").get(static_cast<std::int64_t>(r) * w + c);
        sum += x;
        greatest = std::max(greatest, x);
      }
      EXPECT_EQ(o.result.values.at("S").get(static_cast<std::int64_t>(r)), sum);
      EXPECT_EQ(o.result.values.at("M").get(static_cast<std::int64_t>(r)), greatest);
      EXPECT_EQ(o.result.bound.at("S")[r], 0);
      EXPECT_EQ(o.result.bound.at("M")[r], 0);
    }
  }
}

/// Cases that the language core cannot say, and those that must be refused.
TEST(Cases, EveryOtherCaseRunsAtManySizes) {
  const std::set<std::string> refused = {"error_bounds", "error_shape", "error_uninitialised", "wide_index"};
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TILEOPT_SOURCE_DIR) + "/tests/cases")) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".tile" || refused.count(name)) continue;
    ++cases;
    poly::Context context;
    const Program program = parse_case(context.get(), "tests/cases/" + name + ".tile");
    for (const std::int64_t n : {0, 1, 2, 3, 8, 17, 33}) {
      SCOPED_TRACE(name + " " + std::to_string(n));
      Sizes sizes;
      for (const std::string& parameter : program.parameters()) sizes[parameter] = n;
      try {
        check_sizes(program, sizes);
      } catch (const Errors&) {
        continue;
      }
      const Arrays arguments = make_arguments(program, sizes, 5, Fill::integers);
      const InterpreterResult result = interpret(program, sizes, arguments);
      std::int64_t deviations = -1;
      compare(program, result, arguments, result.values, 1, &deviations);
      EXPECT_EQ(deviations, 0);
    }
  }
  EXPECT_EQ(cases, 17);
}

TEST(Cases, WideIndexIsRefusedWithoutRunning) {
  poly::Context context;
  const Program program = parse_case(context.get(), "tests/cases/wide_index.tile");
  EXPECT_EQ(count_instances(program, {}), std::int64_t(70000) * 70000 + 70000);
  EXPECT_THROW(interpret(program, {}, {}), Errors);
}

}  // namespace
}  // namespace tileopt
