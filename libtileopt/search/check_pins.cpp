#include "search/check_pins.h"

#include <algorithm>
#include <set>

#include "search/choose_pipeline.h"
#include "search/generic_promotions.h"
#include "search/pin_binding.h"
#include "support/text.h"

namespace tileopt {
namespace {

std::string spelled(const LoopName& loop) { return loop.statement.empty() ? loop.name : loop.statement + "." + loop.name; }

std::vector<std::string> spellings(const std::vector<BoundMember>& members) {
  std::vector<std::string> names;
  for (const BoundMember& member : members) names.push_back(member.spelled);
  return names;
}

/// `tree` with every band over `dim` replaced.
template <class Change>
Tree change_bands(const Tree& tree, const std::string& dim, const Change& change) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: return tree;
    case Tree::Kind::allocate: return Tree::allocate(tree.arrays(), change_bands(tree.child(), dim, change));
    case Tree::Kind::nested: return Tree::nested(change_bands(tree.child(), dim, change));
    case Tree::Kind::band: {
      Tree child = change_bands(tree.child(), dim, change);
      return tree.dim() == dim ? change(std::move(child)) : Tree::band(tree.dim(), std::move(child));
    }
    case Tree::Kind::sequence: {
      std::vector<Tree::Branch> branches;
      for (const Tree::Branch& branch : tree.branches()) branches.push_back({branch.statements, change_bands(branch.tree, dim, change)});
      return Tree::sequence(std::move(branches));
    }
  }
  return tree;
}

void collect_bands(const Tree& tree, std::vector<std::string>& bands) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: return;
    case Tree::Kind::band: bands.push_back(tree.dim()); return collect_bands(tree.child(), bands);
    case Tree::Kind::allocate:
    case Tree::Kind::nested: return collect_bands(tree.child(), bands);
    case Tree::Kind::sequence:
      for (const Tree::Branch& branch : tree.branches()) collect_bands(branch.tree, bands);
  }
}

class PinApplier {
 public:
  PinApplier(const PlanRequest& request, KernelPlan& plan, std::vector<std::string>& reasons)
      : request_(request), plan_(plan), reasons_(reasons) {}

  std::optional<Infeasible> run() {
    const PinTable& pins = request_.pins;
    for (const AtomPin& pin : pins.atoms) {
      if (make_atomic(pin)) continue;
      if (auto unmet = check_atom(pin)) return unmet;
    }
    for (const OrderPin& pin : pins.orders) {
      if (auto unmet = reorder(pin)) return unmet;
    }
    for (const OrderPin& pin : pins.orders) {
      if (auto unmet = check_order(pin)) return unmet;
    }
    for (const LoopPin& pin : pins.parallels) {
      if (auto unmet = parallelize(pin)) return unmet;
    }
    for (const LoopPin& pin : pins.vectorizes) {
      if (auto unmet = vectorize(pin)) return unmet;
    }
    for (const TilePin& pin : pins.tiles) {
      if (auto unmet = check_tile(pin)) return unmet;
    }
    for (const LoopPin& pin : pins.unrolls) {
      if (auto unmet = unroll(pin)) return unmet;
    }
    for (const PromotePin& pin : pins.promotes) {
      if (auto unmet = promote(pin)) return unmet;
    }
    drop_stale_pipelines(plan_);
    for (const PipelinePin& pin : pins.pipelines) {
      if (auto unmet = pipeline(pin)) return unmet;
    }
    return std::nullopt;
  }

 private:
  Infeasible refuse(const Pin& pin, const std::string& entry, const std::string& reason, const std::string& hint) const {
    return {"pin", "resolve_plan", plan_.name, "kernels[" + plan_.name + "]." + entry, pin_text(pin) + ": " + reason, pin.where, "", hint};
  }
  void took_effect(const Pin& pin) {
    const std::string where = to_string(pin.where);
    reasons_.push_back("kernel " + plan_.name + ": " + pin_text(pin) + (where.empty() ? "" : " (" + where + ")") + " honoured");
  }
  /// "there are i, j, k".
  std::string loops_text() const {
    std::vector<std::string> bands, names;
    collect_bands(plan_.tree, bands);
    for (const std::string& band : bands)
      if (!contains(names, band)) names.push_back(band);
    return names.empty() ? "the kernel has no loops outside its atoms" : "loops of this kernel: " + join(names, ", ");
  }

