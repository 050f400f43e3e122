#include "frontends/tile_text/affine.h"

#include "frontends/tile_text/printer.h"
#include "frontends/tile_text/symbols.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;
using syntax::Position;

namespace {

std::optional<long> within_limit(__int128 value) {
  if (value > largest_coefficient || value < -largest_coefficient) return std::nullopt;
  return static_cast<long>(value);
}

std::optional<long> fold_binary(const syntax::Binary& binary) {
  const std::optional<long> left = fold_constant(binary.left), right = fold_constant(binary.right);
  if (!left || !right) return std::nullopt;
  const __int128 a = *left, b = *right;
  switch (binary.op) {
    case BinaryOp::add:
      return within_limit(a + b);
    case BinaryOp::sub:
      return within_limit(a - b);
    case BinaryOp::mul:
      return within_limit(a * b);
    case BinaryOp::floor_div:
      if (*right <= 0) return std::nullopt;
      return *left / *right - (*left % *right < 0 ? 1 : 0);
    case BinaryOp::modulo:
      if (*right <= 0) return std::nullopt;
      return (*left % *right + *right) % *right;
    default:
      return std::nullopt;
  }
}

bool has_small_numbers(const isl::aff& function) {
  const isl::val largest(function.ctx(), largest_coefficient);
  const auto small = [&](const isl::val& number) { return number.abs().le(largest); };
  if (!small(isl::manage(isl_aff_get_constant_val(function.get())))) return false;
  for (const isl_dim_type type : {isl_dim_param, isl_dim_in, isl_dim_div})
    for (int i = 0; i < isl_aff_dim(function.get(), type); ++i)
      if (!small(isl::manage(isl_aff_get_coefficient_val(function.get(), type, i)))) return false;
  return true;
}

isl::aff variable(const isl::space& space, isl_dim_type type, std::size_t position) {
  isl_local_space* local = isl_local_space_from_space(space.copy());
  return isl::manage(isl_aff_var_on_domain(local, type, static_cast<unsigned>(position)));
}

}  // namespace

std::optional<long> fold_constant(const ExpressionPtr& expression) {
  if (const auto* literal = syntax::as<syntax::IntegerLiteral>(expression))
    return within_limit(literal->value);
  if (const auto* unary = syntax::as<syntax::Unary>(expression)) {
    if (unary->op != UnaryOp::negate) return std::nullopt;
    const std::optional<long> operand = fold_constant(unary->operand);
    if (operand) return -*operand;
    return std::nullopt;
  }
  if (const auto* binary = syntax::as<syntax::Binary>(expression)) return fold_binary(*binary);
  return std::nullopt;
}

std::string AffineReader::role() const {
  switch (role_) {
    case AffineRole::extent:
      return "an extent";
    case AffineRole::stride:
      return "a stride";
    case AffineRole::loop_bound:
      return "a loop bound";
    case AffineRole::subscript:
      return "a subscript";
    case AffineRole::condition:
      return "a condition";
    case AffineRole::assumption:
      return "an assumption";
    case AffineRole::index_value:
      return "an index value";
  }
  return "an index";
}

std::string AffineReader::text(const ExpressionPtr& expression) const { return "`" + print(expression) + "`"; }

const std::vector<Iterator>& AffineReader::no_iterators() {
  static const std::vector<Iterator> none;
  return none;
}

std::nullopt_t AffineReader::reject(ErrorCode code, Position where, const std::string& message, const std::string& hint) {
  scope_.diagnostics().add(code, where, message, hint);
  return std::nullopt;
}

isl::pw_aff AffineReader::constant(long value) const {
  isl_val* number = isl_val_int_from_si(space_.ctx().get(), value);
  return isl::manage(isl_pw_aff_from_aff(isl_aff_val_on_domain(isl_local_space_from_space(space_.copy()), number)));
}

std::optional<isl::pw_aff> AffineReader::value(const ExpressionPtr& expression) {
  std::optional<isl::pw_aff> result = read(expression);
  if (!result || !check_numbers(*result, expression->where)) return std::nullopt;
  return result;
}

