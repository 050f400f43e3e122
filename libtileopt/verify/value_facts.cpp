#include "verify/value_facts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "verify/ast_expr_reader.h"

namespace tileopt::proof {

namespace {

/// The number of the read that a guard's value is, widened at most: order and equality of the values are those of the elements.
std::optional<std::size_t> element_read(ExprPtr value) {
  while (const auto* cast = std::get_if<Cast>(&value->node)) {
    if (!widens_exactly(cast->operand->type, value->type)) return std::nullopt;
    value = cast->operand;
  }
  const auto* read = std::get_if<Read>(&value->node);
  return read != nullptr ? std::optional<std::size_t>(read->access) : std::nullopt;
}

/// Where a value comes from: an element { P[..] -> T[x] } of a tensor whose values are the same from beginning to end.
struct Source {
  const Tensor* tensor;
  isl::map element;
};

std::size_t count_writers(const Program& program, const std::string& tensor) {
  return static_cast<std::size_t>(std::count_if(program.statements().begin(), program.statements().end(),
                                                [&](const Statement& statement) { return statement.write.tensor == tensor; }));
}

/// The element itself, or what a local's only statement copied there, once for every element.
std::optional<Source> source_of(const Program& program, const std::string& tensor, const isl::map& element) {
  if (!program.has_tensor(tensor)) return std::nullopt;
  const std::size_t writers = count_writers(program, tensor);
  if (writers == 0) return Source{&program.tensor(tensor), element};
  if (writers > 1 || program.tensor(tensor).role != TensorRole::local) return std::nullopt;
  for (const Statement& statement : program.statements()) {
    if (statement.write.tensor != tensor) continue;
    const std::optional<std::size_t> read = element_read(statement.body);
    if (!read || statement.combine != Combine::assign || statement.conditional()) return std::nullopt;
    const Access& from = statement.reads.at(*read);
    const isl::map writer = statement.write.index.as_map().reverse();
    if (!writer.is_single_valued() || count_writers(program, from.tensor) != 0) return std::nullopt;
    return Source{&program.tensor(from.tensor), element.apply_range(writer).apply_range(from.index.as_map())};
  }
  return std::nullopt;
}

isl::map dimension(const isl::set& points, unsigned position) {
  isl_local_space* local = isl_local_space_from_space(points.space().release());
  const isl::pw_aff value = isl::manage(isl_pw_aff_from_aff(isl_aff_var_on_domain(local, isl_dim_set, position)));
  return value.as_map();
}

/// Two elements of one tensor: { T[x] -> T[y] } that are the same, that differ, or of which y is `later` in the row of x.
struct ElementPairs {
  isl::map same, other, later, earlier;

