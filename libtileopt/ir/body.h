/// What the body of a statement is made of: questions that planning and passes ask alike.
#pragma once

#include "ir/program.h"

namespace tileopt {

/// The expression below all conversions of it.
const ExprPtr& without_casts(const ExprPtr& expr);

/// Sums, differences, products, quotients, minima, maxima and functions of what it reads: no condition, no value of an index.
bool is_arithmetic(const ExprPtr& body);

/// No condition keeps an instance from a read: all may be performed at once.
bool reads_always(const Program& program, const Statement& statement);

}  // namespace tileopt
