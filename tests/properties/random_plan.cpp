#include "random_plan.h"

#include <algorithm>
#include <map>
#include <random>

#include "legal_choices.h"
#include "passes/passes.h"
#include "support/text.h"

namespace tileopt::testing {

namespace {

/// Every draw that a plan is made of.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  int below(int limit) { return static_cast<int>(random_() % static_cast<std::uint64_t>(limit)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) { return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))]; }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[static_cast<std::size_t>(below(static_cast<int>(i)))]);
  }

 private:
  std::mt19937_64 random_;
};

class PlanDice {
 public:
  PlanDice(std::shared_ptr<const Program> program, std::shared_ptr<const Dependences> dependences, const Machine& machine, std::uint64_t seed)
      : program_(std::move(program)), dependences_(std::move(dependences)), machine_(machine), dice_(seed) {}

  KernelPlan roll(const KernelPlan& base, PlanChoices& known) {
    KernelPlan plan = base;
    plan.schedule = "pinned";
    plan.promotions.clear();
    plan.atoms.clear();
    owner_.clear();
    digits_of_.clear();
    digit_count_ = 0;
    choices_ = &known.try_emplace(base.name, *program_, *dependences_, base).first->second;
    for (auto& [member, digits] : plan.digits) digits = roll_digits(member, digits.front().name);
    const Tree order = interchange(base.tree, base.statements, {});
    plan.tree = cut(order, base.statements, {});
    roll_levels(plan);
    roll_atoms(plan);
    roll_promotions(plan);
    if (plan.promotions.empty() && dice_.chance(40)) plan.tree = nest(plan.tree, plan.statements, plan);
    choices_ = nullptr;
    return plan;
  }

 private:
  std::vector<Digit> roll_digits(const std::string& member, const std::string& name) {
    std::vector<Digit> digits = {{name, 0, "serial"}};
    for (int n = dice_.below(3); n > 0; --n) digits.push_back({name + "_d" + std::to_string(++digit_count_), dice_.pick(radices_), "serial"});
    std::vector<std::string> inner;
    for (const Digit& digit : digits) owner_[digit.name] = member;
    for (std::size_t i = 1; i < digits.size(); ++i) inner.push_back(digits[i].name);
    digits_of_[name] = inner;
    return digits;
  }

  /// The same nest with some directly nested bands exchanged.
  Tree interchange(const Tree& tree, const std::vector<std::string>& active, std::vector<std::string> around) {
    switch (tree.kind()) {
      case Tree::Kind::leaf: return tree;
      case Tree::Kind::allocate: return Tree::allocate(tree.arrays(), interchange(tree.child(), active, around));
      case Tree::Kind::nested: return Tree::nested(interchange(tree.child(), active, around));
      case Tree::Kind::band: {
        const Tree below = tree.child();
        const std::string& outer = owner_.at(tree.dim());
        if (below.kind() == Tree::Kind::band && dice_.chance(30) && choices_->may_pass(outer, owner_.at(below.dim()), around, active)) {
          around.push_back(owner_.at(below.dim()));
          return Tree::band(below.dim(), interchange(Tree::band(tree.dim(), below.child()), active, around));
        }
        around.push_back(outer);
        return Tree::band(tree.dim(), interchange(below, active, around));
      }
      case Tree::Kind::sequence: {
        std::vector<Tree::Branch> branches;
        for (const Tree::Branch& branch : tree.branches())
          branches.push_back({branch.statements, interchange(branch.tree, branch.statements, around)});
        return Tree::sequence(std::move(branches));
      }
    }
    return tree;
  }

