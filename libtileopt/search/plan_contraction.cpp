/// BLIS-like plans: packed operands, a register tile of outer products.
///   jc > kc > ic > jr > ir > (C_init ; C: kk)      right packed after kc, left after ic, the result tile after ir
/// A convolution is the same with more loops: outer result loops that only move the left operand lie between kc and ic, short
/// summation loops above kk. Loops over indices from memory, and what these depend on, lie around everything else: inside them bounds
/// and offsets are affine, and blocks start where the range does.
#include <algorithm>
#include <climits>
#include <cmath>
#include <memory>

#include "cost_models/cpu_blocking.h"
#include "search/choose_multiplier.h"
#include "search/contraction.h"
#include "support/text.h"

namespace tileopt {
namespace {

constexpr double kPrivateBytes = 256 << 10;   ///< of a packed operand below a thread loop: it lies on that thread's stack
constexpr long kShortLoop = 16;               ///< summation loops up to this length are never cut
constexpr double kLeftBytes = 256 << 10;
constexpr double kLeastReads = 8;             ///< of a packed left block, by register tiles side by side
constexpr double kLeastTiles = 3;             ///< register tiles, one below the other, that read a packed right panel
constexpr long kRowsAtOnce = 8;              ///< of a right operand that is read where it lies: each is a stream of its own to the prefetcher

class ContractionPlanner {
 public:
  ContractionPlanner(const PlanRequest& request, Contraction contraction, const Multiplier& multiplier, const Atom& elementwise)
      : request_(request), c_(std::move(contraction)), multiplier_(multiplier), fma_(*multiplier.atom), box_(elementwise) {}

  /// `threads`: a fixed loop to spread over the threads, instead of one that the packing is shared by.
  bool choose_sizes(std::optional<std::size_t> threads, std::string& why_not);
  PlanPart build(NameTable& names) const;
  std::string label() const { return std::to_string(mr_) + "x" + std::to_string(nr_) + " register tile"; }
  double seconds() const;

 private:
  const std::string& iterator(std::size_t m) const { return c_.view.members[m]; }
  const MemberRange& range(std::size_t m) const { return c_.view.ranges[m]; }
  int element_bytes() const { return size_bytes(c_.element); }
  long depth() const { return multiplier_.depth; }
  bool is_depth(std::size_t m) const { return depth() > 1 && m == multiplier_.loop; }
  const AccessView& left() const { return c_.view.accesses[1 + c_.left]; }
  const AccessView& right() const { return c_.view.accesses[1 + c_.right]; }
  std::optional<long> pinned(const std::string& level, std::size_t m) const {
    return request_.pins.tile(level, c_.statement, iterator(m));
  }
  /// Pinned extent below the outermost digit of a loop.
  std::optional<long> pinned_block(std::size_t m) const;
  void choose_threads();
  void choose_reduction();
  void choose_rows();
  void choose_lanes();
  bool can_lie() const;
  bool right_is_near() const;
  void choose_packing();
  double left_bytes(long rows) const;
  std::vector<std::string> explain() const;