bool AffineReader::check_numbers(const isl::pw_aff& value, Position where) {
  bool small = true;
  isl::pw_multi_aff(value).foreach_piece([&](const isl::set&, const isl::multi_aff& piece) { small = small && has_small_numbers(piece.at(0)); });
  if (small) return true;
  reject(ErrorCode::not_affine, where, "a number beyond 10^12 in " + role(), "use smaller constants");
  return false;
}

std::optional<isl::pw_aff> AffineReader::read(const ExpressionPtr& expression) {
  const Position where = expression->where;
  for (std::size_t i = iterators_.size(); i-- > 0;)
    if (iterators_[i].symbol && syntax::equal(iterators_[i].symbol, expression)) return isl::pw_aff(variable(space_, isl_dim_set, i));
  if (const auto* literal = syntax::as<syntax::IntegerLiteral>(expression)) {
    if (literal->value > static_cast<std::uint64_t>(largest_coefficient))
      return reject(ErrorCode::not_affine, where, "a number beyond 10^12 in " + role(), "use smaller constants");
    return constant(static_cast<long>(literal->value));
  }
  if (const auto* name = syntax::as<syntax::Name>(expression)) return read_name(expression, name->name);
  if (const auto* binary = syntax::as<syntax::Binary>(expression)) return read_binary(expression, *binary);
  if (const auto* call = syntax::as<syntax::Call>(expression)) return read_call(expression, *call);
  if (const auto* unary = syntax::as<syntax::Unary>(expression); unary != nullptr && unary->op == UnaryOp::negate) {
    std::optional<isl::pw_aff> operand = read(unary->operand);
    if (!operand) return std::nullopt;
    return operand->neg();
  }
  if (const auto* subscript = syntax::as<syntax::Subscript>(expression)) {
    const auto* base = syntax::as<syntax::Name>(subscript->base);
    if (base != nullptr && scope_.find_tensor(base->name) == nullptr) {
      scope_.report_unknown(base->name, where, iterators_);
      return std::nullopt;
    }
    if (base != nullptr) {
      const Refused refused = why_no_symbol(scope_, expression, role());
      return reject(refused.code, where, refused.message, refused.hint);
    }
    return reject(ErrorCode::unsupported, where, text(expression) + " has no elements", "subscript a tensor by its name");
  }
  if (syntax::as<syntax::Slice>(expression))
    return reject(ErrorCode::unsupported, where, "slices are not supported", "write one subscript per dimension");
  if (syntax::as<syntax::RealLiteral>(expression) || syntax::as<syntax::StringLiteral>(expression) ||
      syntax::as<syntax::BoolLiteral>(expression) || syntax::as<syntax::NoneLiteral>(expression))
    return reject(ErrorCode::type_mismatch, where, text(expression) + " is no integer, which " + role() + " must be",
                  "write an integer");
  return reject(ErrorCode::not_affine, where, text(expression) + " is not affine, which " + role() + " must be",
                "use sums of iterators and sizes, products with constants, and `//` or `%` by a positive constant");
}

isl::pw_aff AffineReader::read_iterator(std::size_t position) const {
  const Iterator& iterator = iterators_[position];
  if (!iterator.value) return isl::pw_aff(variable(space_, isl_dim_set, position));
  const auto known = static_cast<unsigned>(position + 1);
  const auto wanted = static_cast<unsigned>(isl_space_dim(space_.get(), isl_dim_set));
  return isl::manage(isl_pw_aff_insert_dims(iterator.value->copy(), isl_dim_in, known, wanted - known));
}

std::optional<isl::pw_aff> AffineReader::read_name(const ExpressionPtr& expression, const std::string& name) {
  if (const auto position = find_iterator(iterators_, name)) return read_iterator(*position);
  const std::vector<std::string>& sizes = scope_.sizes();
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == name) return isl::pw_aff(variable(space_, isl_dim_param, i));
  if (scope_.find_tensor(name) != nullptr) {
    const Refused refused = why_no_symbol(scope_, expression, role());
    return reject(refused.code, expression->where, refused.message, refused.hint);
  }
  scope_.report_unknown(name, expression->where, iterators_);
  return std::nullopt;
}

