/// bounds: every access at every point that runs, padding included, stays inside its array; registers are named by constants.
#include "verify/agents.h"
#include "verify/obligations.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

SourceLocation access_location(const Leaf& leaf, const Access* access) { return access != nullptr ? access->where : leaf.where(); }

Outcome check_inside(const Execution& execution, const Leaf& leaf, const PointAccess& access, const std::string& verb,
                     const Access* source) {
  const ArrayUse& array = execution.array_of(access);
  const isl::map outside = isl::manage(isl_map_subtract_range(access.element.copy(), array.elements.copy()));
  if (outside.is_empty()) return {};
  return Refutation{leaf.label + " " + verb + " " + array.name + " outside its bounds", sample(execution, outside).text(),
                    access_location(leaf, source)};
}

/// The printer unrolled the loop: its variable is a constant in every copy of the body.
bool is_unrolled(const Checker& checker, std::size_t loop) {
  const PrintFacts::Loop* printed = checker.printed(loop);
  return printed != nullptr && printed->pragma == "unrolled";
}

/// Constant but for the variables of unrolled loops.
bool is_constant(const Checker& checker, const Leaf& leaf, const isl::pw_aff& value, const isl::set& points) {
  if (isl_pw_aff_is_cst(value.get()) == isl_bool_true && value.n_piece() <= 1) return true;
  isl::map relation = value.intersect_domain(points).as_map();
  for (std::size_t i = leaf.loops.size(); i-- > 0;)
    if (!is_unrolled(checker, leaf.loop_ids[i]))
      relation = isl::manage(isl_map_project_out(relation.release(), isl_dim_in, static_cast<unsigned>(i), 1));
  return relation.project_out_all_params().is_single_valued();
}

/// The first subscripts of an array that agents hold are the agent that touches it: the printer leaves them out.
Outcome check_holder(const Checker& checker, const Leaf& leaf, const PointAccess& access, const Access* source) {
  const ArrayUse& array = checker.execution.array_of(access);
  if (array.promoted == nullptr || array.promoted->agent_dims == 0) return {};
  const auto count = static_cast<std::size_t>(array.promoted->agent_dims);
  const std::vector<AgentLoop> loops = agent_loops(checker.execution, leaf);
  if (loops.size() != count)
    return Refutation{leaf.label + " stands in " + std::to_string(loops.size()) + " agent loops and touches " + array.name + ", which " +
                          std::to_string(count) + " of them hold",
                      sample(checker.execution, access.element).text(), access_location(leaf, source)};
  for (std::size_t d = 0; d < count; ++d) {
    isl_local_space* local = isl_local_space_from_space(leaf.points.space().release());
    isl_pw_aff* variable = isl_pw_aff_from_aff(isl_aff_var_on_domain(local, isl_dim_set, static_cast<unsigned>(loops[count - 1 - d].position)));
    // { L[v, b] -> the subscript }
    isl_map* subscript = access.element.copy();
    const auto outer = static_cast<unsigned>(array.outer_loops + d);
    const auto rank = static_cast<unsigned>(isl_map_dim(subscript, isl_dim_out));
    subscript = isl_map_project_out(subscript, isl_dim_out, outer + 1, rank - outer - 1);
    subscript = isl_map_project_out(subscript, isl_dim_out, 0, outer);
    const isl::map own = isl::manage(isl_map_from_pw_aff(variable));
    const isl::map found = isl::manage(isl_map_reset_tuple_id(subscript, isl_dim_out));
    const isl::map other = found.subtract(own);
    if (!other.is_empty())
      return Refutation{leaf.label + " touches elements of " + array.name + " that other agents hold", sample(checker.execution, other).text(), access_location(leaf, source)};
  }
  return {};
}

/// The printer names registers: a subscript that moves with a loop at run time cannot.
Outcome check_register(const Checker& checker, const Leaf& leaf, const PointAccess& access, const Access* source) {
  const ArrayUse& array = checker.execution.array_of(access);
  if (array.promoted == nullptr || array.promoted->space != "register") return {};
  for (auto d = static_cast<std::size_t>(array.promoted->agent_dims); d < access.corner.size(); ++d)
    if (!is_constant(checker, leaf, access.corner[d], access.element.domain()))
      return Refutation{"subscript " + std::to_string(d) + " of register array " + array.name + " in " + leaf.label +
                            " moves with a loop",
                        sample(checker.execution, access.element).text(), access_location(leaf, source)};
  return {};
}

Outcome check_access(const Checker& checker, const Leaf& leaf, const PointAccess& access, const std::string& verb,
                     const Access* source) {
  if (Outcome outcome = check_inside(checker.execution, leaf, access, verb, source)) return outcome;
  if (Outcome outcome = check_holder(checker, leaf, access, source)) return outcome;
  return check_register(checker, leaf, access, source);
}

}  // namespace

void check_bounds(Checker& checker) {
  const Execution& execution = checker.execution;
  for (const Leaf& leaf : execution.leaves) {
    checker.report.prove(
        obligation("bounds", leaf.label + " in kernel " + execution.kernel_name(leaf.kernel), leaf.where(),
                   kernel_entry(leaf.kernel, "tree")),
        [&]() -> Outcome {
          const Access* target = leaf.program != nullptr ? &leaf.program->write : nullptr;
          if (Outcome outcome = check_access(checker, leaf, leaf.write, "writes", target)) return outcome;
          for (std::size_t r = 0; r < leaf.reads.size(); ++r) {
            const Access* source = leaf.program != nullptr ? &leaf.program->reads[r] : nullptr;
            if (Outcome outcome = check_access(checker, leaf, leaf.reads[r], "reads", source)) return outcome;
          }
          return {};
        });
  }
}

}  // namespace tileopt::proof
