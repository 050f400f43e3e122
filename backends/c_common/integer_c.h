/// Integer expressions of an Ast as C over int64_t, and the small algebra that printers need.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "backends/c_common/helpers.h"
#include "backends/c_common/names.h"
#include "ir/ast.h"

namespace tileopt {

/// Constants folded and neutral elements dropped; the value for all arguments stays (folds that would overflow are not made).
AstExprPtr fold(const AstExprPtr& expr);

std::optional<std::int64_t> constant_value(const AstExprPtr& expr);
bool is_constant(const AstExprPtr& expr, std::int64_t value);

/// `expr` with names replaced, folded.
AstExprPtr substitute(const AstExprPtr& expr, const std::map<std::string, AstExprPtr>& values);

/// Value where all names are known. @throws InternalError for an unknown name.
std::int64_t evaluate(const AstExprPtr& expr, const std::map<std::string, std::int64_t>& values);

AstExprPtr sum_of(const AstExprPtr& a, const AstExprPtr& b);       ///< folded a + b
AstExprPtr product_of(const AstExprPtr& a, const AstExprPtr& b);   ///< folded a * b
AstExprPtr plus(const AstExprPtr& a, std::int64_t constant);       ///< folded a + constant, the constant last

/// C text, parenthesised where an operator that binds more loosely than `context` would break it:
/// 0 = no context, 5 = operand of + or -, 6 = left of *, 7 = right of * and everything tighter.
std::string integer_c(const AstExprPtr& expr, const CNames& names, Helpers& helpers, int context = 0);

/// A 64-bit constant that C reads as such.
std::string integer_literal_c(std::int64_t value);

}  // namespace tileopt
