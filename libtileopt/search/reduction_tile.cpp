#include "search/reduction_tile.h"

#include <algorithm>
#include <memory>

#include "search/statement_shape.h"
#include "support/text.h"

namespace tileopt {

namespace {

constexpr long kLongestWindow = 64;  ///< terms of one sum: beyond, the operands of a tile no longer lie near
constexpr long kRows = 4;            ///< with two vectors each, as many chains as hide the latency of an addition
constexpr long kVectors = 2;

const Atom* find_vector_box(const Machine& machine) {
  for (const Atom& atom : machine.atoms)
    if (atom.body == "elementwise") return &atom;
  return nullptr;
}

class ReductionTilePlanner {
 public:
  ReductionTilePlanner(const PlanRequest& request, ReductionTile tile, const Atom& atom) : request_(request), t_(std::move(tile)), atom_(atom) {}

  bool choose_sizes(std::string& why_not);
  PlanPart build(NameTable& names) const;
  std::string label() const { return std::to_string(rows_) + "x" + std::to_string(lanes_) + " reduction tile"; }
  double seconds() const;

 private:
  const std::string& iterator(std::size_t m) const { return t_.view.members[m]; }
  double typical(std::size_t m) const { return t_.view.ranges[m].typical; }
  int element_bytes() const { return t_.view.accesses[0].element_bytes; }
  void choose_threads();
  std::string member_map(const Statement& statement, const std::vector<std::size_t>& wanted) const;

