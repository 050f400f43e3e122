// How arguments lie in memory: what the checker makes of packed, permuted and strided.
#include <gtest/gtest.h>

#include "frontends/tile_text/tile_text.h"

namespace tileopt {
namespace {

using Dims = std::vector<std::size_t>;

class Layouts : public ::testing::Test {
 protected:
  Program lower(const std::string& parameter, const std::string& element = "X[i, j]") {
    const std::string text = "def f(X: " + parameter + ", Y: out[f32[M, N]]):\n    for i, j in grid(M, N):\n        Y[i, j] = f32(" + element + ")\n";
    TileFile file = parse_tile_file(context_.get(), text, "test.tile");
    EXPECT_EQ(file.programs.size(), 1u);
    return file.programs.front();
  }
  void expect_context(const Program& program, const std::string& text) {
    EXPECT_TRUE(program.context().is_equal(isl::set(context_.get(), text))) << program.context();
  }
  poly::Context context_;
};

TEST_F(Layouts, PlainTensorsLieRowByRow) {
  const Program program = lower("f32[M, N]");
  const Tensor& x = program.tensor("X");
  EXPECT_EQ(x.storage_order(), (Dims{0, 1}));
  EXPECT_EQ(x.contiguous_dim(), 1u);
  EXPECT_TRUE(x.layout.strides.empty() && !x.layout.packed);
}

TEST_F(Layouts, Packed) {
  const Program program = lower("packed[u4[M, N]]");
  EXPECT_TRUE(program.tensor("X").layout.packed);
  EXPECT_EQ(program.tensor("X").type, ElementType::u4);
  expect_context(program, "[M, N] -> { : M >= 0 and N >= 0 }");
}

TEST_F(Layouts, PermutedNamesDimensionsFromSlowestToFastest) {
  const Program program = lower("permuted[f32[M, N], 1, 0]");
  EXPECT_EQ(program.tensor("X").storage_order(), (Dims{1, 0}));
  EXPECT_EQ(program.tensor("X").contiguous_dim(), 0u);
  expect_context(program, "[M, N] -> { : M >= 0 and N >= 0 }");
  EXPECT_NE(program.text().find("X: permuted[f32[M, N], 1, 0]"), std::string::npos);
}

TEST_F(Layouts, StridesBoundTheSizes) {
  const Program rows = lower("strided[f32[M, N], lda, 1]");
  EXPECT_EQ(rows.parameters(), (std::vector<std::string>{"M", "N", "lda"}));
  expect_context(rows, "[M, N, lda] -> { : M >= 0 and N >= 0 and lda >= 1 and lda >= N }");
  EXPECT_EQ(rows.tensor("X").contiguous_dim(), 1u);

  const Program columns = lower("strided[f32[M, N], 1, M + 3]");
  EXPECT_EQ(columns.tensor("X").storage_order(), (Dims{1, 0}));
  EXPECT_EQ(columns.tensor("X").contiguous_dim(), 0u);
  expect_context(columns, "[M, N] -> { : M >= 0 and N >= 0 }");

  const Program both = lower("strided[f32[M, N], s, 2]");
  EXPECT_EQ(both.tensor("X").contiguous_dim(), std::nullopt);
  expect_context(both, "[M, N, s] -> { : M >= 0 and N >= 0 and s >= 1 and s >= 2N }");

  const Program unknown = lower("strided[f32[M, N], s, t]");
  expect_context(unknown, "[M, N, s, t] -> { : M >= 0 and N >= 0 and s >= 1 and t >= 1 }");

  const Program constant = lower("strided[f32[M, 8], 8, 1]", "X[i, j % 8]");
  expect_context(constant, "[M, N] -> { : M >= 0 and N >= 0 }");
}

TEST_F(Layouts, StridesOfPermutedDimensions) {
  const Program program = lower("strided[permuted[f32[M, 4, N], 1, 0, 2], lda, plane, 1]", "X[i, 0, j]");
  EXPECT_EQ(program.tensor("X").storage_order(), (Dims{1, 0, 2}));
  expect_context(program, "[M, N, lda, plane] -> { : M >= 0 and N >= 0 and lda >= 1 and lda >= N and plane >= 1 }");
}

TEST_F(Layouts, TextIsCanonical) {
  const Program program = lower("strided[ permuted[f32[M,N],1,0], 1, (lda)+2*1 ]");
  EXPECT_NE(program.text().find("X: strided[permuted[f32[M, N], 1, 0], 1, lda + 2 * 1]"), std::string::npos) << program.text();
  TileFile again = parse_tile_file(context_.get(), program.text(), "again.tile");
  EXPECT_EQ(again.programs.front().text(), program.text());
}

}  // namespace
}  // namespace tileopt
