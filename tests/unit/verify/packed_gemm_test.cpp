#include "packed_gemm.h"

namespace tileopt::test {
namespace {

TEST(PackedGemm, Proved) {
  poly::Context context;
  const Program program = PackedGemm::program(context.get());
  const Certificate certificate = check(program, {PackedGemm().ast()});
  print(certificate);
  expect_proved(certificate);
}

}  // namespace
}  // namespace tileopt::test