  const PlanRequest& request_;
  ReductionTile t_;
  const Atom& atom_;
  long rows_ = 1, lanes_ = 1;
  std::optional<std::size_t> thread_;
};

bool ReductionTilePlanner::choose_sizes(std::string& why_not) {
  const std::string atom_level = level_of_kind(request_.machine, LevelKind::atom);
  const long vector = request_.machine.vector_bytes / element_bytes();
  if (vector < 2) {
    why_not = "the machine has no vectors for " + std::to_string(element_bytes()) + "-byte elements";
    return false;
  }
  const auto pinned_lanes = request_.pins.tile(atom_level, t_.statement, iterator(t_.lanes));
  const auto pinned_rows = t_.rows ? request_.pins.tile(atom_level, t_.statement, iterator(*t_.rows)) : std::nullopt;
  if (!pinned_lanes && typical(t_.lanes) < 2) {
    why_not = "loop " + iterator(t_.lanes) + " has one value";
    return false;
  }
  const long vectors = typical(t_.lanes) >= double(kVectors * vector) ? kVectors : 1;
  lanes_ = pinned_lanes.value_or(t_.rows ? vectors * vector : 2 * vectors * vector);
  if (t_.rows) rows_ = pinned_rows.value_or(std::min(kRows * kVectors / vectors, static_cast<long>(std::max(1.0, typical(*t_.rows)))));
  choose_threads();
  return true;
}

/// The outermost loop with work for all threads.
void ReductionTilePlanner::choose_threads() {
  std::vector<std::size_t> loops = t_.outer;
  if (t_.rows) loops.push_back(*t_.rows);
  loops.push_back(t_.lanes);
  thread_ = choose_thread_loop(request_, t_.statement, t_.view, loops, [&](std::size_t m) {
    return typical(m) / (m == t_.rows ? double(rows_) : m == t_.lanes ? double(lanes_) : 1.0);
  });
}

double ReductionTilePlanner::seconds() const {
  double terms = 1;
  for (const MemberRange& range : t_.view.ranges) terms *= range.typical;
  const double vector = std::max(1.0, double(request_.machine.vector_bytes) / element_bytes());
  return terms / (request_.machine.frequency * vector) / (thread_ ? request_.threads : 1);
}

PlanPart ReductionTilePlanner::build(NameTable& names) const {
  const Program& program = request_.program();
  const std::string serial = level_of_kind(request_.machine, LevelKind::sequential), atom_level = level_of_kind(request_.machine, LevelKind::atom);
  const std::string thread_level = level_of_kind(request_.machine, LevelKind::independent);
  PlanPart part;
  std::map<std::size_t, std::string> member, outer, inner;
  for (std::size_t m = 0; m < t_.view.members.size(); ++m) member[m] = names.unique(iterator(m));
  NameTable digits = names;  // digits may be called as their member: another name space
  for (const auto& [m, name] : member) digits.reserve(name);
  for (std::size_t m = 0; m < t_.view.members.size(); ++m) {
    const std::string level = thread_ == m ? thread_level : serial;
    const bool cut = m == t_.lanes || m == t_.rows;
    outer[m] = cut ? digits.unique(digit_name(member.at(m), 'r')) : member.at(m);
    std::vector<Digit> list = {{outer.at(m), 0, level}};
    if (cut) {
      inner[m] = digits.unique(digit_name(member.at(m), 'i'));
      list.push_back({inner.at(m), m == t_.lanes ? lanes_ : rows_, atom_level});
    }
    part.digits.emplace_back(member.at(m), std::move(list));
  }
  std::vector<std::string> above, below, box;
  for (const std::size_t m : t_.outer) above.push_back(outer.at(m));
  if (t_.rows) above.push_back(outer.at(*t_.rows)), box.push_back(inner.at(*t_.rows));
  above.push_back(outer.at(t_.lanes));
  box.push_back(inner.at(t_.lanes));
  for (const std::size_t m : t_.window) below.push_back(member.at(m));

  std::vector<std::size_t> all(t_.view.members.size()), results = t_.outer;
  for (std::size_t m = 0; m < all.size(); ++m) all[m] = m;
  if (t_.rows) results.push_back(*t_.rows);
  results.push_back(t_.lanes);
  const auto add = [&](const std::string& name, const std::vector<std::size_t>& wanted) {
    StatementMembers& members = part.members[name];
    for (const std::size_t m : wanted) members.members.push_back(member.at(m));
    members.map = member_map(program.statement(name), wanted);
    part.atoms[name] = {atom_.name, box, "extents"};
    part.statements.push_back(name);
  };
  const Tree body = Tree::bands(below, Tree());
  if (!t_.init.empty()) add(t_.init, results);
  add(t_.statement, all);
  part.tree = Tree::bands(above, t_.init.empty() ? body : Tree::sequence({{{t_.init}, Tree()}, {{t_.statement}, body}}));

  const AccessView& target = t_.view.accesses[0];
  Promotion tile;
  tile.tensor = target.tensor;
  tile.array = target.tensor + "_tile";
  tile.after = above.back();
  tile.statements = {t_.statement};
  tile.space = "register";
  tile.element = type_name(program.tensor(target.tensor).type);
  if (t_.rows) tile.layout.push_back({static_cast<int>(target.dims_of(*t_.rows).front()), digits.unique(target.tensor + "_" + inner.at(*t_.rows)), 0});
  tile.layout.push_back({static_cast<int>(target.dims_of(t_.lanes).front()), digits.unique(target.tensor + "_" + inner.at(t_.lanes)), 0});
  part.promotions.push_back(std::move(tile));

  const std::string subject = "kernel " + request_.kernel.name() + ": " + t_.statement + ": ";
  part.reasons.push_back(subject + (t_.rows ? std::to_string(rows_) + "x" : "") + std::to_string(lanes_) + " results in registers while the window " +
                         join(below, ", ") + " runs; to change: tile(\"" + atom_level + "\", " + (t_.rows ? iterator(*t_.rows) + "=..., " : "") +
                         iterator(t_.lanes) + "=...)");
  if (thread_) part.reasons.push_back(subject + "threads over " + iterator(*thread_) + "; to change: parallel(...)");
  else if (request_.threads > 1) part.reasons.push_back(subject + "no loop has work for " + std::to_string(request_.threads) + " threads");
  names = digits;
  return part;
}

std::string ReductionTilePlanner::member_map(const Statement& statement, const std::vector<std::size_t>& wanted) const {
  std::vector<std::string> values;
  for (const std::size_t m : wanted) values.push_back("(" + iterator(m) + (t_.least[m] == 0 ? "" : " - (" + std::to_string(t_.least[m]) + ")") + ")");
  return "{ " + statement.name + "[" + join(statement.iterators, ", ") + "] -> [" + join(values, ", ") + "] }";
}

}  // namespace

std::optional<ReductionTile> find_reduction_tile(const Kernel& kernel, const std::string& name, const TypicalSizes& sizes, std::string& why_not) {
  const Program& program = kernel.program();
  const Statement& statement = program.statement(name);
  const auto reject = [&](const std::string& reason) {
    why_not = reason;
    return std::nullopt;
  };
  if (statement.combine == Combine::assign || statement.combine == Combine::monoid) return reject("it is no reduction by an operator");
  if (statement.conditional()) return reject("data decides which terms count");
  const ElementType type = program.tensor(statement.write.tensor).type;
  if (type == ElementType::boolean || is_tuple(type) || !is_elementwise(statement.body)) return reject("its terms are no vector arithmetic");

  ReductionTile t;
  t.statement = name;
  t.view = view_statement(program, name, iterator_members(statement), sizes);
  const AccessView& result = t.view.accesses[0];
  if (result.coefficients.empty()) return reject("the result is a scalar");
  for (const AccessView& access : t.view.accesses)
    if (!access.affine) return reject("a subscript is not affine");
  const isl::set domain = statement.domain.intersect_params(program.context());
  double terms = 1;
  std::optional<std::size_t> lanes;
  for (std::size_t m = 0; m < t.view.members.size(); ++m) {
    const MemberRange& range = t.view.ranges[m];
    if (!range.least || !is_rectangular(domain, m, {})) return reject("the bounds of loop " + t.view.members[m] + " depend on others");
    t.least.push_back(*range.least);
    if (!result.moves_with(m)) {
      if (!range.constant) return reject("the window has no constant extent");
      terms *= double(*range.constant);
      t.window.push_back(m);
      continue;
    }
    const bool neighbours = std::all_of(t.view.accesses.begin() + 1, t.view.accesses.end(), [&](const AccessView& read) {
      return read.unit_stride(m) || !read.moves_with(m);
    });
    if (moves_alone(result, m) && result.unit_stride(m) && neighbours) lanes = m;
  }
  if (terms < 2 || terms > kLongestWindow) return reject("the window has " + std::to_string(static_cast<long>(terms)) + " terms");
  if (!lanes) return reject("no loop moves the last subscript of the result, and of the operands that or nothing");
  t.lanes = *lanes;
  for (std::size_t m = 0; m < t.view.members.size(); ++m) {
    if (m == t.lanes || !result.moves_with(m) || !moves_alone(result, m)) continue;
    const bool stays = std::any_of(t.view.accesses.begin() + 1, t.view.accesses.end(), [&](const AccessView& read) { return !read.moves_with(m); });
    if (stays) t.rows = m;
  }
  for (std::size_t m = 0; m < t.view.members.size(); ++m)
    if (m != t.lanes && t.rows != m && result.moves_with(m)) t.outer.push_back(m);
  for (const std::string& other : kernel.statements())
    if (initialises(program, program.statement(other), statement, t.view, {}, sizes, false)) t.init = other;
  return t;
}

std::vector<PartOption> plan_reduction_tile(const PlanRequest& request, const ReductionTile& tile, std::string& why_not) {
  const AtomPin* pin = request.pins.atom(tile.statement);
  if (pin != nullptr && pin->atom.empty()) {
    why_not = pin_text(*pin->pin) + " asks for scalar code";
    return {};
  }
  const Atom* atom = pin != nullptr ? request.machine.find_atom(pin->atom) : find_vector_box(request.machine);
  if (atom == nullptr || atom->body != "elementwise") {
    why_not = "the machine has no elementwise atom";
    return {};
  }
  const auto planner = std::make_shared<ReductionTilePlanner>(request, tile, *atom);
  if (!planner->choose_sizes(why_not)) return {};
  return {{planner->label(), planner->seconds(), [planner](NameTable& names) { return planner->build(names); }}};
}

}  // namespace tileopt