  /// The only member that the loop means here; `suits` narrows the choice. Nothing where the kernel has no such loop.
  template <class Suits>
  std::optional<std::string> bind(const LoopName& loop, const Pin& pin, std::optional<Infeasible>& problem, const Suits& suits) const {
    const std::vector<BoundMember> all = bind_loop(request_.program(), plan_, loop);
    std::vector<BoundMember> fitting;
    for (const BoundMember& member : all) {
      if (suits(member.member)) fitting.push_back(member);
    }
    if (fitting.size() == 1) return fitting.front().member;
    if (fitting.size() > 1) {
      problem = refuse(pin, "digits", "`" + spelled(loop) + "` may mean " + join(spellings(fitting), " or "),
                       "say which, e.g. \"" + fitting.front().spelled + "\"");
    } else if (!all.empty()) {
      return all.front().member;
    }
    return std::nullopt;
  }

  /// An atomic update changes how a scalar leaf stores, not the loops around it; copies of its tensor nearer to the core go.
  bool make_atomic(const AtomPin& pin) {
    const Atom* atom = request_.machine.find_atom(pin.atom);
    if (!contains(plan_.statements, pin.statement) || atom == nullptr || atom->body != "atomic_update") return false;
    plan_.atoms[pin.statement] = AtomChoice{pin.atom, {}, "extents"};
    const std::string& tensor = request_.program().statement(pin.statement).write.tensor;
    std::erase_if(plan_.promotions, [&](const Promotion& promotion) { return promotion.tensor == tensor; });
    return true;
  }

  std::optional<Infeasible> check_atom(const AtomPin& pin) const {
    if (!contains(plan_.statements, pin.statement)) return std::nullopt;
    const auto found = plan_.atoms.find(pin.statement);
    const std::string atom = found == plan_.atoms.end() ? "" : found->second.atom;
    if (atom == pin.atom) return std::nullopt;
    return refuse(*pin.pin, "atoms[" + pin.statement + "]",
                  pin.atom.empty() ? "the leaf runs as atom " + atom : "the statement does not have the form that the atom needs",
                  pin.atom.empty() ? "pin atom(" + pin.statement + ", \"" + atom + "\"), or drop the pin"
                                   : "drop the pin, or pin atom(" + pin.statement + ", \"scalar\")");
  }

  /// The loop is there in one piece: outside of atoms it has one digit.
  std::optional<Infeasible> check_whole(const TilePin& pin, const std::vector<BoundMember>& members) const {
    const std::string atom = level_of_kind(request_.machine, LevelKind::atom);
    for (const BoundMember& member : members) {
      const std::vector<Digit>& digits = digits_of(plan_, member.member);
      const auto loops = std::count_if(digits.begin(), digits.end(), [&](const Digit& digit) { return digit.level != atom; });
      if (loops > 1) return refuse(*pin.pin, "digits[" + member.member + "]", "the loop is cut into " + std::to_string(loops) + " loops", "drop the pins that cut it");
    }
    return std::nullopt;
  }

  std::optional<Infeasible> check_tile(const TilePin& pin) const {
    std::optional<Infeasible> problem;
    const auto has_level = [&](const std::string& member) { return extent_inside(request_.machine, digits_of(plan_, member), pin.level) > 0; };
    const auto exact = [&](const std::string& member) { return extent_inside(request_.machine, digits_of(plan_, member), pin.level) == pin.extent; };
    const auto any = bind_loop(request_.program(), plan_, pin.loop);
    if (any.empty()) return std::nullopt;
    if (pin.extent == 0) return check_whole(pin, any);
    if (std::count_if(any.begin(), any.end(), [&](const BoundMember& m) { return exact(m.member); }) == 1) return std::nullopt;
    const auto member = bind(pin.loop, *pin.pin, problem, has_level);
    if (problem) return problem;
    const long extent = extent_inside(request_.machine, digits_of(plan_, *member), pin.level);
    if (extent == pin.extent) return std::nullopt;
    return refuse(*pin.pin, "digits[" + *member + "]",
                  extent == 0 ? "loop " + pin.loop.name + " has no digit on level " + pin.level + " that could hand out tiles of " + std::to_string(pin.extent)
                              : "the extent inside level " + pin.level + " is " + std::to_string(extent) + ", not " + std::to_string(pin.extent),
                  extent == 0 ? "tile another loop for this level, or pin parallel/vectorize for the loop as well"
                  : extent == 1 ? "this schedule leaves the loop untiled (schedule(\"original\") keeps loops as written); drop this pin or that one"
                                : "the tiles of other levels and of the register tile bound it: see `explain`, or drop one of the pins");
  }

