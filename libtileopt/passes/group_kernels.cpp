/// Statements to kernels. Launch order is program order of the groups; a dependence may not lead back to an earlier kernel.
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
  kernel.program_ = std::move(program);
  kernel.dependences_ = std::move(dependences);
  kernel.plan_ = std::move(plan);
  return kernel;
}

Document Kernel::write() const {
  Document d;
  d["kernel"] = name();
  d["statements"] = statements();
  d["dependences"] = Document::array();
  for (const isl::map& m : poly::sorted_maps(validity_)) d["dependences"].push_back(poly::to_text(m));
  return d;
}

Candidate<std::vector<Kernel>> group_kernels(std::shared_ptr<const Program> program,
                                             std::shared_ptr<const Dependences> dependences, const Plan& plan) {
  const auto refuse = [](const std::string& kernel, const std::string& reason) {
    return Infeasible{"legality", "group_kernels", kernel, "kernels", reason};
  };
  std::map<std::string, std::size_t> kernel_of;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k)
    for (const std::string& name : plan.kernels[k].statements)
      if (!kernel_of.emplace(name, k).second) return refuse(plan.kernels[k].name, "statement " + name + " is in two kernels");
  for (const Statement& s : program->statements())
    if (kernel_of.count(s.name) == 0) return refuse("", "statement " + s.name + " is in no kernel");
  for (const isl::map& m : poly::sorted_maps(dependences->all())) {
    const std::string from = poly::input_name(m), to = poly::output_name(m);
    if (kernel_of.count(from) && kernel_of.count(to) && kernel_of[from] > kernel_of[to] && !m.is_empty()) {
      const DependencePair pair{from, to, m};
      Infeasible infeasible = refuse(plan.kernels[kernel_of[to]].name, "the order of the kernels reverses a dependence: " +
                                                                           dependence_text(*program, *dependences, pair) + ", but runs in a later kernel");
      infeasible.witness = witness_text(pair);
      infeasible.hint = "list the kernel of " + from + " before the kernel of " + to;
      return infeasible;
    }
  }
  std::vector<Kernel> kernels;
  for (const KernelPlan& kernel_plan : plan.kernels) {
    TILEOPT_TRY(kernel, Kernel::create(program, dependences, kernel_plan));
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace tileopt