  explicit ElementPairs(const isl::set& elements) {
    const isl::set all = isl::set::universe(elements.space());
    const int rank = static_cast<int>(isl_set_dim(elements.get(), isl_dim_set));
    same = isl::manage(isl_set_identity(all.copy()));
    const isl::map any = isl::manage(isl_map_from_domain_and_range(all.copy(), all.copy()));
    other = any.subtract(same);
    isl_map* row = any.copy();
    for (int d = 0; d + 1 < rank; ++d) row = isl_map_equate(row, isl_dim_in, d, isl_dim_out, d);
    row = rank > 0 ? isl_map_order_lt(row, isl_dim_in, rank - 1, isl_dim_out, rank - 1) : row;
    later = isl::manage(row);
    if (rank == 0) later = isl::map::empty(any.space());
    earlier = later.reverse();
  }
};

/// { [v] -> [w] }
isl::map values(isl::ctx context, const std::string& relation) { return isl::map(context, "{ [v] -> [w] : " + relation + " }"); }

/// Pairs of points whose elements are in `elements` and whose values then are not in `values`.
isl::map contradiction(const Condition& first, const Condition& second, const isl::map& elements, const isl::map& possible) {
  const isl::map meet = first.element.apply_range(elements).apply_range(second.element.reverse());
  const isl::map agree = first.value.apply_range(possible).apply_range(second.value.reverse());
  return meet.subtract(agree);
}

isl::map without_contradictions(isl::map pairs, const Condition& first, const Condition& second) {
  const isl::ctx context = pairs.ctx();
  const ElementPairs relation(first.tensor->elements(context));
  const ValueFacts& facts = first.tensor->facts;
  pairs = pairs.subtract(contradiction(first, second, relation.same, values(context, "v = w")));
  if (facts.injective) pairs = pairs.subtract(contradiction(first, second, relation.other, values(context, "v != w")));
  if (facts.monotone) {
    pairs = pairs.subtract(contradiction(first, second, relation.later, values(context, "v <= w")));
    pairs = pairs.subtract(contradiction(first, second, relation.earlier, values(context, "v >= w")));
  }
  return pairs;
}

}  // namespace

std::vector<Condition> conditions_of(const Program& program, const Statement& statement) {
  std::vector<Condition> conditions;
  for (const Guard& guard : statement.guards) {
    const std::optional<std::size_t> read = element_read(guard.value);
    if (!read) continue;
    const Access& access = statement.reads.at(*read);
    const std::optional<Source> source = source_of(program, access.tensor, access.index.as_map());
    if (!source) continue;
    conditions.push_back({source->tensor, source->element, dimension(statement.domain, static_cast<unsigned>(guard.iterator))});
  }
  return conditions;
}

std::vector<Condition> conditions_of(const Execution& execution, const Leaf& leaf) {
  std::vector<Condition> conditions;
  if (leaf.program != nullptr)
    for (const Condition& condition : conditions_of(*execution.program, *leaf.program))
      conditions.push_back({condition.tensor, leaf.instance.apply_range(condition.element), leaf.instance.apply_range(condition.value)});
  std::map<std::string, unsigned> positions;
  for (std::size_t i = 0; i < leaf.loops.size(); ++i) positions.emplace(leaf.loops[i], static_cast<unsigned>(i));
  const AstExprReader reader(leaf.points.space(), positions);
  for (const std::size_t id : leaf.loop_ids) {
    const LoopUse& loop = execution.loops[id];
    if (!loop.node->binding) continue;
    const AstBinding& binding = *loop.node->binding;
    const auto bound = (*execution.kernels)[loop.kernel].statements.find(binding.leaf);
    if (bound == (*execution.kernels)[loop.kernel].statements.end() || !execution.program->has_statement(bound->second.statement)) continue;
    const Statement& source = execution.program->statement(bound->second.statement);
    if (binding.guard >= source.guards.size()) continue;
    const std::optional<std::size_t> read = element_read(source.guards[binding.guard].value);
    if (!read || binding.reads.count(*read) == 0 || *read >= bound->second.read_arrays.size()) continue;
    const std::string& array = bound->second.read_arrays[*read];
    if (!execution.program->has_tensor(array)) continue;
    const Tensor& tensor = execution.program->tensor(array);
    if (binding.reads.at(*read).size() != tensor.shape.size()) continue;
    const isl::set all = isl::set::universe(tensor.elements(leaf.points.ctx()).space());
    isl::map element = isl::manage(isl_map_from_domain_and_range(leaf.points.copy(), all.copy()));
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
      const isl::map subscript = dimension(all, static_cast<unsigned>(d));
      element = element.intersect(reader.value(binding.reads.at(*read)[d], leaf.points).as_map().apply_range(subscript.reverse()));
    }
    const std::optional<Source> from = source_of(*execution.program, array, element);
    if (from) conditions.push_back({from->tensor, from->element, dimension(leaf.points, static_cast<unsigned>(loop.depth))});
  }
  return conditions;
}

isl::map possible_pairs(isl::map pairs, const std::vector<Condition>& first, const std::vector<Condition>& second) {
  for (const Condition& a : first)
    for (const Condition& b : second)
      if (a.tensor == b.tensor && !pairs.is_empty()) pairs = without_contradictions(pairs, a, b);
  return pairs;
}

}  // namespace tileopt::proof
