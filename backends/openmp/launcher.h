/// The extern function behind which the kernels hide: checks what C cannot (sizes, nulls, alignment, overlap, workspace),
/// then runs the kernels in order. And the header that documents it.
#pragma once

#include <string>
#include <vector>

#include "backends/c_common/helpers.h"
#include "backends/openmp/signature.h"

namespace tileopt {

/// A printed kernel as the launcher calls it.
struct KernelCall {
  std::string function;
  std::vector<std::string> sizes;    ///< size parameters that it takes (program names)
  std::vector<std::string> tensors;  ///< tensors that it takes (program names)
  long workspace_bytes = 0;          ///< its promoted arrays in the workspace; > 0: takes a pointer to them
};

/// Sizes beyond +-2^47 are refused, so that index arithmetic cannot overflow 64 bits.
inline constexpr long kLargestSize = 1L << 47;
inline constexpr int kWorkspaceAlignment = 256;

/// `extern` prototypes without the trailing semicolon.
std::string launcher_prototype(const Signature& signature);
std::string workspace_prototype(const Signature& signature);

std::string print_launcher(const Signature& signature, const std::vector<KernelCall>& kernels, Helpers& helpers);
/// `title`: first comment lines, without markers.
std::string print_header(const Signature& signature, const std::string& title);

}  // namespace tileopt
