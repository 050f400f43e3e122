/// Formatting random programs: the same program, and formatted text stays as it is.
#include "frontends/tile_text/formatter.h"

#include <gtest/gtest.h>

#include "frontends/tile_text/tile_text.h"
#include "random_program.h"

namespace tileopt {
namespace {

TEST(FormattedPrograms, AreTheSamePrograms) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const std::string text = testing::random_program(seed);
    const std::string once = format_tile_text(text, "random.tile");
    ASSERT_EQ(canonical_tile_text(once, "random.tile"), canonical_tile_text(text, "random.tile")) << text;
    ASSERT_EQ(format_tile_text(once, "random.tile"), once) << text;
  }
}

}  // namespace
}  // namespace tileopt
