/// One Ast as device code: every launch a __global__ function, what is outside of launches a host function that launches them in order.
///
///   for k: for ib: for jb: (for it: for jt: ...)      host: for k { launch<ib x jb blocks, jt x it threads>(k, ...) }
///
/// Blocks are numbered by the independent loops, the innermost fastest; so are threads by the agent loops around a leaf.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/c_common/body_printer.h"
#include "backends/c_common/launcher.h"
#include "backends/gpu_common/box_copy.h"
#include "backends/gpu_common/launch_plan.h"

namespace tileopt {

/// Pipes of the machine files that CUDA has words for.
inline constexpr const char *kCopyPipe = "async_copy", *kMatrixPipe = "wgmma", *kBoxPipe = "tma";

struct PrintedLaunches {
  KernelCall call;        ///< of the host function; it returns 0, 6 (a launch failed) or 7 (too many blocks)
  std::string kernels;    ///< __global__ functions
  std::string host;
  PrintFacts facts;
};

class DevicePrinter : private BodyPrinter {
 public:
  /// `grid_threads`: a launch of more is refused; 0: none is.
  DevicePrinter(const Program& program, const Signature& signature, const Ast& ast, const Machine& machine, Helpers& helpers, long grid_threads = 0);

  /// `position`: in launch order. @throws Refusal.
  PrintedLaunches print(int position);

 private:
  void print_loop(const AstFor& loop) override;
  void declare_array(const Array& array) override;
  void print_sync(const AstSync& sync) override;
  void print_together(const AstLeaf& leaf, PrintFacts::Leaf fact) override;
  void print_box_copy(const AstLeaf& leaf, PrintFacts::Leaf fact) override;
  void declare_rings(const AstAllocate& allocate) override;
  void begin_allocation() override { held_around_.push_back(held_.size()); }
  void end_allocation() override {
    held_.resize(held_around_.back());
    held_around_.pop_back();
  }
  /// Some await below leaves products in flight.
  bool leaves_products(const AstNodePtr& node) const;
  std::string tested(const AstIf& branch, std::string condition) override;
  /// Accesses to registers that an instruction fills later are not moved past this place.
  void hold_registers();

  /// Bytes of the block's memory behind what is there, from a multiple of `alignment` on.
  long reserve_shared(const std::string& name, long bytes, long alignment);
  /// `kb_full + kb % 3`: the barrier of a position's slot.
  std::string phase_c(const std::string& barrier, const AstExprPtr& position);

  void print_launch(const AstFor& root);
  std::string resident_blocks(long threads) const;
  /// Meetings of all threads of a block in one iteration of a loop: the most that a loop below has.
  long most_meetings(const AstNodePtr& node, bool in_loop = false) const;
  void print_block_loop(const AstFor& loop);
  void print_agent_loop(const AstFor& loop);
  /// Flags of the asynchronous copies below, where nothing else is and a thread issues several of them.
  std::set<std::string> flags_of_copies(const AstNodePtr& node);
  /// Host lines that count the blocks.
  std::string grid_lines(const LaunchPlan& plan);
  std::string hull_lines(const LaunchPlan& plan, std::size_t position);
  /// The block's number taken apart into the variables of its loops.
  std::string block_lines(const LaunchPlan& plan, const std::string& body, std::vector<std::string>& parameters, std::vector<std::string>& arguments);
  std::string test_of(const AstFor& loop, const std::string& name, bool whole);
  void declare_workspace(const Array& array);
  std::string c_bound(const AstExprPtr& bound, int context = 0) { return integer_c(resolve(bound), names_, helpers_, context); }

  std::string independent_, agent_;
  long grid_threads_;
  int position_ = 0;
  std::vector<const TensorArgument*> tensors_;
  std::vector<std::string> host_variables_;   ///< of the host loops around
  std::optional<LaunchPlan> launch_;          ///< while one is printed
  std::vector<std::string> agent_variables_;  ///< of the agent loops around, outermost first
  std::vector<std::string> held_;             ///< arrays of registers in scope that instructions of several threads fill
  std::vector<std::size_t> held_around_;      ///< how many there were where each lifetime around began
  std::size_t host_loops_ = 0;                ///< around the launch that is printed
  int agent_loops_ = 0;                       ///< around what is printed
  std::map<std::string, std::string> phases_; ///< barriers in memory, as they are called
  bool leaves_products_ = false;              ///< somewhere in the kernel
  std::vector<BoxMap> maps_;                  ///< of the launch that is printed
  std::map<std::string, long> shared_offsets_;
  long shared_bytes_ = 0;
  long most_meetings_ = 0;                    ///< of the launch that is printed
  std::string launch_name_;                   ///< of the function that is printed
  int launches_ = 0;
  std::string kernels_;
  struct WorkspaceArray {
    std::string name, definition;
  };
  std::vector<WorkspaceArray> workspace_;
  long workspace_bytes_ = 0;
  std::map<std::string, long> workspace_offsets_;
  std::set<std::string> used_sizes_, used_tensors_;
  bool uses_workspace_ = false;
};

}  // namespace tileopt
