/// Expressions of programs that are built: types are checked call by call.
#include <array>
#include <cmath>

#include "capi/builder.h"
#include "frontends/tile_text/literals.h"
#include "support/text.h"

namespace tileopt::capi {

namespace {

constexpr std::size_t largest_tree = 100'000;
constexpr int greatest_height = 200;

tileopt_expr* hand_out(const std::shared_ptr<BuilderObject>& builder, ExprPtr expr) {
  auto object = std::make_unique<ExprObject>();
  object->builder = builder;
  object->type = type_name(expr->type);
  object->height = builder->operand_height + 1;
  object->expr = std::move(expr);
  return insert<tileopt_expr>(owned(builder->session, std::move(object)));
}


bool is_number(ElementType type) { return is_float(type) || is_integer(type); }

/// What an operation takes and gives.
enum class Takes { numbers, floats, integers, bools };
struct BinaryRow {
  const char* name;
  BinaryOp op;
  Takes takes;
  bool compares;
};
constexpr std::array<BinaryRow, 20> binary_rows = {{
    {"add", BinaryOp::add, Takes::numbers, false}, {"sub", BinaryOp::sub, Takes::numbers, false},
    {"mul", BinaryOp::mul, Takes::numbers, false}, {"divide", BinaryOp::divide, Takes::floats, false},
    {"floor_div", BinaryOp::floor_div, Takes::integers, false}, {"mod", BinaryOp::modulo, Takes::integers, false},
    {"min", BinaryOp::min, Takes::numbers, false}, {"max", BinaryOp::max, Takes::numbers, false},
    {"lt", BinaryOp::lt, Takes::numbers, true}, {"le", BinaryOp::le, Takes::numbers, true},
    {"gt", BinaryOp::gt, Takes::numbers, true}, {"ge", BinaryOp::ge, Takes::numbers, true},
    {"eq", BinaryOp::eq, Takes::numbers, true}, {"ne", BinaryOp::ne, Takes::numbers, true},
    {"and", BinaryOp::logical_and, Takes::bools, false}, {"or", BinaryOp::logical_or, Takes::bools, false},
    {"bit_and", BinaryOp::bit_and, Takes::integers, false}, {"bit_or", BinaryOp::bit_or, Takes::integers, false},
    {"bit_xor", BinaryOp::bit_xor, Takes::integers, false}, {"shift_left", BinaryOp::shift_left, Takes::integers, false},
}};
constexpr BinaryRow shift_right = {"shift_right", BinaryOp::shift_right, Takes::integers, false};

constexpr std::array<Function, 11> functions = {Function::exp,  Function::exp2,  Function::log,  Function::sqrt, Function::rsqrt, Function::tanh,
                                                Function::erf,  Function::abs,   Function::floor, Function::ceil, Function::round};

bool fits(Takes takes, ElementType type) {
  switch (takes) {
    case Takes::numbers: return is_number(type);
    case Takes::floats: return is_float(type);
    case Takes::integers: return is_integer(type);
    case Takes::bools: return type == ElementType::boolean;
  }
  return false;
}
const char* takes_text(Takes takes) {
  switch (takes) {
    case Takes::numbers: return "numbers";
    case Takes::floats: return "floats";
    case Takes::integers: return "integers";
    case Takes::bools: return "bools";
  }
  return "?";
}

/// One call of an operation.
class CallMaker {
 public:
  CallMaker(const BuilderObject& builder, std::string op, std::vector<ExprPtr> operands) : builder_(builder), op_(std::move(op)), operands_(std::move(operands)) {}

  ExprPtr make() const {
    for (const BinaryRow& row : binary_rows)
      if (op_ == row.name) return binary(row);
    if (op_ == shift_right.name) return binary(shift_right);
    for (const Function function : functions)
      if (op_ == function_name(function)) return call(function);
    if (op_ == "negate") return unary(UnaryOp::negate, Takes::numbers);
    if (op_ == "not") return unary(UnaryOp::logical_not, Takes::bools);
    if (op_ == "bit_not") return unary(UnaryOp::bit_not, Takes::integers);
    if (op_ == "select") return select();
    if (op_ == "tuple") return tuple();
    builder_.fail(ErrorCode::unknown_name, "there is no operation `" + op_ + "`",
                  "add sub mul divide floor_div mod min max negate abs lt le gt ge eq ne and or not bit_and bit_or bit_xor bit_not shift_left shift_right "
                  "exp exp2 log sqrt rsqrt tanh erf floor ceil round select tuple");
  }

