// What was printed differs from the loops that were proved.
#include <algorithm>

#include "operators.h"
#include "tree_edit.h"

namespace tileopt::mutation {

namespace {

Change printed(std::size_t kernel, std::string text, std::function<void(PrintFacts&)> change) {
  return {std::move(text), [kernel, change = std::move(change)](std::vector<Ast>&, std::vector<PrintFacts>& facts) { change(facts[kernel]); }};
}

std::string shifted(const std::string& expr, std::int64_t by) { return ast_expr_text(plus(parse_ast_expr(expr, "facts"), by)); }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

using LoopEdit = std::function<void(PrintFacts::Loop&)>;
// `edit` gives what is done to a loop; an empty function: nothing.
std::function<std::vector<Change>(const Subject&)> loops(const std::function<LoopEdit(const PrintFacts::Loop&)>& edit) {
  return [=](const Subject& s) {
    std::vector<Change> changes;
    for (std::size_t k = 0; k < s.facts.size(); ++k)
      for (std::size_t i = 0; i < s.facts[k].loops.size(); ++i)
        if (const LoopEdit change = edit(s.facts[k].loops[i]))
          changes.push_back(printed(k, "loop " + s.facts[k].loops[i].variable, [=](PrintFacts& facts) { change(facts.loops[i]); }));
    return changes;
  };
}

using LeafEdit = std::function<void(PrintFacts::Leaf&)>;
std::function<std::vector<Change>(const Subject&)> leaves(const std::function<std::vector<LeafEdit>(const PrintFacts::Leaf&)>& edit) {
  return [=](const Subject& s) {
    std::vector<Change> changes;
    for (std::size_t k = 0; k < s.facts.size(); ++k)
      for (std::size_t i = 0; i < s.facts[k].leaves.size(); ++i)
        for (const LeafEdit& change : edit(s.facts[k].leaves[i]))
          changes.push_back(printed(k, "leaf " + s.facts[k].leaves[i].statement, [=](PrintFacts& facts) { change(facts.leaves[i]); }));
    return changes;
  };
}

LoopEdit other_clause(const PrintFacts::Loop& loop) {
  if (!has(loop.pragma, "reduction(")) return nullptr;
  return [](PrintFacts::Loop& l) {
    if (has(l.pragma, "reduction(+")) l.pragma = replaced(l.pragma, "reduction(+", "reduction(*");
    else if (has(l.pragma, "max")) l.pragma = replaced(l.pragma, "max", "min");
    else l.pragma = replaced(l.pragma, "min", "max");
  };
}

std::vector<LeafEdit> other_subscript(const PrintFacts::Leaf& leaf) {
  std::vector<LeafEdit> edits;
  for (std::size_t i = 0; i < leaf.subscripts.size(); ++i) edits.push_back([i](PrintFacts::Leaf& l) { l.subscripts[i] = shifted(l.subscripts[i], 1); });
  return edits;
}

std::vector<LeafEdit> other_extent(const PrintFacts::Leaf& leaf) {
  std::vector<LeafEdit> edits;
  for (std::size_t i = 0; i < leaf.extents.size(); ++i) edits.push_back([i](PrintFacts::Leaf& l) { l.extents[i] = shifted(l.extents[i], -1); });
  return edits;
}

std::vector<LeafEdit> dropped_test(const PrintFacts::Leaf& leaf) {
  std::vector<LeafEdit> edits;
  for (std::size_t i = 0; i < leaf.tested.size(); ++i) edits.push_back([i](PrintFacts::Leaf& l) { l.tested.erase(l.tested.begin() + static_cast<long>(i)); });
  return edits;
}

std::vector<Change> other_condition(const Subject& s) {
  std::vector<Change> changes;
  for (std::size_t k = 0; k < s.facts.size(); ++k)
    for (std::size_t i = 0; i < s.facts[k].conditions.size(); ++i)
      changes.push_back(printed(k, "condition " + s.facts[k].conditions[i], [i](PrintFacts& facts) { facts.conditions[i] = "1"; }));
  return changes;
}

std::vector<Change> less_storage(const Subject& s) {
  std::vector<Change> changes;
  for (std::size_t k = 0; k < s.facts.size(); ++k)
    for (std::size_t i = 0; i < s.facts[k].buffers.size(); ++i)
      changes.push_back(printed(k, "storage of " + s.facts[k].buffers[i].array, [i](PrintFacts& facts) { facts.buffers[i].bytes -= 1; }));
  return changes;
}

// Loops in print order, each with the leaves below.
void collect_loops(const AstNodePtr& node, std::vector<std::pair<const AstFor*, std::vector<const AstLeaf*>>>& loops) {
  if (node == nullptr) return;
  const std::size_t first = loops.size();
  if (const auto* block = std::get_if<AstBlock>(&node->node))
    for (const AstNodePtr& child : block->children) collect_loops(child, loops);
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) collect_loops(allocate->body, loops);
  if (const auto* branch = std::get_if<AstIf>(&node->node)) {
    collect_loops(branch->then_body, loops);
    collect_loops(branch->else_body, loops);
  }
  if (const auto* loop = std::get_if<AstFor>(&node->node)) {
    loops.push_back({loop, {}});
    collect_loops(loop->body, loops);
    const auto* leaf = loops.size() == first + 1 && loop->body != nullptr ? std::get_if<AstLeaf>(&loop->body->node) : nullptr;
    if (leaf != nullptr) loops[first].second.push_back(leaf);
  }
}

// A loop whose iterations write different elements keeps one of them in a variable.
std::vector<Change> varying_element_held(const Subject& s) {
  std::vector<Change> changes;
  for (std::size_t k = 0; k < s.facts.size(); ++k) {
    std::vector<std::pair<const AstFor*, std::vector<const AstLeaf*>>> loops;
    collect_loops(s.asts[k].root, loops);
    for (std::size_t i = 0; i < loops.size() && i < s.facts[k].loops.size(); ++i) {
      if (loops[i].second.empty()) continue;
      const AstLeaf& leaf = *loops[i].second.front();
      if (std::none_of(leaf.write.begin(), leaf.write.end(), [&](const AstExprPtr& e) { return mentions(e, loops[i].first->variable); })) continue;
      PrintFacts::Accumulator held{s.asts[k].statements.at(leaf.statement).write_array, {}, "f32"};
      for (const AstExprPtr& e : leaf.write) held.subscripts.push_back(ast_expr_text(e));
      changes.push_back(printed(k, "loop " + loops[i].first->variable, [=](PrintFacts& facts) { facts.loops[i].accumulator = held; }));
    }
  }
  return changes;
}

}  // namespace

