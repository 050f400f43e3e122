// What data decides: loops that run one value, and index values in bodies.
#include "tree_edit.h"

namespace tileopt::mutation {

namespace {

std::vector<Change> at_bound_loops(const Subject& s, const std::function<NodeEdits(const AstFor&, const Place&)>& edit) {
  return at_every<AstFor>(s, [&](const AstFor& loop, const Place& place) { return loop.binding ? edit(loop, place) : NodeEdits{}; });
}

NodeEdits wrong_element(const AstFor& loop, const Place&) {
  NodeEdits edits;
  for (const auto& [access, subscripts] : loop.binding->reads)
    for (std::size_t d = 0; d < subscripts.size(); ++d)
      for (const std::int64_t by : {1, -1})
        edits.emplace_back(loop.variable + " from the element beside", edited(loop, [&, a = access](AstFor& l) { l.binding->reads[a][d] = plus(subscripts[d], by); }));
  return edits;
}

// The index is read for the first iteration of a loop around, and kept.
NodeEdits stale(const AstFor& loop, const Place& place) {
  NodeEdits edits;
  for (const auto& [access, subscripts] : loop.binding->reads)
    for (std::size_t d = 0; d < subscripts.size(); ++d)
      for (const AstFor* around : place.loops) {
        if (!mentions(subscripts[d], around->variable)) continue;
        edits.emplace_back(loop.variable + " as for the first " + around->variable, edited(loop, [&, a = access](AstFor& l) {
                             l.binding->reads[a][d] = substituted(subscripts[d], around->variable, around->lower);
                           }));
      }
  return edits;
}

NodeEdits clipped(const AstFor& loop, const Place&) {
  NodeEdits edits;
  edits.emplace_back(loop.variable + " never takes its last value", edited(loop, [](AstFor& l) { l.upper = plus(l.upper, -1); }));
  edits.emplace_back(loop.variable + " never takes its first value", edited(loop, [](AstFor& l) { l.lower = plus(l.lower, 1); }));
  return edits;
}

}  // namespace

void add_index_operators(std::vector<Operator>& operators) {
  operators.push_back({"wrong-index-element", "a loop runs the value of the index beside", {"coverage"}, false, [](const Subject& s) { return at_bound_loops(s, wrong_element); }});
  operators.push_back({"stale-index", "an index is read once and kept", {"coverage"}, false, [](const Subject& s) { return at_bound_loops(s, stale); }});
  operators.push_back({"clip-index", "a value that an index may have is left out", {"coverage"}, false, [](const Subject& s) { return at_bound_loops(s, clipped); }});
  operators.push_back({"unbind-loop", "every value runs, tested at the leaf", {"races", "text"}, false, [](const Subject& s) {
                         return at_bound_loops(s, [](const AstFor& loop, const Place&) -> NodeEdits {
                           return {{loop.variable, edited(loop, [](AstFor& l) { l.binding.reset(); })}};
                         });
                       }});
  operators.push_back({"wrong-index-value", "a body gets another index value", {"values"}, false, [](const Subject& s) {
                         return at_every<AstLeaf>(s, [](const AstLeaf& leaf, const Place&) {
                           NodeEdits edits;
                           for (std::size_t x = 0; x < leaf.indices.size(); ++x)
                             edits.emplace_back(leaf.statement + " index value " + std::to_string(x), edited(leaf, [&](AstLeaf& l) { l.indices[x] = plus(l.indices[x], 1); }));
                           return edits;
                         });
                       }});
}

}  // namespace tileopt::mutation