 private:
  void need_count(std::size_t count) const {
    if (operands_.size() != count)
      builder_.fail(ErrorCode::type_mismatch, "`" + op_ + "` takes " + std::to_string(count) + " operands, not " + std::to_string(operands_.size()), "give " + std::to_string(count));
  }
  void need_same(const ExprPtr& a, const ExprPtr& b) const {
    if (a->type != b->type)
      builder_.fail(ErrorCode::type_mismatch, "`" + op_ + "` of " + type_name(a->type) + " and " + type_name(b->type), "cast one of them: tileopt_expr_create_cast");
  }
  void need_fit(Takes takes, const ExprPtr& a) const {
    if (!fits(takes, a->type)) builder_.fail(ErrorCode::type_mismatch, "`" + op_ + "` takes " + takes_text(takes) + ", not " + type_name(a->type), "cast the operand, or choose another operation");
  }

  ExprPtr binary(const BinaryRow& row) const {
    need_count(2);
    need_same(operands_[0], operands_[1]);
    need_fit(row.takes, operands_[0]);
    return make_expr(row.compares ? ElementType::boolean : operands_[0]->type, Binary{row.op, operands_[0], operands_[1]});
  }
  ExprPtr unary(UnaryOp op, Takes takes) const {
    need_count(1);
    need_fit(takes, operands_[0]);
    return make_expr(operands_[0]->type, Unary{op, operands_[0]});
  }
  ExprPtr call(Function function) const {
    need_count(1);
    need_fit(function == Function::abs ? Takes::numbers : Takes::floats, operands_[0]);
    return make_expr(operands_[0]->type, Call{function, operands_});
  }
  ExprPtr select() const {
    need_count(3);
    need_fit(Takes::bools, operands_[0]);
    need_same(operands_[1], operands_[2]);
    return make_expr(operands_[1]->type, Select{operands_[0], operands_[1], operands_[2]});
  }
  ExprPtr tuple() const {
    std::vector<ElementType> types;
    for (const ExprPtr& operand : operands_) {
      if (is_tuple(operand->type)) builder_.fail(ErrorCode::type_mismatch, "a tuple inside a tuple", "tuples hold scalars: give the components");
      types.push_back(operand->type);
    }
    if (types.size() < 2 || types.size() > most_tuple_components)
      builder_.fail(ErrorCode::type_mismatch, "a tuple of " + std::to_string(types.size()) + " components", "tuples hold 2 to 10 scalars");
    return make_expr(tuple_type(types), MakeTuple{operands_});
  }

