/// Every operator, conversion and function of statement bodies, printed, compiled and compared with the reference semantics.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "ast_oracle.h"
#include "fixture.h"
#include "interpreter/number.h"

namespace tileopt {
namespace {

using namespace test;

const std::vector<ElementType> all_types = {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::i64,
                                            ElementType::i32, ElementType::i16, ElementType::i8,  ElementType::u64,  ElementType::u32,
                                            ElementType::u16, ElementType::u8,  ElementType::boolean};

/// Statements `out[i] = body(in0[i], in1[i])`, many to a program, each in a kernel of its own loop.
class Battery {
 public:
  Battery() : text_("battery") { text_.sizes({"N"}); }

  std::string input(ElementType type, std::vector<double> reals, std::vector<std::int64_t> integers) {
    const std::string name = "in" + std::to_string(inputs_.size());
    text_.tensor(name, type, {"N"}, TensorRole::in);
    inputs_.push_back({name, type, std::move(reals), std::move(integers)});
    return name;
  }
  void add(ElementType type, ExprPtr body, const std::vector<std::string>& reads) {
    const std::string name = "out" + std::to_string(outputs_.size());
    outputs_.push_back({name, type});
    bodies_.push_back({name, std::move(body), reads});
    text_.tensor(name, type, {"N"}, TensorRole::out);
  }

  /// Compares all outputs exactly (NaN with NaN). Undefined behaviour of the printed code traps.
  void check(std::int64_t n, const std::string& compiler, const Machine& machine, const std::string& optimisation = "-O1") {
    for (const Body& b : bodies_) {
      std::vector<std::string> accesses;
      for (const std::string& r : b.reads) accesses.push_back(r + "[i]");
      text_.statement(b.name, {"i"}, "0 <= i < N", b.name + "[i]", Combine::assign, b.expr, accesses);
    }
    const Program program = text_.build();
    Ast ast;
    ast.kernel = "battery";
    std::vector<AstNodePtr> loops;
    for (const Body& b : bodies_) {
      AstStatement s;
      s.name = s.statement = b.name;
      s.kind = "compute";
      s.instance_steps = {{}};
      s.write_array = b.name;
      s.write_steps = {{}};
      s.read_arrays = b.reads;
      s.read_steps.assign(b.reads.size(), {{}});
      ast.statements[b.name] = s;
      AstLeaf leaf;
      leaf.statement = b.name;
      leaf.instance = leaf.write = {ast_name("i")};
      leaf.reads.assign(b.reads.size(), {ast_name("i")});
      loops.push_back(make_node(AstFor{"i", "i", "simd", ast_integer(0), parse_ast_expr("N - 1", ""), 1, make_node(leaf)}));
    }
    ast.root = make_node(AstBlock{loops});
    Arrays arguments;
    for (const Input& in : inputs_) {
      HostArray array(in.type, {n});
      for (std::int64_t i = 0; i < n; ++i) {
        if (is_float(in.type)) array.set(i, in.reals[static_cast<std::size_t>(i)]);
        else array.set_integer(i, in.integers[static_cast<std::size_t>(i)]);
      }
      arguments[in.name] = array;
    }
    for (const auto& [name, type] : outputs_) arguments[name] = HostArray(type, {n});
    AstOracle oracle(program, {{"N", n}}, arguments);
    oracle.run(ast);
    const CompiledKernel kernel = CompiledKernel::compile(program, print(program, {ast}, machine), machine, {compiler, {optimisation, "-Wall", "-Wextra", "-Werror", "-Wno-pass-failed", "-fsanitize=undefined,float-cast-overflow", "-fsanitize-undefined-trap-on-error"}});
    ASSERT_EQ(kernel.run({{"N", n}}, arguments), 0);
    int shown = 0;
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      const auto& [name, type] = outputs_[o];
      const HostArray& expected = oracle.arrays().at(name);
      for (std::int64_t i = 0; i < n && shown < 20; ++i) {
        const bool same = is_float(type) ? same_float(arguments[name].get(i), expected.get(i))
                                         : arguments[name].get_integer(i) == expected.get_integer(i);
        if (same) continue;
        ++shown;
        ADD_FAILURE() << expr_text(bodies_[o].expr) << " of type " << type_name(type) << " at element " << i << ": " << describe(bodies_[o], arguments, i)
                      << " gave " << show(arguments[name], i) << ", expected " << show(expected, i);
      }
    }
  }

