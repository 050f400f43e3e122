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

const char* const block_barrier = R"(static __device__ __forceinline__ void tileopt_block_barrier(void) { __syncthreads(); }
)";

/// Accesses of several elements, aligned to their size: "tileopt_wide16" defines tileopt_fill16 and tileopt_spill16.
std::string wide_wrappers(const std::string& bytes) {
  const std::string type = bytes == "16" ? "uint4" : bytes == "8" ? "uint2" : "unsigned int";
  const std::string head = "static __device__ __forceinline__ void tileopt_", move = "{ *(" + type + "*)to = *(const " + type + "*)from; }\n";
  return head + "fill" + bytes + "(void* to, const void* from) " + move + head + "spill" + bytes + "(void* to, const void* from) " + move;
}

/// Copies from global to shared memory that a thread goes on beside; what `source_bytes` leaves out is zero.
std::string async_wrapper(const std::string& bytes) {
  const std::string way = bytes == "16" ? "cg" : "ca";  // past the first cache, which only whole 16 bytes can
  return "static __device__ __forceinline__ void tileopt_async_copy_or_zero" + bytes + "(void* shared, const void* global, unsigned source_bytes) {\n" +
         "  asm volatile(\"cp.async." + way + ".shared.global [%0], [%1], " + bytes + ", %2;\" ::\"r\"((unsigned)__cvta_generic_to_shared(shared)), \"l\"(global), \"r\"(source_bytes) : \"memory\");\n}\n";
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
  return name == "TILEOPT_SHARED_BASE" ? shared_base : name == "tileopt_block_barrier" ? block_barrier : atomic_wrapper(name);
}

}  // namespace tileopt
