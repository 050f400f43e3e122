/// One kernel: its Ast as a static C function.
#pragma once

#include <string>
#include <vector>

#include "backends/c_common/c_writer.h"
#include "backends/openmp/launcher.h"
#include "backends/openmp/leaf_printer.h"
#include "backends/openmp/loop_pragma.h"
#include "backends/openmp/register_arrays.h"
#include "ir/machine.h"
#include "ir/module.h"

namespace tileopt {

struct PrintedKernel {
  KernelCall call;
  std::string text;   ///< the function
  PrintFacts facts;
};

class KernelPrinter {
 public:
  KernelPrinter(const Program& program, const Signature& signature, const Ast& ast, const Machine& machine, Helpers& helpers);

  /// `position`: in launch order. @throws Refusal.
  PrintedKernel print(int position);

 private:
  struct Accumulator {
    Storage original;
    std::string element;   ///< the element that it stands for
    std::string clause;    ///< "+:acc"
  };

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

  std::string thread_pragma(const AstFor& loop) const;
  std::string unroll_pragma(const AstFor& loop) const;
  /// Pragma of a simd loop; sets `replace` where its accumulator has to become a C variable around the loop.
  std::string simd_pragma(const AstFor& loop, const SimdLoop& simd, bool* replace);
  std::string reduction_clause(const Accumulation& accumulation, const std::string& variable);
  bool replaceable(const Accumulation& accumulation) const;
  void print_loop_lines(const AstFor& loop, const std::string& pragma);
  void print_replaced(const AstFor& loop, const Accumulation& accumulation, const std::string& pragma_head);
  std::string loop_header(const AstFor& loop);

  void declare_array(const Array& array);
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
  CNames names_;
  StorageTable storage_;
  CWriter out_;
  RegisterArrays registers_;
  PrintFacts facts_;
  std::map<std::string, AstExprPtr> constants_;  ///< variables of loops that are being unrolled
  int muted_ = 0;          ///< > 0 in repeated copies of an unrolled body: facts are recorded once
  std::set<std::string> settled_;  ///< variables of bound loops around
  int threads_ = 0;        ///< thread loops around
  bool braced_ = false;    ///< the next node is the only one between its braces
  long workspace_bytes_ = 0;
  double stack_bytes_ = 0;
  std::map<std::string, long> workspace_offsets_;
};

}  // namespace tileopt
