/// The whole box of a leaf as straight-line code: unrolled over all box digits but the last, lanes along the last.
/// Values that do not change over some digits are loaded once, at their first use:
///   const f32x8 b0 = B[0..7]; const f32x8 b1 = B[8..15];
///   const float a0 = A[0];    C_0_0 += a0 * b0; C_0_1 += a0 * b1; ...
/// Where the lanes meet in one element, vectors are combined first and their lanes last:
///   f32x8 a0 = X[0..7]; f32x8 a1 = X[8..15]; ...; a0 = a0 + a1; s += fold_sum(a0);
/// Where an operand's neighbours lie across the lanes, a square of it is loaded line by line and turned by interleaving halves:
///   t0 = A[0][0..7], t1 = A[1][0..7], ...; u0 = low(t0, t4), u1 = high(t0, t4), ...
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/c_common/c_writer.h"
#include "backends/c_common/vector_c.h"
#include "backends/c_common/leaf_access.h"

namespace tileopt {

/// Named vectors serve a lane chunk whole where chunks and vectors line up.
bool lines_up(const LeafOperand& operand, int lanes);
/// The named vector whose first lane is the element at a box point.
std::string named_vector(const LeafOperand& operand, const std::vector<long>& point);

class VectorLeaf {
 public:
  VectorLeaf(const LeafView& leaf, CWriter& out, StorageTable& storage, const CNames& names, Helpers& helpers, int vector_bytes);

  /// Whether lanes can run together: the body has a vector form, lanes write different elements or meet in one, nothing depends on order.
  bool possible() const { return lanes_ > 1; }
  /// Whether print() declares variables: the caller gives them a block.
  bool declares() const;
  void print();
  /// Whether print_part() can serve a box that is not whole: registers hold what the leaf writes or reads, and no lane of memory is
  /// converted on its way.
  bool possible_in_part() const;
  /// The box up to `extents`: a test around every row, and of a chunk that is not whole the lanes beyond are neither touched in memory nor
  /// changed in registers.
  void print_part(const std::vector<AstExprPtr>& extents);

 private:
  int choose_lanes(int vector_bytes) const;
  std::set<std::size_t> used_reads() const;
  void print_pointers(const std::set<std::size_t>& used);
  /// Of the lines that the next value of a loop around reads; whole boxes alone fetch.
  void print_fetch_addresses(const std::set<std::size_t>& used);
  /// A box of as many rows as lanes, of which the operand's neighbours run along the rows: its lines are loaded, and turned in registers.
  bool turns(const LeafOperand& operand) const;
  /// `extents`: of a box that is not whole, else empty.
  void print_turned_loads(const std::vector<AstExprPtr>& extents);
  bool folds(ElementType element) const;
  /// Calls `visit` on the outer box points, row by row; the last coordinate is 0.
  void for_each_row(const std::function<void(std::vector<long>& point)>& visit);
  void print_statement(const std::vector<long>& point);
  VectorContext context_at(const std::vector<long>& point);
  void print_folded_row(std::vector<long> point);
  /// "extent > coordinate" for the outer digits of a row that may lie beyond; "0" where it does.
  std::vector<std::string> row_tests(const std::vector<AstExprPtr>& extents, const std::vector<long>& point);
  bool every_row_runs(const std::vector<AstExprPtr>& extents) const;
  void print_filled_row(std::vector<long> point, const std::vector<AstExprPtr>& extents);
  void print_folded_part(std::vector<long> point, const AstExprPtr& extent);
  void store_folded(const std::string& accumulator, const std::vector<long>& point);
  /// How many lanes of the chunk that starts at `from` lie below `extent`, C text; one that is no constant may be larger than the chunk.
  std::string lanes_left(const AstExprPtr& extent, long from);
  /// Calls `visit` for the chunks of a row of which the first `extent` elements count, with `part_` set: in a loop, or one by one (each in a
  /// test where it may be empty) where named vectors hold an operand.
  void for_each_part(const AstExprPtr& extent, std::vector<long> point, const std::function<void(const std::vector<long>& point)>& visit);
  bool reused(const LeafOperand& operand) const;
  VectorValue load(std::size_t access, const std::vector<long>& point);
  std::string load_text(const LeafOperand& operand, std::size_t slot, const std::vector<long>& point, bool* uniform);
  std::string memory_element(const LeafOperand& operand, std::size_t slot, const std::vector<long>& point);
  std::string index_value(std::size_t index, ElementType type, const std::vector<long>& point, bool* uniform);
  /// Asks for the lines that the next value of a loop around reads here.
  void print_fetches(const std::vector<long>& point);
  void store(const std::string& value, const std::vector<long>& point);
  std::vector<long> lane_point(std::vector<long> point, long lane) const;
  /// Assigns to a named vector.
  void assign(const std::string& vector, ElementType element, const std::string& value);
  /// The chunk's address may be moved whole or in part.
  bool moves_as_is(const LeafOperand& operand, std::size_t digit) const;
  std::string widen(const LeafOperand& operand, const std::string& stored);

  const LeafView& leaf_;
  CWriter& out_;
  StorageTable& storage_;
  CNames names_;   ///< temporaries are local to the leaf's block
  Helpers& helpers_;
  int lanes_ = 1;
  bool keeps_ = true;                        ///< lanes beyond the part stay as they are in registers that are written
  std::string part_;                         ///< lanes of the chunk that is printed, C text; "": all
  std::string chunk_;                        ///< variable that is added to the last box coordinate; "": none
  bool folded_ = false;                      ///< the lanes meet in one element
  bool raw_copy_ = false;                    ///< same stored elements on both sides: bits move as they are
  std::vector<std::string> pointers_;        ///< per operand (write first): pointer to the corner's element
  std::map<std::size_t, std::string> ahead_; ///< read -> address of its corner at the next value of the loop that is fetched for
  std::map<std::string, VectorValue> loaded_;
  std::map<std::size_t, std::vector<std::string>> turned_;  ///< slot -> the vector of every row
};

}  // namespace tileopt