  /// The same nest with every band's inner digits somewhere below it, in order.
  Tree cut(const Tree& tree, const std::vector<std::string>& active, std::vector<std::string> around) {
    switch (tree.kind()) {
      case Tree::Kind::leaf: return tree;
      case Tree::Kind::allocate: return Tree::allocate(tree.arrays(), cut(tree.child(), active, around));
      case Tree::Kind::nested: return Tree::nested(cut(tree.child(), active, around));
      case Tree::Kind::band: {
        std::vector<std::string> below = around;
        below.push_back(owner_.at(tree.dim()));
        Tree child = cut(tree.child(), active, below);
        const std::vector<std::string>& inner = digits_of_[tree.dim()];
        for (std::size_t i = inner.size(); i-- > 0;) child = sink(inner[i], child, active, around);
        return Tree::band(tree.dim(), child);
      }
      case Tree::Kind::sequence: {
        std::vector<Tree::Branch> branches;
        for (const Tree::Branch& branch : tree.branches()) branches.push_back({branch.statements, cut(branch.tree, branch.statements, around)});
        return Tree::sequence(std::move(branches));
      }
    }
    return tree;
  }

  /// A band over `digit` at a random depth of `tree`: below a band, or into all branches of a sequence. `around`: the members of
  /// the bands above all digits of the member.
  Tree sink(const std::string& digit, const Tree& tree, const std::vector<std::string>& active, const std::vector<std::string>& around) {
    const std::string& member = owner_.at(digit);
    if (tree.kind() == Tree::Kind::band && dice_.chance(55)) {
      const std::string& passed = owner_.at(tree.dim());
      if (passed == member || choices_->may_pass(member, passed, around, active))
        if (passed != member) return Tree::band(tree.dim(), sink(digit, tree.child(), active, around));
    }
    if (tree.kind() == Tree::Kind::sequence && dice_.chance(40) && choices_->may_enter(member, tree.branches(), around)) {
      std::vector<Tree::Branch> branches;
      for (const Tree::Branch& branch : tree.branches())
        branches.push_back({branch.statements, sink(digit, branch.tree, branch.statements, around)});
      return Tree::sequence(std::move(branches));
    }
    return Tree::band(digit, tree);
  }

  void roll_levels(KernelPlan& plan) {
    if (plan.tree.kind() == Tree::Kind::band && machine_.find_level("thread") != nullptr && dice_.chance(45) &&
        choices_->may_run_at_once(owner_.at(plan.tree.dim()), plan.statements))
      set_level(plan, plan.tree.dim(), "thread");
    for (auto& [member, digits] : plan.digits) {
      Digit& last = digits.back();
      if (digits.size() < 2 || last.radix > 8) continue;
      if (machine_.find_level("unroll") != nullptr && dice_.chance(15)) last.level = "unroll";
      else if (machine_.find_level("simd") != nullptr && dice_.chance(15) && innermost(plan, last.name) &&
               choices_->may_run_at_once(member, statements_with(plan, member)))
        last.level = "simd";
    }
  }

  std::vector<std::string> statements_with(const KernelPlan& plan, const std::string& member) const {
    std::vector<std::string> found;
    for (const std::string& name : plan.statements)
      if (contains(plan.members.at(name).members, member)) found.push_back(name);
    return found;
  }
  /// Whether `digit` is the innermost band of every statement that has it.
  bool innermost(const KernelPlan& plan, const std::string& digit) const {
    for (const std::string& name : plan.statements) {
      const std::vector<std::string> path = path_dims(plan.tree, name);
      if (contains(path, digit) && path.back() != digit) return false;
    }
    return true;
  }
  static void set_level(KernelPlan& plan, const std::string& name, const std::string& level) {
    for (auto& [member, digits] : plan.digits)
      for (Digit& digit : digits)
        if (digit.name == name) digit.level = level;
  }

