#include "backends/cuda/runtime/ptxas_report.h"

#include <cstdlib>
#include <sstream>

namespace tileopt::cuda {

namespace {
/// The number in front of `unit` in a line like "    16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads"; 0 where it has none.
long number_before(const std::string& line, const std::string& unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string::npos) return 0;
  const std::size_t start = line.find_last_not_of("0123456789", at - 1);
  return std::atol(line.c_str() + (start == std::string::npos ? 0 : start + 1));
}
}  // namespace

std::vector<KernelResources> read_ptxas_log(const std::string& log) {
  std::vector<KernelResources> kernels;
  std::istringstream lines(log);
  const std::string entry = "Compiling entry function '";
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t at = line.find(entry); at != std::string::npos) {
      const std::size_t start = at + entry.size();
      kernels.emplace_back();
      kernels.back().kernel = line.substr(start, line.find('\'', start) - start);
    } else if (!kernels.empty() && line.find(" bytes stack frame") != std::string::npos) {
      kernels.back().stack_bytes = number_before(line, " bytes stack frame");
      kernels.back().spilled_bytes = number_before(line, " bytes spill stores");
    } else if (!kernels.empty() && line.find("Used ") != std::string::npos) {
      kernels.back().registers = number_before(line, " registers");
      kernels.back().shared_bytes = number_before(line, " bytes smem");
    }
  }
  return kernels;
}

}  // namespace tileopt::cuda