 private:
  struct Input {
    std::string name;
    ElementType type;
    std::vector<double> reals;
    std::vector<std::int64_t> integers;
  };
  struct Body {
    std::string name;
    ExprPtr expr;
    std::vector<std::string> reads;
  };
  static bool same_float(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }
  static std::string show(const HostArray& array, std::int64_t i) {
    return is_float(array.type) ? std::to_string(array.get(i)) : std::to_string(array.get_integer(i));
  }
  static std::string describe(const Body& body, const Arrays& arrays, std::int64_t i) {
    std::string text;
    for (const std::string& r : body.reads) text += (text.empty() ? "" : ", ") + type_name(arrays.at(r).type) + " " + show(arrays.at(r), i);
    return text;
  }

  ProgramText text_;
  std::vector<Input> inputs_;
  std::vector<std::pair<std::string, ElementType>> outputs_;
  std::vector<Body> bodies_;
};

std::vector<double> interesting_reals() {
  std::vector<double> values = {0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 127, 128, -128, -129, 255, 256, 32767, 32768, -32769,
                                65504, 65519.99, 65520, 65535, 65536, 2147483647.0, 2147483648.0, -2147483648.0, -2147483904.0, 4294967296.0,
                                9223372036854775807.0, -9223372036854775808.0, 1.8446744073709552e19, 1e38, 3.4028235677973366e38, 1e300,
                                -1e300, 1e-8, 6e-8, 2.98e-8, 5.96e-8, 6.1e-5, 6.09e-5, 1e-40, 1e-46, 1.00390625, 1.01171875, 1.0009765625,
                                1.00048828125, 1.00146484375, 1.0039062500001, 1.00048828125001, INFINITY, -INFINITY, NAN};
  return values;
}
std::vector<std::int64_t> interesting_integers() {
  return {0, 1, -1, 2, -2, 3, -3, 5, 7, -7, 8, 31, 32, 63, 64, 100, -100, 127, 128, -128, -129, 255, 256, 257, 32767, 32768, -32768, 65535, 65536,
          (1 << 24) + 1, 2147483647, 2147483648, -2147483648LL, 4294967295, 4294967296, (1LL << 53) + 1, 9007199254740995, -9007199791611905,
          33619969, 16908289, 0x7fffffffffffffff, INT64_MIN, INT64_MIN + 1, 0x1fffffff00000001, 0x4040000000000001};
}

/// All pairs of interesting values of one type.
struct Pairs {
  std::vector<double> left_reals, right_reals;
  std::vector<std::int64_t> left, right;
  explicit Pairs(ElementType type) {
    if (is_float(type)) {
      for (const double a : interesting_reals())
        for (const double b : interesting_reals()) {
          left_reals.push_back(a);
          right_reals.push_back(b);
        }
    } else {
      std::set<std::int64_t> values;
      for (const std::int64_t v : interesting_integers()) values.insert(wrap_integer(v, type));
      for (int repeat = 0; repeat < 2600;)
        for (const std::int64_t a : values)
          for (const std::int64_t b : values) {
            left.push_back(a);
            right.push_back(b);
            ++repeat;
          }
    }
  }
  std::int64_t count(ElementType type) const { return static_cast<std::int64_t>(is_float(type) ? left_reals.size() : left.size()); }
};

void check_operators(const std::vector<ElementType>& types, const std::string& compiler, const Machine& machine) {
  Battery battery;
  std::int64_t n = INT64_MAX;
  for (const ElementType type : types) {
    const Pairs pairs(type);
    n = std::min(n, pairs.count(type));
    const std::string a = battery.input(type, pairs.left_reals, pairs.left);
    const std::string b = battery.input(type, pairs.right_reals, pairs.right);
    std::vector<BinaryOp> operators = {BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::min, BinaryOp::max};
    if (is_float(type)) operators.push_back(BinaryOp::divide);
    else
      for (const BinaryOp op : {BinaryOp::bit_and, BinaryOp::bit_or, BinaryOp::bit_xor, BinaryOp::shift_left, BinaryOp::shift_right})
        operators.push_back(op);
    if (is_integer(type)) operators.insert(operators.end(), {BinaryOp::floor_div, BinaryOp::modulo});
    for (const BinaryOp op : operators) battery.add(type, binary(op, read(0, type), read(1, type)), {a, b});
    for (const BinaryOp op : {BinaryOp::lt, BinaryOp::le, BinaryOp::gt, BinaryOp::ge, BinaryOp::eq, BinaryOp::ne})
      battery.add(ElementType::boolean, compare(op, read(0, type), read(1, type)), {a, b});
    battery.add(type, make_expr(type, Unary{UnaryOp::negate, read(0, type)}), {a});
    if (!is_float(type)) battery.add(type, make_expr(type, Unary{UnaryOp::bit_not, read(0, type)}), {a});
    battery.add(type, make_expr(type, Select{compare(BinaryOp::lt, read(0, type), read(1, type)), read(1, type), read(0, type)}), {a, b});
    for (const Function function : {Function::abs, Function::floor, Function::ceil, Function::round})
      if (is_float(type) || is_integer(type)) battery.add(type, call(function, read(0, type)), {a});
    if (is_float(type)) battery.add(type, call(Function::sqrt, read(0, type)), {a});
  }
  battery.check(n, compiler, machine);
}

TEST(Semantics, FloatOperators) {
  for (const std::string& compiler : compilers())
    check_operators({ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16}, compiler, test_machine());
}
TEST(Semantics, IntegerOperators) {
  check_operators({ElementType::i64, ElementType::i32, ElementType::i16, ElementType::i8}, compilers().front(), test_machine());
  check_operators({ElementType::u64, ElementType::u32, ElementType::u16, ElementType::u8}, compilers().back(), test_machine());
}
TEST(Semantics, BoolOperators) {
  Battery battery;
  const std::string a = battery.input(ElementType::boolean, {}, {0, 0, 1, 1});
  const std::string b = battery.input(ElementType::boolean, {}, {0, 1, 0, 1});
  const ElementType type = ElementType::boolean;
  for (const BinaryOp op : {BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::min, BinaryOp::max, BinaryOp::bit_and, BinaryOp::bit_or,
                            BinaryOp::bit_xor, BinaryOp::shift_left, BinaryOp::shift_right, BinaryOp::logical_and, BinaryOp::logical_or})
    battery.add(type, binary(op, read(0, type), read(1, type)), {a, b});
  for (const UnaryOp op : {UnaryOp::negate, UnaryOp::logical_not, UnaryOp::bit_not}) battery.add(type, make_expr(type, Unary{op, read(0, type)}), {a});
  battery.check(4, compilers().front(), test_machine());
}

TEST(Semantics, Conversions) {
  Battery battery;
  const std::int64_t n = 40;
  for (const ElementType from : all_types) {
    std::vector<std::int64_t> integers;
    for (const std::int64_t v : interesting_integers()) integers.push_back(is_float(from) ? 0 : wrap_integer(v, from));
    std::vector<double> reals = interesting_reals();
    if (is_float(from)) std::reverse(reals.begin(), reals.end());
    const std::string input = battery.input(from, reals, std::vector<std::int64_t>(integers.rbegin(), integers.rend()));
    for (const ElementType to : all_types)
      if (from != to) battery.add(to, cast(to, read(0, from)), {input});
  }
  ASSERT_GE(interesting_integers().size(), static_cast<std::size_t>(n));
  battery.check(n, compilers().front(), plain_machine(), "-O0");
}

TEST(Semantics, LiteralsKeepTheirValues) {
  Battery battery;
  const std::string in = battery.input(ElementType::f32, {0}, {0});
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16})
    for (const double value : {0.1, -0.2, 1e30, 65519.0, 65520.0, 1.00390625, 1e-40, 3.0, -0.0, double(INFINITY), -double(INFINITY), double(NAN), 1e-310})
      battery.add(type, real(value, type), {});
  for (const ElementType type : all_types)
    if (!is_float(type))
      for (const std::int64_t value : interesting_integers()) battery.add(type, integer(wrap_integer(value, type), type), {});
  battery.check(1, compilers().front(), plain_machine(), "-O0");
}

