/* The words of CUDA and HIP that printed kernels use, for a host compiler: the text runs in the emulator instead of on a GPU.
 * Printed text includes this where TILEOPT_EMULATE is defined. Only declarations: what happens is the emulator's. */
#ifndef TILEOPT_EMULATOR_H
#define TILEOPT_EMULATOR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tileopt_emulator_abi.h"

#define __global__ __attribute__((noinline, visibility("hidden"))) /* chains of inlined calls end at the kernel */
#define __device__
#define __host__
#define __constant__ static const
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define TILEOPT_EMULATOR_WORD static inline __attribute__((always_inline))
#define TILEOPT_DEVICE static inline __attribute__((always_inline))

typedef void* tileopt_stream;

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

#define TILEOPT_THREAD_X (tileopt_emulator_index(TILEOPT_THREAD_INDEX_X))
#define TILEOPT_THREAD_Y (tileopt_emulator_index(TILEOPT_THREAD_INDEX_Y))
#define TILEOPT_THREAD_Z (tileopt_emulator_index(TILEOPT_THREAD_INDEX_Z))
#define TILEOPT_BLOCK_X (tileopt_emulator_index(TILEOPT_BLOCK_INDEX_X))
#define TILEOPT_BLOCK_Y (tileopt_emulator_index(TILEOPT_BLOCK_INDEX_Y))
#define TILEOPT_BLOCK_Z (tileopt_emulator_index(TILEOPT_BLOCK_INDEX_Z))
#define TILEOPT_GRID_X (tileopt_emulator_index(TILEOPT_GRID_SIZE_X))
#define TILEOPT_GRID_Y (tileopt_emulator_index(TILEOPT_GRID_SIZE_Y))
#define TILEOPT_GRID_Z (tileopt_emulator_index(TILEOPT_GRID_SIZE_Z))
#define TILEOPT_LANE (tileopt_emulator_index(TILEOPT_LANE_INDEX))
#define TILEOPT_WARP_SIZE (tileopt_emulator_index(TILEOPT_WARP_SIZE_INDEX))
#define TILEOPT_SHARED_BASE (tileopt_emulator_shared_memory())

/* An expression: 0, or the launch failed. Arguments are evaluated once, here, and bound by value. */
#define TILEOPT_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  ((void)(stream), tileopt_emulator_launch_of(#kernel, grid, block, shared_bytes, kernel, ##__VA_ARGS__))
template <class T>
struct tileopt_emulator_same {
  using type = T;
};
template <class... Parameters>
static int tileopt_emulator_launch_of(const char* name, dim3 grid, dim3 block, unsigned shared_bytes, void (*kernel)(Parameters...),
                                      typename tileopt_emulator_same<Parameters>::type... arguments) {
  const auto run = [=] { kernel(arguments...); };
  using Run = decltype(run);
  void* const pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
  const tileopt_emulator_launch_request request = {
      name, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes, [](const void* closure) { (*static_cast<Run*>(closure))(); },
      &run, sizeof run, pointers};
  return tileopt_emulator_launch(&request);
}

/* ---- collectives ---- */
TILEOPT_EMULATOR_WORD void tileopt_block_barrier() { tileopt_emulator_block_barrier(); }
TILEOPT_EMULATOR_WORD void tileopt_warp_barrier(unsigned long long mask = ~0ull) {
  const tileopt_emulator_warp_request request = {TILEOPT_WARP_BARRIER, mask, 0, nullptr, 0};
  tileopt_emulator_warp(&request);
}
template <class T>
TILEOPT_EMULATOR_WORD T tileopt_emulator_shuffle(tileopt_emulator_meeting kind, unsigned long long mask, T value, unsigned argument) {
  static_assert(sizeof(T) <= 8, "shuffled values have at most eight bytes");
  const tileopt_emulator_warp_request request = {kind, mask, argument, &value, sizeof(T)};
  tileopt_emulator_warp(&request);
  return value;
}
template <class T>
TILEOPT_EMULATOR_WORD T tileopt_shuffle(unsigned long long mask, T value, unsigned lane) {
  return tileopt_emulator_shuffle(TILEOPT_SHUFFLE, mask, value, lane);
}
template <class T>
TILEOPT_EMULATOR_WORD T tileopt_shuffle_xor(unsigned long long mask, T value, unsigned lane_mask) {
  return tileopt_emulator_shuffle(TILEOPT_SHUFFLE_XOR, mask, value, lane_mask);
}
template <class T>
TILEOPT_EMULATOR_WORD T tileopt_shuffle_up(unsigned long long mask, T value, unsigned distance) {
  return tileopt_emulator_shuffle(TILEOPT_SHUFFLE_UP, mask, value, distance);
}
template <class T>
TILEOPT_EMULATOR_WORD T tileopt_shuffle_down(unsigned long long mask, T value, unsigned distance) {
  return tileopt_emulator_shuffle(TILEOPT_SHUFFLE_DOWN, mask, value, distance);
}
/* By name of the element type: all lanes of the warp take part. */
#define TILEOPT_EMULATOR_TYPED_SHUFFLES(suffix, type)                                                    \
  TILEOPT_EMULATOR_WORD type tileopt_shuffle_xor_##suffix(type value, unsigned lane_mask) {              \
    return tileopt_shuffle_xor(~0ull, value, lane_mask);                                                 \
  }
