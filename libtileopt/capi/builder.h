/// A program that is being put together call by call.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "capi/guard.h"

namespace tileopt::capi {

/// A read, an affine value or a monoid's operand that some expression of the builder uses. Expressions name them by place.
struct Leaf {
  enum class Kind { read, index, operand } kind = Kind::read;
  std::string statement;                ///< whose iterators it speaks of
  std::string tensor;                   ///< read
  std::optional<isl::map> access;       ///< read: { S[i] -> A[a] }
  std::optional<isl::pw_aff> value;     ///< index: { S[i] -> [(v)] }
  int operand = 0;                      ///< operand
  std::string text;
};

/// Statements and loops in their order.
struct Nest {
  std::string iterator;                 ///< of the loop; "" at the root and of statements
  std::string statement;                ///< a leaf
  std::vector<Nest> children;
};

struct BuilderObject {
  std::shared_ptr<Session> session;     // first: destroyed last
  std::string name;
  std::vector<std::string> log;         ///< the calls, one a line
  std::vector<std::string> parameters;
  isl::set context;                     ///< [params] -> { : ... }
  std::vector<Tensor> tensors;
  std::vector<Monoid> monoids;
  std::vector<Statement> statements;
  std::vector<Leaf> leaves;
  Nest nest;
  std::vector<std::string> open;        ///< iterators of the loops that are open
  std::string schedule;                 ///< "" = the loops are the order
  SourceLocation schedule_where;
  Numerics numerics;
  int operand_height = 0;               ///< of the expressions that the call in progress was given

  explicit BuilderObject(std::shared_ptr<Session> owner);

  isl::ctx ctx() const { return session->context.get(); }
  const Tensor* find_tensor(const std::string& tensor) const;
  Statement* find_statement(const std::string& statement);
  const Monoid* find_monoid(const std::string& monoid) const;
  /// Where the call that is being made stands.
  SourceLocation here() const;
  /// The call is done: it has a line.
  void record(const std::string& call);
  std::string text() const;
  SourceTexts texts(const std::string& call = "") const;

  /// Fault of the call that is being made.
  [[noreturn]] void fail(ErrorCode code, const std::string& message, const std::string& hint, const std::string& witness = "") const;
  /// @throws Errors(syntax, duplicate_name): no identifier, a reserved word, or taken.
  void check_name(const std::string& name, const char* what) const;
  bool is_iterator(const std::string& name) const;
  /// As check_name; also none of a parameter or tensor: inside a program a name is one thing.
  void check_iterator(const std::string& name) const;
  ElementType read_type(const std::string& text, bool tuples) const;

  /// "[M, N] -> " in front where it is missing.
  std::string with_parameters(const std::string& text) const;
  /// isl's objects from the host's text. @throws Errors(syntax) with what isl says.
  isl::set read_set(const std::string& text, const char* what) const;
  isl::map read_map(const std::string& text, const char* what) const;
  isl::pw_aff read_affine(const std::string& text, const char* what) const;   ///< over the parameters: "2*N + 1"
  void check_parameters(const isl::set& set, const char* what) const;
};

struct ExprObject {
  std::shared_ptr<BuilderObject> builder;
  ExprPtr expr;      ///< Read and IndexValue name the builder's leaves
  std::string type;
  int height = 1;    ///< levels: walks over expressions are recursive
};
/// @throws CallError, Errors(invalid_option) where it belongs to another builder.
ExprPtr need_expr(BuilderObject& builder, const tileopt_expr* handle, const char* argument);

/// An expression with its leaves taken into a statement: numbered there, in order of first use. @throws Errors where a leaf speaks of another statement.
ExprPtr take_leaves(const BuilderObject& builder, const ExprPtr& expr, Statement& statement);

/// The order of statements and the statements in it: by loops, or by the schedule, which changes iterators.
/// A union map to time, or a schedule tree. @throws Errors(syntax). { S[i] -> [t] }
isl::union_map read_schedule(const BuilderObject& builder, const std::string& text);
Tree order_by_loops(const BuilderObject& builder);
Tree order_by_schedule(const BuilderObject& builder, std::vector<Statement>& statements);

/// Faults of the whole that frontends look for: reads of what nobody wrote. Empty: none.
std::vector<Diagnostic> check_program(const Program& program);

/// isl operations that one call may take.
inline constexpr unsigned long builder_operations = 20'000'000;

/// `body` in the session's turn within isl's quota; its line is `call`.
template <class Body>
tileopt_error* building(tileopt_builder* handle, const std::string& call, Body&& body) noexcept {
  SourceTexts texts;
  return guard(texts, [&] {
    const auto builder = need(handle, "builder");
    in_session(*builder->session, [&] {
      texts = builder->texts(call);
      const poly::QuotaGuard quota(builder->ctx(), builder_operations);
      try {
        body(builder);
      } catch (const isl::exception& error) {
        if (poly::quota_exceeded(builder->ctx())) builder->fail(ErrorCode::unsupported, "the sets of this call are too involved", "simplify them");
        throw;
      }
    });
  });
}

}  // namespace tileopt::capi