  /// Elementwise leaves whose innermost digit is theirs alone run it as the box of an atom.
  void roll_atoms(KernelPlan& plan) {
    const Atom* atom = machine_.find_atom("vector_box");
    if (atom == nullptr) return;
    for (const std::string& name : plan.statements) {
      const std::vector<std::string> path = path_dims(plan.tree, name);
      if (path.empty() || !dice_.chance(80)) continue;
      const std::string& digit = path.back();
      const std::string& member = owner_.at(digit);
      if (plan.find_digit(digit)->radix == 0 || statements_with(plan, member).size() != 1) continue;
      if (program_->statement(name).conditional() || !elementwise(program_->statement(name)) || !moves_evenly(plan, name, member)) continue;
      if (!choices_->may_run_at_once(member, {name})) continue;
      plan.atoms[name] = {"vector_box", {digit}, "extents"};
      set_level(plan, digit, "atom");
      plan.tree = without_band(plan.tree, digit);
    }
  }
  static bool elementwise(const Statement& statement) {
    bool simple = true;
    walk_expr(statement.body, [&](const Expr& e) {
      if (const Binary* b = std::get_if<Binary>(&e.node)) {
        switch (b->op) {
          case BinaryOp::add: case BinaryOp::sub: case BinaryOp::mul: case BinaryOp::divide: case BinaryOp::min: case BinaryOp::max: break;
          default: simple = false;
        }
      } else if (!std::holds_alternative<Literal>(e.node) && !std::holds_alternative<Read>(e.node) && !std::holds_alternative<Cast>(e.node) &&
                 !std::holds_alternative<Unary>(e.node)) {
        simple = false;
      }
    });
    return simple;
  }
  /// Whether every access of a statement is one affine function without floors, and the write moves with `member`.
  bool moves_evenly(const KernelPlan& plan, const std::string& name, const std::string& member) const {
    const Statement& statement = program_->statement(name);
    const std::vector<std::string>& members = plan.members.at(name).members;
    const std::size_t position = static_cast<std::size_t>(std::find(members.begin(), members.end(), member) - members.begin());
    if (position >= statement.iterators.size() || !starts_at_zero(statement.domain, static_cast<unsigned>(position))) return false;
    bool even = true, moves = false;
    const auto look = [&](const Access& access, bool write) {
      int pieces = 0;
      access.index.foreach_piece([&](isl::set, isl::multi_aff subscripts) {
        ++pieces;
        const int outputs = isl_multi_aff_dim(subscripts.get(), isl_dim_out);
        for (int o = 0; o < outputs; ++o) {
          const isl::aff value = subscripts.at(o);
          even = even && isl_aff_dim(value.get(), isl_dim_div) == 0;
          moves = moves || (write && isl_aff_involves_dims(value.get(), isl_dim_in, static_cast<unsigned>(position), 1) == isl_bool_true);
        }
      });
      even = even && pieces == 1;
    };
    look(statement.write, true);
    for (const Access& read : statement.reads) look(read, false);
    return even && moves;
  }
  /// Whether the iterator takes all values from 0 to some bound wherever it takes any: what an edge leaves of a box is then a box.
  static bool starts_at_zero(const isl::set& domain, unsigned position) {
    if (domain.n_basic_set() != 1) return false;
    const isl::set any = isl::manage(isl_set_eliminate(domain.copy(), isl_dim_set, position, 1));
    const isl::set zero = isl::manage(isl_set_eliminate(isl_set_fix_si(domain.copy(), isl_dim_set, position, 0), isl_dim_set, position, 1));
    return any.is_subset(zero) && isl::manage(isl_set_lower_bound_si(domain.copy(), isl_dim_set, position, 0)).is_equal(domain);
  }
  static Tree without_band(const Tree& tree, const std::string& digit) {
    switch (tree.kind()) {
      case Tree::Kind::leaf: return tree;
      case Tree::Kind::allocate: return Tree::allocate(tree.arrays(), without_band(tree.child(), digit));
      case Tree::Kind::nested: return Tree::nested(without_band(tree.child(), digit));
      case Tree::Kind::band:
        return tree.dim() == digit ? without_band(tree.child(), digit) : Tree::band(tree.dim(), without_band(tree.child(), digit));
      case Tree::Kind::sequence: {
        std::vector<Tree::Branch> branches;
        for (const Tree::Branch& branch : tree.branches()) branches.push_back({branch.statements, without_band(branch.tree, digit)});
        return Tree::sequence(std::move(branches));
      }
    }
    return tree;
  }

