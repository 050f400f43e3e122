#include "backends/c_common/dot_leaf.h"

#include "backends/c_common/vector_leaf.h"

namespace tileopt {

namespace {
constexpr std::size_t kRows = 0, kDepth = 1, kLanes = 2;
constexpr int kWordBytes = 4;

}  // namespace

DotLeaf::DotLeaf(const LeafView& leaf, const Atom* atom, CWriter& out, StorageTable& storage, const CNames& names, Helpers& helpers, int vector_bytes)
    : leaf_(leaf), out_(out), storage_(storage), names_(names), helpers_(helpers) {
  if (atom != nullptr && atom->body == "dot") lanes_ = choose_lanes(*atom, vector_bytes);
}

int DotLeaf::choose_lanes(const Atom& atom, int vector_bytes) {
  if (leaf_.radices.size() != 3 || leaf_.reads.size() != 2 || leaf_.order_matters() || leaf_.write.storage->element != leaf_.write.type) return 1;
  const AtomOperand *left = atom.find_operand("left"), *right = atom.find_operand("right"), *result = atom.find_operand("result");
  if (left == nullptr || right == nullptr || result == nullptr || type_name(leaf_.write.type) != result->element) return 1;
  // The factor that does not move along the lanes is the left one.
  left_ = leaf_.reads[0].still(kLanes) ? 0 : 1;
  right_ = 1 - left_;
  const LeafOperand &a = leaf_.reads[left_], &b = leaf_.reads[right_];
  if (type_name(a.storage->element) != left->element || type_name(b.storage->element) != right->element) return 1;
  const int element = size_bytes(a.storage->element), lanes = vector_bytes / kWordBytes;
  if (lanes < 4 || size_bytes(leaf_.write.type) != kWordBytes || size_bytes(b.storage->element) != element) return 1;
  const long depth = leaf_.radices[kDepth];
  if (depth * element != kWordBytes || leaf_.radices[kLanes] % lanes != 0) return 1;
  if (!in_memory(a) || !in_memory(b) || !a.still(kLanes) || a.memory_step(kDepth) != 1) return 1;
  if (!b.still(kRows) || b.memory_step(kDepth) != 1 || b.memory_step(kLanes) != depth) return 1;
  if (!leaf_.write.still(kDepth) || !lines_up(leaf_.write, lanes)) return 1;
  helper_ = "tileopt_dot_" + left->element + "_" + right->element + "x@";
  return lanes;
}

std::string DotLeaf::pointer(const LeafOperand& operand) {
  const std::string name = names_.fresh("p");
  out_.line("const " + storage_type_c(operand.storage->element) + "* const " + name + " = " + operand.storage->name + " + (" +
            storage_.offset_c(*operand.storage, operand.corner) + ");");
  return name;
}

std::string DotLeaf::address(const LeafOperand& operand, const std::string& pointer, const std::vector<long>& point) {
  Subscripts delta;
  for (const long step : operand.delta(point)) delta.push_back(ast_integer(step));
  return "&" + pointer + "[" + storage_.offset_c(*operand.storage, delta) + "]";
}

void DotLeaf::print() {
  const LeafOperand &left = leaf_.reads[left_], &right = leaf_.reads[right_];
  const std::string words = helpers_.vector_type(ElementType::i32, lanes_), dot = helpers_.use(helper_, lanes_);
  const std::string splat = helpers_.use("tileopt_splat_i32x@", lanes_);
  helpers_.use("tileopt_word");
  const std::string a = pointer(left), b = pointer(right);
  std::vector<std::string> columns;
  for (long lane = 0; lane < leaf_.radices[kLanes]; lane += lanes_) {
    columns.push_back(names_.fresh("v"));
    out_.line("const " + words + " " + columns.back() + " = *(const " + words + "_u*)" + address(right, b, {0, 0, lane}) + ";");
  }
  for (long row = 0; row < leaf_.radices[kRows]; ++row) {
    const std::string word = names_.fresh("s");
    out_.line("const " + words + " " + word + " = " + splat + "(tileopt_word(" + address(left, a, {row, 0, 0}) + "));");
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string target = named_vector(leaf_.write, {row, 0, static_cast<long>(c) * lanes_});
      out_.line(target + " = " + dot + "(" + target + ", " + word + ", " + columns[c] + ");");
    }
  }
}

}  // namespace tileopt
