/// Runs the loops of an Ast at concrete sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interpreter/stage_leaf.h"
#include "interpreter/tree_walk.h"
#include "ir/ast.h"

namespace tileopt {

/// What happens at the leaves and allocations of an Ast.
class AstVisitor : public TreeVisitor {
 public:
  /// `leaf`: the key into Ast::statements; its operands are in `corner`.
  virtual void visit_leaf(const std::string& leaf, LeafCorner& corner) = 0;
  /// The one value that a bound loop runs: that of guard number `guard` of leaf `leaf`, whose operands are in `corner`.
  virtual std::int64_t bound_value(const std::string& leaf, std::size_t guard, LeafCorner& corner) = 0;
  void visit(std::size_t) override {}
};

/// The Ast with names replaced by numbered slots. Loops on free levels are visited as `order` says.
/// @throws Errors(invalid_dump) where an expression names neither a loop around it nor a size.
class AstWalk {
 public:
  /// `check` sees every leaf first, and throws where its operands do not fit its statement; `check_bound` the values of bound loops.
  /// Loops of an edited Ast may run for ever: `most_iterations` of all loops together are run.
  AstWalk(const Ast& ast, const Sizes& sizes, WalkOrder order, std::int64_t most_iterations, std::function<void(const AstLeaf&)> check,
          std::function<void(const AstBinding&)> check_bound);

  /// @throws Errors(invalid_size) on 64-bit overflow or more than `most_iterations`, and what the visitor throws.
  void run(AstVisitor& visitor);
  /// Digits of the loops around the current point, outermost first, with their values.
  std::vector<std::pair<std::string, std::int64_t>> loops() const;

 private:
  /// An expression: its operands precede it in `code_`.
  struct Code {
    AstExpr::Kind kind;
    std::int64_t value;                ///< of an integer; slot of a name
    std::uint32_t first, second, third;
  };
  struct Node {
    enum class Kind { block, loop, branch, allocate, leaf };
    Kind kind = Kind::block;
    std::vector<std::size_t> children;
    std::vector<std::string> arrays;   ///< allocate
    std::string name;                  ///< leaf: statement; loop: digit
    std::size_t slot = 0;              ///< loop
    std::uint32_t lower = 0, upper = 0, condition = 0;
    std::int64_t step = 1;
    bool independent = false, free = false;
    std::optional<std::size_t> bound;  ///< loop: the node, of kind leaf, whose guard gives its one value
    std::size_t guard = 0;             ///< leaf of a bound loop
    std::vector<std::uint32_t> write, indices, extents, instance;
    std::vector<std::vector<std::uint32_t>> reads;
  };
  class Corner;

  std::size_t lower(const AstNodePtr& node);
  std::size_t lower_loop(const AstFor& loop);
  std::size_t lower_leaf(const AstLeaf& leaf);
  std::size_t lower_binding(const AstBinding& binding);
  std::uint32_t compile(const AstExprPtr& expr);
  std::vector<std::uint32_t> compile(const std::vector<AstExprPtr>& exprs);
  std::size_t add(Node node);
  std::int64_t value(std::uint32_t expr) const;
  void run(const Node& node, AstVisitor& visitor);
  void run_loop(const Node& node, AstVisitor& visitor);
  void count_iteration();

  WalkOrder order_;
  std::function<void(const AstLeaf&)> check_;
  std::function<void(const AstBinding&)> check_bound_;
  std::string kernel_;
  std::map<std::string, std::size_t> slots_;  ///< names in scope while lowering
  std::vector<std::int64_t> values_;          ///< by slot
  std::vector<Code> code_;
  std::vector<Node> nodes_;
  std::size_t root_ = 0;
  std::vector<const Node*> around_;           ///< loops around the current point
  std::uint64_t loops_run_ = 0;
  std::int64_t most_iterations_;
  std::int64_t iterations_ = 0;
};

}  // namespace tileopt
