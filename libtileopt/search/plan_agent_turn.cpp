#include "search/plan_agent_turn.h"

#include <algorithm>
#include <memory>

#include "search/bank_rounds.h"
#include "search/lane_box.h"
#include "search/loop_choice.h"
#include "support/text.h"

namespace tileopt {
namespace {

constexpr long kThreads = 16;  ///< of a block along either loop

/// The subscript that the loop moves, by one and alone.
std::optional<std::size_t> subscript_of(const AccessView& access, std::size_t member) {
  const std::vector<std::size_t> dims = access.dims_of(member);
  if (dims.size() != 1 || access.coefficients[dims.front()][member] != 1) return std::nullopt;
  for (std::size_t other = 0; other < access.coefficients[dims.front()].size(); ++other)
    if (other != member && access.coefficients[dims.front()][other] != 0) return std::nullopt;
  return dims.front();
}

class TurnPlanner {
 public:
  TurnPlanner(const PlanRequest& request, ScheduleProposal proposal) : request_(request), proposal_(std::move(proposal)) {}

  bool applies();
  PlanPart build(NameTable& names) const;

 private:
  struct Operand {
    const AccessView* access;
    std::size_t across, along;  ///< subscripts moved by the loop of the writes, and by that of the reads
  };
  long extent(long run) const { return kThreads * run; }
  bool is_free(const std::string& member, std::size_t m) const;
  Promotion promote(const Operand& operand, const std::string& after, NameTable& digits) const;
  std::string member(std::size_t m) const { return view_.members[m]; }

