#include "random_plan.h"

#include <algorithm>

#include "support/text.h"

namespace tileopt::testing {

namespace {

class PlanDice {
 public:
  PlanDice(const Program& program, const Machine& machine, std::uint64_t seed) : program_(program), machine_(machine), random_(seed) {}

  KernelPlan roll(const KernelPlan& base) {
    KernelPlan plan = base;
    plan.schedule = "pinned";
    plan.promotions.clear();
    plan.atoms.clear();
    digits_of_.clear();
    digit_count_ = 0;
    for (auto& [member, digits] : plan.digits) digits = roll_digits(digits.front().name);
    plan.tree = cut(base.tree);
    roll_levels(plan);
    for (int n = below(3); n > 0; --n) roll_promotion(plan);
    return plan;
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<std::uint64_t>(limit)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) { return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))]; }

  std::vector<Digit> roll_digits(const std::string& name) {
    std::vector<Digit> digits = {{name, 0, "serial"}};
    for (int n = below(3); n > 0; --n) digits.push_back({name + "_d" + std::to_string(++digit_count_), pick(radices_), "serial"});
    std::vector<std::string> inner;
    for (std::size_t i = 1; i < digits.size(); ++i) inner.push_back(digits[i].name);
    digits_of_[name] = inner;
    return digits;
  }

  /// The same nest with every band's inner digits somewhere below it, in order.
  Tree cut(const Tree& tree) {
    switch (tree.kind()) {
      case Tree::Kind::leaf: return tree;
      case Tree::Kind::allocate: return Tree::allocate(tree.arrays(), cut(tree.child()));
      case Tree::Kind::nested: return Tree::nested(cut(tree.child()));
      case Tree::Kind::band: {
        Tree child = cut(tree.child());
        const std::vector<std::string>& inner = digits_of_[tree.dim()];
        for (std::size_t i = inner.size(); i-- > 0;) child = sink(inner[i], child);
        return Tree::band(tree.dim(), child);
      }
      case Tree::Kind::sequence: {
        std::vector<Tree::Branch> branches;
        for (const Tree::Branch& branch : tree.branches()) branches.push_back({branch.statements, cut(branch.tree)});
        return Tree::sequence(std::move(branches));
      }
    }
    return tree;
  }

  /// A band over `digit` at a random depth of `tree`: below a band, or into all branches of a sequence.
  Tree sink(const std::string& digit, const Tree& tree) {
    if (tree.kind() == Tree::Kind::band && chance(35)) return Tree::band(tree.dim(), sink(digit, tree.child()));
    if (tree.kind() == Tree::Kind::sequence && chance(25)) {
      std::vector<Tree::Branch> branches;
      for (const Tree::Branch& branch : tree.branches()) branches.push_back({branch.statements, sink(digit, branch.tree)});
      return Tree::sequence(std::move(branches));
    }
    return Tree::band(digit, tree);
  }

  void roll_levels(KernelPlan& plan) {
    if (plan.tree.kind() == Tree::Kind::band && machine_.find_level("thread") != nullptr && chance(10)) set_level(plan, plan.tree.dim(), "thread");
    for (auto& [member, digits] : plan.digits) {
      Digit& last = digits.back();
      if (digits.size() < 2 || last.radix > 8) continue;
      if (machine_.find_level("unroll") != nullptr && chance(15)) last.level = "unroll";
    }
  }

  void set_level(KernelPlan& plan, const std::string& name, const std::string& level) {
    for (auto& [member, digits] : plan.digits)
      for (Digit& digit : digits)
        if (digit.name == name) digit.level = level;
  }

  /// Mostly a band below which all digits are bounded, so that what is kept has a constant size.
  std::string roll_scope(const KernelPlan& plan, const std::vector<std::string>& path) {
    std::size_t first = 0;
    for (std::size_t i = 0; i < path.size(); ++i)
      if (plan.find_digit(path[i])->radix == 0) first = i;
    if (chance(10)) first = 0;
    return path[first + static_cast<std::size_t>(below(static_cast<int>(path.size() - first)))];
  }

  void roll_promotion(KernelPlan& plan) {
    const Statement& statement = program_.statement(pick(plan.statements));
    std::vector<std::string> tensors = {statement.write.tensor};
    for (const Access& read : statement.reads) tensors.push_back(read.tensor);
    const Tensor& tensor = program_.tensor(pick(tensors));
    const std::vector<std::string> path = path_dims(plan.tree, statement.name);
    if (tensor.shape.empty() || path.empty()) return;
    for (const Promotion& other : plan.promotions)
      if (other.tensor == tensor.name) return;
    Promotion promotion;
    promotion.tensor = tensor.name;
    promotion.array = tensor.name + "_kept";
    promotion.after = roll_scope(plan, path);
    promotion.statements = {statement.name};
    promotion.space = chance(50) ? "stack" : "workspace";
    promotion.element = type_name(tensor.type);
    std::vector<int> dims;
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) dims.push_back(static_cast<int>(d));
    std::shuffle(dims.begin(), dims.end(), random_);
    for (const int d : dims) promotion.layout.push_back({d, promotion.array + "_" + std::to_string(d), 0});
    plan.promotions.push_back(std::move(promotion));
  }

  int digit_count_ = 0;
  const std::vector<long> radices_ = {2, 3, 4, 5, 7, 8, 16, 32};
  const Program& program_;
  const Machine& machine_;
  std::mt19937_64 random_;
  std::map<std::string, std::vector<std::string>> digits_of_;  ///< outer digit -> inner ones
};

}  // namespace

Plan random_plan(const Program& program, const Plan& base, const Machine& machine, std::uint64_t seed) {
  Plan plan = base;
  PlanDice dice(program, machine, seed);
  for (KernelPlan& kernel : plan.kernels) kernel = dice.roll(kernel);
  return plan;
}

}  // namespace tileopt::testing
