/// Random leaves (boxes, strides, element types, bodies, extents, storage) printed for a vector machine and for plain C,
/// compared with the oracle byte by byte.
#include <algorithm>
#include <cmath>
#include <random>

#include "ast_oracle.h"
#include "fixture.h"

namespace tileopt {
namespace {

using namespace test;

class LeafMaker {
 public:
  LeafMaker(unsigned seed, int count) : random_(seed), text_("leaves") {
    text_.sizes({"N"});
    ast_.kernel = "leaves";
    std::vector<AstNodePtr> nodes;
    for (int c = 0; c < count; ++c) nodes.push_back(make_case("c" + std::to_string(c)));
    ast_.root = make_node(AstBlock{nodes});
  }
  Program program() { return text_.build(); }
  const Ast& ast() const { return ast_; }
  const Arrays& arguments() const { return arguments_; }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  template <class T>
  T one_of(const std::vector<T>& values) { return values[static_cast<std::size_t>(pick(static_cast<int>(values.size())))]; }

  struct AccessMade {
    std::string array;
    std::vector<std::vector<long>> steps;
    std::vector<AstExprPtr> corner;
    std::vector<long> shape;
  };

  /// Per box digit one dimension in random order (or none: still), steps 1 or 2, now and then an outer loop's offset.
  AccessMade make_access(const std::string& array, const std::vector<long>& radices, bool still_digits, bool reversed_lanes) {
    AccessMade made;
    made.array = array;
    std::vector<std::size_t> digits(radices.size());
    for (std::size_t b = 0; b < digits.size(); ++b) digits[b] = b;
    if (pick(3) == 0) std::shuffle(digits.begin(), digits.end(), random_);
    for (const std::size_t b : digits) {
      std::vector<long> row(radices.size(), 0);
      const bool still = still_digits && pick(3) == 0;
      const bool backwards = reversed_lanes && pick(8) == 0;
      row[b] = still ? 0 : backwards ? -1 : pick(4) == 0 ? 2 : 1;
      const long base = backwards ? radices[b] - 1 : pick(3);
      const bool moves = pick(4) == 0;
      AstExprPtr at = ast_integer(base);
      if (moves) at = ast_operation(AstExpr::Kind::add, {ast_name("t"), at});
      made.steps.push_back(row);
      made.corner.push_back(at);
      made.shape.push_back(base + std::max(row[b], 0L) * (radices[b] - 1) + 1 + (moves ? 2 : 0));
    }
    return made;
  }

  void add_tensor(const AccessMade& access, ElementType type, TensorRole role) {
    std::vector<std::string> shape;
    std::vector<std::int64_t> extents;
    for (const long extent : access.shape) {
      shape.push_back(std::to_string(extent) + " + N");
      extents.push_back(extent + size_n);
    }
    text_.tensor(access.array, type, shape, role);
    HostArray array(type, extents);
    for (std::int64_t i = 0; i < array.elements(); ++i) {
      if (is_float(type)) array.set(i, static_cast<double>(pick(2001) - 1000) / 64);
      else array.set_integer(i, pick(400) - 200);
    }
    arguments_[access.array] = array;
  }

  ExprPtr body(ElementType type, const std::vector<ElementType>& reads, int depth) {
    const int choice = pick(depth > 0 ? 9 : 3);
    if (choice == 0) return is_float(type) ? real(static_cast<double>(pick(64) - 32) / 8, type) : integer(pick(20), type);
    if (choice <= 2) {
      const auto access = static_cast<std::size_t>(pick(static_cast<int>(reads.size())));
      ExprPtr value = read(access, reads[access]);
      if (is_float(reads[access]) && !is_float(type)) return integer(pick(9), type);
      return reads[access] == type ? value : cast(type, value);
    }
    if (choice == 3) return make_expr(type, Unary{UnaryOp::negate, body(type, reads, depth - 1)});
    if (choice == 4 && is_float(type) && size_bytes(type) == 4) return cast(type, make_expr(ElementType::i32, IndexValue{0}));
    if (choice == 5 && depth > 1) {
      const ExprPtr a = body(type, reads, 0), b = body(type, reads, 0);
      return make_expr(type, Select{compare(one_of<BinaryOp>({BinaryOp::lt, BinaryOp::ge, BinaryOp::ne}), a, b), a, b});
    }
    const std::vector<BinaryOp> operators = {BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::min, BinaryOp::max};
    return binary(one_of(operators), body(type, reads, depth - 1), body(type, reads, depth - 1));
  }

