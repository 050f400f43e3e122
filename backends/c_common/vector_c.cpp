#include "backends/c_common/vector_c.h"

#include <algorithm>
#include <set>

#include "backends/c_common/helper_table.h"
#include "backends/c_common/scalar_c.h"
#include "support/error.h"

namespace tileopt {

namespace {
/// Subexpressions of a body that is printed on vectors: shared ones are written out each time.
constexpr long kLargestVectorBody = 1000;

bool written_within(const ExprPtr& expr, long& budget) {
  if (--budget < 0) return false;
  const std::vector<ExprPtr> parts = operands(*expr);
  return std::all_of(parts.begin(), parts.end(), [&](const ExprPtr& part) { return written_within(part, budget); });
}

bool is_four_bit(ElementType type) { return type == ElementType::i4 || type == ElementType::u4; }

/// Types with vector forms: not bool, tuples, the floats that only scalar helpers convert, and what wraps inside a lane.
bool is_number(ElementType type) {
  if (is_tuple(type) || type == ElementType::boolean || is_four_bit(type)) return false;
  return !is_narrow_float(type) || type == ElementType::f16 || type == ElementType::bf16;
}

int compute_bytes(ElementType type) { return size_bytes(compute_type(type)); }

void collect_reads(const ExprPtr& expr, bool into_branches, std::set<std::size_t>& reads) {
  struct Walk {
    bool into_branches;
    std::set<std::size_t>& reads;
    void operator()(const Literal&) const {}
    void operator()(const Read& n) const { reads.insert(n.access); }
    void operator()(const IndexValue&) const {}
    void operator()(const Unary& n) const { collect_reads(n.operand, into_branches, reads); }
    void operator()(const Binary& n) const {
      collect_reads(n.left, into_branches, reads);
      // The right side of `and`, `or` runs only where the left does not decide.
      if (into_branches || (n.op != BinaryOp::logical_and && n.op != BinaryOp::logical_or)) collect_reads(n.right, into_branches, reads);
    }
    void operator()(const Select& n) const {
      collect_reads(n.condition, into_branches, reads);
      if (!into_branches) return;
      collect_reads(n.then_value, true, reads);
      collect_reads(n.else_value, true, reads);
    }
    void operator()(const Cast& n) const { collect_reads(n.operand, into_branches, reads); }
    void operator()(const Call& n) const {
      for (const ExprPtr& argument : n.arguments) collect_reads(argument, into_branches, reads);
    }
    void operator()(const MakeTuple& n) const {
      for (const ExprPtr& component : n.components) collect_reads(component, into_branches, reads);
    }
    void operator()(const Component& n) const { collect_reads(n.operand, into_branches, reads); }
  };
  std::visit(Walk{into_branches, reads}, expr->node);
}

bool converts_on_vectors(ElementType from, ElementType to) {
  if (!is_number(to) || !(is_number(from) || is_four_bit(from))) return false;
  if (is_float(from) && !is_float(to)) return false;
  const bool narrow = to == ElementType::bf16 || to == ElementType::f16;
  if (!narrow || widens_exactly(from, to)) return true;
  return is_float(from) && from != ElementType::f64;
}

bool operators_on_vectors(const ExprPtr& expr) {
  struct Check {
    const ExprPtr& expr;
    bool operator()(const Literal&) const { return is_number(expr->type); }
    bool operator()(const Read&) const { return is_number(expr->type); }
    bool operator()(const IndexValue&) const { return is_number(expr->type); }
    bool operator()(const Unary& n) const {
      return n.op == UnaryOp::negate && is_number(expr->type) && operators_on_vectors(n.operand);
    }
    bool operator()(const Binary& n) const {
      const ElementType type = n.left->type;
      if (!is_number(type) || !operators_on_vectors(n.left) || !operators_on_vectors(n.right)) return false;
      switch (n.op) {
        case BinaryOp::add: case BinaryOp::sub: case BinaryOp::mul: case BinaryOp::divide: case BinaryOp::min: case BinaryOp::max:
          return true;
        case BinaryOp::bit_and: case BinaryOp::bit_or: case BinaryOp::bit_xor: return is_integer(type);
        case BinaryOp::floor_div: case BinaryOp::modulo: case BinaryOp::logical_and: case BinaryOp::logical_or:
        case BinaryOp::shift_left: case BinaryOp::shift_right:
        case BinaryOp::lt: case BinaryOp::le: case BinaryOp::gt: case BinaryOp::ge: case BinaryOp::eq: case BinaryOp::ne:
          return false;
      }
      return false;
    }
    bool operator()(const Select& n) const {
      const auto* comparison = std::get_if<Binary>(&n.condition->node);
      if (comparison == nullptr || !is_comparison(comparison->op) || !is_number(expr->type)) return false;
      if (compute_bytes(comparison->left->type) != compute_bytes(expr->type)) return false;
      return is_number(comparison->left->type) && operators_on_vectors(comparison->left) && operators_on_vectors(comparison->right) &&
             operators_on_vectors(n.then_value) && operators_on_vectors(n.else_value);
    }
    bool operator()(const Cast& n) const {
      const bool widens = is_four_bit(n.operand->type) && std::holds_alternative<Read>(n.operand->node);
      return converts_on_vectors(n.operand->type, expr->type) && (widens || operators_on_vectors(n.operand));
    }
    bool operator()(const Call& n) const {
      return is_number(expr->type) && has_vector_function(n.function, compute_type(expr->type)) && operators_on_vectors(n.arguments.at(0));
    }
    bool operator()(const MakeTuple&) const { return false; }
    bool operator()(const Component&) const { return false; }
  };
  return std::visit(Check{expr}, expr->node);
}

std::string vector_name(ElementType type, const VectorContext& context) {
  return context.helpers.vector_type(compute_type(type), context.lanes);
}

ElementType unsigned_of(ElementType type) {
  switch (type) {
    case ElementType::i64: return ElementType::u64;
    case ElementType::i32: return ElementType::u32;
    case ElementType::i16: return ElementType::u16;
    case ElementType::i8: return ElementType::u8;
    case ElementType::u64: case ElementType::u32: case ElementType::u16: case ElementType::u8:
    case ElementType::f64: case ElementType::f32: case ElementType::f16: case ElementType::bf16: case ElementType::tf32:
    case ElementType::e4m3fn: case ElementType::e5m2: case ElementType::e4m3fnuz: case ElementType::e5m2fnuz:
    case ElementType::boolean: case ElementType::i4: case ElementType::u4: break;
  }
  return type;
}

std::string helper_call(const std::string& stem, ElementType type, const std::string& arguments, const VectorContext& context) {
  return context.helpers.use(stem + type_name(compute_type(type)) + "x@", context.lanes) + "(" + arguments + ")";
}

std::string round_vector(ElementType type, const std::string& value, const VectorContext& context) {
  if (type != ElementType::bf16 && type != ElementType::f16) return value;
  const std::string stem = type == ElementType::bf16 ? "tileopt_round_bf16x@" : "tileopt_round_f16x@";
  return context.helpers.use(stem, context.lanes) + "(" + without_parentheses(value) + ")";
}

std::string infix(const std::string& a, const char* op, const std::string& b) { return "(" + a + " " + op + " " + b + ")"; }

/// Signed lanes wrap through unsigned ones.
std::string arithmetic(ElementType type, const char* op, const std::string& a, const std::string& b, const VectorContext& context) {
  if (is_float(type)) return round_vector(type, infix(a, op, b), context);
  const std::string wide = "(" + context.helpers.vector_type(unsigned_of(type), context.lanes) + ")";
  const std::string text = infix(wide + a, op, wide + b);
  return is_signed(type) ? "(" + vector_name(type, context) + ")" + text : text;
}

const char* operator_text(BinaryOp op) {
  switch (op) {
    case BinaryOp::add: return "+";
    case BinaryOp::sub: return "-";
    case BinaryOp::mul: return "*";
    case BinaryOp::divide: return "/";
    case BinaryOp::bit_and: return "&";
    case BinaryOp::bit_or: return "|";
    case BinaryOp::bit_xor: return "^";
    case BinaryOp::lt: return "<";
    case BinaryOp::le: return "<=";
    case BinaryOp::gt: return ">";
    case BinaryOp::ge: return ">=";
    case BinaryOp::eq: return "==";
    case BinaryOp::ne: return "!=";
    case BinaryOp::floor_div: case BinaryOp::modulo: case BinaryOp::min: case BinaryOp::max: case BinaryOp::logical_and:
    case BinaryOp::logical_or: case BinaryOp::shift_left: case BinaryOp::shift_right: break;
  }
  TILEOPT_CHECK(false, "operator " + op_name(op) + " has no vector form");
  return "";
}

VectorValue binary_vector(BinaryOp op, ElementType type, const VectorValue& left, const VectorValue& right, const VectorContext& context) {
  if (left.uniform && right.uniform) return {binary_c(op, type, left.text, right.text, context.helpers), true};
  // A float scalar meets a vector as it is (it broadcasts); everything else is spread first.
  const bool bare = is_float(type) && op != BinaryOp::min && op != BinaryOp::max;
  const std::string a = bare && left.uniform ? left.text : as_vector_c(left, type, context);
  const std::string b = bare && right.uniform ? right.text : as_vector_c(right, type, context);
  if (op == BinaryOp::min || op == BinaryOp::max)
    return {helper_call(op == BinaryOp::min ? "tileopt_min_" : "tileopt_max_", type, a + ", " + b, context), false};
  return {arithmetic(type, operator_text(op), a, b, context), false};
}

ElementType mask_type(ElementType type) {
  switch (compute_bytes(type)) {
    case 8: return ElementType::i64;
    case 4: return ElementType::i32;
    case 2: return ElementType::i16;
    default: return ElementType::i8;
  }
}

struct Lower {
  const ExprPtr& expr;
  const VectorContext& context;

