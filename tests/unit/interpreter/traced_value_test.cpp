#include "interpreter/traced_value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "interpreter/number.h"
#include "interpreter/traced_array.h"
#include "program_fixture.h"

namespace tileopt {
namespace {
using namespace testing;
using enum ElementType;
using enum BinaryOp;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const std::vector<ElementType> float_types = {f64, f32, f16, bf16};

/// Deterministic values in [-1, 1).
class Stream {
 public:
  double next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(static_cast<std::int64_t>(state_) >> 11) * 0x1p-52;
  }

 private:
  std::uint64_t state_ = 99;
};

TracedValue near(double shadow, double bound, ElementType type) {
  TracedValue value = TracedValue::exact_real(round_to_type(shadow, type));
  value.shadow = shadow;
  value.bound = bound;
  return value;
}

TEST(TracedValue, OneRoundingIsCovered) {
  Stream stream;
  for (const ElementType type : float_types)
    for (int i = 0; i < 2000; ++i) {
      const double x = stream.next() * std::ldexp(1.0, i % 40 - 30);
      EXPECT_LE(std::fabs(round_to_type(x, type) - x), rounding_bound(std::fabs(x), type)) << type_name(type) << " " << x;
      EXPECT_LE(rounding_bound(1, type), 1.1 * unit_roundoff(type) + 0x1p-52);
    }
}

TEST(TracedValue, ExactOperationsKeepBoundZero) {
  const ErrorModel model;
  for (const ElementType type : float_types) {
    const TracedValue a = TracedValue::exact_real(12), b = TracedValue::exact_real(-0.75);
    for (const BinaryOp op : {add, sub, mul, BinaryOp::min, BinaryOp::max}) EXPECT_EQ(traced_binary(op, a, b, type, model, false).bound, 0);
    EXPECT_EQ(traced_binary(divide, a, TracedValue::exact_real(0.5), type, model, false).bound, 0);
    EXPECT_GT(traced_binary(divide, a, TracedValue::exact_real(7), type, model, false).bound, 0);
  }
  const TracedValue one = TracedValue::exact_real(1), tiny = TracedValue::exact_real(0x1p-60);
  EXPECT_GT(traced_binary(add, one, tiny, f32, model, false).bound, 0);
  EXPECT_GT(traced_binary(add, one, tiny, f64, model, false).bound, 0);
}

/// Whatever the operands are within their bounds, the rounded result is within the result's bound.
TEST(TracedValue, BoundsCoverPerturbedOperands) {
  const ErrorModel model;
  Stream stream;
  for (const ElementType type : float_types)
    for (int i = 0; i < 3000; ++i) {
      const double x = 4 * stream.next(), y = 4 * stream.next();
      const double bx = std::fabs(stream.next()) * 0.01, by = std::fabs(stream.next()) * 0.01;
      for (const BinaryOp op : {add, sub, mul, divide, BinaryOp::min, BinaryOp::max}) {
        const TracedValue result = traced_binary(op, near(x, bx, type), near(y, by, type), type, model, false);
        for (int trial = 0; trial < 4; ++trial) {
          const double px = x + bx * stream.next(), py = y + by * stream.next();
          const double exact = float_binary(op, px, py, f64);
          const double legal = op == BinaryOp::min || op == BinaryOp::max ? exact : round_to_type(exact, type);
          EXPECT_LE(std::fabs(legal - result.shadow), result.bound) << op_name(op) << " " << px << " " << py;
        }
      }
    }
}

TEST(TracedValue, FunctionsCoverPerturbedArguments) {
  const ErrorModel model;
  Stream stream;
  for (const ElementType type : {f64, f32, bf16})
    for (int i = 0; i < 1000; ++i) {
      const double x = 3 + 2.9 * stream.next(), bound = std::fabs(stream.next()) * (i % 2 ? 0.01 : 0.5);
      for (const Function f : {Function::exp, Function::exp2, Function::log, Function::sqrt, Function::rsqrt, Function::tanh, Function::erf,
                               Function::abs, Function::floor, Function::ceil, Function::round}) {
        const TracedValue result = traced_function(f, near(x, bound, type), type, model);
        for (int trial = 0; trial < 3; ++trial) {
          const double moved = x + bound * stream.next();
          if (moved <= 0) continue;
          const double exact = float_function(f, moved, f64);
          const double legal = f == Function::abs ? exact : round_to_type(exact, type);
          EXPECT_LE(std::fabs(legal - result.shadow), result.bound) << function_name(f) << " " << moved << " at " << x << " +- " << bound;
        }
      }
    }
}

TEST(TracedValue, SpecialValues) {
  const ErrorModel model;
  const TracedValue zero = TracedValue::exact_real(0), infinite = TracedValue::exact_real(inf), one = TracedValue::exact_real(1);
  EXPECT_EQ(traced_binary(add, infinite, one, f32, model, false).bound, 0);
  const TracedValue undefined = traced_binary(sub, infinite, infinite, f32, model, false);
  EXPECT_TRUE(std::isnan(undefined.real));
  EXPECT_EQ(undefined.bound, 0);
  EXPECT_EQ(traced_binary(divide, one, zero, f32, model, false).bound, 0);
  EXPECT_EQ(traced_binary(divide, one, near(0.001, 0.01, f32), f32, model, false).bound, inf);
  EXPECT_EQ(traced_function(Function::exp, TracedValue::exact_real(-inf), f32, model).real, 0);
  const TracedValue overflow = traced_binary(mul, TracedValue::exact_real(60000), TracedValue::exact_real(2), f16, model, false);
  EXPECT_EQ(overflow.real, inf);
  EXPECT_EQ(overflow.shadow, inf) << "a certain overflow is infinite in every evaluation";
  EXPECT_EQ(overflow.bound, 0);
  EXPECT_EQ(traced_binary(add, near(65500, 50, f16), one, f16, model, false).bound, inf) << "rounding decides whether it overflows";
}

TEST(TracedValue, CastsToIntegersNoteWhatRoundingDecides) {
  EXPECT_EQ(traced_cast(near(2.5, 0.1, f32), f32, i32).bound, 0);
  EXPECT_EQ(traced_cast(near(2.0, 0.1, f32), f32, i32).bound, 1);
  EXPECT_EQ(traced_cast(near(300, 1, f32), f32, i8).bound, 0);
  EXPECT_EQ(traced_cast(TracedValue::exact_real(nan), f32, i32).integer, 0);
  EXPECT_EQ(traced_cast(TracedValue::exact_integer(16777217), i32, f32).real, 16777216);
  EXPECT_GT(traced_cast(TracedValue::exact_integer(16777217), i32, f32).bound, 0);
  EXPECT_EQ(traced_cast(TracedValue::exact_integer(16777217), i32, f64).bound, 0);
  EXPECT_EQ(traced_cast(TracedValue::exact_integer(300), i32, u8).integer, 44);
}

TEST(TracedValue, ComparisonsNoteTies) {
  const ErrorModel model;
  EXPECT_EQ(traced_binary(lt, near(1, 0.1, f32), near(1.5, 0.1, f32), f32, model, false).bound, 0);
  EXPECT_EQ(traced_binary(lt, near(1, 0.1, f32), near(1.15, 0.1, f32), f32, model, false).bound, 1);
  EXPECT_EQ(traced_binary(lt, TracedValue::exact_real(1), TracedValue::exact_real(1), f32, model, false).bound, 0);
}

TEST(TracedArray, LowestBits) {
  EXPECT_EQ(lowest_bit(1), 0);
  EXPECT_EQ(lowest_bit(-12), 2);
  EXPECT_EQ(lowest_bit(0.75), -2);
  EXPECT_EQ(lowest_bit(0x1p-1074), -1074);
  EXPECT_GT(lowest_bit(0), 1000);
}

/// Sums of one list in several orders, each rounded to the type.
std::vector<double> sums_in_orders(const std::vector<double>& terms, ElementType type) {
  const auto plus = [type](double a, double b) { return float_binary(add, a, b, type); };
  double forward = 0, backward = 0, even = 0, odd = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    forward = plus(forward, terms[i]);
    backward = plus(backward, terms[terms.size() - 1 - i]);
    (i % 2 ? odd : even) = plus(i % 2 ? odd : even, terms[i]);
  }
  std::vector<double> level = terms;
  while (level.size() > 1) {
    std::vector<double> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(plus(level[i], level[i + 1]));
    if (level.size() % 2) next.push_back(level.back());
    level = next;
  }
  return {forward, backward, plus(even, odd), level.empty() ? 0 : level.front()};
}

