#include "legal_choices.h"

#include <algorithm>

#include "support/text.h"

namespace tileopt::testing {

namespace {
/// { S[iterators] -> [members] }
isl::map member_map(isl::ctx ctx, const StatementMembers& members) { return isl::map(ctx, members.map); }
}  // namespace

OrderChoices::OrderChoices(const Program& program, const Dependences& dependences, const KernelPlan& plan) {
  std::map<std::string, isl::map> maps;
  for (const std::string& name : plan.statements) {
    members_[name] = plan.members.at(name).members;
    maps.emplace(name, member_map(program.ctx(), plan.members.at(name)));
  }
  const auto collect = [&](const isl::union_map& relation, std::vector<Pair>& pairs) {
    for (const isl::map& map : poly::sorted_maps(relation)) {
      const std::string from = poly::input_name(map), to = poly::output_name(map);
      if (maps.count(from) == 0 || maps.count(to) == 0) continue;
      pairs.push_back({from, to, map.apply_domain(maps.at(from)).apply_range(maps.at(to))});
    }
  };
  collect(dependences.validity(), validity_);
  collect(dependences.all(), racing_);
}

int OrderChoices::position(const std::string& statement, const std::string& member) const {
  const std::vector<std::string>& members = members_.at(statement);
  const auto found = std::find(members.begin(), members.end(), member);
  return found == members.end() ? -1 : static_cast<int>(found - members.begin());
}

bool OrderChoices::exists(const std::vector<Pair>& pairs, const std::string& from, const std::string& to,
                          const std::vector<std::pair<std::string, Change>>& changes) const {
  for (const Pair& pair : pairs) {
    if (pair.from != from || pair.to != to) continue;
    isl_map* map = pair.members.copy();
    for (const auto& [member, change] : changes) {
      const int in = position(from, member), out = position(to, member);
      if (in < 0 || out < 0) continue;
      switch (change) {
        case Change::same: map = isl_map_equate(map, isl_dim_in, in, isl_dim_out, out); break;
        case Change::up: map = isl_map_order_lt(map, isl_dim_in, in, isl_dim_out, out); break;
        case Change::down: map = isl_map_order_gt(map, isl_dim_in, in, isl_dim_out, out); break;
      }
    }
    if (!isl::manage(map).is_empty()) return true;
  }
  return false;
}

bool OrderChoices::may_pass(const std::string& outer, const std::string& inner, const std::vector<std::string>& around,
                            const std::vector<std::string>& statements) const {
  return once("pass " + outer + " " + inner + " " + join(around, ",") + " " + join(statements, ","), [&] {
    std::vector<std::pair<std::string, Change>> changes = {{outer, Change::up}, {inner, Change::down}};
    for (const std::string& member : around) changes.emplace_back(member, Change::same);
    for (const std::string& from : statements)
      for (const std::string& to : statements)
        if (exists(validity_, from, to, changes)) return false;
    return true;
  });
}

bool OrderChoices::may_enter(const std::string& outer, const std::vector<Tree::Branch>& branches, const std::vector<std::string>& around) const {
  std::string question = "enter " + outer + " " + join(around, ",");
  for (const Tree::Branch& branch : branches) question += " ; " + join(branch.statements, ",");
  return once(question, [&] {
    std::vector<std::pair<std::string, Change>> changes = {{outer, Change::up}};
    for (const std::string& member : around) changes.emplace_back(member, Change::same);
    for (std::size_t later = 1; later < branches.size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier)
        for (const std::string& from : branches[later].statements)
          for (const std::string& to : branches[earlier].statements)
            if (exists(validity_, from, to, changes)) return false;
    return true;
  });
}

bool OrderChoices::may_run_at_once(const std::string& member, const std::vector<std::string>& statements) const {
  return once("at once " + member + " " + join(statements, ","), [&] {
    for (const std::string& from : statements)
      for (const std::string& to : statements)
        for (const Change change : {Change::up, Change::down})
          if (exists(racing_, from, to, {{member, change}})) return false;
    return true;
  });
}

namespace {
/// Statements below every occurrence of a band, with the bands down to it.
struct Place {
  std::vector<std::string> prefix, statements;
};
void collect_places(const Tree& tree, const std::vector<std::string>& active, std::vector<std::string> prefix, std::vector<Place>& places) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: return;
    case Tree::Kind::band:
      prefix.push_back(tree.dim());
      places.push_back({prefix, active});
      return collect_places(tree.child(), active, prefix, places);
    case Tree::Kind::allocate:
    case Tree::Kind::nested: return collect_places(tree.child(), active, prefix, places);
    case Tree::Kind::sequence:
      for (const Tree::Branch& branch : tree.branches()) collect_places(branch.tree, branch.statements, prefix, places);
  }
}

