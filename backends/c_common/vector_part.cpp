/// Boxes that are not whole: every row under a test, and of a chunk that is not whole the lanes that count.
#include <algorithm>

#include "backends/c_common/scalar_c.h"
#include "backends/c_common/vector_leaf.h"
#include "support/text.h"

namespace tileopt {

namespace {
constexpr long kLongestFill = 64;  ///< vectors of memory that are filled one statement each; longer boxes run in loops
}

bool VectorLeaf::moves_as_is(const LeafOperand& operand, std::size_t digit) const {
  const ElementType element = operand.storage->element;
  return in_memory(operand) && operand.contiguous(digit) && compute_type(element) == element && element != ElementType::i4 &&
         element != ElementType::u4 && element != ElementType::boolean;
}

bool VectorLeaf::possible_in_part() const {
  if (!possible()) return false;
  const std::size_t last = leaf_.radices.size() - 1;
  const auto moves = [&](const LeafOperand& operand) { return lines_up(operand, lanes_) || moves_as_is(operand, last) || turns(operand); };
  const auto fits = [&](const LeafOperand& operand) { return operand.still(last) || moves(operand); };
  if (leaf_.zero_fill()) return leaf_.copy && moves(leaf_.write) && moves(leaf_.reads[0]) && (leaf_.write.storage->named() || leaf_.points() / lanes_ <= kLongestFill);
  return (folded_ || fits(leaf_.write)) && std::all_of(leaf_.reads.begin(), leaf_.reads.end(), fits);
}

std::string VectorLeaf::lanes_left(const AstExprPtr& extent, long from) {
  if (const auto constant = constant_value(extent)) return std::to_string(std::min<long>(*constant - from, lanes_));
  return integer_c(fold(ast_operation(AstExpr::Kind::sub, {extent, ast_integer(from)})), names_, helpers_);
}

void VectorLeaf::for_each_part(const AstExprPtr& extent, std::vector<long> point, const std::function<void(const std::vector<long>&)>& visit) {
  const long radix = leaf_.radices.back();
  const auto constant = constant_value(extent);
  const auto bare = [&](const LeafOperand& operand) { return !operand.storage->named() || operand.still(leaf_.radices.size() - 1); };
  if (radix > lanes_ && bare(leaf_.write) && std::all_of(leaf_.reads.begin(), leaf_.reads.end(), bare)) {
    chunk_ = names_.fresh("v");
    const std::string end = constant ? std::to_string(std::min<long>(*constant, radix)) : integer_c(extent, names_, helpers_, 3);
    out_.open("for (int64_t " + chunk_ + " = 0; " + chunk_ + " < " + end + (constant ? "" : " && " + chunk_ + " < " + std::to_string(radix)) + "; " +
              chunk_ + " += " + std::to_string(lanes_) + ")");
    loaded_.clear();  // what one block declares, another one does not see
    part_ = end + " - " + chunk_;
    visit(point);
    loaded_.clear();
    out_.close();
    chunk_.clear();
    return;
  }
  for (; point.back() < radix; point.back() += lanes_) {
    loaded_.clear();
    if (constant) {
      if (point.back() >= *constant) return;
      part_ = lanes_left(extent, point.back());
      visit(point);
      continue;
    }
    part_ = lanes_left(extent, point.back());
    out_.open("if (" + integer_c(extent, names_, helpers_, 3) + " > " + std::to_string(point.back()) + ")");
    visit(point);
    out_.close();
  }
}

std::vector<std::string> VectorLeaf::row_tests(const std::vector<AstExprPtr>& extents, const std::vector<long>& point) {
  std::vector<std::string> tests;
  for (std::size_t b = 0; b + 1 < leaf_.radices.size(); ++b) {
    const auto extent = constant_value(extents[b]);
    if (extent && point[b] < *extent) continue;
    tests.push_back(extent ? "0" : integer_c(extents[b], names_, helpers_, 3) + " > " + std::to_string(point[b]));
  }
  return tests;
}

bool VectorLeaf::every_row_runs(const std::vector<AstExprPtr>& extents) const {
  for (std::size_t b = 0; b + 1 < leaf_.radices.size(); ++b) {
    const auto extent = constant_value(extents[b]);
    if (!extent || *extent < leaf_.radices[b]) return false;
  }
  return true;
}

void VectorLeaf::print_part(const std::vector<AstExprPtr>& extents) {
  const bool empty = std::any_of(extents.begin(), extents.end(), [](const AstExprPtr& extent) { return constant_value(extent).value_or(1) <= 0; });
  print_pointers(empty ? std::set<std::size_t>{} : used_reads());
  if (!empty) print_turned_loads(extents);
  const std::size_t last = leaf_.radices.size() - 1;
  if (leaf_.zero_fill()) {
    for_each_row([&](std::vector<long>& point) { print_filled_row(point, extents); });
  } else if (leaf_.write.storage->named() && !folded_ && every_row_runs(extents)) {
    // Chunks outermost: what the rows share is loaded once a chunk.
    for_each_part(extents[last], std::vector<long>(last + 1, 0), [&](const std::vector<long>& chunk) {
      for_each_row([&](std::vector<long>& point) {
        point[last] = chunk[last];
        print_statement(point);
      });
    });
  } else {
    for_each_row([&](std::vector<long>& point) {
      const std::vector<std::string> tests = row_tests(extents, point);
      if (!tests.empty()) out_.open("if (" + join(tests, " && ") + ")");
      if (folded_) {
        print_folded_part(point, extents[last]);
      } else {
        for_each_part(extents[last], point, [&](const std::vector<long>& at) { print_statement(at); });
      }
      if (!tests.empty()) out_.close();
    });
  }
  part_.clear();
}

/// Every vector of the row is stored whole: what lies in the extents, and zeros. Vectors that were turned in registers have their zeros.
void VectorLeaf::print_filled_row(std::vector<long> point, const std::vector<AstExprPtr>& extents) {
  const AstExprPtr& extent = extents.back();
  const auto constant = constant_value(extent);
  for (; point.back() < leaf_.radices.back(); point.back() += lanes_) {
    std::vector<std::string> tests;
    if (turned_.empty()) {
      tests = row_tests(extents, point);
      if (!constant) tests.push_back(integer_c(extent, names_, helpers_, 3) + " > " + std::to_string(point.back()));
      else if (point.back() >= *constant) tests.push_back("0");
      part_ = lanes_left(extent, point.back());
    }
    std::string value = "(" + helpers_.vector_type(compute_type(leaf_.type), lanes_) + "){0}";
    if (!contains(tests, "0")) {
      bool uniform = false;
      const std::string read = load_text(leaf_.reads[0], 1, point, &uniform);
      const std::string inside = as_vector_c({read, uniform}, leaf_.type, context_at(point));
      value = tests.empty() ? inside : "(" + join(tests, " && ") + " ? " + inside + " : " + value + ")";
    }
    part_.clear();
    store(value, point);
  }
}

void VectorLeaf::print_folded_part(std::vector<long> point, const AstExprPtr& extent) {
  const VectorContext context = context_at(point);
  const std::string name = names_.fresh("a"), suffix = type_name(leaf_.type) + "x@";
  out_.line(helpers_.vector_type(leaf_.type, lanes_) + " " + name + " = " + identity_vector_c(leaf_.combine, leaf_.type, context) + ";");
  for_each_part(extent, point, [&](const std::vector<long>& at) {
    const VectorValue value = vector_c(leaf_.body, context_at(at));
    const std::string combined = without_parentheses(combine_vector_c(leaf_.combine, leaf_.type, name, value, context));
    out_.line(name + " = " + helpers_.use("tileopt_keep_part_" + suffix, lanes_) + "(" + name + ", " + combined + ", " + part_ + ");");
  });
  loaded_.clear();
  point.back() = 0;
  store_folded(name, point);
}

}  // namespace tileopt