  const BuilderObject& builder_;
  std::string op_;
  std::vector<ExprPtr> operands_;
};

/// A leaf of the builder as an expression.
ExprPtr add_leaf(BuilderObject& builder, Leaf leaf, ElementType type) {
  const std::size_t place = builder.leaves.size();
  const bool index = leaf.kind == Leaf::Kind::index;
  builder.leaves.push_back(std::move(leaf));
  return index ? make_expr(type, IndexValue{place}) : make_expr(type, Read{place});
}

ExprPtr make_read(BuilderObject& builder, const std::string& access) {
  Leaf leaf;
  leaf.access = builder.read_map(access, "the access");
  leaf.text = poly::to_text(*leaf.access);
  leaf.statement = poly::input_name(*leaf.access);
  leaf.tensor = poly::output_name(*leaf.access);
  const Tensor* tensor = builder.find_tensor(leaf.tensor);
  if (leaf.statement.empty() || leaf.tensor.empty()) builder.fail(ErrorCode::syntax, "the access names no statement or no tensor", "write \"{ S[i,j] -> A[i, j + 1] }\"");
  if (tensor == nullptr) builder.fail(ErrorCode::unknown_name, "there is no tensor `" + leaf.tensor + "`", "add it with tileopt_builder_add_tensor before");
  const std::size_t subscripts = static_cast<std::size_t>(isl_map_dim(leaf.access->get(), isl_dim_out));
  if (subscripts != tensor->shape.size())
    builder.fail(ErrorCode::shape_mismatch, "`" + leaf.tensor + "` has rank " + std::to_string(tensor->shape.size()) + ", the access has " + std::to_string(subscripts) + " subscripts", "give one subscript for each dimension");
  if (!leaf.access->is_single_valued()) builder.fail(ErrorCode::unsupported, "an instance reads several elements", "give one element for each instance");
  return add_leaf(builder, std::move(leaf), tensor->type);
}

ExprPtr make_index(BuilderObject& builder, const std::string& affine, ElementType type) {
  Leaf leaf;
  leaf.kind = Leaf::Kind::index;
  isl_pw_aff* const read = isl_pw_aff_read_from_str(builder.ctx().get(), builder.with_parameters(affine).c_str());
  if (read == nullptr) builder.fail(ErrorCode::not_affine, "the index is no affine function of iterators", "write \"{ S[i,j] -> [i - j + 1] }\"");
  leaf.value = isl::manage(read);
  const isl::set domain = leaf.value->domain();
  builder.check_parameters(domain, "the index");
  leaf.statement = isl_set_has_tuple_name(domain.get()) == isl_bool_true ? poly::tuple_name(domain) : "";
  if (leaf.statement.empty()) builder.fail(ErrorCode::syntax, "the index names no statement", "write \"{ S[i,j] -> [i - j + 1] }\"");
  leaf.text = poly::to_text(*leaf.value);
  return add_leaf(builder, std::move(leaf), type);
}

ExprPtr make_literal(const BuilderObject& builder, ElementType type, std::int64_t value) {
  if (is_integer(type) || type == ElementType::boolean) {
    if (type == ElementType::u64) return make_expr(type, Literal{static_cast<double>(static_cast<std::uint64_t>(value)), value});
    const bool negative = value < 0;
    const std::uint64_t size = negative ? std::uint64_t(0) - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    if (type == ElementType::boolean && (value == 0 || value == 1)) return make_expr(type, Literal{0, value});
    if (const auto literal = tile_text::integer_literal(size, negative, type); literal && type != ElementType::boolean) return make_expr(type, *literal);
    builder.fail(ErrorCode::type_mismatch, std::to_string(value) + " is no value of " + type_name(type), "give a wider type");
  }
  builder.fail(ErrorCode::type_mismatch, "type " + type_name(type) + " is no integer type", "use tileopt_expr_create_real");
}

ExprPtr make_real(const BuilderObject& builder, ElementType type, double value) {
  if (!is_float(type)) builder.fail(ErrorCode::type_mismatch, "type " + type_name(type) + " is no float type", "use tileopt_expr_create_integer");
  if (std::isinf(value) && !has_infinity(type)) builder.fail(ErrorCode::type_mismatch, type_name(type) + " has no infinity", "give its largest number");
  if (!std::isfinite(value)) return make_expr(type, Literal{value, 0});
  const auto rounded = tile_text::round_real(value, type);
  if (!rounded) builder.fail(ErrorCode::type_mismatch, "the constant is beyond the largest number of " + type_name(type), "give a wider type");
  return make_expr(type, Literal{*rounded, 0});
}

void check_size(const BuilderObject& builder, const ExprPtr& expr) {
  if (builder.operand_height >= greatest_height) builder.fail(ErrorCode::unsupported, "an expression of more than 200 levels", "keep parts of it in locals");
  if (tree_size(expr, largest_tree + 1) > largest_tree)
    builder.fail(ErrorCode::unsupported, "an expression of more than 100000 nodes, shared ones counted each time", "keep parts of it in locals");
}

std::string expr_label(const char* what, const char* text) { return std::string(what) + "(" + (text == nullptr ? "NULL" : "\"" + std::string(text) + "\"") + ")"; }

}  // namespace

ExprPtr need_expr(BuilderObject& builder, const tileopt_expr* handle, const char* argument) {
  const auto object = need(handle, argument);
  if (object->builder.get() != &builder)
    builder.fail(ErrorCode::invalid_option, std::string("`") + argument + "` is an expression of another builder", "make it with this builder");
  builder.operand_height = std::max(builder.operand_height, object->height);
  return object->expr;
}

ExprPtr take_leaves(const BuilderObject& builder, const ExprPtr& expr, Statement& statement) {
  std::map<std::size_t, std::size_t> reads, indices;
  const isl::set domain = statement.domain.intersect_params(builder.context);
  const auto check = [&](const Leaf& leaf) {
    if (leaf.kind == Leaf::Kind::operand) builder.fail(ErrorCode::unsupported, "an operand of a monoid in a statement", "operands are for tileopt_builder_add_monoid");
    if (leaf.statement != statement.name)
      builder.fail(ErrorCode::unknown_name, "`" + leaf.text + "` speaks of `" + leaf.statement + "`, not of `" + statement.name + "`", "make the expression for this statement");
  };
  const auto arity = [&](int dims) {
    if (static_cast<std::size_t>(dims) != statement.iterators.size())
      builder.fail(ErrorCode::shape_mismatch, "`" + statement.name + "` has " + std::to_string(statement.iterators.size()) + " iterators, an access of it " + std::to_string(dims), "use the tuple of the domain");
  };
  const auto total = [&](const isl::set& defined, const Leaf& leaf) {
    const isl::set missing = domain.subtract(defined);
    if (missing.is_empty()) return;
    builder.fail(ErrorCode::out_of_bounds, "`" + leaf.text + "` says nothing for some instances", "make it total on the domain, or the domain smaller", poly::sample_text(missing));
  };
  return rebuild(expr, [&](const ExprPtr& node) -> ExprPtr {
    if (const auto* read = std::get_if<Read>(&node->node)) {
      const Leaf& leaf = builder.leaves[read->access];
      check(leaf);
      arity(isl_map_dim(leaf.access->get(), isl_dim_in));
      total(leaf.access->domain(), leaf);
      const auto [known, fresh] = reads.emplace(read->access, statement.reads.size());
      if (fresh) statement.reads.push_back({leaf.tensor, poly::as_function(leaf.access->intersect_domain(statement.domain)), statement.where});
      return make_expr(node->type, Read{known->second});
    }
    if (const auto* index = std::get_if<IndexValue>(&node->node)) {
      const Leaf& leaf = builder.leaves[index->index];
      check(leaf);
      arity(isl_pw_aff_dim(leaf.value->get(), isl_dim_in));
      total(leaf.value->domain(), leaf);
      const auto [known, fresh] = indices.emplace(index->index, statement.indices.size());
      if (fresh) statement.indices.push_back(isl::manage(isl_pw_aff_intersect_domain(leaf.value->copy(), statement.domain.copy())));
      return make_expr(node->type, IndexValue{known->second});
    }
    return node;
  });
}

}  // namespace tileopt::capi

