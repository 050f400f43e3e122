// Where things are kept: sizes, types, spaces and identity of promoted arrays.
#include "tree_edit.h"

namespace tileopt::mutation {

namespace {

std::vector<Change> at_every_array(const Subject& subject, const std::function<std::vector<std::pair<std::string, Array>>(const Array&, const Ast&)>& edit) {
  std::vector<Change> changes;
  for (std::size_t k = 0; k < subject.asts.size(); ++k)
    for (std::size_t a = 0; a < subject.asts[k].arrays.size(); ++a)
      for (auto& [text, changed] : edit(subject.asts[k].arrays[a], subject.asts[k]))
        changes.push_back(of_kernel(k, text, [a, array = changed](Ast& ast) { ast.arrays[a] = array; }));
  return changes;
}

std::vector<std::pair<std::string, Array>> shrunk(const Array& array, const Ast&) {
  std::vector<std::pair<std::string, Array>> edits;
  for (std::size_t d = 0; d < array.extents.size(); ++d) {
    if (array.extents[d] < 2) continue;
    Array copy = array;
    copy.extents[d] -= 1;
    edits.emplace_back(array.name + " one short in dimension " + std::to_string(d), copy);
  }
  return edits;
}

std::vector<std::pair<std::string, Array>> exchanged_extents(const Array& array, const Ast&) {
  std::vector<std::pair<std::string, Array>> edits;
  for (std::size_t d = 0; d + 1 < array.extents.size(); ++d) {
    if (array.extents[d] == array.extents[d + 1]) continue;
    Array copy = array;
    std::swap(copy.extents[d], copy.extents[d + 1]);
    edits.emplace_back("extents " + std::to_string(d) + " and " + std::to_string(d + 1) + " of " + array.name, copy);
  }
  return edits;
}

std::vector<std::pair<std::string, Array>> narrowed(const Array& array, const Ast&) {
  Array copy = array;
  switch (array.element) {
    case ElementType::f64: copy.element = ElementType::f32; break;
    case ElementType::f32: copy.element = ElementType::bf16; break;
    case ElementType::bf16: copy.element = ElementType::e5m2; break;
    case ElementType::i64: copy.element = ElementType::i32; break;
    case ElementType::i32: copy.element = ElementType::i16; break;
    case ElementType::i8: copy.element = ElementType::boolean; break;
    default: return {};
  }
  return {{array.name + " as " + type_name(copy.element), copy}};
}

std::vector<std::pair<std::string, Array>> in_workspace(const Array& array, const Ast&) {
  if (array.space != "stack") return {};
  Array copy = array;
  copy.space = "workspace";
  return {{array.name + " in the workspace", copy}};
}

// Two promoted arrays that fit each other become one.
std::vector<Change> aliased(const Subject& subject) {
  std::vector<Change> changes;
  for (std::size_t k = 0; k < subject.asts.size(); ++k)
    for (const Array& kept : subject.asts[k].arrays)
      for (const Array& lost : subject.asts[k].arrays) {
        if (kept.name == lost.name || kept.extents.size() != lost.extents.size()) continue;
        bool fits = true;
        for (std::size_t d = 0; d < kept.extents.size(); ++d) fits = fits && kept.extents[d] >= lost.extents[d];
        if (!fits) continue;
        changes.push_back(of_kernel(k, lost.name + " is " + kept.name, [from = lost.name, to = kept.name](Ast& ast) {
          for (auto& [name, statement] : ast.statements) {
            if (statement.write_array == from) statement.write_array = to;
            for (std::string& read : statement.read_arrays)
              if (read == from) read = to;
          }
        }));
      }
  return changes;
}

}  // namespace

void add_array_operators(std::vector<Operator>& operators) {
  const auto arrays = [](auto edit) { return [edit](const Subject& s) { return at_every_array(s, edit); }; };
  operators.push_back({"shrink-array", "a promoted array is one element short", {"bounds"}, false, arrays(shrunk)});
  operators.push_back({"exchange-extents", "two extents of a promoted array change places", {"bounds"}, false, arrays(exchanged_extents)});
  operators.push_back({"narrow-element", "a promoted array holds fewer digits than what it keeps", {"values"}, false, arrays(narrowed)});
  operators.push_back({"workspace-for-stack", "what every thread needs for itself lies in the one workspace", {"races"}, false, arrays(in_workspace)});
  operators.push_back({"alias-arrays", "two promoted arrays become one", {"values", "padding", "races", "order", "bounds"}, false, aliased});
  operators.push_back({"drop-zero-fill", "a copy leaves the rest of its box as it was", {"padding"}, false, [](const Subject& s) {
                         return at_every_statement(s, [](const AstStatement& statement, const Ast&) -> std::vector<std::pair<std::string, AstStatement>> {
                           if (!statement.zero_fill) return {};
                           AstStatement copy = statement;
                           copy.zero_fill = false;
                           return {{"without zero fill", copy}};
                         });
                       }});
  operators.push_back({"plain-update", "threads update elements without keeping each other out", {"races", "text"}, false, [](const Subject& s) {
                         return at_every_statement(s, [](const AstStatement& statement, const Ast&) -> std::vector<std::pair<std::string, AstStatement>> {
                           if (statement.atom != "atomic_update") return {};
                           AstStatement copy = statement;
                           copy.atom.clear();
                           return {{"is plain", copy}};
                         });
                       }});
}

}  // namespace tileopt::mutation
