/// Programs in parts, for rewrites: take one apart, change the parts, put them together.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/program.h"

namespace tileopt {

/// What a rewrite may change. Sizes, context, numerics and text are the source's.
struct ProgramParts {
  std::vector<Tensor> tensors;
  std::vector<Statement> statements;
  Tree order;

  Statement& statement(const std::string& name);
  std::size_t position(const std::string& statement) const;
};
ProgramParts take_apart(const Program& program);
Program put_together(const Program& program, ProgramParts parts);

/// Names that nothing in a program has.
class FreshNames {
 public:
  explicit FreshNames(const Program& program);
  /// `wanted`, or wanted_2, wanted_3, ...; taken from now on.
  std::string take(const std::string& wanted);

 private:
  std::vector<std::string> taken_;
};

/// `old` over other iterators: instance x of the result is instance to_old(x) of it. { name[iterators] -> old[...] }
/// A guard stays with the iterator of its name.
Statement reindex(const Statement& old, const std::string& name, const std::vector<std::string>& iterators, const isl::set& domain,
                  const isl::pw_multi_aff& to_old);

/// A function between named tuples from isl text over d0, d1, ...: "{ from[d0, d1] -> to[d1] }", outputs as given.
isl::pw_multi_aff tuple_function(isl::ctx ctx, const std::string& from, std::size_t inputs, const std::string& to,
                                 const std::vector<std::string>& outputs);
/// "name[d0, d1, d2]"
std::string tuple_text(const std::string& name, std::size_t dimensions);

/// Applies `change` to the body, the predicate and the guards' values.
void change_expressions(Statement& statement, const std::function<ExprPtr(const ExprPtr&)>& change);

/// Number of an access that reads the same element, added where there is none.
std::size_t add_read(Statement& statement, const Access& access);
std::size_t add_index(Statement& statement, const isl::pw_aff& value);
/// Leaves out reads and index values that no expression refers to.
void drop_unused(Statement& statement);

/// The domain within the context, and an access on it.
isl::set domain_of(const Program& program, const Statement& statement);
isl::map access_map(const Program& program, const Statement& statement, const Access& access);

/// Whether subscript d of the access is an iterator itself: its position.
std::optional<std::size_t> plain_iterator(const Access& access, std::size_t subscript);

}  // namespace tileopt