TILEOPT_EMULATOR_TYPED_SHUFFLES(f32, float)
TILEOPT_EMULATOR_TYPED_SHUFFLES(f64, double)
TILEOPT_EMULATOR_TYPED_SHUFFLES(i32, int32_t)
TILEOPT_EMULATOR_TYPED_SHUFFLES(u32, uint32_t)
TILEOPT_EMULATOR_TYPED_SHUFFLES(i64, int64_t)
TILEOPT_EMULATOR_TYPED_SHUFFLES(u64, uint64_t)
TILEOPT_EMULATOR_WORD unsigned long long tileopt_ballot(unsigned long long mask, bool predicate) {
  return tileopt_emulator_shuffle(TILEOPT_BALLOT, mask, static_cast<unsigned long long>(predicate), 0);
}

/* ---- atomics: return what was there before ---- */
template <class T, class Update>
TILEOPT_EMULATOR_WORD T tileopt_emulator_update(T* address, tileopt_emulator_order order, Update update) {
  struct Operands {
    Update update;
    T before;
  } operands = {update, T()};
  tileopt_emulator_atomic(
      address, sizeof(T), order,
      [](void* element, void* both) {
        Operands& mine = *static_cast<Operands*>(both);
        mine.before = *static_cast<T*>(element);
        *static_cast<T*>(element) = mine.update(mine.before);
      },
      &operands);
  return operands.before;
}
/* T: the element's type, of the size of `type`, in which the operation is done. */
#define TILEOPT_EMULATOR_ATOMIC(name, type, result)                                                                                    \
  template <class T>                                                                                                                   \
  TILEOPT_EMULATOR_WORD T tileopt_atomic_##name(T* element, T operand) {                                                               \
    static_assert(sizeof(T) == sizeof(type), "an element of another size");                                                            \
    type value;                                                                                                                        \
    memcpy(&value, &operand, sizeof value);                                                                                            \
    const type old = tileopt_emulator_update(reinterpret_cast<type*>(element), TILEOPT_RELAXED,                                        \
                                             [value](type before) { return static_cast<type>(result); });                              \
    memcpy(&operand, &old, sizeof old);                                                                                                \
    return operand;                                                                                                                    \
  }
