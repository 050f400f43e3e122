/// Faulty kernels, written by hand: what the runner says about them.
#include <cstdlib>
#include <filesystem>

#include "backends/runner/argument_bytes.h"
#include "fixture.h"

namespace tileopt {
namespace {

using namespace test;

Program copy_program() {
  return ProgramText("copy")
      .sizes({"N"})
      .tensor("X", ElementType::f32, {"N"}, TensorRole::in)
      .tensor("Y", ElementType::f32, {"N"}, TensorRole::out)
      .statement("Y", {"i"}, "0 <= i < N", "Y[i]", Combine::assign, read(0), {"X[i]"})
      .build();
}

Ast copy_ast() {
  return ast_of(
      "kernel: copy\narrays: []\nstatements:\n  - {name: Y, kind: compute, statement: Y, atom: \"\", box: [], instance_steps: [[]], write_array: Y, write_steps: [[]], "
      "read_arrays: [X], read_steps: [[[]]], index_steps: [], zero_fill: false}\nbody: [{for: i, digit: i, level: simd, lower: \"0\", upper: N - 1, step: 1, body: [{leaf: Y, "
      "instance: [i], write: [i], reads: [[i]], indices: [], extents: []}]}]\n");
}

/// The real header with a launcher of our own.
CompiledKernel faulty(const std::string& body) {
  const Program program = copy_program();
  SourceText text = print(program, {copy_ast()}, test_machine());
  text.source = "#include <stdint.h>\nint64_t copy_workspace_bytes(int64_t N) { return N < 0 ? -1 : 256; }\n"
                "int32_t copy(int64_t N, const float* X, float* Y, void* workspace) { (void)N; (void)X; (void)Y; (void)workspace; " + body + " }\n";
  return CompiledKernel::compile(program, text, test_machine(), {"", {"-O0"}});
}

Arrays copy_arguments() {
  Arrays arguments;
  arguments["X"] = f32_array({10}, [](std::int64_t i) { return static_cast<double>(i); });
  arguments["Y"] = f32_array({10}, [](std::int64_t) { return -1; });
  return arguments;
}
const Sizes ten = {{"N", 10}};

TEST(Runner, RunsInThisProcessAndInItsOwn) {
  const CompiledKernel kernel = CompiledKernel::compile(copy_program(), print(copy_program(), {copy_ast()}, test_machine()), test_machine());
  Arrays arguments = copy_arguments();
  EXPECT_EQ(kernel.run(ten, arguments), 0);
  EXPECT_EQ(arguments["Y"].bytes, arguments["X"].bytes);
  arguments = copy_arguments();
  const IsolatedRun isolated = kernel.run_isolated(ten, arguments, 30);
  EXPECT_EQ(isolated.end, IsolatedRun::End::done) << isolated.detail;
  EXPECT_EQ(arguments["Y"].bytes, arguments["X"].bytes);
  EXPECT_GT(kernel.bench(ten, arguments, 0.01), 0);
  const std::vector<double> both = CompiledKernel::bench_interleaved({&kernel, &kernel}, ten, arguments, 0.01);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_GT(both[1], 0);
}

TEST(Runner, CallsOnTheCallersMemory) {
  const CompiledKernel kernel = CompiledKernel::compile(copy_program(), print(copy_program(), {copy_ast()}, test_machine()), test_machine());
  std::vector<float> x = {1, 2, 3, 4}, y(4, -1);
  void* const arguments[] = {x.data(), y.data()};
  EXPECT_EQ(kernel.call({{"N", 3}}, arguments, nullptr), 0);
  EXPECT_EQ(y, (std::vector<float>{1, 2, 3, -1}));
  void* const missing[] = {x.data(), nullptr};
  EXPECT_EQ(kernel.call({{"N", 3}}, missing, nullptr), 2);
  void* const overlapping[] = {x.data(), x.data() + 1};
  EXPECT_EQ(kernel.call({{"N", 3}}, overlapping, nullptr), 4);
}

/// Rows of three elements fill two bytes each.
TEST(ArgumentBytes, PackedElementsComeBack) {
  for (const ElementType type : {ElementType::i4, ElementType::u4}) {
    TensorArgument argument{"W", "W", type, TensorRole::in, {ast_name("N"), ast_integer(3)}, {0, 1}, {}, true};
    HostArray array(type, {5, 3}), back(type, {5, 3});
    for (std::int64_t i = 0; i < 15; ++i) array.set_integer(i, type == ElementType::i4 ? i - 8 : i);
    const std::vector<std::byte> bytes = lay_out(argument, array, {{"N", 5}});
    ASSERT_EQ(bytes.size(), 10u);
    EXPECT_EQ(bytes[0], std::byte(type == ElementType::i4 ? 0x98 : 0x10));
    unpack(argument, bytes.data(), {{"N", 5}}, back);
    EXPECT_EQ(back.bytes, array.bytes);
  }
}

TEST(Runner, TellsOverruns) {
  const CompiledKernel after = faulty("Y[N] = 1; return 0;");
  Arrays arguments = copy_arguments();
  EXPECT_THROW(after.run(ten, arguments), KernelFault);
  EXPECT_EQ(after.run_isolated(ten, arguments, 30).end, IsolatedRun::End::overrun);
  EXPECT_EQ(arguments["Y"].get(0), -1);
  EXPECT_THROW(faulty("Y[-3] = 1; return 0;").run(ten, arguments), KernelFault);
  EXPECT_THROW(faulty("((char*)workspace)[256] = 1; return 0;").run(ten, arguments), KernelFault);
  const CompiledKernel input = faulty("((float*)X)[1] = 7; return 0;");
  EXPECT_THROW(input.run(ten, arguments), KernelFault);
  const IsolatedRun isolated = input.run_isolated(ten, arguments, 30);
  EXPECT_EQ(isolated.end, IsolatedRun::End::overrun);
  EXPECT_EQ(isolated.detail, "the kernel changed array X, an input");
}

TEST(Runner, TellsCrashesHangsAndRefusals) {
  Arrays arguments = copy_arguments();
  const IsolatedRun crash = faulty("*(volatile int*)8 = 1; return 0;").run_isolated(ten, arguments, 30);
  EXPECT_EQ(crash.end, IsolatedRun::End::crashed);
  EXPECT_EQ(crash.detail, "the kernel crashed: Segmentation fault");
  EXPECT_EQ(faulty("for (volatile int i = 0;; ++i) {} return 0;").run_isolated(ten, arguments, 1).end, IsolatedRun::End::hung);
  const CompiledKernel refuses = faulty("return 3;");
  const IsolatedRun refused = refuses.run_isolated(ten, arguments, 30);
  EXPECT_EQ(refused.end, IsolatedRun::End::refused);
  EXPECT_EQ(refused.code, 3);
  EXPECT_EQ(refuses.run(ten, arguments), 3);
  EXPECT_THROW(refuses.bench(ten, arguments, 0.01), KernelFault);
}

TEST(Runner, ArgumentsMustFit) {
  const CompiledKernel kernel = faulty("return 0;");
  Arrays arguments = copy_arguments();
  EXPECT_THROW(kernel.run({{"N", 11}}, arguments), Errors);
  EXPECT_THROW(kernel.run({}, arguments), Errors);
  arguments.erase("X");
  EXPECT_THROW(kernel.run(ten, arguments), Errors);
}

TEST(Toolchain, MissingOrFailingCompilersAreToolchainErrors) {
  const char* const before = std::getenv("TILEOPT_CC");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TILEOPT_CC", "/nonexistent/cc", 1);
  EXPECT_THROW(find_c_compiler(), ToolchainError);
  if (kept.empty()) unsetenv("TILEOPT_CC");
  else setenv("TILEOPT_CC", kept.c_str(), 1);
  try {
    faulty("return undeclared_name;");
    FAIL() << "compiled";
  } catch (const ToolchainError& error) {
    EXPECT_NE(std::string(error.what()).find("undeclared_name"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("-ffp-contract=off"), std::string::npos);
  }
  Machine machine = test_machine();
  machine.features.push_back("quantum");
  EXPECT_THROW(CompiledKernel::compile(copy_program(), print(copy_program(), {copy_ast()}, machine), machine), ToolchainError);
}

TEST(Toolchain, TemporaryFoldersAreRemoved) {
  TemporaryDirectory scratch;
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", scratch.path().c_str(), 1);
  {
    const CompiledKernel kernel = faulty("return 0;");
    EXPECT_EQ(kernel.object().rfind(scratch.path(), 0), 0u);
    EXPECT_THROW(faulty("syntax error"), ToolchainError);
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
  if (kept.empty()) unsetenv("TMPDIR");
  else setenv("TMPDIR", kept.c_str(), 1);
}

TEST(Toolchain, ProcessesAreRunWithoutAShell) {
  EXPECT_EQ(run_process({"/bin/echo", "$HOME;`id`"}, 10).output, "$HOME;`id`\n");
  const ProcessResult slow = run_process({"/bin/sleep", "30"}, 0.2);
  EXPECT_EQ(slow.end, ProcessResult::End::timed_out);
  EXPECT_THROW(run_process({"/nonexistent/program"}, 1), ToolchainError);
}

}  // namespace
}  // namespace tileopt
