/// The examples of docs/rewrites.md are schedules that are honoured, and every rewrite has its section.
#include <gtest/gtest.h>

#include "tests/unit/search/plan_case.h"

namespace tileopt {
namespace {

std::string page() { return read_file(TILEOPT_SOURCE_DIR + std::string("/docs/rewrites.md")); }

TEST(RewritesPage, ExamplesAreHonoured) {
  const std::string text = page(), open = "```python\n", close = "```\n";
  int honoured = 0;
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    at += open.size();
    const std::string example = text.substr(at, text.find(close, at) - at);
    SCOPED_TRACE(example);
    const poly::Context context;
    const TileFile file = parse_tile_file(context.get(), example, "example.tile");
    ASSERT_EQ(file.programs.size(), 1u);
    ASSERT_EQ(file.schedules.size(), 1u);
    EXPECT_EQ(canonical_tile_text(example, "example.tile"), example);
    const auto resolved = resolve_plan(file.programs.front(), file.schedules.front(), find_machine("x86-64-v3"), {});
    ASSERT_TRUE(feasible(resolved)) << to_string(std::get<Infeasible>(resolved));
    const std::vector<Rewriting>& rewrites = std::get<ResolvedPlan>(resolved).plan.rewrites;
    EXPECT_EQ(rewrites.size(), file.schedules.front().pins.size());
    ++honoured;
  }
  EXPECT_GE(honoured, 7);
}

TEST(RewritesPage, EveryRewriteHasItsSection) {
  for (const RewriteShape& shape : rewrite_shapes()) EXPECT_NE(page().find("\n## `" + shape.name + "`: "), std::string::npos) << shape.name;
}

}  // namespace
}  // namespace tileopt