  /// `nested` above the outermost bands below which all digits are bounded.
  Tree nest(const Tree& tree, const std::vector<std::string>& active, const KernelPlan& plan) {
    switch (tree.kind()) {
      case Tree::Kind::leaf:
      case Tree::Kind::nested:
      case Tree::Kind::allocate: return tree;
      case Tree::Kind::band: {
        const bool bounded = std::all_of(active.begin(), active.end(), [&](const std::string& name) {
          const std::vector<std::string> path = path_dims(plan.tree, name);
          return std::all_of(std::find(path.begin(), path.end(), tree.dim()), path.end(),
                             [&](const std::string& dim) { return plan.find_digit(dim)->radix > 0; });
        });
        return bounded ? Tree::nested(tree) : Tree::band(tree.dim(), nest(tree.child(), active, plan));
      }
      case Tree::Kind::sequence: {
        std::vector<Tree::Branch> branches;
        for (const Tree::Branch& branch : tree.branches()) branches.push_back({branch.statements, nest(branch.tree, branch.statements, plan)});
        return Tree::sequence(std::move(branches));
      }
    }
    return tree;
  }

  void roll_promotions(KernelPlan& plan) {
    int wanted = dice_.below(4);
    if (wanted == 0) return;
    const Candidate<Kernel> kernel = Kernel::create(program_, dependences_, plan);
    if (!feasible(kernel)) return;
    const Candidate<Schedule> schedule = compute_schedule(std::get<Kernel>(kernel));
    if (!feasible(schedule)) return;
    const Candidate<DigitSchedule> digits = digitize(std::get<Schedule>(schedule), machine_);
    if (!feasible(digits)) return;
    std::vector<KeepChoice> choices = keep_choices(std::get<DigitSchedule>(digits), 1 << 14);
    dice_.shuffle(choices);
    for (const KeepChoice& choice : choices) {
      const bool kept = std::any_of(plan.promotions.begin(), plan.promotions.end(), [&](const Promotion& p) { return p.tensor == choice.tensor; });
      if (kept || wanted-- <= 0) continue;
      plan.promotions.push_back(roll_promotion(plan, choice));
    }
  }

  /// What an atom accesses keeps a plain layout; threads have arrays of their own, on the stack.
  Promotion roll_promotion(const KernelPlan& plan, const KeepChoice& choice) {
    const bool threads = std::any_of(plan.digits.begin(), plan.digits.end(), [&](const auto& member) {
      return std::any_of(member.second.begin(), member.second.end(), [&](const Digit& digit) { return digit.level == "thread"; });
    });
    const bool by_atom = std::any_of(plan.atoms.begin(), plan.atoms.end(), [&](const auto& atom) {
      const Statement& s = program_->statement(atom.first);
      return s.write.tensor == choice.tensor ||
             std::any_of(s.reads.begin(), s.reads.end(), [&](const Access& read) { return read.tensor == choice.tensor; });
    });
    const Tensor& tensor = program_->tensor(choice.tensor);
    Promotion promotion;
    promotion.tensor = tensor.name;
    promotion.array = tensor.name + "_kept";
    promotion.after = choice.after;
    promotion.statements = {choice.statement};
    promotion.space = threads || dice_.chance(50) ? "stack" : "workspace";
    promotion.element = type_name(tensor.type);
    for (std::size_t d = 0; d < choice.size.size(); ++d) {
      const std::string name = promotion.array + "_" + std::to_string(d);
      promotion.layout.push_back({static_cast<int>(d), name, 0});
      if (choice.size[d] > 2 && !by_atom && dice_.chance(25)) promotion.layout.push_back({static_cast<int>(d), name + "_low", 2 + dice_.below(3)});
    }
    // The digits of one dimension stay in order, most significant first; those of different dimensions may interleave.
    std::vector<BufferDim> shuffled = promotion.layout;
    dice_.shuffle(shuffled);
    for (std::size_t d = 0; d < choice.size.size(); ++d) {
      std::vector<std::size_t> places;
      for (std::size_t i = 0; i < shuffled.size(); ++i)
        if (shuffled[i].tensor_dim == static_cast<int>(d)) places.push_back(i);
      if (places.size() == 2 && shuffled[places[0]].radix != 0) std::swap(shuffled[places[0]], shuffled[places[1]]);
    }
    promotion.layout = shuffled;
    return promotion;
  }