using namespace tileopt::capi;
using tileopt::ErrorCode;

namespace {
/// An expression made in the builder's turn.
template <class Make>
tileopt_error* making(tileopt_builder* builder, const std::string& call, tileopt_expr** out_expr, Make&& make) noexcept {
  return building(builder, call, [&](const std::shared_ptr<BuilderObject>& b) {
    need_pointer(out_expr, "out_expr");
    b->operand_height = 0;
    tileopt::ExprPtr expr = make(*b);
    check_size(*b, expr);
    *out_expr = hand_out(b, std::move(expr));
  });
}
}  // namespace

extern "C" {

tileopt_error* tileopt_expr_create_read(tileopt_builder* builder, const char* access, tileopt_expr** out_expr) {
  return making(builder, expr_label("read", access), out_expr, [&](BuilderObject& b) {
    need_pointer(access, "access");
    return make_read(b, access);
  });
}
tileopt_error* tileopt_expr_create_index(tileopt_builder* builder, const char* affine, const char* type, tileopt_expr** out_expr) {
  return making(builder, expr_label("index", affine), out_expr, [&](BuilderObject& b) {
    need_pointer(affine, "affine");
    need_pointer(type, "type");
    const tileopt::ElementType chosen = b.read_type(type, false);
    if (!tileopt::is_integer(chosen)) b.fail(ErrorCode::type_mismatch, "an index of type " + std::string(type), "give an integer type, and cast");
    return make_index(b, affine, chosen);
  });
}
tileopt_error* tileopt_expr_create_real(tileopt_builder* builder, const char* type, double value, tileopt_expr** out_expr) {
  return making(builder, expr_label("real", type), out_expr, [&](BuilderObject& b) {
    need_pointer(type, "type");
    return make_real(b, b.read_type(type, false), value);
  });
}
tileopt_error* tileopt_expr_create_integer(tileopt_builder* builder, const char* type, int64_t value, tileopt_expr** out_expr) {
  return making(builder, expr_label("integer", type), out_expr, [&](BuilderObject& b) {
    need_pointer(type, "type");
    return make_literal(b, b.read_type(type, false), value);
  });
}
tileopt_error* tileopt_expr_create_operand(tileopt_builder* builder, const char* type, int operand, tileopt_expr** out_expr) {
  return making(builder, expr_label("operand", type), out_expr, [&](BuilderObject& b) {
    need_pointer(type, "type");
    if (operand != 0 && operand != 1) b.fail(ErrorCode::invalid_option, "operand " + std::to_string(operand), "a monoid combines operand 0 and operand 1");
    Leaf leaf;
    leaf.kind = Leaf::Kind::operand;
    leaf.operand = operand;
    leaf.text = "operand " + std::to_string(operand);
    return add_leaf(b, std::move(leaf), b.read_type(type, true));
  });
}
tileopt_error* tileopt_expr_create_call(tileopt_builder* builder, const char* op, const tileopt_expr* const* operands, size_t count,
                                        tileopt_expr** out_expr) {
  return making(builder, expr_label("call", op), out_expr, [&](BuilderObject& b) {
    need_pointer(op, "op");
    if (count > 16) b.fail(ErrorCode::type_mismatch, std::to_string(count) + " operands", "no operation takes more than 10");
    if (count > 0) need_pointer(operands, "operands");
    std::vector<tileopt::ExprPtr> values;
    for (size_t i = 0; i < count; ++i) values.push_back(need_expr(b, operands[i], "operands[i]"));
    return CallMaker(b, op, std::move(values)).make();
  });
}
tileopt_error* tileopt_expr_create_cast(tileopt_builder* builder, const char* type, const tileopt_expr* operand, tileopt_expr** out_expr) {
  return making(builder, expr_label("cast", type), out_expr, [&](BuilderObject& b) {
    need_pointer(type, "type");
    const tileopt::ElementType chosen = b.read_type(type, false);
    tileopt::ExprPtr value = need_expr(b, operand, "operand");
    if (tileopt::is_tuple(value->type)) b.fail(ErrorCode::type_mismatch, "a cast of a tuple", "cast its components");
    if (chosen == tileopt::ElementType::boolean && value->type != chosen) b.fail(ErrorCode::type_mismatch, "there is no cast to bool", "compare with 0: \"ne\"");
    return value->type == chosen ? value : tileopt::make_expr(chosen, tileopt::Cast{value});
  });
}
tileopt_error* tileopt_expr_create_component(tileopt_builder* builder, const tileopt_expr* tuple, size_t index, tileopt_expr** out_expr) {
  return making(builder, "component(" + std::to_string(index) + ")", out_expr, [&](BuilderObject& b) {
    const tileopt::ExprPtr value = need_expr(b, tuple, "tuple");
    const std::vector<tileopt::ElementType> types = tileopt::tuple_components(value->type);
    if (!tileopt::is_tuple(value->type) || index >= types.size())
      b.fail(ErrorCode::type_mismatch, tileopt::type_name(value->type) + " has no component " + std::to_string(index), "components of a tuple count from 0");
    return tileopt::make_expr(types[index], tileopt::Component{value, index});
  });
}
const char* tileopt_expr_peek_type(const tileopt_expr* expr) {
  return ask(expr, "", [](const ExprObject& object) { return object.type.c_str(); });
}
void tileopt_expr_free(tileopt_expr* expr) { erase(expr); }

}  // extern "C"