  AstNodePtr make_case(const std::string& name) {
    std::vector<long> radices;
    for (int b = pick(2); b >= 0; --b) radices.push_back(one_of<long>({1, 2, 3, 4, 6}));
    radices.push_back(one_of<long>({4, 8, 16, 12, 5, 32, 7}));
    const ElementType type = one_of<ElementType>({ElementType::f32, ElementType::f32, ElementType::f64, ElementType::bf16, ElementType::f16, ElementType::i32, ElementType::i16});
    const Combine combine = one_of<Combine>({Combine::assign, Combine::assign, Combine::sum, Combine::max, Combine::min, Combine::prod});
    const bool accumulates = combine != Combine::assign && pick(3) == 0;

    AstStatement s;
    s.name = s.statement = name;
    s.kind = "compute";
    for (std::size_t b = 0; b < radices.size(); ++b) s.box.push_back({"b" + std::to_string(b), radices[b]});
    const AccessMade write = make_access(name, radices, accumulates, true);
    add_tensor(write, type, TensorRole::inout);
    std::vector<AccessMade> reads;
    std::vector<ElementType> types;
    for (int r = 0; r < 2; ++r) {
      const ElementType source = pick(3) == 0 ? one_of<ElementType>({ElementType::f32, ElementType::bf16, ElementType::i8, ElementType::f16}) : type;
      reads.push_back(make_access(name + "_r" + std::to_string(r), radices, true, true));
      add_tensor(reads.back(), source, TensorRole::in);
      types.push_back(source);
    }
    std::string target_index, iterators;
    std::vector<std::string> subscripts, accesses, names;
    for (std::size_t d = 0; d < radices.size(); ++d) {
      names.push_back("i" + std::to_string(d));
      target_index += (d ? ", i" : "i") + std::to_string(d);
    }
    for (const AccessMade& access : reads) accesses.push_back(access.array + "[" + target_index + "]");
    text_.statement(name, names, "", name + "[" + target_index + "]", combine, body(type, types, 3), accesses, {"i0"});

    s.instance_steps.assign(radices.size(), std::vector<long>(radices.size(), 0));
    s.write_array = name;
    s.write_steps = write.steps;
    AstLeaf leaf;
    leaf.statement = name;
    leaf.instance.assign(radices.size(), ast_integer(0));
    leaf.write = write.corner;
    for (const AccessMade& access : reads) {
      s.read_arrays.push_back(access.array);
      s.read_steps.push_back(access.steps);
      leaf.reads.push_back(access.corner);
    }
    s.index_steps = {std::vector<long>(radices.size(), 0)};
    s.index_steps[0].back() = pick(3);
    leaf.indices = {parse_ast_expr("3 * t - 1", "")};
    if (pick(2) == 0)
      for (const long radix : radices) leaf.extents.push_back(parse_ast_expr(std::to_string(1 + pick(static_cast<int>(radix))) + " + t", ""));
    ast_.statements[name] = s;
    const bool keep = pick(2) == 0;
    AstNodePtr node = make_node(leaf);
    if (keep) node = promote(name, s, leaf, write, type);
    return make_node(AstFor{"t", "t", "serial", ast_integer(0), ast_integer(2), 1, node});
  }

