#include "backends/cuda/device_functions.h"

namespace tileopt {

namespace {
struct DeviceFunction {
  const char* head;  ///< of the helper's definition
  const char* statements;
  int ulp = 0;       ///< units in the last place that the program must have granted beyond those of the C library
};

// Of several for one helper the first that the program grants. Errors: PTX ISA, tanh.approx (a relative error of 2^-11, so up to 2^13 units) and
// ex2.approx (2 units, and those of the rounded argument: docs/rewrites.md, exp_to_exp2).
const DeviceFunction device_functions[] = {
    {"float tileopt_exp_f32(float x) {", "return __expf(x);", 210},
    {"float tileopt_exp_f32(float x) {", "return expf(x);"},
    {"float tileopt_exp2_f32(float x) {", "return exp2f(x);"},
    {"float tileopt_log_f32(float x) {", "return logf(x);"},
    {"float tileopt_tanh_f32(float x) {", "float r;\n  asm(\"tanh.approx.f32 %0, %1;\" : \"=f\"(r) : \"f\"(x));\n  return r;", 8192},
    {"float tileopt_tanh_f32(float x) {", "return tanhf(x);"},
    {"float tileopt_erf_f32(float x) {", "return erff(x);"},
    {"float tileopt_rsqrt_f32(float x) {", "return rsqrtf(x);"},
    {"float tileopt_round_bf16(float x) {", "unsigned short r;\n  asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(r) : \"f\"(x));\n  return __uint_as_float((unsigned)r << 16);"},
    {"uint16_t tileopt_store_f16(float x) {", "unsigned short r;\n  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(r) : \"f\"(x));\n  return r;"},
    {"float tileopt_load_f16(uint16_t half) {", "float r;\n  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(r) : \"h\"(half));\n  return r;"},
    {"float tileopt_max_f32(float a, float b) {", "float r;\n  asm(\"max.NaN.f32 %0, %1, %2;\" : \"=f\"(r) : \"f\"(a), \"f\"(b));\n  return r;"},
    {"float tileopt_min_f32(float a, float b) {", "float r;\n  asm(\"min.NaN.f32 %0, %1, %2;\" : \"=f\"(r) : \"f\"(a), \"f\"(b));\n  return r;"},
};
}  // namespace

std::string with_device_functions(std::string device, const Numerics& numerics) {
  std::string done;  // the helper that the last one stands for
  for (const DeviceFunction& function : device_functions) {
    const std::size_t head = device.find(function.head);
    if (head == std::string::npos || done == function.head || numerics.approx_ulp < function.ulp) continue;
    done = function.head;
    const std::size_t start = head + std::string(function.head).size();
    std::size_t end = start;  // of the body, at its closing brace
    for (int depth = 1; depth > 0; ++end) depth += device[end] == '{' ? 1 : device[end] == '}' ? -1 : 0;
    const std::string body = device.substr(start, end - 1 - start);
    const std::size_t first = body.find_first_not_of(" \n"), last = body.find_last_not_of(" \n");
    device.replace(start, body.size(), std::string("\n#if defined(__CUDA_ARCH__)\n  ") + function.statements + "\n#else\n  " + body.substr(first, last + 1 - first) + "\n#endif\n");
  }
  return device;
}

}  // namespace tileopt