TEST(TracedArray, SumBoundsCoverEveryOrder) {
  poly::Context context;
  Stream stream;
  const ErrorModel model;
  for (const ElementType type : float_types)
    for (const int count : {0, 1, 2, 3, 10, 100, 1000}) {
      const Tensor tensor{"S", type, {}, TensorRole::local, {}};
      TracedArray array(tensor, {1}, nullptr, true);
      array.assign(0, TracedValue::exact_real(0));
      std::vector<double> terms;
      for (int i = 0; i < count; ++i) {
        terms.push_back(round_to_type(stream.next() * std::ldexp(1.0, i % 7), type));
        array.combine(0, Combine::sum, TracedValue::exact_real(terms.back()), model, true);
      }
      const TracedValue sum = array.load(0);
      for (const double legal : sums_in_orders(terms, type)) EXPECT_LE(std::fabs(legal - sum.shadow), sum.bound) << type_name(type) << " " << count;
      EXPECT_TRUE(count >= 2 || sum.bound == 0);
    }
}

TEST(TracedArray, SumsOfSmallIntegersAreExactUntilTheyAreNot) {
  poly::Context context;
  const ErrorModel model;
  const Tensor tensor{"S", bf16, {}, TensorRole::local, {}};
  TracedArray array(tensor, {1}, nullptr, true);
  array.assign(0, TracedValue::exact_real(0));
  for (int i = 1; i <= 300; ++i) {
    array.combine(0, Combine::sum, TracedValue::exact_real(i % 2 ? 1 : -1), model, true);
    EXPECT_EQ(array.load(0).bound == 0, i <= 256) << i;
  }
}

