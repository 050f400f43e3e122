/// Subexpressions that an expression uses several times, as C variables; monoids as C functions.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "backends/c_common/scalar_c.h"

namespace tileopt {

/// Nodes with operands that several parents share, operands before their users. `always_only`: only those that every evaluation
/// computes, so that computing them early reads nothing that an untaken branch would not.
std::vector<ExprPtr> shared_subexpressions(const ExprPtr& expr, bool always_only);

/// Defines variables for shared subexpressions: `define(type, text)` emits one and returns its name.
std::unordered_map<const Expr*, std::string> bind_shared(const std::vector<ExprPtr>& shared, ScalarContext context,
                                                         const std::function<std::string(const std::string& type, const std::string& text)>& define);

/// element (+) value by a monoid: a call of a function that is printed once a file.
std::string monoid_c(const Monoid& monoid, const std::string& element, const std::string& value, Helpers& helpers);

}  // namespace tileopt
