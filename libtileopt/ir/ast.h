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
  };
  std::vector<BoxDigit> box;               ///< lanes last
  std::vector<std::vector<long>> instance_steps;             ///< compute: [iterator][box digit]
  std::string write_array;
  std::vector<std::vector<long>> write_steps;                ///< [array dimension][box digit]
  std::vector<std::string> read_arrays;
  std::vector<std::vector<std::vector<long>>> read_steps;    ///< [read][array dimension][box digit]
  std::vector<std::vector<long>> index_steps;                ///< [index value][box digit]
  bool zero_fill = false;                  ///< copy_in: box points beyond the extents store zero
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
};
struct AstIf {
  AstExprPtr condition;
  AstNodePtr then_body;
  AstNodePtr else_body;  ///< may be null
};
/// Opens the lifetime of promoted arrays.
struct AstAllocate {
  std::vector<std::string> arrays;
  AstNodePtr body;
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
};
struct AstNode {
  std::variant<AstBlock, AstFor, AstIf, AstAllocate, AstLeaf> node;
};
template <class Node>
AstNodePtr make_node(Node node) {
  return std::make_shared<const AstNode>(AstNode{std::move(node)});
}

struct Ast {
  std::string kernel;
  std::map<std::string, AstStatement> statements;
  std::vector<Array> arrays;   ///< promoted arrays of this kernel
  AstNodePtr root;

  Document write() const;
  /// @throws Errors(invalid_dump).
  static Ast read(const Document& document, const std::string& file);
};

}  // namespace tileopt
