/// From return addresses in a loaded kernel to printed lines, by binutils' addr2line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backends/gpu_common/emulator/shadow.h"

namespace tileopt::emulator {

class Symbolizer {
 public:
  /// `source`: the printed file as the compiler was given it.
  Symbolizer(std::string object, std::string source);
  /// Printed lines: of the access itself, then of the calls that were inlined around it. Empty where they are not known.
  const std::vector<int>& lines(Site site);
  /// "line 38", "line 12 (from line 38)", or the address.
  std::string text(Site site);
  /// The printed line itself, without leading blanks; "" where there is none.
  std::string source_line(int line);

 private:
  std::string object_, source_, program_;
  std::map<Site, std::vector<int>> known_;
  std::vector<std::string> source_lines_;
};

}  // namespace tileopt::emulator
