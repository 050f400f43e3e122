/// What ptxas says of each kernel (--ptxas-options=-v), from its log.
#pragma once

#include <string>
#include <vector>

#include "ir/certificate.h"

namespace tileopt::cuda {

/// In the order of the log.
std::vector<KernelResources> read_ptxas_log(const std::string& log);

}  // namespace tileopt::cuda
