#include "verify/witness.h"

#include "support/error.h"
#include "support/text.h"

namespace tileopt::proof {

std::string initial_name(const std::string& tensor) { return "initial_" + tensor; }

namespace {

std::vector<long> coordinates(const isl::set& point) {
  isl_point* sampled = isl_set_sample_point(point.copy());
  std::vector<long> values;
  const int count = isl_set_dim(point.get(), isl_dim_set);
  for (int i = 0; i < count; ++i) {
    isl_val* value = isl_point_get_coordinate_val(sampled, isl_dim_set, i);
    values.push_back(isl_val_get_num_si(value));
    isl_val_free(value);
  }
  isl_point_free(sampled);
  return values;
}

std::string assignments(const std::vector<std::string>& names, const std::vector<long>& values, std::size_t first) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < names.size() && first + i < values.size(); ++i)
    parts.push_back(names[i] + " = " + std::to_string(values[first + i]));
  return join(parts, ", ");
}

std::string plain_tuple(const std::string& name, const std::vector<long>& values, std::size_t first) {
  std::vector<std::string> parts;
  for (std::size_t i = first; i < values.size(); ++i) parts.push_back(std::to_string(values[i]));
  return name + "[" + join(parts, ", ") + "]";
}

class Describer {
 public:
  Describer(const Execution& execution, Tuples tuples) : execution_(execution), tuples_(tuples) {}

  /// `point`: a single integer point without free parameters.
  void add(const isl::set& point, std::vector<std::string>& parts) const {
    if (isl_set_is_wrapping(point.get()) == isl_bool_true) {
      const isl::map pair = point.unwrap();
      add(pair.domain(), parts);
      add(pair.range(), parts);
      return;
    }
    const std::string text = tuple(point);
    if (parts.empty() || parts.back() != text) parts.push_back(text);
  }

 private:
  std::string tuple(const isl::set& point) const {
    const std::string name = poly::tuple_name(point);
    const std::vector<long> values = coordinates(point);
    for (const Leaf& leaf : execution_.leaves)
      if (leaf.key == name) return leaf_point(leaf, point, values);
    for (const Sync& sync : execution_.syncs)
      if (sync.key == name) return sync.label + (values.empty() ? "" : " at " + assignments(sync.loops, values, 0));
    for (const Tensor& tensor : execution_.program->tensors())
      if (name == initial_name(tensor.name)) return "the initial value of " + plain_tuple(tensor.name, values, 0);
    for (const ArrayUse& array : execution_.arrays)
      if (array.key == name && array.promoted != nullptr) return plain_tuple(array.name, values, array.outer_loops);
    for (const Statement& statement : execution_.program->statements())
      if (statement.name == name && (tuples_ == Tuples::instances || !execution_.program->has_tensor(name)))
        return name + "[" + assignments(statement.iterators, values, 0) + "]";
    if (name == zero_name) return "a zero of the fill";
    return plain_tuple(name, values, 0);
  }

  std::string leaf_point(const Leaf& leaf, const isl::set& point, const std::vector<long>& values) const {
    std::string text = leaf.label;
    const std::string loops = assignments(leaf.loops, values, 0);
    const std::string box = assignments(leaf.box, values, leaf.loops.size());
    if (!loops.empty()) text += " at " + loops;
    if (!box.empty()) text += (loops.empty() ? " at" : ",") + std::string(" box point ") + box;
    if (leaf.is_copy()) return text;
    const isl::set instance = leaf.instance.intersect_domain(point).range();
    if (instance.is_empty()) return text;
    return text + " (" + plain_tuple(leaf.program->name, coordinates(instance), 0) + ")";
  }

  const Execution& execution_;
  Tuples tuples_;
};

std::string parameter_values(const isl::set& point) {
  std::vector<std::string> parts;
  const int count = isl_set_dim(point.get(), isl_dim_param);
  for (int i = 0; i < count; ++i) {
    const auto position = static_cast<unsigned>(i);
    isl::val value = isl::manage(isl_set_plain_get_val_if_fixed(point.get(), isl_dim_param, position));
    if (!value.is_int()) continue;
    parts.push_back(std::string(isl_set_get_dim_name(point.get(), isl_dim_param, position)) + " = " + std::to_string(value.num_si()));
  }
  return join(parts, ", ");
}

}  // namespace

std::string Witness::text() const { return (sizes.empty() ? "" : sizes + ": ") + join(parts, " | "); }

namespace {
isl::set sample_set(const Execution& execution, const isl::set& set) {
  const isl::set within = set.intersect_params(execution.context);
  return isl::manage(isl_set_from_point(isl_set_sample_point(within.copy())));
}

/// One point of a non-empty set, sizes fixed: { X[x] }.
isl::union_set one_point(const Execution& execution, const isl::union_set& set) {
  for (const isl::set& piece : poly::sorted_sets(set))
    if (!piece.is_empty()) return sample_set(execution, piece).to_union_set();
  return set;
}
}  // namespace

std::string difference(const Execution& execution, const isl::union_map& wrong, const isl::union_map& wanted, Tuples tuples) {
  const isl::union_set reader = one_point(execution, wrong.domain());
  const Witness have = sample(execution, wrong.intersect_domain(reader), tuples);
  const Witness want = sample(execution, wanted.intersect_domain(reader), tuples);
  return have.text() + " instead of " + (want.parts.empty() ? "nothing" : want.parts.back());
}

Witness sample(const Execution& execution, const isl::set& set, Tuples tuples) {
  const isl::set point = sample_set(execution, set);
  Witness witness;
  witness.sizes = parameter_values(point);
  Describer(execution, tuples).add(point, witness.parts);
  return witness;
}
Witness sample(const Execution& execution, const isl::map& map, Tuples tuples) { return sample(execution, map.wrap(), tuples); }
Witness sample(const Execution& execution, const isl::union_map& map, Tuples tuples) {
  for (const isl::map& piece : poly::sorted_maps(map))
    if (!piece.is_empty()) return sample(execution, piece, tuples);
  return {};
}

}  // namespace tileopt::proof
