/// Self-contained C++ for a GPU: kernels and the extern "C" function that launches them. What vendors differ in is a Dialect; everything
/// else that is printed names nothing of theirs.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "backends/backend.h"

namespace tileopt {

/// The words of one vendor's C++.
struct Dialect {
  std::string backend;         ///< as machine files name it
  std::string extension;       ///< of a printed file
  std::string compiler;        ///< command and language, for the first comment
  std::string device_only;     ///< macro that is defined where device code is compiled alone; "" = it never is
  std::string runtime_header;  ///< that callers of the printed function include
  std::string stream;          ///< type of a stream
  std::string last_error;      ///< function that tells why a launch failed
  long grid_threads = 0;       ///< that a grid may have in all; 0: any number, in at most 2^31 - 1 blocks
  std::string (*contraction)(bool contract) = nullptr;                         ///< flag for a * b + c in one rounding, or in two
  std::string (*own_functions)(std::string device, const Numerics& numerics) = nullptr;                  ///< device code with what the vendor has functions for; null: as it is
  std::string (*prelude)(const std::set<std::string>& requested) = nullptr;    ///< first lines: see gpu_common/wrappers.h
};

std::unique_ptr<Backend> make_gpu_backend(Dialect dialect);

}  // namespace tileopt
