/// The extern function behind which the kernels hide: checks what C cannot (sizes, nulls, alignment, overlap, workspace),
/// then runs the kernels in order. And the header that documents it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/c_common/helpers.h"
#include "backends/c_common/signature.h"

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
/// What `bytes` bytes take of a workspace: whole multiples of its alignment.
inline constexpr std::int64_t in_workspace(std::int64_t bytes) { return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment; }

/// `extern` prototypes without the trailing semicolon. `last`: one more parameter, e.g. "tileopt_stream stream".
std::string launcher_prototype(const Signature& signature, const std::string& last = "");
std::string workspace_prototype(const Signature& signature);

/// Static functions that measure and check arguments, and the function that tells the workspace.
std::string print_launch_checks(const Signature& signature, const std::vector<KernelCall>& kernels, Helpers& helpers, const std::string& linkage = "");
/// The first lines of the launcher's body: returns a code where the arguments are refused.
std::string print_refusals(const Signature& signature, Helpers& helpers);
/// What the launcher hands to a kernel: sizes, tensors, workspace.
std::vector<std::string> kernel_arguments(const KernelCall& kernel, const Signature& signature);

std::string print_launcher(const Signature& signature, const std::vector<KernelCall>& kernels, Helpers& helpers);
/// What a header says beyond the arguments.
struct HeaderForm {
  std::string prelude = "#include <stdint.h>\n";  ///< before the declarations
  std::string last = "";                          ///< the launcher's last parameter
  std::string notes = "";                         ///< comment lines, e.g. further codes
};
/// `title`: first comment lines, without markers.
std::string print_header(const Signature& signature, const std::string& title, const HeaderForm& form = {});

}  // namespace tileopt
