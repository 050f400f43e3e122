#include "frontends/tile_text/monoid_laws.h"

#include <cmath>
#include <random>

#include "interpreter/number.h"
#include "interpreter/scalar_code.h"

namespace tileopt::tile_text {

namespace {

constexpr int sample_count = 256;

using State = std::vector<TracedValue>;

std::string value_text(const TracedValue& value, ElementType type) {
  char buffer[40];
  if (is_float(type)) std::snprintf(buffer, sizeof buffer, "%g", value.real);
  else if (type == ElementType::boolean) return value.integer != 0 ? "True" : "False";
  else std::snprintf(buffer, sizeof buffer, "%lld", static_cast<long long>(value.integer));
  return buffer;
}

class LawChecker {
 public:
  explicit LawChecker(const Monoid& monoid)
      : monoid_(monoid), types_(tuple_components(monoid.type)), combine_(monoid.combine, ErrorModel{}, false) {
    ScalarCode identity(monoid.identity, ErrorModel{}, false);
    identity_ = copy(identity.evaluate(operands_));
  }

  std::optional<LawViolation> run() {
    int said = 0;
    for (int i = 0; i < sample_count; ++i) {
      const State a = sample(), b = sample(), c = sample();
      for (const bool identity_left : {true, false}) {
        const State result = identity_left ? merge(identity_, a) : merge(a, identity_);
        said += is_finite(result) ? 1 : 0;
        if (is_finite(result) && !agree(result, a))
          return violation("the identity of `" + monoid_.name + "` changes a value", "give the value that leaves every other as it is",
                           "a = " + text(a) + ": " + (identity_left ? "identity (+) a" : "a (+) identity") + " = " + text(result));
      }
      const State ab = merge(a, b), bc = merge(b, c), ba = merge(b, a);
      const State first = merge(ab, c), second = merge(a, bc);
      if (is_finite(ab) && is_finite(bc) && is_finite(first) && is_finite(second) && !agree(first, second))
        return violation("`" + monoid_.name + "` is not associative", "a reduction must not depend on how its steps are grouped: correct the function",
                         "a = " + text(a) + ", b = " + text(b) + ", c = " + text(c) + ": (a (+) b) (+) c = " + text(first) +
                             ", a (+) (b (+) c) = " + text(second));
      if (monoid_.commutative && is_finite(ab) && is_finite(ba) && !agree(ab, ba))
        return violation("`" + monoid_.name + "` is not commutative", "remove `commutative=True`: the reduction then runs in index order",
                         "a = " + text(a) + ", b = " + text(b) + ": a (+) b = " + text(ab) + ", b (+) a = " + text(ba));
    }
    if (said == 0)
      return violation("combining the identity of `" + monoid_.name + "` with a value is never finite", "correct the identity or the function",
                       "identity = " + text(identity_));
    return std::nullopt;
  }

 private:
  static LawViolation violation(std::string message, std::string hint, std::string witness) {
    return {std::move(message), std::move(hint), std::move(witness)};
  }
  State copy(const TracedValue* values) const { return State(values, values + types_.size()); }

  State merge(const State& a, const State& b) {
    operands_.left = a;
    operands_.right = b;
    return copy(combine_.evaluate(operands_));
  }

  /// Small whole numbers half of the time, so that ties and exact results are met.
  TracedValue sample(ElementType type) {
    const bool whole = random_() % 2 == 0;
    const auto small = static_cast<std::int64_t>(random_() % 9);
    if (type == ElementType::boolean) return TracedValue::exact_integer(small % 2);
    if (is_integer(type)) {
      const auto wide = static_cast<std::int64_t>((static_cast<std::uint64_t>(random_()) << 32) | random_());
      return TracedValue::exact_integer(wrap_integer(whole ? (is_signed(type) ? small - 4 : small) : wide, type));
    }
    const double uniform = static_cast<double>(random_()) / 0x1p32 * 8 - 4;
    return TracedValue::exact_real(round_to_type(whole ? static_cast<double>(small - 4) : uniform, type));
  }
  State sample() {
    State state;
    for (const ElementType type : types_) state.push_back(sample(type));
    return state;
  }

  bool is_finite(const State& state) const {
    for (std::size_t i = 0; i < types_.size(); ++i)
      if (is_float(types_[i]) && !(std::isfinite(state[i].real) && std::isfinite(state[i].shadow))) return false;
    return true;
  }

  bool agree(const State& a, const State& b) const {
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const double allowed = a[i].bound + b[i].bound;
      const double distance = is_float(types_[i]) ? std::fabs(a[i].shadow - b[i].shadow)
                                                  : std::fabs(integer_as_double(a[i].integer, types_[i]) - integer_as_double(b[i].integer, types_[i]));
      if (!(distance <= allowed)) return false;
    }
    return true;
  }

  std::string text(const State& state) const {
    std::string text;
    for (std::size_t i = 0; i < types_.size(); ++i) text += (i ? ", " : "") + value_text(state[i], types_[i]);
    return types_.size() > 1 ? "(" + text + ")" : text;
  }

  const Monoid& monoid_;
  std::vector<ElementType> types_;
  ScalarCode combine_;
  StateOperands operands_;
  State identity_;
  std::mt19937 random_{20240917};
};

bool rounds(const Expr& expr) {
  if (const auto* binary = std::get_if<Binary>(&expr.node)) {
    if (!is_float(expr.type)) return false;
    return binary->op != BinaryOp::min && binary->op != BinaryOp::max;
  }
  if (const auto* call = std::get_if<Call>(&expr.node)) return is_float(expr.type) && call->function != Function::abs;
  if (const auto* cast = std::get_if<Cast>(&expr.node)) return is_float(expr.type) && !widens_exactly(cast->operand->type, expr.type);
  return false;
}

}  // namespace

std::optional<LawViolation> find_violation(const Monoid& monoid) { return LawChecker(monoid).run(); }

bool computes_exactly(const ExprPtr& expr) {
  if (rounds(*expr)) return false;
  for (const ExprPtr& operand : operands(*expr))
    if (!computes_exactly(operand)) return false;
  return true;
}

}  // namespace tileopt::tile_text
