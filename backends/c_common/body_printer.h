/// What printers of C-like kernels share: loops that count, one value of an index, unrolled loops, conditions, leaves, and the facts about
/// them. A printer says which loops are something else (threads, lanes, blocks), and where arrays live.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/c_common/c_writer.h"
#include "backends/c_common/leaf_printer.h"
#include "backends/c_common/loop_pragma.h"
#include "backends/c_common/register_arrays.h"
#include "ir/machine.h"
#include "ir/module.h"

namespace tileopt {

/// Whether `identifier` stands in C text as a whole word.
bool mentions(const std::string& text, const std::string& identifier);
/// Types in which a C variable accumulates what memory would: not the floats that storage rounds, nor what wraps inside a byte.
bool accumulates_in(ElementType type);

class BodyPrinter {
 public:
  virtual ~BodyPrinter() = default;

 protected:
  BodyPrinter(const Program& program, const Signature& signature, const Ast& ast, const Machine& machine, Helpers& helpers, Language language);

  /// Tensors of this kernel get their storage, and those that do not lie row by row a fact.
  std::vector<const TensorArgument*> add_tensors();

  void print_node(const AstNodePtr& node);
  void print_body(const AstNodePtr& node);
  /// The body of a loop or branch whose braces have just been opened: an only child needs none of its own.
  void print_braced(const AstNodePtr& node);
  bool take_braces();
  void print_for(const AstFor& loop);
  /// The value of the guard alone:  { const int64_t s = idx[i]; if (0 <= s && s <= B - 1) { ... } }
  void print_bound(const AstFor& loop);
  void print_unrolled(const AstFor& loop, const std::vector<std::int64_t>& values);
  void print_if(const AstIf& branch);
  void print_allocate(const AstAllocate& allocate);
  void print_leaf(const AstLeaf& leaf);

  /// Loops that the language has a form of its own for; by default they count. `simd`: what lanes along the loop would share.
  virtual void print_loop(const AstFor& loop) = 0;
  virtual void declare_array(const Array& array) = 0;
  virtual void print_sync(const AstSync& sync) = 0;
  /// A leaf whose atom several agents run together; `fact`: what is known of every leaf. By default refused.
  virtual void print_together(const AstLeaf& leaf, PrintFacts::Leaf fact);
  /// A leaf whose atom copies a whole box by an engine that counts bytes. By default refused.
  virtual void print_box_copy(const AstLeaf& leaf, PrintFacts::Leaf fact);
  /// What rings need, before anything uses their positions.
  virtual void declare_rings(const AstAllocate&) {}
  /// The test of a branch as it is printed.
  virtual std::string tested(const AstIf&, std::string condition) { return condition; }
  /// Around the declarations and the body of one lifetime.
  virtual void begin_allocation() {}
  virtual void end_allocation() {}

  std::string unroll_count(const AstFor& loop) const;
  bool replaceable(const Accumulation& accumulation) const;
  /// The loop with its body; `fenced`: a fence ends the body.
  void print_loop_lines(const AstFor& loop, const std::string& pragma, bool fenced = false, PrintFacts::Accumulator accumulator = {});
  /// Some leaf below stores past the caches.
  bool streams_below(const AstNodePtr& node) const;
  void print_fence();
  /// The corners of the leaf's reads at the next value of the loop that is fetched for; empty where there is none, or it does not move them.
  std::vector<Subscripts> reads_ahead(const AstLeaf& leaf) const;
  /// The accumulated element lives in a C variable during the loop. `clause(variable)`: appended to the pragma.
  void print_replaced(const AstFor& loop, const Accumulation& accumulation, const std::string& pragma_head,
                      const std::function<std::string(const std::string&)>& clause);
  /// A counting loop around one leaf with wide accesses, in two: while its box is whole, without a test of every box, and the rest.
  bool print_split_loop(const AstFor& loop, const std::string& pragma, const PrintFacts::Accumulator& accumulator);
  /// A counting loop whose only leaf accumulates into one element keeps that in a variable.
  void print_counting(const AstFor& loop, const std::string& pragma);
  std::string loop_header(const AstFor& loop);

  void declare_vectors(const Storage& storage);
  const Array& promoted(const std::string& name) const;
  AstExprPtr resolve(const AstExprPtr& expr) const { return constants_.empty() ? expr : substitute(expr, constants_); }
  std::vector<AstExprPtr> resolve(const std::vector<AstExprPtr>& exprs) const;
  void record_loop(const AstFor& loop, const std::string& header, const std::string& pragma);

  const Program& program_;
  const Signature& signature_;
  const Ast& ast_;
  const Machine& machine_;
  Helpers& helpers_;
  Language language_;
  CNames names_;
  StorageTable storage_;
  CWriter out_;
  RegisterArrays registers_;
  PrintFacts facts_;
  std::map<std::string, AstExprPtr> constants_;  ///< variables of loops that are being unrolled
  std::set<std::string> true_flags_, false_flags_;  ///< C variables that say whether accesses are aligned, tested around
  int muted_ = 0;          ///< > 0 in repeated copies of an unrolled body: facts are recorded once
  std::map<std::string, const AstFor*> around_;  ///< digit -> loop around that counts
  std::set<std::string> settled_;  ///< variables of bound loops around
  enum class Boxes { any, whole, cut };
  Boxes boxes_ = Boxes::any;  ///< which boxes the next leaf runs
  bool braced_ = false;    ///< the next node is the only one between its braces
};

}  // namespace tileopt
