/// Spaces of real programs: the planner's Plans are points of them, points are Plans, and what is left out has its reason.
#include <cmath>
#include <random>
#include <set>

#include "support/text.h"
#include "tests/unit/space/space_case.h"

namespace tileopt {
namespace {

const char* const scaled_sum = R"(
def scaled_sum(A: f32[M, N], B: f32[N, M], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = A[i, j] + f32(2) * B[j, i]
)";

/// Kernels of the benchmarks that are planned soon: register tiles, loops of both sources, reductions, rewrites, indices from
/// memory.
const std::vector<std::string> kernels = {"gemm",      "conv2d",   "softmax", "jacobi_2d", "cholesky", "batched_gemm_bias_gelu",
                                          "seidel_2d", "embedding"};

ResolveOptions threads(int count) {
  ResolveOptions options;
  options.threads = count;
  return options;
}

/// The planned point of every structure gives the very Plan that the planner decides on.
void expect_planned_points(const SpaceCase& c) {
  ASSERT_TRUE(c.exists());
  const auto planned = resolve_plan(c.program(), c.given(), c.machine(), c.options());
  ASSERT_TRUE(feasible(planned));
  for (const Point& point : c.space().planned_points()) {
    EXPECT_EQ(c.space().violated(point), nullptr) << c.space().text(point);
    const auto resolved = c.resolve(point);
    ASSERT_TRUE(feasible(resolved)) << c.space().text(point) << ": " << refusal_of(resolved);
    const std::string plan = std::get<ResolvedPlan>(resolved).plan.write().dump();
    EXPECT_EQ(plan, c.space().variants()[point.variant].planned.write().dump()) << c.space().text(point);
    if (point.variant == 0) {
      EXPECT_EQ(plan, std::get<ResolvedPlan>(planned).plan.write().dump());
    }
  }
}

class SpacesOfKernels : public ::testing::TestWithParam<std::string> {};

// A point is scored from coefficients that were made for its structure, a Plan from its own: both see the same loops.
TEST_P(SpacesOfKernels, HoldsThePlannersPlansAndScoresPointsAsPlans) {
  const SpaceCase c(kernel_file(GetParam()));
  expect_planned_points(c);
  PointScorer scorer(c.space(), c.machine(), 1);
  std::mt19937_64 random(5);
  int refused = 0, equal = 0;
  const int points = 5;
  for (int i = 0; i < points; ++i) {
    const auto point = c.space().sample(random);
    ASSERT_TRUE(point);
    const auto resolved = c.resolve(*point);
    if (!feasible(resolved)) {
      ++refused;
      continue;
    }
    const double of_point = scorer.seconds(*point), of_plan = c.seconds(std::get<ResolvedPlan>(resolved).plan);
    EXPECT_GT(of_point, 0) << c.space().text(*point);
    if (std::abs(of_point - of_plan) <= 0.01 * of_plan) ++equal;
  }
  EXPECT_LE(refused, 1) << "the constraints foresee most of what is illegal";
  EXPECT_GE(equal, points - refused - 1);
}

TEST(DescribeSpace, TwoThreads) {
  for (const char* name : {"gemm", "jacobi_2d", "cholesky", "transpose", "softmax"})
    expect_planned_points(SpaceCase(kernel_file(name), "x86-64-v3", threads(2)));
}

// Whatever loop the threads share, the point has a Plan that shares it.
TEST(DescribeSpace, TheLoopOfTheThreadsIsAChoice) {
  const SpaceCase c(kernel_file("gemm"), "zen4", threads(2));
  std::mt19937_64 random(3);
  std::set<std::string> shared;
  for (int i = 0; i < 6; ++i) {
    const auto point = c.space().sample(random);
    if (point->variant != 0) continue;
    const auto resolved = c.resolve(*point);
    ASSERT_TRUE(feasible(resolved)) << c.space().text(*point) << ": " << refusal_of(resolved);
    const std::string text = c.space().text(*point);
    const std::string loop = text.find("threads = i") != std::string::npos ? "i" : "j";
    EXPECT_NE(digits_text(std::get<ResolvedPlan>(resolved).plan.kernels.front(), loop).find("@thread"), std::string::npos)
        << text;
    shared.insert(loop);
  }
  EXPECT_EQ(shared.size(), 2u);
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Kernels, SpacesOfKernels, ::testing::ValuesIn(kernels), test_name);

const Choice* find_choice(const Variant& variant, const std::string& part) {
  for (const Choice& choice : variant.choices)
    if (choice.name.find(part) != std::string::npos) return &choice;
  return nullptr;
}

bool leaves_out(const Variant& variant, ConstraintKind kind, const std::string& part) {
  return std::any_of(variant.excluded.begin(), variant.excluded.end(), [&](const Excluded& e) {
    return e.kind == kind && (e.what + ": " + e.reason).find(part) != std::string::npos;
  });
}

TEST(SpaceOfGemm, HasItsChoicesAndReasons) {
  const SpaceCase c(kernel_file("gemm"), "zen4");
  const Variant& planned = c.space().variants().front();
  for (const char* part :
       {"C.i in atom", "C.j in atom", "C.i in serial", "C.j in serial", "C.k in serial", "order of blocks", "order of tiles"})
    EXPECT_NE(find_choice(planned, part), nullptr) << part;
  EXPECT_EQ(find_choice(planned, "C.j in atom")->values.front().number, 16) << "whole vectors only";
  EXPECT_EQ(find_choice(planned, "order of blocks")->values.size(), 6u);
  EXPECT_TRUE(leaves_out(planned, ConstraintKind::legality, "packed and padded"));
  EXPECT_TRUE(leaves_out(planned, ConstraintKind::legality, "no constant size"));
  std::set<ConstraintKind> kinds;
  for (const Constraint& constraint : planned.constraints) {
    kinds.insert(constraint.kind);
    EXPECT_FALSE(constraint.reason.empty());
  }
  EXPECT_EQ(kinds, (std::set<ConstraintKind>{ConstraintKind::capacity, ConstraintKind::machine, ConstraintKind::size}));
  EXPECT_EQ(c.space().variants()[1].name, "loops without register tiles");
  const auto lanes = std::find_if(c.space().variants().begin(), c.space().variants().end(),
                                  [](const Variant& v) { return v.name == "lanes along C.k"; });
  ASSERT_NE(lanes, c.space().variants().end()) << "a row of A lies along k: sums may run in lanes";
  EXPECT_NE(digits_text(lanes->planned.kernels.front(), "k").find("@simd"), std::string::npos);
  EXPECT_EQ(c.space().variants().back().name, "as written");
}

TEST(SpaceOfGemm, ConstraintsMeanWhatTheySay) {
  const SpaceCase c(kernel_file("gemm"), "zen4");
  const Variant& planned = c.space().variants().front();
  const auto value = [&](const Point& point, const std::string& part) {
    const Choice* choice = find_choice(planned, part);
    return choice->values[point.values[static_cast<std::size_t>(choice - planned.choices.data())]].number;
  };
  std::mt19937_64 random(2);
  for (int i = 0; i < 400; ++i) {
    const auto point = c.space().sample(random);
    if (point->variant != 0) continue;
    const double rows = double(value(*point, "C.i in atom")), lanes = double(value(*point, "C.j in atom")),
                 depth = double(value(*point, "C.k in serial"));
    EXPECT_LE(rows * lanes / 16 + lanes / 16 + 1, 32);
    EXPECT_LE(lanes * depth * 4, 131072) << "an eighth of L2";
    EXPECT_LE(rows * double(value(*point, "C.i in serial")) * depth * 4, 1048576);
    EXPECT_LE(lanes * double(value(*point, "C.j in serial")) * depth * 4, 33554432);
  }
}

TEST(SpaceOfGemm, GivenPinsStayAndSayThatTheyDecide) {
  const SpaceCase c(kernel_file("gemm"), "zen4", {}, "tile(\"atom\", i=7)\norder(\"C.k\", \"C.j\", \"C.i\")");
  const Variant& planned = c.space().variants().front();
  EXPECT_EQ(find_choice(planned, "C.i in atom")->values.size(), 1u);
  EXPECT_EQ(find_choice(planned, "C.i in atom")->values.front().number, 7);
  EXPECT_EQ(find_choice(planned, "order of blocks"), nullptr);
  EXPECT_TRUE(leaves_out(planned, ConstraintKind::pin, "C.i in atom"));
  EXPECT_TRUE(leaves_out(planned, ConstraintKind::pin, "order of blocks"));
  std::mt19937_64 random(4);
  for (int i = 0; i < 3; ++i) {
    const auto point = c.space().sample(random);
    const auto resolved = c.resolve(*point);
    ASSERT_TRUE(feasible(resolved)) << refusal_of(resolved);
    const KernelPlan& kernel = std::get<ResolvedPlan>(resolved).plan.kernels.front();
    EXPECT_NE(digits_text(kernel, "i").find(":7@atom"), std::string::npos);
    EXPECT_EQ(kernel.tree.write().substr(0, 12), "kc > jc > ic");
  }
}

TEST(SpaceOfGemm, PinsThatCannotBeHonouredAreThePlannersRefusal) {
  const SpaceCase c(kernel_file("gemm"), "zen4", {}, "tile(\"atom\", i=7)\ntile(\"serial\", i=10)");
  EXPECT_FALSE(c.exists()) << "10 rows are no whole tiles of 7";
}

TEST(SpaceOfConvolution, CutsOfConstantLoopsMayBeWhole) {
  const SpaceCase c(R"(
@numerics(contract=True)
def conv(I: f32[34, 34, 64], W: f32[3, 3, 64, 64], O: out[f32[32, 32, 64]]):
    for h, w, f in grid(32, 32, 64):
        O[h, w, f] = sum(I[h + r, w + s, c] * W[r, s, c, f] for r in range(3) for s in range(3) for c in range(64))
)",
                    "zen4");
  expect_planned_points(c);
  const Choice* depth = find_choice(c.space().variants().front(), "O.c in serial");
  ASSERT_NE(depth, nullptr);
  EXPECT_EQ(depth->values.back().text, "whole");
  EXPECT_GT(depth->values.size(), 2u);
}

TEST(SpaceOfWindows, BoxesOfRegistersAreChoices) {
  const SpaceCase c(kernel_file("depthwise_conv2d"), "zen4");
  expect_planned_points(c);
  const Variant& planned = c.space().variants().front();
  ASSERT_NE(find_choice(planned, "O.w in atom"), nullptr);
  ASSERT_NE(find_choice(planned, "O.c in atom"), nullptr);
  EXPECT_EQ(c.space().variants()[1].name, "loops without register tiles");
  PointScorer scorer(c.space(), c.machine(), 1);
  std::mt19937_64 random(2);
  int boxes = 0;
  for (int i = 0; i < 400 && boxes < 3; ++i) {
    const auto point = c.space().sample(random);
    if (point->variant != 0) continue;
    ++boxes;
    const auto resolved = c.resolve(*point);
    ASSERT_TRUE(feasible(resolved)) << c.space().text(*point) << ": " << refusal_of(resolved);
    const double of_plan = c.seconds(std::get<ResolvedPlan>(resolved).plan);
    EXPECT_NEAR(scorer.seconds(*point), of_plan, 0.01 * of_plan) << c.space().text(*point);
  }
}

// On a machine without vectors: elsewhere the planner turns squares in registers, which have no choices yet.
TEST(SpaceOfLoops, TilesOrdersAndPromotions) {
  const SpaceCase c(scaled_sum, "c11");
  expect_planned_points(c);
  const Variant& planned = c.space().variants().front();
  ASSERT_NE(find_choice(planned, "C.i in serial"), nullptr);
  ASSERT_NE(find_choice(planned, "C.j in serial"), nullptr);
  EXPECT_EQ(find_choice(planned, "C.i in serial")->values.back().text, "whole");
  // Every point of a sample has the tiles that it says.
  std::mt19937_64 random(8);
  for (int i = 0; i < 12; ++i) {
    const auto point = c.space().sample(random);
    if (point->variant != 0) continue;
    const auto resolved = c.resolve(*point);
    ASSERT_TRUE(feasible(resolved)) << c.space().text(*point) << ": " << refusal_of(resolved);
    const KernelPlan& kernel = std::get<ResolvedPlan>(resolved).plan.kernels.front();
    for (const char* loop : {"i", "j"}) {
      const Choice* choice = find_choice(planned, std::string("C.") + loop + " in serial");
      const long tile = choice->values[point->values[static_cast<std::size_t>(choice - planned.choices.data())]].number;
      const auto& digits = std::find_if(kernel.digits.begin(), kernel.digits.end(), [&](const auto& entry) {
                             return entry.first == loop;
                           })->second;
      EXPECT_EQ(digits.size(), tile == 0 ? 1u : 2u) << c.space().text(*point);
      if (tile > 0) {
        EXPECT_EQ(digits.back().radix, tile);
      }
    }
  }
}

TEST(SpaceOfSeveralKernels, FusionAndRewritesAreStructures) {
  const SpaceCase c(kernel_file("batched_gemm_bias_gelu"));
  std::set<std::string> names;
  for (const Variant& variant : c.space().variants()) names.insert(variant.name);
  for (const RefusedVariant& refused : c.space().refused()) names.insert(refused.name);
  EXPECT_TRUE(std::any_of(names.begin(), names.end(),
                          [](const std::string& name) { return name.starts_with("without rewrite inline"); }));
  const SpaceCase two(R"(
def two(A: f32[N, N], B: out[f32[N, N]], C: out[f32[N, N]]):
    for i, j in grid(N, N):
        B[i, j] = A[i, j] * f32(2)
    for i, j in grid(N, N):
        C[i, j] = A[i, j] + f32(1)
)");
  expect_planned_points(two);
  const auto fused = std::find_if(two.space().variants().begin(), two.space().variants().end(),
                                  [](const Variant& v) { return v.name == "fuse B, C"; });
  ASSERT_NE(fused, two.space().variants().end());
  EXPECT_EQ(fused->planned.kernels.size(), 1u);
}

TEST(SpaceScope, ThePlannedStructureAloneIsTheFirstOfAll) {
  const SpaceCase all(kernel_file("softmax"));
  const auto only = describe_space(all.program(), {}, all.machine(), {}, SpaceScope::planned);
  ASSERT_TRUE(feasible(only));
  EXPECT_EQ(std::get<PlanSpace>(only).variants().size(), 1u);
  EXPECT_EQ(std::get<PlanSpace>(only).text(std::get<PlanSpace>(only).planned_points().front()),
            all.space().text(all.space().planned_points().front()));
}

// What the space rests on: a pin that forbids a cut.
TEST(WholePin, KeepsALoopInOnePiece) {
  const PlanCase c(kernel_file("transpose"));
  EXPECT_EQ(digits_text(c.kernel(), "i"), "ib:0@serial ii:16@serial iv:8@atom");
  EXPECT_EQ(digits_text(c.kernel("tile(\"serial\", i=0)"), "i"), "i:0@serial iv:8@atom");
  EXPECT_EQ(c.infeasible("tile(\"serial\", i=0)\ntile(\"serial\", i=16)").empty(), false);
  try {
    c.resolve("tile(\"thread\", i=0)");
    ADD_FAILURE() << "threads need a tile";
  } catch (const Errors& errors) {
    EXPECT_EQ(errors.diagnostics().front().code, ErrorCode::invalid_pin);
  }
}

}  // namespace
}  // namespace tileopt
