#include "backends/gpu_common/box_copy.h"

#include <algorithm>
#include <numeric>

#include "backends/c_common/refusal.h"
#include "ir/tensor_map.h"
#include "ir/types.h"
#include "support/text.h"

namespace tileopt {

PrintFacts::BoxCopy describe_box_copy(const LeafView& leaf, const AstLeaf& node, const Atom& atom, const TensorArgument& argument) {
  const std::string& name = leaf.statement->name;
  const LeafOperand& source = leaf.reads.at(0);
  if (!is_dense_row_major(argument) || argument.shape.empty() || argument.shape.size() > kMostMapDims) refuse("atom", name, "atom " + atom.name + " copies boxes of tensors that lie row by row, and " + argument.tensor + " does not");
  PrintFacts::BoxCopy copy;
  copy.tensor = argument.tensor;
  copy.element_bytes = size_bytes(argument.element);
  copy.swizzle = atom.find_operand("result")->swizzle;
  long points = 1;
  for (std::size_t d = argument.shape.size(); d-- > 0;) {
    // Elements that are not neighbours are so many steps apart.
    long apart = 0, last = 0;
    for (std::size_t b = 0; b < leaf.radices.size(); ++b) {
      if (leaf.radices[b] > 1) apart = std::gcd(apart, source.steps[d][b]);
      last += source.steps[d][b] * (leaf.radices[b] - 1);
    }
    apart = std::max(1L, apart);
    const long count = last / apart + 1, extent = count * apart;
    if (apart > kMostMapApart || (apart > 1 && d + 1 == argument.shape.size())) refuse("atom", name, "elements of a box are at most " + std::to_string(kMostMapApart) + " apart, and neighbours along the last dimension; those of " + name + " are " + std::to_string(apart) + " apart");
    if (extent < 1 || extent > kMostMapSide) refuse("atom", name, "a box has at most " + std::to_string(kMostMapSide) + " elements along a dimension, and that of " + name + " has " + std::to_string(extent));
    copy.extents.push_back(ast_expr_text(argument.shape[d]));
    copy.box.push_back(extent);
    copy.apart.push_back(apart);
    copy.coordinates.push_back(ast_expr_text(node.reads.at(0)[d]));
    points *= count;
  }
  if (points != leaf.points()) refuse("atom", name, "what " + name + " copies is no box of " + argument.tensor);
  return copy;
}

std::string map_lines(const BoxMap& map, const std::string& pointer) {
  std::vector<std::string> box, apart;
  for (const long extent : map.copy.box) box.push_back(std::to_string(extent));
  for (const long distance : map.copy.apart) apart.push_back(std::to_string(distance));
  const bool dense = std::all_of(map.copy.apart.begin(), map.copy.apart.end(), [](long distance) { return distance == 1; });
  return "    tileopt_tensor_map " + map.name + ";\n    if (tileopt_blocks > 0 && tileopt_map_tensor(&" + map.name + ", " + pointer + ", " + std::to_string(map.copy.element_bytes) + ", " + std::to_string(box.size()) +
         ", (const int64_t[]){" + join(map.extents, ", ") + "}, (const int64_t[]){" + join(box, ", ") + "}, " + std::to_string(map.copy.swizzle) +
         (dense ? "" : ", (const int64_t[]){" + join(apart, ", ") + "}") + ") != 0) return 7;\n";
}

AstExprPtr slot_of_position(const AstExprPtr& position, long slots) { return ast_operation(AstExpr::Kind::modulo, {position, ast_integer(slots)}); }
AstExprPtr phase_of_position(const AstExprPtr& position, long slots) {
  return ast_operation(AstExpr::Kind::modulo, {ast_operation(AstExpr::Kind::floor_div, {position, ast_integer(slots)}), ast_integer(2)});
}

}  // namespace tileopt
