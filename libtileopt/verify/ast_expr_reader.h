/// Ast expressions as isl piecewise affine functions of a leaf's loop variables and the size parameters.
#pragma once

#include <map>
#include <string>

#include "ir/ast.h"
#include "poly/isl.h"

namespace tileopt::proof {

class AstExprReader {
 public:
  /// `space`: [params] -> { L[v..] }; `dims`: the position of every loop variable in scope.
  AstExprReader(isl::space space, std::map<std::string, unsigned> dims) : space_(std::move(space)), dims_(std::move(dims)) {}

  /// `domain` tells where the value is needed: there `/` must agree with floor division or is read as C's truncation.
  /// @throws Unreadable where the expression is not affine.
  isl::pw_aff value(const AstExprPtr& expr, const isl::set& domain) const { return value(expr, domain, 0); }
  /// { L[v..] : condition } @throws Unreadable.
  isl::set holds(const AstExprPtr& condition, const isl::set& domain) const { return holds(condition, domain, 0); }
  /// { L[v..] : subject <= expr }: a minimum becomes a conjunction, so that loop bounds stay convex.
  isl::set at_most(const isl::pw_aff& subject, const AstExprPtr& expr, const isl::set& domain) const;
  isl::set at_least(const isl::pw_aff& subject, const AstExprPtr& expr, const isl::set& domain) const;
  isl::set less_than(const isl::pw_aff& subject, const AstExprPtr& expr, const isl::set& domain) const;

  isl::pw_aff dim(unsigned position) const;
  isl::pw_aff constant(long value) const;

 private:
  enum class Choice { none, minimum, maximum };
  isl::pw_aff value(const AstExprPtr& expr, const isl::set& domain, int depth) const;
  Choice choice(const AstExprPtr& expr, const isl::set& domain) const;
  isl::set holds(const AstExprPtr& condition, const isl::set& domain, int depth) const;
  isl::pw_aff name(const std::string& name) const;
  isl::pw_aff quotient(const AstExpr& expr, const isl::set& domain, int depth) const;

  isl::space space_;
  std::map<std::string, unsigned> dims_;
};

}  // namespace tileopt::proof
