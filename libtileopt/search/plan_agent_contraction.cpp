#include "search/plan_agent_contraction.h"

#include <algorithm>
#include <memory>

#include "search/bank_rounds.h"
#include "search/choose_pipeline.h"
#include "search/statement_shape.h"
#include "support/text.h"

namespace tileopt {
namespace {

constexpr long kThreads = 16;         ///< of a block along rows and along lanes
constexpr long kDepth = 16;           ///< of the sum, in shared memory at a time
constexpr long kDepthAhead = 8;       ///< the same where tiles are copied ahead: more of them, and unrolled code that stays in its cache
constexpr long kVectorBytes = 16;     ///< that a thread copies side by side
constexpr double kLeastSum = 64;      ///< terms from which tiles pay

/// One factor as it lies: the subscripts that rows (or lanes) and the innermost sum move.
struct Factor {
  const AccessView* access = nullptr;
  std::size_t across = 0, along = 0;  ///< subscripts
  long across_extent = 0;
};

class TilePlanner {
 public:
  /// `ahead`: copies run ahead of the products.
  TilePlanner(const PlanRequest& request, const Contraction& contraction, long tile, bool ahead, const Atom& fma, const Atom& box)
      : request_(request), c_(contraction), tile_(tile), ahead_(ahead), depth_(ahead ? kDepthAhead : kDepth), run_(run_of(contraction, tile)), fma_(fma), box_(box) {}

  bool shape(std::string& why_not);
  std::string label() const { return "shared tiles of " + std::to_string(kThreads * tile_) + "x" + std::to_string(kThreads * tile_) + (ahead_ ? ", copied ahead" : ""); }
  double seconds() const;
  double blocks() const;
  PlanPart build(NameTable& names) const;

 private:
  /// Neighbours along the lanes that a thread reads at once.
  static long run_of(const Contraction& contraction, long tile) { return std::min(tile, kVectorBytes / std::min(contraction.view.accesses[1 + contraction.right].element_bytes, 8)); }
  const MemberRange& range(std::size_t m) const { return c_.view.ranges[m]; }
  const std::string& iterator(std::size_t m) const { return c_.view.members[m]; }
  bool may_run_ahead(std::string& why_not) const;
  bool find_factor(std::size_t read, std::size_t across, Factor& factor, std::string& why_not) const;
  Promotion promote_factor(const Factor& factor, const std::string& after, NameTable& digits) const;

  const PlanRequest& request_;
  const Contraction c_;  ///< options are built after planning has moved on
  long tile_;
  bool ahead_;
  long depth_, run_;
  const Atom& fma_;
  const Atom& box_;
  Factor left_, right_;
};

bool TilePlanner::find_factor(std::size_t read, std::size_t across, Factor& factor, std::string& why_not) const {
  const AccessView& access = c_.view.accesses[1 + read];
  const std::size_t along = c_.reduction.back();
  factor.access = &access;
  factor.across_extent = kThreads * tile_;
  if (!access.affine || !moves_alone(access, across) || !moves_alone(access, along)) {
    why_not = access.tensor + " is no tile along " + iterator(across) + " and " + iterator(along);
    return false;
  }
  factor.across = access.dims_of(across).front();
  factor.along = access.dims_of(along).front();
  return true;
}

bool TilePlanner::shape(std::string& why_not) {
  double terms = 1;
  for (const std::size_t m : c_.reduction) terms *= range(m).typical;
  if (!c_.fixed.empty()) why_not = "indices from memory stand around it";
  else if (c_.reduction.empty()) why_not = "nothing is summed";
  else if (terms < kLeastSum || range(c_.rows).typical < double(kThreads) || range(c_.lanes).typical < double(kThreads)) why_not = "the problem is too small for tiles of a block";
  else if (!moves_alone(c_.view.accesses[0], c_.rows) || !moves_alone(c_.view.accesses[0], c_.lanes)) why_not = "the result is no tile along " + iterator(c_.rows) + " and " + iterator(c_.lanes);
  else if (ahead_ && !may_run_ahead(why_not)) return false;
  else return find_factor(c_.left, c_.rows, left_, why_not) && find_factor(c_.right, c_.lanes, right_, why_not);
  return false;
}

/// The loop of the sum has several iterations, is run once by a block, and nothing here writes the factors.
bool TilePlanner::may_run_ahead(std::string& why_not) const {
  const MemberRange& sum = range(c_.reduction.back());
  const auto writes = [&](std::size_t read) {
    const auto& names = request_.kernel.statements();
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return request_.program().statement(name).write.tensor == c_.view.accesses[1 + read].tensor; });
  };
  if (c_.reduction.size() != 1) why_not = "a block runs the loop of the innermost sum several times";
  else if (sum.constant && *sum.constant <= depth_) why_not = "the sum is one tile deep";
  else if (writes(c_.left) || writes(c_.right)) why_not = "the kernel writes a factor";
  else return true;
  return false;
}

