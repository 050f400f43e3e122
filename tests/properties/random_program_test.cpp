/// Laws of the generator and the interpreter: every random program is accepted and runs, and its error bounds hold.
#include "random_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "frontends/tile_text/tile_text.h"
#include "interpreter/interpreter.h"

namespace tileopt {
namespace {
using namespace testing;

constexpr int programs = 600;
constexpr std::int64_t most_instances = std::int64_t(1) << 16;

Program parse_random(isl::ctx ctx, std::uint64_t seed) {
  TileFile file = parse_tile_file(ctx, random_program(seed), "random.tile");
  EXPECT_EQ(file.programs.size(), 1u);
  return file.programs.front();
}

/// Share of written float elements about which the bound says nothing.
struct BoundQuality {
  std::int64_t elements = 0, unknown = 0, exact = 0;
};

void check_bounds(const InterpreterResult& result, BoundQuality& quality) {
  for (const auto& [tensor, values] : result.values)
    for (std::int64_t i = 0; i < values.elements(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (!result.written.at(tensor)[at]) continue;
      const double bound = result.bound.at(tensor)[at], shadow = result.shadow.at(tensor)[at], got = values.get(i);
      ++quality.elements;
      quality.unknown += std::isinf(bound);
      quality.exact += bound == 0;
      ASSERT_TRUE(bound >= 0) << tensor << " " << i;
      if (got == shadow || (std::isnan(got) && std::isnan(shadow)) || std::isinf(bound)) continue;
      ASSERT_LE(std::fabs(got - shadow), bound) << tensor << " " << i;
    }
}

TEST(RandomPrograms, ParseAndInterpret) {
  int counts[14] = {};
  BoundQuality quality;
  for (int seed = 0; seed < programs; ++seed) {
    SCOPED_TRACE(random_program(static_cast<std::uint64_t>(seed)));
    ProgramFeatures f;
    EXPECT_EQ(random_program(static_cast<std::uint64_t>(seed), &f), random_program(static_cast<std::uint64_t>(seed)));
    const bool flags[14] = {f.triangular, f.strided, f.in_place, f.multi_statement, f.reduction, f.conditional, f.contraction, f.time_loop, f.local,
                            f.may_write, f.indexed, f.descending, f.monoid, f.layout};
    for (int i = 0; i < 14; ++i) counts[i] += flags[i];
    poly::Context context;
    try {
      const Program program = parse_random(context.get(), static_cast<std::uint64_t>(seed));
      for (const Sizes& sizes : random_sizes(static_cast<std::uint64_t>(seed), program.parameters())) {
        ASSERT_LE(count_instances(program, sizes), most_instances);
        const Arrays arguments = make_arguments(program, sizes, static_cast<std::uint64_t>(seed), Fill::integers);
        const InterpreterResult result = interpret(program, sizes, arguments);
        // Rows whose bounds are data run at most as often as they may.
        if (f.indexed) ASSERT_LE(result.instances, count_instances(program, sizes));
        else ASSERT_EQ(result.instances, count_instances(program, sizes));
        check_bounds(result, quality);
        std::int64_t deviations = -1;
        compare(program, result, arguments, result.values, 1, &deviations);
        ASSERT_EQ(deviations, 0);
      }
    } catch (const std::exception& error) {
      FAIL() << error.what();
    }
  }
  static const char* names[14] = {"triangular", "strided", "in_place", "multi_statement", "reduction", "conditional", "contraction", "time_loop", "local",
                                  "may_write", "indexed", "descending", "monoid", "layout"};
  for (int i = 0; i < 14; ++i) {
    std::printf("%s: %d of %d programs\n", names[i], counts[i], programs);
    EXPECT_GT(counts[i], programs / 20) << names[i];
  }
  std::printf("written elements: %lld, exact %.1f %%, unbounded %.2f %%\n", static_cast<long long>(quality.elements),
              100.0 * static_cast<double>(quality.exact) / static_cast<double>(quality.elements),
              100.0 * static_cast<double>(quality.unknown) / static_cast<double>(quality.elements));
  EXPECT_LT(quality.unknown * 20, quality.elements);
}

}  // namespace
}  // namespace tileopt
