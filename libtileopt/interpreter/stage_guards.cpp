#include "interpreter/stage_guards.h"

#include <algorithm>
#include <optional>

namespace tileopt {

LeafCorner& StageGuard::at(const std::int64_t* point) {
  for (std::size_t i = 0; i < outer_.size(); ++i) values_[i] = point[outer_[i]];
  return *this;
}

namespace {
bool evaluate(const FlatFunction& function, std::vector<std::int64_t>& values, std::size_t count, std::int64_t* results) {
  const FlatFunction::Piece* piece = function.find(values.data(), count);
  if (piece == nullptr) return false;
  for (std::size_t i = 0; i < piece->outputs.size(); ++i) results[i] = piece->outputs[i].value(values.data(), count);
  return true;
}

/// `relation` { X[dims] -> .. } over the dimensions in `kept` alone, as a function; nothing where it is none.
std::optional<FlatFunction> over(const isl::map& relation, const std::vector<std::size_t>& kept, const Sizes& sizes) {
  isl_map* map = relation.copy();
  for (auto d = static_cast<std::size_t>(isl_map_dim(map, isl_dim_in)); d-- > 0;)
    if (std::find(kept.begin(), kept.end(), d) == kept.end()) map = isl_map_project_out(map, isl_dim_in, static_cast<unsigned>(d), 1);
  const isl::map outer = isl::manage(map);
  if (!outer.is_single_valued()) return std::nullopt;
  return flatten_function(poly::as_function(outer), outer.domain(), sizes);
}

/// The dimension that the iterator is, or nothing.
std::optional<std::size_t> dimension_of(const isl::map& to_program, std::size_t iterator) {
  const auto count = static_cast<std::size_t>(isl_map_dim(to_program.get(), isl_dim_in));
  for (std::size_t d = 0; d < count; ++d) {
    isl_map* equal = isl_map_universe(to_program.space().release());
    equal = isl_map_equate(equal, isl_dim_in, static_cast<int>(d), isl_dim_out, static_cast<int>(iterator));
    if (to_program.is_subset(isl::manage(equal))) return d;
  }
  return std::nullopt;
}
}  // namespace

bool StageGuard::read(std::size_t access, std::int64_t* subscripts) { return evaluate(reads_[access], values_, outer_.size(), subscripts); }
bool StageGuard::index(std::size_t number, std::int64_t* value) { return evaluate(indices_[number], values_, outer_.size(), value); }

std::vector<std::unique_ptr<StageGuard>> known_guards(const Statement& statement, const std::vector<std::string>& dims,
                                                      const std::vector<std::string>& path, const isl::map& to_program, const Sizes& sizes) {
  std::vector<std::unique_ptr<StageGuard>> known;
  if (to_program.is_empty()) return known;
  for (std::size_t g = 0; g < statement.guards.size(); ++g) {
    const Guard& guard = statement.guards[g];
    const std::optional<std::size_t> dimension = dimension_of(to_program, guard.iterator);
    if (!dimension) continue;
    auto found = std::make_unique<StageGuard>();
    found->dimension = *dimension;
    found->guard = g;
    const auto band = std::find(path.begin(), path.end(), dims[*dimension]);
    if (band == path.end()) continue;
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (std::find(path.begin(), band, dims[d]) != band) found->outer_.push_back(d);
    found->reads_.resize(statement.reads.size());
    found->indices_.resize(statement.indices.size());
    bool complete = true;
    std::size_t divs = 0;
    const auto add = [&](FlatFunction& function, const isl::map& relation) {
      const std::optional<FlatFunction> made = over(to_program.apply_range(relation), found->outer_, sizes);
      complete = complete && made.has_value();
      if (!made) return;
      function = *made;
      divs = std::max(divs, count_divs(function));
    };
    walk_expr(guard.value, [&](const Expr& e) {
      if (const auto* read = std::get_if<Read>(&e.node)) add(found->reads_[read->access], statement.reads[read->access].index.as_map());
      if (const auto* index = std::get_if<IndexValue>(&e.node)) add(found->indices_[index->index], statement.indices[index->index].as_map());
    });
    if (!complete) continue;
    found->values_.resize(found->outer_.size() + divs + 1);
    known.push_back(std::move(found));
  }
  return known;
}

}  // namespace tileopt
