#include "backends/gpu_common/wrappers.h"

#include "support/error.h"

namespace tileopt {

const char* const wrappers_begin = "#if defined(TILEOPT_EMULATE)\n#include \"tileopt_emulator.h\"\n#else\n";
const char* const wrappers_end = "#endif\n\n";

const char* const common_wrappers = R"(#define TILEOPT_DEVICE static __host__ __device__ __forceinline__
#define TILEOPT_BLOCK_X blockIdx.x
#define TILEOPT_THREAD_X threadIdx.x
)";

namespace {
const char* const shared_base = R"(extern __shared__ __align__(1024) unsigned char tileopt_shared[];
#define TILEOPT_SHARED_BASE tileopt_shared
)";

const char* const async_groups = R"(static __device__ __forceinline__ void tileopt_async_commit(void) { asm volatile("cp.async.commit_group;" ::: "memory"); }
#define tileopt_async_wait(pending_groups) asm volatile("cp.async.wait_group %0;" ::"n"(pending_groups) : "memory")
)";

/// Where a swizzled matrix lies, as the instruction wants it (PTX ISA, "Matrix Descriptor"): address, distances, rows of 128 bytes.
const char* const matrix = R"(static __device__ __forceinline__ uint64_t tileopt_matrix(const void* first, unsigned leading_bytes, unsigned stride_bytes) {
  const uint64_t address = (uint64_t)((unsigned)__cvta_generic_to_shared(first) & 0x3ffff) >> 4;
  return address | (uint64_t)(leading_bytes >> 4) << 16 | (uint64_t)(stride_bytes >> 4) << 32 | (uint64_t)1 << 62;
}
)";

const char* const wgmma_groups = R"(static __device__ __forceinline__ void tileopt_wgmma_memory_fence(void) { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
static __device__ __forceinline__ void tileopt_wgmma_open(void) { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
static __device__ __forceinline__ void tileopt_wgmma_commit(void) { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
#define tileopt_wgmma_wait(pending_groups) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending_groups) : "memory")
)";

/// `{%0, %1, ...}` and `"+f"(d[0]), "+f"(d[1]), ...` of so many registers.
std::string register_list(long count, bool operands) {
  std::string text;
  for (long i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + (operands ? "\"+f\"(d[" + std::to_string(i) + "])" : "%" + std::to_string(i));
  return text;
}

/// The instruction of a warpgroup on 64 rows, so many columns and 16 terms: "tileopt_wgmma_bf16_n256".
std::string wgmma_wrapper(const std::string& name) {
  const std::string head = "tileopt_wgmma_";
  const std::size_t split = name.rfind("_n");
  const std::string type = name.substr(head.size(), split - head.size()), columns = name.substr(split + 2);
  const long registers = std::stol(columns) / 2;
  const auto operand = [&](long i) { return "%" + std::to_string(registers + i); };
  return "template <int left_turned, int right_turned> static __device__ __forceinline__ void " + name + "(float (&d)[" + std::to_string(registers) + "], uint64_t left, uint64_t right) {\n" +
         "  asm volatile(\"wgmma.mma_async.sync.aligned.m64n" + columns + "k16.f32." + type + "." + type + " {" + register_list(registers, false) + "}, " + operand(0) + ", " + operand(1) +
         ", 1, 1, 1, " + operand(2) + ", " + operand(3) + ";\"\n               : " + register_list(registers, true) + "\n               : \"l\"(left), \"l\"(right), \"n\"(left_turned), \"n\"(right_turned) : \"memory\");\n}\n";
}

const char* const unknown = R"(static __device__ __forceinline__ bool tileopt_unknown(bool value) {
  int same = value;
  asm volatile("" : "+r"(same));
  return same != 0;
}
)";

/// Registers are as the instructions before have left them, and not read earlier.
std::string hold_wrapper(const std::string& count) {
  return "static __device__ __forceinline__ void tileopt_hold" + count + "(float (&d)[" + count + "]) {\n  asm volatile(\"\" : " + register_list(std::stol(count), true) + " :: \"memory\");\n}\n";
}