std::optional<isl::pw_aff> AffineReader::read_binary(const ExpressionPtr& expression, const syntax::Binary& binary) {
  if (binary.op == BinaryOp::mul) return read_product(expression, binary);
  if (binary.op == BinaryOp::floor_div || binary.op == BinaryOp::modulo) return read_division(expression, binary);
  if (binary.op == BinaryOp::divide)
    return reject(ErrorCode::not_affine, binary.op_where, "`/` divides floats; " + role() + " is an integer", "write `//`");
  if (binary.op != BinaryOp::add && binary.op != BinaryOp::sub)
    return reject(ErrorCode::not_affine, expression->where, text(expression) + " is not affine, which " + role() + " must be",
                  "use sums of iterators and sizes, products with constants, and `//` or `%` by a positive constant");
  std::optional<isl::pw_aff> left = read(binary.left), right = read(binary.right);
  if (!left || !right) return std::nullopt;
  return binary.op == BinaryOp::add ? left->add(*right) : left->sub(*right);
}

std::optional<isl::pw_aff> AffineReader::read_product(const ExpressionPtr& expression, const syntax::Binary& binary) {
  std::optional<long> factor = fold_constant(binary.left);
  const ExpressionPtr& scaled = factor ? binary.right : binary.left;
  if (!factor) factor = fold_constant(binary.right);
  std::optional<isl::pw_aff> operand = read(scaled);
  if (!operand) return std::nullopt;
  if (!factor) {
    if (!read(binary.right)) return std::nullopt;
    return reject(ErrorCode::not_affine, expression->where,
                  text(expression) + " multiplies two values that vary; " + role() + " must be affine",
                  role_ == AffineRole::index_value
                      ? "cast each factor, e.g. `i32(i) * i32(j)`"
                      : "multiply by constants only; keep arrays multi-dimensional (A[i, j] rather than A[i * N + j])");
  }
  isl::pw_aff product = operand->scale(*factor);
  if (!check_numbers(product, expression->where)) return std::nullopt;
  return product;
}

std::optional<isl::pw_aff> AffineReader::read_division(const ExpressionPtr& expression, const syntax::Binary& binary) {
  std::optional<isl::pw_aff> operand = read(binary.left);
  const std::optional<long> divisor = fold_constant(binary.right);
  if (!divisor) {
    if (!read(binary.right) || !operand) return std::nullopt;
    return reject(ErrorCode::unsupported, expression->where,
                  text(expression) + " divides by a value that is no constant, which " + role() + " cannot do yet",
                  "divide by a positive constant");
  }
  if (*divisor <= 0)
    return reject(*divisor == 0 ? ErrorCode::not_affine : ErrorCode::unsupported, binary.right->where,
                  "`" + op_name(binary.op) + "` by " + std::to_string(*divisor), "divide by a positive constant");
  if (!operand) return std::nullopt;
  return binary.op == BinaryOp::floor_div ? operand->scale_down(*divisor).floor() : operand->mod(*divisor);
}

std::optional<isl::pw_aff> AffineReader::read_call(const ExpressionPtr& expression, const syntax::Call& call) {
  const auto* callee = syntax::as<syntax::Name>(call.callee);
  const bool extremum = callee != nullptr && (callee->name == "min" || callee->name == "max") && call.keywords.empty() &&
                        call.arguments.size() >= 2;
  if (!extremum)
    return reject(ErrorCode::not_affine, expression->where, text(expression) + " is not affine, which " + role() + " must be",
                  "use iterators, sizes, constants, `min` and `max` of them");
  std::optional<isl::pw_aff> result = read(call.arguments.front());
  for (std::size_t i = 1; i < call.arguments.size(); ++i) {
    std::optional<isl::pw_aff> next = read(call.arguments[i]);
    if (!result || !next) {
      result.reset();
      continue;
    }
    result = callee->name == "min" ? result->min(*next) : result->max(*next);
  }
  return result;
}

