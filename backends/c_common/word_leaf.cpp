#include "backends/c_common/word_leaf.h"

#include "support/text.h"

namespace tileopt {

namespace {
constexpr std::size_t kLanes = 0, kDepth = 1;
constexpr int kWordBytes = 4;


/// Bits that widen to a word by their sign or by zeros.
bool is_bits(ElementType type) { return (!is_float(type) && type != ElementType::boolean && !is_tuple(type)) || type == ElementType::bf16 || type == ElementType::f16; }
}  // namespace

WordLeaf::WordLeaf(const LeafView& leaf, CWriter& out, StorageTable& storage, const CNames& names, Helpers& helpers, int vector_bytes)
    : leaf_(leaf), out_(out), storage_(storage), names_(names), helpers_(helpers) {
  lanes_ = choose_lanes(vector_bytes);
}

int WordLeaf::choose_lanes(int vector_bytes) const {
  if (!leaf_.copy || leaf_.radices.size() != 2 || leaf_.reads.size() != 1) return 1;
  const LeafOperand &to = leaf_.write, &from = leaf_.reads[0];
  if (!in_memory(to) || !in_memory(from)) return 1;
  const ElementType target = to.storage->element, source = from.storage->element;
  const bool widens = target == source || (!is_float(source) && !is_float(target) && widens_exactly(source, target));
  if (!is_bits(target) || !is_bits(source) || !widens || source == ElementType::i4 || source == ElementType::u4) return 1;
  const long depth = leaf_.radices[kDepth], lanes = vector_bytes / kWordBytes;
  if (depth < 2 || depth * size_bytes(target) != kWordBytes || lanes < 4 || leaf_.radices[kLanes] % lanes != 0) return 1;
  const auto step = to.memory_step(kLanes);
  if (!to.contiguous(kDepth) || !step || *step != depth || !from.contiguous(kLanes)) return 1;
  return static_cast<int>(lanes);
}

std::string WordLeaf::pointer(const LeafOperand& operand, bool written) {
  const std::string name = names_.fresh("p"), type = storage_type_c(operand.storage->element);
  out_.line((written ? "" : "const ") + type + "* const " + name + " = " + operand.storage->name + " + (" + storage_.offset_c(*operand.storage, operand.corner) + ");");
  return name;
}

std::string WordLeaf::element(const LeafOperand& operand, const std::string& pointer, const std::vector<long>& point) {
  Subscripts delta;
  for (const long step : operand.delta(point)) delta.push_back(ast_integer(step));
  return pointer + "[" + storage_.offset_c(*operand.storage, delta) + "]";
}

void WordLeaf::print() {
  const std::string to = pointer(leaf_.write, true), from = pointer(leaf_.reads[0], false);
  const ElementType source = leaf_.reads[0].storage->element;
  const int bits = 8 * size_bytes(leaf_.write.storage->element);
  const std::string row = helpers_.vector_type(source, lanes_), words = helpers_.vector_type(ElementType::u32, lanes_);
  const bool with_sign = !is_float(source) && is_signed(source);
  const std::string wide = with_sign ? helpers_.vector_type(ElementType::i32, lanes_) : words;
  for (long lane = 0; lane < leaf_.radices[kLanes]; lane += lanes_) {
    std::vector<std::string> parts;
    for (long d = 0; d < leaf_.radices[kDepth]; ++d) {
      const std::string word = "(" + words + ")__builtin_convertvector(*(const " + row + "_u*)&" + element(leaf_.reads[0], from, {lane, d}) + ", " + wide + ")";
      const std::string mask = std::to_string((1ul << bits) - 1) + "u";
      parts.push_back(d == 0 ? "(" + word + " & " + mask + ")" : d + 1 == leaf_.radices[kDepth] ? word + " << " + std::to_string(bits * d) : "(" + word + " & " + mask + ") << " + std::to_string(bits * d));
    }
    out_.line("*(" + words + "_u*)&" + element(leaf_.write, to, {lane, 0}) + " = " + join(parts, " | ") + ";");
  }
}

}  // namespace tileopt
