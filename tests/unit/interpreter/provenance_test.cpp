#include "interpreter/provenance.h"

#include <gtest/gtest.h>

#include "frontends/tile_text/tile_text.h"

namespace tileopt {
namespace {

const char* const scaled =
    "def scaled(A: f32[N], B: out[f32[N]]):\n"
    "    for i in range(N):\n"
    "        B[i] = 2 * A[i]\n";

TEST(Provenance, CountsTheInstancesOfAReference) {
  poly::Context context;
  const Program program = parse_tile_file(context.get(), scaled, "scaled.tile").programs.front();
  EXPECT_EQ(ProvenanceReference(program, {{"N", 17}}, 1).instances(), 17);
}

TEST(Provenance, MoreInstancesThanThereIsMemoryForAreNotEnumerated) {
  poly::Context context;
  const Program program = parse_tile_file(context.get(), scaled, "scaled.tile").programs.front();
  EXPECT_THROW(ProvenanceReference(program, {{"N", 5'000'000}}, 1), ProvenanceUnsupported);
}

}  // namespace
}  // namespace tileopt
