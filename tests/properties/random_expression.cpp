#include "random_expression.h"

#include <algorithm>

#include "support/error.h"
#include "support/text.h"

namespace tileopt::testing {

std::uint64_t Random::next() {
  std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
int Random::below(int count) { return static_cast<int>((next() >> 32) * static_cast<std::uint64_t>(count) >> 32); }
int Random::between(int low, int high) { return low + below(high - low + 1); }

SizeExpression SizeExpression::of(int size, int constant) {
  SizeExpression e = fixed(constant);
  e.coefficients[static_cast<std::size_t>(size)] = 1;
  return e;
}
SizeExpression SizeExpression::plus(const SizeExpression& other, int factor) const {
  SizeExpression sum = *this;
  for (std::size_t s = 0; s < coefficients.size(); ++s) sum.coefficients[s] += factor * other.coefficients[s];
  sum.constant += factor * other.constant;
  return sum;
}
bool SizeExpression::never_negative() const {
  return constant >= 0 && std::all_of(coefficients.begin(), coefficients.end(), [](int c) { return c >= 0; });
}
bool SizeExpression::is_fixed() const {
  return std::all_of(coefficients.begin(), coefficients.end(), [](int c) { return c == 0; });
}
std::int64_t SizeExpression::at_largest() const {
  std::int64_t value = constant;
  for (std::size_t s = 0; s < coefficients.size(); ++s) value += std::int64_t(coefficients[s]) * largest_sizes[s];
  return value;
}

namespace {
/// "+ c name" pieces joined as one would write them.
std::string sum_text(const std::vector<std::pair<int, std::string>>& terms, int constant) {
  std::string text;
  for (const auto& [factor, name] : terms) {
    if (factor == 0) continue;
    const int magnitude = std::abs(factor);
    text += text.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
    text += (magnitude == 1 ? "" : std::to_string(magnitude) + " * ") + name;
  }
  if (text.empty()) return std::to_string(constant);
  if (constant != 0) text += (constant < 0 ? " - " : " + ") + std::to_string(std::abs(constant));
  return text;
}

SizeExpression scaled(const SizeExpression& e, int factor) { return SizeExpression::fixed(0).plus(e, factor); }

/// Largest and smallest value of factor * loop.
SizeExpression largest(const Loop& loop, int factor) { return scaled(factor < 0 ? loop.low : loop.high, factor); }
SizeExpression smallest(const Loop& loop, int factor) { return scaled(factor < 0 ? loop.high : loop.low, factor); }

std::string bracketed(const std::string& sum) { return sum.find(' ') == std::string::npos ? sum : "(" + sum + ")"; }

bool inside(const SizeExpression& low, const SizeExpression& high, const SizeExpression& extent) {
  return low.never_negative() && extent.plus(-1).plus(high, -1).never_negative();
}
}  // namespace

std::string SizeExpression::text() const {
  std::vector<std::pair<int, std::string>> terms;
  for (std::size_t s = 0; s < coefficients.size(); ++s) terms.emplace_back(coefficients[s], size_names[s]);
  return sum_text(terms, constant);
}

std::string Loop::range() const {
  if (step < 0) return "range(" + high.text() + ", " + low.plus(-1).text() + ", " + std::to_string(step) + ")";
  const bool from_zero = low.is_fixed() && low.constant == 0 && step == 1;
  return "range(" + (from_zero ? "" : low.text() + ", ") + high.plus(1).text() + (step == 1 ? "" : ", " + std::to_string(step)) + ")";
}

int ExpressionMaker::step() {
  if (!random_.chance(14)) return 1;
  const int step = random_.pick(std::vector<int>{2, 3, -1, -1, -2});
  if (step < 0) plan_.features.descending = true;
  if (std::abs(step) > 1) plan_.features.strided = true;
  return step;
}

std::string ExpressionMaker::add_index_tensor(std::vector<SizeExpression> extents, const SizeExpression& below, bool monotone) {
  plan_.features.indexed = plan_.features.may_write = true;
  TensorPlan index{"I" + std::to_string(plan_.next_input++), ElementType::i32, std::move(extents), TensorUse::in, true, below};
  std::string all;
  for (std::size_t d = 0; d < index.extents.size(); ++d) all += d == 0 ? "[:" : ", :";
  plan_.assumptions.push_back("assume(0 <= " + index.name + all + "] < " + below.text() + (monotone ? " and monotone(" + index.name + ")" : "") + ")");
  plan_.tensors.push_back(index);
  return index.name;
}

std::optional<std::string> ExpressionMaker::indexed(const Loops& loops, ElementType type, TensorUse use) {
  if (plan_.next_input >= 6) return std::nullopt;
  const SizeExpression extent = random_.chance(70) ? SizeExpression::of(size_k, random_.between(1, 3)) : SizeExpression::fixed(random_.between(2, 6));
  std::vector<SizeExpression> extents;
  std::vector<std::string> names;
  for (const Loop& loop : loops.loops) {
    if (loop.name == "t" || (!extents.empty() && random_.chance(60))) continue;
    SizeExpression covered = loop.high.plus(1);
    covered.constant = std::max(covered.constant, 0);
    extents.push_back(covered);
    names.push_back(loop.name);
  }
  if (extents.empty()) return std::nullopt;
  const std::string index = add_index_tensor(extents, extent, false);
  TensorPlan table{"A" + std::to_string(plan_.next_input++), type, {extent}, use, true};
  std::string at = index + "[" + join(names, ", ") + "]";
  if (random_.chance(30)) {
    const Loop& loop = random_.pick(loops.loops);
    table.extents.push_back(loop.high.plus(1));
    table.extents.back().constant = std::max(table.extents.back().constant, 0);
    at += ", " + loop.name;
  }
  plan_.tensors.push_back(table);
  return table.name + "[" + at + "]";
}

std::string ExpressionMaker::data_condition(const Loops& loops) {
  plan_.features.conditional = plan_.features.may_write = true;
  const ElementType type = is_float(plan_.main_type) || random_.chance(70) ? plan_.main_type : ElementType::i32;
  const std::string compared = read(loops, type) + random_.pick(std::vector<std::string>{" < ", " >= ", " != ", " > "}) + literal(type);
  if (!random_.chance(20) || loops.loops.empty()) return compared;
  return compared + (random_.chance(50) ? " and " : " or ") + affine_condition(loops);
}

std::string ExpressionMaker::literal(ElementType type) {
  if (is_float(type)) return random_.pick(std::vector<std::string>{"0.5", "1.0", "2.0", "1.5", "0.25", "3.0"});
  return std::to_string(is_signed(type) && random_.chance(30) ? -random_.between(1, 4) : random_.between(0, 5));
}

std::optional<std::string> ExpressionMaker::subscript(const Loops& loops, const SizeExpression& extent, std::vector<std::size_t>& unused) {
  for (int attempt = 0; attempt < 12 && !loops.loops.empty(); ++attempt) {
    std::size_t l = static_cast<std::size_t>(random_.below(static_cast<int>(loops.loops.size())));
    // Mostly one iterator for each dimension, so that accesses have the rank of their loops.
    if (!unused.empty() && random_.chance(80)) l = unused[static_cast<std::size_t>(attempt) % unused.size()];
    if (auto text = iterator_subscript(loops, l, extent)) {
      std::erase(unused, l);
      return text;
    }
  }
  const int fixed = random_.below(3);
  if (extent.plus(-1 - fixed).never_negative()) return std::to_string(fixed);
  return std::nullopt;
}

std::optional<std::string> ExpressionMaker::iterator_subscript(const Loops& loops, std::size_t number, const SizeExpression& extent) {
  const Loop& loop = loops.loops[number];
  const int shift = random_.between(-2, 3);
  const int form = random_.below(12);
  if (form < 6) {
    const int moved = form < 3 ? 0 : shift;
    if (!inside(smallest(loop, 1).plus(moved), largest(loop, 1).plus(moved), extent)) return std::nullopt;
    return sum_text({{1, loop.name}}, moved);
  }
  if (form == 6) {
    if (!inside(smallest(loop, 2).plus(shift), largest(loop, 2).plus(shift), extent)) return std::nullopt;
    plan_.features.strided = true;
    return sum_text({{2, loop.name}}, shift);
  }
  if (form == 7) {
    const SizeExpression reversed = loop.high.plus(std::max(0, shift));
    if (!inside(reversed.plus(largest(loop, 1), -1), reversed.plus(smallest(loop, 1), -1), extent)) return std::nullopt;
    return reversed.text() + " - " + loop.name;
  }
  if (form == 8) {
    const Loop& other = random_.pick(loops.loops);
    if (other.name == loop.name || !inside(smallest(loop, 1).plus(smallest(other, 1)), largest(loop, 1).plus(largest(other, 1)), extent))
      return std::nullopt;
    return loop.name + " + " + other.name;
  }
  if (form == 9) {
    if (loops.ordered.empty()) return std::nullopt;
    const auto [a, b] = random_.pick(loops.ordered);
    if (!inside(SizeExpression::fixed(0), loops.loops[b].high.plus(loops.loops[a].low, -1), extent)) return std::nullopt;
    return loops.loops[b].name + " - " + loops.loops[a].name;
  }
  if (form == 10) {
    const int moved = std::max(0, shift);
    if (!inside(smallest(loop, 1), largest(loop, 1).plus(moved), extent)) return std::nullopt;
    plan_.features.strided = true;
    return bracketed(sum_text({{1, loop.name}}, moved)) + " // 2";
  }
  const int modulus = random_.between(2, 5);
  if (!extent.plus(-modulus).never_negative()) return std::nullopt;
  plan_.features.strided = true;
  return bracketed(sum_text({{random_.between(1, 3), loop.name}}, shift)) + " % " + std::to_string(modulus);
}

std::optional<std::string> ExpressionMaker::subscripts(const Loops& loops, const std::vector<SizeExpression>& extents) {
  std::vector<std::string> parts;
  std::vector<std::size_t> unused;
  for (std::size_t l = 0; l < loops.loops.size(); ++l)
    if (loops.loops[l].name != "t") unused.push_back(l);
  if (random_.chance(20)) std::reverse(unused.begin(), unused.end());
  for (const SizeExpression& extent : extents) {
    std::optional<std::string> part = subscript(loops, extent, unused);
    if (!part) return std::nullopt;
    parts.push_back(std::move(*part));
  }
  return "[" + join(parts, ", ") + "]";
}

const TensorPlan& ExpressionMaker::add_input(const Loops& loops, ElementType type, TensorUse use) {
  TensorPlan tensor;
  tensor.name = "A" + std::to_string(plan_.next_input++);
  tensor.type = type;
  tensor.use = use;
  tensor.readable = true;
  std::vector<std::size_t> dims;
  for (std::size_t l = 0; l < loops.loops.size(); ++l)
    if (loops.loops[l].name != "t" && (dims.empty() || random_.chance(65))) dims.push_back(l);
  if (dims.size() > 1 && random_.chance(35)) std::swap(dims.front(), dims.back());
  for (const std::size_t l : dims) {
    const int factor = random_.chance(15) ? 2 : 1;
    tensor.extents.push_back(scaled(loops.loops[l].high, factor).plus(1 + (random_.chance(40) ? random_.between(0, 3) : 0)));
    // The extent must not be negative for any sizes, the empty loops included.
    for (SizeExpression& e : tensor.extents) e.constant = std::max(e.constant, 0);
  }
  if (dims.empty()) tensor.extents.push_back(SizeExpression::fixed(random_.between(2, 6)));
  plan_.tensors.push_back(tensor);
  return plan_.tensors.back();
}

std::string ExpressionMaker::read(const Loops& loops, ElementType type) {
  for (int attempt = 0; attempt < 6; ++attempt) {
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < plan_.tensors.size(); ++i)
      if (plan_.tensors[i].readable && plan_.tensors[i].type == type) fitting.push_back(i);
    if (fitting.empty() || (plan_.next_input < 5 && random_.chance(25))) break;
    const TensorPlan& tensor = plan_.tensors[random_.pick(fitting)];
    if (const auto at = subscripts(loops, tensor.extents)) return tensor.name + *at;
  }
  if (plan_.next_input >= 7) return literal(type);
  const std::string name = add_input(loops, type, random_.chance(20) ? TensorUse::inout : TensorUse::in).name;
  const auto at = subscripts(loops, plan_.tensors.back().extents);
  return at ? name + *at : literal(type);
}

std::string ExpressionMaker::converted(const Loops& loops, ElementType type) {
  const std::string name = type_name(type);
  if (!loops.loops.empty() && random_.chance(50)) {
    const Loop& loop = random_.pick(loops.loops);
    if (random_.chance(30)) return name + "(" + sum_text({{random_.between(2, 3), loop.name}}, random_.between(-3, 3)) + ")";
    return name + "(" + loop.name + ")";
  }
  std::vector<ElementType> sources = {ElementType::i32, ElementType::i16, ElementType::u8};
  if (is_float(type)) sources = {ElementType::i32, ElementType::bf16, ElementType::f16, ElementType::f32};
  ElementType source = random_.pick(sources);
  return source == type ? read(loops, type) : name + "(" + read(loops, source) + ")";
}

std::string ExpressionMaker::affine_condition(const Loops& loops) {
  plan_.features.conditional = true;
  const Loop& loop = random_.pick(loops.loops);
  const Loop& other = random_.pick(loops.loops);
  switch (random_.below(6)) {
    case 0: return loop.name + " % " + std::to_string(random_.between(2, 4)) + " == " + std::to_string(random_.below(2));
    case 1: return other.name == loop.name ? loop.name + " == 0" : loop.name + " <= " + other.name;
    case 2: return other.name == loop.name ? loop.name + " != 1" : loop.name + " + " + other.name + " < " + size_names[static_cast<std::size_t>(random_.below(2))];
    case 3: return loop.name + " >= " + std::to_string(random_.between(1, 5)) + " and " + other.name + " < 20";
    case 4: return loop.name + " == 0 or " + other.name + " > 2";
    default: return loop.name + " < " + std::to_string(random_.between(1, 9));
  }
}

std::string ExpressionMaker::guarded_read(const Loops& loops, ElementType type) {
  plan_.features.conditional = true;
  const std::size_t l = static_cast<std::size_t>(random_.below(static_cast<int>(loops.loops.size())));
  Loops inner = loops;
  Loop& loop = inner.loops[l];
  std::string condition;
  if (random_.chance(50)) {
    loop.low = loop.low.plus(1);
    condition = loop.name + " >= " + loop.low.text();
  } else {
    condition = loop.name + " < " + loop.high.text();
    loop.high = loop.high.plus(-1);
  }
  // Bounds between two iterators hold inside the guard too, but the generator does not track which still do.
  inner.ordered.clear();
  return "(" + read(inner, type) + " if " + condition + " else " + literal(type) + ")";
}

std::string ExpressionMaker::ternary(const Loops& loops, ElementType type, int depth, bool reductions) {
  if (random_.chance(40)) return guarded_read(loops, type);
  plan_.features.conditional = true;
  std::string condition;
  if (random_.chance(50)) condition = affine_condition(loops);
  else condition = read(loops, type) + random_.pick(std::vector<std::string>{" < ", " >= ", " != "}) + value(loops, type, 0, false);
  return "(" + value(loops, type, depth - 1, reductions) + " if " + condition + " else " + value(loops, type, depth - 1, false) + ")";
}

std::string ExpressionMaker::operation(const Loops& loops, ElementType type, int depth, bool reductions) {
  const std::string left = depth > 1 ? value(loops, type, depth - 1, reductions) : read(loops, type);
  const int kind = random_.below(12);
  if (kind < 8) {
    // Products of floats grow until nothing is exact any more, so they stay rare.
    const bool product = is_float(type) ? kind == 7 && random_.chance(40) : kind > 5;
    const std::string op = product ? " * " : kind < 4 ? " + " : " - ";
    return "(" + left + op + value(loops, type, depth - 1, false) + ")";
  }
  if (kind < 10) return std::string(kind == 8 ? "min" : "max") + "(" + left + ", " + value(loops, type, depth - 1, false) + ")";
  if (is_float(type)) return kind == 10 ? "(" + left + " / " + (random_.chance(70) ? "2.0" : "3.0") + ")" : "abs(" + left + ")";
  if (kind == 10) return "(" + left + random_.pick(std::vector<std::string>{" // ", " % "}) + std::to_string(random_.between(2, 7)) + ")";
  return random_.chance(50) ? "(" + left + " & 15)" : "(" + left + " >> 1)";
}

std::string ExpressionMaker::value(const Loops& loops, ElementType type, int depth, bool reductions) {
  if (type == ElementType::bf16 || type == ElementType::f16)
    return depth <= 0 ? read(loops, type) : type_name(type) + "(" + value(loops, ElementType::f32, depth, reductions) + ")";
  if (reductions && random_.chance(depth > 1 ? 20 : 10)) return reduction(loops, type, 1);
  if (depth <= 0) {
    if (random_.chance(4))
      if (const auto element = indexed(loops, type, TensorUse::in)) return *element;
    const int kind = random_.below(10);
    if (kind < 7) return read(loops, type);
    return kind == 7 ? literal(type) : converted(loops, type);
  }
  if (!loops.loops.empty() && random_.chance(15)) return ternary(loops, type, depth, reductions);
  return operation(loops, type, depth, reductions);
}

Loops ExpressionMaker::with_reduction_loop(const Loops& loops, std::string* clause) {
  Loops inner = loops;
  const std::string name = loops.loops.size() > 2 ? "q" : "k";
  const int kind = random_.below(10);
  if (kind < 2 && !loops.loops.empty() && loops.loops.back().name != "t") {
    plan_.features.triangular = true;
    const Loop outer = loops.loops.back();
    const std::size_t position = inner.loops.size();
    if (kind == 0) {
      const bool down = random_.chance(20);
      plan_.features.descending = plan_.features.descending || down;
      *clause = "for " + name + " in range(" + outer.name + (down ? ", -1, -1)" : " + 1)");
      inner.loops.push_back({name, SizeExpression::fixed(0), outer.high});
      inner.ordered.emplace_back(position, position - 1);
    } else {
      *clause = "for " + name + " in range(" + outer.name + ", " + outer.high.plus(1).text() + ")";
      inner.loops.push_back({name, outer.low, outer.high});
      inner.ordered.emplace_back(position - 1, position);
    }
    return inner;
  }
  if (kind == 2) {
    const int r = random_.between(1, 3), s = random_.between(1, 3);
    *clause = "for r, s in grid(" + std::to_string(r) + ", " + std::to_string(s) + ")";
    inner.loops.push_back({"r", SizeExpression::fixed(0), SizeExpression::fixed(r - 1)});
    inner.loops.push_back({"s", SizeExpression::fixed(0), SizeExpression::fixed(s - 1)});
    return inner;
  }
  SizeExpression extent = SizeExpression::of(size_k);
  if (kind == 3) extent = SizeExpression::fixed(random_.between(1, 5));
  if (kind == 4 && loops.loops.size() < 2) extent = SizeExpression::of(size_m);
  const int low = random_.chance(15) ? 1 : 0;
  inner.loops.push_back({name, SizeExpression::fixed(low), extent.plus(-1), step()});
  *clause = "for " + name + " in " + inner.loops.back().range();
  if (random_.chance(8)) *clause += " if " + data_condition(inner);
  return inner;
}

std::string ExpressionMaker::reduction(const Loops& loops, ElementType type, int depth) {
  if (type == ElementType::bf16 || type == ElementType::f16)
    return type_name(type) + "(" + reduction(loops, ElementType::f32, depth) + ")";
  if (random_.chance(35)) return contraction(loops, type);
  plan_.features.reduction = true;
  std::string clause;
  const Loops inner = with_reduction_loop(loops, &clause);
  std::vector<std::string> operations = {"sum", "sum", "max", "min"};
  if (!is_float(type)) operations.push_back("prod");
  return random_.pick(operations) + "(" + value(inner, type, depth, false) + " " + clause + ")";
}

std::string ExpressionMaker::product_factor(const Loops& loops, ElementType type) {
  if (!random_.chance(20)) return read(loops, type);
  return type_name(type) + "(" + read(loops, is_float(type) ? ElementType::bf16 : ElementType::i16) + ")";
}

std::string ExpressionMaker::contraction(const Loops& loops, ElementType type) {
  plan_.features.reduction = plan_.features.contraction = true;
  std::string clause;
  const Loops inner = with_reduction_loop(loops, &clause);
  std::string product = product_factor(inner, type) + " * " + product_factor(inner, type);
  if (random_.chance(20)) product += " * " + product_factor(inner, type);
  return "sum(" + product + " " + clause + ")";
}

}  // namespace tileopt::testing
