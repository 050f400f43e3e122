/// The launcher's checks, one by one, and the header as C and C++.
#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "backends/c_common/launcher.h"
#include "fixture.h"

namespace tileopt {
namespace {

using namespace test;

/// T[i, j] = X[i, j] + X[i, j]; Y[i, j] = T[i, j], T a local; M even, at least 2.
Program launcher_program() {
  return ProgramText("twice")
      .sizes({"M", "N"})
      .assume("M >= 2 and exists (h : M = 2h)")
      .tensor("X", ElementType::f32, {"M", "N"}, TensorRole::in)
      .tensor("X2", ElementType::f32, {"M", "N - 1"}, TensorRole::in)
      .tensor("Y", ElementType::f32, {"M", "N"}, TensorRole::out)
      .tensor("T", ElementType::f32, {"M", "N"}, TensorRole::local)
      .statement("T", {"i", "j"}, "0 <= i < M and 0 <= j < N", "T[i, j]", Combine::assign, binary(BinaryOp::add, read(0), read(0)), {"X[i, j]"})
      .statement("Y", {"i", "j"}, "0 <= i < M and 0 <= j < N", "Y[i, j]", Combine::assign, read(0), {"T[i, j]"})
      .build();
}

Ast launcher_ast() {
  const auto statement = [](const std::string& name, const std::string& source) {
    return "  - {name: " + name + ", kind: compute, statement: " + name + ", atom: \"\", box: [], instance_steps: [[], []], write_array: " + name +
           ", write_steps: [[], []], read_arrays: [" + source + "], read_steps: [[[], []]], index_steps: [], zero_fill: false}\n";
  };
  const auto nest = [](const std::string& name) {
    return "  - {for: i, digit: i, level: serial, lower: \"0\", upper: M - 1, step: 1, body: [{for: j, digit: j, level: simd, lower: \"0\", upper: N - 1, step: 1, body: "
           "[{leaf: " + name + ", instance: [i, j], write: [i, j], reads: [[i, j]], indices: [], extents: []}]}]}\n";
  };
  return ast_of("kernel: twice\narrays: []\nstatements:\n" + statement("T", "X") + statement("Y", "T") + "body:\n" + nest("T") + nest("Y"));
}

class Launcher : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Program program = launcher_program();
    kernel = new CompiledKernel(CompiledKernel::compile(program, print(program, {launcher_ast()}, test_machine()), test_machine(), {"", {"-Wall", "-Wextra", "-Werror"}}));
    handle = dlopen(kernel->object().c_str(), RTLD_NOW);
    function = reinterpret_cast<Function>(dlsym(handle, "twice"));
    bytes = reinterpret_cast<Bytes>(dlsym(handle, "twice_workspace_bytes"));
  }
  static void TearDownTestSuite() {
    dlclose(handle);
    delete kernel;
  }
  void SetUp() override {
    ASSERT_NE(function, nullptr);
    ASSERT_NE(bytes, nullptr);
    for (int i = 0; i < 64; ++i) x()[i] = static_cast<float>(i);
  }
  using Function = std::int32_t (*)(std::int64_t, std::int64_t, const float*, const float*, float*, void*);
  using Bytes = std::int64_t (*)(std::int64_t, std::int64_t);
  static CompiledKernel* kernel;
  static void* handle;
  static Function function;
  static Bytes bytes;
  alignas(256) unsigned char storage[4096];
  float* x() { return reinterpret_cast<float*>(storage); }
  float* x2() { return reinterpret_cast<float*>(storage + 256); }
  float* y() { return reinterpret_cast<float*>(storage + 512); }
  void* workspace() { return storage + 1024; }
};
CompiledKernel* Launcher::kernel = nullptr;
void* Launcher::handle = nullptr;
Launcher::Function Launcher::function = nullptr;
Launcher::Bytes Launcher::bytes = nullptr;

