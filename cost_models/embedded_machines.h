/// The machine files as the build embedded them; see cmake/embed_machines.cmake.
#pragma once

#include <string>
#include <vector>

namespace tileopt {

struct EmbeddedMachine {
  std::string name;  ///< file name without ".json"
  std::string text;
};

/// Sorted by file name.
const std::vector<EmbeddedMachine>& embedded_machines();

}  // namespace tileopt
