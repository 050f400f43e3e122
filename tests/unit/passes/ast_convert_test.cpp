/// Names replaced in expressions and in whole subtrees.
#include "passes/ast_convert.h"

#include <gtest/gtest.h>

namespace tileopt {
namespace {

AstExprPtr parse(const std::string& text) { return parse_ast_expr(text, "test.yaml"); }

TEST(SubstituteNames, FoldsNothing) {
  EXPECT_EQ(ast_expr_text(substitute_names(parse("min(i + 1, N - i)"), {{"i", ast_integer(0)}})), "min(0 + 1, N - 0)");
  EXPECT_EQ(ast_expr_text(substitute_names(parse("i * j"), {{"i", parse("j + 1")}, {"j", parse("i")}})), "(j + 1) * i");
}

TEST(SubstituteNames, KeepsTheRingsThatAnArrayOpens) {
  AstLeaf leaf;
  leaf.statement = "copy_in_A";
  leaf.write = {parse("i")};
  const AstNodePtr node = make_node(AstAllocate{{"A_shared"}, make_node(leaf), {"k_ring"}});
  const AstNodePtr result = substitute_names(node, {{"i", ast_integer(7)}});
  const auto& allocate = std::get<AstAllocate>(result->node);
  EXPECT_EQ(allocate.arrays, std::vector<std::string>{"A_shared"});
  EXPECT_EQ(allocate.rings, std::vector<std::string>{"k_ring"});
  EXPECT_EQ(ast_expr_text(std::get<AstLeaf>(allocate.body->node).write.front()), "7");
}

/// What a loop counts with is its own inside; its bounds are of outside.
TEST(SubstituteNames, LeavesWhatALoopRenames) {
  AstLeaf leaf;
  leaf.instance = {parse("i + j")};
  AstFor loop;
  loop.variable = "i";
  loop.lower = parse("i");
  loop.upper = parse("N");
  loop.body = make_node(leaf);
  const AstNodePtr result = substitute_names(make_node(loop), {{"i", ast_integer(7)}, {"j", ast_integer(9)}});
  const auto& changed = std::get<AstFor>(result->node);
  EXPECT_EQ(ast_expr_text(changed.lower), "7");
  EXPECT_EQ(ast_expr_text(std::get<AstLeaf>(changed.body->node).instance.front()), "i + 9");
}

}  // namespace
}  // namespace tileopt
