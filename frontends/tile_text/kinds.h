/// What sort of value an expression is, before it is lowered: literals and indices have no element type of their own.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontends/tile_text/scope.h"

namespace tileopt::tile_text {

enum class KindTag {
  invalid,          ///< in error; lowering it reports the error
  integer_literal,  ///< takes the type of its context
  real_literal,     ///< takes the type of its context, which must be a float
  index,            ///< made of iterators and sizes: takes an integer type from its context, else needs a cast
  position,         ///< an index found by computing (argmax): a value, but typed by its context as an index is
  tuple,            ///< `(a, b)`: takes the tuple type of its context
  typed,
};
struct Kind {
  KindTag tag = KindTag::invalid;
  ElementType type = ElementType::i64;  ///< where tag is typed
  bool is_typed() const { return tag == KindTag::typed; }
  bool is_literal() const { return tag == KindTag::integer_literal || tag == KindTag::real_literal; }
  bool is_index_like() const { return tag == KindTag::index || tag == KindTag::integer_literal; }
};

std::optional<Function> find_function(const std::string& name);
/// sum, prod, min, max, any, all
std::optional<Combine> find_reduction(const std::string& name);
/// True for argmax and argmin.
bool is_extreme_search(const std::string& name);
/// The name called, or "".
std::string callee_name(const syntax::Call& call);

/// Memoised per expression node; never reports.
class Kinds {
 public:
  explicit Kinds(const Scope& scope) : scope_(scope) {}
  /// `iterators`: source names bound around the expression.
  Kind of(const syntax::ExpressionPtr& expression, const std::vector<std::string>& iterators);
  /// True when the condition is made of comparisons of indices, so that it selects instances before anything runs.
  bool is_affine_condition(const syntax::ExpressionPtr& expression, const std::vector<std::string>& iterators);
  /// The kind of an operation on both.
  static Kind join(Kind a, Kind b);

 private:
  Kind compute(const syntax::ExpressionPtr& expression, const std::vector<std::string>& iterators);
  Kind of_call(const syntax::Call& call, const std::vector<std::string>& iterators);
  const Scope& scope_;
  std::unordered_map<syntax::ExpressionPtr, Kind> memo_;  ///< keys keep their nodes alive, so that no address is reused
};

}  // namespace tileopt::tile_text
