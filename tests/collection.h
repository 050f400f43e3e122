/// The kernels of benchmarks/kernels, as the suites take them.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace tileopt::test {

/// Names of the kernels, sorted.
inline std::vector<std::string> all_kernels() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(TILEOPT_SOURCE_DIR "/benchmarks/kernels"))
    if (entry.path().extension() == ".tile") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// `TILEOPT_KERNELS=all`: what `ctest -L long` runs.
inline bool takes_all() {
  const char* const wanted = std::getenv("TILEOPT_KERNELS");
  return wanted != nullptr && std::string(wanted) == "all";
}

/// Kernels that are much like another one: suites whose tests last leave them to NumPy, the emulator and `ctest -L long`.
inline const std::set<std::string>& later_kernels() {
  static const std::set<std::string> names = {
      "batch_norm", "block_sparse_matmul", "contraction_7", "conv1d", "conv2d_nchw", "conv3d", "cross_entropy", "fdtd_2d", "fft_stage", "full_reductions",
      "gelu", "gemm_nt", "gemm_tn", "gemm_tt", "gram_schmidt", "heat_3d", "levenshtein", "lu", "max_pool2d", "moe_combine",
      "moe_route", "mttkrp", "rope", "scatter_add_rows", "silu", "syrk", "trmm"};
  return names;
}

/// Those that suites take whose tests last: without the later ones. `TILEOPT_KERNELS=all`: every one.
inline std::vector<std::string> suite_kernels() {
  std::vector<std::string> names = all_kernels();
  if (!takes_all()) std::erase_if(names, [](const std::string& name) { return later_kernels().contains(name); });
  return names;
}

}  // namespace tileopt::test
