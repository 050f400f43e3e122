/// Arguments of kernels in the host's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/c_common/signature.h"
#include "interpreter/host_array.h"

namespace tileopt::capi {

/// Sizes by name. @throws Errors(invalid_size) where the count is another or a value is beyond what kernels take.
Sizes size_map(const std::vector<std::string>& names, const std::int64_t* values, std::size_t count);

/// Bytes from the first to the last element of an argument. @throws Errors(invalid_size) beyond 64 bits or for negative extents.
std::int64_t argument_bytes(const TensorArgument& argument, const Sizes& sizes);

/// @throws Errors(invalid_option) where the count is another, or a pointer is NULL though its array has elements.
void check_pointers(const Signature& signature, const Sizes& sizes, void* const* arguments, std::size_t count);

/// Copies of the host's arrays. @throws as check_pointers.
Arrays read_arguments(const Signature& signature, const Sizes& sizes, void* const* arguments, std::size_t count);
/// Stores what is written back. Bytes between elements stay as they are.
void write_results(const Signature& signature, const Sizes& sizes, const Arrays& arrays, void* const* arguments);

}  // namespace tileopt::capi
