/// A copy that puts elements side by side which lie in different rows of its source: box (lanes, depth), where `depth` elements of the target
/// are one word. Rows are read as vectors, and words are put together lane by lane:
///   *(u32x16_u*)&p0[0] = word(row 0) & 0xffff | word(row 1) << 16;
#pragma once

#include "backends/c_common/c_writer.h"
#include "backends/c_common/leaf_access.h"

namespace tileopt {

class WordLeaf {
 public:
  WordLeaf(const LeafView& leaf, CWriter& out, StorageTable& storage, const CNames& names, Helpers& helpers, int vector_bytes);

  bool possible() const { return lanes_ > 1; }
  void print();

 private:
  int choose_lanes(int vector_bytes) const;
  std::string pointer(const LeafOperand& operand, bool written);
  std::string element(const LeafOperand& operand, const std::string& pointer, const std::vector<long>& point);

  const LeafView& leaf_;
  CWriter& out_;
  StorageTable& storage_;
  CNames names_;   ///< temporaries are local to the leaf's block
  Helpers& helpers_;
  int lanes_ = 1;
};

}  // namespace tileopt
