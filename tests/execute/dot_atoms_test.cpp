// Atoms that add several products at once, on this machine and by the texts that take their place where it lacks them: every byte as the
// interpreter has it, at depths that fill no word, and at the values where sums of products wrap.
#include "tests/execute/fixture.h"

namespace tileopt::test {
namespace {

class DotAtoms : public Execute {
 protected:
  /// Takes `machine` for the host: its atoms are printed, whatever this processor has.
  void compile_for(const std::string& text, const std::string& machine, const std::vector<std::string>& flags) {
    program_ = std::make_shared<const Program>(parse_tile_file(context_.get(), text, "test.tile").programs.at(0));
    Request request;
    request.machine = find_machine(machine);
    Trace trace;
    Candidate<Outcome> outcome = resolve_and_compile(program_, request, trace);
    ASSERT_FALSE(std::holds_alternative<Infeasible>(outcome)) << to_string(std::get<Infeasible>(outcome));
    const Module module = std::move(std::get<Outcome>(outcome).module);
    EXPECT_EQ(unproved_text(module.certificate), "");
    EXPECT_NE(module.text.source.find("tileopt_dot_"), std::string::npos) << machine;
    Machine here = request.machine;
    here.flags = flags;
    here.features = {};
    kernels_.push_back(CompiledKernel::compile(*program_, module.text, here, {"", {"-Wall", "-Werror", "-Wno-unused-function", "-Wno-psabi"}}));
  }

  static std::string gemm(const std::string& left, const std::string& right, const std::string& result) {
    return "@numerics(contract=True, flush_subnormals=True)\ndef gemm(A: " + left + "[M, K], B: " + right + "[K, N], C: out[" + result + "[M, N]]):\n    for i, j in grid(M, N):\n"
           "        C[i, j] = sum(" + result + "(A[i, k]) * " + result + "(B[k, j]) for k in range(K))\n";
  }
};

struct Types {
  const char *left, *right, *result;
};
constexpr Types kTypes[] = {{"i8", "i8", "i32"}, {"u8", "u8", "i32"}, {"u8", "i8", "i32"}, {"i8", "u8", "i32"}, {"i16", "i16", "i32"}, {"bf16", "bf16", "f32"}};

TEST_F(DotAtoms, EveryTypeAtSizesThatFillNoWord) {
  for (const Types& types : kTypes) {
    kernels_.clear();
    compile(gemm(types.left, types.right, types.result), {""});
    for (const Sizes& sizes : {Sizes{{"M", 1}, {"N", 1}, {"K", 1}}, Sizes{{"M", 15}, {"N", 33}, {"K", 3}}, Sizes{{"M", 29}, {"N", 70}, {"K", 770}}, Sizes{{"M", 3}, {"N", 5}, {"K", 0}}})
      run(sizes, arguments(sizes), [&, first = Arrays()](const Arrays& values) mutable {
        if (first.empty()) first = values;
        else EXPECT_EQ(values.at("C").bytes, first.at("C").bytes) << types.left << " " << types.right;
      });
    check_sizes({{0, 1, 2, 3, 5, 16, 33, 64, 100, 259}});
  }
}

// The printed texts compiled for the oldest x86-64: no instruction but the plain ones.
TEST_F(DotAtoms, TheTextsWithoutTheInstructionsComputeTheSame) {
  for (const Types& types : kTypes) {
    kernels_.clear();
    compile_for(gemm(types.left, types.right, types.result), "zen4", {});
    check_sizes({{0, 1, 2, 3, 5, 16, 33, 64, 100, 259}});
  }
}

TEST_F(DotAtoms, SumsWrapAsTheProgramSays) {
  compile(gemm("i16", "i16", "i32"), {""});
  const Sizes sizes{{"M", 2}, {"N", 32}, {"K", 6}};
  Arrays values = arguments(sizes);
  for (const char* name : {"A", "B"})
    for (std::int64_t at = 0; at < values.at(name).elements(); ++at) values.at(name).set_integer(at, -32768);
  run(sizes, values, [&](const Arrays& result) { EXPECT_EQ(result.at("C").get_integer(0), static_cast<std::int32_t>(6u << 30)); });
}

}  // namespace
}  // namespace tileopt::test
