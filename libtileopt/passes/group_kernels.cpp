/// Statements to kernels. Launch order is program order of the groups; a dependence may not lead back to an earlier kernel. Several kernels
/// may hold a statement: versions, of which the sizes choose one.
#include "passes/order_check.h"
#include "passes/passes.h"
#include "support/text.h"

namespace tileopt {

namespace {
void collect_statements(const Tree& tree, const std::vector<std::string>& active, std::vector<std::vector<std::string>>& groups) {
  if (tree.kind() == Tree::Kind::sequence) {
    for (const Tree::Branch& branch : tree.branches()) collect_statements(branch.tree, branch.statements, groups);
    return;
  }
  groups.push_back(active);
}

/// Pairs of `dependences` that run inside the named statements.
isl::union_map restrict_to(const isl::union_map& dependences, const std::vector<std::string>& statements) {
  isl::union_map inside = poly::empty_union_map(dependences.ctx());
  for (const isl::map& m : poly::sorted_maps(dependences))
    if (contains(statements, poly::input_name(m)) && contains(statements, poly::output_name(m)))
      inside = inside.unite(isl::union_map(m));
  return inside;
}
}  // namespace

std::vector<std::vector<std::string>> default_groups(const Program& program) {
  std::vector<std::string> all;
  for (const Statement& s : program.statements()) all.push_back(s.name);
  std::vector<std::vector<std::string>> groups;
  collect_statements(program.order(), all, groups);
  return groups;
}

Candidate<Kernel> Kernel::create(std::shared_ptr<const Program> program, std::shared_ptr<const Dependences> dependences,
                                 KernelPlan plan) {
  Kernel kernel;
  for (const std::string& name : plan.statements)
    if (!program->has_statement(name))
      return Infeasible{"pin", "group_kernels", plan.name, "kernels[" + plan.name + "].statements", "the program has no statement " + name};
  kernel.validity_ = restrict_to(dependences->validity(), plan.statements);
  kernel.racing_ = restrict_to(dependences->all(), plan.statements);
  kernel.whole_ = kernel.program_ = std::move(program);
  if (!plan.when.empty()) {
    const isl::set sizes = read_when(*kernel.whole_, plan.when, plan.name);
    kernel.program_ = std::make_shared<const Program>(kernel.whole_->restricted_to(sizes));
    if (kernel.program_->context().is_empty())
      return Infeasible{"legality", "group_kernels", plan.name, "kernels[" + plan.name + "].when", "the program has no sizes for which kernel " + plan.name + " would run: " + plan.when,
                        {}, "", "remove the kernel, or change its `when`"};
    kernel.validity_ = kernel.validity_.intersect_params(sizes);
    kernel.racing_ = kernel.racing_.intersect_params(sizes);
  }
  kernel.dependences_ = std::move(dependences);
  kernel.plan_ = std::move(plan);
  return kernel;
}

Document Kernel::write() const {
  Document d;
  d["kernel"] = name();
  if (!plan_.when.empty()) d["context"] = poly::to_text(program_->context());
  d["statements"] = statements();
  d["dependences"] = Document::array();
  for (const isl::map& m : poly::sorted_maps(validity_)) d["dependences"].push_back(poly::to_text(m));
  return d;
}

namespace {

Infeasible refuse(const std::string& kernel, const std::string& reason) { return Infeasible{"legality", "group_kernels", kernel, "kernels", reason}; }

/// Of the kernels that hold the statement one runs, whatever the sizes: where it has instances at all.
std::optional<Infeasible> check_versions(const Program& program, const Statement& statement, const std::vector<Kernel>& kernels, const std::vector<std::size_t>& holders) {
  if (holders.empty()) return refuse("", "statement " + statement.name + " is in no kernel");
  isl::set left = statement.domain.intersect_params(program.context()).params();
  for (std::size_t i = 0; i < holders.size(); ++i) {
    const Kernel& kernel = kernels[holders[i]];
    left = left.subtract(kernel.program().context());
    for (std::size_t j = 0; j < i; ++j) {
      const isl::set both = kernel.program().context().intersect(kernels[holders[j]].program().context());
      if (both.is_empty()) continue;
      Infeasible infeasible = refuse(kernel.name(), "statement " + statement.name + " is in two kernels, " + kernels[holders[j]].name() + " and " + kernel.name() + ", and for some sizes both run");
      infeasible.witness = poly::sample_text(both);
      infeasible.hint = "no sizes may be in `when` of both";
      return infeasible;
    }
  }
  if (left.is_empty()) return std::nullopt;
  Infeasible infeasible = refuse(kernels[holders.back()].name(), "no kernel that holds statement " + statement.name + " runs for some sizes");
  infeasible.witness = poly::sample_text(left);
  infeasible.hint = "the `when` of its kernels must have all sizes between them";
  return infeasible;
}

/// `dependence` leads from `first`, which runs later, to `second`: where both run, it must be empty.
std::optional<Infeasible> check_launch_order(const Program& program, const Dependences& dependences, const isl::map& dependence, const Kernel& first, const Kernel& second) {
  const isl::map both = dependence.intersect_params(first.program().context()).intersect_params(second.program().context());
  if (both.is_empty()) return std::nullopt;
  const DependencePair pair{poly::input_name(dependence), poly::output_name(dependence), both};
  Infeasible infeasible = refuse(second.name(), "the order of the kernels reverses a dependence: " + dependence_text(program, dependences, pair) + ", but runs in a later kernel");
  infeasible.witness = witness_text(pair);
  infeasible.hint = "list the kernel of " + pair.source + " before the kernel of " + pair.sink;
  return infeasible;
}

}  // namespace

Candidate<std::vector<Kernel>> group_kernels(std::shared_ptr<const Program> program,
                                             std::shared_ptr<const Dependences> dependences, const Plan& plan) {
  std::vector<Kernel> kernels;
  for (const KernelPlan& kernel_plan : plan.kernels) {
    TILEOPT_TRY(kernel, Kernel::create(program, dependences, kernel_plan));
    kernels.push_back(std::move(kernel));
  }
  std::map<std::string, std::vector<std::size_t>> holders;
  for (std::size_t k = 0; k < kernels.size(); ++k)
    for (const std::string& name : kernels[k].statements()) holders[name].push_back(k);
  for (const Statement& s : program->statements())
    if (auto problem = check_versions(*program, s, kernels, holders[s.name])) return *problem;
  for (const isl::map& m : poly::sorted_maps(dependences->all()))
    for (const std::size_t first : holders[poly::input_name(m)])
      for (const std::size_t second : holders[poly::output_name(m)])
        if (first > second)
          if (auto problem = check_launch_order(*program, *dependences, m, kernels[first], kernels[second])) return *problem;
  return kernels;
}

}  // namespace tileopt
