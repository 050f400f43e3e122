#include "backends/c_common/wide_leaf.h"

#include <algorithm>
#include <set>

#include "support/error.h"

namespace tileopt {

namespace {
using Kind = AstExpr::Kind;

constexpr long kMostElements = 128;     ///< of one fragment: registers of a thread
constexpr long kAnyFactor = 1L << 20;   ///< of zero

/// A power of two that divides the expression whatever its names are.
long known_factor(const AstExprPtr& expr) {
  const auto of = [&](std::size_t argument) { return known_factor(expr->arguments[argument]); };
  switch (expr->kind) {
    case Kind::integer: return expr->value == 0 ? kAnyFactor : std::min(kAnyFactor, static_cast<long>(expr->value & -expr->value));
    case Kind::negate: return of(0);
    case Kind::add: case Kind::sub: case Kind::min: case Kind::max: case Kind::modulo: return std::min(of(0), of(1));
    case Kind::mul: return std::min(kAnyFactor, of(0) * of(1));
    case Kind::select: return std::min(of(1), of(2));
    case Kind::name: case Kind::floor_div: case Kind::exact_div: case Kind::eq: case Kind::ne: case Kind::lt: case Kind::le: case Kind::gt:
    case Kind::ge: case Kind::logical_and: case Kind::logical_or: break;
  }
  return 1;
}

/// Box digits that move the operand, the one along which its neighbours lie last.
std::vector<std::size_t> moving_digits(const LeafOperand& operand, std::size_t digits, std::size_t along) {
  std::vector<std::size_t> moving;
  for (std::size_t b = 0; b < digits; ++b)
    if (b != along && !operand.still(b)) moving.push_back(b);
  moving.push_back(along);
  return moving;
}

/// Bytes of one access along box digit `along`: as many as alignment allows; 0: none.
long access_bytes(const LeafOperand& operand, const LeafView& leaf, std::size_t along, long most, StorageTable& storage, std::string& flag) {
  const long element = size_bytes(operand.storage->element);
  const std::size_t unit = operand.steps.size() - 1;
  long factor = std::min(known_factor(fold(operand.corner[unit])), leaf.radices[along] & -leaf.radices[along]);
  for (std::size_t b = 0; b < leaf.radices.size(); ++b)
    if (const long step = operand.steps[unit][b]; b != along && step != 0) factor = std::min(factor, step & -step);
  for (long bytes = std::min(most, element * factor); bytes >= 2 * element && bytes >= 4; bytes /= 2)
    if (storage.may_align(*operand.storage, bytes, flag)) return bytes;
  return 0;
}
}  // namespace

std::vector<Fragment> choose_fragments(const LeafView& leaf, const Atom* atom, StorageTable& storage) {
  if (atom == nullptr || leaf.radices.empty() || leaf.order_matters()) return {};
  std::set<std::size_t> used = {0};
  walk_expr(leaf.body, [&](const Expr& e) {
    if (const auto* read = std::get_if<Read>(&e.node)) used.insert(1 + read->access);
  });
  std::vector<Fragment> fragments;
  for (const std::size_t number : used) {
    const LeafOperand& operand = number == 0 ? leaf.write : leaf.reads[number - 1];
    const long most = atom->widest_access(number == 0);
    if (most == 0 || operand.storage->kind != Storage::Kind::memory || operand.storage->in_registers || operand.storage->unit_dim.value_or(operand.steps.size() - 1) + 1 != operand.steps.size()) continue;
    if (is_tuple(operand.storage->element)) continue;
    for (std::size_t along = 0; along < leaf.radices.size(); ++along) {
      if (leaf.radices[along] < 2 || !operand.contiguous(along)) continue;
      long elements = 1;
      for (const std::size_t b : moving_digits(operand, leaf.radices.size(), along)) elements *= leaf.radices[b];
      std::string flag;
      const long bytes = elements > kMostElements ? 0 : access_bytes(operand, leaf, along, most, storage, flag);
      if (bytes == 0) continue;
      const AstExprPtr& run = operand.storage->run;
      fragments.push_back({{number, along, bytes, !flag.empty(), run == nullptr ? "" : ast_expr_text(run)}, flag});
      break;
    }
  }
  return fragments;
}

bool moves_alike(const std::vector<Fragment>& fragments) {
  if (fragments.size() != 2) return false;
  const PrintFacts::Wide &to = fragments[0].access, &from = fragments[1].access;
  return to.operand == 0 && from.operand == 1 && to.digit == from.digit && to.bytes == from.bytes;
}

FragmentedLeaf::FragmentedLeaf(const LeafView& leaf, const std::vector<Fragment>& fragments, CWriter& out, StorageTable& storage, CNames& names, Helpers& helpers)
    : leaf_(leaf), fragments_(fragments), out_(out), storage_(storage), names_(names), helpers_(helpers), local_(leaf) {}

const LeafView& FragmentedLeaf::open() {
  for (const Fragment& fragment : fragments_) {
    const std::size_t number = fragment.access.operand;
    const LeafOperand& from = source(number);
    Storage local;
    local.name = names_.fresh(from.storage->name + "_f");
    local.array = "fragment " + local.name;
    local.element = from.storage->element;
    std::vector<long> weights(leaf_.radices.size(), 0);
    long elements = 1;
    const std::vector<std::size_t> moving = moving_digits(from, leaf_.radices.size(), fragment.access.digit);
    for (std::size_t i = moving.size(); i-- > 0;) {
      weights[moving[i]] = elements;
      elements *= leaf_.radices[moving[i]];
    }
    local.extents = {elements};
    local.strides = constant_strides(local.extents);
    out_.line("alignas(16) " + storage_type_c(local.element) + " " + local.name + "[" + std::to_string(elements) + "];");
    storage_.add(local);
    LeafOperand& to = operand(number);
    to.storage = &storage_.find(local.array);
    to.corner = {ast_integer(0)};
    to.steps = {weights};
    if (number > 0 || leaf_.combine != Combine::assign) move(fragment, true);
  }
  return local_;
}

void FragmentedLeaf::close() {
  for (const Fragment& fragment : fragments_)
    if (fragment.access.operand == 0) move(fragment, false);
}

void FragmentedLeaf::move(const Fragment& fragment, bool fills) {
  const LeafOperand& memory = source(fragment.access.operand);
  const LeafOperand& local = operand(fragment.access.operand);
  const std::vector<std::size_t> moving = moving_digits(memory, leaf_.radices.size(), fragment.access.digit);
  const long step = fragment.access.bytes / size_bytes(memory.storage->element);
  const std::string word = (fills ? "tileopt_fill" : "tileopt_spill") + std::to_string(fragment.access.bytes);
  helpers_.request("tileopt_wide" + std::to_string(fragment.access.bytes));
  std::vector<long> point(leaf_.radices.size(), 0);
  while (true) {
    const std::string there = "&" + storage_.element_c(*memory.storage, memory.at(point)), here = "&" + storage_.element_c(*local.storage, local.at(point));
    out_.line(word + "(" + (fills ? here + ", " + there : there + ", " + here) + ");");
    std::size_t i = moving.size();
    while (i > 0) {
      const std::size_t b = moving[i - 1];
      point[b] += b == fragment.access.digit ? step : 1;
      if (point[b] < leaf_.radices[b]) break;
      point[b] = 0;
      --i;
    }
    if (i == 0) return;
  }
}

}  // namespace tileopt
