/// Soundness by experiment: random faults are put into right kernels. Whatever the checker still proves must compute what the
/// Program computes, for every size and every order of parallel iterations tried.
#include <cstdlib>

#include "kernels.h"
#include "mutate.h"
#include "packed_gemm.h"
#include "simulator.h"

namespace tileopt::test {
namespace {

struct Tally {
  int proved = 0, refuted = 0, undecided = 0, harmless = 0;
};

class MutationTest : public ::testing::Test {
 protected:
  /// Mutants of `kernels`; of those refuted, counts the ones that no tried size shows to be wrong.
  Tally try_mutants(const Program& program, const Ast& ast, const std::vector<Sizes>& sizes, int count) {
    std::vector<ConcreteProgram> concrete;
    for (const Sizes& s : sizes) concrete.emplace_back(program, s);
    const char* more = std::getenv("TILEOPT_MUTANTS");
    const int wanted = more != nullptr ? std::atoi(more) : count;
    Tally tally;
    EXPECT_TRUE(check(program, {ast}).proved());
    EXPECT_EQ(fault(concrete, ast), "");
    for (int i = 0; i < wanted; ++i) {
      const Mutant mutant = mutate(ast, random_);
      const Certificate certificate = check(program, {mutant.ast});
      const std::string wrong = fault(concrete, mutant.ast);
      if (certificate.proved()) {
        ++tally.proved;
        EXPECT_EQ(wrong, "") << "proved, but wrong: " << mutant.change;
      } else if (certificate.refuted()) {
        ++tally.refuted;
        if (wrong.empty()) ++tally.harmless;
        if (wrong.empty() && std::getenv("TILEOPT_SHOW") != nullptr) show(mutant, certificate);
      } else {
        ++tally.undecided;
        if (std::getenv("TILEOPT_SHOW") != nullptr) show(mutant, certificate);
      }
    }
    std::printf("  %d mutants proved and right, %d refuted (%d of them right at the sizes tried), %d undecided\n", tally.proved,
                tally.refuted, tally.harmless, tally.undecided);
    return tally;
  }

 private:
  static void show(const Mutant& mutant, const Certificate& certificate) {
    std::printf("  not proved, and not shown to be wrong: %s\n", mutant.change.c_str());
    for (const Obligation& o : certificate.obligations)
      if (o.verdict != Verdict::proved) std::printf("    %s: %s | %s\n", o.name.c_str(), o.reason.c_str(), o.witness.c_str());
  }

  std::string fault(const std::vector<ConcreteProgram>& concrete, const Ast& ast) {
    for (const ConcreteProgram& program : concrete)
      for (const bool together : {false, true}) {
        const Memory start = program.initial(random_);
        Memory wanted = start, found = start;
        program.run(wanted);
        try {
          program.run({ast}, found, random_, together);
        } catch (const Misbehaviour& problem) {
          return problem.what();
        }
        if (!program.agree(wanted, found)) return "another result";
      }
    return "";
  }

  std::mt19937_64 random_{20240607};

 protected:
  poly::Context context_;
  isl::ctx ctx_ = context_.get();
};

TEST_F(MutationTest, Copy) {
  const Tally tally = try_mutants(CopyKernel::program(ctx_), CopyKernel{}.ast(), {{{"N", 0}}, {{"N", 1}}, {{"N", 8}}, {{"N", 19}}}, 60);
  EXPECT_GT(tally.refuted, tally.proved);
}

TEST_F(MutationTest, Transpose) {
  const Tally tally = try_mutants(TransposeKernel::program(ctx_), TransposeKernel{}.ast(),
                                  {{{"M", 1}, {"N", 1}}, {{"M", 16}, {"N", 17}}, {{"M", 33}, {"N", 5}}}, 60);
  EXPECT_GT(tally.refuted, tally.proved);
}

TEST_F(MutationTest, PlainGemm) {
  const Tally tally = try_mutants(plain_gemm(ctx_), plain_gemm_ast("k", "thread", "serial"),
                                  {{{"M", 0}, {"N", 1}, {"K", 2}}, {{"M", 2}, {"N", 3}, {"K", 0}}, {{"M", 4}, {"N", 3}, {"K", 5}}}, 60);
  EXPECT_GT(tally.refuted, tally.proved);
}

TEST_F(MutationTest, Softmax) {
  const Tally tally = try_mutants(SoftmaxKernel::program(ctx_), SoftmaxKernel{}.ast(),
                                  {{{"R", 1}, {"N", 1}}, {{"R", 3}, {"N", 7}}}, 60);
  EXPECT_GT(tally.refuted, tally.proved);
}

TEST_F(MutationTest, Triangle) {
  const Tally tally = try_mutants(TriangleKernel::program(ctx_), TriangleKernel{}.ast(), {{{"N", 1}}, {{"N", 9}}, {{"N", 20}}}, 60);
  EXPECT_GT(tally.refuted, tally.proved);
}

TEST_F(MutationTest, Jacobi) {
  const Tally tally = try_mutants(JacobiKernel::program(ctx_), JacobiKernel{}.ast(),
                                  {{{"T", 1}, {"N", 3}}, {{"T", 4}, {"N", 9}}, {{"T", 20}, {"N", 40}}}, 40);
  EXPECT_GT(tally.refuted, tally.proved);
}

TEST_F(MutationTest, Seidel) {
  const Tally tally = try_mutants(SeidelKernel::program(ctx_), SeidelKernel{}.ast(), {{{"N", 3}}, {{"N", 5}}, {{"N", 8}}}, 60);
  EXPECT_GT(tally.refuted, tally.proved);
}

TEST_F(MutationTest, OverlappedTiles) {
  const Tally tally = try_mutants(OverlapKernel::program(ctx_), OverlapKernel{}.ast(), {{{"N", 3}}, {{"N", 10}}, {{"N", 11}}, {{"N", 27}}}, 60);
  EXPECT_GT(tally.refuted, tally.proved);
}

TEST_F(MutationTest, PackedGemm) {
  const Tally tally = try_mutants(PackedGemm::program(ctx_), PackedGemm{}.ast(),
                                  {{{"M", 1}, {"N", 2}, {"K", 515}}, {{"M", 7}, {"N", 18}, {"K", 3}}, {{"M", 98}, {"N", 1}, {"K", 1}}}, 12);
  EXPECT_GT(tally.refuted, tally.proved);
}

}  // namespace
}  // namespace tileopt::test