TEST_F(Launcher, RunsOnValidArguments) {
  ASSERT_EQ(bytes(4, 5), 256);
  ASSERT_EQ(function(4, 5, x(), x2(), y(), workspace()), 0);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(y()[i], 2 * x()[i]);
}
TEST_F(Launcher, InputsMayOverlapEachOther) { EXPECT_EQ(function(4, 5, x(), x(), y(), workspace()), 0); }
TEST_F(Launcher, Code1SizesAgainstTheContext) {
  EXPECT_EQ(function(3, 5, x(), x2(), y(), workspace()), 1);
  EXPECT_EQ(function(0, 5, x(), x2(), y(), workspace()), 1);
  EXPECT_EQ(bytes(3, 5), -1);
}
TEST_F(Launcher, Code1NegativeExtents) {
  EXPECT_EQ(function(4, 0, x(), x2(), y(), workspace()), 1);
  EXPECT_EQ(function(4, -3, x(), x2(), y(), workspace()), 1);
}
TEST_F(Launcher, Code1Overflow) {
  EXPECT_EQ(bytes(std::int64_t(1) << 31, std::int64_t(1) << 31), -1);
  EXPECT_EQ(bytes(std::int64_t(1) << 46, std::int64_t(1) << 46), -1);
  EXPECT_EQ(bytes(INT64_MAX - 1, 1), -1);
  EXPECT_EQ(bytes(INT64_MIN, 1), -1);
  EXPECT_EQ(bytes(std::int64_t(1) << 20, 8), std::int64_t(1) << 25);
}
TEST_F(Launcher, Code2Null) {
  EXPECT_EQ(function(4, 5, nullptr, x2(), y(), workspace()), 2);
  EXPECT_EQ(function(4, 5, x(), x2(), nullptr, workspace()), 2);
}
TEST_F(Launcher, EmptyArraysMayBeNull) { EXPECT_EQ(function(4, 1, x(), nullptr, y(), workspace()), 0); }
TEST_F(Launcher, Code3Misaligned) {
  EXPECT_EQ(function(4, 5, reinterpret_cast<float*>(storage + 2), x2(), y(), workspace()), 3);
}
TEST_F(Launcher, Code4Overlap) {
  EXPECT_EQ(function(4, 5, x(), x2(), x(), workspace()), 4);
  EXPECT_EQ(function(4, 5, x(), x2(), x() + 19, workspace()), 4);
  EXPECT_EQ(function(4, 5, x(), x2(), x() + 20, workspace()), 0);
  EXPECT_EQ(function(4, 5, x(), x2(), reinterpret_cast<float*>(storage + 1024 + 64), workspace()), 4);
}
TEST_F(Launcher, Code5Workspace) {
  EXPECT_EQ(function(4, 5, x(), x2(), y(), nullptr), 5);
  EXPECT_EQ(function(4, 5, x(), x2(), y(), storage + 1024 + 128), 5);
}

TEST(Workspace, TakesWholeMultiplesOfItsAlignment) {
  EXPECT_EQ(in_workspace(0), 0);
  EXPECT_EQ(in_workspace(1), kWorkspaceAlignment);
  EXPECT_EQ(in_workspace(kWorkspaceAlignment), kWorkspaceAlignment);
  EXPECT_EQ(in_workspace(kWorkspaceAlignment + 1), 2 * kWorkspaceAlignment);
}

TEST(Header, CompilesAsC11AndCpp) {
  const SourceText text = print(launcher_program(), {launcher_ast()}, test_machine());
  for (const char* expected : {"X: f32 [M][N], strides N, 1, read", "X2: f32 [M][N - 1], strides (N - 1), 1, read", "Y: f32 [M][N], strides N, 1, written",
                               "int32_t twice(int64_t M, int64_t N, const float* X, const float* X2, float* Y, void* workspace);"})
    EXPECT_NE(text.header.find(expected), std::string::npos) << expected << "\n" << text.header;
  TemporaryDirectory folder;
  write_file(folder.path() + "/twice.h", text.header);
  const std::string user = "#include \"twice.h\"\n#include \"twice.h\"\nint main(void) { return (int)twice_workspace_bytes(2, 2) + (int)twice(2, 2, 0, 0, 0, 0); }\n";
  write_file(folder.path() + "/user.c", user);
  write_file(folder.path() + "/user.cpp", user);
  const std::string compiler = find_c_compiler();
  const ProcessResult c = run_process({compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", folder.path() + "/user.c"}, 60);
  EXPECT_EQ(c.code, 0) << c.output;
  const ProcessResult cpp = run_process({compiler, "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", folder.path() + "/user.cpp"}, 60);
  EXPECT_EQ(cpp.code, 0) << cpp.output;
}

}  // namespace
}  // namespace tileopt
