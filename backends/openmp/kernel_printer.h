/// One kernel: its Ast as a static C function.
#pragma once

#include <string>
#include <vector>

#include "backends/c_common/body_printer.h"
#include "backends/c_common/launcher.h"
#include "ir/module.h"

namespace tileopt {

struct PrintedKernel {
  KernelCall call;
  std::string text;   ///< the function
  PrintFacts facts;
};

class KernelPrinter : private BodyPrinter {
 public:
  KernelPrinter(const Program& program, const Signature& signature, const Ast& ast, const Machine& machine, Helpers& helpers);

  /// `position`: in launch order. @throws Refusal.
  PrintedKernel print(int position);

 private:
  void print_loop(const AstFor& loop) override;
  void declare_array(const Array& array) override;
  void print_sync(const AstSync& sync) override;
  void begin_allocation() override { stack_bytes_.push_back(stack_bytes_.back()); }
  void end_allocation() override { stack_bytes_.pop_back(); }

  std::string thread_pragma(const AstFor& loop) const;
  std::string unroll_pragma(const AstFor& loop) const;
  /// Pragma of a simd loop; sets `replace` where its accumulator has to become a C variable around the loop.
  std::string simd_pragma(const AstFor& loop, const SimdLoop& simd, bool* replace);
  std::string reduction_clause(const Accumulation& accumulation, const std::string& variable);

  int threads_ = 0;        ///< thread loops around
  long workspace_bytes_ = 0;
  std::vector<double> stack_bytes_ = {0};  ///< by open allocation
  std::map<std::string, long> workspace_offsets_;
};

}  // namespace tileopt