double TilePlanner::blocks() const {
  double count = 1;
  for (const std::size_t m : {c_.rows, c_.lanes}) count *= std::max(1.0, range(m).typical / double(kThreads * tile_));
  for (const auto* outer : {&c_.outer_left, &c_.outer_right})
    for (const std::size_t m : *outer) count *= range(m).typical;
  return count;
}

double TilePlanner::seconds() const {
  double multiplications = 1;
  for (const MemberRange& r : c_.view.ranges) multiplications *= r.typical;
  const Machine& machine = request_.machine;
  // A thread's tile reads 2 t operands for t² products; waves that do not fill the machine idle.
  // Tiles that are there when they are wanted leave the arithmetic alone.
  const double waiting = ahead_ ? 0 : 1;
  const double rate = machine.frequency * machine.fma_per_cycle * machine.cores * double(tile_) / double(tile_ + 4 + waiting) * std::min(1.0, blocks() / machine.cores);
  return multiplications / rate;
}

/// Neighbours in memory go to neighbouring threads, a few side by side to one; what threads do not cover is serial.
Promotion TilePlanner::promote_factor(const Factor& factor, const std::string& after, NameTable& digits) const {
  const std::string agent = level_of_kind(request_.machine, LevelKind::barrier);
  Promotion promotion;
  promotion.tensor = factor.access->tensor;
  promotion.array = promotion.tensor + "_shared";
  while (request_.program().has_tensor(promotion.array)) promotion.array += "_";
  promotion.after = after;
  promotion.statements = {c_.statement};
  promotion.space = "shared";
  promotion.element = type_name(request_.program().tensor(promotion.tensor).type);
  promotion.zero_fill = true;
  const bool along_is_fast = factor.access->contiguous != factor.across;
  const std::size_t fast = along_is_fast ? factor.along : factor.across, slow = along_is_fast ? factor.across : factor.along;
  const long fast_extent = along_is_fast ? depth_ : factor.across_extent, slow_extent = along_is_fast ? factor.across_extent : depth_;
  // What a thread multiplies side by side may not be cut by what a thread copies.
  const long vector = std::max(2L, kVectorBytes / factor.access->element_bytes);
  const long side = std::min(fast_extent / 2, along_is_fast ? vector : std::max(vector, tile_));
  const long fast_threads = fast_extent / side, slow_threads = std::min(slow_extent, kThreads * kThreads / fast_threads);
  const auto name = [&](const std::string& part) { return digits.unique(promotion.array + "_" + part); };
  std::vector<BufferDim> rows, columns;
  const std::string y = name("y"), x = name("x"), v = name("v");
  // What runs ahead passes through registers, which have numbers, and no addresses.
  const std::string repeated = ahead_ ? level_of_kind(request_.machine, LevelKind::unrolled) : "";
  if (slow_extent > slow_threads) rows.push_back({static_cast<int>(slow), name("s"), slow_extent / slow_threads, repeated});
  rows.push_back({static_cast<int>(slow), y, slow_threads, agent});
  if (along_is_fast) {
    columns = {{static_cast<int>(fast), x, fast_threads, agent}, {static_cast<int>(fast), v, side, ""}};
  } else {
    // Neighbouring threads read neighbouring runs: all first runs lie before all second ones.
    const long run = &factor == &right_ ? std::min(side, run_) : side, runs = side / run;
    if (runs > 1) columns.push_back({static_cast<int>(fast), name("h"), runs, repeated, run});
    columns.push_back({static_cast<int>(fast), x, fast_threads, agent, runs > 1 ? side : 0});
    columns.push_back({static_cast<int>(fast), v, run, "", runs > 1 ? 1L : 0L});
  }
  // What a thread multiplies side by side lies side by side; threads come first, so that one of them has its accesses in one loop.
  promotion.copy_order = {y, x};
  for (const std::vector<BufferDim>* part : {&rows, &columns})
    for (const BufferDim& dim : *part)
      if (dim.name != y && dim.name != x) promotion.copy_order.push_back(dim.name);
  if (along_is_fast) std::swap(rows, columns);
  promotion.layout = rows;
  promotion.layout.insert(promotion.layout.end(), columns.begin(), columns.end());
  if (!along_is_fast) return promotion;
  const std::vector<SharedAccess> accesses = {
      {[=](long lane, long row) { return lane % fast_threads * side * row + lane / fast_threads; }, 1, factor.across_extent * depth_ / (kThreads * kThreads)},
      {[this](long lane, long) { return lane / kThreads * tile_; }, std::max(1L, std::min(tile_, kVectorBytes / factor.access->element_bytes)), depth_ * std::max(1L, tile_ * factor.access->element_bytes / kVectorBytes)}};
  if (request_.machine.multiprocessor) promotion.pad = choose_padding(accesses, factor.across_extent, factor.access->element_bytes, *request_.machine.multiprocessor);
  return promotion;
}

