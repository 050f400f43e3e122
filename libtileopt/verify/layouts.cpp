/// Part of text: every argument was addressed as its layout in the Program says.
#include <algorithm>
#include <numeric>
#include <set>

#include "support/text.h"
#include "verify/ast_expr_reader.h"
#include "verify/obligations.h"

namespace tileopt::proof {

namespace {

bool is_plain(const Layout& layout) { return layout.order.empty() && layout.strides.empty() && !layout.packed; }

/// Order with nothing left out.
std::vector<std::size_t> whole_order(const Tensor& tensor) {
  std::vector<std::size_t> order = tensor.layout.order;
  if (!order.empty()) return order;
  order.resize(tensor.shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

std::string order_text(const std::vector<std::size_t>& order) {
  std::vector<std::string> parts;
  for (const std::size_t d : order) parts.push_back(std::to_string(d));
  return join(parts, ", ");
}

Refutation differs(const std::string& what, const std::string& printed, const std::string& wanted) {
  return Refutation{what + " was printed as `" + printed + "` where the program has `" + wanted + "`", "printed: " + printed + " | program: " + wanted, {}};
}

/// Both as functions of the sizes, on all sizes of the context.
Outcome check_stride(const Program& program, const Tensor& tensor, std::size_t d, const std::string& printed) {
  const isl::set context = isl::manage(isl_set_from_params(program.context().copy()));  // [params] -> { [] }
  const AstExprReader reader(context.space(), {});
  const isl::pw_aff have = reader.value(parse_ast_expr(printed, "print facts"), context);
  const isl::pw_aff want = isl::manage(isl_pw_aff_insert_domain(tensor.layout.strides[d].copy(), isl_set_get_space(context.get())));
  const isl::set wrong = context.subtract(have.eq_set(want));
  if (wrong.is_empty()) return {};
  Refutation refutation = differs("stride " + std::to_string(d) + " of " + tensor.name, printed, poly::to_text(tensor.layout.strides[d]));
  refutation.witness = poly::sample_text(wrong);
  return refutation;
}

Outcome check_layout(const Program& program, const Tensor& tensor, const std::vector<PrintFacts::Layout>& printed) {
  const auto found = std::find_if(printed.begin(), printed.end(), [&](const PrintFacts::Layout& l) { return l.tensor == tensor.name; });
  const Layout& layout = tensor.layout;
  if (is_plain(layout)) return found == printed.end() ? Outcome{} : differs("the layout of " + tensor.name, "another", "row by row");
  if (found == printed.end()) return differs("the layout of " + tensor.name, "row by row", "another");
  if (found->packed != layout.packed) return differs("the layout of " + tensor.name, found->packed ? "packed" : "not packed", layout.packed ? "packed" : "not packed");
  if (found->order != whole_order(tensor)) return differs("the order of the dimensions of " + tensor.name, order_text(found->order), order_text(whole_order(tensor)));
  if (found->strides.size() != layout.strides.size())
    return differs("the strides of " + tensor.name, join(found->strides, "; "), std::to_string(layout.strides.size()) + " strides");
  for (std::size_t d = 0; d < layout.strides.size(); ++d)
    if (Outcome outcome = check_stride(program, tensor, d, found->strides[d])) return outcome;
  return {};
}

std::set<std::string> arrays_of(const Ast& ast) {
  std::set<std::string> arrays;
  for (const auto& [name, statement] : ast.statements) {
    arrays.insert(statement.write_array);
    arrays.insert(statement.read_arrays.begin(), statement.read_arrays.end());
  }
  return arrays;
}

}  // namespace

void check_layouts(Checker& checker, std::size_t kernel) {
  const Ast& ast = (*checker.execution.kernels)[kernel];
  const std::vector<PrintFacts::Layout>& printed = checker.facts[kernel].layouts;
  const std::set<std::string> arrays = arrays_of(ast);
  for (const Tensor& tensor : checker.program().tensors()) {
    const bool reported = std::any_of(printed.begin(), printed.end(), [&](const PrintFacts::Layout& l) { return l.tensor == tensor.name; });
    if (arrays.count(tensor.name) == 0 || (is_plain(tensor.layout) && !reported)) continue;
    checker.report.prove(obligation("text", "layout of " + tensor.name + " in kernel " + ast.kernel, tensor.where, kernel_entry(kernel, "")),
                         [&] { return check_layout(checker.program(), tensor, printed); });
  }
}

}  // namespace tileopt::proof
