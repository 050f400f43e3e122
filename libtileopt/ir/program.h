/// What to compute: parameters, tensors, statements with isl domains and accesses, in an original order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/expr.h"
#include "ir/tree.h"
#include "ir/types.h"
#include "poly/isl.h"
#include "support/error.h"

namespace tileopt {

enum class TensorRole { in, out, inout, local };

/// What the program assumes of the values of an integer tensor that serves as an index: `assume(0 <= T[:] < B)`.
struct ValueFacts {
  std::optional<isl::pw_aff> least, most;  ///< [params] -> { [(value)] }, inclusive
  bool monotone = false;                   ///< does not decrease along the last dimension
  bool injective = false;                  ///< no value occurs twice
  bool bounded() const { return least && most; }
};

/// Where the elements of an argument lie in memory. It moves addresses only: subscripts, domains and proofs speak of the array as
/// it was declared. docs/decisions/011.
struct Layout {
  std::vector<std::size_t> order = {};     ///< dimensions from the slowest to the fastest; empty: as declared
  std::vector<isl::pw_aff> strides = {};   ///< [params] -> { [(elements)] }, one per dimension; empty: no gaps in that order
  bool packed = false;                     ///< two 4-bit elements a byte along the last dimension, the even one in the low bits; rows fill bytes
};

struct Tensor {
  std::string name;
  ElementType type;
  std::vector<isl::pw_aff> shape;  ///< [params] -> { [(extent)] }, one per dimension; rank 0 is a scalar
  TensorRole role;
  SourceLocation where;
  ValueFacts facts = {};
  Layout layout = {};   ///< of arguments; locals lie row by row

  /// All dimensions, from the slowest to the fastest.
  std::vector<std::size_t> storage_order() const;
  /// The dimension whose neighbours lie side by side, whatever the sizes are; nothing for scalars.
  std::optional<std::size_t> contiguous_dim() const;
  isl::set elements(isl::ctx context) const;  ///< [params] -> { name[a0, a1] : 0 <= a_d < extent_d }
};

/// How a statement's value meets the element it writes. All but `assign` are associative; the built-in ones are commutative too.
enum class Combine {
  assign, sum, prod, min, max,
  any, all,                   ///< of bool
  bit_and, bit_or, bit_xor,   ///< of integers
  monoid,                     ///< as the Program's Monoid of that name says
};
/// "assign", "sum", ..., "any", "all", "bit_and", ..., "monoid".
std::string combine_name(Combine combine);
/// The operator of a built-in combine; nothing for `assign` and `monoid`.
std::optional<BinaryOp> combine_operator(Combine combine);

/// What leaves every value of a scalar type as it is under a built-in combine (of `assign`, of `monoid` and of tuples: zero).
Literal combine_identity(Combine combine, ElementType type);

/// An associative operation with an identity, defined by the program or made up by a frontend (argmax).
struct Monoid {
  std::string name;
  ElementType type;          ///< of the state: a scalar or a tuple
  ExprPtr identity;          ///< reads nothing
  ExprPtr combine;           ///< Read{0} (+) Read{1}, of `type`
  bool commutative = false;  ///< updates may then run in any order (where reassociation is granted, or `exact`)
  bool exact = false;        ///< no rounding: every order gives the same value
  SourceLocation where;
};

/// `index`: { S[iterators] -> tensor[subscripts] }; its domain is the instances that perform the access
/// (a read in the untaken branch of an affine ternary is not performed).
struct Access {
  std::string tensor;
  isl::pw_multi_aff index;
  SourceLocation where;
};

/// `iterator == value`: an index that is read from memory is an iterator over all values that it may have, and instances in
/// which it differs from the value read have no effect. So everything that is said of a statement (domain, accesses,
/// dependences, coverage) stays affine and holds for any data; loops over such an iterator run its one effective value.
/// docs/decisions/010.
struct Guard {
  std::size_t iterator = 0;  ///< position among the statement's iterators
  ExprPtr value;             ///< i64, over reads and index values that do not depend on this iterator or on later ones
};

/// One statement. With a combine other than `assign`, every instance also reads the element it writes (its *own read*,
/// which is not listed in `reads`): element = element (+) body.
struct Statement {
  std::string name;                    ///< written tensor, then _2, ...; reduction r = r_init, r
  std::vector<std::string> iterators;  ///< source names; unique inside the statement
  isl::set domain;                     ///< [params] -> { name[iterators] }
  Access write;
  Combine combine = Combine::assign;
  std::string monoid;                  ///< name of the Monoid where `combine` is one
  ExprPtr body;                        ///< type: the tensor's
  std::vector<Access> reads;           ///< referred to by Read{access}
  std::vector<isl::pw_aff> indices;    ///< [params] -> { name[iterators] -> [(value)] }, referred to by IndexValue{index}
  SourceLocation where;
  std::vector<Guard> guards = {};      ///< in the order in which they are evaluated
  ExprPtr predicate = nullptr;         ///< bool, evaluated after the guards: an instance where it is false has no effect; null: true

