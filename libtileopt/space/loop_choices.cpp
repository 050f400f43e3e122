/// Choices of loop nests without a register tile, chain by chain: the tile of every loop that may be tiled, the order of the
/// tile loops and of the loops inside, the loop of the threads. What may be tiled and exchanged follows from the dependences,
/// as the planner sees them.
#include <algorithm>
#include <memory>

#include "search/loop_choice.h"
#include "search/original_loops.h"
#include "search/wavefront.h"
#include "space/variant_builder.h"
#include "support/text.h"

namespace tileopt {
namespace {

constexpr std::size_t kMostOrdered = 4;  ///< loops whose orders are all tried

/// A loop of a chain. `member` is the Plan's; the proposal may call it otherwise.
struct ChainMember {
  std::string member, spelled;  ///< "S.i"; "" = no iterator stands for it, so no pin can name it
  std::string block, inner;     ///< digits of the shape; block "" = it is not cut there
  long planned = 0;             ///< extent of the planner's own tile; 0: not cut
  double trips = 1;
  bool lanes = false;  ///< it runs in lanes, or is moved below the sequence: it stays innermost
  bool free = false;   ///< carries nothing: threads may share it
  std::size_t choice = 0;
  bool has_choice = false, frozen = false;
  std::vector<long> numbers;  ///< extents by value
};

struct ChainModel {
  std::vector<std::string> statements;
  std::vector<ChainMember> members;  ///< of one permutable group, outermost first
  std::size_t blocks_choice = 0, points_choice = 0, parallel_choice = 0;
  bool has_blocks = false, has_points = false, has_parallel = false;
  std::vector<std::size_t> blocks,
      points;  ///< members whose loops may be exchanged, as the planner orders their tile and point loops
  std::vector<ChoiceValue> block_values, point_values;
  std::vector<std::size_t> parallel;  ///< member by value
  std::string planned_parallel;       ///< member
};

/// The chains of a proposal that end in statements, with the loops around them.
struct FoundChain {
  Chain chain;
};

void find_chains(const Tree& tree, const std::vector<std::string>& statements, const ScheduleProposal& proposal,
                 std::vector<FoundChain>& found) {
  Tree below;
  Chain chain = follow_chain(tree, statements, proposal, below);
  if (chain.ends_in_leaf || chain.ends_in_leaves) {
    if (!chain.members.empty()) found.push_back({std::move(chain)});
    return;
  }
  if (below.kind() != Tree::Kind::sequence) return;
  for (const Tree::Branch& branch : below.branches()) find_chains(branch.tree, branch.statements, proposal, found);
}

/// The proposal that the planned kernel was made from.
ScheduleProposal proposal_of(const Kernel& kernel, const KernelPlan& planned) {
  const bool found = planned.schedule == "isl" || planned.schedule == "wavefront";
  auto proposed = propose_loops(kernel, found ? planned.schedule : "original");
  ScheduleProposal proposal = proposed ? std::move(*proposed) : analyze_original_loops(kernel);
  proposal.tree = separate_leaves(proposal.tree, kernel.statements());
  return proposal;
}

/// The Plan's name of a proposal's member: the planner renames members, but keeps their places.
std::string planned_member(const ScheduleProposal& proposal, const KernelPlan& plan, const std::string& statement,
                           const std::string& member) {
  const auto& from = proposal.members.at(statement).members;
  const auto& to = plan.members.at(statement).members;
  const auto at = static_cast<std::size_t>(std::find(from.begin(), from.end(), member) - from.begin());
  return at < to.size() && from.size() == to.size() ? to[at] : "";
}

const std::vector<Digit>* digits_of(const KernelPlan& plan, const std::string& member) {
  const auto found =
      std::find_if(plan.digits.begin(), plan.digits.end(), [&](const auto& entry) { return entry.first == member; });
  return found == plan.digits.end() ? nullptr : &found->second;
}

/// "S.i" of the first statement in which an iterator stands for the member.
std::string spelling(const VariantContext& context, const KernelPlan& plan, const std::vector<std::string>& statements,
                     const std::string& member) {
  for (const std::string& statement : statements) {
    const StatementMembers& members = plan.members.at(statement);
    const auto at = std::find(members.members.begin(), members.members.end(), member);
    if (at == members.members.end()) continue;
    const std::string iterator =
        bound_iterator(context.program, statement, members, static_cast<std::size_t>(at - members.members.begin()));
    if (!iterator.empty()) return statement + "." + iterator;
  }
  return "";
}

/// Every chain of the planned kernel that holds no register tile, as far as pins can name its loops.
std::vector<std::pair<Chain, ScheduleProposal>> loose_chains(const VariantContext& context, const KernelPlan& planned,
                                                             const Kernel& kernel) {
  std::vector<std::pair<Chain, ScheduleProposal>> result;
  if (planned.statements.empty()) return result;
  const std::vector<std::string> tiles = register_tiles(context.machine, planned);
  const ScheduleProposal proposal = proposal_of(kernel, planned);
  std::vector<FoundChain> chains;
  find_chains(proposal.tree, kernel.statements(), proposal, chains);
  for (FoundChain& found : chains) {
    const bool tiled = std::any_of(found.chain.statements.begin(), found.chain.statements.end(), [&](const std::string& s) {
      const auto choice = planned.atoms.find(s);
      return contains(tiles, s) || (choice != planned.atoms.end() && !choice->second.box.empty());
    });
    if (!tiled) result.emplace_back(std::move(found.chain), proposal);
  }
  return result;
}

std::size_t widest_group(const Chain& chain) {
  std::size_t widest = 0;
  for (std::size_t g = 1; g < chain.groups.size(); ++g)
    if (chain.groups[g].size() >= chain.groups[widest].size()) widest = g;
  return widest;
}

class ChainChoices {
 public:
  ChainChoices(const KernelPart& part, const Chain& chain, const ScheduleProposal& proposal)
      : part_(part), chain_(chain), proposal_(proposal), model_(std::make_shared<ChainModel>()) {}

