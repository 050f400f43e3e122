/// Functions that a generated file has for each packed argument: how many bytes it takes, and the way in and out.
///
///   int64_t gemm_packed_bytes_W(int64_t N, int64_t K);
///   int32_t gemm_pack_W(int64_t N, int64_t K, const int8_t* plain, uint8_t* packed);
///   int32_t gemm_unpack_W(int64_t N, int64_t K, const uint8_t* packed, int8_t* plain);
#pragma once

#include <string>
#include <vector>

#include "backends/c_common/helpers.h"
#include "backends/c_common/signature.h"

namespace tileopt {

/// Prototypes without the trailing semicolon; none where nothing is packed.
std::vector<std::string> pack_prototypes(const Signature& signature);
std::string print_pack_functions(const Signature& signature, Helpers& helpers);
/// Lines of the header's comment, each with its ` * `.
std::string pack_functions_comment(const Signature& signature);
/// "two a byte along the last dimension, ..."
std::string packed_layout_text(const TensorArgument& argument);
/// C text of the argument's bytes, -1 where an extent is negative or the product too large.
std::string packed_bytes_c(const TensorArgument& argument, const Signature& signature, Helpers& helpers);

}  // namespace tileopt