  /// A digit's own name, or the outermost digit of the loop that `taken` does not hold yet.
  std::optional<std::string> digit_of(const LoopName& loop, const Pin& pin, const std::vector<std::string>& taken,
                                      std::optional<Infeasible>& problem) const {
    std::vector<std::string> bands;
    collect_bands(plan_.tree, bands);
    const auto free_band = [&](const std::string& member) -> std::string {
      for (const Digit& digit : digits_of(plan_, member)) {
        if (contains(bands, digit.name) && !contains(taken, digit.name)) return digit.name;
      }
      return "";
    };
    const auto member = bind(loop, pin, problem, [&](const std::string& m) { return !free_band(m).empty(); });
    if (problem) return std::nullopt;
    if (member && !free_band(*member).empty()) return free_band(*member);
    if (loop.statement.empty() && plan_.find_digit(loop.name) && contains(bands, loop.name)) return loop.name;
    return std::nullopt;
  }

  /// The digits that the pin's loops stand for; loops that are no digits of this kernel are left out.
  std::vector<std::string> digits_of_order(const OrderPin& pin, std::optional<Infeasible>& problem) const {
    std::vector<std::string> digits;
    for (const LoopName& loop : pin.loops) {
      const auto digit = digit_of(loop, *pin.pin, digits, problem);
      if (problem) return {};
      if (digit) digits.push_back(*digit);
    }
    return digits;
  }

  std::optional<Infeasible> reorder(const OrderPin& pin) {
    std::optional<Infeasible> problem;
    const std::vector<std::string> wanted = digits_of_order(pin, problem);
    if (problem) return problem;
    if (wanted.empty()) return std::nullopt;
    if (wanted.size() != pin.loops.size())
      return refuse(*pin.pin, "tree", "only " + join(wanted, ", ") + (wanted.size() == 1 ? " is a loop" : " are loops") + " of this kernel's tree", loops_text());
    std::size_t done = 0;
    const std::vector<std::string> before = in_tree_order(wanted);
    plan_.tree = reorder_chains(plan_.tree, wanted, done);
    if (done != 1) return refuse(*pin.pin, "tree", "the loops " + join(wanted, ", ") + " are not nested in one another: the tree is `" + plan_.tree.write() + "`",
                                 "order loops that are nested directly, or pin schedule(\"original\")");
    // A scope keeps its depth: what lived below the second of two loops still does after they are swapped.
    for (Promotion& promotion : plan_.promotions) {
      const auto at = std::find(before.begin(), before.end(), promotion.after);
      if (at != before.end()) promotion.after = wanted[static_cast<std::size_t>(at - before.begin())];
    }
    took_effect(*pin.pin);
    return std::nullopt;
  }

  /// A later pin may have moved the loops of an earlier one.
  std::optional<Infeasible> check_order(const OrderPin& pin) const {
    std::optional<Infeasible> problem;
    const std::vector<std::string> wanted = digits_of_order(pin, problem);
    if (problem) return problem;
    if (in_tree_order(wanted) == wanted) return std::nullopt;
    return refuse(*pin.pin, "tree", "another order(...) asks for the opposite: the loops came out as " + join(in_tree_order(wanted), ", "),
                  "keep one of the two");
  }

  std::vector<std::string> in_tree_order(const std::vector<std::string>& digits) const {
    std::vector<std::string> bands, result;
    collect_bands(plan_.tree, bands);
    for (const std::string& band : bands) {
      if (contains(digits, band) && !contains(result, band)) result.push_back(band);
    }
    return result;
  }

  /// Permutes `wanted` among their places in the chain that holds them all.
  static Tree reorder_chains(const Tree& tree, const std::vector<std::string>& wanted, std::size_t& done) {
    std::vector<std::string> chain;
    Tree below = tree;
    while (below.kind() == Tree::Kind::band) {
      chain.push_back(below.dim());
      below = below.child();
    }
    const bool all = std::all_of(wanted.begin(), wanted.end(), [&](const std::string& w) { return contains(chain, w); });
    if (all) {
      ++done;
      std::size_t next = 0;
      for (std::string& band : chain) {
        if (contains(wanted, band)) band = wanted[next++];
      }
    }
    if (below.kind() == Tree::Kind::sequence) {
      std::vector<Tree::Branch> branches;
      for (const Tree::Branch& branch : below.branches()) branches.push_back({branch.statements, reorder_chains(branch.tree, wanted, done)});
      below = Tree::sequence(std::move(branches));
    }
    return Tree::bands(chain, std::move(below));
  }