  void add() {
    find_members();
    if (model_->members.empty()) return;
    for (ChainMember& member : model_->members) add_tile(member);
    add_orders();
    add_parallel();
    const bool any =
        model_->has_blocks || model_->has_points || model_->has_parallel ||
        std::any_of(model_->members.begin(), model_->members.end(), [](const ChainMember& m) { return m.has_choice; });
    if (!any) return;
    const auto model = model_;
    const std::string serial = part_.context.level(LevelKind::sequential), thread = part_.context.level(LevelKind::independent);
    part_.variant.pin_writers.push_back(
        [=](const std::vector<std::size_t>& values, std::vector<Pin>& pins) { write(*model, serial, thread, values, pins); });
  }

 private:
  void find_members();
  void add_tile(ChainMember& member);
  void add_orders();
  void add_parallel();
  std::size_t add_order(const std::string& name, bool points, std::vector<ChoiceValue>& values, bool& has);
  static long extent(const ChainMember& member, const std::vector<std::size_t>& values) {
    return member.has_choice ? member.numbers[values[member.choice]] : member.planned;
  }
  static void write(const ChainModel& model, const std::string& serial, const std::string& thread,
                    const std::vector<std::size_t>& values, std::vector<Pin>& pins);
  std::string title() const { return join(model_->statements, ", "); }