void add_print_operators(std::vector<Operator>& operators) {
  const auto add = [&](const std::string& name, const std::string& what, std::function<std::vector<Change>(const Subject&)> changes) {
    operators.push_back({name, what, {"text"}, true, std::move(changes)});
  };
  add("print-upper-bound", "the printed upper bound is one more", loops([](const PrintFacts::Loop&) -> LoopEdit { return [](PrintFacts::Loop& l) { l.upper = shifted(l.upper, 1); }; }));
  add("print-lower-bound", "the printed lower bound is one more", loops([](const PrintFacts::Loop&) -> LoopEdit { return [](PrintFacts::Loop& l) { l.lower = shifted(l.lower, 1); }; }));
  add("print-step", "the printed step is twice as long", loops([](const PrintFacts::Loop&) -> LoopEdit { return [](PrintFacts::Loop& l) { l.step *= 2; }; }));
  add("print-threads", "a loop is printed for threads that is none", loops([](const PrintFacts::Loop& loop) -> LoopEdit {
        if (!loop.pragma.empty()) return nullptr;
        return [](PrintFacts::Loop& l) { l.pragma = "#pragma omp parallel for"; };
      }));
  add("print-lanes", "a loop is printed for lanes that is none", loops([](const PrintFacts::Loop& loop) -> LoopEdit {
        if (!loop.pragma.empty() || loop.level == "simd") return nullptr;
        return [](PrintFacts::Loop& l) { l.pragma = "#pragma omp simd"; };
      }));
  add("drop-threads", "the pragma of a loop on threads is missing", loops([](const PrintFacts::Loop& loop) -> LoopEdit {
        if (!has(loop.pragma, "omp parallel")) return nullptr;
        return [](PrintFacts::Loop& l) { l.pragma = ""; };
      }));
  add("drop-reduction-clause", "lanes share an element and nothing merges them", loops([](const PrintFacts::Loop& loop) -> LoopEdit {
        const std::size_t at = loop.pragma.find(" reduction(");
        if (at == std::string::npos) return nullptr;
        return [at](PrintFacts::Loop& l) { l.pragma = l.pragma.substr(0, at); };
      }));
  add("other-reduction-clause", "lanes are merged by another operator", loops(other_clause));
  add("narrow-index", "a loop counts in 32 bits", loops([](const PrintFacts::Loop& loop) -> LoopEdit {
        if (!has(loop.header, "int64_t")) return nullptr;
        return [](PrintFacts::Loop& l) { l.header = replaced(l.header, "int64_t", "int32_t"); };
      }));
  add("print-bound-element", "the printed index is read from the element beside", loops([](const PrintFacts::Loop& loop) -> LoopEdit {
        if (loop.subscripts.empty()) return nullptr;
        return [](PrintFacts::Loop& l) { l.subscripts[0] = shifted(l.subscripts[0], 1); };
      }));
  add("print-held-element", "the element beside is held in a variable", loops([](const PrintFacts::Loop& loop) -> LoopEdit {
        if (loop.accumulator.subscripts.empty()) return nullptr;
        return [](PrintFacts::Loop& l) { l.accumulator.subscripts[0] = shifted(l.accumulator.subscripts[0], 1); };
      }));
  add("print-held-untested", "an element is loaded and stored where the loop has no iteration", loops([](const PrintFacts::Loop& loop) -> LoopEdit {
        if (loop.accumulator.array.empty()) return nullptr;
        return [](PrintFacts::Loop& l) { l.accumulator.tested = false; };
      }));
  add("print-varying-held", "one of the elements that a loop writes is held in a variable", varying_element_held);
  add("print-subscript", "a printed subscript is one more", leaves(other_subscript));
  add("print-extent", "a printed extent is one less", leaves(other_extent));
  add("print-points", "a box is printed one point short", leaves([](const PrintFacts::Leaf& leaf) -> std::vector<LeafEdit> {
        if (leaf.points < 2) return {};
        return {[](PrintFacts::Leaf& l) { l.points -= 1; }};
      }));
  add("drop-test", "a guard or a predicate is not tested", leaves(dropped_test));
  add("print-condition", "a printed condition always holds", other_condition);
  add("less-storage", "the printed storage is a byte short", less_storage);
}

}  // namespace tileopt::mutation