  std::optional<Infeasible> parallelize(const LoopPin& pin) {
    const std::string level = level_of_kind(request_.machine, LevelKind::independent);
    const std::string serial = level_of_kind(request_.machine, LevelKind::sequential);
    std::optional<Infeasible> problem;
    const auto member = bind(pin.loop, *pin.pin, problem, [](const std::string&) { return true; });
    if (problem) return problem;
    if (!member) return std::nullopt;
    Digit& outermost = digits_of(plan_, *member).front();
    std::vector<std::string> bands;
    collect_bands(plan_.tree, bands);
    if (!contains(bands, outermost.name)) return refuse(*pin.pin, "digits[" + *member + "]", "the loop is inside an atom",
                                                                 "pin a tile for it as well, so that a loop stays outside: tile(\"" + level + "\", " + pin.loop.name + "=64)");
    if (outermost.level != serial && outermost.level != level) {
      return refuse(*pin.pin, "digits[" + *member + "]", "its only loop is on level " + outermost.level,
                    "pin a tile too, so that a loop is left for threads: tile(\"" + level + "\", " + pin.loop.name + "=64)");
    }
    // Threads of a CPU share one loop; blocks are numbered by several.
    for (auto& [other, digits] : plan_.digits) {
      if (!request_.machine.has_agents() && other != *member && !pinned_parallel(other)) {
        for (Digit& digit : digits) {
          if (digit.level == level && shares_path(digit.name, outermost.name)) digit.level = serial;
        }
      }
    }
    outermost.level = level;
    took_effect(*pin.pin);
    return std::nullopt;
  }

  bool pinned_parallel(const std::string& member) const {
    for (const LoopPin& pin : request_.pins.parallels) {
      for (const BoundMember& bound : bind_loop(request_.program(), plan_, pin.loop)) {
        if (bound.member == member) return true;
      }
    }
    return false;
  }

  bool shares_path(const std::string& a, const std::string& b) const {
    return std::any_of(plan_.statements.begin(), plan_.statements.end(), [&](const std::string& statement) {
      const std::vector<std::string> path = path_dims(plan_.tree, statement);
      return contains(path, a) && contains(path, b);
    });
  }

  std::optional<Infeasible> vectorize(const LoopPin& pin) {
    std::optional<Infeasible> problem;
    const auto member = bind(pin.loop, *pin.pin, problem, [](const std::string&) { return true; });
    if (problem) return problem;
    if (!member) return std::nullopt;
    Digit& innermost = digits_of(plan_, *member).back();
    for (const auto& [statement, choice] : plan_.atoms) {
      if (!choice.box.empty() && choice.box.back() == innermost.name) return std::nullopt;
    }
    const std::string level = level_of_kind(request_.machine, LevelKind::lockstep);
    for (const std::string& statement : plan_.statements) {
      if (!contains(plan_.members.at(statement).members, *member)) continue;
      const std::vector<std::string> path = path_dims(plan_.tree, statement);
      if (!path.empty() && path.back() == innermost.name) continue;
      if (contains(path, innermost.name)) {
        return refuse(*pin.pin, "tree", "loop " + innermost.name + " is not the innermost one around " + statement,
                      "pin order(...) too, with " + innermost.name + " last");
      }
    }
    if (innermost.level != level && innermost.level != level_of_kind(request_.machine, LevelKind::sequential)) {
      return refuse(*pin.pin, "digits[" + *member + "]", "the loop is on level " + innermost.level, "vectorize another loop, or drop the pin that put it there");
    }
    innermost.level = level;
    took_effect(*pin.pin);
    return std::nullopt;
  }