/// Barriers in memory: a phase is complete when its arrivals were made and the bytes that were announced have come (PTX ISA, "mbarrier").
const char* const phases = R"(static __device__ __forceinline__ void tileopt_phases_begin(uint64_t* phases, int slots, unsigned arrivals) {
  for (int slot = 0; slot < slots; ++slot)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(phases + slot)), "r"(arrivals) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
static __device__ __forceinline__ void tileopt_phase_expect(uint64_t* phase, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(phase)), "r"(bytes) : "memory");
}
static __device__ __forceinline__ void tileopt_phase_wait(uint64_t* phase, unsigned parity) {
  const unsigned address = (unsigned)__cvta_generic_to_shared(phase);
  unsigned done = 0;
  do {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(address), "r"(parity) : "memory");
  } while (done == 0);
}
)";

/// What the engine that copies boxes is told of a tensor. Extents and boxes: elements, the fastest dimension first; of a box every element, or those
/// that are so many `apart` (CUDA driver API,
/// cuTensorMapEncodeTiled: elements of 1, 2, 4 or 8 bytes; rows of 128 bytes that are swizzled; 128 bytes fetched at a time into the second
/// cache; zeros beyond the extents).
const char* const tensor_map = R"(struct alignas(64) tileopt_tensor_map {
  uint64_t words[16];
};
#if !defined(__CUDACC_RTC__)
/* 0, or the engine does not take the tensor. */
static int tileopt_map_tensor(tileopt_tensor_map* map, const void* first, int element_bytes, int rank, const int64_t* extents, const int64_t* box, int swizzle, const int64_t* apart = NULL) {
  typedef int (*encode_type)(void*, int, unsigned, void*, const uint64_t*, const uint64_t*, const unsigned*, const unsigned*, int, int, int, int);
  static void* encode = NULL;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSuccess;
#if CUDART_VERSION >= 12050
  if (encode == NULL && cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found) != cudaSuccess) return 1;
#else
  if (encode == NULL && cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &encode, cudaEnableDefault, &found) != cudaSuccess) return 1;
#endif
  if (encode == NULL || found != cudaDriverEntryPointSuccess) return 1;
  for (int d = 0; d < rank; ++d)
    if (extents[d] == 0) return 0; /* nothing is copied of it */
  uint64_t lengths[5], strides[5], stride = (uint64_t)element_bytes;
  unsigned sides[5], steps[5];
  for (int d = 0; d < rank; ++d) {
    if (extents[d] > 2147483647) return 1;
    lengths[d] = (uint64_t)extents[d];
    strides[d] = stride *= lengths[d];
    sides[d] = (unsigned)box[d];
    steps[d] = apart == NULL ? 1 : (unsigned)apart[d];
  }
  const int type = element_bytes == 1 ? 0 : element_bytes == 2 ? 1 : element_bytes == 4 ? 2 : 4, swizzles = swizzle == 128 ? 3 : swizzle == 64 ? 2 : swizzle == 32 ? 1 : 0;
  return ((encode_type)encode)(map, type, (unsigned)rank, (void*)first, lengths, strides, sides, steps, 0, swizzles, 2, 0);
}
#endif
)";

/// "tileopt_copy_box2": a box of two dimensions from global memory into the block's, counted by a barrier.
std::string box_wrapper(const std::string& dims) {
  std::string parameters, list, operands;
  for (int d = 0; d < std::stoi(dims); ++d) {
    const std::string name = "c" + std::to_string(d);
    parameters += ", int " + name;
    list += (d == 0 ? "" : ", ") + std::string("%") + std::to_string(3 + d);
    operands += ", \"r\"(" + name + ")";
  }
  return "static __device__ __forceinline__ void tileopt_copy_box" + dims + "(void* shared, const tileopt_tensor_map* map, uint64_t* phase" + parameters + ") {\n" +
         "  asm volatile(\"cp.async.bulk.tensor." + dims + "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" + list + "}], [%2];\"\n" +
         "               ::\"r\"((unsigned)__cvta_generic_to_shared(shared)), \"l\"(map), \"r\"((unsigned)__cvta_generic_to_shared(phase))" + operands + " : \"memory\");\n}\n";
}