std::optional<isl::set> AffineReader::condition(const ExpressionPtr& expression) {
  if (const auto* literal = syntax::as<syntax::BoolLiteral>(expression)) {
    const isl::set all = isl::set::universe(space_);
    return literal->value ? all : all.subtract(all);
  }
  if (const auto* comparison = syntax::as<syntax::Comparison>(expression)) return read_comparison(*comparison);
  if (const auto* unary = syntax::as<syntax::Unary>(expression); unary != nullptr && unary->op == UnaryOp::logical_not) {
    std::optional<isl::set> operand = condition(unary->operand);
    if (operand) return operand->complement();
    return std::nullopt;
  }
  const auto* binary = syntax::as<syntax::Binary>(expression);
  if (binary == nullptr || (binary->op != BinaryOp::logical_and && binary->op != BinaryOp::logical_or))
    return reject(ErrorCode::type_mismatch, expression->where, text(expression) + " is no condition",
                  "compare values, e.g. `i < N`");
  std::optional<isl::set> left = condition(binary->left), right = condition(binary->right);
  if (!left || !right) return std::nullopt;
  return binary->op == BinaryOp::logical_and ? left->intersect(*right) : left->unite(*right).coalesce();
}

std::optional<isl::set> AffineReader::read_comparison(const syntax::Comparison& comparison) {
  std::optional<isl::pw_aff> left = value(comparison.first);
  std::optional<isl::set> all;
  bool failed = !left;
  for (const syntax::ComparisonLink& link : comparison.links) {
    std::optional<isl::pw_aff> right = value(link.operand);
    failed = failed || !right;
    if (failed) continue;
    isl::set holds;
    if (link.op == BinaryOp::lt)
      holds = left->lt_set(*right);
    else if (link.op == BinaryOp::le)
      holds = left->le_set(*right);
    else if (link.op == BinaryOp::gt)
      holds = left->gt_set(*right);
    else if (link.op == BinaryOp::ge)
      holds = left->ge_set(*right);
    else if (link.op == BinaryOp::eq)
      holds = left->eq_set(*right);
    else
      holds = left->ne_set(*right);
    all = all ? all->intersect(holds) : holds;
    left = right;
  }
  if (failed) return std::nullopt;
  return all;
}

namespace {

void add_term(std::string& text, const isl::val& coefficient, const std::string& name) {
  if (coefficient.is_zero()) return;
  const bool negative = coefficient.is_neg();
  const isl::val size = coefficient.abs();
  std::string term = name;
  if (name.empty())
    term = poly::to_text(size);
  else if (!size.is_one())
    term = poly::to_text(size) + " * " + name;
  if (text.empty())
    text = (negative ? "-" : "") + term;
  else
    text += (negative ? " - " : " + ") + term;
}

}  // namespace

std::string affine_text(const isl::pw_aff& function, const std::vector<Iterator>& iterators) {
  if (isl_pw_aff_isa_aff(function.get()) != isl_bool_true) return poly::to_text(function);
  const isl::aff affine = function.as_aff();
  if (isl_aff_dim(affine.get(), isl_dim_div) != 0) return poly::to_text(function);
  std::string text;
  const int sizes = isl_aff_dim(affine.get(), isl_dim_param), dims = isl_aff_dim(affine.get(), isl_dim_in);
  for (int i = 0; i < sizes; ++i)
    add_term(text, isl::manage(isl_aff_get_coefficient_val(affine.get(), isl_dim_param, i)),
             isl_aff_get_dim_name(affine.get(), isl_dim_param, static_cast<unsigned>(i)));
  for (int i = 0; i < dims; ++i)
    add_term(text, isl::manage(isl_aff_get_coefficient_val(affine.get(), isl_dim_in, i)),
             iterators[static_cast<std::size_t>(i)].name);
  add_term(text, isl::manage(isl_aff_get_constant_val(affine.get())), "");
  return text.empty() ? "0" : text;
}

isl::pw_aff lift(const isl::pw_aff& function, const isl::space& space) {
  return isl::manage(isl_pw_aff_insert_domain(function.copy(), space.copy()));
}

}  // namespace tileopt::tile_text