/// All 65536 values of the 16-bit floats through rounding, loads and stores, and functions of them.
TEST(Semantics, SixteenBitFloatsExhaustively) {
  Battery battery;
  for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
    std::vector<double> values;
    for (int bits = 0; bits < 65536; ++bits) {
      const auto pattern = static_cast<std::uint16_t>(bits);
      values.push_back(type == ElementType::f16 ? f16_value(pattern) : bf16_value(pattern));
    }
    const std::string in = battery.input(type, values, {});
    battery.add(ElementType::f32, cast(ElementType::f32, read(0, type)), {in});
    battery.add(type, binary(BinaryOp::mul, read(0, type), real(1.2345, type)), {in});
    battery.add(type, binary(BinaryOp::add, read(0, type), real(0.333, type)), {in});
    battery.add(type, call(Function::round, read(0, type)), {in});
    battery.add(ElementType::i8, cast(ElementType::i8, read(0, type)), {in});
  }
  battery.check(65536, compilers().front(), test_machine());
}

/// Largest error of a printed f32 function against double, in units in the last place.
struct UlpCase {
  Function function;
  double (*reference)(double);
  double bound;
};
TEST(Semantics, FunctionsOfF32AreWithinTheirDocumentedError) {
  constexpr std::int64_t n = 1 << 19;
  const std::vector<UlpCase> cases = {{Function::exp, std::exp, 1.1},   {Function::exp2, std::exp2, 1.3}, {Function::log, std::log, 1.1},
                                      {Function::tanh, std::tanh, 1.3}, {Function::erf, std::erf, 1.2},
                                      {Function::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 1.5}};
  for (const bool contract : {false, true}) {
    ProgramText text("functions");
    text.sizes({"N"}).tensor("X", ElementType::f32, {"N"}, TensorRole::in);
    for (const UlpCase& c : cases) text.tensor(function_name(c.function) + "_out", ElementType::f32, {"N"}, TensorRole::out);
    Ast ast;
    ast.kernel = "functions";
    std::vector<AstNodePtr> loops;
    for (const UlpCase& c : cases) {
      const std::string name = function_name(c.function) + "_out";
      text.statement(name, {"i"}, "0 <= i < N", name + "[i]", Combine::assign, call(c.function, read(0)), {"X[i]"});
      ast.statements[name] = AstStatement{name, "compute", name, "", {}, {{}}, name, {{}}, {"X"}, {{{}}}, {}, false};
      AstLeaf leaf{name, {ast_name("i")}, {ast_name("i")}, {{ast_name("i")}}, {}, {}};
      loops.push_back(make_node(AstFor{"i", "i", "simd", ast_integer(0), parse_ast_expr("N - 1", ""), 1, make_node(leaf)}));
    }
    ast.root = make_node(AstBlock{loops});
    Numerics numerics;
    numerics.contract = contract;
    const Program program = text.numerics(numerics).build();
    Arrays arguments;
    HostArray x(ElementType::f32, {n});
    for (std::int64_t i = 0; i < n; ++i) {
      const auto bits = static_cast<std::uint32_t>(i * 8191 + (contract ? 77 : 0));
      std::memcpy(x.bytes.data() + 4 * i, &bits, 4);
    }
    arguments["X"] = x;
    for (const UlpCase& c : cases) arguments[function_name(c.function) + "_out"] = HostArray(ElementType::f32, {n});
    const CompiledKernel kernel = CompiledKernel::compile(program, print(program, {ast}, test_machine()), test_machine());
    ASSERT_EQ(kernel.run({{"N", n}}, arguments), 0);
    for (const UlpCase& c : cases) {
      const HostArray& out = arguments[function_name(c.function) + "_out"];
      double worst = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const double exact = c.reference(x.get(i));
        const auto nearest = static_cast<float>(exact);
        const double got = out.get(i);
        if (std::isnan(nearest)) {
          ASSERT_TRUE(std::isnan(got)) << function_name(c.function) << " of " << x.get(i);
          continue;
        }
        if (std::isinf(nearest)) {
          ASSERT_EQ(got, nearest) << function_name(c.function) << " of " << x.get(i);
          continue;
        }
        ASSERT_TRUE(std::isfinite(got)) << function_name(c.function) << " of " << x.get(i);
        const double unit = std::max(std::ldexp(1.0, std::ilogb(nearest == 0 ? 1e-45f : nearest) - 23), 0x1p-149);
        worst = std::max(worst, std::fabs(got - exact) / unit);
      }
      EXPECT_LE(worst, c.bound) << function_name(c.function);
    }
  }
}

}  // namespace
}  // namespace tileopt