const char* const block_barrier = R"(static __device__ __forceinline__ void tileopt_block_barrier(void) { __syncthreads(); }
)";

/// Accesses of several elements, aligned to their size: "tileopt_wide16" defines tileopt_fill16 and tileopt_spill16.
std::string wide_wrappers(const std::string& bytes) {
  const std::string type = bytes == "16" ? "uint4" : bytes == "8" ? "uint2" : "unsigned int";
  const std::string head = "static __device__ __forceinline__ void tileopt_", move = "{ *(" + type + "*)to = *(const " + type + "*)from; }\n";
  return head + "fill" + bytes + "(void* to, const void* from) " + move + head + "spill" + bytes + "(void* to, const void* from) " + move;
}

/// Copies from global memory to `offset` bytes behind the start of a shared array, that a thread goes on beside; what `source_bytes` leaves out is zero.
std::string async_wrapper(const std::string& bytes) {
  const std::string way = bytes == "16" ? "cg" : "ca";  // past the first cache, which only whole 16 bytes can
  return "static __device__ __forceinline__ void tileopt_async_copy_or_zero" + bytes + "(void* shared, unsigned offset, const void* global, unsigned source_bytes) {\n" +
         "  asm volatile(\"cp.async." + way + ".shared.global [%0], [%1], " + bytes + ", %2;\" ::\"r\"((unsigned)__cvta_generic_to_shared(shared) + offset), \"l\"(global), \"r\"(source_bytes) : \"memory\");\n}\n";
}

/// "tileopt_atomic_add_u64" as one call of atomicAdd.
std::string atomic_wrapper(const std::string& name) {
  const std::string head = "tileopt_atomic_";
  TILEOPT_CHECK(name.rfind(head, 0) == 0, "no wrapper " + name);
  const std::size_t split = name.find('_', head.size());
  const std::string op = name.substr(head.size(), split - head.size()), type = name.substr(split + 1);
  const std::string function = op == "add" ? "atomicAdd" : op == "and" ? "atomicAnd" : op == "or" ? "atomicOr" : "atomicXor";
  const std::string word = type == "f32" ? "float" : type == "f64" ? "double" : type == "u32" ? "unsigned int" : "unsigned long long";
  return "template <class T> static __device__ __forceinline__ void " + name + "(T* element, T value) { " + function + "((" + word + "*)element, (" + word + ")value); }\n";
}
}  // namespace

std::string device_wrapper(const std::string& name) {
  const std::string wide = "tileopt_wide";
  if (name.rfind(wide, 0) == 0) return wide_wrappers(name.substr(wide.size()));
  const std::string copy = "tileopt_async_copy_or_zero";
  if (name.rfind(copy, 0) == 0) return async_wrapper(name.substr(copy.size()));
  if (name == "tileopt_async_groups") return async_groups;
  if (name == "tileopt_phases") return phases;
  if (name == "TILEOPT_TENSOR_MAP") return tensor_map;
  const std::string box = "tileopt_copy_box";
  if (name.rfind(box, 0) == 0) return box_wrapper(name.substr(box.size()));
  if (name == "tileopt_matrix") return matrix;
  if (name == "tileopt_unknown") return unknown;
  if (name == "tileopt_wgmma_groups") return wgmma_groups;
  const std::string wgmma = "tileopt_wgmma_", hold = "tileopt_hold";
  if (name.rfind(wgmma, 0) == 0) return wgmma_wrapper(name);
  if (name.rfind(hold, 0) == 0) return hold_wrapper(name.substr(hold.size()));
  return name == "TILEOPT_SHARED_BASE" ? shared_base : name == "tileopt_block_barrier" ? block_barrier : atomic_wrapper(name);
}

}  // namespace tileopt
