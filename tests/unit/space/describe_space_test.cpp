/// Spaces of real programs: the planner's Plans are points of them, points are Plans, and what is left out has its reason.
#include <random>
#include <set>

#include "support/text.h"
#include "tests/unit/space/space_case.h"

namespace tileopt {
namespace {

const char* const gemm = R"(
@numerics(contract=True)
def gemm(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))
)";

const char* const add = R"(
def add(A: f32[M, N], B: f32[N, M], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = A[i, j] + B[j, i]
)";

std::string without_names(const Plan& plan) { return plan.write().dump(); }

/// All kernels of the benchmarks that are planned soon.
const std::vector<std::string> kernels = {"gemm",    "conv2d",    "softmax",   "layernorm", "transpose", "jacobi_2d", "cholesky", "batched_gemm_bias_gelu",
                                          "seidel_2d", "row_column_sums", "depthwise_conv2d", "floyd_warshall", "embedding", "gemm_int8"};

class DescribeSpace : public ::testing::TestWithParam<std::string> {};

TEST_P(DescribeSpace, ThePlannersPlanIsThePlannedPoint) {
  const SpaceCase c(kernel_file(GetParam()));
  ASSERT_TRUE(c.exists()) << std::get<Infeasible>(describe_space(c.program(), {}, c.machine(), {})).reason;
  const auto planned = resolve_plan(c.program(), {}, c.machine(), {});
  ASSERT_TRUE(feasible(planned));
  for (const Point& point : c.space().planned_points()) {
    EXPECT_EQ(c.space().violated(point), nullptr) << c.space().text(point);
    const auto resolved = c.resolve(point);
    ASSERT_TRUE(feasible(resolved)) << c.space().text(point) << ": " << refusal_of(resolved);
    const Plan& plan = std::get<ResolvedPlan>(resolved).plan;
    EXPECT_EQ(without_names(plan), without_names(c.space().variants()[point.variant].planned)) << c.space().text(point);
    if (point.variant == 0) EXPECT_EQ(without_names(plan), without_names(std::get<ResolvedPlan>(planned).plan));
  }
}

TEST_P(DescribeSpace, PointsScoreAsTheirPlansDo) {
  const SpaceCase c(kernel_file(GetParam()));
  ASSERT_TRUE(c.exists());
  PointScorer scorer(c.space(), c.machine(), 1);
  std::mt19937_64 random(5);
  int refused = 0, equal = 0, points = 0;
  for (int i = 0; i < 6; ++i) {
    const auto point = c.space().sample(random);
    ASSERT_TRUE(point);
    const auto resolved = c.resolve(*point);
    ++points;
    if (!feasible(resolved)) {
      ++refused;
      continue;
    }
    const double of_point = scorer.seconds(*point), of_plan = c.seconds(std::get<ResolvedPlan>(resolved).plan);
    EXPECT_GT(of_point, 0) << c.space().text(*point);
    if (std::abs(of_point - of_plan) <= 0.02 * of_plan) ++equal;
    else std::cerr << GetParam() << ": " << c.space().text(*point) << ": " << of_point << " vs " << of_plan << "\n" << std::get<ResolvedPlan>(resolved).plan.kernels[0].tree.write() << "\n";
  }
  std::cerr << GetParam() << ": refused " << refused << ", equal " << equal << " of " << points << "\n";
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Kernels, DescribeSpace, ::testing::ValuesIn(kernels), test_name);

}  // namespace
}  // namespace tileopt
