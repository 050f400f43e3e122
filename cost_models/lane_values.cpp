#include "cost_models/lane_values.h"

#include <algorithm>

namespace tileopt {
namespace {

long floor_divide(long a, long b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

long apply(AstExpr::Kind kind, long a, long b, long c) {
  switch (kind) {
    case AstExpr::Kind::integer:
    case AstExpr::Kind::name: return 0;
    case AstExpr::Kind::negate: return -a;
    case AstExpr::Kind::add: return a + b;
    case AstExpr::Kind::sub: return a - b;
    case AstExpr::Kind::mul: return a * b;
    case AstExpr::Kind::floor_div: return floor_divide(a, b);
    case AstExpr::Kind::exact_div: return b == 0 ? 0 : a / b;
    case AstExpr::Kind::modulo: return b == 0 ? 0 : a - b * floor_divide(a, b);
    case AstExpr::Kind::min: return std::min(a, b);
    case AstExpr::Kind::max: return std::max(a, b);
    case AstExpr::Kind::select: return a != 0 ? b : c;
    case AstExpr::Kind::eq: return a == b;
    case AstExpr::Kind::ne: return a != b;
    case AstExpr::Kind::lt: return a < b;
    case AstExpr::Kind::le: return a <= b;
    case AstExpr::Kind::gt: return a > b;
    case AstExpr::Kind::ge: return a >= b;
    case AstExpr::Kind::logical_and: return a != 0 && b != 0;
    case AstExpr::Kind::logical_or: return a != 0 || b != 0;
  }
  return 0;
}

}  // namespace

Lanes all_lanes(long value) {
  Lanes lanes;
  lanes.fill(value);
  return lanes;
}

LaneScope::LaneScope(const Sizes& sizes) {
  for (const auto& [name, value] : sizes) push(name, all_lanes(value));
}

Lanes* LaneScope::find(const std::string& name) {
  const auto found = std::find_if(values_.rbegin(), values_.rend(), [&](const auto& entry) { return entry.first == name; });
  return found == values_.rend() ? nullptr : &found->second;
}

Lanes LaneScope::evaluate(const AstExprPtr& expr) {
  if (expr == nullptr) return all_lanes(0);
  if (expr->kind == AstExpr::Kind::integer) return all_lanes(expr->value);
  if (expr->kind == AstExpr::Kind::name) {
    const Lanes* values = find(expr->name);
    return values ? *values : all_lanes(0);
  }
  std::array<Lanes, 3> operands{};
  for (std::size_t i = 0; i < std::min<std::size_t>(3, expr->arguments.size()); ++i) operands[i] = evaluate(expr->arguments[i]);
  Lanes result;
  for (std::size_t lane = 0; lane < kMostLanes; ++lane) result[lane] = apply(expr->kind, operands[0][lane], operands[1][lane], operands[2][lane]);
  return result;
}

}  // namespace tileopt
