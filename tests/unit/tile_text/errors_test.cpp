// Errors of tests/cases/error_*.tile, and witnesses. tests/errors holds the kinds of mistakes one by one.
#include <gtest/gtest.h>

#include "frontends/tile_text/tile_text.h"
#include "support/document.h"

namespace tileopt {
namespace {

std::vector<Diagnostic> errors_of(const std::string& text, const std::string& file) {
  poly::Context context;
  try {
    parse_tile_file(context.get(), text, file);
  } catch (const Errors& errors) {
    return errors.diagnostics();
  }
  return {};
}

std::vector<Diagnostic> errors_of_case(const std::string& name) {
  const std::string file = std::string(TILEOPT_SOURCE_DIR) + "/tests/cases/" + name + ".tile";
  return errors_of(read_file(file), name + ".tile");
}

TEST(ErrorCases, BoundsAtTheSubscriptWithWitness) {
  const std::vector<Diagnostic> errors = errors_of_case("error_bounds");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].code, ErrorCode::out_of_bounds);
  EXPECT_EQ(errors[0].where, (SourceLocation{"error_bounds.tile", 5, 25}));
  EXPECT_NE(errors[0].witness.find("k = K - 1"), std::string::npos) << errors[0].witness;
  EXPECT_NE(errors[0].hint.find("range(K - 1)"), std::string::npos) << errors[0].hint;
  EXPECT_NE(errors[0].hint.find("K + 1"), std::string::npos) << errors[0].hint;
}

TEST(ErrorCases, TwoErrorsInOneLine) {
  const std::vector<Diagnostic> errors = errors_of_case("error_shape");
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].code, ErrorCode::type_mismatch);
  EXPECT_EQ(errors[0].where.line, 4);
  EXPECT_NE(errors[0].message.find("f16 and bf16"), std::string::npos);
  EXPECT_NE(errors[0].hint.find("f32(A[i, k])"), std::string::npos);
  EXPECT_EQ(errors[1].code, ErrorCode::shape_mismatch);
  EXPECT_EQ(errors[1].where.line, 4);
  EXPECT_NE(errors[1].hint.find("B[j, k]"), std::string::npos);
  EXPECT_FALSE(errors[1].witness.empty());
}

TEST(ErrorCases, UninitialisedAtTheRead) {
  const std::vector<Diagnostic> errors = errors_of_case("error_uninitialised");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].code, ErrorCode::uninitialised_read);
  EXPECT_EQ(errors[0].where, (SourceLocation{"error_uninitialised.tile", 6, 31}));
  EXPECT_NE(errors[0].witness.find("i = 0"), std::string::npos);
}

// Found by fuzzing: no more errors were kept, so the functions after them counted as right.
TEST(ErrorCases, FunctionsAfterTheLastKeptErrorAreWrongToo) {
  std::string text;
  for (int i = 0; i < 120; ++i) text += "def f" + std::to_string(i) + "(A: i4[N], Y: out[f32[N]]):\n    for i in range(N):\n        Y[i] = f32(A[i])\n";
  EXPECT_EQ(errors_of(text, "many.tile").size(), 100u);
}

// Witnesses are claims: the sizes and iterations that they name must break the rule.
TEST(ErrorWitnesses, NameSizesAndIterators) {
  const std::string text =
      "def f(A: f32[M, K], B: out[f32[M]]):\n"
      "    assume(M >= 7 and K >= 3)\n"
      "    for i in range(5, M):\n"
      "        B[i] = A[i - 6, 2]\n";
  const std::vector<Diagnostic> errors = errors_of(text, "f.tile");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].where, (SourceLocation{"f.tile", 4, 18}));
  EXPECT_NE(errors[0].witness.find("i = 5"), std::string::npos) << errors[0].witness;
  EXPECT_NE(errors[0].witness.find("M = "), std::string::npos) << errors[0].witness;
}

}  // namespace
}  // namespace tileopt
