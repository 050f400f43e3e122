/// A reduction in the form that frontends give it: one constant initialisation, the reduction's own loops inside it.
#pragma once

#include "ir/program.h"
#include "rewrites/rewrite.h"

namespace tileopt {

struct ReductionParts {
  const Statement* init = nullptr;
  std::size_t outer = 0;  ///< loops around both: the first iterators of the reduction, all of the initialisation
  isl::map to_outer;      ///< { y[outer, inner] -> y_init[outer] }, on the domain of y
};

bool is_constant(const ExprPtr& expr);

/// Refused where data decides what `statement` does, where it reads its own result otherwise, where anything but one constant
/// assignment in the loops around it writes that, or where its inner loops hold another statement.
Candidate<ReductionParts> reduction_parts(const Program& program, const Rewriting& rewriting, const Statement& statement);

}  // namespace tileopt
