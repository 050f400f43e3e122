#include "passes/agent_crossings.h"

#include <algorithm>

#include "support/text.h"

namespace tileopt {

namespace {
struct Touch {
  std::string array;
  bool write;
  isl::map element;  ///< { S[dims] -> array[x] }, all points of the box
};

/// { S[dims] -> array[x] } of an access, with the box filled.
isl::map whole_box(const LeafStatement& leaf, const LeafAccess& access) {
  isl::map map = access.index.as_map().intersect_domain(leaf.domain);
  for (std::size_t b = 0; b < leaf.box.size(); ++b) {
    isl_space* elements = isl_space_range(isl_map_get_space(map.get()));
    isl_map* shift = isl_map_universe(isl_space_map_from_set(elements));
    // { X[x] -> X[x'] : x' = x + s t, 0 <= t < radix }
    shift = isl_map_add_dims(shift, isl_dim_param, 1);
    const auto parameter = static_cast<unsigned>(isl_map_dim(shift, isl_dim_param) - 1);
    shift = isl_map_set_dim_name(shift, isl_dim_param, parameter, "tileopt_box");
    shift = isl_map_lower_bound_si(shift, isl_dim_param, parameter, 0);
    shift = isl_map_upper_bound_si(shift, isl_dim_param, parameter, static_cast<int>(leaf.box[b].radix - 1));
    for (std::size_t d = 0; d < access.steps.size(); ++d) {
      isl_constraint* equal = isl_constraint_alloc_equality(isl_local_space_from_space(isl_map_get_space(shift)));
      equal = isl_constraint_set_coefficient_si(equal, isl_dim_out, static_cast<int>(d), -1);
      equal = isl_constraint_set_coefficient_si(equal, isl_dim_in, static_cast<int>(d), 1);
      equal = isl_constraint_set_coefficient_si(equal, isl_dim_param, static_cast<int>(parameter), static_cast<int>(access.steps[d][b]));
      shift = isl_map_add_constraint(shift, equal);
    }
    shift = isl_map_project_out(shift, isl_dim_param, parameter, 1);
    map = map.apply_range(isl::manage(shift));
  }
  return map;
}

class Finder {
 public:
  Finder(const PromotedSchedule& promoted, const Machine& machine) : promoted_(promoted), machine_(machine) {
    for (const LeafStatement& leaf : promoted.statements()) {
      std::vector<Touch> touches = {{leaf.write.array, true, whole_box(leaf, leaf.write)}};
      for (const LeafAccess& read : leaf.reads) touches.push_back({read.array, false, whole_box(leaf, read)});
      touches_.push_back(std::move(touches));
      axes_.push_back(axes_of(leaf));
    }
  }

  std::vector<SynchronizedSchedule::Crossing> run() const {
    std::vector<SynchronizedSchedule::Crossing> found;
    const auto& statements = promoted_.statements();
    for (std::size_t i = 0; i < statements.size(); ++i)
      for (std::size_t j = i; j < statements.size(); ++j)
        if (const std::string array = crossing_array(i, j); !array.empty()) found.push_back({statements[i].name, statements[j].name, array});
    return found;
  }

 private:
  LevelKind kind_of(const std::string& dim) const { return machine_.find_level(promoted_.level(dim))->kind; }

  /// Positions of the agent digits, innermost first.
  std::vector<std::size_t> axes_of(const LeafStatement& leaf) const {
    std::vector<std::size_t> axes;
    for (std::size_t d = leaf.dims.size(); d-- > 0;)
      if (kind_of(leaf.dims[d]) == LevelKind::barrier) axes.push_back(d);
    return axes;
  }

  /// Whoever meets in a slot is joined by what shift_copies places.
  bool is_ringed(const std::string& array) const {
    return std::any_of(promoted_.arrays().begin(), promoted_.arrays().end(), [&](const Array& a) { return a.name == array && !a.ring.empty(); });
  }

  /// An array of one agent is seen by no other.
  bool belongs_to_agent(const std::string& array) const {
    for (const Array& a : promoted_.arrays()) {
      if (a.name != array) continue;
      const Space* space = machine_.find_space(a.space);
      const Level* level = space == nullptr ? nullptr : machine_.find_level(space->level);
      return level != nullptr && level->kind == LevelKind::barrier;
    }
    return false;
  }

  std::string crossing_array(std::size_t i, std::size_t j) const {
    const LeafStatement& first = promoted_.statements()[i];
    const LeafStatement& second = promoted_.statements()[j];
    for (const Touch& a : touches_[i])
      for (const Touch& b : touches_[j]) {
        if (a.array != b.array || !(a.write || b.write) || belongs_to_agent(a.array) || is_ringed(a.array)) continue;
        isl::map meeting = a.element.apply_range(b.element.reverse());
        if (meeting.is_empty()) continue;
        meeting = in_one_block(meeting, first, second);
        if (!meeting.subtract(one_agent(meeting, i, j)).is_empty()) return a.array;
      }
    return "";
  }

  isl::map in_one_block(const isl::map& pairs, const LeafStatement& first, const LeafStatement& second) const {
    isl_map* map = pairs.copy();
    for (std::size_t d = 0; d < first.dims.size(); ++d) {
      if (kind_of(first.dims[d]) != LevelKind::independent) continue;
      const auto other = std::find(second.dims.begin(), second.dims.end(), first.dims[d]);
      if (other == second.dims.end()) continue;
      map = isl_map_equate(map, isl_dim_in, static_cast<int>(d), isl_dim_out, static_cast<int>(other - second.dims.begin()));
    }
    return isl::manage(map);
  }

