/// Kernels without an atom: fusion, tiles, lanes, threads, nearer storage.
#include <gtest/gtest.h>

#include "tests/unit/search/plan_case.h"

namespace tileopt {
namespace {

TEST(Loops, SoftmaxStaysFusedWithAccumulatorsInRegisters) {
  const KernelPlan kernel = PlanCase(kernel_file("softmax")).kernel();
  EXPECT_EQ(kernel.tree.write(), "r > (m_init ; m: j ; l_init ; l_common: j_2 ; l: j_3 ; Y: j_4)") << "exp is kept in Y";
  for (const char* tensor : {"m", "l"}) {
    ASSERT_NE(find_promotion(kernel, tensor), nullptr);
    EXPECT_EQ(find_promotion(kernel, tensor)->space, "register");
    EXPECT_EQ(find_promotion(kernel, tensor)->after, "r");
  }
  EXPECT_EQ(kernel.atoms.at("m").atom, "vector_reduce");
  EXPECT_EQ(kernel.atoms.at("l").atom, "vector_reduce");
  EXPECT_EQ(kernel.atoms.at("Y").atom, "vector_box");
  EXPECT_EQ(digits_text(kernel, "j"), "j:0@serial jv:128@atom");
  EXPECT_EQ(digits_text(kernel, "j_2"), "j_2:0@serial j_2_v:64@atom");
  EXPECT_FALSE(kernel.atoms.at("Y").stream) << "it fits the last cache";
  const KernelPlan twice = PlanCase(kernel_file("softmax")).kernel("rewrite(\"none\")");
  EXPECT_EQ(twice.tree.write(), "r > (m_init ; m: j ; l_init ; l: j_2 ; Y: j_3)");
  EXPECT_EQ(digits_text(twice, "j_2"), "j_2:0@serial j_2_v:64@atom");
  ResolveOptions options;
  options.threads = 2;
  EXPECT_EQ(PlanCase(kernel_file("softmax")).kernel("", "x86-64-v3", options).find_digit("r")->level, "thread");
}

TEST(Loops, JacobiIsTiledOverTime) {
  const KernelPlan kernel = PlanCase(kernel_file("jacobi_2d")).kernel();
  EXPECT_EQ(kernel.schedule, "isl");
  const auto& time = kernel.digits.front();
  EXPECT_EQ(time.first, "t");
  EXPECT_GT(time.second.back().radix, 1) << digits_text(kernel, "t");
  const std::vector<std::string> b = path_dims(kernel.tree, "B"), a = path_dims(kernel.tree, "A");
  EXPECT_EQ(a, b) << "one nest for both statements";
  EXPECT_EQ(kernel.find_digit(b.back())->level, "simd");
  EXPECT_EQ(find_promotion(kernel, "B"), nullptr) << "its values cross the tiles";
}

TEST(Loops, JacobiWithThreadsKeepsLegalLoops) {
  ResolveOptions options;
  options.threads = 4;
  PlanCase(kernel_file("jacobi_2d")).kernel("", "x86-64-v3", options);
}

TEST(Loops, TransposeIsTiled) {
  const KernelPlan kernel = PlanCase(kernel_file("transpose")).kernel();
  EXPECT_EQ(digits_text(kernel, "i"), "ib:0@serial ii:16@serial iv:8@atom");
  EXPECT_EQ(digits_text(kernel, "j"), "jb:0@serial jj:8@serial jv:8@atom");
  EXPECT_EQ(kernel.atoms.at("B").box, (std::vector<std::string>{"jv", "iv"})) << "squares are turned in registers";
  EXPECT_EQ(find_promotion(kernel, "B"), nullptr);
}

TEST(Loops, TransposeWithoutVectorsIsGathered) {
  const KernelPlan kernel = PlanCase(kernel_file("transpose")).kernel("", "c11");
  for (const auto& [member, digits] : kernel.digits) EXPECT_EQ(digits.size(), 2u) << member;
  ASSERT_NE(find_promotion(kernel, "B"), nullptr) << "the result is gathered in a tile";
  EXPECT_EQ(find_promotion(kernel, "B")->space, "stack");
  EXPECT_EQ(path_dims(kernel.tree, "B").back(), "jj") << "rows of A are read along";
}

TEST(Loops, LargeOutputsAreStreamedAndRowsFetched) {
  ResolveOptions options;
  options.typical_sizes = {{"R", 16384}, {"N", 4096}, {"M", 16384}};
  const KernelPlan kept = PlanCase(kernel_file("softmax")).kernel("", "x86-64-v3", options);
  EXPECT_FALSE(kept.atoms.at("l_common").stream || kept.atoms.at("Y").stream) << "what is kept in Y is read again";
  EXPECT_EQ(kept.atoms.at("l_common").prefetch, "r");
  const KernelPlan softmax = PlanCase(kernel_file("softmax")).kernel("rewrite(\"none\")", "x86-64-v3", options);
  EXPECT_TRUE(softmax.atoms.at("Y").stream);
  EXPECT_EQ(softmax.atoms.at("Y").prefetch, "r");
  EXPECT_EQ(softmax.atoms.at("l").prefetch, "") << "the last reader of the row fetches";
  const KernelPlan transpose = PlanCase(kernel_file("transpose")).kernel("", "x86-64-v3", options);
  EXPECT_TRUE(transpose.atoms.at("B").stream);
  EXPECT_EQ(transpose.atoms.at("B").prefetch, "jb");
}

TEST(Loops, StreamsAreNotTiled) {
  const KernelPlan kernel = PlanCase(R"(
def f(x: f32[N], y: f32[N], z: out[f32[N]]):
    for i in range(N):
        z[i] = x[i] + y[i]
)").kernel();
  EXPECT_EQ(digits_text(kernel, "i"), "i:0@serial iv:64@atom");
}

TEST(Loops, ALongStreamIsCutForThreads) {
  ResolveOptions options;
  options.threads = 2;
  options.typical_sizes = {{"N", 1 << 20}};
  const KernelPlan kernel = PlanCase(R"(
def f(x: f32[N], y: f32[N], z: out[f32[N]]):
    for i in range(N):
        z[i] = x[i] + y[i]
)").kernel("", "x86-64-v3", options);
  EXPECT_EQ(digits_text(kernel, "i"), "ib:0@thread i:64@serial iv:64@atom");
}

TEST(Loops, RecurrencesRunScalarInOrder) {
  const KernelPlan kernel = PlanCase(R"(
def f(x: inout[f32[N]]):
    for i in range(1, N):
        x[i] = x[i] + x[i - 1]
)").kernel();
  EXPECT_EQ(digits_text(kernel, "i"), "i:0@serial");
}

TEST(Loops, ColumnSumsBringTheContiguousLoopInside) {
  const KernelPlan kernel = PlanCase(R"(
def f(A: f32[M, N], s: inout[f32[N]]):
    for j, i in grid(N, M):
        s[j] += A[i, j]
)").kernel();
  EXPECT_EQ(path_dims(kernel.tree, "s").back().substr(0, 1), "j") << kernel.tree.write();
}

TEST(Loops, ADotProductSumsInARegisterForTheWholeKernel) {
  const PlanCase dot(R"(
def dot(x: f32[N], y: f32[N], s: inout[f32[1]]):
    for i in range(N):
        s[0] += x[i] * y[i]
)");
  const KernelPlan kernel = dot.kernel();
  ASSERT_NE(find_promotion(kernel, "s"), nullptr);
  EXPECT_EQ(find_promotion(kernel, "s")->after, "");
  EXPECT_EQ(kernel.atoms.at("s").atom, "vector_reduce");
}

TEST(Loops, ThreadsNeverCrossATiledRecurrence) {
  ResolveOptions options;
  options.threads = 4;
  const KernelPlan kernel = PlanCase(R"(
def lu(A: inout[f64[N, N]]):
    for k in range(N):
        for i in range(k + 1, N):
            A[i, k] = A[i, k] / A[k, k]
            for j in range(k + 1, N):
                A[i, j] = A[i, j] - A[i, k] * A[k, j]
)").kernel("", "x86-64-v3", options);
  int threads = 0;
  for (const auto& [member, digits] : kernel.digits) {
    for (const Digit& digit : digits) threads += digit.level == "thread";
  }
  EXPECT_EQ(threads, 1) << kernel.tree.write();
}

TEST(Loops, StrictSumsAreNotReordered) {
  const KernelPlan kernel = PlanCase(R"(
@numerics(reassociate=False)
def f(A: f32[M, N], s: out[f32[M]]):
    for i in range(M):
        s[i] = sum(A[i, j] for j in range(N))
)").kernel();
  EXPECT_EQ(kernel.find_digit("j")->level, "serial");
}

TEST(Loops, LongLocalsStayInTheWorkspaceAndSayWhy) {
  const PlanCase rows(R"(
def f(X: f32[R, N], Y: out[f32[R, N]]):
    for r in range(R):
        t: f32[N]
        for j in range(N):
            t[j] = X[r, j] * f32(2)
        for j in range(N):
            Y[r, j] = t[j] + t[0]
)");
  const auto resolved = rows.resolve();
  ASSERT_TRUE(feasible(resolved));
  bool said = false;
  for (const std::string& reason : std::get<0>(resolved).reasons) said = said || reason.find("local t stays in the workspace") != std::string::npos;
  EXPECT_TRUE(said);
}

TEST(Loops, ShortLocalsShrinkToTheirScope) {
  const KernelPlan kernel = PlanCase(R"(
def f(X: f32[R, 8], Y: out[f32[R, 8]]):
    for r in range(R):
        t: f32[8]
        for j in range(8):
            t[j] = X[r, j] * f32(2)
        for j in range(8):
            Y[r, j] = t[7 - j]
)").kernel("rewrite(\"none\")");
  ASSERT_NE(find_promotion(kernel, "t"), nullptr);
  EXPECT_EQ(find_promotion(kernel, "t")->space, "stack");
  EXPECT_EQ(find_promotion(kernel, "t")->after, "r");
}

TEST(Resolve, IsDeterministic) {
  for (const char* name : {"gemm", "conv2d", "gemm_bf16", "softmax", "jacobi_2d", "transpose"}) {
    const auto first = PlanCase(kernel_file(name)).resolve(), second = PlanCase(kernel_file(name)).resolve();
    ASSERT_TRUE(feasible(first) && feasible(second)) << name;
    EXPECT_EQ(std::get<0>(first).plan.write().dump(), std::get<0>(second).plan.write().dump()) << name;
    EXPECT_FALSE(std::get<0>(first).reasons.empty());
  }
}

TEST(Resolve, EveryKernelOnEveryMachine) {
  for (const char* name : {"gemm", "conv2d", "gemm_bf16", "softmax", "jacobi_2d", "transpose"}) {
    for (const char* machine : {"x86-64-v3", "zen4", "c11"}) {
      for (const int threads : {1, 3}) {
        ResolveOptions options;
        options.threads = threads;
        SCOPED_TRACE(std::string(name) + " on " + machine + ", threads " + std::to_string(threads));
        const PlanCase program(kernel_file(name));
        const auto resolved = program.resolve("", machine, options);
        ASSERT_TRUE(feasible(resolved));
        program.expect_compiles(std::get<0>(resolved).plan, machine);
      }
    }
  }
}

TEST(Resolve, SizesOutsideTheContextDoNotHurt) {
  ResolveOptions options;
  options.typical_sizes = {{"N", -5}, {"M", 0}, {"unknown", 7}};
  PlanCase(R"(
def f(A: f32[M, N], B: out[f32[M, N]]):
    assume(N >= 100)
    for i, j in grid(M, N):
        B[i, j] = A[i, j]
)").kernel("", "x86-64-v3", options);
}

TEST(Loops, AnIndexFromMemoryStandsBelowWhatItDependsOn) {
  const KernelPlan kernel = PlanCase(kernel_file("embedding")).kernel();
  EXPECT_EQ(kernel.tree.write(), "t > token_at > d");
  EXPECT_EQ(digits_text(kernel, "d"), "d:0@serial dv:64@atom") << "in vectors: neighbours have one index";
  ResolveOptions options;
  options.threads = 2;
  EXPECT_EQ(PlanCase(kernel_file("embedding")).kernel("", "x86-64-v3", options).find_digit("t")->level, "thread");
}

TEST(Loops, StatementsUnderOneIndexShareItsLoop) {
  const KernelPlan kernel = PlanCase(R"(
def f(key: i32[N], a: f32[N], H: inout[f32[B]], C: inout[i32[B]]):
    assume(0 <= key[:] < B)
    for i in range(N):
        H[key[i]] += a[i]
        C[key[i]] += 1
)").kernel();
  EXPECT_EQ(kernel.tree.write(), "i > key_at > (H ; C)");
  EXPECT_EQ(kernel.members.at("H").members, kernel.members.at("C").members);
}

TEST(Loops, TwoElementsOfOneIndexAreTwoLoops) {
  const KernelPlan kernel = PlanCase(R"(
def f(key: i32[N + 1], a: f32[N], H: inout[f32[B]], C: inout[i32[B]]):
    assume(0 <= key[:] < B)
    for i in range(N):
        H[key[i]] += a[i]
        C[key[i + 1]] += 1
)").kernel();
  EXPECT_EQ(kernel.tree.write(), "i > (H: key_at ; C: key_at_2)");
}

TEST(Loops, AnIndexThatIsWrittenBetweenIsReadAgain) {
  const KernelPlan kernel = PlanCase(R"(
def f(key: inout[i32[N]], a: i32[N], H: inout[i32[B]]):
    assume(0 <= key[:] < B and 0 <= a[:] < B)
    for i in range(N):
        H[key[i]] += 1
        key[i] = a[i]
        H[key[i]] += 2
)").kernel();
  EXPECT_EQ(kernel.tree.write(), "i > (H: key_at ; key ; H_2: key_at_2)");
}

TEST(Loops, RowsBetweenOffsetsAccumulateInARegister) {
  const KernelPlan kernel = PlanCase(R"(
def f(start: i32[R + 1], column: i32[Z], value: f32[Z], x: f32[N], y: out[f32[R]]):
    assume(0 <= start[:] <= Z and 0 <= column[:] < N)
    for r in range(R):
        y[r] = sum(value[k] * x[column[k]] for k in range(start[r], start[r + 1]))
)").kernel();
  EXPECT_EQ(kernel.tree.write(), "r > start_at > start_at_2 > (y_init ; y: k > column_at)");
  ASSERT_NE(find_promotion(kernel, "y"), nullptr);
  EXPECT_EQ(find_promotion(kernel, "y")->space, "register");
}

TEST(Loops, LanesAreTheCompilersWhereTheyAllReadOneElementOfTheirOwnTensor) {
  // A[i, k] is loaded once by a compiler that checks for overlap, and with every vector by one that is told not to.
  const auto level = [](const std::string& factor) {
    const KernelPlan kernel = PlanCase("def update(A: inout[f64[N, 2 * N]], B: f64[N, N]):\n    assume(N >= 2)\n    for i in range(1, N):\n        for j in range(N):\n            A[i, j + N] -= " + factor + " * A[0, j + N]\n").kernel();
    return kernel.find_digit("j")->level;
  };
  EXPECT_EQ(level("A[i, 0]"), "serial");
  EXPECT_EQ(level("B[i, 0]"), "simd");
}

}  // namespace
}  // namespace tileopt
