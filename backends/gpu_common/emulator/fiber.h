/// A fibre: one emulated thread on a stack of its own. Switching saves the registers that a call preserves, and the stack pointer.
#pragma once

#include <cstddef>
#include <vector>

#if !defined(__x86_64__)
#define TILEOPT_EMULATOR_UCONTEXT 1
#include <ucontext.h>
#endif

namespace tileopt::emulator {

/// Stacks with an inaccessible page below each, kept and used again.
class StackPool {
 public:
  static constexpr std::size_t bytes = std::size_t(128) << 10, guard = 4096;
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();
  /// The highest address of a free stack. @throws std::bad_alloc
  char* take();
  void give(char* top) { free_.push_back(top); }

 private:
  std::vector<char*> all_, free_;
};

class Fiber {
 public:
  /// Makes `entry` what the first enter() runs. It must never return.
  void start(char* stack_top, void (*entry)());
  /// Runs the fibre until it leaves. Called by the scheduler.
  void enter();
  /// Back to the scheduler. Called on the fibre.
  void leave();

 private:
#if TILEOPT_EMULATOR_UCONTEXT
  ucontext_t own_, scheduler_;
#else
  void* own_ = nullptr;
  void* scheduler_ = nullptr;
#endif
};

}  // namespace tileopt::emulator