  /// Whether data decides if an instance has an effect. Where it has none, the element keeps its value.
  bool conditional() const { return predicate != nullptr || !guards.empty(); }
  /// Whether an instance may leave in the element what was there: a reduction, or a conditional statement.
  bool updates() const { return combine != Combine::assign || conditional(); }
  const Guard* guard_of(std::size_t iterator) const;
};

/// Updates of one class on one element are one reduction: the name of the combine, or of the monoid.
std::string update_class(const Statement& statement);

/// What reordering and approximation the user grants.
struct Numerics {
  bool reassociate = true;  ///< declared reductions may run in any order
  bool contract = false;    ///< a*b + c may be one fused multiply-add
  std::optional<ElementType> operand_rounding;
  bool flush_subnormals = false;  ///< numbers below the smallest normal one of their type may be taken, and left, as zero
  int approx_ulp = 0;       ///< units in the last place that math functions may be off beyond the C library's own
};

/// Immutable. Built by ProgramBuilder (frontends, rewrites, the C API).
class Program {
 public:
  const std::string& name() const { return name_; }
  isl::ctx ctx() const { return context_.ctx(); }
  const std::vector<std::string>& parameters() const { return parameters_; }  ///< sizes, in order of first use
  const isl::set& context() const { return context_; }                        ///< [params] -> { : ... }
  const std::vector<Tensor>& tensors() const { return tensors_; }             ///< arguments in signature order, then locals
  const std::vector<Statement>& statements() const { return statements_; }   ///< source order
  const std::vector<Monoid>& monoids() const { return monoids_; }             ///< that statements name
  const Tree& order() const { return order_; }                                ///< bands over iterators
  const Numerics& numerics() const { return numerics_; }
  const std::string& text() const { return text_; }                           ///< canonical tile text
  const std::string& file() const { return file_; }
  std::string hash() const;                                                   ///< of the canonical text

  const Tensor& tensor(const std::string& name) const;
  const Statement& statement(const std::string& name) const;
  const Monoid& monoid(const std::string& name) const;
  bool has_tensor(const std::string& name) const;
  bool has_statement(const std::string& name) const;

  /// The same for the sizes in `sizes` alone ([params] -> { : .. }): with a smaller context.
  Program restricted_to(const isl::set& sizes) const;

  /// Statements as spaces over their iterators, `to_program` the identity.
  std::vector<StatementSpace> spaces() const;
  isl::union_set domain() const;         ///< { S[i,j]; ... }, restricted to the context
  isl::union_map original_order() const; ///< { S[i,j] -> [time] }

 private:
  friend class ProgramBuilder;
  std::string name_, text_, file_;
  std::vector<std::string> parameters_;
  isl::set context_;
  std::vector<Tensor> tensors_;
  std::vector<Statement> statements_;
  std::vector<Monoid> monoids_;
  Tree order_;
  Numerics numerics_;
};

/// What KernelPlan::when says, as a set of sizes; the universe where it says nothing.
/// @throws Errors(invalid_plan) where `when` is no isl text of a set of the program's sizes; `kernel`: whose.
isl::set read_when(const Program& program, const std::string& when, const std::string& kernel);

/// Collects the parts and checks their consistency (names resolve, spaces match, arities agree).
class ProgramBuilder {
 public:
  ProgramBuilder(isl::ctx ctx, std::string name);
  ProgramBuilder& file(std::string file);
  ProgramBuilder& text(std::string canonical_text);
  ProgramBuilder& parameter(std::string name);
  ProgramBuilder& context(isl::set context);  ///< intersected with what is there
  ProgramBuilder& tensor(Tensor tensor);
  ProgramBuilder& statement(Statement statement);
  ProgramBuilder& monoid(Monoid monoid);
  ProgramBuilder& order(Tree order);
  ProgramBuilder& numerics(Numerics numerics);
  /// @throws InternalError when the parts do not fit (frontends report user errors before).
  Program build();

 private:
  Program program_;
};

}  // namespace tileopt