  /// The written array in registers or on the stack around the leaf, copied in and out as whole boxes of its own.
  AstNodePtr promote(const std::string& name, AstStatement s, AstLeaf leaf, const AccessMade& write, ElementType type) {
    Array array;
    array.name = name + "_kept";
    array.element = type == ElementType::bf16 && pick(2) == 0 ? ElementType::f32 : type;
    array.space = pick(3) == 0 ? "stack" : "register";
    array.tensor = name;
    array.extents = write.shape;
    ast_.arrays.push_back(array);
    AstStatement in;
    in.name = name + "_in";
    in.kind = "copy_in";
    std::vector<std::vector<long>> identity;
    for (std::size_t d = 0; d < write.shape.size(); ++d) {
      in.box.push_back({"x" + std::to_string(d), write.shape[d]});
      std::vector<long> row(write.shape.size(), 0);
      row[d] = 1;
      identity.push_back(row);
    }
    in.write_array = array.name;
    in.write_steps = identity;
    in.read_arrays = {name};
    in.read_steps = {identity};
    AstStatement out = in;
    out.name = name + "_out";
    out.kind = "copy_out";
    std::swap(out.write_array, out.read_arrays[0]);
    const std::vector<AstExprPtr> zero(write.shape.size(), ast_integer(0));
    ast_.statements[in.name] = in;
    ast_.statements[out.name] = out;
    s.write_array = array.name;
    ast_.statements[name] = s;
    std::map<std::string, AstExprPtr> at_zero = {{"t", ast_integer(0)}};
    for (AstExprPtr& subscript : leaf.write)
      if (subscript->kind == AstExpr::Kind::add) subscript = subscript->arguments[1];
    const std::vector<AstNodePtr> body = {make_node(AstLeaf{in.name, {}, zero, {zero}, {}, {}}), make_node(leaf), make_node(AstLeaf{out.name, {}, zero, {zero}, {}, {}})};
    return make_node(AstAllocate{{array.name}, make_node(AstBlock{body})});
  }

  static constexpr std::int64_t size_n = 3;
  std::mt19937 random_;
  ProgramText text_;
  Ast ast_;
  Arrays arguments_;
};

/// Sums and products of floats may be combined in any order: to a few roundings of so few terms.
bool agrees_in_any_order(const Statement& statement, const HostArray& array, const HostArray& expected) {
  const bool rounds = statement.combine == Combine::sum || statement.combine == Combine::prod;
  if (!rounds || (array.type != ElementType::f32 && array.type != ElementType::f64)) return false;
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    const double a = array.get(i), b = expected.get(i);
    if (!(a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= 2e-5 * std::fabs(b))) return false;
  }
  return true;
}

class RandomLeaves : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomLeaves, AgreeWithTheOracle) {
  LeafMaker maker(GetParam(), 12);
  const Program program = maker.program();
  const Sizes sizes = {{"N", 3}};
  AstOracle oracle(program, sizes, maker.arguments());
  oracle.run(maker.ast());
  for (const Machine& machine : {test_machine(), plain_machine()}) {
    const SourceText text = print(program, {maker.ast()}, machine);
    const std::string compiler = GetParam() % 2 == 0 ? compilers().front() : compilers().back();
    const CompiledKernel kernel = CompiledKernel::compile(program, text, machine, {compiler, {"-O1", "-Wall", "-Wextra", "-Werror"}});
    Arrays arguments = maker.arguments();
    ASSERT_EQ(kernel.run(sizes, arguments), 0);
    for (const auto& [name, array] : arguments) {
      if (array.bytes == oracle.arrays().at(name).bytes || (program.has_statement(name) && agrees_in_any_order(program.statement(name), array, oracle.arrays().at(name)))) continue;
      ADD_FAILURE() << "array " << name << " on machine " << machine.name << ", seed " << GetParam() << "\n"
                    << (program.has_statement(name) ? expr_text(program.statement(name).body) + " " + combine_name(program.statement(name).combine) : "");
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomLeaves, ::testing::Range(0u, 6u));

}  // namespace
}  // namespace tileopt