  const PlanRequest& request_;
  ScheduleProposal proposal_;
  StatementView view_;
  std::size_t stored_ = 0, loaded_ = 0;     ///< members along which the result, and the operands, lie side by side
  long stored_run_ = 1, loaded_run_ = 1;    ///< elements that a thread moves at once
  const Atom* atom_ = nullptr;
  std::vector<Operand> operands_;
};

bool TurnPlanner::is_free(const std::string& name, std::size_t m) const {
  return proposal_.is_free(name) && !view_.guarded[m];
}

bool TurnPlanner::applies() {
  const Program& program = request_.program();
  const auto& statements = request_.kernel.statements();
  if (statements.size() != 1 || !request_.machine.multiprocessor || !request_.pins.tiles.empty()) return false;
  const Statement& statement = program.statement(statements.front());
  if (statement.combine != Combine::assign || !statement.guards.empty() || statement.predicate != nullptr || request_.pins.atom(statement.name)) return false;
  view_ = view_statement(program, statement.name, proposal_.members.at(statement.name), request_.sizes);
  Tree below;
  const Chain chain = follow_chain(proposal_.tree, statements, proposal_, below);
  if (!chain.ends_in_leaf || chain.members.size() != view_.members.size()) return false;
  for (std::size_t m = 0; m < view_.members.size(); ++m)
    if (!is_free(member(m), m)) return false;
  const AccessView& write = view_.accesses[0];
  if (!write.affine) return false;
  std::optional<std::size_t> stored, loaded;
  for (std::size_t m = 0; m < view_.members.size(); ++m)
    if (write.unit_stride(m)) stored = m;
  if (!stored) return false;
  for (std::size_t a = 1; a < view_.accesses.size(); ++a) {
    const AccessView& read = view_.accesses[a];
    if (!read.affine || read.tensor == write.tensor) return false;
    if (!read.moves_with(*stored) || read.unit_stride(*stored)) continue;
    std::optional<std::size_t> fast;
    for (std::size_t m = 0; m < view_.members.size(); ++m)
      if (read.unit_stride(m)) fast = m;
    const auto across = subscript_of(read, *stored);
    const auto along = fast ? subscript_of(read, *fast) : std::nullopt;
    const bool twice = std::any_of(operands_.begin(), operands_.end(), [&](const Operand& o) { return o.access->tensor == read.tensor; });
    if (!across || !along || twice || (loaded && loaded != fast) || !write.moves_with(*fast) || request_.pins.promote(read.tensor)) return false;
    loaded = fast;
    operands_.push_back({&read, *across, *along});
  }
  if (!loaded) return false;
  stored_ = *stored;
  loaded_ = *loaded;
  for (const Atom& atom : request_.machine.atoms)
    if (atom.body == "elementwise" && atom.rank == 1 && atom_ == nullptr) atom_ = &atom;
  if (atom_ == nullptr) return false;
  const auto run = [&](bool result, int element_bytes) { return std::max(1L, atom_->widest_access(result) / element_bytes); };
  int smallest = operands_.front().access->element_bytes;
  for (const Operand& operand : operands_) smallest = std::min(smallest, operand.access->element_bytes);
  stored_run_ = run(true, write.element_bytes);
  loaded_run_ = run(false, smallest);
  if (stored_run_ < 2 || loaded_run_ < 2) return false;
  return view_.ranges[stored_].typical * 2 >= double(extent(stored_run_)) && view_.ranges[loaded_].typical * 2 >= double(extent(loaded_run_));
}

Promotion TurnPlanner::promote(const Operand& operand, const std::string& after, NameTable& digits) const {
  const std::string agent = level_of_kind(request_.machine, LevelKind::barrier);
  Promotion promotion;
  promotion.tensor = operand.access->tensor;
  promotion.array = promotion.tensor + "_shared";
  while (request_.program().has_tensor(promotion.array)) promotion.array += "_";
  promotion.after = after;
  promotion.statements = {view_.statement};
  promotion.space = "shared";
  promotion.element = type_name(request_.program().tensor(promotion.tensor).type);
  const auto name = [&](const std::string& part) { return digits.unique(promotion.array + "_" + part); };
  const auto across = static_cast<int>(operand.across), along = static_cast<int>(operand.along);
  promotion.layout = {{across, name("s"), stored_run_, ""}, {across, name("y"), kThreads, agent}, {along, name("x"), kThreads, agent}, {along, name("v"), loaded_run_, ""}};
  const std::vector<SharedAccess> accesses = {
      {[this](long lane, long row) { return lane / kThreads * row + lane % kThreads * loaded_run_; }, loaded_run_, stored_run_},
      {[this](long lane, long row) { return lane % kThreads * stored_run_ * row + lane / kThreads; }, 1, stored_run_ * loaded_run_}};
  promotion.pad = choose_padding(accesses, extent(loaded_run_), operand.access->element_bytes, *request_.machine.multiprocessor);
  return promotion;
}

PlanPart TurnPlanner::build(NameTable& names) const {
  const Machine& machine = request_.machine;
  const std::string block = level_of_kind(machine, LevelKind::independent), agent = level_of_kind(machine, LevelKind::barrier),
                    serial = level_of_kind(machine, LevelKind::sequential), atom = level_of_kind(machine, LevelKind::atom);
  PlanPart part;
  part.statements = {view_.statement};
  StatementMembers members = proposal_.members.at(view_.statement);
  for (std::string& name : members.members) name = names.unique(name);
  NameTable digits = names;
  for (const std::string& name : members.members) digits.reserve(name);
  std::vector<std::string> above, order;
  std::vector<std::vector<Digit>> table;
  for (std::size_t m = 0; m < view_.members.size(); ++m) {
    const auto digit = [&](char role) { return digits.unique(digit_name(members.members[m], role)); };
    if (m == stored_) table.push_back({{digit('b'), 0, block}, {digit('t'), kThreads, agent}, {digit('v'), stored_run_, atom}});
    else if (m == loaded_) table.push_back({{digit('b'), 0, block}, {digit('s'), loaded_run_, serial}, {digit('t'), kThreads, agent}});
    else table.push_back({{members.members[m], 0, block}});
    part.digits.emplace_back(members.members[m], table.back());
  }
  // Blocks that follow each other write on in the same rows.
  for (std::size_t m = 0; m < view_.members.size(); ++m)
    if (m != stored_) above.push_back(table[m].front().name);
  above.push_back(table[stored_].front().name);
  order = above;
  order.insert(order.end(), {table[loaded_][2].name, table[stored_][1].name, table[loaded_][1].name});
  part.members[view_.statement] = std::move(members);
  part.tree = Tree::bands(order, Tree());
  part.atoms[view_.statement] = {atom_->name, {table[stored_][2].name}, "extents"};
  for (const Operand& operand : operands_) part.promotions.push_back(promote(operand, above.back(), digits));
  const std::string rows = std::to_string(extent(stored_run_)), columns = std::to_string(extent(loaded_run_));
  part.reasons.push_back("kernel " + request_.kernel.name() + ": " + view_.statement + " reads along " + member(loaded_) + " and writes along " + member(stored_) + ": tiles of " + rows +
                         "x" + columns + " are turned in shared memory, whose rows are padded by " + std::to_string(part.promotions.front().pad) + "; to change: promote(" +
                         operands_.front().access->tensor + ", \"none\")");
  names = digits;
  return part;
}

}  // namespace

std::vector<PartOption> plan_agent_turn(const PlanRequest& request, const ScheduleProposal& proposal) {
  const auto planner = std::make_shared<TurnPlanner>(request, proposal);
  if (!planner->applies()) return {};
  return {{"tiles turned in shared memory", 0, [planner](NameTable& names) { return planner->build(names); }}};
}

}  // namespace tileopt
