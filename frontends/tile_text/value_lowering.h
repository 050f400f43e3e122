/// Value expressions -> typed bodies, with the reads and index values they use.
#pragma once

#include <map>
#include <memory>

#include "frontends/tile_text/access.h"
#include "frontends/tile_text/kinds.h"
#include "frontends/tile_text/statement_list.h"

namespace tileopt::tile_text {

/// `scan(...)` around a reduction: the statement is to run in linear work.
struct ScanPromise {
  std::string statement;
  syntax::Position where;
};

/// What lowering one function shares.
struct Lowering {
  Scope& scope;
  Kinds& kinds;
  StatementList& statements;
  Numerics numerics;
  std::set<std::string> assigned;  ///< names that some assignment (not a declaration) writes
  std::map<std::string, Monoid> monoids = {};  ///< that statements combine with, by name
  std::vector<ScanPromise> scans = {};         ///< in source order
};

/// How a reduction combines: `monoid` where `combine` is one.
struct Reduction {
  Combine combine = Combine::sum;
  std::shared_ptr<const Monoid> monoid = nullptr;
  std::optional<syntax::Position> scan = std::nullopt;  ///< of the `scan` around it
  std::string name() const { return monoid ? monoid->name : combine_name(combine); }
};

struct PureFunction;

/// Lowers the right side of one statement. Inline reductions become statements of their own, placed in `before`.
class ValueLowering {
 public:
  /// `target`: source name that inline reductions are called after.
  ValueLowering(Lowering& lowering, const Nest& nest, std::string statement, std::string target)
      : lowering_(lowering), nest_(nest), statement_(std::move(statement)), target_(std::move(target)) {}

  /// The expression as a value of type `wanted`; null where an error was reported.
  ExprPtr lower(const syntax::ExpressionPtr& expression, ElementType wanted);
  /// Gives `statement` the guards and the predicate of the nest, then all reads and index values that were lowered here.
  /// False where an error was reported.
  bool add_conditions(Statement& statement);
  /// A read of `symbol` at subscripts valid on the current nest.
  ExprPtr read(const TensorSymbol& symbol, const Subscripts& subscripts, syntax::Position where);

  const std::vector<Access>& reads() const { return reads_; }
  const std::vector<isl::pw_aff>& indices() const { return indices_; }
  std::vector<Tree::Branch>& before() { return before_; }

 private:
  ExprPtr lower_typed(const syntax::ExpressionPtr& expression, ElementType type);
  ExprPtr lower_literal(const syntax::ExpressionPtr& expression, std::uint64_t value, bool negative, ElementType type);
  ExprPtr lower_real(const syntax::ExpressionPtr& expression, double value, ElementType type);
  static ExprPtr convert(const ExprPtr& value, ElementType type);
  /// An expression of iterators and sizes as a value of an integer type: exact, then wrapped.
  ExprPtr lower_index(const syntax::ExpressionPtr& expression, ElementType type);
  /// The value that a symbol stands for, i64.
  ExprPtr lower_symbol(const syntax::ExpressionPtr& expression);
  ExprPtr lower_division(const syntax::Binary& binary, ElementType type);
  ExprPtr lower_tuple(const syntax::ExpressionPtr& expression, const syntax::Tuple& tuple, ElementType type);
  /// `subscript` chooses a component of a tuple rather than an element of a tensor.
  bool is_component(const syntax::Subscript& subscript) const;
  ExprPtr lower_component(const syntax::ExpressionPtr& expression, const syntax::Subscript& subscript);
  ExprPtr lower_access(const syntax::ExpressionPtr& expression, const syntax::ExpressionPtr& base);
  ExprPtr lower_unary(const syntax::ExpressionPtr& expression, const syntax::Unary& unary, ElementType type);
  ExprPtr lower_binary(const syntax::Binary& binary, ElementType type);
  ExprPtr lower_logical(const syntax::Binary& binary);
  ExprPtr lower_comparison(const syntax::Comparison& comparison);
  ExprPtr lower_link(const syntax::ExpressionPtr& left, const syntax::ComparisonLink& link);
  ExprPtr lower_conditional(const syntax::Conditional& conditional, ElementType type);
  ExprPtr lower_branch(const Nest& nest, const syntax::ExpressionPtr& expression, ElementType type);
  ExprPtr lower_call(const syntax::ExpressionPtr& expression, const syntax::Call& call, ElementType type);
  ExprPtr lower_cast(const syntax::ExpressionPtr& expression, const syntax::Call& call, ElementType type);
  ExprPtr lower_function(const syntax::ExpressionPtr& expression, const syntax::Call& call, Function function,
                         ElementType type);
  ExprPtr lower_extremum(const syntax::Call& call, BinaryOp op, ElementType type);
  ExprPtr lower_reduction(const syntax::ExpressionPtr& expression, const syntax::Generator& generator, const Reduction& reduction,
                          ElementType type);
  /// `scan(sum(...))`: the reduction, and the promise.
  ExprPtr lower_scan(const syntax::ExpressionPtr& expression, const syntax::Call& call, ElementType type);
  /// argmax, argmin: a reduction of (value, index) pairs.
  ExprPtr lower_extreme_search(const syntax::ExpressionPtr& expression, const syntax::Call& call, ElementType type);
  /// A call of a helper function or of a monoid's operation: its body over the arguments.
  ExprPtr lower_pure_call(const syntax::ExpressionPtr& expression, const syntax::Call& call, const PureFunction& function);
  ExprPtr reject_call(const syntax::Call& call);

  /// The type to read an operand in, so that one error does not cause others.
  ElementType operand_type(Kind operand, bool sibling_invalid, ElementType type) const;
  /// Refuses division by a literal zero and shifts by a negative literal.
  bool check_right_literal(const syntax::Binary& binary, const ExprPtr& right);
  bool check_operator(BinaryOp op, syntax::Position where, ElementType type);
  void report_mixed(const syntax::ExpressionPtr& left, const syntax::ExpressionPtr& right, const std::string& op,
                    syntax::Position where);
  Kind kind(const syntax::ExpressionPtr& expression) const;
  std::vector<std::string> iterator_names() const;
  ExprPtr reject(ErrorCode code, syntax::Position where, const std::string& message, const std::string& hint);

  Lowering& lowering_;
  Nest nest_;  ///< its domain narrows inside the branches of affine conditions
  std::string statement_, target_;
  std::vector<Access> reads_;
  std::vector<isl::pw_aff> indices_;
  std::vector<Tree::Branch> before_;
  std::optional<syntax::Position> scan_;  ///< of the `scan` whose reduction is lowered next
};

}  // namespace tileopt::tile_text
