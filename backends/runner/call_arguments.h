/// What it takes to call a printed launcher: its sizes and the bytes of its arguments, in order, and C that unpacks both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/c_common/signature.h"
#include "interpreter/host_array.h"

namespace tileopt {

/// Values of the signature's sizes, in order. @throws Errors(invalid_size) where one is missing.
std::vector<std::int64_t> size_values(const Signature& signature, const Sizes& sizes);

/// The array of an argument, of its type and shape. @throws Errors(invalid_size)
const HostArray& array_for(const TensorArgument& argument, const Arrays& arrays, const Sizes& sizes);

/// C functions that call the launcher and its workspace function with arguments from arrays, so that no foreign-function library is needed:
///   int32_t tileopt_call(const int64_t* sizes, void** arguments, void* workspace)
///   int64_t tileopt_workspace(const int64_t* sizes)
/// `before`: in front of each definition, e.g. "extern \"C\" "; `last`: further arguments of the launcher, after the workspace.
std::string call_functions(const Signature& signature, const std::string& before = "", const std::vector<std::string>& last = {});

}  // namespace tileopt
