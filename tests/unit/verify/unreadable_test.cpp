/// Asts that do not hang together, or are not affine: never believed, never a crash.
#include <functional>

#include "kernels.h"
#include "packed_gemm.h"
#include "verify/ast_expr_reader.h"
#include "verify/report.h"

namespace tileopt::test {
namespace {

class UnreadableTest : public ::testing::Test {
 protected:
  /// Nothing is proved or refuted but the reading itself; the reason contains `part`.
  void expect_unreadable(const Ast& ast, const std::string& part) {
    const Certificate certificate = verify(program_, {ast}, {}, machine(), "test", patient());
    EXPECT_FALSE(certificate.proved());
    EXPECT_FALSE(certificate.refuted());
    ASSERT_FALSE(certificate.obligations.empty());
    for (const Obligation& o : certificate.obligations) {
      EXPECT_EQ(o.verdict, Verdict::not_attempted) << o.subject;
      EXPECT_NE(o.reason.find(part), std::string::npos) << o.reason;
    }
  }
  Ast with_leaf(const std::string& index, const std::string& lower = "0") {
    return kernel("copy", {}, {scalar("Y", 1, "Y", 1, {{"X", 1}})},
                  loop("i", lower, "N - 1", leaf("Y", {index}, {index}, {{index}})));
  }