PlanPart TilePlanner::build(NameTable& names) const {
  const Program& program = request_.program();
  const Machine& machine = request_.machine;
  const std::string block = level_of_kind(machine, LevelKind::independent), agent = level_of_kind(machine, LevelKind::barrier),
                    serial = level_of_kind(machine, LevelKind::sequential), unrolled = level_of_kind(machine, LevelKind::unrolled), atom = level_of_kind(machine, LevelKind::atom);
  PlanPart part;
  const std::string subject = "kernel " + request_.kernel.name() + ": " + c_.statement + ": ";
  const std::string side = std::to_string(kThreads * tile_);
  part.reasons.push_back(subject + "a block computes " + side + "x" + side + " of " + c_.view.accesses[0].tensor + " along " + iterator(c_.rows) + ", " + iterator(c_.lanes) + ", " +
                         std::to_string(depth_) + " terms of both factors in shared memory at a time; a thread " + std::to_string(tile_) + "x" + std::to_string(tile_) + " in registers" +
                         "; to change: atom(" + c_.statement + ", \"scalar\")");
  std::map<std::size_t, std::string> member;
  for (std::size_t m = 0; m < c_.view.members.size(); ++m) member[m] = names.unique(iterator(m));
  NameTable digits = names;
  for (const auto& [m, name] : member) digits.reserve(name);
  const auto digit = [&](std::size_t m, char role) { return digits.unique(digit_name(member.at(m), role)); };

  std::vector<std::string> above, agents, sums, boxes;
  const auto is_summed = [&](std::size_t m) { return std::count(c_.reduction.begin(), c_.reduction.end(), m) > 0; };
  std::map<std::size_t, std::vector<Digit>> table;
  for (std::size_t m = 0; m < c_.view.members.size(); ++m) {
    if (m == c_.rows) table[m] = {{digit(m, 'b'), 0, block}, {digit(m, 't'), kThreads, agent}, {digit(m, 'i'), tile_, atom}};
    else if (m == c_.lanes) table[m] = {{digit(m, 'b'), 0, block}, {digit(m, 't'), kThreads, agent}, {digit(m, 'h'), tile_ / run_, atom}, {digit(m, 'i'), run_, atom}};
    else if (m == c_.reduction.back()) table[m] = {{digit(m, 'b'), 0, serial}, {digit(m, 'i'), depth_, unrolled}};
    else table[m] = {{member.at(m), 0, is_summed(m) ? serial : block}};
    part.digits.emplace_back(member.at(m), table[m]);
  }
  for (std::size_t m = 0; m < c_.view.members.size(); ++m)
    if (!is_summed(m) && m != c_.rows && m != c_.lanes) above.push_back(table.at(m).front().name);
  for (const std::size_t m : {c_.rows, c_.lanes}) {
    above.push_back(table.at(m)[0].name);
    agents.push_back(table.at(m)[1].name);
    for (std::size_t d = 2; d < table.at(m).size(); ++d) boxes.push_back(table.at(m)[d].name);
  }
  for (const std::size_t m : c_.reduction) sums.push_back(table.at(m).front().name);
  std::vector<std::string> inner = agents;
  inner.push_back(table.at(c_.reduction.back())[1].name);

  const auto member_map = [&](const Statement& statement, bool summed) {
    StatementMembers result;
    std::vector<std::string> values;
    for (std::size_t m = 0; m < c_.view.members.size(); ++m) {
      if (!summed && is_summed(m)) continue;
      result.members.push_back(member.at(m));
      values.push_back("(" + iterator(m) + ")");
    }
    result.map = "{ " + statement.name + "[" + join(statement.iterators, ", ") + "] -> [" + join(values, ", ") + "] }";
    return result;
  };
  part.statements = {c_.statement};
  part.members[c_.statement] = member_map(program.statement(c_.statement), true);
  part.atoms[c_.statement] = {fma_.name, boxes, "padded"};
  // Whole tiles have loops of their own, without a test of any thread or term.
  const Tree products = Tree::bands(inner, Tree());
  part.tree = Tree::bands(sums, ahead_ ? Tree::nested(products) : products);
  if (!c_.init.empty()) {
    part.statements = {c_.init, c_.statement};
    part.members[c_.init] = member_map(program.statement(c_.init), false);
    part.atoms[c_.init] = {box_.name, boxes, "padded"};
    part.tree = Tree::sequence({{{c_.init}, Tree::bands(agents, Tree())}, {{c_.statement}, part.tree}});
  }
  part.tree = Tree::bands(above, part.tree);

  Promotion result;
  const AccessView& target = c_.view.accesses[0];
  result.tensor = target.tensor;
  result.array = result.tensor + "_tile";
  while (program.has_tensor(result.array)) result.array += "_";
  result.after = above.back();
  result.statements = part.statements;
  result.space = "register";
  result.element = type_name(program.tensor(result.tensor).type);
  const auto rows = static_cast<int>(target.dims_of(c_.rows).front()), lanes = static_cast<int>(target.dims_of(c_.lanes).front());
  const auto name = [&](const std::string& of) { return digits.unique(result.array + "_" + of); };
  result.layout = {{rows, name("y"), kThreads, agent}, {lanes, name("x"), kThreads, agent}, {rows, name("i"), tile_, ""}, {lanes, name("j"), tile_, ""}};
  part.promotions.push_back(std::move(result));
  part.promotions.push_back(promote_factor(left_, sums.back(), digits));
  part.promotions.push_back(promote_factor(right_, sums.back(), digits));
  if (ahead_)
    if (auto pipelining = propose_pipeline(program, machine, request_.kernel.statements(), part.promotions, sums.back())) {
      part.reasons.push_back(subject + "both factors are copied " + std::to_string(pipelining->ahead()) + " tiles ahead, into " + std::to_string(pipelining->slots) +
                             " slots; to change: pipeline(\"" + iterator(c_.reduction.back()) + "\", slots=1)");
      part.pipelines.push_back(std::move(*pipelining));
    }
  names = digits;
  return part;
}