  std::optional<Infeasible> unroll(const LoopPin& pin) {
    const std::string unrolled = level_of_kind(request_.machine, LevelKind::unrolled);
    std::optional<Infeasible> problem;
    const auto member = bind(pin.loop, *pin.pin, problem, [](const std::string&) { return true; });
    if (problem) return problem;
    if (!member) return std::nullopt;
    std::vector<Digit>& digits = digits_of(plan_, *member);
    Digit& innermost = digits.back();
    if (innermost.level != level_of_kind(request_.machine, LevelKind::sequential)) {
      return refuse(*pin.pin, "digits[" + *member + "]", "its innermost digit " + innermost.name + " is on level " + innermost.level,
                    "it does not run as a loop: unroll another one");
    }
    if (!pin.factor || innermost.radix == *pin.factor) {
      const auto trips = constant_trips(*member, innermost);
      if (!trips || *trips > 64) {
        return refuse(*pin.pin, "digits[" + *member + "]", "digit " + innermost.name + " has no constant trip count up to 64",
                      "give a factor: unroll(" + pin.loop.name + "=4)");
      }
      innermost.level = unrolled;
    } else {
      if (innermost.radix % *pin.factor != 0) {
        return refuse(*pin.pin, "digits[" + *member + "]", "the factor does not divide the radix " + std::to_string(innermost.radix) + " of " + innermost.name,
                      "give a divisor of " + std::to_string(innermost.radix));
      }
      NameTable names;
      for (const auto& [other, list] : plan_.digits) {
        for (const Digit& digit : list) names.reserve(digit.name);
      }
      const std::string low = names.unique(digit_name(*member, 'u')), high = innermost.name;
      innermost.radix = innermost.radix / *pin.factor;
      digits.push_back({low, *pin.factor, unrolled});
      plan_.tree = change_bands(plan_.tree, high, [&](Tree child) { return Tree::bands({high, low}, std::move(child)); });
    }
    took_effect(*pin.pin);
    return std::nullopt;
  }

  std::optional<long> constant_trips(const std::string& member, const Digit& digit) const {
    if (digit.radix > 0) return digit.radix;
    for (const std::string& statement : plan_.statements) {
      const StatementMembers& members = plan_.members.at(statement);
      if (!contains(members.members, member)) continue;
      const StatementView view = view_statement(request_.program(), statement, members, request_.sizes);
      if (const auto constant = view.ranges[view.member_index(member)].constant) return constant;
    }
    return std::nullopt;
  }

  std::optional<Infeasible> promote(const PromotePin& pin) {
    const Program& program = request_.program();
    std::vector<std::string> users;
    for (const std::string& name : plan_.statements) {
      const Statement& statement = program.statement(name);
      bool uses = statement.write.tensor == pin.tensor;
      for (const Access& read : statement.reads) uses = uses || read.tensor == pin.tensor;
      if (uses) users.push_back(name);
    }
    if (users.empty()) return std::nullopt;
    const auto existing = std::find_if(plan_.promotions.begin(), plan_.promotions.end(), [&](const Promotion& p) { return p.tensor == pin.tensor; });
    Promotion promotion;
    if (existing != plan_.promotions.end()) {
      promotion = *existing;
      plan_.promotions.erase(existing);
    } else {
      promotion.tensor = pin.tensor;
      promotion.array = pin.tensor + "_" + pin.space;
      promotion.element = type_name(program.tensor(pin.tensor).type);
    }
    if (pin.space == "none") {
      took_effect(*pin.pin);
      return std::nullopt;
    }
    promotion.space = pin.space;
    if (pin.after) {
      std::optional<Infeasible> problem;
      std::optional<std::string> after = plan_.find_digit(pin.after->name) && pin.after->statement.empty() ? std::optional(pin.after->name) : std::nullopt;
      if (!after) after = digit_of(*pin.after, *pin.pin, {}, problem);
      if (problem) return problem;
      if (!after) return refuse(*pin.pin, "promotions", "`" + spelled(*pin.after) + "` is no loop of this kernel's tree `" + plan_.tree.write() + "`", loops_text());
      promotion.after = *after;
      promotion.statements.clear();
      for (const std::string& user : users) {
        if (contains(path_dims(plan_.tree, user), *after)) promotion.statements.push_back(user);
      }
    }
    if (promotion.layout.empty()) default_layout(promotion, program.tensor(pin.tensor).shape.size());
    const std::size_t depth = scope_depth(promotion);
    const auto place = std::find_if(plan_.promotions.begin(), plan_.promotions.end(), [&](const Promotion& p) { return scope_depth(p) > depth; });
    plan_.promotions.insert(place, std::move(promotion));
    took_effect(*pin.pin);
    return std::nullopt;
  }

