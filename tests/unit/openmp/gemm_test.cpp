#include "gemm_fixture.h"

namespace tileopt {
namespace {

using namespace test;

Arrays gemm_arguments(ElementType input, std::int64_t m, std::int64_t n, std::int64_t k) {
  Arrays arguments;
  arguments["A"] = filled(input, {m, k}, [](std::int64_t i) { return static_cast<double>(i * 7 % 11 - 5); });
  arguments["B"] = filled(input, {k, n}, [](std::int64_t i) { return static_cast<double>(i * 5 % 13 - 6); });
  arguments["C"] = filled(ElementType::f32, {m, n}, [](std::int64_t) { return 1e30; });
  return arguments;
}

void check_gemm(const CompiledKernel& kernel, ElementType input, std::int64_t m, std::int64_t n, std::int64_t k) {
  Arrays arguments = gemm_arguments(input, m, n, k);
  ASSERT_EQ(kernel.run({{"M", m}, {"N", n}, {"K", k}}, arguments), 0);
  const HostArray expected = gemm_reference(arguments["A"], arguments["B"]);
  EXPECT_EQ(arguments["C"].bytes, expected.bytes) << m << "x" << n << "x" << k;
}

const std::vector<std::vector<std::int64_t>> shapes = {{1, 1, 1},    {6, 16, 4},    {7, 17, 5},   {5, 15, 300}, {96, 64, 256},
                                                       {97, 65, 257}, {131, 201, 301}, {3, 130, 1}, {200, 1, 70}, {13, 33, 0}};

TEST(PackedGemm, AgreesWithNaiveLoopsOnAllEdges) {
  GemmTile tile;
  tile.nc = 128;
  const SourceText text = print(gemm_program(), {ast_of(gemm_yaml(tile))}, test_machine());
  for (const std::string& compiler : compilers()) {
    const CompiledKernel kernel = CompiledKernel::compile(gemm_program(), text, test_machine(), {compiler, {"-Wall", "-Wextra", "-Werror"}});
    for (const auto& shape : shapes) check_gemm(kernel, ElementType::f32, shape[0], shape[1], shape[2]);
  }
}

TEST(PackedGemm, OtherTilesAndThreads) {
  for (const auto& [mr, nr, mc, nc, kc, level] : {std::tuple(4L, 24L, 32L, 96L, 64L, "thread"), std::tuple(3L, 8L, 9L, 16L, 7L, "serial"),
                                                  std::tuple(2L, 12L, 4L, 24L, 5L, "thread"), std::tuple(1L, 16L, 3L, 32L, 3L, "serial"),
                                                  std::tuple(5L, 7L, 10L, 14L, 4L, "serial")}) {
    const GemmTile tile{mr, nr, mc, nc, kc, "f32", "stack", level};
    const CompiledKernel kernel =
        CompiledKernel::compile(gemm_program(), print(gemm_program(), {ast_of(gemm_yaml(tile))}, test_machine()), test_machine());
    for (const auto& shape : shapes) check_gemm(kernel, ElementType::f32, shape[0], shape[1], shape[2]);
  }
}

TEST(PackedGemm, PlainCMachine) {
  const GemmTile tile{4, 8, 16, 32, 16};
  const SourceText text = print(gemm_program(), {ast_of(gemm_yaml(tile))}, plain_machine());
  EXPECT_EQ(text.source.find("vector_size"), std::string::npos);
  const CompiledKernel kernel = CompiledKernel::compile(gemm_program(), text, plain_machine(), {"", {"-Wall", "-Wextra", "-Werror", "-pedantic"}});
  for (const auto& shape : shapes) check_gemm(kernel, ElementType::f32, shape[0], shape[1], shape[2]);
}

TEST(PackedGemm, Bf16PanelsKeptAsTheyAreOrWidened) {
  for (const std::string packed : {"bf16", "f32"}) {
    GemmTile tile;
    tile.nc = 64;
    tile.packed = packed;
    const Program program = gemm_program(ElementType::bf16);
    const SourceText text = print(program, {ast_of(gemm_yaml(tile))}, test_machine());
    const std::string compiler = packed == "bf16" ? compilers().front() : compilers().back();
    const CompiledKernel kernel = CompiledKernel::compile(program, text, test_machine(), {compiler, {"-Wall", "-Wextra", "-Werror"}});
    for (const auto& shape : shapes) check_gemm(kernel, ElementType::bf16, shape[0], shape[1], shape[2]);
  }
}

TEST(PackedGemm, SameInputSameBytes) {
  const std::string yaml = gemm_yaml(GemmTile{});
  const SourceText first = print(gemm_program(), {ast_of(yaml)}, test_machine());
  const SourceText second = print(gemm_program(), {ast_of(to_yaml(ast_of(yaml).write()))}, test_machine());
  EXPECT_EQ(first.source, second.source);
  EXPECT_EQ(first.header, second.header);
}

TEST(PackedGemm, FactsTellWhatWasPrinted) {
  const SourceText text = print(gemm_program(), {ast_of(gemm_yaml(GemmTile{}))}, test_machine());
  ASSERT_EQ(text.facts.size(), 1u);
  const PrintFacts& facts = text.facts[0];
  ASSERT_EQ(facts.loops.size(), 10u);
  EXPECT_EQ(facts.loops[0].variable, "jc");
  EXPECT_EQ(facts.loops[0].upper, "floord(N - 1, 1024)");
  EXPECT_EQ(facts.loops[0].header, "for (int64_t jc = 0; jc <= tileopt_floord(N - 1, 1024); jc += 1)");
  EXPECT_EQ(facts.conditions, (std::vector<std::string>{"kc == 0"}));
  ASSERT_EQ(facts.buffers.size(), 3u);
  EXPECT_EQ(facts.buffers[0].bytes, 1024 * 256 * 4);
  ASSERT_EQ(facts.leaves.size(), 6u);
  EXPECT_EQ(facts.leaves[4].statement, "fma");
  EXPECT_EQ(facts.leaves[4].points, 96);
  EXPECT_EQ(facts.leaves[4].subscripts, (std::vector<std::string>{"0", "0", "ir", "kk", "0", "jr", "kk", "0"}));
  EXPECT_EQ(facts.leaves[5].extents, (std::vector<std::string>{"M - 96 * ic - 6 * ir", "N - 1024 * jc - 16 * jr"}));
  EXPECT_EQ(facts.registers, 12);
}

}  // namespace
}  // namespace tileopt
