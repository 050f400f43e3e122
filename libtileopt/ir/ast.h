/// 60-ast: the loops of a kernel as our own type, self-contained: what the printer prints and what verify reads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "ir/array.h"
#include "ir/synchronization.h"
#include "support/document.h"

namespace tileopt {

/// Integer expressions over loop variables and size parameters. All values are 64-bit.
struct AstExpr;
using AstExprPtr = std::shared_ptr<const AstExpr>;
struct AstExpr {
  enum class Kind {
    integer,     ///< value
    name,        ///< loop variable or size parameter
    negate,      ///< -a0
    add, sub, mul,
    floor_div,   ///< floor(a0 / a1), a1 a positive integer constant
    exact_div,   ///< a0 / a1 where a1 divides a0, or a0 is not negative: C's `/`
    modulo,      ///< a0 mod a1 with result in [0, a1) (a0 of any sign), a1 a positive constant
    min, max,    ///< two operands
    select,      ///< a0 ? a1 : a2
    eq, ne, lt, le, gt, ge,
    logical_and, logical_or,
  };
  Kind kind = Kind::integer;
  std::int64_t value = 0;
  std::string name;
  std::vector<AstExprPtr> arguments;
};
AstExprPtr ast_integer(std::int64_t value);
AstExprPtr ast_name(std::string name);
AstExprPtr ast_operation(AstExpr::Kind kind, std::vector<AstExprPtr> arguments);
/// Adds the names that `expr` mentions.
void collect_names(const AstExprPtr& expr, std::set<std::string>& names);
/// By how much `expr` grows when `name` grows by one: expr = rest + step * name. Nothing where it is no such sum.
std::optional<std::int64_t> constant_step(const AstExprPtr& expr, const std::string& name);

/// Text with C's precedences; floor division prints as `floord(a, b)`, modulo as `mod(a, b)`, min/max as calls, select as `(c ? a : b)`.
std::string ast_expr_text(const AstExprPtr& expr);
/// Inverse of ast_expr_text. @throws Errors(invalid_dump).
AstExprPtr parse_ast_expr(const std::string& text, const std::string& file);

/// What a leaf needs beside its operands: constant along the loops, shared by all copies of the leaf.
struct AstStatement {
  std::string name;
  std::string kind;                        ///< "compute", "copy_in", "copy_out"
  std::string statement;                   ///< compute: program statement
  std::string atom;                        ///< "" = scalar
  struct BoxDigit {
    std::string name;
    long radix = 1;
    bool whole = false;  ///< compute: beyond the extent nothing is read, and the registers that are written may hold anything afterwards
  };
  std::vector<BoxDigit> box;               ///< lanes last
  std::vector<std::vector<long>> instance_steps;             ///< compute: [iterator][box digit]
  std::string write_array;
  std::vector<std::vector<long>> write_steps;                ///< [array dimension][box digit]
  std::vector<std::string> read_arrays;
  std::vector<std::vector<std::vector<long>>> read_steps;    ///< [read][array dimension][box digit]
  std::vector<std::vector<long>> index_steps;                ///< [index value][box digit]
  bool zero_fill = false;                  ///< copy_in: box points beyond the extents store zero
  bool stream = false;                     ///< the write goes past the caches: a fence must follow before other agents may see it
  std::string prefetch = "";               ///< digit of a loop around whose next value's reads are fetched meanwhile; "" = nothing
  std::string signal = "";                 ///< mbarrier that is told when an asynchronous run is done; "" = none
};

struct AstNode;
using AstNodePtr = std::shared_ptr<const AstNode>;

struct AstBlock {
  std::vector<AstNodePtr> children;
};
/// The one value of a loop variable that has an effect: guard `guard` of the program statement that leaf `leaf` runs, with
/// the subscripts of what it reads (by access number) and its index values as functions of the loops around.
struct AstBinding {
  std::string leaf;  ///< key into Ast::statements
  std::size_t guard = 0;
  std::map<std::size_t, std::vector<AstExprPtr>> reads;
  std::map<std::size_t, AstExprPtr> indices;
};
/// for (variable = lower; variable <= upper; variable += step); `level` is the digit's level name. With a binding only the
/// value of the guard is run, where it lies between the bounds (step 1): the others have no effect.
struct AstFor {
  std::string variable;
  std::string digit;
  std::string level;
  AstExprPtr lower, upper;
  std::int64_t step = 1;
  AstNodePtr body;
  std::optional<AstBinding> binding = std::nullopt;
  bool persistent = false;  ///< one block runs several iterations of this independent loop one after the other: rings go on, barriers keep their phases
  long agents = 0;          ///< agent loops: 0 <= variable < agents. The agent loops around a leaf are the mixed-radix digits of its agent's number, the
                            ///< innermost one least significant. 0 for other loops
};
struct AstIf {
  AstExprPtr condition;
  AstNodePtr then_body;
  AstNodePtr else_body;  ///< may be null
};
/// Opens the lifetime of promoted arrays, and the scope of rings: their positions start at 0 in every run of the body.
struct AstAllocate {
  std::vector<std::string> arrays;
  AstNodePtr body;
  std::vector<std::string> rings = {};
};
/// Agents that run different bodies side by side. Each goes on by itself through the loops around: there is no join at the end.
/// They are listed in an order in which, had rings slots without end, one could run after the other.
struct AstRole {
  std::string name;
  long threads = 1;  ///< of one agent of this role
  AstNodePtr body;
};
struct AstRoles {
  std::vector<AstRole> roles;
};
/// A synchronisation statement where it stands.
struct AstSync {
  std::string statement;             ///< key into Ast::synchronizations
  AstExprPtr position = nullptr;     ///< relative to the ring's base; null where the statement is on no ring. wait: of the phase waited for;
                                     ///< await: of the commit waited for; advance: by how much the base moves on
  long pending = 0;                  ///< await: groups that may still be in flight
};
/// Runs statement `statement` for every box point b, 0 <= b_d < radix_d: all of them where `extents` is empty (points
/// outside the program's domain are padding), else those with b_d < extents_d for all d.
struct AstLeaf {
  std::string statement;                       ///< key into Ast::statements
  std::vector<AstExprPtr> instance;            ///< compute: program iterators at the corner of the box
  std::vector<AstExprPtr> write;               ///< subscripts at the corner
  std::vector<std::vector<AstExprPtr>> reads;
  std::vector<AstExprPtr> indices;
  std::vector<AstExprPtr> extents;             ///< per box digit, or empty
  AstExprPtr signal_position = nullptr;        ///< of the phase that AstStatement::signal counts this run in
};
struct AstNode {
  std::variant<AstBlock, AstFor, AstIf, AstAllocate, AstLeaf, AstRoles, AstSync> node;
};
template <class Node>
AstNodePtr make_node(Node node) {
  return std::make_shared<const AstNode>(AstNode{std::move(node)});
}

/// Whether agents of `node` meet, or run side by side in roles: what printers and interpreters that know neither refuse.
bool synchronizes(const AstNodePtr& node);

struct Ast {
  std::string kernel;
  std::string when = "";       ///< as KernelPlan::when: the body is an `if` that tests it
  std::map<std::string, AstStatement> statements;
  std::vector<Array> arrays;   ///< promoted arrays of this kernel
  std::vector<Ring> rings = {};
  std::vector<Barrier> barriers = {};
  std::map<std::string, Synchronization> synchronizations = {};
  AstNodePtr root;

  const Ring* find_ring(const std::string& name) const;
  const Barrier* find_barrier(const std::string& name) const;

  Document write() const;
  /// @throws Errors(invalid_dump).
  static Ast read(const Document& document, const std::string& file);
};

}  // namespace tileopt