  /// What is promoted below the loop runs ahead, as far as it may.
  std::optional<Infeasible> pipeline(const PipelinePin& pin) {
    std::optional<Infeasible> problem;
    std::optional<std::string> after = plan_.find_digit(pin.loop.name) && pin.loop.statement.empty() ? std::optional(pin.loop.name) : std::nullopt;
    if (!after) after = digit_of(pin.loop, *pin.pin, {}, problem);
    if (problem) return problem;
    if (!after) return std::nullopt;
    if (!set_pipeline(request_.program(), request_.machine, plan_, *after, pin.slots, pin.distance))
      return refuse(*pin.pin, "pipelines", "below loop `" + *after + "` nothing is only copied into memory of a block", "promote what the loop reads to a space that a block's threads share");
    took_effect(*pin.pin);
    return std::nullopt;
  }

  void default_layout(Promotion& promotion, std::size_t rank) const {
    NameTable names;
    for (const auto& [member, list] : plan_.digits) {
      for (const Digit& digit : list) names.reserve(digit.name);
    }
    for (const Promotion& other : plan_.promotions) {
      for (const BufferDim& dim : other.layout) names.reserve(dim.name);
    }
    for (std::size_t d = 0; d < rank; ++d) {
      promotion.layout.push_back({static_cast<int>(d), names.unique(promotion.array + "_" + std::to_string(d)), 0});
    }
  }

  std::size_t scope_depth(const Promotion& promotion) const {
    if (promotion.after.empty()) return 0;
    for (const std::string& statement : plan_.statements) {
      const std::vector<std::string> path = path_dims(plan_.tree, statement);
      const auto at = std::find(path.begin(), path.end(), promotion.after);
      if (at != path.end()) return static_cast<std::size_t>(at - path.begin()) + 1;
    }
    return 0;
  }

  const PlanRequest& request_;
  KernelPlan& plan_;
  std::vector<std::string>& reasons_;
};

}  // namespace

std::optional<Infeasible> apply_pins(const PlanRequest& request, KernelPlan& plan, std::vector<std::string>& reasons) {
  if (request.pins.empty()) return std::nullopt;
  return PinApplier(request, plan, reasons).run();
}

std::optional<Infeasible> find_unused_pin(const Program& program, const PinTable& pins, const Plan& plan) {
  const auto check = [&](const LoopName& loop, const Pin& pin) -> std::optional<Infeasible> {
    std::vector<std::string> kernels, names;
    std::vector<std::vector<std::string>> seen;  // versions of one kernel have the same loops
    for (const KernelPlan& kernel : plan.kernels) {
      if (!kernel.when.empty() && std::count(seen.begin(), seen.end(), kernel.statements) > 0) continue;
      std::vector<BoundMember> bound = bind_loop(program, kernel, loop);
      if (bound.empty() && loop.statement.empty() && kernel.find_digit(loop.name)) bound.push_back({loop.name, loop.name});
      if (bound.empty()) continue;
      seen.push_back(kernel.statements);
      kernels.push_back(kernel.name);
      for (const std::string& name : spellings(bound)) names.push_back(name);
    }
    if (kernels.size() == 1) return std::nullopt;
    return Infeasible{"pin", "resolve_plan", "", "kernels",
                      pin_text(pin) + ": `" + spelled(loop) + "` " +
                          (kernels.empty() ? "is no loop of the schedule that was found" : "may mean " + join(names, " or ")),
                      pin.where, "",
                      kernels.empty() ? "pin schedule(\"original\") to keep the loops as written, or see `explain` for those there are"
                                      : "say which, e.g. \"" + names.front() + "\""};
  };
  for (const TilePin& pin : pins.tiles) {
    if (auto unused = check(pin.loop, *pin.pin)) return unused;
  }
  for (const auto* list : {&pins.parallels, &pins.vectorizes, &pins.unrolls}) {
    for (const LoopPin& pin : *list) {
      if (auto unused = check(pin.loop, *pin.pin)) return unused;
    }
  }
  for (const PipelinePin& pin : pins.pipelines) {
    if (auto unused = check(pin.loop, *pin.pin)) return unused;
  }
  for (const OrderPin& pin : pins.orders) {
    for (const LoopName& loop : pin.loops) {
      if (auto unused = check(loop, *pin.pin)) return unused;
    }
  }
  return std::nullopt;
}

}  // namespace tileopt
