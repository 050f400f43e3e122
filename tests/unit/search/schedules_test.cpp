/// Every @schedule of benchmarks/schedules resolves and passes the passes.
#include <gtest/gtest.h>

#include "tests/unit/search/plan_case.h"

namespace tileopt {
namespace {

TEST(Schedules, AllExamplesAreHonoured) {
  int honoured = 0;
  for (const char* name : {"gemm", "rows"}) {
    const std::string path = std::string(TILEOPT_SOURCE_DIR) + "/benchmarks/schedules/" + name + ".tile";
    const poly::Context context;
    const TileFile file = parse_tile_file(context.get(), read_file(path), path);
    const Machine machine = find_machine("x86-64-v3");
    for (const Pins& pins : file.schedules) {
      for (const Program& program : file.programs) {
        if (program.name() != pins.program) continue;
        const auto resolved = resolve_plan(program, pins, machine, {});
        EXPECT_TRUE(feasible(resolved)) << pins.name << ": " << (feasible(resolved) ? "" : to_string(std::get<Infeasible>(resolved)));
        ++honoured;
      }
    }
  }
  EXPECT_EQ(honoured, 12);
}

}  // namespace
}  // namespace tileopt
