#include "interpreter/interpreter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "program_fixture.h"

namespace tileopt {
namespace {
using namespace testing;
using enum ElementType;
using enum BinaryOp;

constexpr double inf = std::numeric_limits<double>::infinity();

Program gemm(isl::ctx ctx, ElementType type, ElementType accumulator) {
  ProgramText p(ctx, {"M", "N", "K"});
  p.tensor("A", type, {"M", "K"}, TensorRole::in).tensor("B", type, {"K", "N"}, TensorRole::in);
  p.tensor("C", accumulator, {"M", "N"}, TensorRole::out);
  p.statement("C_init", {"i", "j"}, "0 <= i < M and 0 <= j < N", "C[i, j]", Combine::assign, real(accumulator, 0));
  ExprPtr a = read(type, 0), b = read(type, 1);
  if (type != accumulator) a = cast(accumulator, a), b = cast(accumulator, b);
  p.statement("C", {"i", "j", "k"}, "0 <= i < M and 0 <= j < N and 0 <= k < K", "C[i, j]", Combine::sum, binary(mul, a, b),
              {"A[i, k]", "B[k, j]"});
  return p.build("i > j > (C_init ; C: k)");
}

/// Declared values and those of sums in reversed order lie within the bound of the shadow.
void expect_bounded(const InterpreterResult& result) {
  for (const auto& [tensor, values] : result.values)
    for (std::int64_t i = 0; i < values.elements(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (!result.written.at(tensor)[at]) continue;
      ASSERT_GE(result.bound.at(tensor)[at], 0) << tensor << " " << i;
      const double got = values.get(i), shadow = result.shadow.at(tensor)[at];
      if (got == shadow || (std::isnan(got) && std::isnan(shadow))) continue;
      ASSERT_LE(std::fabs(got - shadow), result.bound.at(tensor)[at]) << tensor << " " << i;
    }
}

TEST(Interpreter, GemmMatchesALoopNest) {
  poly::Context context;
  for (const auto& [type, accumulator] : {std::pair(f32, f32), std::pair(bf16, f32), std::pair(f16, f32), std::pair(f64, f64)}) {
    const Program program = gemm(context.get(), type, accumulator);
    const Sizes sizes{{"M", 5}, {"N", 7}, {"K", 11}};
    const Arrays arguments = make_arguments(program, sizes, 3, Fill::uniform);
    const InterpreterResult result = interpret(program, sizes, arguments);
    EXPECT_EQ(result.instances, 5 * 7 + 5 * 7 * 11);
    EXPECT_EQ(count_instances(program, sizes), result.instances);
    for (std::int64_t i = 0; i < 5; ++i)
      for (std::int64_t j = 0; j < 7; ++j) {
        float forward = 0, backward = 0;
        double exact = 0;
        for (std::int64_t k = 0; k < 11; ++k) {
          forward += static_cast<float>(arguments.at("A").get(i * 11 + k)) * static_cast<float>(arguments.at("B").get(k * 7 + j));
          const std::int64_t r = 10 - k;
          backward += static_cast<float>(arguments.at("A").get(i * 11 + r)) * static_cast<float>(arguments.at("B").get(r * 7 + j));
          exact += arguments.at("A").get(i * 11 + k) * arguments.at("B").get(k * 7 + j);
        }
        const auto at = static_cast<std::size_t>(i * 7 + j);
        if (accumulator == f32) {
          EXPECT_EQ(result.values.at("C").get(i * 7 + j), forward);
          EXPECT_LE(std::fabs(backward - result.shadow.at("C")[at]), result.bound.at("C")[at]);
          EXPECT_LT(result.bound.at("C")[at], 1e-5);
        }
        EXPECT_EQ(result.shadow.at("C")[at], exact);
      }
    expect_bounded(result);
  }
}

TEST(Interpreter, IntegerValuedFloatsAreExact) {
  poly::Context context;
  for (const ElementType type : {f32, bf16, f16}) {
    const Program program = gemm(context.get(), type, f32);
    const Sizes sizes{{"M", 9}, {"N", 6}, {"K", 100}};
    const InterpreterResult result = interpret(program, sizes, make_arguments(program, sizes, 1, Fill::integers));
    for (const double bound : result.bound.at("C")) EXPECT_EQ(bound, 0);
    EXPECT_EQ(reals_of(result.values.at("C")), result.shadow.at("C"));
  }
}

TEST(Interpreter, NarrowAccumulatorHasAWideBound) {
  poly::Context context;
  const Program program = gemm(context.get(), bf16, bf16);
  const Sizes sizes{{"M", 2}, {"N", 2}, {"K", 300}};
  const InterpreterResult result = interpret(program, sizes, make_arguments(program, sizes, 5, Fill::uniform));
  expect_bounded(result);
  for (const double bound : result.bound.at("C")) EXPECT_GT(bound, 1);
}

TEST(Interpreter, TriangularDomainAndPartialOutput) {
  poly::Context context;
  ProgramText p(context.get(), {"N"});
  p.tensor("A", i32, {"N", "N"}, TensorRole::in).tensor("C", i32, {"N", "N"}, TensorRole::inout);
  p.statement("C", {"i", "j"}, "0 <= i < N and i <= j < N", "C[i, j]", Combine::assign, read(i32, 0), {"A[j, i]"});
  const Program program = p.build("i > j");
  const Sizes sizes{{"N", 6}};
  const Arrays arguments = make_arguments(program, sizes, 2, Fill::integers);
  const InterpreterResult result = interpret(program, sizes, arguments);
  EXPECT_EQ(result.instances, 21);
  for (std::int64_t i = 0; i < 6; ++i)
    for (std::int64_t j = 0; j < 6; ++j) {
      EXPECT_EQ(result.written.at("C")[static_cast<std::size_t>(i * 6 + j)], j >= i);
      const std::int64_t expected = j >= i ? arguments.at("A").get_integer(j * 6 + i) : arguments.at("C").get_integer(i * 6 + j);
      EXPECT_EQ(result.values.at("C").get_integer(i * 6 + j), expected);
    }
}

TEST(Interpreter, EmptyReductionsGiveIdentities) {
  poly::Context context;
  ProgramText p(context.get(), {"R", "W"});
  p.tensor("X", f32, {"R", "W"}, TensorRole::in).tensor("S", f32, {"R"}, TensorRole::out).tensor("M", f32, {"R"}, TensorRole::out);
  p.statement("S_init", {"r"}, "0 <= r < R", "S[r]", Combine::assign, real(f32, 0));
  p.statement("S", {"r", "c"}, "0 <= r < R and 0 <= c < W", "S[r]", Combine::sum, read(f32, 0), {"X[r, c]"});
  p.statement("M_init", {"r"}, "0 <= r < R", "M[r]", Combine::assign, real(f32, -inf));
  p.statement("M", {"r", "c"}, "0 <= r < R and 0 <= c < W", "M[r]", Combine::max, read(f32, 0), {"X[r, c]"});
  const Program program = p.build("r > (S_init ; S: c ; M_init ; M: c)");
  for (const std::int64_t width : {0, 1, 5, 33}) {
    const Sizes sizes{{"R", 3}, {"W", width}};
    const Arrays arguments = make_arguments(program, sizes, 9, Fill::uniform);
    const InterpreterResult result = interpret(program, sizes, arguments);
    for (std::int64_t r = 0; r < 3; ++r) {
      double greatest = -inf;
      float sum = 0;
      for (std::int64_t c = 0; c < width; ++c) {
        greatest = std::max(greatest, arguments.at("X").get(r * width + c));
        sum += static_cast<float>(arguments.at("X").get(r * width + c));
      }
      EXPECT_EQ(result.values.at("M").get(r), greatest);
      EXPECT_EQ(result.values.at("S").get(r), sum);
      EXPECT_EQ(result.bound.at("M")[static_cast<std::size_t>(r)], 0);
    }
    std::int64_t count = -1;
    EXPECT_TRUE(compare(program, result, arguments, result.values, 10, &count).empty());
    EXPECT_EQ(count, 0);
  }
}

TEST(Interpreter, ReverseInPlaceIsSequential) {
  poly::Context context;
  ProgramText p(context.get(), {"N"});
  p.tensor("A", i32, {"N"}, TensorRole::inout);
  p.statement("A", {"i"}, "0 <= i < N", "A[i]", Combine::assign, binary(add, read(i32, 0), whole(i32, 1)), {"A[N - 1 - i]"});
  const Program program = p.build("i");
  for (const std::int64_t n : {0, 1, 2, 7, 8}) {
    const Sizes sizes{{"N", n}};
    const Arrays arguments = make_arguments(program, sizes, 4, Fill::integers);
    std::vector<std::int64_t> expected = integers_of(arguments.at("A"));
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = expected[expected.size() - 1 - i] + 1;
    EXPECT_EQ(integers_of(interpret(program, sizes, arguments).values.at("A")), expected);
  }
}

TEST(Interpreter, SeidelIsBitwiseSequential) {
  poly::Context context;
  ProgramText p(context.get(), {"N", "T"});
  p.tensor("A", f64, {"N", "N"}, TensorRole::inout);
  ExprPtr sum = read(f64, 0);
  for (std::size_t r = 1; r < 5; ++r) sum = binary(add, sum, read(f64, r));
  p.statement("A", {"t", "i", "j"}, "0 <= t < T and 1 <= i < N - 1 and 1 <= j < N - 1", "A[i, j]", Combine::assign,
              binary(divide, sum, real(f64, 5)), {"A[i - 1, j]", "A[i, j - 1]", "A[i, j]", "A[i, j + 1]", "A[i + 1, j]"});
  const Program program = p.build("t > i > j");
  const std::int64_t n = 9, steps = 4;
  const Sizes sizes{{"N", n}, {"T", steps}};
  const Arrays arguments = make_arguments(program, sizes, 8, Fill::uniform);
  std::vector<double> a = reals_of(arguments.at("A"));
  for (std::int64_t t = 0; t < steps; ++t)
    for (std::size_t i = 1; i < 8; ++i)
      for (std::size_t j = 1; j < 8; ++j)
        a[i * 9 + j] = (a[i * 9 - 9 + j] + a[i * 9 + j - 1] + a[i * 9 + j] + a[i * 9 + j + 1] + a[i * 9 + 9 + j]) / 5;
  const InterpreterResult result = interpret(program, sizes, arguments);
  EXPECT_EQ(reals_of(result.values.at("A")), a);
  EXPECT_EQ(count_instances(program, sizes), result.instances);
  expect_bounded(result);
}

TEST(Interpreter, FloydKeepsTheDataFlow) {
  poly::Context context;
  ProgramText p(context.get(), {"N"});
  p.tensor("D", i32, {"N", "N"}, TensorRole::inout);
  p.statement("D", {"k", "i", "j"}, "0 <= k < N and 0 <= i < N and 0 <= j < N", "D[i, j]", Combine::assign,
              binary(min, read(i32, 0), binary(add, read(i32, 1), read(i32, 2))), {"D[i, j]", "D[i, k]", "D[k, j]"});
  const Program program = p.build("k > i > j");
  const std::size_t n = 8;
  const Sizes sizes{{"N", 8}};
  const Arrays arguments = make_arguments(program, sizes, 6, Fill::integers);
  std::vector<std::int64_t> d = integers_of(arguments.at("D"));
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        d[i * n + j] = static_cast<std::int32_t>(std::min(d[i * n + j], d[i * n + k] + d[k * n + j]));
  EXPECT_EQ(integers_of(interpret(program, sizes, arguments).values.at("D")), d);
}

TEST(Interpreter, FloorAndModuloSubscriptsAndValues) {
  poly::Context context;
  ProgramText p(context.get(), {"N"});
  p.tensor("B", i32, {"7"}, TensorRole::in).tensor("X", i32, {"N", "16"}, TensorRole::out);
  p.statement("X", {"i", "j"}, "0 <= i < N and 0 <= j < 16", "X[i, j]", Combine::assign,
              binary(add, read(i32, 0), binary(mul, index(i32, 0), binary(sub, index(i32, 1), index(i32, 2)))),
              {"B[(3j + i) mod 7]"}, {"floor((j - 5)/2)", "(j - 9) mod 4", "floor((2i - 3j + floor((i - 1)/3))/5)"});
  const Program program = p.build("i > j");
  const Sizes sizes{{"N", 11}};
  const Arrays arguments = make_arguments(program, sizes, 6, Fill::integers);
  const InterpreterResult result = interpret(program, sizes, arguments);
  const auto floor_of = [](double a, double b) { return static_cast<std::int64_t>(std::floor(a / b)); };
  for (std::int64_t i = 0; i < 11; ++i)
    for (std::int64_t j = 0; j < 16; ++j) {
      const std::int64_t b = arguments.at("B").get_integer((3 * j + i) % 7);
      const std::int64_t rest = (j - 9) - 4 * floor_of(static_cast<double>(j - 9), 4);
      const std::int64_t last = floor_of(static_cast<double>(2 * i - 3 * j + floor_of(static_cast<double>(i - 1), 3)), 5);
      EXPECT_EQ(result.values.at("X").get_integer(i * 16 + j), b + floor_of(static_cast<double>(j - 5), 2) * (rest - last)) << i << " " << j;
    }
}

TEST(Interpreter, SelectIsLazy) {
  poly::Context context;
  ProgramText p(context.get(), {"N"});
  p.tensor("A", i32, {"N"}, TensorRole::in).tensor("B", i32, {"N"}, TensorRole::out);
  p.statement("B", {"i"}, "0 <= i < N", "B[i]", Combine::assign,
              select(compare(gt, index(i64, 0), whole(i64, 0)), read(i32, 0), whole(i32, -1)), {"A[i - 1] : i > 0"}, {"i"});
  const Program program = p.build("i");
  const Sizes sizes{{"N", 4}};
  Arrays arguments = make_arguments(program, sizes, 6, Fill::integers);
  arguments["A"] = integers(i32, {4}, {10, 20, 30, 40});
  EXPECT_EQ(integers_of(interpret(program, sizes, arguments).values.at("B")), (std::vector<std::int64_t>{-1, 10, 20, 30}));
}

TEST(Interpreter, LogicalOperatorsAreLazy) {
  poly::Context context;
  ProgramText p(context.get(), {"N"});
  p.tensor("A", i32, {"N"}, TensorRole::in).tensor("B", boolean, {"N"}, TensorRole::out);
  const ExprPtr inside = compare(gt, index(i64, 0), whole(i64, 0));
  const ExprPtr positive = compare(gt, read(i32, 0), whole(i32, 15));
  p.statement("B", {"i"}, "0 <= i < N", "B[i]", Combine::assign, compare(logical_and, inside, positive), {"A[i - 1] : i > 0"}, {"i"});
  const Program program = p.build("i");
  const Sizes sizes{{"N", 4}};
  Arrays arguments = make_arguments(program, sizes, 6, Fill::integers);
  arguments["A"] = integers(i32, {4}, {10, 20, 30, 40});
  EXPECT_EQ(integers_of(interpret(program, sizes, arguments).values.at("B")), (std::vector<std::int64_t>{0, 0, 1, 1}));
}

TEST(Interpreter, ReadOutsideItsDomainIsABug) {
  poly::Context context;
  ProgramText p(context.get(), {"N"});
  p.tensor("A", i32, {"N"}, TensorRole::in).tensor("B", i32, {"N"}, TensorRole::out);
  p.statement("B", {"i"}, "0 <= i < N", "B[i]", Combine::assign, read(i32, 0), {"A[i - 1] : i > 0"});
  const Program program = p.build("i");
  const Sizes sizes{{"N", 4}};
  EXPECT_THROW(interpret(program, sizes, make_arguments(program, sizes, 6, Fill::integers)), InternalError);
}

TEST(Interpreter, OutOfBoundsAndUninitialisedAreRefused) {
  poly::Context context;
  ProgramText outside(context.get(), {"N"});
  outside.tensor("A", i32, {"N"}, TensorRole::in).tensor("B", i32, {"N"}, TensorRole::out);
  outside.statement("B", {"i"}, "0 <= i < N", "B[i]", Combine::assign, read(i32, 0), {"A[i + 1]"});
  const Program first = outside.build("i");
  ProgramText unwritten(context.get(), {"N"});
  unwritten.tensor("A", i32, {"N"}, TensorRole::in).tensor("B", i32, {"N"}, TensorRole::out).tensor("t", i32, {"N"}, TensorRole::local);
  unwritten.statement("t", {"i"}, "1 <= i < N", "t[i]", Combine::assign, read(i32, 0), {"A[i]"});
  unwritten.statement("B", {"i"}, "0 <= i < N", "B[i]", Combine::assign, read(i32, 0), {"t[i]"});
  const Program second = unwritten.build("(t: i ; B: i)");
  const Sizes sizes{{"N", 4}};
  try {
    interpret(first, sizes, make_arguments(first, sizes, 6, Fill::integers));
    FAIL() << "no error";
  } catch (const Errors& errors) {
    EXPECT_EQ(errors.diagnostics().front().code, ErrorCode::out_of_bounds);
  }
  try {
    interpret(second, sizes, make_arguments(second, sizes, 6, Fill::integers));
    FAIL() << "no error";
  } catch (const Errors& errors) {
    EXPECT_EQ(errors.diagnostics().front().code, ErrorCode::uninitialised_read);
    EXPECT_EQ(errors.diagnostics().front().witness, "B[i = 0]");
  }
}

TEST(Interpreter, StatementsOfOneBandInterleave) {
  poly::Context context;
  ProgramText p(context.get(), {"N"});
  p.tensor("x", i32, {"1"}, TensorRole::inout).tensor("log", i32, {"2N + 6"}, TensorRole::inout);
  p.statement("x", {"i"}, "0 <= i < N", "x[0]", Combine::assign, binary(add, binary(mul, read(i32, 0), whole(i32, 3)), whole(i32, 1)), {"x[0]"});
  p.statement("x_2", {"i"}, "2 <= i < N + 2", "x[0]", Combine::assign, binary(sub, read(i32, 0), whole(i32, 2)), {"x[0]"});
  p.statement("log", {"i", "j"}, "1 <= i < N and 0 <= j < 2 and i mod 2 = 1", "log[2i + j]", Combine::assign, read(i32, 0), {"x[0]"});
  const Program program = p.build("i > (x ; log: j ; x_2)");
  const std::int64_t n = 6;
  const Sizes sizes{{"N", n}};
  Arrays arguments = make_arguments(program, sizes, 6, Fill::integers);
  std::int64_t x = arguments.at("x").get_integer(0);
  std::vector<std::int64_t> log = integers_of(arguments.at("log"));
  for (std::int64_t i = 0; i < n + 2; ++i) {
    if (i < n) x = 3 * x + 1;
    if (i >= 1 && i < n && i % 2 == 1) log[static_cast<std::size_t>(2 * i)] = log[static_cast<std::size_t>(2 * i + 1)] = x;
    if (i >= 2 && i < n + 2) x -= 2;
  }
  const InterpreterResult result = interpret(program, sizes, arguments);
  EXPECT_EQ(result.values.at("x").get_integer(0), x);
  EXPECT_EQ(integers_of(result.values.at("log")), log);
  EXPECT_EQ(result.instances, count_instances(program, sizes));
}

TEST(Interpreter, UnionsAndStridesOfDomains) {
  poly::Context context;
  ProgramText p(context.get(), {"N"});
  p.tensor("A", i32, {"N", "N"}, TensorRole::inout);
  p.statement("A", {"i", "j"}, "0 <= i < N and 0 <= j < N and (i + 1 < j or 2j < i) and exists k : i + j = 3k", "A[i, j]", Combine::sum,
              whole(i32, 100));
  const Program program = p.build("j > i");
  const Sizes sizes{{"N", 13}};
  const Arrays arguments = make_arguments(program, sizes, 1, Fill::integers);
  const InterpreterResult result = interpret(program, sizes, arguments);
  std::int64_t instances = 0;
  for (std::int64_t i = 0; i < 13; ++i)
    for (std::int64_t j = 0; j < 13; ++j) {
      const bool inside = (i + 1 < j || 2 * j < i) && (i + j) % 3 == 0;
      instances += inside;
      EXPECT_EQ(result.values.at("A").get_integer(i * 13 + j), arguments.at("A").get_integer(i * 13 + j) + (inside ? 100 : 0));
    }
  EXPECT_EQ(result.instances, instances);
  EXPECT_EQ(count_instances(program, sizes), instances);
}

TEST(Interpreter, CountsLargeDomainsQuickly) {
  poly::Context context;
  ProgramText p(context.get(), {"N", "M"});
  p.tensor("A", i32, {"1"}, TensorRole::inout);
  p.statement("A", {"i", "j", "k"}, "0 <= i < N and 0 <= j < N and 0 <= k < N", "A[0]", Combine::sum, whole(i32, 1));
  p.statement("A_2", {"i", "j"}, "0 <= i < M and 0 <= j <= i", "A[0]", Combine::sum, whole(i32, 1));
  const Program program = p.build("(A: i > j > k ; A_2: i > j)");
  EXPECT_EQ(count_instances(program, {{"N", 1000000}, {"M", 1000}}), std::int64_t(1000000) * 1000000 * 1000000 + 500500);
  EXPECT_EQ(count_instances(program, {{"N", 10000000}, {"M", 0}}), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(count_instances(program, {{"N", 0}, {"M", 4}}), 10);
  EXPECT_THROW(interpret(program, {{"N", 1000000}, {"M", 1}}, {}), Errors);
}

TEST(Interpreter, SizesAreChecked) {
  poly::Context context;
  ProgramText p(context.get(), {"N", "W"});
  p.context("N >= 3 and W <= N");
  p.tensor("A", f32, {"N - W", "N"}, TensorRole::inout).tensor("B", f32, {"8W - 8"}, TensorRole::in);
  p.statement("A", {"i"}, "0 <= i < N - W", "A[i, 0]", Combine::assign, real(f32, 1));
  const Program program = p.build("i");
  const auto message_of = [&](const Sizes& sizes) -> std::string {
    try {
      check_sizes(program, sizes);
    } catch (const Errors& errors) {
      EXPECT_EQ(errors.diagnostics().front().code, ErrorCode::invalid_size);
      EXPECT_FALSE(errors.diagnostics().front().hint.empty());
      return errors.diagnostics().front().message;
    }
    return "";
  };
  EXPECT_EQ(message_of({{"N", 4}, {"W", 2}}), "");
  EXPECT_NE(message_of({{"N", 4}}).find("`W`"), std::string::npos);
  EXPECT_NE(message_of({{"N", 4}, {"W", 2}, {"Q", 1}}).find("`Q`"), std::string::npos);
  EXPECT_NE(message_of({{"N", 2}, {"W", 2}}).find("N >= 3"), std::string::npos) << message_of({{"N", 2}, {"W", 2}});
  EXPECT_NE(message_of({{"N", 4}, {"W", 5}}).find("W <= N"), std::string::npos) << message_of({{"N", 4}, {"W", 5}});
  EXPECT_NE(message_of({{"N", 4}, {"W", 0}}).find("extent 0 of `B` is -8"), std::string::npos) << message_of({{"N", 4}, {"W", 0}});
  EXPECT_NE(message_of({{"N", std::int64_t(1) << 40}, {"W", 2}}).find("overflow"), std::string::npos);
  EXPECT_EQ(evaluate_shape(program.tensor("A"), {{"N", 7}, {"W", 2}}), (std::vector<std::int64_t>{5, 7}));
}

TEST(Interpreter, ScalarsAndRankZero) {
  poly::Context context;
  ProgramText p(context.get(), {"N"});
  p.tensor("alpha", f32, {}, TensorRole::in).tensor("X", f32, {"N"}, TensorRole::in).tensor("s", f32, {}, TensorRole::out);
  p.statement("s_init", {}, "", "s[]", Combine::assign, real(f32, 0));
  p.statement("s", {"i"}, "0 <= i < N", "s[]", Combine::sum, binary(mul, read(f32, 0), read(f32, 1)), {"alpha[]", "X[i]"});
  const Program program = p.build("(s_init ; s: i)");
  const Sizes sizes{{"N", 5}};
  const Arrays arguments = make_arguments(program, sizes, 6, Fill::integers);
  double expected = 0;
  for (std::int64_t i = 0; i < 5; ++i) expected += arguments.at("alpha").get(0) * arguments.at("X").get(i);
  EXPECT_EQ(interpret(program, sizes, arguments).values.at("s").get(0), expected);
}

TEST(Interpreter, ArgumentsAreReproducible) {
  poly::Context context;
  const Program program = gemm(context.get(), bf16, f32);
  const Sizes sizes{{"M", 3}, {"N", 4}, {"K", 5}};
  const Arrays a = make_arguments(program, sizes, 17, Fill::uniform), b = make_arguments(program, sizes, 17, Fill::uniform);
  const Arrays c = make_arguments(program, sizes, 18, Fill::uniform);
  EXPECT_EQ(a.at("A").bytes, b.at("A").bytes);
  EXPECT_NE(a.at("A").bytes, c.at("A").bytes);
  EXPECT_NE(a.at("A").bytes, a.at("B").bytes);
  EXPECT_EQ(a.at("A").get(0), 0.2421875);
  EXPECT_EQ(a.at("B").get(7), 0.140625);
  EXPECT_TRUE(std::isnan(a.at("C").get(0)));
  for (const double x : reals_of(a.at("A"))) EXPECT_TRUE(x >= -1 && x < 1);
  for (const double x : reals_of(make_arguments(program, sizes, 1, Fill::integers).at("A"))) EXPECT_TRUE(std::fabs(x) <= 8 && x == std::floor(x));
}

TEST(Interpreter, CompareFindsPlantedDeviations) {
  poly::Context context;
  ProgramText p(context.get(), {"N"});
  p.tensor("A", f32, {"N"}, TensorRole::in).tensor("F", f32, {"N", "2"}, TensorRole::inout).tensor("I", i32, {"N"}, TensorRole::out);
  p.statement("F", {"i"}, "0 <= i < N", "F[i, 0]", Combine::assign, call(Function::exp, read(f32, 0)), {"A[i]"});
  p.statement("I", {"i"}, "0 <= i < N", "I[i]", Combine::assign, index(i32, 0), {}, {"3i"});
  const Program program = p.build("(F: i ; I: i)");
  const Sizes sizes{{"N", 4}};
  const Arrays arguments = make_arguments(program, sizes, 6, Fill::uniform);
  const InterpreterResult result = interpret(program, sizes, arguments);
  std::int64_t count = 0;
  Arrays got = result.values;
  EXPECT_TRUE(compare(program, result, arguments, got, 10, &count).empty());
  got["F"].set(2, got["F"].get(2) * (1 + 0x1p-23));
  EXPECT_TRUE(compare(program, result, arguments, got, 10, &count).empty()) << "one unit in the last place is allowed";
  got["F"].set(2, got["F"].get(2) * (1 + 0x1p-18));
  got["F"].set(5, got["F"].get(5) + 1);
  got["I"].set_integer(3, 10);
  const std::vector<Deviation> deviations = compare(program, result, arguments, got, 2, &count);
  EXPECT_EQ(count, 3);
  ASSERT_EQ(deviations.size(), 2u);
  EXPECT_EQ(deviations[0].tensor, "F");
  EXPECT_EQ(deviations[0].index, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(deviations[1].index, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(deviations[1].allowed, 0);
  EXPECT_EQ(deviations[0].text().substr(0, 10), "F[1, 0] is");
}

TEST(Interpreter, ThroughputIsMillionsOfInstancesASecond) {
  poly::Context context;
  const Program program = gemm(context.get(), f32, f32);
  const Sizes sizes{{"M", 128}, {"N", 128}, {"K", 128}};
  const Arrays arguments = make_arguments(program, sizes, 3, Fill::uniform);
  const auto start = std::chrono::steady_clock::now();
  const InterpreterResult result = interpret(program, sizes, arguments);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("instances_per_second", std::to_string(static_cast<double>(result.instances) / seconds));
  std::printf("%.1f million instances a second\n", static_cast<double>(result.instances) / seconds / 1e6);
  EXPECT_GT(static_cast<double>(result.instances) / seconds, 2e5);
}

}  // namespace
}  // namespace tileopt