/// { S[digits] -> P[prefix] }
isl::map to_prefix(const StatementSpace& space, const std::vector<std::string>& prefix) {
  isl_map* map = isl_map_identity(isl_space_map_from_set(isl_set_get_space(space.domain.get())));
  map = isl_map_intersect_domain(map, space.domain.copy());
  map = isl_map_reset_tuple_id(map, isl_dim_out);
  for (std::size_t d = space.dims.size(); d-- > 0;)
    if (!contains(prefix, space.dims[d])) map = isl_map_project_out(map, isl_dim_out, static_cast<unsigned>(d), 1);
  return isl::manage(isl_map_set_tuple_name(map, isl_dim_out, "P"));
}

/// The order of a statement's digits differs from that of the bands; all statements must name the prefix alike.
bool same_order(const StatementSpace& space, const std::vector<std::string>& prefix, std::vector<std::string>& order) {
  std::vector<std::string> kept;
  for (const std::string& dim : space.dims)
    if (contains(prefix, dim)) kept.push_back(dim);
  if (order.empty()) order = kept;
  return order == kept && kept.size() == prefix.size();
}
}  // namespace

std::vector<KeepChoice> keep_choices(const DigitSchedule& digits, long most) {
  const KernelPlan& plan = digits.plan();
  const Program& program = digits.kernel().program();
  std::vector<Place> places;
  collect_places(digits.tree(), plan.statements, {}, places);
  std::vector<KeepChoice> choices;
  for (const Place& place : places) {
    std::map<std::string, isl::map> reach;  // tensor -> { P[prefix] -> tensor[..] }
    std::vector<std::string> unusable, order;
    for (const std::string& name : place.statements) {
      const StatementSpace& space = digits.statement(name);
      const Statement& statement = program.statement(name);
      bool bounded = same_order(space, place.prefix, order);
      for (const std::string& dim : space.dims)
        bounded = bounded && (contains(place.prefix, dim) || plan.find_digit(dim)->radix > 0);
      std::vector<const Access*> accesses = {&statement.write};
      for (const Access& read : statement.reads) accesses.push_back(&read);
      for (const Access* access : accesses) {
        if (!bounded) {
          unusable.push_back(access->tensor);
          continue;
        }
        const isl::map here = space.to_program.apply_range(access->index.as_map()).apply_domain(to_prefix(space, place.prefix));
        const auto found = reach.find(access->tensor);
        if (found == reach.end()) reach.emplace(access->tensor, here);
        else found->second = found->second.unite(here);
      }
    }
    for (const auto& [tensor, map] : reach) {
      if (contains(unusable, tensor) || program.tensor(tensor).shape.empty()) continue;
      const isl::fixed_box box = map.coalesce().range_simple_fixed_box_hull();
      if (!box.is_valid()) continue;
      KeepChoice choice{tensor, place.prefix.back(), place.statements.front(), {}};
      long elements = 1;
      const isl::multi_val size = box.size();
      for (std::size_t d = 0; d < program.tensor(tensor).shape.size() && elements <= most; ++d) {
        const isl::val extent = isl::manage(isl_multi_val_get_val(size.get(), static_cast<int>(d)));
        const long value = extent.is_int() && isl_val_cmp_si(extent.get(), most) <= 0 ? extent.num_si() : most + 1;
        choice.size.push_back(value);
        elements *= value;
      }
      if (elements <= most) choices.push_back(std::move(choice));
    }
  }
  return choices;
}

}  // namespace tileopt::testing