  std::vector<long> radices(std::size_t i) const {
    std::vector<long> result;
    for (const std::size_t d : axes_[i]) result.push_back(promoted_.radix(promoted_.statements()[i].dims[d]));
    return result;
  }

  /// The pairs of `pairs` that one agent runs.
  isl::map one_agent(const isl::map& pairs, std::size_t i, std::size_t j) const {
    isl_map* map = pairs.copy();
    const std::vector<long> first = radices(i), second = radices(j);
    if (first == second) {  // equal numbers have equal digits
      for (std::size_t axis = 0; axis < first.size(); ++axis)
        map = isl_map_equate(map, isl_dim_in, static_cast<int>(axes_[i][axis]), isl_dim_out, static_cast<int>(axes_[j][axis]));
      return isl::manage(map);
    }
    isl_constraint* equal = isl_constraint_alloc_equality(isl_local_space_from_space(isl_map_get_space(map)));
    const auto add = [&](isl_dim_type type, const std::vector<std::size_t>& axes, const std::vector<long>& radix, int sign) {
      int weight = sign;
      for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        equal = isl_constraint_set_coefficient_si(equal, type, static_cast<int>(axes[axis]), weight);
        weight *= static_cast<int>(std::max(1L, radix[axis]));
      }
    };
    add(isl_dim_in, axes_[i], first, 1);
    add(isl_dim_out, axes_[j], second, -1);
    return isl::manage(isl_map_add_constraint(map, equal));
  }

  const PromotedSchedule& promoted_;
  const Machine& machine_;
  std::vector<std::vector<Touch>> touches_;
  std::vector<std::vector<std::size_t>> axes_;
};
}  // namespace

std::vector<SynchronizedSchedule::Crossing> find_crossings(const PromotedSchedule& promoted, const Machine& machine) {
  return Finder(promoted, machine).run();
}

namespace {
/// The first `agent_dims` subscripts are the agent digits around the leaf, outermost first: it touches what its own agent holds.
bool is_own(const PromotedSchedule& promoted, const Machine& machine, const LeafStatement& leaf, const LeafAccess& access, int agent_dims) {
  std::vector<std::size_t> agents;
  for (std::size_t d = 0; d < leaf.dims.size(); ++d)
    if (machine.find_level(promoted.level(leaf.dims[d]))->kind == LevelKind::barrier) agents.push_back(d);
  if (agents.size() != static_cast<std::size_t>(agent_dims)) return false;
  for (std::size_t k = 0; k < agents.size(); ++k) {
    for (const long step : access.steps[k])
      if (step != 0) return false;
    isl_local_space* local = isl_local_space_from_space(isl_set_get_space(leaf.domain.get()));
    isl_pw_aff* variable = isl_pw_aff_from_aff(isl_aff_var_on_domain(local, isl_dim_set, static_cast<unsigned>(agents[k])));
    const isl::set other = isl::manage(isl_pw_aff_ne_set(isl_pw_multi_aff_get_pw_aff(access.index.get(), static_cast<int>(k)), variable));
    if (!other.intersect(leaf.domain).is_empty()) return false;
  }
  return true;
}
}  // namespace

std::optional<Infeasible> find_shared_owner(const PromotedSchedule& promoted, const Machine& machine) {
  const auto depth = [&](const std::string& level) {
    return std::find_if(machine.levels.begin(), machine.levels.end(), [&](const Level& l) { return l.name == level; }) - machine.levels.begin();
  };
  for (const Array& array : promoted.arrays()) {
    const Space* space = machine.find_space(array.space);
    if (space == nullptr || space->level.empty()) continue;
    for (const LeafStatement& leaf : promoted.statements()) {
      std::vector<const LeafAccess*> touching;
      if (leaf.write.array == array.name) touching.push_back(&leaf.write);
      for (const LeafAccess& read : leaf.reads)
        if (read.array == array.name) touching.push_back(&read);
      if (touching.empty()) continue;
      const auto scope = std::find(leaf.dims.begin(), leaf.dims.end(), array.scope);
      if (array.agent_dims > 0) {
        if (std::all_of(touching.begin(), touching.end(), [&](const LeafAccess* access) { return is_own(promoted, machine, leaf, *access, array.agent_dims); })) continue;
        const std::string name = promoted.plan().name;
        return Infeasible{"legality", "place_barriers", name, "kernels[" + name + "].promotions[" + array.name + "]",
                          "statement " + leaf.name + " would touch elements of array " + array.name + " that other agents hold"};
      }
      for (auto dim = array.scope.empty() ? leaf.dims.begin() : scope == leaf.dims.end() ? scope : scope + 1; dim != leaf.dims.end(); ++dim) {
        const Level* level = machine.find_level(promoted.level(*dim));
        const bool parallel = level->kind == LevelKind::independent || level->kind == LevelKind::barrier;
        if (!parallel || depth(level->name) > depth(space->level)) continue;
        const std::string name = promoted.plan().name;
        return Infeasible{"legality", "place_barriers", name, "kernels[" + name + "].promotions[" + array.name + "]",
                          "array " + array.name + " of space " + array.space + " belongs to one " + space->level + ", and iterations of digit " + *dim +
                              " on level " + level->name + " would share it"};
      }
    }
  }
  return std::nullopt;
}

}  // namespace tileopt
