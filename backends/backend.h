/// What a backend implements. A backend = its atoms (machine file), its printer, its runner.
#pragma once

#include <string>
#include <vector>

#include "ir/machine.h"
#include "ir/module.h"
#include "ir/program.h"

namespace tileopt {

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  /// Of the printed file, with the dot.
  virtual std::string extension() const { return ".c"; }
  /// Prints all kernels of a module, in launch order. `version` goes into the leading comment.
  virtual Candidate<SourceText> print(const Program& program, const std::vector<Ast>& kernels, const Machine& machine,
                                      const std::string& version) const = 0;
};

}  // namespace tileopt
