#include "search/versions.h"

#include <algorithm>

#include "interpreter/flat_affine.h"

namespace tileopt {

namespace {
/// With the sizes that it is about alone.
std::string text_of(const isl::set& sizes) {
  isl_set* set = sizes.coalesce().release();
  for (int p = static_cast<int>(isl_set_dim(set, isl_dim_param)) - 1; p >= 0; --p)
    if (isl_set_involves_dims(set, isl_dim_param, static_cast<unsigned>(p), 1) == isl_bool_false) set = isl_set_project_out(set, isl_dim_param, static_cast<unsigned>(p), 1);
  return poly::to_text(isl::manage(set));
}
}  // namespace

std::optional<SizeSplit> split_sizes(const Program& program, const std::vector<isl::pw_aff>& excess) {
  if (excess.empty()) return std::nullopt;
  // The opposite of a conjunction is a union; of a sum that none of them makes smaller it is one conjunction, which later sets stay small by.
  isl::set holds(program.ctx(), "{ : }");
  isl::pw_aff sum = excess.front();
  for (std::size_t i = 0; i < excess.size(); ++i) {
    holds = holds.intersect(isl::manage(isl_pw_aff_zero_set(excess[i].copy())));
    const bool known = std::any_of(excess.begin(), excess.begin() + static_cast<long>(i), [&](const isl::pw_aff& e) { return isl_pw_aff_is_equal(e.get(), excess[i].get()) == isl_bool_true; });
    if (i > 0 && !known) sum = sum.add(excess[i]);
  }
  const isl::set fails = isl::manage(isl_pw_aff_pos_set(sum.copy()));
  if (program.context().is_disjoint(holds) || program.context().is_disjoint(fails)) return std::nullopt;
  TILEOPT_CHECK(holds.is_disjoint(fails) && program.context().is_subset(holds.unite(fails)), "an excess of the sizes is never negative");
  return SizeSplit{text_of(holds), text_of(fails)};
}

Plan running_at(const Plan& plan, const Program& rewritten, const TypicalSizes& sizes) {
  Plan running = plan;
  std::erase_if(running.kernels, [&](const KernelPlan& kernel) {
    return !kernel.when.empty() && fix_parameters(read_when(rewritten, kernel.when, kernel.name), sizes).is_empty();
  });
  return running;
}

}  // namespace tileopt
