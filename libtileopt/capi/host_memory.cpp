#include "capi/host_memory.h"

#include <cstring>

#include "backends/c_common/integer_c.h"
#include "backends/c_common/launcher.h"
#include "backends/runner/argument_bytes.h"
#include "capi/guard.h"
#include "support/text.h"

namespace tileopt::capi {

namespace {

HostArray empty_array(const TensorArgument& argument, const Sizes& sizes) {
  std::vector<std::int64_t> shape;
  for (const AstExprPtr& extent : argument.shape) shape.push_back(evaluate(extent, sizes));
  return HostArray(argument.element, shape);
}

}  // namespace

Sizes size_map(const std::vector<std::string>& names, const std::int64_t* values, std::size_t count) {
  if (count != names.size())
    reject(ErrorCode::invalid_size, std::to_string(count) + " sizes were given, expected " + std::to_string(names.size()),
           names.empty() ? "give none" : "give, in order, " + join(names, ", "));
  if (count > 0) need_pointer(values, "sizes");
  Sizes sizes;
  for (std::size_t i = 0; i < count; ++i) {
    if (values[i] > kLargestSize || values[i] < -kLargestSize)
      reject(ErrorCode::invalid_size, "size `" + names[i] + "` is beyond 2^47", "give a smaller size");
    sizes[names[i]] = values[i];
  }
  return sizes;
}

std::int64_t argument_bytes(const TensorArgument& argument, const Sizes& sizes) {
  const auto refuse = [&](const std::string& what, const std::string& hint) { reject(ErrorCode::invalid_size, what + " of `" + argument.tensor + "`", hint); };
  const std::vector<AstExprPtr> strides = element_strides(argument);
  std::int64_t last = 0, bytes = 0;
  bool empty = false;
  for (std::size_t d = 0; d < argument.shape.size(); ++d) {
    const std::int64_t extent = evaluate(argument.shape[d], sizes), stride = evaluate(strides[d], sizes);
    if (extent < 0) refuse("extent " + std::to_string(d) + " is negative:", "choose sizes for which every extent is at least 0");
    if (extent == 0) empty = true;
    std::int64_t span = 0;
    if (__builtin_mul_overflow(stride, extent - 1, &span) || __builtin_add_overflow(last, span, &last)) refuse("more than 64 bits of bytes", "choose smaller sizes");
  }
  if (empty) return 0;
  if (last == INT64_MAX) refuse("more than 64 bits of bytes", "choose smaller sizes");
  if (argument.packed) return last / 2 + 1;
  if (__builtin_mul_overflow(last + 1, std::int64_t(size_bytes(argument.element)), &bytes)) refuse("more than 64 bits of bytes", "choose smaller sizes");
  return bytes;
}

void check_pointers(const Signature& signature, const Sizes& sizes, void* const* arguments, std::size_t count) {
  std::vector<std::string> names;
  for (const TensorArgument& argument : signature.arguments) names.push_back(argument.tensor);
  if (count != names.size())
    reject(ErrorCode::invalid_option, std::to_string(count) + " arguments were given, expected " + std::to_string(names.size()),
           "give, in order, pointers to " + join(names, ", "));
  if (count > 0) need_pointer(arguments, "arguments");
  for (std::size_t i = 0; i < count; ++i)
    if (arguments[i] == nullptr && argument_bytes(signature.arguments[i], sizes) > 0)
      reject(ErrorCode::invalid_option, "the pointer for argument `" + names[i] + "` is NULL", "give the address of its first element");
}

Arrays read_arguments(const Signature& signature, const Sizes& sizes, void* const* arguments, std::size_t count) {
  check_pointers(signature, sizes, arguments, count);
  Arrays arrays;
  for (std::size_t i = 0; i < count; ++i) {
    const TensorArgument& argument = signature.arguments[i];
    HostArray array = empty_array(argument, sizes);
    const std::int64_t bytes = argument_bytes(argument, sizes);
    if (argument.packed) {
      unpack(argument, static_cast<const std::byte*>(arguments[i]), sizes, array);
      arrays.emplace(argument.tensor, std::move(array));
      continue;
    }
    std::vector<std::byte> image = lay_out(argument, array, sizes);
    if (bytes > 0) std::memcpy(image.data(), arguments[i], std::min(image.size(), static_cast<std::size_t>(bytes)));
    take_back(argument, image, sizes, array);  // what it says of gaps is about kernels
    arrays.emplace(argument.tensor, std::move(array));
  }
  return arrays;
}

void write_results(const Signature& signature, const Sizes& sizes, const Arrays& arrays, void* const* arguments) {
  for (std::size_t i = 0; i < signature.arguments.size(); ++i) {
    const TensorArgument& argument = signature.arguments[i];
    if (!argument.written()) continue;
    const HostArray& array = arrays.at(argument.tensor);
    HostArray inverse = array;
    for (std::byte& byte : inverse.bytes) byte = ~byte;
    // A byte is an element's where it follows the element.
    const std::vector<std::byte> image = lay_out(argument, array, sizes), other = lay_out(argument, inverse, sizes);
    auto* target = static_cast<std::byte*>(arguments[i]);
    for (std::size_t b = 0; b < image.size(); ++b)
      if (image[b] != other[b]) target[b] = image[b];
  }
}

}  // namespace tileopt::capi
