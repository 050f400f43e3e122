/// The printed launcher of HIP: what it refuses before it launches.
#include <gtest/gtest.h>

#include "backends/gpu_common/emulator/isolated_run.h"
#include "backends/gpu_common/emulator/module.h"
#include "backends/runner/call_arguments.h"
#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"

namespace tileopt::test {
namespace {

/// A grid of HIP has fewer than 2^32 threads, which are fewer blocks than 2^31.
TEST(HipLauncher, RefusesMoreThreadsThanAGridHas) {
  poly::Context context;
  const char* const text = "def twice(X: f32[N], Y: out[f32[N]]):\n    for i in range(N):\n        Y[i] = 2.0 * X[i]\n";
  const auto program = std::make_shared<const Program>(parse_tile_file(context.get(), text, "test.tile").programs.at(0));
  Request request;
  request.machine = find_machine("mi300x");
  request.backend = "hip";
  request.proof.attempt = false;
  for (const char* pin : {"tile(\"block\", i=256)", "tile(\"thread\", i=1)"}) {
    const Pins parsed = parse_pins(pin, "--pin");
    request.pins.pins.insert(request.pins.pins.end(), parsed.pins.begin(), parsed.pins.end());
  }
  Trace trace({"", ""});
  const Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
  ASSERT_TRUE(feasible(outcome)) << to_string(std::get<Infeasible>(outcome));
  const SourceText& source = std::get<Outcome>(outcome).module.text;
  ASSERT_EQ(source.facts.at(0).launches.size(), 1u);
  EXPECT_EQ(source.facts[0].launches[0].threads, 256);

  const Signature signature = make_signature(*program, {});
  const emulator::Module module = emulator::Module::compile_launcher(source.source, call_functions(signature, "extern \"C\" ", {"nullptr"}));
  const auto call = [&](std::int64_t n) {
    // Addresses that nothing is read from: the launch is refused before.
    void* arrays[2] = {reinterpret_cast<void*>(std::uintptr_t(1) << 20), reinterpret_cast<void*>(std::uintptr_t(1) << 46)};
    return module.object().call(&n, arrays, nullptr);
  };
  EXPECT_EQ(call(std::int64_t(1) << 32), 7);
  EXPECT_EQ(call(std::int64_t(1) << 38), 7);
  EXPECT_EQ(call(-1), 1);
}

}  // namespace
}  // namespace tileopt::test