  VectorValue operator()(const Literal& literal) const { return {literal_c(literal, expr->type), true}; }
  VectorValue operator()(const Read& read) const { return context.read(read.access); }
  VectorValue operator()(const IndexValue& index) const { return context.index(index.index, expr->type); }
  VectorValue operator()(const Unary& n) const {
    const VectorValue operand = vector_c(n.operand, context);
    if (operand.uniform) return {unary_c(n.op, expr->type, operand.text, context.helpers), true};
    if (is_float(expr->type)) return {"(-" + operand.text + ")", false};
    const std::string zero = "(" + vector_name(expr->type, context) + "){0}";
    return {arithmetic(expr->type, "-", zero, operand.text, context), false};
  }
  VectorValue operator()(const Binary& n) const {
    return binary_vector(n.op, n.left->type, vector_c(n.left, context), vector_c(n.right, context), context);
  }
  VectorValue operator()(const Select& n) const {
    const auto& comparison = std::get<Binary>(n.condition->node);
    const ElementType type = comparison.left->type;
    const VectorValue left = vector_c(comparison.left, context);
    const VectorValue right = vector_c(comparison.right, context);
    const std::string then_value = as_vector_c(vector_c(n.then_value, context), expr->type, context);
    const std::string else_value = as_vector_c(vector_c(n.else_value, context), expr->type, context);
    const std::string mask = "(" + context.helpers.vector_type(mask_type(type), context.lanes) + ")" +
                             infix(as_vector_c(left, type, context), operator_text(comparison.op), as_vector_c(right, type, context));
    return {helper_call("tileopt_select_", expr->type, mask + ", " + then_value + ", " + else_value, context), false};
  }
  VectorValue operator()(const Cast& n) const {
    const VectorValue operand = vector_c(n.operand, context);
    const ElementType from = n.operand->type;
    if (operand.uniform) return {convert_c(from, expr->type, operand.text, context.helpers), true};
    const std::string value = convert_vector_exactly(from, expr->type, operand.text, context.lanes, context.helpers);
    return {widens_exactly(from, expr->type) ? value : round_vector(expr->type, value, context), false};
  }
  VectorValue operator()(const Call& n) const {
    const VectorValue operand = vector_c(n.arguments.at(0), context);
    if (operand.uniform) return {call_c(n.function, expr->type, operand.text, context.helpers), true};
    const std::string value = helper_call("tileopt_" + function_name(n.function) + "_", expr->type, without_parentheses(operand.text), context);
    return {round_vector(expr->type, value, context), false};
  }
  VectorValue operator()(const MakeTuple&) const {
    TILEOPT_CHECK(false, "tuples have no vector form");
    return {};
  }
  VectorValue operator()(const Component&) const {
    TILEOPT_CHECK(false, "tuples have no vector form");
    return {};
  }
};
}  // namespace

bool has_vector_form(const ExprPtr& body) {
  long budget = kLargestVectorBody;
  if (!written_within(body, budget) || !operators_on_vectors(body)) return false;
  std::set<std::size_t> always, all;
  collect_reads(body, false, always);
  collect_reads(body, true, all);
  return always == all;
}

VectorValue vector_c(const ExprPtr& expr, const VectorContext& context) { return std::visit(Lower{expr, context}, expr->node); }

std::string as_vector_c(const VectorValue& value, ElementType type, const VectorContext& context) {
  if (!value.uniform) return value.text;
  return helper_call("tileopt_splat_", type, without_parentheses(value.text), context);
}

std::string combine_vector_c(Combine combine, ElementType type, const std::string& element, const VectorValue& value,
                             const VectorContext& context) {
  if (combine == Combine::assign) return as_vector_c(value, type, context);
  const std::optional<BinaryOp> op = combine_operator(combine);
  TILEOPT_CHECK(op.has_value(), "combine " + combine_name(combine) + " has no vector form");
  return binary_vector(*op, type, VectorValue{element, false}, value, context).text;
}

bool has_fold(Combine combine, ElementType type) {
  const bool folds = combine == Combine::sum || combine == Combine::prod || combine == Combine::min || combine == Combine::max;
  return folds && is_number(type) && compute_type(type) == type;
}

std::string fold_vector_c(Combine combine, ElementType type, const std::string& vector, const VectorContext& context) {
  return helper_call("tileopt_fold_" + combine_name(combine) + "_", type, without_parentheses(vector), context);
}

std::string identity_vector_c(Combine combine, ElementType type, const VectorContext& context) {
  return as_vector_c({literal_c(combine_identity(combine, type), type), true}, type, context);
}

std::string convert_vector_exactly(ElementType from, ElementType to, const std::string& value, int lanes, Helpers& helpers) {
  if (compute_type(from) == compute_type(to)) return value;
  return "__builtin_convertvector(" + without_parentheses(value) + ", " + helpers.vector_type(compute_type(to), lanes) + ")";
}

int widest_element(const ExprPtr& body) {
  int bytes = 1;
  walk_expr(body, [&](const Expr& e) {
    if (e.type != ElementType::boolean) bytes = std::max(bytes, compute_bytes(e.type));
  });
  return bytes;
}

}  // namespace tileopt