#define TILEOPT_EMULATOR_INTEGER_ATOMICS(suffix, type, wide)                                             \
  TILEOPT_EMULATOR_ATOMIC(add_##suffix, type, static_cast<wide>(before) + static_cast<wide>(value))      \
  TILEOPT_EMULATOR_ATOMIC(and_##suffix, type, before & value)                                            \
  TILEOPT_EMULATOR_ATOMIC(or_##suffix, type, before | value)                                             \
  TILEOPT_EMULATOR_ATOMIC(xor_##suffix, type, before ^ value)                                            \
  TILEOPT_EMULATOR_ATOMIC(min_##suffix, type, value < before ? value : before)                           \
  TILEOPT_EMULATOR_ATOMIC(max_##suffix, type, value > before ? value : before)                           \
  TILEOPT_EMULATOR_ATOMIC(exchange_##suffix, type, value)
TILEOPT_EMULATOR_INTEGER_ATOMICS(i32, int32_t, uint32_t)
TILEOPT_EMULATOR_INTEGER_ATOMICS(u32, uint32_t, uint32_t)
TILEOPT_EMULATOR_INTEGER_ATOMICS(i64, int64_t, uint64_t)
TILEOPT_EMULATOR_INTEGER_ATOMICS(u64, uint64_t, uint64_t)
TILEOPT_EMULATOR_ATOMIC(add_f32, float, before + value)
TILEOPT_EMULATOR_ATOMIC(add_f64, double, before + value)
TILEOPT_EMULATOR_WORD uint32_t tileopt_atomic_compare_exchange_u32(uint32_t* address, uint32_t expected, uint32_t value) {
  return tileopt_emulator_update(address, TILEOPT_RELAXED, [=](uint32_t before) { return before == expected ? value : before; });
}
TILEOPT_EMULATOR_WORD uint32_t tileopt_atomic_load_acquire_u32(const uint32_t* address) {
  return tileopt_emulator_update(const_cast<uint32_t*>(address), TILEOPT_ACQUIRE, [](uint32_t before) { return before; });
}
TILEOPT_EMULATOR_WORD void tileopt_atomic_store_release_u32(uint32_t* address, uint32_t value) {
  tileopt_emulator_update(address, TILEOPT_RELEASE, [value](uint32_t) { return value; });
}
TILEOPT_EMULATOR_WORD void tileopt_device_fence() { tileopt_emulator_device_fence(); }

/* ---- vectors ---- */
struct alignas(4) tileopt_vector4 { uint32_t part[1]; };
struct alignas(8) tileopt_vector8 { uint32_t part[2]; };
struct alignas(16) tileopt_vector16 { uint32_t part[4]; };
TILEOPT_EMULATOR_WORD tileopt_vector4 tileopt_load4(const void* p) { return *static_cast<const tileopt_vector4*>(p); }
TILEOPT_EMULATOR_WORD tileopt_vector8 tileopt_load8(const void* p) { return *static_cast<const tileopt_vector8*>(p); }
TILEOPT_EMULATOR_WORD tileopt_vector16 tileopt_load16(const void* p) { return *static_cast<const tileopt_vector16*>(p); }
TILEOPT_EMULATOR_WORD void tileopt_store4(void* p, tileopt_vector4 v) { *static_cast<tileopt_vector4*>(p) = v; }
TILEOPT_EMULATOR_WORD void tileopt_store8(void* p, tileopt_vector8 v) { *static_cast<tileopt_vector8*>(p) = v; }
TILEOPT_EMULATOR_WORD void tileopt_store16(void* p, tileopt_vector16 v) { *static_cast<tileopt_vector16*>(p) = v; }

/* Between memory and a thread's own array, which is aligned like the access. */
#define TILEOPT_EMULATOR_WIDE(bytes)                                                                                                            \
  TILEOPT_EMULATOR_WORD void tileopt_fill##bytes(void* own, const void* memory) { tileopt_store##bytes(own, tileopt_load##bytes(memory)); } \
  TILEOPT_EMULATOR_WORD void tileopt_spill##bytes(void* memory, const void* own) { tileopt_store##bytes(memory, tileopt_load##bytes(own)); }
TILEOPT_EMULATOR_WIDE(4)
TILEOPT_EMULATOR_WIDE(8)
TILEOPT_EMULATOR_WIDE(16)

/* ---- cp.async ---- */
#define TILEOPT_EMULATOR_ASYNC_COPY(bytes)                                                                                     \
  TILEOPT_EMULATOR_WORD void tileopt_async_copy##bytes(void* shared, const void* global) {                                     \
    tileopt_emulator_async_copy(shared, global, bytes, bytes);                                                                 \
  }                                                                                                                            \
  TILEOPT_EMULATOR_WORD void tileopt_async_copy_or_zero##bytes(void* shared, unsigned offset, const void* global, unsigned source_bytes) { \
    tileopt_emulator_async_copy((unsigned char*)shared + offset, global, bytes, source_bytes);                                                          \
  }
TILEOPT_EMULATOR_ASYNC_COPY(4)
TILEOPT_EMULATOR_ASYNC_COPY(8)
TILEOPT_EMULATOR_ASYNC_COPY(16)
TILEOPT_EMULATOR_WORD void tileopt_async_commit() { tileopt_emulator_async_commit(); }
#define tileopt_async_wait(pending_groups) (tileopt_emulator_async_wait(pending_groups))

/* ---- wgmma ---- */
TILEOPT_EMULATOR_WORD tileopt_emulator_matrix tileopt_matrix(const void* first, unsigned leading_bytes, unsigned stride_bytes) { return {first, leading_bytes, stride_bytes}; }
#define TILEOPT_EMULATOR_WGMMA(type, half, columns)                                                                                       \
  template <int left_turned, int right_turned>                                                                                            \
  TILEOPT_EMULATOR_WORD void tileopt_wgmma_##type##_n##columns(float (&d)[columns / 2], tileopt_emulator_matrix left, tileopt_emulator_matrix right) { \
    const tileopt_emulator_product request = {d, columns, half, left, right, left_turned, right_turned};                                  \
    tileopt_emulator_multiply(&request);                                                                                                  \
  }
#define TILEOPT_EMULATOR_WGMMAS(columns) TILEOPT_EMULATOR_WGMMA(bf16, 0, columns) TILEOPT_EMULATOR_WGMMA(f16, 1, columns)
TILEOPT_EMULATOR_WGMMAS(16)
TILEOPT_EMULATOR_WGMMAS(32)
TILEOPT_EMULATOR_WGMMAS(64)
TILEOPT_EMULATOR_WGMMAS(128)
TILEOPT_EMULATOR_WGMMAS(192)
TILEOPT_EMULATOR_WGMMAS(256)
TILEOPT_EMULATOR_WORD void tileopt_wgmma_memory_fence() { tileopt_emulator_matrices(TILEOPT_MATRIX_FENCE, 0); }
TILEOPT_EMULATOR_WORD void tileopt_wgmma_open() { tileopt_emulator_matrices(TILEOPT_MATRIX_OPEN, 0); }
TILEOPT_EMULATOR_WORD void tileopt_wgmma_commit() { tileopt_emulator_matrices(TILEOPT_MATRIX_COMMIT, 0); }
#define tileopt_wgmma_wait(pending_groups) (tileopt_emulator_matrices(TILEOPT_MATRIX_WAIT, pending_groups))
/* ---- boxes of tensors, and barriers that count their bytes ---- */
#define __grid_constant__
struct alignas(64) tileopt_tensor_map { uint64_t words[16]; };
static inline int tileopt_map_tensor(tileopt_tensor_map* map, const void* first, int element_bytes, int rank, const int64_t* extents, const int64_t* box, int swizzle, const int64_t* apart = nullptr) {
  tileopt_emulator_tensor tensor = {first, element_bytes, rank, swizzle, {}, {}, {}};
  for (int d = 0; d < rank; ++d) {
    tensor.extents[d] = extents[d];
    tensor.box[d] = (int)box[d];
    tensor.apart[d] = apart == nullptr ? 1 : (int)apart[d];
  }
  return tileopt_emulator_map_tensor(map, &tensor);
}
TILEOPT_EMULATOR_WORD void tileopt_phases_begin(uint64_t* phases, int slots, unsigned arrivals) { tileopt_emulator_phase(TILEOPT_PHASES_BEGIN, phases, slots, arrivals); }
TILEOPT_EMULATOR_WORD void tileopt_phase_expect(uint64_t* phase, unsigned bytes) { tileopt_emulator_phase(TILEOPT_PHASE_EXPECT, phase, 1, bytes); }
TILEOPT_EMULATOR_WORD void tileopt_phase_wait(uint64_t* phase, unsigned parity) { tileopt_emulator_phase(TILEOPT_PHASE_WAIT, phase, 1, parity); }
TILEOPT_EMULATOR_WORD void tileopt_copy_box2(void* shared, const tileopt_tensor_map* map, uint64_t* phase, int c0, int c1) {
  const tileopt_emulator_box request = {shared, map, phase, 2, {c0, c1}};
  tileopt_emulator_copy_box(&request);
}
TILEOPT_EMULATOR_WORD void tileopt_copy_box3(void* shared, const tileopt_tensor_map* map, uint64_t* phase, int c0, int c1, int c2) {
  const tileopt_emulator_box request = {shared, map, phase, 3, {c0, c1, c2}};
  tileopt_emulator_copy_box(&request);
}
TILEOPT_EMULATOR_WORD void tileopt_copy_box4(void* shared, const tileopt_tensor_map* map, uint64_t* phase, int c0, int c1, int c2, int c3) {
  const tileopt_emulator_box request = {shared, map, phase, 4, {c0, c1, c2, c3}};
  tileopt_emulator_copy_box(&request);
}
TILEOPT_EMULATOR_WORD void tileopt_copy_box5(void* shared, const tileopt_tensor_map* map, uint64_t* phase, int c0, int c1, int c2, int c3, int c4) {
  const tileopt_emulator_box request = {shared, map, phase, 5, {c0, c1, c2, c3, c4}};
  tileopt_emulator_copy_box(&request);
}
TILEOPT_EMULATOR_WORD bool tileopt_unknown(bool value) { return value; }
/* The pointer has escaped: what is computed later shows in the array. */
#define TILEOPT_EMULATOR_HOLD(count) \
  TILEOPT_EMULATOR_WORD void tileopt_hold##count(float (&d)[count]) { __asm__ volatile("" ::"r"(d) : "memory"); }
TILEOPT_EMULATOR_HOLD(8)
TILEOPT_EMULATOR_HOLD(16)
TILEOPT_EMULATOR_HOLD(32)
TILEOPT_EMULATOR_HOLD(64)
TILEOPT_EMULATOR_HOLD(96)
TILEOPT_EMULATOR_HOLD(128)

#endif
