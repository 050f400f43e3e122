#include "passes/effective_pairs.h"

#include <optional>

#include "support/text.h"

namespace tileopt {

namespace {
/// The read below casts that keep the order of values.
const Read* plain_read(const ExprPtr& expr) {
  if (const auto* read = std::get_if<Read>(&expr->node)) return read;
  const auto* cast = std::get_if<Cast>(&expr->node);
  return cast != nullptr && widens_exactly(cast->operand->type, expr->type) ? plain_read(cast->operand) : nullptr;
}

std::vector<const Statement*> writers_of(const Program& program, const std::string& tensor) {
  std::vector<const Statement*> writers;
  for (const Statement& s : program.statements())
    if (s.write.tensor == tensor) writers.push_back(&s);
  return writers;
}

/// `element` of a tensor that nothing writes; of a local that copies each of its elements once from such a tensor, the origin.
std::optional<GuardElement> constant_element(const Program& program, GuardElement element) {
  const std::vector<const Statement*> writers = writers_of(program, element.tensor);
  if (writers.empty()) return element;
  const Statement& copy = *writers.front();
  const Read* read = plain_read(copy.body);
  const bool local = program.tensor(element.tensor).role == TensorRole::local;
  if (!local || writers.size() > 1 || copy.updates() || read == nullptr) return std::nullopt;
  const isl::map written = copy.write.index.as_map();
  const Access& origin = copy.reads[read->access];
  if (!written.is_injective() || !writers_of(program, origin.tensor).empty()) return std::nullopt;
  return GuardElement{origin.tensor, element.element.apply_range(written.reverse()).apply_range(origin.index.as_map()), element.iterator};
}

/// { S[i] -> [tensor[x] -> [s]] }
isl::map with_value(const GuardElement& guard) {
  isl_map* iterators = isl_map_from_domain_and_range(isl_map_domain(guard.element.copy()), isl_set_universe(isl_space_set_alloc(guard.element.ctx().get(), 0, 1)));
  iterators = isl_map_equate(iterators, isl_dim_in, static_cast<int>(guard.iterator), isl_dim_out, 0);
  return guard.element.range_product(isl::manage(iterators));
}

/// Values that no data gives: { [p[x] -> [v]] -> [p[y] -> [w]] }
isl::map impossible_values(const Tensor& tensor, isl::ctx ctx) {
  const std::size_t rank = tensor.shape.size();
  std::vector<std::string> first, second, equal, row;
  for (std::size_t d = 0; d < rank; ++d) {
    first.push_back("x" + std::to_string(d));
    second.push_back("y" + std::to_string(d));
    equal.push_back(first.back() + " = " + second.back());
    if (d + 1 < rank) row.push_back(equal.back());
  }
  const auto all = [](std::vector<std::string> conditions, const std::string& last) {
    conditions.push_back(last);
    return "(" + join(conditions, " and ") + ")";
  };
  std::vector<std::string> cases = {all(equal, "v != w")};
  if (tensor.facts.injective)
    for (std::size_t d = 0; d < rank; ++d) cases.push_back("(" + first[d] + " != " + second[d] + " and v = w)");
  if (tensor.facts.monotone && rank > 0) {
    cases.push_back(all(row, first.back() + " < " + second.back() + " and v > w"));
    cases.push_back(all(row, first.back() + " > " + second.back() + " and v < w"));
  }
  const auto side = [&](const std::vector<std::string>& subscripts, const std::string& value) {
    return "[" + tensor.name + "[" + join(subscripts, ", ") + "] -> [" + value + "]]";
  };
  return isl::map(ctx, "{ " + side(first, "v") + " -> " + side(second, "w") + " : " + join(cases, " or ") + " }");
}
}  // namespace

std::vector<GuardElement> guard_elements(const Program& program, const Statement& statement) {
  std::vector<GuardElement> elements;
  for (const Guard& guard : statement.guards) {
    const Read* read = plain_read(guard.value);
    if (read == nullptr) continue;
    const Access& access = statement.reads[read->access];
    if (auto element = constant_element(program, {access.tensor, access.index.as_map(), guard.iterator})) elements.push_back(std::move(*element));
  }
  return elements;
}

isl::union_map effective_pairs(const Program& program, const isl::union_map& pairs) {
  isl::union_map kept = poly::empty_union_map(program.ctx());
  for (isl::map pair : poly::sorted_maps(pairs)) {
    const std::vector<GuardElement> sinks = guard_elements(program, program.statement(poly::output_name(pair)));
    for (const GuardElement& source : guard_elements(program, program.statement(poly::input_name(pair))))
      for (const GuardElement& sink : sinks) {
        if (source.tensor != sink.tensor || pair.is_empty()) continue;
        const isl::map impossible = impossible_values(program.tensor(source.tensor), program.ctx());
        pair = pair.subtract(with_value(source).apply_range(impossible).apply_range(with_value(sink).reverse())).coalesce();
      }
    if (!pair.is_empty()) kept = kept.unite(pair.to_union_map());
  }
  return kept;
}

}  // namespace tileopt
