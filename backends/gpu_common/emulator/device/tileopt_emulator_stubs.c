/* Linked into every kernel under emulation. The kernel's text is compiled with -fsanitize=thread, alignment, bounds and overflow, but
 * without the sanitizers' libraries: the functions that instrumented code calls are these, and they hand on to the emulator. */
#include "tileopt_emulator_abi.h"

#define EXPORT __attribute__((visibility("default")))
#define SITE __builtin_return_address(0)

static const struct tileopt_emulator_calls* calls;

EXPORT void tileopt_emulator_attach(const struct tileopt_emulator_calls* table) { calls = table; }

int tileopt_emulator_launch(const struct tileopt_emulator_launch_request* request) { return calls->launch(request); }
int tileopt_emulator_index(enum tileopt_emulator_coordinate which) { return calls->index(which); }
unsigned char* tileopt_emulator_shared_memory(void) { return calls->shared_memory(); }
void tileopt_emulator_block_barrier(void) { calls->block_barrier(SITE); }
void tileopt_emulator_warp(const struct tileopt_emulator_warp_request* request) { calls->warp(request, SITE); }
void tileopt_emulator_atomic(void* address, unsigned bytes, enum tileopt_emulator_order order, void (*apply)(void*, void*), void* operands) {
  calls->atomic(address, bytes, order, apply, operands, SITE);
}
void tileopt_emulator_device_fence(void) { calls->device_fence(SITE); }
void tileopt_emulator_async_copy(void* shared, const void* global, unsigned bytes, unsigned source_bytes) {
  calls->async_copy(shared, global, bytes, source_bytes, SITE);
}
void tileopt_emulator_async_commit(void) { calls->async_commit(SITE); }
void tileopt_emulator_async_wait(unsigned pending_groups) { calls->async_wait(pending_groups, SITE); }
void tileopt_emulator_multiply(const struct tileopt_emulator_product* request) { calls->product(request, SITE); }
void tileopt_emulator_matrices(enum tileopt_emulator_matrix_event event, unsigned pending_groups) { calls->matrix_event(event, pending_groups, SITE); }
int tileopt_emulator_map_tensor(void* map, const struct tileopt_emulator_tensor* tensor) { return calls->map_tensor(map, tensor); }
void tileopt_emulator_phase(enum tileopt_emulator_phase_event event, void* phase, int slots, unsigned value) { calls->phase(event, phase, slots, value, SITE); }
void tileopt_emulator_copy_box(const struct tileopt_emulator_box* request) { calls->copy_box(request, SITE); }

/* Every access of memory that another thread could reach. */
#define ACCESS(bytes)                                                                                                       \
  void __tsan_read##bytes(void* address) { calls->access(address, bytes, TILEOPT_READ, SITE); }                             \
  void __tsan_write##bytes(void* address) { calls->access(address, bytes, TILEOPT_WRITE, SITE); }                           \
  void __tsan_unaligned_read##bytes(void* address) { calls->access(address, bytes, TILEOPT_READ, SITE); }                   \
  void __tsan_unaligned_write##bytes(void* address) { calls->access(address, bytes, TILEOPT_WRITE, SITE); }                 \
  void __tsan_volatile_read##bytes(void* address) { calls->access(address, bytes, TILEOPT_READ, SITE); }                    \
  void __tsan_volatile_write##bytes(void* address) { calls->access(address, bytes, TILEOPT_WRITE, SITE); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
void __tsan_read_range(void* address, unsigned long bytes) { calls->access(address, bytes, TILEOPT_READ, SITE); }
void __tsan_write_range(void* address, unsigned long bytes) { calls->access(address, bytes, TILEOPT_WRITE, SITE); }
void __tsan_init(void) {}
void __tsan_func_entry(void* site) { (void)site; }
void __tsan_func_exit(void) {}

#define UNDEFINED(name, kind, what) \
  void __ubsan_handle_##name(void* data, void* a, void* b) { (void)data; (void)a; (void)b; calls->undefined(kind, what, SITE); }
UNDEFINED(type_mismatch_v1, "misaligned", "an access that is not aligned to its type")
UNDEFINED(out_of_bounds, "index", "a subscript outside its array")
UNDEFINED(add_overflow, "overflow", "a signed addition that overflows")
UNDEFINED(sub_overflow, "overflow", "a signed subtraction that overflows")
UNDEFINED(mul_overflow, "overflow", "a signed multiplication that overflows")
UNDEFINED(negate_overflow, "overflow", "a negation that overflows")
UNDEFINED(divrem_overflow, "overflow", "a division by zero or one that overflows")
