/// The whole box of a dot atom as straight-line code: box (rows, depth, lanes), where one word of the left factor holds the `depth` products'
/// left operands, and a vector of words of the right factor holds them for all lanes.
///   const i32x16 b0 = *(const i32x16_u*)&p2[0]; ...
///   { const i32x16 a = splat(word(&p1[0])); C_0_0 = dot(C_0_0, a, b0); C_0_1 = dot(C_0_1, a, b1); } ...
#pragma once

#include "backends/c_common/c_writer.h"
#include "backends/c_common/leaf_access.h"
#include "ir/atom.h"

namespace tileopt {

class DotLeaf {
 public:
  /// `atom`: null where the leaf has none.
  DotLeaf(const LeafView& leaf, const Atom* atom, CWriter& out, StorageTable& storage, const CNames& names, Helpers& helpers, int vector_bytes);

  /// Whether registers hold the results in vectors, and memory holds both factors word by word. Else the leaf is printed like any other.
  bool possible() const { return lanes_ > 1; }
  void print();

 private:
  int choose_lanes(const Atom& atom, int vector_bytes);
  std::string pointer(const LeafOperand& operand);
  std::string address(const LeafOperand& operand, const std::string& pointer, const std::vector<long>& point);

  const LeafView& leaf_;
  CWriter& out_;
  StorageTable& storage_;
  CNames names_;   ///< temporaries are local to the leaf's block
  Helpers& helpers_;
  int lanes_ = 1;
  std::size_t left_ = 0, right_ = 1;  ///< reads
  std::string helper_;
};

}  // namespace tileopt