/// y[i] = y[i - 1]; y[i] += x[i]: partial sums that cancel do not hide what another order would round.
TEST(TracedArray, CopiedSumsCoverEveryOrderToo) {
  poly::Context context;
  Stream stream;
  const ErrorModel model;
  const isl::pw_aff extent(context.get(), "{ [(64)] }");
  for (const ElementType type : float_types) {
    const Tensor tensor{"y", type, {extent}, TensorRole::local, {}};
    TracedArray array(tensor, {64}, nullptr, true);
    std::vector<double> terms;
    for (int i = 0; i < 64; ++i) {
      if (i == 0) array.assign(0, TracedValue::exact_real(0));
      else array.copy(i, array, i - 1);
      terms.push_back(round_to_type((i % 2 ? -1 : 1) * (1 + stream.next()), type));
      array.combine(i, Combine::sum, TracedValue::exact_real(terms.back()), model, true);
      const TracedValue sum = array.load(i);
      for (const double legal : sums_in_orders(terms, type)) EXPECT_LE(std::fabs(legal - sum.shadow), sum.bound) << type_name(type) << " " << i;
    }
  }
}

TEST(TracedArray, InfiniteTermsAreCertain) {
  const ErrorModel model;
  const Tensor tensor{"S", f32, {}, TensorRole::local, {}};
  TracedArray array(tensor, {1}, nullptr, true);
  array.assign(0, TracedValue::exact_real(0));
  array.combine(0, Combine::sum, TracedValue::exact_real(inf), model, true);
  array.combine(0, Combine::sum, TracedValue::exact_real(0.1), model, true);
  EXPECT_EQ(array.load(0).real, inf);
  EXPECT_EQ(array.load(0).bound, 0);
  array.combine(0, Combine::sum, TracedValue::exact_real(-inf), model, true);
  EXPECT_TRUE(std::isnan(array.load(0).real));
  EXPECT_EQ(array.load(0).bound, 0);
}

/// Where rounding decides a condition, the bound covers both branches.
TEST(Interpreter, AmbiguousConditionsCoverBothBranches) {
  poly::Context context;
  ProgramText p(context.get(), {"N"});
  p.tensor("A", f32, {"N"}, TensorRole::in).tensor("B", f32, {"N"}, TensorRole::out).tensor("I", i32, {"N"}, TensorRole::out);
  const ExprPtr tenth = binary(mul, read(f32, 0), real(f32, 0.1));
  const ExprPtr sum = binary(add, binary(add, tenth, tenth), tenth);
  const ExprPtr product = binary(mul, read(f32, 0), real(f32, 0.3));
  p.statement("B", {"i"}, "0 <= i < N", "B[i]", Combine::assign, select(compare(gt, sum, product), real(f32, 10), real(f32, 20)), {"A[i]"});
  p.statement("I", {"i"}, "0 <= i < N", "I[i]", Combine::assign, cast(i32, binary(mul, sum, real(f32, 10))), {"A[i]"});
  const Program program = p.build("(B: i ; I: i)");
  const Sizes sizes{{"N", 2}};
  Arrays arguments = make_arguments(program, sizes, 1, Fill::uniform);
  arguments["A"].set(0, 1);
  arguments["A"].set(1, 0);
  InterpreterResult result = interpret(program, sizes, arguments);
  EXPECT_GE(result.bound.at("B")[0], 10);
  EXPECT_EQ(result.bound.at("B")[1], 0);
  EXPECT_EQ(result.bound.at("I")[0], 1);
  Arrays got = result.values;
  got["B"].set(0, got["B"].get(0) == 10 ? 20 : 10);
  got["I"].set_integer(0, got["I"].get_integer(0) == 3 ? 2 : 3);
  std::int64_t count = -1;
  compare(program, result, arguments, got, 1, &count);
  EXPECT_EQ(count, 0);
  got["B"].set(1, 10 + 20 - got["B"].get(1));
  compare(program, result, arguments, got, 1, &count);
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace tileopt
