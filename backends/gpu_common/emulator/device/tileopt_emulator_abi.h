/* What a kernel under emulation calls: a table that the emulator hands to the loaded object. C, so that both sides can read it.
 * `site` is a return address inside the printed text: it leads to the printed line. */
#ifndef TILEOPT_EMULATOR_ABI_H
#define TILEOPT_EMULATOR_ABI_H

#ifdef __cplusplus
extern "C" {
#endif

/* One launch: `run` is the kernel with its arguments bound, executed once a thread. */
struct tileopt_emulator_launch_request {
  const char* kernel;
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  void (*run)(const void* closure);
  const void* closure;
  unsigned long closure_bytes;
  void* const* arguments;   /* where each argument lies, for a launch on a device */
};

enum tileopt_emulator_coordinate {
  TILEOPT_THREAD_INDEX_X, TILEOPT_THREAD_INDEX_Y, TILEOPT_THREAD_INDEX_Z,
  TILEOPT_BLOCK_INDEX_X, TILEOPT_BLOCK_INDEX_Y, TILEOPT_BLOCK_INDEX_Z,
  TILEOPT_GRID_SIZE_X, TILEOPT_GRID_SIZE_Y, TILEOPT_GRID_SIZE_Z,
  TILEOPT_LANE_INDEX, TILEOPT_WARP_SIZE_INDEX
};

enum tileopt_emulator_meeting {
  TILEOPT_WARP_BARRIER, TILEOPT_SHUFFLE, TILEOPT_SHUFFLE_XOR, TILEOPT_SHUFFLE_UP, TILEOPT_SHUFFLE_DOWN, TILEOPT_BALLOT
};

/* One lane's part in a collective of its warp. */
struct tileopt_emulator_warp_request {
  enum tileopt_emulator_meeting kind;
  unsigned long long mask;   /* lanes that take part; ~0: all of the warp */
  unsigned argument;         /* shuffles: lane, lane mask or distance */
  void* value;               /* shuffles: given and received; ballot: unsigned long long, given 0 or 1, received the lanes */
  unsigned bytes;            /* of the value, at most 8 */
};

enum tileopt_emulator_access { TILEOPT_READ, TILEOPT_WRITE };
enum tileopt_emulator_order { TILEOPT_RELAXED, TILEOPT_ACQUIRE, TILEOPT_RELEASE };

/* A swizzled matrix in shared memory: rows of 128 bytes. */
struct tileopt_emulator_matrix {
  const void* first;
  unsigned leading, stride;   /* bytes from slab to slab, and from eight rows to the next eight */
};

/* One thread's part in a product of 64 rows, so many columns and 16 terms. */
struct tileopt_emulator_product {
  float* result;              /* columns / 2 registers */
  unsigned columns;
  int half;                   /* 0: bf16, 1: f16 */
  struct tileopt_emulator_matrix left, right;
  int left_turned, right_turned;
};

enum tileopt_emulator_matrix_event { TILEOPT_MATRIX_FENCE, TILEOPT_MATRIX_OPEN, TILEOPT_MATRIX_COMMIT, TILEOPT_MATRIX_WAIT };

/* A tensor as an engine is told of it that copies boxes: rows without gaps, the fastest dimension first. */
struct tileopt_emulator_tensor {
  const void* first;
  int element_bytes, rank, swizzle;   /* swizzle: bytes of a row in shared memory, whose 16-byte pieces are swapped; 0: none */
  long long extents[5];
  int box[5], apart[5];               /* of each dimension of a box: elements, and how many from one that is copied to the next */
};

enum tileopt_emulator_phase_event { TILEOPT_PHASES_BEGIN, TILEOPT_PHASE_EXPECT, TILEOPT_PHASE_WAIT };

/* One box into shared memory, whose bytes a barrier counts. */
struct tileopt_emulator_box {
  void* shared;
  const void* map;            /* as `map_tensor` has made it */
  void* phase;
  int rank, coordinates[5];
};

struct tileopt_emulator_calls {
  void (*access)(const void* address, unsigned long bytes, enum tileopt_emulator_access kind, const void* site);
  int (*launch)(const struct tileopt_emulator_launch_request* request);   /* 0, or the launch failed */
  int (*index)(enum tileopt_emulator_coordinate which);
  unsigned char* (*shared_memory)(void);
  void (*block_barrier)(const void* site);
  void (*warp)(const struct tileopt_emulator_warp_request* request, const void* site);
  /* apply(address, operands) reads and writes the element at once. */
  void (*atomic)(void* address, unsigned bytes, enum tileopt_emulator_order order, void (*apply)(void* address, void* operands), void* operands,
                 const void* site);
  void (*device_fence)(const void* site);
  void (*async_copy)(void* shared, const void* global, unsigned bytes, unsigned source_bytes, const void* site);
  void (*async_commit)(const void* site);
  void (*async_wait)(unsigned pending_groups, const void* site);
  void (*product)(const struct tileopt_emulator_product* request, const void* site);
  void (*matrix_event)(enum tileopt_emulator_matrix_event event, unsigned pending_groups, const void* site);
  int (*map_tensor)(void* map, const struct tileopt_emulator_tensor* tensor);   /* 128 bytes; 0, or the engine does not take the tensor */
  /* BEGIN: `slots` barriers from there on, with `value` arrivals a phase; EXPECT: arrives, and announces `value` bytes; WAIT: for a phase of that parity. */
  void (*phase)(enum tileopt_emulator_phase_event event, void* phase, int slots, unsigned value, const void* site);
  void (*copy_box)(const struct tileopt_emulator_box* request, const void* site);
  void (*undefined)(const char* kind, const char* what, const void* site);   /* behaviour that C leaves undefined */
};

/* Of the loaded object. */
void tileopt_emulator_attach(const struct tileopt_emulator_calls* calls);

/* Seen by the printed text (through tileopt_emulator.h); they add the site. */
int tileopt_emulator_launch(const struct tileopt_emulator_launch_request* request);
int tileopt_emulator_index(enum tileopt_emulator_coordinate which) __attribute__((const));
unsigned char* tileopt_emulator_shared_memory(void) __attribute__((const));
void tileopt_emulator_block_barrier(void);
void tileopt_emulator_warp(const struct tileopt_emulator_warp_request* request);
void tileopt_emulator_atomic(void* address, unsigned bytes, enum tileopt_emulator_order order, void (*apply)(void*, void*), void* operands);
void tileopt_emulator_device_fence(void);
void tileopt_emulator_async_copy(void* shared, const void* global, unsigned bytes, unsigned source_bytes);
void tileopt_emulator_async_commit(void);
void tileopt_emulator_async_wait(unsigned pending_groups);
void tileopt_emulator_multiply(const struct tileopt_emulator_product* request);
void tileopt_emulator_matrices(enum tileopt_emulator_matrix_event event, unsigned pending_groups);
int tileopt_emulator_map_tensor(void* map, const struct tileopt_emulator_tensor* tensor);
void tileopt_emulator_phase(enum tileopt_emulator_phase_event event, void* phase, int slots, unsigned value);
void tileopt_emulator_copy_box(const struct tileopt_emulator_box* request);

#ifdef __cplusplus
}
#endif
#endif
