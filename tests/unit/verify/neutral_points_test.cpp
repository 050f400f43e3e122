/// A box whose last digit is summed over, run whole: what it adds beyond the data are products of zeros.
///   for i: for kk: { A_pair[x] = A[i, 2 kk + x], B_pair[x] = B[2 kk + x], zero from K on;  T += A_pair[x] * B_pair[x] for both x }
#include "builder.h"

namespace tileopt::test {
namespace {

struct Pairs {
  ElementType type = ElementType::i32;
  bool reassociate = true;
  bool a_zero_fill = true, b_zero_fill = true;
  bool lasting = false;          ///< the pairs outlive a step of kk, so that what was there before is never unset
  std::string atom = "dot";
  Combine combine = Combine::sum;
  BinaryOp body = BinaryOp::mul;

  Program program(isl::ctx ctx) const {
    ProgramWriter w(ctx, "products", {"M", "K"}, "M >= 1 and K >= " + std::string(lasting ? "2" : "1"));
    w.type = type;
    Numerics numerics;
    numerics.reassociate = reassociate;
    w.builder.numerics(numerics);
    w.tensor("A", TensorRole::in, {"M", "K"}, type);
    w.tensor("B", TensorRole::in, {"K"}, type);
    w.tensor("C", TensorRole::out, {"M"}, type);
    w.statement("C_init", {"i"}, "0 <= i < M", "C[i]", Combine::assign, {}, 3);
    w.joins = body;
    w.statement("C", {"i", "k"}, "0 <= i < M and 0 <= k < K", "C[i]", combine, {"A[i, k]", "B[k]"}, 3);
    return w.build("i > (C_init ; C: k)");
  }

  Ast ast() const {
    const std::vector<AstStatement::BoxDigit> pair = {{"x", 2}};
    const std::vector<AstStatement> statements = {scalar("C_init", 1, "T", 1, {}),
                                                  copy("A_copy", "copy_in", "A_pair", "A", pair, {{1}}, {{0}, {1}}, a_zero_fill),
                                                  copy("B_copy", "copy_in", "B_pair", "B", pair, {{1}}, {{1}}, b_zero_fill),
                                                  compute("C", "T", {"A_pair", "B_pair"}, pair, {{0}, {1}}, {{0}}, {{{1}}, {{1}}}, atom),
                                                  copy("C_store", "copy_out", "C", "T", {}, {{}}, {{}})};
    const std::string k = "2 * kk", rest = "K - 2 * kk";
    AstNodePtr step = block({leaf("A_copy", {}, {"0"}, {{"i", k}}, {rest}), leaf("B_copy", {}, {"0"}, {{k}}, {rest}),
                             leaf("C", {"i", k}, {"0"}, {{"0"}, {"0"}})});
    if (!lasting) step = allocate({"A_pair", "B_pair"}, step);
    AstNodePtr sum = loop("kk", "0", "floord(K - 1, 2)", step);
    if (lasting) sum = allocate({"A_pair", "B_pair"}, sum);
    const AstNodePtr row = allocate({"T"}, block({leaf("C_init", {"i"}, {"0"}, {}), sum, leaf("C_store", {}, {"i"}, {{"0"}})}));
    return kernel("products", {promoted("T", "C", "stack", {1}, type), promoted("A_pair", "A", "stack", {2}, type), promoted("B_pair", "B", "stack", {2}, type)},
                  statements, loop("i", "0", "M - 1", row));
  }
};

class NeutralPointsTest : public ::testing::Test {
 protected:
  Certificate prove(const Pairs& pairs) {
    Machine with_dot = machine();
    Atom dot;
    dot.name = "dot";
    dot.body = "dot";
    with_dot.atoms.push_back(dot);
    const Program program = pairs.program(context_.get());
    const Ast ast = pairs.ast();
    return verify(program, {ast}, {faithful_facts(program, ast)}, with_dot, "test", patient());
  }

  poly::Context context_;
};

TEST_F(NeutralPointsTest, ProductsOfZerosAreProved) {
  expect_proved(prove(Pairs{}));
  Pairs floats;
  floats.type = ElementType::f32;
  const Certificate certificate = prove(floats);
  expect_proved(certificate);
  EXPECT_EQ(certificate.numerics, std::vector<std::string>{"reassociate: C"});
}

TEST_F(NeutralPointsTest, OneZeroIsEnoughForIntegersAndNotForFloats) {
  Pairs pairs;
  pairs.lasting = true;
  pairs.b_zero_fill = false;
  // What B_pair held before is another element of B: 0 * b.
  Pairs floats = pairs;
  floats.type = ElementType::f32;
  expect_proved(prove(pairs));
  expect_refuted(prove(floats), "padding", "uses what a padding point of C computed");
}

TEST_F(NeutralPointsTest, UnsetOperandsAreRefuted) {
  Pairs pairs;
  pairs.a_zero_fill = false;
  expect_refuted(prove(pairs), "padding", "reads an element of A_pair that was never set");
}

TEST_F(NeutralPointsTest, OtherBodiesAndCombinesAreNotNeutral) {
  Pairs sum_of_both;
  sum_of_both.body = BinaryOp::add;
  expect_refuted(prove(sum_of_both), "padding", "uses what a padding point of C computed");
  Pairs largest;
  largest.combine = Combine::max;
  expect_refuted(prove(largest), "races", "two box points");
}

TEST_F(NeutralPointsTest, OnlyADotAtomSumsThePointsOfItsBox) {
  Pairs pairs;
  pairs.atom = "outer_product_fma";
  expect_refuted(prove(pairs), "races", "two box points: C writes and C writes the same element of T");
  Pairs in_order;
  in_order.type = ElementType::f32;
  in_order.reassociate = false;
  expect_refuted(prove(in_order), "races", "two box points");
}

}  // namespace
}  // namespace tileopt::test
