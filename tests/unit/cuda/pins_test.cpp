/// Pins on machines whose kernels are launched, and what does not fit there.
#include <gtest/gtest.h>

#include <algorithm>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "verify/verify.h"

namespace tileopt::test {
namespace {

class CudaPinsTest : public ::testing::Test {
 protected:
  Candidate<Outcome> compile(const std::string& text, const std::vector<std::string>& pins) {
    const auto program = std::make_shared<const Program>(parse_tile_file(context_.get(), text, "test.tile").programs.at(0));
    Request request;
    request.machine = find_machine("h200");
    request.backend = "cuda";
    for (const std::string& pin : pins) {
      const Pins parsed = parse_pins(pin, "--pin");
      request.pins.pins.insert(request.pins.pins.end(), parsed.pins.begin(), parsed.pins.end());
    }
    Trace trace({"", ""});
    return resolve_and_compile(program, request, trace);
  }
  /// The plan's digits of a member, "ib:block it:thread/16".
  static std::string digits(const Outcome& outcome, const std::string& member) {
    std::string text;
    for (const auto& [name, table] : outcome.module.plan.kernels.at(0).digits)
      if (name == member)
        for (const Digit& digit : table) text += (text.empty() ? "" : " ") + digit.name + ":" + digit.level + (digit.radix == 0 ? "" : "/" + std::to_string(digit.radix));
    return text;
  }
  poly::Context context_;
  const std::string scale = "def scale(X: f32[M, N], Y: out[f32[M, N]]):\n    for i, j in grid(M, N):\n        Y[i, j] = 2.0 * X[i, j]\n";
};

TEST_F(CudaPinsTest, ContiguousLoopIsTheThreads) {
  const auto outcome = compile(scale, {});
  ASSERT_TRUE(feasible(outcome)) << to_string(std::get<Infeasible>(outcome));
  EXPECT_EQ(digits(std::get<Outcome>(outcome), "i"), "ib:block");
  EXPECT_EQ(digits(std::get<Outcome>(outcome), "j"), "jb:block jt:thread/256 jv:atom/4");
}

TEST_F(CudaPinsTest, BlocksAndThreadsArePinned) {
  const auto outcome = compile(scale, {"tile(\"block\", i=8, j=128)", "tile(\"thread\", j=4)"});
  ASSERT_TRUE(feasible(outcome)) << to_string(std::get<Infeasible>(outcome));
  EXPECT_EQ(digits(std::get<Outcome>(outcome), "j"), "jb:block jt:thread/32 jj:serial/4");
  EXPECT_EQ(digits(std::get<Outcome>(outcome), "i"), "ib:block it:thread/8");
  EXPECT_EQ(unproved_text(std::get<Outcome>(outcome).module.certificate), "");
}

TEST_F(CudaPinsTest, SharedMemoryIsOfOneBlock) {
  const auto outcome = compile(scale, {"promote(X, \"shared\", after=\"ib\")"});
  ASSERT_FALSE(feasible(outcome));
  EXPECT_NE(std::get<Infeasible>(outcome).reason.find("X"), std::string::npos) << std::get<Infeasible>(outcome).reason;
}

TEST_F(CudaPinsTest, APromotedTileIsProved) {
  const auto outcome = compile(scale, {"promote(X, \"shared\", after=\"jb\")"});
  ASSERT_TRUE(feasible(outcome)) << to_string(std::get<Infeasible>(outcome));
  EXPECT_EQ(unproved_text(std::get<Outcome>(outcome).module.certificate), "");
  EXPECT_NE(std::get<Outcome>(outcome).module.text.source.find("tileopt_block_barrier();"), std::string::npos);
}

TEST_F(CudaPinsTest, ScattersAreAtomic) {
  const std::string count = "def count(key: i32[N], H: inout[i32[B]]):\n    assume(0 <= key[:] < B)\n    for i in range(N):\n        H[key[i]] += 1\n";
  const auto outcome = compile(count, {});
  ASSERT_TRUE(feasible(outcome)) << to_string(std::get<Infeasible>(outcome));
  const Module& module = std::get<Outcome>(outcome).module;
  EXPECT_EQ(unproved_text(module.certificate), "");
  EXPECT_EQ(digits(std::get<Outcome>(outcome), "i"), "ib:block it:thread/256");
  EXPECT_NE(module.text.source.find("tileopt_atomic_add_u32(&H["), std::string::npos);
  // The same updates without the atom race, and the proof says so.
  Ast plain = module.asts.at(0);
  for (auto& [name, statement] : plain.statements) statement.atom.clear();
  const auto program = std::make_shared<const Program>(parse_tile_file(context_.get(), count, "test.tile").programs.at(0));
  const Candidate<SourceText> text = find_backend("cuda").print(*program, {plain}, find_machine("h200"), "test");
  ASSERT_TRUE(feasible(text));
  const Certificate certificate = verify(*program, {plain}, std::get<SourceText>(text).facts, find_machine("h200"), "test", {});
  EXPECT_TRUE(std::any_of(certificate.obligations.begin(), certificate.obligations.end(),
                          [](const Obligation& o) { return o.name == "races" && o.verdict == Verdict::refuted; }));
}

TEST_F(CudaPinsTest, CpuLevelsAreUnknown) {
  EXPECT_THROW(compile(scale, {"tile(\"simd\", j=8)"}), Errors);
}

}  // namespace
}  // namespace tileopt::test
