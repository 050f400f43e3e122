#include "backends/gpu_common/emulator/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#if !TILEOPT_EMULATOR_UCONTEXT
// Stores the stack pointer in *save and goes on where `load` was stored. The floating-point control words are the same everywhere.
extern "C" void tileopt_emulator_switch(void** save, void* load);
asm(R"(
.text
.globl tileopt_emulator_switch
.hidden tileopt_emulator_switch
.type tileopt_emulator_switch,@function
tileopt_emulator_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size tileopt_emulator_switch,.-tileopt_emulator_switch
)");
#endif

namespace tileopt::emulator {

StackPool::~StackPool() {
  for (char* top : all_) munmap(top - bytes - guard, bytes + guard);
}

char* StackPool::take() {
  if (free_.empty()) {
    void* lowest = mmap(nullptr, bytes + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (lowest == MAP_FAILED) throw std::bad_alloc();
    mprotect(lowest, guard, PROT_NONE);
    all_.push_back(static_cast<char*>(lowest) + guard + bytes);
    free_.push_back(all_.back());
  }
  char* top = free_.back();
  free_.pop_back();
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(top - bytes, bytes);  // the fibre that had this stack before may never have returned
#endif
  return top;
}

#if TILEOPT_EMULATOR_UCONTEXT
void Fiber::start(char* stack_top, void (*entry)()) {
  getcontext(&own_);
  own_.uc_stack.ss_sp = stack_top - StackPool::bytes;
  own_.uc_stack.ss_size = StackPool::bytes;
  own_.uc_link = nullptr;
  makecontext(&own_, entry, 0);
}
void Fiber::enter() { swapcontext(&scheduler_, &own_); }
void Fiber::leave() { swapcontext(&own_, &scheduler_); }
#else
/// The stack as the switch leaves it: six registers, then where to return to. One more word keeps the alignment of a call.
void Fiber::start(char* stack_top, void (*entry)()) {
  auto** top = reinterpret_cast<void**>(reinterpret_cast<std::uintptr_t>(stack_top) & ~std::uintptr_t(15));
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  own_ = top;
}
void Fiber::enter() { tileopt_emulator_switch(&scheduler_, own_); }
void Fiber::leave() { tileopt_emulator_switch(&own_, scheduler_); }
#endif

}  // namespace tileopt::emulator