  poly::Context context_;
  Program program_ = CopyKernel::program(context_.get());
};

TEST_F(UnreadableTest, TheRightOneIsReadable) { expect_proved(check(program_, {with_leaf("i")})); }

TEST_F(UnreadableTest, NotAffine) {
  expect_unreadable(with_leaf("i * N"), "is not affine");
  expect_unreadable(with_leaf("i / N"), "positive constant");
  expect_unreadable(with_leaf("i / (0 - 3)"), "positive constant");
}

TEST_F(UnreadableTest, Names) {
  expect_unreadable(with_leaf("q"), "`q` is neither");
  expect_unreadable(with_leaf("i", "i"), "`i` is neither");
  Ast hidden = with_leaf("i");
  hidden.root = loop("i", "0", "N", hidden.root);
  expect_unreadable(hidden, "hides another");
  Ast parameter = with_leaf("i");
  parameter.root = loop("N", "0", "3", parameter.root);
  expect_unreadable(parameter, "hides a size parameter");
}

TEST_F(UnreadableTest, Tables) {
  const auto damaged = [&](const std::string& part, const std::function<void(AstStatement&)>& damage) {
    Ast ast = with_leaf("i");
    damage(ast.statements.at("Y"));
    expect_unreadable(ast, part);
  };
  damaged("unknown statement", [](AstStatement& s) { s.statement = "Z"; });
  damaged("unknown kind", [](AstStatement& s) { s.kind = "move"; });
  damaged("is used outside its lifetime, or unknown", [](AstStatement& s) { s.write_array = "Q"; });
  damaged("another number of reads", [](AstStatement& s) { s.read_arrays.clear(); });
  damaged("malformed step", [](AstStatement& s) { s.write_steps = {{1}}; });
  damaged("does not name an instance", [](AstStatement& s) { s.instance_steps.clear(); });
  damaged("radix below 1", [](AstStatement& s) { s.box = {{"l", 0}}; });
  damaged("does not read exactly one array", [](AstStatement& s) { s.kind = "copy_in"; s.read_arrays = {"X", "X"}; });
}

TEST_F(UnreadableTest, Nodes) {
  Ast ast = with_leaf("i");
  ast.statements.clear();
  expect_unreadable(ast, "undeclared statement");
  ast = with_leaf("i");
  ast.root = nullptr;
  expect_unreadable(ast, "missing");
  ast = with_leaf("i");
  for (int depth = 0; depth < 3000; ++depth) ast.root = block({ast.root, block({})});
  expect_unreadable(ast, "too deeply");
  AstExprPtr deep = ast_name("i");
  for (int depth = 0; depth < 3000; ++depth) deep = ast_operation(AstExpr::Kind::negate, {deep});
  ast = with_leaf("i");
  AstLeaf leaf = std::get<AstLeaf>(std::get<AstFor>(ast.root->node).body->node);
  leaf.write = {deep};
  ast.root = make_node(AstFor{"i", "i", "serial", expr("0"), expr("N - 1"), 1, make_node(leaf)});
  expect_unreadable(ast, "nested too deeply");
}

TEST_F(UnreadableTest, ArraysTwice) {
  Ast ast = TransposeKernel{}.ast();
  const Program transpose = TransposeKernel::program(context_.get());
  ast.arrays.push_back(ast.arrays.front());
  EXPECT_FALSE(verify(transpose, {ast}, {}, machine(), "test", patient()).proved());
  ast = TransposeKernel{}.ast();
  ast.arrays[0].extents = {16, 0};
  EXPECT_FALSE(verify(transpose, {ast}, {}, machine(), "test", patient()).proved());
  ast = TransposeKernel{}.ast();
  ast.arrays[0].space = "tape";
  expect_refuted(check(transpose, {ast}), "capacity", "has no space tape");
}

TEST_F(UnreadableTest, NarrowingIsRefuted) {
  const Program transpose = TransposeKernel::program(context_.get());
  Ast ast = TransposeKernel{}.ast();
  ast.arrays[0].element = ElementType::bf16;
  expect_refuted(check(transpose, {ast}), "values", "A_copy copies f32 to bf16");
  ast.arrays[0].element = ElementType::f64;
  expect_proved(check(transpose, {ast}));
}

TEST_F(UnreadableTest, DivisionTruncatesLikeC) {
  expect_refuted(check(program_, {with_leaf("i + (i - N) / 2 - floord(i - N, 2)")}), "coverage", "");
  expect_proved(check(program_, {with_leaf("i + (N - i) / 2 - floord(N - i, 2)")}));
}

TEST_F(UnreadableTest, ChoicesAndConditionsAreRead) {
  expect_proved(check(program_, {with_leaf("(i < 3 && i >= 0 || i > 7 ? i : i + 0)")}));
  Ast guarded = with_leaf("i", "0 - 5");
  const AstFor outer = std::get<AstFor>(guarded.root->node);
  guarded.root = loop("i", "0 - 5", "N + 5", branch("i >= 0 && i < N", outer.body));
  expect_proved(check(program_, {guarded}));
  guarded.root = loop("i", "0 - 5", "N + 5", branch("i < 0 || i >= N", block({}), outer.body));
  expect_proved(check(program_, {guarded}));
}

TEST(Report, QuotaIsNotAttempted) {
  poly::Context context;
  const Program program = PackedGemm::program(context.get());
  const proof::Limits limits{1000, std::chrono::seconds(10), std::chrono::seconds(60)};
  proof::Report report(context.get(), limits);
  Obligation obligation;
  obligation.name = "order";
  EXPECT_FALSE(report.prove(obligation, [&]() -> proof::Outcome {
    for (int i = 0; i < 100000; ++i) (void)program.original_order().intersect_domain(program.domain()).is_injective();
    return {};
  }));
  EXPECT_TRUE(report.prove(obligation, [&]() -> proof::Outcome { return {}; }));
  const std::vector<Obligation> found = report.take();
  EXPECT_EQ(found[0].verdict, Verdict::not_attempted);
  EXPECT_NE(found[0].reason.find("isl operation quota"), std::string::npos) << found[0].reason;
  EXPECT_EQ(found[1].verdict, Verdict::proved);
}

TEST(Report, DeadlineIsNotAttemptedAndIslWorksAfterwards) {
  poly::Context context;
  const proof::Limits limits{0, std::chrono::milliseconds(30), std::chrono::seconds(60)};
  proof::Report report(context.get(), limits);
  Obligation obligation;
  obligation.name = "order";
  const isl::set set(context.get(), "{ [i, j] : 0 <= i < 100 and exists e : 3e <= j + i < 7e }");
  report.prove(obligation, [&]() -> proof::Outcome {
    for (;;) (void)set.subtract(set.lexmin()).is_empty();
  });
  EXPECT_TRUE(report.prove(obligation, [&]() -> proof::Outcome {
    return set.is_empty() ? proof::Outcome(proof::Refutation{"empty", "", {}}) : proof::Outcome();
  }));
  const std::vector<Obligation> found = report.take();
  EXPECT_EQ(found[0].verdict, Verdict::not_attempted);
  EXPECT_NE(found[0].reason.find("time limit"), std::string::npos) << found[0].reason;
}

TEST(Report, ThrownIsNotAttempted) {
  poly::Context context;
  proof::Report report(context.get(), proof::Limits{0, std::chrono::seconds(10), std::chrono::seconds(60)});
  report.prove(Obligation{}, []() -> proof::Outcome { throw std::runtime_error("no idea"); });
  EXPECT_EQ(report.take()[0].reason, "no idea");
}

}  // namespace
}  // namespace tileopt::test