const Atom* find_body(const Machine& machine, const std::string& body) {
  const auto found = std::find_if(machine.atoms.begin(), machine.atoms.end(), [&](const Atom& atom) { return atom.body == body && (atom.rank == 2 || atom.rank == 3) && atom.pipe.empty(); });
  return found == machine.atoms.end() ? nullptr : &*found;
}

}  // namespace

std::vector<PartOption> plan_agent_contraction(const PlanRequest& request, const Contraction& contraction, std::string& why_not) {
  const Atom* fma = find_body(request.machine, "multiply_add");
  const Atom* box = find_body(request.machine, "elementwise");
  const AtomPin* pin = request.pins.atom(contraction.statement);
  if (fma == nullptr || fma->rank != 3 || box == nullptr || (pin && pin->atom.empty())) {
    why_not = pin && pin->atom.empty() ? pin_text(*pin->pin) + " asks for scalar code" : "the machine has no multiply_add atom of rank 3";
    return {};
  }
  const auto& accesses = contraction.view.accesses;
  if (accesses[1 + contraction.left].tensor == accesses[1 + contraction.right].tensor) {
    why_not = "both factors are parts of one tensor, which can be kept in one way only";
    return {};
  }
  std::vector<PartOption> options;
  for (const long tile : {8L, 4L})
    for (const bool ahead : {true, false}) {
      const auto planner = std::make_shared<TilePlanner>(request, contraction, tile, ahead, *fma, *box);
      if (!planner->shape(why_not)) continue;
      options.push_back({planner->label(), planner->seconds(), [planner](NameTable& names) { return planner->build(names); }});
    }
  std::stable_sort(options.begin(), options.end(), [](const PartOption& a, const PartOption& b) { return a.seconds < b.seconds; });
  return options;
}

}  // namespace tileopt