  const KernelPart& part_;
  const Chain& chain_;
  const ScheduleProposal& proposal_;
  std::shared_ptr<ChainModel> model_;
};

void ChainChoices::find_members() {
  const VariantContext& context = part_.context;
  model_->statements = chain_.statements;
  const std::string thread = context.level(LevelKind::independent);
  for (const std::string& name : chain_.groups[widest_group(chain_)]) {
    ChainMember member;
    const std::string* holder = nullptr;
    for (const std::string& s : chain_.statements) {
      if (contains(proposal_.members.at(s).members, name) && holder == nullptr) holder = &s;
    }
    if (holder == nullptr) continue;
    member.member = planned_member(proposal_, part_.planned, *holder, name);
    const std::string shaped = planned_member(proposal_, part_.shaped, *holder, name);
    const std::vector<Digit>*own = digits_of(part_.planned, member.member), *cut = digits_of(part_.shaped, shaped);
    if (own == nullptr || cut == nullptr || own->empty() || cut->empty()) continue;
    member.spelled = spelling(context, part_.planned, chain_.statements, member.member);
    member.inner = cut->back().name;
    if (cut->size() == 2) member.block = cut->front().name;
    member.planned = own->size() == 2 ? own->back().radix : 0;
    member.lanes = own->back().level == context.level(LevelKind::lockstep);
    member.free = proposal_.is_free(name);
    for (const Digit& digit : *own) {
      if (digit.level == thread) model_->planned_parallel = member.member;
    }
    for (const std::string& s : chain_.statements) {
      const StatementView view = view_statement(context.program, s, part_.planned.members.at(s), context.sizes);
      const std::size_t m = view.member_index(member.member);
      if (m < view.members.size()) member.trips = std::max(member.trips, view.ranges[m].typical);
      if (m < view.members.size() && view.guarded[m]) member.spelled.clear();
    }
    model_->members.push_back(std::move(member));
  }
}

void ChainChoices::add_tile(ChainMember& member) {
  const VariantContext& context = part_.context;
  const std::string serial = context.level(LevelKind::sequential), thread = context.level(LevelKind::independent);
  if (member.spelled.empty())
    return part_.exclude(ConstraintKind::legality, title() + ": tile of " + member.member,
                         "the loop mixes several of the source's, or runs one value: no pin can name it");
  if (model_->members.size() < 2)
    return part_.exclude(ConstraintKind::legality, title() + ": tile of " + member.spelled,
                         "no other loop may be exchanged with it: tiles would only cut it into pieces");
  if (member.block.empty())
    return part_.exclude(ConstraintKind::legality, title() + ": tile of " + member.spelled, "the planner could not cut it");
  const std::size_t dot = member.spelled.find('.');
  const std::string statement = member.spelled.substr(0, dot), iterator = member.spelled.substr(dot + 1);
  member.frozen = context.given.tile(serial, statement, iterator) || context.given.tile(thread, statement, iterator);
  std::vector<long> numbers = {0};
  for (const long number : {8L, 16L, 32L, 64L, 128L, 256L, 512L, 1024L}) {
    if (double(number) * 2 <= member.trips) numbers.push_back(number);
  }
  member.choice = part_.add_tile(member.spelled + " in " + serial, member.inner, numbers, member.planned, member.frozen);
  member.has_choice = true;
  for (const ChoiceValue& value : part_.variant.choices[member.choice].values) member.numbers.push_back(value.number);
}

/// Orders of the tile loops, or of the loops inside the tiles, but for the one in lanes.
std::size_t ChainChoices::add_order(const std::string& name, bool points, std::vector<ChoiceValue>& values, bool& has) {
  std::vector<std::string> names;
  const std::vector<std::size_t>& ordered = points ? model_->points : model_->blocks;
  for (const std::size_t m : ordered)
    names.push_back(model_->members[m].spelled.substr(model_->members[m].spelled.find('.') + 1));
  Choice choice{part_.planned.name + ": " + title() + " " + name, ChoiceKind::order,
                order_values(names, [](const auto&) { return true; }), 0};
  std::vector<std::vector<ShapeEdit>> edits;
  for (const ChoiceValue& value : choice.values) {
    std::vector<ShapeEdit> list;
    for (const std::string& statement : model_->statements) {
      ShapeEdit edit;
      edit.kind = ShapeEdit::Kind::path;
      edit.kernel = part_.kernel;
      edit.at = part_.statement(statement);
      const std::vector<int>& path = part_.shape().statements[edit.at].path;
      std::vector<int> wanted;
      for (const int m : value.permutation) {
        const ChainMember& member = model_->members[ordered[static_cast<std::size_t>(m)]];
        const int digit = part_.digit(points ? member.inner : member.block);
        if (std::find(path.begin(), path.end(), digit) != path.end()) wanted.push_back(digit);
      }
      for (std::size_t p = 0; p < path.size(); ++p) {
        if (std::find(wanted.begin(), wanted.end(), path[p]) != wanted.end()) edit.positions.push_back(p);
      }
      edit.digits = wanted;
      if (edit.positions.size() == wanted.size()) list.push_back(std::move(edit));
    }
    edits.push_back(std::move(list));
  }
  values = choice.values;
  has = true;
  return part_.add(std::move(choice), std::move(edits));
}

void ChainChoices::add_orders() {
  for (std::size_t m = 0; m < model_->members.size(); ++m) {
    const ChainMember& member = model_->members[m];
    // What the planner moves innermost, into lanes or below a sequence, stays there.
    if (!member.spelled.empty() && !member.lanes) model_->blocks.push_back(m);
  }
  if (model_->blocks.size() < 2 || model_->blocks.size() > kMostOrdered) return;
  if (!part_.context.given.orders.empty())
    return part_.exclude(ConstraintKind::pin, title() + ": order of loops", "a pin decides it");
  const bool nested = std::all_of(model_->blocks.begin(), model_->blocks.end(), [&](std::size_t m) {
    const std::vector<Digit>* digits = digits_of(part_.planned, model_->members[m].member);
    return std::all_of(model_->statements.begin(), model_->statements.end(),
                       [&](const std::string& s) { return contains(path_dims(part_.planned.tree, s), digits->back().name); });
  });
  if (!nested)
    return part_.exclude(ConstraintKind::legality, title() + ": order of loops",
                         "the planner gives some statements loops of their own: they are not nested in one another");
  const std::vector<std::string> path = path_dims(part_.planned.tree, model_->statements.front());
  const auto place = [&](std::size_t m) {
    return std::find(path.begin(), path.end(), digits_of(part_.planned, model_->members[m].member)->back().name) - path.begin();
  };
  model_->points = model_->blocks;
  std::sort(model_->points.begin(), model_->points.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  model_->points_choice = add_order("order of loops", true, model_->point_values, model_->has_points);
  const bool tiles =
      std::all_of(model_->blocks.begin(), model_->blocks.end(), [&](std::size_t m) { return model_->members[m].has_choice; });
  if (!tiles) return;
  model_->blocks_choice = add_order("order of tile loops", false, model_->block_values, model_->has_blocks);
  const auto model = model_;
  Constraint constraint{ConstraintKind::size,
                        title() + ": order of tile loops",
                        "a loop that is not cut has no tile loop whose place could change",
                        {},
                        {}};
  for (const std::size_t m : model->blocks) constraint.choices.push_back(model->members[m].choice);
  constraint.choices.push_back(model->blocks_choice);
  std::sort(constraint.choices.begin(), constraint.choices.end());
  constraint.allows = [model](const std::vector<std::size_t>& values) {
    if (values[model->blocks_choice] == 0) return true;
    return std::all_of(model->blocks.begin(), model->blocks.end(),
                       [&](std::size_t m) { return extent(model->members[m], values) > 0; });
  };
  part_.variant.constraints.push_back(std::move(constraint));
}

void ChainChoices::add_parallel() {
  if (part_.context.threads <= 1) return;
  if (!part_.context.given.parallels.empty())
    return part_.exclude(ConstraintKind::pin, title() + ": loop of the threads", "a pin decides it");
  if (model_->planned_parallel.empty())
    return part_.exclude(ConstraintKind::legality, title() + ": loop of the threads", "the planner shares none of these loops");
  Choice choice{part_.planned.name + ": " + title() + " loop of the threads", ChoiceKind::parallel, {}, 0};
  std::vector<std::size_t> candidates;
  for (std::size_t m = 0; m < model_->members.size(); ++m) {
    const ChainMember& member = model_->members[m];
    // A loop in lanes has nothing left to share unless it is cut.
    if (member.free && !member.spelled.empty() && (!member.lanes || member.member == model_->planned_parallel))
      candidates.push_back(m);
  }
  std::vector<std::vector<ShapeEdit>> edits;
  bool has_planned = false;
  for (const std::size_t m : candidates) {
    const ChainMember& member = model_->members[m];
    if (member.member == model_->planned_parallel) {
      choice.planned = choice.values.size();
      has_planned = true;
    }
    choice.values.push_back({member.spelled, 0, {}});
    std::vector<ShapeEdit> list;
    for (const std::size_t other : candidates) {
      ShapeEdit edit;
      edit.kind = ShapeEdit::Kind::level;
      edit.kernel = part_.kernel;
      const ChainMember& o = model_->members[other];
      edit.at = static_cast<std::size_t>(part_.digit(o.block.empty() ? o.inner : o.block));
      edit.level = other == m ? LevelKind::independent : LevelKind::sequential;
      list.push_back(std::move(edit));
    }
    edits.push_back(std::move(list));
  }
  if (!has_planned || candidates.size() < 2) return;
  model_->parallel = candidates;
  model_->parallel_choice = part_.add(std::move(choice), std::move(edits));
  model_->has_parallel = true;
}

void ChainChoices::write(const ChainModel& model, const std::string& serial, const std::string& thread,
                         const std::vector<std::size_t>& values, std::vector<Pin>& pins) {
  const std::string shared =
      model.has_parallel ? model.members[model.parallel[values[model.parallel_choice]]].member : model.planned_parallel;
  for (const ChainMember& member : model.members) {
    if (!member.has_choice || member.frozen) continue;
    const long tile = extent(member, values);
    pins.push_back(tile_pin(member.member == shared && tile > 0 ? thread : serial, member.spelled, tile));
  }
  if (model.has_parallel)
    pins.push_back(simple_pin("parallel", {model.members[model.parallel[values[model.parallel_choice]]].spelled}));
  const bool blocks = model.has_blocks && values[model.blocks_choice] != 0,
             points = model.has_points && values[model.points_choice] != 0;
  if (!blocks && !points) return;
  std::vector<std::string> names;
  const auto list = [&](const std::vector<std::size_t>& ordered, const std::vector<ChoiceValue>& orders, bool has,
                        std::size_t choice, bool only_cut) {
    for (std::size_t i = 0; i < ordered.size(); ++i) {
      const std::size_t at = has ? static_cast<std::size_t>(orders[values[choice]].permutation[i]) : i;
      const ChainMember& member = model.members[ordered[at]];
      if (!only_cut || extent(member, values) > 0) names.push_back(member.spelled);
    }
  };
  list(model.blocks, model.block_values, model.has_blocks, model.blocks_choice, true);
  list(model.points, model.point_values, model.has_points, model.points_choice, false);
  pins.push_back(simple_pin("order", names));
}

}  // namespace

std::vector<Pin> loop_shape_pins(const VariantContext& context, const KernelPlan& planned, const Kernel& kernel) {
  std::vector<Pin> pins;
  const std::string serial = context.level(LevelKind::sequential), thread = context.level(LevelKind::independent);
  for (const auto& [chain, proposal] : loose_chains(context, planned, kernel)) {
    const std::vector<std::string>& group = chain.groups[widest_group(chain)];
    if (group.size() < 2) continue;
    for (const std::string& name : group) {
      for (const std::string& s : chain.statements) {
        if (!contains(proposal.members.at(s).members, name)) continue;
        const std::string member = planned_member(proposal, planned, s, name);
        const std::vector<Digit>* digits = digits_of(planned, member);
        const std::string spelled = spelling(context, planned, chain.statements, member);
        if (digits == nullptr || spelled.empty()) break;
        const bool shared = digits->front().level == thread;
        pins.push_back(tile_pin(shared ? thread : serial, spelled, digits->size() == 2 ? digits->back().radix : 8));
        break;
      }
    }
  }
  return pins;
}

void add_loop_choices(const KernelPart& part, const Kernel& kernel) {
  for (const auto& [chain, proposal] : loose_chains(part.context, part.planned, kernel))
    ChainChoices(part, chain, proposal).add();
}

void add_promotion_choices(const KernelPart& part) {
  std::vector<std::string> tiles = register_tiles(part.context.machine, part.shaped);
  const std::vector<std::string> boxes = windows(part.context, part.shaped);
  tiles.insert(tiles.end(), boxes.begin(), boxes.end());
  std::vector<std::string> seen;
  for (const Promotion& promotion : part.planned.promotions) {
    const std::string& tensor = promotion.tensor;
    const std::string what = part.planned.name + ": " + tensor + " in " + promotion.space;
    if (contains(seen, tensor)) continue;
    seen.push_back(tensor);
    const bool packed = std::any_of(tiles.begin(), tiles.end(), [&](const std::string& s) {
      const Statement& statement = part.context.program.statement(s);
      return statement.write.tensor == tensor ||
             std::any_of(statement.reads.begin(), statement.reads.end(), [&](const Access& a) { return a.tensor == tensor; });
    });
    if (packed) {
      part.exclude(ConstraintKind::legality, what + " = off",
                   "a register tile keeps its results in registers, and reads its operands where they are packed and padded");
      continue;
    }
    if (part.context.given.promote(tensor)) {
      part.exclude(ConstraintKind::pin, what, "a pin decides it");
      continue;
    }
    Choice choice{what, ChoiceKind::promotion, {{"off", 0, {}}, {"on", 1, {}}}, 1};
    std::vector<std::vector<ShapeEdit>> edits(2);
    KernelShape& shape = part.variant.shapes[part.kernel];
    for (std::size_t s = 0; s < shape.statements.size(); ++s) {
      ShapeStatement& statement = shape.statements[s];
      ShapeEdit with, without;
      with.kind = without.kind = ShapeEdit::Kind::stream;
      with.kernel = without.kernel = part.kernel;
      with.at = without.at = s;
      bool has_promotion = false;
      std::vector<ShapeStream> plain;
      for (std::size_t i = 0; i < statement.streams.size(); ++i) {
        const ShapeStream& stream = statement.streams[i];
        if (stream.tensor != tensor) continue;
        with.positions.push_back(i);
        if (!stream.copy) continue;
        has_promotion = true;
        if (stream.created) continue;
        ShapeStream direct = stream;
        direct.copy = false;
        direct.copy_cycles = 0;
        direct.below = statement.path.size();
        direct.active = false;
        plain.push_back(std::move(direct));
      }
      if (!has_promotion) continue;
      for (ShapeStream& stream : plain) {
        without.positions.push_back(statement.streams.size());
        statement.streams.push_back(std::move(stream));
      }
      for (const bool on : {false, true}) {
        with.active = on;
        without.active = !on;
        edits[on ? 1 : 0].push_back(with);
        edits[on ? 1 : 0].push_back(without);
      }
    }
    const std::size_t number = part.add(std::move(choice), std::move(edits));
    part.variant.pin_writers.push_back([number, tensor](const std::vector<std::size_t>& values, std::vector<Pin>& pins) {
      if (values[number] == 0) pins.push_back(promote_pin(tensor, "none", ""));
    });
  }
}

}  // namespace tileopt