  const PlanRequest& request_;
  Contraction c_;
  const Multiplier multiplier_;
  const Atom& fma_;
  const Atom& box_;
  RegisterTile tile_;
  long mr_ = 1, nr_ = 1;
  long mc_ = 0, nc_ = 0, kc_ = 0;          ///< 0: the loop is not cut there
  std::optional<std::size_t> blocked_;     ///< the summation loop that is cut
  std::vector<std::size_t> outer_sums_;    ///< summation loops too long to lie below the packing, and not cut
  std::vector<std::size_t> inner_sums_;    ///< all others, in source order, with blocked_
  std::optional<std::size_t> thread_;      ///< loop whose outermost digit is spread over threads
  bool pack_left_ = true;
  bool pack_right_ = true;
};

std::optional<long> ContractionPlanner::pinned_block(std::size_t m) const {
  const std::string serial = level_of_kind(request_.machine, LevelKind::sequential);
  if (thread_ == m) {
    if (const auto extent = pinned(level_of_kind(request_.machine, LevelKind::independent), m)) return extent;
  }
  return pinned(serial, m);
}

double ContractionPlanner::left_bytes(long rows) const {
  double elements = 1;
  for (const std::vector<long>& row : left().coefficients) {
    double extent = 1 + double(std::abs(row[c_.rows])) * double(rows - 1);
    for (const std::size_t m : inner_sums_) {
      const double trips = m == blocked_ && kc_ > 0 ? double(kc_) : range(m).typical;
      extent += double(std::abs(row[m])) * (trips - 1);
    }
    elements *= extent;
  }
  return elements * size_bytes(multiplier_.left);
}

/// The outermost loop with work for all threads: left-only loops and row blocks share the packed right operand.
void ContractionPlanner::choose_threads() {
  std::vector<std::size_t> loops = c_.outer_left;
  loops.push_back(c_.rows);
  loops.insert(loops.end(), c_.outer_right.begin(), c_.outer_right.end());
  loops.push_back(c_.lanes);
  thread_ = choose_thread_loop(request_, c_.statement, c_.view, loops, [&](std::size_t m) {
    return range(m).typical / (m == c_.rows ? double(mr_) : m == c_.lanes ? double(nr_) : 1.0);
  });
}

/// Cuts the longest summation loop; the others stay whole where they are short, or move outside the packing.
void ContractionPlanner::choose_reduction() {
  double fixed = 1;
  for (const std::size_t m : c_.reduction) {
    const auto constant = range(m).constant;
    if (constant && *constant <= kShortLoop) {
      fixed *= double(*constant);
      continue;
    }
    if (!blocked_ || range(m).typical >= range(*blocked_).typical) blocked_ = m;
  }
  for (const std::size_t m : c_.reduction) {
    const auto constant = range(m).constant;
    if (m == blocked_ || (constant && *constant <= kShortLoop)) inner_sums_.push_back(m);
    else outer_sums_.push_back(m);
  }
  if (!blocked_) return;
  if (!pack_right_ && !right_is_near()) kc_ = kRowsAtOnce;
  else kc_ = choose_reduction_block(request_.machine, size_bytes(multiplier_.right), mr_, nr_, depth(), range(*blocked_).typical, fixed);
  kc_ = (kc_ + depth() - 1) / depth() * depth();
  const auto constant = range(*blocked_).constant;
  if (const auto extent = pinned_block(*blocked_)) kc_ = *extent;
  else if (constant && *constant <= kc_ + kc_ / 2) kc_ = 0;
}

void ContractionPlanner::choose_rows() {
  const double most_bytes = std::min(kLeftBytes, cache_bytes(request_.machine, 2) / 2);
  long most = mr_;
  while (left_bytes(most + mr_) <= most_bytes && most < 4096) most += mr_;
  mc_ = balance_block(range(c_.rows).typical, most, mr_, thread_ == c_.rows ? request_.threads : 1);
  const auto constant = range(c_.rows).constant;
  if (const auto extent = pinned_block(c_.rows)) mc_ = *extent;
  else if (constant && *constant <= most && thread_ != c_.rows) mc_ = 0;
}

void ContractionPlanner::choose_lanes() {
  double line = size_bytes(multiplier_.right);
  for (const std::size_t m : inner_sums_) line *= m == blocked_ && kc_ > 0 ? double(kc_) : range(m).typical;
  const bool is_private =
      thread_ && (*thread_ == c_.lanes || std::count(c_.fixed.begin(), c_.fixed.end(), *thread_) > 0 || std::count(c_.outer_right.begin(), c_.outer_right.end(), *thread_) > 0);
  const double most_bytes = is_private ? kPrivateBytes : cache_bytes(request_.machine, 3) / 4;
  const long most = pack_right_ ? std::clamp(static_cast<long>(most_bytes / line), nr_, 4096L) : LONG_MAX / 2;
  nc_ = balance_block(range(c_.lanes).typical, most, nr_, thread_ == c_.lanes ? request_.threads : 1);
  const auto constant = range(c_.lanes).constant;
  if (const auto extent = pinned_block(c_.lanes)) nc_ = *extent;
  else if ((!pack_right_ || (constant && *constant <= most)) && thread_ != c_.lanes) nc_ = 0;
}

/// Vectors of the right operand are neighbours in memory as they are.
bool ContractionPlanner::can_lie() const {
  const std::vector<std::vector<long>>& coefficients = right().coefficients;
  const std::vector<std::size_t> dims = right().dims_of(c_.lanes);
  if (depth() > 1 || dims.size() != 1 || dims.front() + 1 != coefficients.size()) return false;
  if (request_.program().tensor(right().tensor).type != multiplier_.right) return false;
  for (std::size_t m = 0; m < coefficients.back().size(); ++m)
    if (coefficients.back()[m] != (m == c_.lanes ? 1 : 0)) return false;
  return true;
}

/// All of the right operand stays in half of L1: a copy of it would be no nearer.
bool ContractionPlanner::right_is_near() const {
  double elements = 1;
  for (std::size_t m = 0; m < c_.view.members.size(); ++m)
    if (right().moves_with(m)) elements *= range(m).typical;
  return elements * size_bytes(multiplier_.right) <= cache_bytes(request_.machine, 1) / 2;
}

/// Packing touches every element of a factor once more; it pays where the block is then read often.
void ContractionPlanner::choose_packing() {
  const PromotePin *left_pin = request_.pins.promote(left().tensor), *right_pin = request_.pins.promote(right().tensor);
  if (right_pin != nullptr) pack_right_ = right_pin->space != "none" || !can_lie();
  else pack_right_ = !can_lie() || !c_.fixed.empty() || !c_.outer_left.empty() || (range(c_.rows).typical > kLeastTiles * double(mr_) && !right_is_near());
  if (depth() > 1 && left_pin == nullptr) return;  // products lie side by side, and zeros beyond the data, in packed factors only
  const bool often = range(c_.lanes).typical / double(nr_) >= kLeastReads && pack_right_;
  pack_left_ = left_pin != nullptr ? left_pin->space != "none" : often || !c_.fixed.empty();
}

bool ContractionPlanner::choose_sizes(std::optional<std::size_t> threads, std::string& why_not) {
  const std::string atom_level = level_of_kind(request_.machine, LevelKind::atom);
  const auto rows = pinned(atom_level, c_.rows), lanes = pinned(atom_level, c_.lanes);
  tile_ = choose_register_tile(request_.machine, element_bytes(), range(c_.rows).typical, range(c_.lanes).typical, rows, lanes);
  mr_ = tile_.rows;
  nr_ = tile_.lanes;
  double summed = 1;
  for (const std::size_t m : c_.reduction) summed *= range(m).typical;
  const bool asked = rows || lanes || request_.pins.atom(c_.statement);
  if (!asked && (tile_.efficiency < 0.3 || summed < 4 || range(c_.rows).typical < 2)) {
    why_not = "the problem is too small for a register tile (" + std::to_string(static_cast<long>(range(c_.rows).typical)) + " rows, " +
              std::to_string(static_cast<long>(range(c_.lanes).typical)) + " lanes, sums of " + std::to_string(static_cast<long>(summed)) + ")";
    return false;
  }
  thread_ = threads;
  if (!thread_) choose_threads();
  choose_packing();
  if (!pack_left_ && depth() > 1) {
    why_not = pin_text(*request_.pins.promote(left().tensor)->pin) + " keeps " + left().tensor + " where its products do not lie side by side for " + fma_.name;
    return false;
  }
  if (!pack_left_ || !pack_right_) {
    tile_ = choose_register_tile(request_.machine, element_bytes(), range(c_.rows).typical, range(c_.lanes).typical, rows, lanes, true);
    mr_ = tile_.rows;
    nr_ = tile_.lanes;
  }
  choose_reduction();
  choose_rows();
  choose_lanes();
  const auto whole_tiles = [&](long block, long tile) { return block == 0 || block % tile == 0; };
  if (!whole_tiles(mc_, mr_) || !whole_tiles(nc_, nr_)) {
    why_not = "a pinned block is no multiple of the register tile " + std::to_string(mr_) + "x" + std::to_string(nr_);
    return false;
  }
  if (blocked_ && is_depth(*blocked_) && kc_ % depth() != 0) {
    why_not = "a pinned block of " + iterator(*blocked_) + " is no multiple of the " + std::to_string(depth()) + " products of " + fma_.name;
    return false;
  }
  return true;
}

double ContractionPlanner::seconds() const {
  double multiplications = 1;
  for (const MemberRange& r : c_.view.ranges) multiplications *= r.typical;
  const double lanes = std::max(1.0, double(request_.machine.vector_bytes) / element_bytes());
  const double rate = request_.machine.frequency * request_.machine.fma_per_cycle * double(depth()) * lanes * std::max(tile_.efficiency, 0.05);
  return multiplications / rate / (thread_ ? request_.threads : 1);
}

std::vector<std::string> ContractionPlanner::explain() const {
  const std::string subject = "kernel " + request_.kernel.name() + ": " + c_.statement + ": ";
  std::vector<std::string> lines;
  lines.push_back(subject + "contraction over " + join([&] {
                    std::vector<std::string> names;
                    for (const std::size_t m : c_.reduction) names.push_back(iterator(m));
                    return names;
                  }(), ", ") + "; rows " + iterator(c_.rows) + ", lanes " + iterator(c_.lanes) + "; atom " + fma_.name);
  lines.push_back(subject + std::to_string(mr_) + "x" + std::to_string(nr_) + " register tile, " +
                  std::to_string(static_cast<int>(100 * tile_.efficiency + 0.5)) + " % of the peak, bound by " + tile_.binding +
                  "; to change: tile(\"atom\", " + iterator(c_.rows) + "=..., " + iterator(c_.lanes) + "=...)");
  const auto block = [&](std::size_t m, long size, const std::string& cache) {
    lines.push_back(subject + iterator(m) + (size > 0 ? " in blocks of " + std::to_string(size) : " not cut") + " (" + cache + ")" +
                    "; to change: tile(\"" + (thread_ == m ? level_of_kind(request_.machine, LevelKind::independent) : std::string("serial")) +
                    "\", " + iterator(m) + "=...)");
  };
  const bool streams = streams_from_l2(request_.machine, size_bytes(multiplier_.right), mr_, nr_, depth());
  if (blocked_) block(*blocked_, kc_, !pack_right_ && !right_is_near() ? "rows of the right operand that are read side by side"
                                      : streams ? "a right micro-panel that streams from L2" : "a right micro-panel in half of L1");
  block(c_.rows, mc_, "the left block in L2");
  if (pack_right_) block(c_.lanes, nc_, "the right block in L3");
  else lines.push_back(subject + right().tensor + " is read where it lies: " + (right_is_near() ? "all of it stays in L1" : "too few rows would read it packed") + "; to change: promote(" + right().tensor + ", \"workspace\")");
  if (!pack_left_) lines.push_back(subject + left().tensor + " is read where it lies: few tiles would read it packed; to change: promote(" + left().tensor + ", \"workspace\")");
  for (const std::size_t m : outer_sums_) lines.push_back(subject + iterator(m) + " outside the packing: the result tile is stored and loaded again for each value");
  if (thread_) lines.push_back(subject + "threads over " + iterator(*thread_) + "; to change: parallel(...)");
  else if (request_.threads > 1) lines.push_back(subject + "no loop has work for " + std::to_string(request_.threads) + " threads");
  return lines;
}

/// Layout of a packed operand: the divided subscript's high part outermost, its low part innermost; subscripts that mix loops whole.
struct PackedOperand {
  const AccessView& access;
  ElementType element;                  ///< packed
  std::size_t divided;                  ///< iterator whose subscript is divided
  long radix;
  std::string high, low;                ///< names of its digits
  long depth = 1;                       ///< elements of a summation loop that lie side by side
  std::size_t depth_loop = 0;
  std::string depth_digit = "";
  bool whole_rows = false;              ///< the low digit lies outside of what is summed over: rows are copied as they are
};

std::vector<BufferDim> pack_layout(const PackedOperand& operand, const std::vector<std::size_t>& moving,
                                   const std::map<std::size_t, std::string>& inner_digit, NameTable& names) {
  const AccessView& access = operand.access;
  const std::string prefix = access.tensor + "_";
  const std::size_t main = access.dims_of(operand.divided).front();
  const bool alone = std::none_of(moving.begin(), moving.end(), [&](std::size_t m) {
    return m != operand.divided && access.coefficients[main][m] != 0;
  }) && access.coefficients[main][operand.divided] == 1;
  std::vector<BufferDim> layout;
  if (alone) layout.push_back({static_cast<int>(main), names.unique(prefix + operand.high), 0});
  if (alone && operand.whole_rows) layout.push_back({static_cast<int>(main), names.unique(prefix + operand.low), operand.radix});
  for (std::size_t d = 0; d < access.coefficients.size(); ++d) {
    if (alone && d == main) continue;
    std::string mover;
    for (const std::size_t m : moving) {
      if (access.coefficients[d][m] != 0) mover = inner_digit.at(m);
    }
    if (!mover.empty()) layout.push_back({static_cast<int>(d), names.unique(prefix + mover), 0});
  }
  if (operand.whole_rows) return layout;
  if (alone) layout.push_back({static_cast<int>(main), names.unique(prefix + operand.low), operand.radix});
  if (operand.depth > 1) layout.push_back({static_cast<int>(access.dims_of(operand.depth_loop).front()), names.unique(prefix + operand.depth_digit), operand.depth});
  return layout;
}

/// Rows of the tensor one after the other, each into all panels: memory is read as it lies. Nothing where panels are what lies side by side.
std::vector<std::string> copy_along_rows(const PackedOperand& operand, const std::vector<BufferDim>& layout) {
  if (layout.size() < 3 || operand.depth > 1 || !operand.access.unit_stride(operand.divided)) return {};
  if (layout.front().tensor_dim != layout.back().tensor_dim) return {};
  std::vector<std::string> order;
  for (std::size_t d = 1; d + 1 < layout.size(); ++d) order.push_back(layout[d].name);
  order.push_back(layout.front().name);
  order.push_back(layout.back().name);
  return order;
}

PlanPart ContractionPlanner::build(NameTable& names) const {
  const Program& program = request_.program();
  const std::string serial = level_of_kind(request_.machine, LevelKind::sequential);
  const std::string atom_level = level_of_kind(request_.machine, LevelKind::atom);
  const std::string thread_level = level_of_kind(request_.machine, LevelKind::independent);
  PlanPart part;
  part.reasons = explain();
  std::map<std::size_t, std::string> member, outer, middle, inner;
  std::string depth_digit;
  for (std::size_t m = 0; m < c_.view.members.size(); ++m) member[m] = names.unique(iterator(m));
  NameTable digits = names;  // digits may be called as their member: another name space
  for (const auto& [m, name] : member) digits.reserve(name);

  const auto outer_level = [&](std::size_t m) { return thread_ == m ? thread_level : serial; };
  const auto add_depth = [&](std::size_t m, std::vector<Digit>& list) {
    if (!is_depth(m)) return;
    depth_digit = digits.unique(digit_name(member.at(m), 'x'));
    list.push_back({depth_digit, depth(), atom_level});
  };
  const auto cut = [&](std::size_t m, long block, long tile, char middle_role) {
    std::vector<Digit> list;
    if (block > 0) {
      outer[m] = digits.unique(digit_name(member.at(m), 'c'));
      list.push_back({outer.at(m), 0, outer_level(m)});
    }
    if (middle_role != 0) {
      middle[m] = digits.unique(digit_name(member.at(m), middle_role));
      list.push_back({middle.at(m), block > 0 ? block / tile : 0, block > 0 ? serial : outer_level(m)});
    }
    inner[m] = middle_role == 0 && block == 0 ? member.at(m) : digits.unique(digit_name(member.at(m), 'i'));
    if (middle_role != 0) list.push_back({inner.at(m), tile, atom_level});
    else list.push_back({inner.at(m), is_depth(m) ? block / depth() : block, serial});
    add_depth(m, list);
    part.digits.emplace_back(member.at(m), std::move(list));
  };
  const auto whole = [&](std::size_t m) {
    inner[m] = member.at(m);
    std::vector<Digit> list{{member.at(m), 0, outer_level(m)}};
    add_depth(m, list);
    part.digits.emplace_back(member.at(m), std::move(list));
  };
  for (std::size_t m = 0; m < c_.view.members.size(); ++m) {
    if (m == c_.rows) cut(m, mc_, mr_, 'r');
    else if (m == c_.lanes) cut(m, nc_, nr_, 'r');
    else if (m == blocked_) cut(m, kc_, kc_, 0);
    else whole(m);
  }

  std::vector<std::string> above;  // digits from the root to the register tile
  std::string pack_right, pack_left;
  std::vector<std::size_t> sums_above;
  for (const std::size_t m : c_.fixed) above.push_back(member.at(m));
  for (const std::size_t m : c_.outer_right) above.push_back(member.at(m));
  if (nc_ > 0) above.push_back(outer.at(c_.lanes));
  for (const std::size_t m : outer_sums_) {
    above.push_back(member.at(m));
    sums_above.push_back(m);
  }
  if (blocked_ && kc_ > 0) {
    above.push_back(outer.at(*blocked_));
    sums_above.push_back(*blocked_);
  }
  if (!above.empty()) pack_right = above.back();
  const bool right_is_private = std::any_of(above.begin(), above.end(), [&](const std::string& digit) {
    return thread_ && (digit == (outer.count(*thread_) ? outer.at(*thread_) : member.at(*thread_)));
  });
  for (const std::size_t m : c_.outer_left) above.push_back(member.at(m));
  if (mc_ > 0) above.push_back(outer.at(c_.rows));
  if (!above.empty()) pack_left = above.back();
  above.push_back(middle.at(c_.lanes));
  above.push_back(middle.at(c_.rows));
  std::vector<std::string> below;
  for (const std::size_t m : inner_sums_) below.push_back(inner.at(m));

  const Tree body = Tree::bands(below, Tree());
  part.statements = {c_.statement};
  part.tree = body;
  const auto member_map = [&](const Statement& statement, const std::vector<std::size_t>& wanted) {
    StatementMembers result;
    std::vector<std::string> values;
    for (const std::size_t m : wanted) {
      result.members.push_back(member.at(m));
      const auto least = c_.least.find(m);
      if (!contains(statement.iterators, iterator(m))) values.push_back("(0)");
      else values.push_back("(" + iterator(m) + (least == c_.least.end() || least->second == "0" ? "" : " - (" + least->second + ")") + ")");
    }
    result.map = "{ " + statement.name + "[" + join(statement.iterators, ", ") + "] -> [" + join(values, ", ") + "] }";
    return result;
  };
  std::vector<std::size_t> all(c_.view.members.size());
  for (std::size_t m = 0; m < all.size(); ++m) all[m] = m;
  part.members[c_.statement] = member_map(program.statement(c_.statement), all);
  const std::string edge = pack_left_ && pack_right_ ? "padded" : "extents";  // a padded tile needs zeros beyond the data of both factors
  std::vector<std::string> box{inner.at(c_.rows), inner.at(c_.lanes)};
  if (depth() > 1) box.insert(box.begin() + 1, depth_digit);
  const std::string rows = inner.at(c_.rows), lanes = inner.at(c_.lanes);
  // Lanes beyond the data are the register's own: no product needs a mask for them.
  using Names = std::vector<std::string>;
  const bool limited = edge == "extents";
  part.atoms[c_.statement] = {fma_.name, box, edge, false, "", limited ? Names{lanes} : Names{}};
  if (!c_.init.empty()) {
    std::vector<std::size_t> wanted;
    for (const std::size_t m : all) {
      const bool summed = std::count(c_.reduction.begin(), c_.reduction.end(), m) > 0;
      if (!summed || std::count(sums_above.begin(), sums_above.end(), m) > 0) wanted.push_back(m);
    }
    part.members[c_.init] = member_map(program.statement(c_.init), wanted);
    const bool constant = program.statement(c_.init).reads.empty();
    part.atoms[c_.init] = {box_.name, {rows, lanes}, constant ? edge : "extents", false, "", constant && limited ? Names{rows, lanes} : Names{}};
    part.statements = {c_.init, c_.statement};
    part.tree = Tree::sequence({{{c_.init}, Tree()}, {{c_.statement}, body}});
  }
  part.tree = Tree::bands(above, part.tree);

  std::vector<std::size_t> moving = inner_sums_;
  const auto promote = [&](const PackedOperand& operand, const std::string& after, bool below_threads, double bytes) {
    Promotion promotion;
    promotion.tensor = operand.access.tensor;
    promotion.array = promotion.tensor + "_packed";
    promotion.after = after;
    if (!after.empty()) promotion.statements = {c_.statement};
    promotion.space = below_threads && bytes <= kPrivateBytes ? "stack" : "workspace";
    promotion.element = type_name(operand.element);
    std::vector<std::size_t> movers = moving;
    movers.push_back(operand.divided);
    promotion.layout = pack_layout(operand, movers, inner, digits);
    promotion.copy_order = copy_along_rows(operand, promotion.layout);
    promotion.zero_fill = true;
    part.promotions.push_back(std::move(promotion));
  };
  const PackedOperand right_operand{right(), multiplier_.right, c_.lanes, nr_, middle.at(c_.lanes), inner.at(c_.lanes), depth(), multiplier_.loop, depth_digit};
  const PackedOperand left_operand{left(), multiplier_.left, c_.rows, mr_, middle.at(c_.rows), inner.at(c_.rows), 1, 0, "", depth() > 1};
  if (pack_right_) promote(right_operand, pack_right, right_is_private, 0);
  if (pack_left_) promote(left_operand, pack_left, thread_.has_value(), left_bytes(mc_ > 0 ? mc_ : static_cast<long>(range(c_.rows).typical)));

  Promotion result;
  result.tensor = c_.view.accesses[0].tensor;
  result.array = result.tensor + "_tile";
  result.after = middle.at(c_.rows);
  result.statements = {c_.statement};
  result.space = "register";
  result.element = type_name(c_.element);
  const AccessView& target = c_.view.accesses[0];
  result.layout = {{static_cast<int>(target.dims_of(c_.rows).front()), digits.unique(result.tensor + "_" + inner.at(c_.rows)), 0},
                   {static_cast<int>(target.dims_of(c_.lanes).front()), digits.unique(result.tensor + "_" + inner.at(c_.lanes)), 0}};
  part.promotions.push_back(std::move(result));
  names = digits;
  return part;
}

const Atom* find_body(const Machine& machine, const std::string& body) {
  for (const Atom& atom : machine.atoms) {
    if (atom.body == body && atom.rank == 2) return &atom;
  }
  return nullptr;
}

}  // namespace

std::vector<PartOption> plan_contraction(const PlanRequest& request, const Contraction& contraction, std::string& why_not) {
  const Atom* elementwise = find_body(request.machine, "elementwise");
  const AtomPin* pin = request.pins.atom(contraction.statement);
  if (pin && pin->atom.empty()) {
    why_not = pin_text(*pin->pin) + " asks for scalar code";
    return {};
  }
  const std::vector<Multiplier> multipliers = choose_multipliers(request, contraction, pin ? request.machine.find_atom(pin->atom) : nullptr, why_not);
  if (multipliers.empty() || !elementwise) return {};
  const auto& accesses = contraction.view.accesses;
  if (accesses[1 + contraction.left].tensor == accesses[1 + contraction.right].tensor) {
    why_not = "both factors are parts of one tensor, which can be packed in one way only";
    return {};
  }
  std::vector<PartOption> options;
  const auto add = [&](std::optional<std::size_t> threads) {
    for (const Multiplier& multiplier : multipliers) {
      const auto planner = std::make_shared<ContractionPlanner>(request, contraction, multiplier, *elementwise);
      if (!planner->choose_sizes(threads, why_not)) continue;
      options.push_back({planner->label(), planner->seconds(), [planner](NameTable& names) { return planner->build(names); }});
      return;
    }
  };
  // Whole groups first: their packing is private to a thread. Where the groups depend on each other, threads share one group.
  for (const std::size_t m : contraction.fixed) {
    const bool asked = request.pins.parallel(contraction.statement, contraction.view.members[m]);
    const bool enough = !contraction.view.guarded[m] && contraction.view.ranges[m].typical >= 2.0 * request.threads;
    if (asked || (request.threads > 1 && enough)) add(m);
  }
  add(std::nullopt);
  return options;
}

}  // namespace tileopt