  int digit_count_ = 0;
  const std::vector<long> radices_ = {2, 3, 4, 5, 7, 8, 16, 32};
  std::shared_ptr<const Program> program_;
  std::shared_ptr<const Dependences> dependences_;
  const Machine& machine_;
  Dice dice_;
  const OrderChoices* choices_ = nullptr;
  std::map<std::string, std::string> owner_;                   ///< digit -> member
  std::map<std::string, std::vector<std::string>> digits_of_;  ///< outer digit -> inner ones
};

bool has_nested(const Tree& tree) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: return false;
    case Tree::Kind::nested: return true;
    case Tree::Kind::band:
    case Tree::Kind::allocate: return has_nested(tree.child());
    case Tree::Kind::sequence:
      return std::any_of(tree.branches().begin(), tree.branches().end(), [](const Tree::Branch& b) { return has_nested(b.tree); });
  }
  return false;
}

/// Members in the order of their first bands.
std::vector<std::string> member_order(const KernelPlan& plan, const std::string& statement) {
  std::vector<std::string> order;
  for (const std::string& dim : path_dims(plan.tree, statement))
    if (!contains(order, plan.owner(dim))) order.push_back(plan.owner(dim));
  return order;
}

}  // namespace

Plan random_plan(const std::shared_ptr<const Program>& program, const std::shared_ptr<const Dependences>& dependences, const Plan& base,
                 const Machine& machine, PlanChoices& choices, std::uint64_t seed) {
  Plan plan = base;
  PlanDice dice(program, dependences, machine, seed);
  for (KernelPlan& kernel : plan.kernels) kernel = dice.roll(kernel, choices);
  return plan;
}

Plan shrunk_plan(const Plan& base, std::uint64_t seed) {
  Plan plan = base;
  Dice dice(seed);
  std::map<long, long> smaller;
  const auto shrink = [&](long& radix) {
    if (radix < 2) return;
    const auto found = smaller.find(radix);
    if (found == smaller.end()) smaller[radix] = std::min<long>(radix, 1 + dice.below(8));
    radix = smaller[radix];
  };
  for (KernelPlan& kernel : plan.kernels) {
    for (auto& [member, digits] : kernel.digits)
      for (Digit& digit : digits) shrink(digit.radix);
    for (Promotion& promotion : kernel.promotions)
      for (BufferDim& dim : promotion.layout) shrink(dim.radix);
  }
  return plan;
}

PlanFeatures features_of(const Plan& plan, const Plan& base, const Machine& machine) {
  PlanFeatures features;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    const KernelPlan& kernel = plan.kernels[k];
    for (const auto& [member, digits] : kernel.digits) {
      features.tiled = features.tiled || digits.size() > 1;
      for (const Digit& digit : digits) {
        const LevelKind kind = machine.find_level(digit.level)->kind;
        features.parallel = features.parallel || kind == LevelKind::independent;
        features.lockstep = features.lockstep || kind == LevelKind::lockstep;
      }
    }
    features.promoted = features.promoted || !kernel.promotions.empty();
    for (const Promotion& promotion : kernel.promotions)
      for (const BufferDim& dim : promotion.layout) features.split_layout = features.split_layout || dim.radix > 0;
    features.atom = features.atom || !kernel.atoms.empty();
    features.nested = features.nested || has_nested(kernel.tree);
    if (k >= base.kernels.size() || kernel.statements != base.kernels[k].statements) continue;
    for (const std::string& name : kernel.statements)
      features.interchanged = features.interchanged || member_order(kernel, name) != member_order(base.kernels[k], name);
  }
  return features;
}

}  // namespace tileopt::testing
