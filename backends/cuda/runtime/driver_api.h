/// The functions of NVIDIA's driver that the runtime calls, found at run time: tileopt builds and runs where there is no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tileopt::cuda {

using Result = int;                  ///< CUresult; 0: success
using Device = int;
using DevicePointer = std::uint64_t;
struct OpaqueContext;
struct OpaqueModule;
struct OpaqueFunction;
struct OpaqueStream;
struct OpaqueEvent;
using Context = OpaqueContext*;
using Module = OpaqueModule*;
using Function = OpaqueFunction*;
using Stream = OpaqueStream*;
using Event = OpaqueEvent*;

/// Numbers of CUdevice_attribute and CUfunction_attribute (cuda.h; they are part of the driver's binary interface).
namespace attribute {
inline constexpr int l2_cache_bytes = 38, capability_major = 75, capability_minor = 76;
inline constexpr int function_max_dynamic_shared = 8;
}  // namespace attribute

/// Driver functions by their exported names, without "cu" and version suffix.
struct DriverApi {
  Result (*init)(unsigned flags);
  Result (*driver_get_version)(int* version);
  Result (*get_error_string)(Result error, const char** text);
  Result (*device_get_count)(int* count);
  Result (*device_get)(Device* device, int ordinal);
  Result (*device_get_name)(char* name, int bytes, Device device);
  Result (*device_get_attribute)(int* value, int attribute, Device device);
  Result (*device_primary_ctx_retain)(Context* context, Device device);
  Result (*ctx_set_current)(Context context);
  Result (*ctx_synchronize)();
  Result (*mem_get_info)(std::size_t* free, std::size_t* total);
  Result (*mem_alloc)(DevicePointer* pointer, std::size_t bytes);
  Result (*mem_free)(DevicePointer pointer);
  Result (*memcpy_to_device)(DevicePointer to, const void* from, std::size_t bytes);
  Result (*memcpy_to_host)(void* to, DevicePointer from, std::size_t bytes);
  Result (*memcpy_on_device)(DevicePointer to, DevicePointer from, std::size_t bytes);
  Result (*memset8)(DevicePointer to, unsigned char value, std::size_t bytes);
  Result (*memset8_async)(DevicePointer to, unsigned char value, std::size_t bytes, Stream stream);
  Result (*module_load_data)(Module* module, const void* image);
  Result (*module_get_function)(Function* function, Module module, const char* name);
  Result (*func_set_attribute)(Function function, int attribute, int value);
  Result (*launch_kernel)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, Stream stream, void** arguments, void** extra);
  /// Null where the driver is older than CUDA 12.
  Result (*tensor_map_encode_tiled)(void* map, int type, unsigned rank, void* first, const std::uint64_t* extents, const std::uint64_t* strides, const unsigned* box, const unsigned* steps,
                                    int interleave, int swizzle, int promotion, int fill);
  Result (*event_create)(Event* event, unsigned flags);
  Result (*event_record)(Event event, Stream stream);
  Result (*event_elapsed_time)(float* milliseconds, Event from, Event to);
  Result (*event_destroy)(Event event);

  /// Opens the driver ($TILEOPT_LIBCUDA, or libcuda.so.1). @throws ToolchainError where there is none, or one too old to have these functions.
  static DriverApi open();
  /// "the driver's text (code)"
  std::string error_text(Result error) const;
};

}  // namespace tileopt::cuda
