/// Loops, conditions, lifetimes and accumulations as printed, against the oracle.
#include <cmath>
#include <fstream>

#include "ast_oracle.h"
#include "fixture.h"

namespace tileopt {
namespace {

using namespace test;

CompiledKernel compiled(const Program& program, const std::vector<Ast>& asts, const Machine& machine) {
  return CompiledKernel::compile(program, print(program, asts, machine), machine, {"", {"-Wall", "-Wextra", "-Werror"}});
}

/// Runs the Asts compiled and on the oracle; all written arrays must agree exactly.
void expect_equal_runs(const CompiledKernel& kernel, const Program& program, const std::vector<Ast>& asts, const Sizes& sizes, Arrays arguments,
                       const std::map<std::string, std::vector<std::int64_t>>& locals = {}) {
  AstOracle oracle(program, sizes, arguments);
  for (const Ast& ast : asts) oracle.run(ast, locals);
  ASSERT_EQ(kernel.run(sizes, arguments), 0);
  for (const auto& [name, array] : arguments) EXPECT_EQ(array.bytes, oracle.arrays().at(name).bytes) << "array " << name;
}
void expect_equal_runs(const Program& program, const std::vector<Ast>& asts, const Sizes& sizes, Arrays arguments, const Machine& machine) {
  expect_equal_runs(compiled(program, asts, machine), program, asts, sizes, std::move(arguments));
}

std::string leaf_statement(const std::string& name, const std::string& write, int write_rank, const std::vector<std::pair<std::string, int>>& reads,
                           int iterators, const std::string& kind = "compute", const std::string& statement = "same", int indices = 0) {
  const auto rows = [](int rank) {
    std::string text;
    for (int d = 0; d < rank; ++d) text += d ? ", []" : "[]";
    return "[" + text + "]";
  };
  std::string arrays, steps;
  for (const auto& [array, rank] : reads) {
    arrays += (arrays.empty() ? "" : ", ") + array;
    steps += (steps.empty() ? "" : ", ") + rows(rank);
  }
  return "  - {name: " + name + ", kind: " + kind + ", statement: " + (statement == "same" ? name : "\"" + statement + "\"") +
         ", atom: \"\", box: [], instance_steps: " + rows(iterators) + ", write_array: " + write + ", write_steps: " + rows(write_rank) +
         ", read_arrays: [" + arrays + "], read_steps: [" + steps + "], index_steps: " + rows(indices) + ", zero_fill: false}\n";
}

TEST(Loops, TriangleAccumulatesInOrder) {
  const Program program = ProgramText("triangle")
                              .sizes({"N"})
                              .tensor("X", ElementType::f32, {"N", "N"}, TensorRole::in)
                              .tensor("Y", ElementType::f32, {"N"}, TensorRole::out)
                              .statement("Y_init", {"i"}, "0 <= i < N", "Y[i]", Combine::assign, real(0), {})
                              .statement("Y", {"i", "j"}, "0 <= i < N and 0 <= j <= i", "Y[i]", Combine::sum, read(0), {"X[i, j]"})
                              .build();
  for (const std::string level : {"thread", "serial"}) {
    const Ast ast = ast_of("kernel: triangle\narrays: []\nstatements:\n" + leaf_statement("Y_init", "Y", 1, {}, 1) +
                           leaf_statement("Y", "Y", 1, {{"X", 2}}, 2) + R"(body:
  - for: i
    digit: i
    level: )" + level + R"(
    lower: "0"
    upper: N - 1
    step: 1
    body:
      - {leaf: Y_init, instance: [i], write: [i], reads: [], indices: [], extents: []}
      - {for: j, digit: j, level: serial, lower: "0", upper: i, step: 1, body: [
          {leaf: Y, instance: [i, j], write: [i], reads: [[i, j]], indices: [], extents: []}]}
)");
    Arrays arguments;
    arguments["X"] = f32_array({37, 37}, [](std::int64_t i) { return std::sin(static_cast<double>(i)); });
    arguments["Y"] = f32_array({37}, [](std::int64_t) { return 7; });
    expect_equal_runs(program, {ast}, {{"N", 37}}, arguments, test_machine());
    const SourceText text = print(program, {ast}, test_machine());
    EXPECT_EQ(text.facts[0].loops[0].pragma, level == "thread" ? "#pragma omp parallel for schedule(dynamic, 1)" : "");
  }
}

TEST(Loops, FloorDivisionModuloAndConditionsOfNegativeValues) {
  const ElementType i32 = ElementType::i32;
  const Program program = ProgramText("signs")
                              .sizes({"N"})
                              .tensor("X", i32, {"2*N + 11"}, TensorRole::in)
                              .tensor("Y", i32, {"2*N + 1"}, TensorRole::out)
                              .statement("Y", {"i"}, "0 <= i <= 2*N", "Y[i]", Combine::assign,
                                         binary(BinaryOp::add, binary(BinaryOp::mul, read(0, i32), read(1, i32)), make_expr(i32, IndexValue{0})),
                                         {"X[i]", "X[i]"}, {"i"})
                              .build();
  const Ast ast = ast_of("kernel: signs\narrays: []\nstatements:\n" + leaf_statement("Y", "Y", 1, {{"X", 1}, {"X", 1}}, 1, "compute", "same", 1) + R"yaml(body:
  - for: i
    digit: i
    level: serial
    lower: max(-N, -N - 3)
    upper: "min(N, (N > 5 ? N : 2 * N))"
    step: 1
    body:
      - if: "mod(i, 3) == 1 && i < floord(N, 2) || i == -N"
        then:
          - {leaf: Y, instance: [i + N], write: [i + N], reads: [["mod(i - 7, 5)"], ["floord(3 * i - 11, 4) + N + 4"]], indices: ["floord(i, 4) - mod(-i, 7) * -2"], extents: []}
        else:
          - {leaf: Y, instance: [i + N], write: [i - -N], reads: [["mod(-i, 9)"], [(i + N) * 2 / 2]], indices: ["-(-i) * 3 - (2 - i)"], extents: []}
)yaml");
  const CompiledKernel kernel = compiled(program, {ast}, test_machine());
  for (const std::int64_t n : {0, 1, 4, 20}) {
    Arrays arguments;
    arguments["X"] = filled(i32, {2 * n + 11}, [](std::int64_t i) { return static_cast<double>(i * i + 1); });
    arguments["Y"] = HostArray(i32, {2 * n + 1});
    expect_equal_runs(kernel, program, {ast}, {{"N", n}}, arguments);
  }
}

struct ReductionCase {
  ElementType type;
  Combine combine;
};

/// One statement reduces a row into Y[r], through memory and through a register variable.
Ast reduction_ast(bool through_register, const std::string& element) {
  std::string text = "kernel: reduce\n";
  text += through_register ? "arrays: [{name: acc, element: " + element + ", space: register, tensor: Y, extents: [1], scope: r, alignment: 64}]\n" : "arrays: []\n";
  const std::string target = through_register ? "acc" : "Y";
  const std::string at = through_register ? "[\"0\"]" : "[r]";
  text += "statements:\n" + leaf_statement("Y", target, 1, {{"X", 2}}, 2);
  if (through_register) text += leaf_statement("load", "acc", 1, {{"Y", 1}}, 0, "copy_in", "") + leaf_statement("store", "Y", 1, {{"acc", 1}}, 0, "copy_out", "");
  text += "body:\n  - for: r\n    digit: r\n    level: serial\n    lower: \"0\"\n    upper: R - 1\n    step: 1\n    body:\n";
  const std::string loop = "{for: j, digit: j, level: simd, lower: \"0\", upper: N - 1, step: 1, body: [{leaf: Y, instance: [r, j], write: " + at +
                           ", reads: [[r, j]], indices: [], extents: []}]}";
  if (!through_register) return ast_of(text + "      - " + loop + "\n");
  return ast_of(text + "      - {allocate: [acc], body: [{leaf: load, instance: [], write: [\"0\"], reads: [[r]], indices: [], extents: []}, " + loop +
                ", {leaf: store, instance: [], write: [r], reads: [[\"0\"]], indices: [], extents: []}]}\n");
}

Program reduction_program(const ReductionCase& c) {
  return ProgramText("reduce")
      .sizes({"R", "N"})
      .tensor("X", c.type, {"R", "N"}, TensorRole::in)
      .tensor("Y", c.type, {"R"}, TensorRole::inout)
      .statement("Y", {"r", "j"}, "0 <= r < R and 0 <= j < N", "Y[r]", c.combine, read(0, c.type), {"X[r, j]"})
      .build();
}

TEST(Loops, SimdReductions) {
  for (const ReductionCase& c : {ReductionCase{ElementType::f32, Combine::sum}, ReductionCase{ElementType::f32, Combine::max},
                                 ReductionCase{ElementType::f64, Combine::min}, ReductionCase{ElementType::i32, Combine::sum},
                                 ReductionCase{ElementType::u8, Combine::max}, ReductionCase{ElementType::i64, Combine::prod},
                                 ReductionCase{ElementType::bf16, Combine::max}}) {
    const Program program = reduction_program(c);
    for (const bool through_register : {false, true}) {
      const Ast ast = reduction_ast(through_register, type_name(c.type));
      const CompiledKernel kernel = compiled(program, {ast}, test_machine());
      for (const std::int64_t n : {0, 1, 7, 64, 133}) {
        Arrays arguments;
        arguments["X"] = filled(c.type, {5, n}, [](std::int64_t i) { return static_cast<double>(i * 37 % 23 + 1); });
        arguments["Y"] = filled(c.type, {5}, [](std::int64_t i) { return static_cast<double>(i); });
        if (is_float(c.type) && n > 7) arguments["X"].set(2 * n + 3, NAN);
        expect_equal_runs(kernel, program, {ast}, {{"R", 5}, {"N", n}}, arguments);
      }
      const std::string pragma = print(program, {ast}, test_machine()).facts[0].loops[1].pragma;
      EXPECT_EQ(pragma.find("reduction") == std::string::npos, c.type == ElementType::bf16) << pragma;
    }
  }
}

TEST(Loops, StrictSumsGetNoReductionClause) {
  ProgramText text("reduce");
  Numerics strict;
  strict.reassociate = false;
  const Program program = text.sizes({"R", "N"})
                              .tensor("X", ElementType::f32, {"R", "N"}, TensorRole::in)
                              .tensor("Y", ElementType::f32, {"R"}, TensorRole::inout)
                              .statement("Y", {"r", "j"}, "0 <= r < R and 0 <= j < N", "Y[r]", Combine::sum, read(0), {"X[r, j]"})
                              .numerics(strict)
                              .build();
  EXPECT_EQ(print(program, {reduction_ast(false, "f32")}, test_machine()).facts[0].loops[1].pragma, "");
  Arrays arguments;
  arguments["X"] = f32_array({2, 1000}, [](std::int64_t i) { return std::cos(static_cast<double>(i * i)); });
  arguments["Y"] = f32_array({2}, [](std::int64_t) { return 0; });
  expect_equal_runs(program, {reduction_ast(false, "f32")}, {{"R", 2}, {"N", 1000}}, arguments, test_machine());
}

TEST(Loops, GccVectorisesReductionsAndFunctions) {
  if (access("/usr/bin/gcc", X_OK) != 0 || test_machine().flags.empty()) GTEST_SKIP() << "no gcc, or no AVX2";
  for (const ReductionCase& c : {ReductionCase{ElementType::f32, Combine::sum}, ReductionCase{ElementType::f32, Combine::max}}) {
    const Program program = reduction_program(c);
    TemporaryDirectory folder;
    const std::string report = folder.path() + "/report";
    CompiledKernel::compile(program, print(program, {reduction_ast(false, "f32")}, test_machine()), test_machine(),
                            {"/usr/bin/gcc", {"-fopt-info-vec-optimized=" + report}});
    const std::string text = read_file(report);
    EXPECT_NE(text.find("loop vectorized using 32 byte vectors"), std::string::npos) << text;
  }
}

TEST(Loops, LaneLoopThatOverwritesOneElementGetsNoPragma) {
  const Program program = ProgramText("last")
                              .sizes({"N"})
                              .tensor("X", ElementType::f32, {"N"}, TensorRole::in)
                              .tensor("Y", ElementType::f32, {}, TensorRole::inout)
                              .statement("Y", {"i"}, "0 <= i < N", "Y[]", Combine::assign, read(0), {"X[i]"})
                              .build();
  const Ast ast = ast_of("kernel: last\narrays: []\nstatements:\n" + leaf_statement("Y", "Y", 0, {{"X", 1}}, 1) +
                         "body: [{for: i, digit: i, level: simd, lower: \"0\", upper: N - 1, step: 1, body: [{leaf: Y, instance: [i], write: [], reads: [[i]], "
                         "indices: [], extents: []}]}]\n");
  EXPECT_EQ(print(program, {ast}, test_machine()).facts[0].loops[0].pragma, "");
  Arrays arguments;
  arguments["X"] = f32_array({9}, [](std::int64_t i) { return static_cast<double>(i); });
  arguments["Y"] = f32_array({}, [](std::int64_t) { return -1; });
  expect_equal_runs(program, {ast}, {{"N", 9}}, arguments, test_machine());
}

TEST(Loops, ThreadsOwnTheirStackArraysAndPairsCollapse) {
  const Program program = ProgramText("blocks")
                              .sizes({"N"})
                              .tensor("X", ElementType::f32, {"8*N", "8*N"}, TensorRole::in)
                              .tensor("Y", ElementType::f32, {"8*N", "8*N"}, TensorRole::out)
                              .statement("Y", {"i", "j"}, "0 <= i < 8*N and 0 <= j < 8*N", "Y[i, j]", Combine::assign,
                                         binary(BinaryOp::add, read(0), read(1)), {"X[i, j]", "X[j, i]"})
                              .build();
  const Ast ast = ast_of("kernel: blocks\narrays: [{name: T, element: f64, space: stack, tensor: X, extents: [8, 8], scope: jb, alignment: 64}]\nstatements:\n" +
                         leaf_statement("load", "T", 2, {{"X", 2}}, 0, "copy_in", "") + leaf_statement("Y", "Y", 2, {{"X", 2}, {"T", 2}}, 2) + R"(body:
  - {for: ib, digit: ib, level: thread, lower: "0", upper: N - 1, step: 1, body: [
      {for: jb, digit: jb, level: thread, lower: "0", upper: N - 1, step: 1, body: [
        {allocate: [T], body: [
          {for: i, digit: i, level: serial, lower: "0", upper: "7", step: 1, body: [
            {for: j, digit: j, level: simd, lower: "0", upper: "7", step: 1, body: [
              {leaf: load, instance: [], write: [i, j], reads: [[8 * jb + i, 8 * ib + j]], indices: [], extents: []}]}]},
          {for: i, digit: i, level: serial, lower: "0", upper: "7", step: 1, body: [
            {for: j, digit: j, level: simd, lower: "0", upper: "7", step: 1, body: [
              {leaf: Y, instance: [8 * ib + i, 8 * jb + j], write: [8 * ib + i, 8 * jb + j], reads: [[8 * ib + i, 8 * jb + j], [j, i]], indices: [], extents: []}]}]}]}]}]}
)");
  EXPECT_EQ(print(program, {ast}, test_machine()).facts[0].loops[0].pragma, "#pragma omp parallel for schedule(static) collapse(2)");
  Arrays arguments;
  arguments["X"] = f32_array({40, 40}, [](std::int64_t i) { return static_cast<double>(i); });
  arguments["Y"] = f32_array({40, 40}, [](std::int64_t) { return 0; });
  expect_equal_runs(program, {ast}, {{"N", 5}}, arguments, test_machine());
}

TEST(Loops, UnrolledLoopsMakeRegisterSubscriptsConstant) {
  const Program program = ProgramText("rows")
                              .sizes({"N"})
                              .tensor("X", ElementType::f32, {"4*N", "8"}, TensorRole::in)
                              .tensor("Y", ElementType::f32, {"4*N", "8"}, TensorRole::out)
                              .statement("Y", {"i", "j"}, "0 <= i < 4*N and 0 <= j < 8", "Y[i, j]", Combine::assign, binary(BinaryOp::mul, read(0), read(0)),
                                         {"X[i, j]"})
                              .build();
  for (const std::string level : {"unroll", "serial"}) {
    const Ast ast = ast_of("kernel: rows\narrays: [{name: T, element: f32, space: register, tensor: X, extents: [4, 8], scope: ib, alignment: 64}]\nstatements:\n" +
                           leaf_statement("load", "T", 2, {{"X", 2}}, 0, "copy_in", "") + leaf_statement("Y", "Y", 2, {{"T", 2}}, 2) + R"yaml(body:
  - {for: ib, digit: ib, level: serial, lower: "0", upper: N - 1, step: 1, body: [
      {allocate: [T], body: [
        {for: i, digit: i, level: $L, lower: "0", upper: "3", step: 1, body: [
          {for: j, digit: j, level: $L, lower: "0", upper: "7", step: 1, body: [
            {leaf: load, instance: [], write: [i, j], reads: [[4 * ib + i, j]], indices: [], extents: []}]}]},
        {for: i, digit: i, level: $L, lower: "0", upper: "3", step: 1, body: [
          {for: j, digit: j, level: $L, lower: i, upper: i + 7, step: 1, body: [
            {leaf: Y, instance: [4 * ib + i, "mod(j, 8)"], write: [4 * ib + i, "mod(j, 8)"], reads: [[i, "mod(j, 8)"]], indices: [], extents: []}]}]}]}]}
)yaml" + std::string());
    Ast with_level = ast_of([&] {
      std::string yaml = to_yaml(ast.write());
      for (std::size_t at = yaml.find("$L"); at != std::string::npos; at = yaml.find("$L", at)) yaml.replace(at, 2, level);
      return yaml;
    }());
    Arrays arguments;
    arguments["X"] = f32_array({12, 8}, [](std::int64_t i) { return static_cast<double>(i); });
    arguments["Y"] = f32_array({12, 8}, [](std::int64_t) { return 0; });
    expect_equal_runs(program, {with_level}, {{"N", 3}}, arguments, test_machine());
    const PrintFacts facts = print(program, {with_level}, test_machine()).facts[0];
    EXPECT_EQ(facts.loops.size(), 5u);
    EXPECT_EQ(facts.leaves.size(), 2u);
    EXPECT_EQ(facts.loops[1].pragma, level == "unroll" ? "unrolled" : "");
    EXPECT_EQ(facts.registers, level == "unroll" ? (test_machine().vector_bytes == 32 ? 4 : 8) : 0);
  }
}

TEST(Loops, KernelsShareLocalsAndScalarsComeByValue) {
  const ElementType bf16 = ElementType::bf16;
  const Program program = ProgramText("exp")
                              .sizes({"int", "N"})
                              .tensor("double", ElementType::f32, {"int", "N"}, TensorRole::in)
                              .tensor("alpha", bf16, {}, TensorRole::in)
                              .tensor("total", ElementType::f64, {}, TensorRole::out)
                              .tensor("workspace", ElementType::f32, {"int", "N"}, TensorRole::local)
                              .statement("workspace", {"i", "j"}, "0 <= i < int and 0 <= j < N", "workspace[i, j]", Combine::assign,
                                         binary(BinaryOp::mul, read(0), cast(ElementType::f32, read(1, bf16))), {"double[i, j]", "alpha[]"})
                              .statement("total_init", {}, "", "total[]", Combine::assign, real(0, ElementType::f64), {})
                              .statement("total", {"i", "j"}, "0 <= i < int and 0 <= j < N", "total[]", Combine::sum,
                                         cast(ElementType::f64, read(0)), {"workspace[i, j]"})
                              .build();
  const auto nest = [](const std::string& leaf) {
    return "{for: for, digit: i, level: serial, lower: \"0\", upper: int - 1, step: 1, body: [{for: j0, digit: j, level: simd, lower: \"0\", upper: N - 1, step: 1, "
           "body: [" + leaf + "]}]}";
  };
  const Ast first = ast_of("kernel: scale\narrays: []\nstatements:\n" + leaf_statement("workspace", "workspace", 2, {{"double", 2}, {"alpha", 0}}, 2) + "body: [" +
                           nest("{leaf: workspace, instance: [for, j0], write: [for, j0], reads: [[for, j0], []], indices: [], extents: []}") + "]\n");
  const Ast second = ast_of("kernel: add\narrays: []\nstatements:\n" + leaf_statement("total_init", "total", 0, {}, 0) +
                            leaf_statement("total", "total", 0, {{"workspace", 2}}, 2) + "body: [{leaf: total_init, instance: [], write: [], reads: [], indices: [], extents: []}, " +
                            nest("{leaf: total, instance: [for, j0], write: [], reads: [[for, j0]], indices: [], extents: []}") + "]\n");
  const CompiledKernel kernel = compiled(program, {first, second}, test_machine());
  for (const std::int64_t n : {0, 1, 33}) {
    Arrays arguments;
    arguments["double"] = f32_array({4, n}, [](std::int64_t i) { return static_cast<double>(i % 9); });
    arguments["alpha"] = filled(bf16, {}, [](std::int64_t) { return 1.5; });
    arguments["total"] = filled(ElementType::f64, {}, [](std::int64_t) { return -1; });
    expect_equal_runs(kernel, program, {first, second}, {{"int", 4}, {"N", n}}, arguments, {{"workspace", {4, n}}});
  }
}

std::string refusal_of(const Program& program, const Ast& ast) {
  const auto text = make_openmp_backend()->print(program, {ast}, test_machine(), "0");
  const auto* reason = std::get_if<Infeasible>(&text);
  return reason == nullptr ? "printed" : reason->code + ": " + reason->reason + " (" + reason->stage + ", kernel " + reason->kernel + ")";
}

TEST(Refusals, NameTheReason) {
  const Program program = ProgramText("copy")
                              .sizes({"N"})
                              .tensor("X", ElementType::f32, {"N"}, TensorRole::in)
                              .tensor("Y", ElementType::f32, {"N"}, TensorRole::out)
                              .statement("Y", {"i"}, "0 <= i < N", "Y[i]", Combine::assign, read(0), {"X[i]"})
                              .build();
  const auto with = [&](const std::string& array, const std::string& level, const std::string& write, const std::string& read_at, const std::string& upper,
                        const std::string& statement = "Y") {
    return ast_of("kernel: copy\narrays: [" + array + "]\nstatements:\n" + leaf_statement("load", "T", 1, {{"X", 1}}, 0, "copy_in", "") +
                  leaf_statement("Y", "Y", 1, {{"T", 1}}, 1, "compute", statement) + "body: [{for: i, digit: i, level: " + level +
                  ", lower: \"0\", upper: " + upper + ", step: 1, body: [{allocate: [T], body: [{leaf: load, instance: [], write: [" + write + "], reads: [[" + read_at +
                  "]], indices: [], extents: []}, {leaf: Y, instance: [i], write: [i], reads: [[" + write + "]], indices: [], extents: []}]}]}]\n");
  };
  const auto array = [](const std::string& space, const std::string& extent, const std::string& element = "f32") {
    return "{name: T, element: " + element + ", space: " + space + ", tensor: X, extents: [" + extent + "], scope: i, alignment: 64}";
  };
  EXPECT_EQ(refusal_of(program, with(array("stack", "1"), "serial", "\"0\"", "i", "N - 1")), "printed");
  EXPECT_NE(refusal_of(program, with(array("workspace", "1"), "thread", "\"0\"", "i", "N - 1")).find("capacity: workspace array T inside a thread loop"), std::string::npos);
  EXPECT_NE(refusal_of(program, with(array("stack", "1000000"), "serial", "\"0\"", "i", "N - 1")).find("capacity: stack arrays need 4000000 bytes, 1048576 are allowed"), std::string::npos);
  EXPECT_NE(refusal_of(program, with(array("register", "4"), "serial", "\"4\"", "i", "N - 1")).find("atom: leaf load reaches element 4 in dimension 0 of register array T"), std::string::npos);
  EXPECT_NE(refusal_of(program, with(array("shared", "4"), "serial", "\"0\"", "i", "N - 1")).find("unknown space `shared`"), std::string::npos);
  EXPECT_NE(refusal_of(program, with(array("stack", "1", "bf16"), "serial", "\"0\"", "i", "N - 1")).find("cannot keep the f32 values of Y"), std::string::npos);
  EXPECT_NE(refusal_of(program, with(array("stack", "1"), "serial", "\"0\"", "i + q", "N - 1")).find("ast: unknown name `q`"), std::string::npos);
  EXPECT_NE(refusal_of(program, with(array("stack", "1"), "serial", "\"0\"", "i", "M - 1")).find("unknown name `M` in `M - 1` of i"), std::string::npos);
  EXPECT_NE(refusal_of(program, with(array("stack", "1"), "serial", "\"0\"", "i", "N - 1", "Z")).find("runs unknown statement `Z` (print, kernel copy)"), std::string::npos);
}

Program copy_program() {
  return ProgramText("copy")
      .sizes({"N"})
      .tensor("X", ElementType::f32, {"N"}, TensorRole::in)
      .tensor("Y", ElementType::f32, {"N"}, TensorRole::out)
      .statement("Y", {"i"}, "0 <= i < N", "Y[i]", Combine::assign, read(0), {"X[i]"})
      .build();
}

// C with OpenMP has no form for agents that meet: no text that leaves it out.
TEST(Refusals, RolesAndSynchronisationAreNotPrinted) {
  const std::string leaf = "{leaf: Y, instance: [i], write: [i], reads: [[i]], indices: [], extents: []}";
  const auto with = [&](const std::string& body) {
    return ast_of("kernel: copy\narrays: []\nstatements:\n" + leaf_statement("Y", "Y", 1, {{"X", 1}}, 1) +
                  "rings: [{name: r, slots: 2}]\nbarriers: [{name: all, scope: block, ring: \"\", arrivals: 0}]\n"
                  "synchronizations: [{name: meet, kind: barrier, target: all, ring: \"\", elected: false, bytes: 0}]\n"
                  "body: [{for: i, digit: i, level: serial, lower: \"0\", upper: N - 1, step: 1, body: [" + body + "]}]\n");
  };
  EXPECT_EQ(refusal_of(copy_program(), with(leaf)), "printed");
  for (const std::string& body : {leaf + ", {sync: meet}", "{roles: [{name: one, threads: 1, body: [" + leaf + "]}]}", "{allocate: [], rings: [r], body: [" + leaf + "]}"})
    EXPECT_NE(refusal_of(copy_program(), with(body)).find("ast: kernel copy has roles, rings or barriers"), std::string::npos) << body;
}

TEST(Facts, SayWhereWorkspaceArraysLie) {
  const Ast ast = ast_of("kernel: copy\narrays: [{name: T, element: f32, space: workspace, tensor: X, extents: [1], scope: \"\", alignment: 64}, "
                         "{name: U, element: f32, space: workspace, tensor: X, extents: [100], scope: \"\", alignment: 64}]\nstatements:\n" +
                         leaf_statement("load", "T", 1, {{"X", 1}}, 0, "copy_in", "") + leaf_statement("move", "U", 1, {{"X", 1}}, 0, "copy_in", "") +
                         leaf_statement("Y", "Y", 1, {{"T", 1}}, 1) +
                         "body: [{allocate: [T, U], body: [{for: i, digit: i, level: serial, lower: \"0\", upper: N - 1, step: 1, body: ["
                         "{leaf: load, instance: [], write: [\"0\"], reads: [[i]], indices: [], extents: []}, "
                         "{leaf: move, instance: [], write: [\"0\"], reads: [[i]], indices: [], extents: []}, "
                         "{leaf: Y, instance: [i], write: [i], reads: [[\"0\"]], indices: [], extents: []}]}]}]\n");
  const auto text = make_openmp_backend()->print(copy_program(), {ast}, test_machine(), "0");
  ASSERT_TRUE(std::holds_alternative<SourceText>(text));
  const std::vector<PrintFacts::Buffer>& buffers = std::get<SourceText>(text).facts[0].buffers;
  ASSERT_EQ(buffers.size(), 2u);
  EXPECT_EQ(buffers[0].region, "workspace");
  EXPECT_EQ(buffers[1].region, "workspace");
  EXPECT_EQ(buffers[0].offset, 0);
  EXPECT_EQ(buffers[1].offset, 256);
}

}  // namespace
}  // namespace tileopt
