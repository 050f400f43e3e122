#include "verify/spaces.h"

namespace tileopt::proof {

isl::space named_space(const Program& program, const std::string& name, unsigned dims) {
  const auto& parameters = program.parameters();
  isl_ctx* context = program.ctx().get();
  isl_space* space = isl_space_set_alloc(context, static_cast<unsigned>(parameters.size()), dims);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    space = isl_space_set_dim_name(space, isl_dim_param, static_cast<unsigned>(i), parameters[i].c_str());
  return isl::manage(isl_space_set_tuple_name(space, isl_dim_set, name.c_str()));
}

isl::pw_multi_aff tuple_function(const isl::space& domain, const std::string& name, const std::vector<isl::pw_aff>& values) {
  isl_ctx* context = isl_space_get_ctx(domain.get());
  isl_space* space = isl_space_from_domain(domain.copy());
  space = isl_space_add_dims(space, isl_dim_out, static_cast<unsigned>(values.size()));
  space = isl_space_set_tuple_name(space, isl_dim_out, name.c_str());
  if (values.empty()) return isl::manage(isl_pw_multi_aff_from_multi_aff(isl_multi_aff_zero(space)));
  isl_pw_aff_list* list = isl_pw_aff_list_alloc(context, static_cast<int>(values.size()));
  for (const isl::pw_aff& value : values) list = isl_pw_aff_list_add(list, value.copy());
  return isl::manage(isl_pw_multi_aff_from_multi_pw_aff(isl_multi_pw_aff_from_pw_aff_list(space, list)));
}

isl::set promoted_elements(const Program& program, const std::string& key, std::size_t outer,
                           const std::vector<long>& extents) {
  isl::set elements = isl::set::universe(named_space(program, key, static_cast<unsigned>(outer + extents.size())));
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const auto position = static_cast<unsigned>(outer + d);
    elements = isl::manage(isl_set_lower_bound_si(elements.release(), isl_dim_set, position, 0));
    isl_val* last = isl_val_int_from_si(program.ctx().get(), extents[d] - 1);
    elements = isl::manage(isl_set_upper_bound_val(elements.release(), isl_dim_set, position, last));
  }
  return elements;
}

}  // namespace tileopt::proof
