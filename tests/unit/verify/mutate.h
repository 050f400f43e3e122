/// Random single faults in an Ast.
#pragma once

#include <random>
#include <string>

#include "ir/ast.h"

namespace tileopt::test {

struct Mutant {
  Ast ast;
  std::string change;  ///< what was changed
};

Mutant mutate(const Ast& ast, std::mt19937_64& random);

}  // namespace tileopt::test
