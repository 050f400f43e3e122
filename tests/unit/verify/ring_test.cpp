/// Rings: proved for any number of positions and tiles, and each planted fault refuted by the obligation it violates.
#include "ring_kernels.h"

namespace tileopt::test {
namespace {

class RingTest : public ::testing::Test {
 protected:
  template <class Ring>
  Certificate check_ring(const Ring& ring) {
    return check(ring_product(ctx_), {ring.ast()}, asynchronous_machine());
  }
  template <class Ring>
  Obligation refuted(const Ring& ring, const std::string& obligation, const std::string& reason) {
    return expect_refuted(check_ring(ring), obligation, reason);
  }

  poly::Context context_;
  isl::ctx ctx_ = context_.get();
};

// ---- a producer role and a consumer role

TEST_F(RingTest, FourSlotsAreProved) { expect_proved(check_ring(RoleRing{})); }

TEST_F(RingTest, AnyNumberOfSlotsAndGroupsInFlightIsProved) {
  for (const auto& [slots, in_flight] : {std::pair(2, 1), std::pair(3, 1), std::pair(3, 2), std::pair(6, 3)}) {
    RoleRing ring;
    ring.slots = ring.storage = slots;
    ring.in_flight = in_flight;
    expect_proved(check_ring(ring));
  }
}

TEST_F(RingTest, MoreBuffersThanBarriersAreProved) {
  RoleRing ring;
  ring.storage = 5;
  expect_proved(check_ring(ring));
}

TEST_F(RingTest, WithoutPersistenceNoBaseMovesOn) {
  RoleRing ring;
  ring.persistent_tiles = false;
  ring.producer_advance = ring.consumer_advance = "";
  expect_proved(check_ring(ring));
}

TEST_F(RingTest, EveryThreadMayRelease) {
  RoleRing ring;
  ring.elected_release = false;
  ring.meets = false;
  ring.arrivals_empty = 128;
  expect_proved(check_ring(ring));
}

TEST_F(RingTest, OneThreadNeedsNoMeeting) {
  RoleRing ring;
  ring.threads = 1;
  ring.meets = false;
  expect_proved(check_ring(ring));
}

TEST_F(RingTest, TwoConsumersAreProved) {
  RoleRing ring;
  ring.groups = ring.arrivals_empty = 2;
  expect_proved(check_ring(ring));
  ring.in_flight = 2;
  expect_proved(check_ring(ring));
}

TEST_F(RingTest, OneOfTwoConsumersIsCounted) {
  RoleRing ring;
  ring.groups = 2;
  refuted(ring, "waits", "a phase of barrier empty gets 2 instead of 1 arrivals");
  refuted(ring, "slots", "is not ordered after consumer: C reads A_slots");
}

TEST_F(RingTest, TaggedCopiesAreProved) {
  RoleRing ring = tagged_ring();
  expect_proved(check_ring(ring));
  ring.arrivals_full = 1;
  refuted(ring, "waits", "a phase of barrier full gets 2 instead of 1 arrivals");
  refuted(ring, "races", "before producer: copy_A writes A_slots is done");
}

TEST_F(RingTest, CopiesThatAreDoneAtOnceNeedTheBarrierAlone) {
  OrderRing ring;
  ring.engine = "";
  ring.awaits = ring.commits = false;
  expect_proved(check_ring(ring));
  ring.meets = false;
  refuted(ring, "races", "C reads B_slots before copy_B writes B_slots is done");
}

TEST_F(RingTest, OneBufferTooFew) {
  RoleRing ring;
  ring.storage = 3;
  const Obligation o = refuted(
      ring, "slots", "slot reuse of A_slots: producer: copy_A writes A_slots is not ordered after consumer: C reads A_slots");
  EXPECT_EQ(o.witness, "consumer: C reads A_slots at g = 0 | producer: copy_A writes A_slots at g = 3, both slot 0 of 3");
}

TEST_F(RingTest, ReleasedEarly) {
  RoleRing ring;
  ring.release_early = true;
  const Obligation o = refuted(ring, "slots", "is not ordered after consumer: C reads A_slots");
  EXPECT_EQ(o.witness, "consumer: C reads A_slots at g = 0 | producer: copy_A writes A_slots at g = 4, both slot 0 of 4");
}

TEST_F(RingTest, NeverReleased) {
  RoleRing ring;
  ring.releases = false;
  refuted(ring, "waits", "a phase of barrier empty gets 0 instead of 1 arrivals");
}

TEST_F(RingTest, LastPositionsAreNotReleased) {
  RoleRing ring;
  ring.drains = false;
  refuted(ring, "waits", "a phase of barrier empty gets 0 instead of 1 arrivals");
  refuted(ring, "races", "before C");
}

TEST_F(RingTest, ProducerDoesNotWait) {
  RoleRing ring;
  ring.waits_empty = false;
  refuted(ring, "slots", "is not ordered after consumer: C reads A_slots");
}

TEST_F(RingTest, ProducerWaitsLate) {
  RoleRing ring;
  ring.copies_before_wait = true;
  refuted(ring, "slots", "is not ordered after consumer: C reads A_slots");
}

TEST_F(RingTest, BytesAreAnnouncedBeforeTheLastPhaseIsComplete) {
  RoleRing ring;
  ring.expects_before_wait = true;
  refuted(ring, "waits", "producer: expect may be counted in the phase before");
}

TEST_F(RingTest, ConsumerDoesNotWait) {
  RoleRing ring;
  ring.waits_full = false;
  const Obligation o = refuted(ring, "races", "consumer: C reads A_slots before producer: copy_A writes A_slots is done");
  EXPECT_NE(o.witness.find("K = "), std::string::npos) << o.witness;
}

TEST_F(RingTest, ConsumerWaitsLate) {
  RoleRing ring;
  ring.full_wait_late = true;
  refuted(ring, "races", "consumer: C reads A_slots before producer: copy_A writes A_slots is done");
}

/// A phase and the one two before it have one parity, so waiting for the other parity is waiting for a neighbour in the ring of
/// phases.
TEST_F(RingTest, ConsumerParityInverted) {
  RoleRing ring;
  ring.full_shift = " - 4";
  refuted(ring, "races", "consumer: C reads A_slots before producer: copy_A writes A_slots is done");
  ring.full_shift = " + 4";
  EXPECT_FALSE(check_ring(ring).proved());
}

TEST_F(RingTest, ProducerParityInverted) {
  RoleRing ring;
  ring.empty_position = "kb";
  const Obligation o = refuted(ring, "waits", "waits form a cycle");
  EXPECT_NE(o.witness.find("producer: wait_empty at g needs"), std::string::npos) << o.witness;
}

TEST_F(RingTest, WaitsForThePhaseOfOnePositionLess) {
  RoleRing ring;
  ring.empty_position = "kb - 5";
  refuted(ring, "slots", "is not ordered after consumer: C reads A_slots");
}

TEST_F(RingTest, AsManyGroupsInFlightAsSlots) {
  RoleRing ring;
  ring.in_flight = 4;
  const Obligation o = refuted(ring, "waits", "waits form a cycle");
  EXPECT_EQ(o.witness,
            "phase of full completes at g needs producer: copy_A writes A_slots at g needs producer: wait_empty at g needs phase of empty "
            "completes at g - 4 needs consumer: release at g - 4 needs consumer: wait_full at g needs phase of full completes at g");
}

TEST_F(RingTest, OneGroupTooManyInFlight) {
  RoleRing ring;
  ring.lax = 1;
  const Obligation o = refuted(ring, "waits", "allows 2 groups in flight, but fewer follow commit");
  EXPECT_NE(o.witness.find("await at"), std::string::npos) << o.witness;
  refuted(ring, "slots", "is not ordered after consumer: C reads A_slots");
}

TEST_F(RingTest, NoAwait) {
  RoleRing ring;
  ring.awaits = false;
  refuted(ring, "slots", "is not ordered after consumer: C reads A_slots");
  refuted(ring, "races", "store reads acc before C");
}

TEST_F(RingTest, AccumulatorsReadBeforeTheyAreDone) {
  RoleRing ring;
  ring.stores_early = true;
  const Obligation o = refuted(ring, "races", "store reads acc before C, which writes it, is done");
  EXPECT_EQ(o.where.line, 4);
}

TEST_F(RingTest, AccumulatorsClearedInFlight) {
  RoleRing ring;
  ring.inits_late = true;
  EXPECT_FALSE(check_ring(ring).proved());
  ring.drains = false;
  refuted(ring, "races", "C_init#2 writes acc before C, which writes it, is done");
}

TEST_F(RingTest, NoExpectedBytes) {
  RoleRing ring;
  ring.expects = false;
  refuted(ring, "waits", "a phase of barrier full gets 0 instead of 1 arrivals");
}

TEST_F(RingTest, SixteenBytesTooMany) {
  RoleRing ring;
  ring.expected_bytes = 80;
  refuted(ring, "waits", "barrier full expects 80 instead of 64 bytes");
}

TEST_F(RingTest, CopyIsCountedInTheNextPhase) {
  RoleRing ring;
  ring.signal_shift = " + 1";
  EXPECT_FALSE(check_ring(ring).proved());
  refuted(ring, "waits", "copy_B writes B_slots is counted in the phase of another position");
}

TEST_F(RingTest, BarrierCountsMoreThreadsThanArrive) {
  RoleRing ring;
  ring.arrivals_empty = 2;
  refuted(ring, "waits", "a phase of barrier empty gets 1 instead of 2 arrivals");
  ring.arrivals_empty = 1;
  ring.elected_release = false;
  refuted(ring, "waits", "a phase of barrier empty gets 128 instead of 1 arrivals");
}

/// One thread releases the slot while nothing says that the others have read it, or even seen their phase.
TEST_F(RingTest, ElectedReleaseWithoutMeeting) {
  RoleRing ring;
  ring.meets = false;
  refuted(ring, "slots", "is not ordered after consumer: C reads A_slots");
  refuted(ring, "waits", "a thread that is not elected of consumer: wait_full may miss its phase of barrier full");
}

TEST_F(RingTest, MeetingOfFewerThreads) {
  RoleRing ring;
  ring.meeting_threads = 64;
  refuted(ring, "waits", "barrier group counts 64 threads where one agent of role consumer has 128");
}

TEST_F(RingTest, BaseOfOneRoleStays) {
  RoleRing ring;
  ring.consumer_advance = "";
  const Obligation o = refuted(ring, "slots", "role consumer does not advance ring ring by the positions of the run");
  EXPECT_NE(o.witness.find("K = "), std::string::npos) << o.witness;
}

TEST_F(RingTest, BaseMovesByTooMuchOrTooLittle) {
  for (const char* amount : {"floord(K, 2)", "floord(K + 3, 2)", "0", "K"}) {
    RoleRing ring;
    ring.producer_advance = amount;
    refuted(ring, "slots", "role producer");
  }
}

TEST_F(RingTest, RolesInTheWrongOrderAreNotProved) {
  RoleRing ring;
  ring.consumer_first = true;
  refuted(ring, "values", "nobody wrote the value");
}

// ---- one role of threads: groups and a barrier

TEST_F(RingTest, CopiesAheadAreProved) { expect_proved(check_ring(OrderRing{})); }

TEST_F(RingTest, CopiesAnyDistanceAheadAreProved) {
  for (const long slots : {2, 4}) {
    OrderRing ring;
    ring.slots = ring.storage = slots;
    ring.ahead = slots - 1;
    expect_proved(check_ring(ring));
  }
}

TEST_F(RingTest, CopiesAheadWithOneBufferTooFew) {
  OrderRing ring;
  ring.storage = 2;
  refuted(ring, "slots", "slot reuse of A_slots: copy_A writes A_slots is not ordered after C reads A_slots");
}

TEST_F(RingTest, CopiesAheadWithoutBarrier) {
  OrderRing ring;
  ring.meets = false;
  refuted(ring, "races", "C reads B_slots before copy_B writes B_slots is done");
  refuted(ring, "slots", "slot reuse of B_slots");
}

TEST_F(RingTest, CopiesAheadWithABarrierAtEverySecondPosition) {
  OrderRing ring;
  ring.meets_if_even = true;
  refuted(ring, "races", "C reads B_slots before copy_B writes B_slots is done");
}

TEST_F(RingTest, DivergentBarrier) {
  OrderRing ring;
  ring.meets_inside_threads = true;
  const Obligation o = refuted(ring, "waits", "barrier all of the whole block is reached by loop t alone");
  EXPECT_NE(o.witness.find("meet at ti = 0, tj = 0, kb = 0, t = "), std::string::npos) << o.witness;
  ring.meets_inside_threads = false;
  ring.elected_meeting = true;
  refuted(ring, "waits", "one thread alone waits at barrier all");
}

TEST_F(RingTest, CopiesAheadBeforeAllHaveRead) {
  OrderRing ring;
  ring.copies_before_meeting = true;
  refuted(ring, "slots", "slot reuse of B_slots");
}

TEST_F(RingTest, MultipliesBeforeAllHaveCopied) {
  OrderRing ring;
  ring.multiplies_before_meeting = true;
  refuted(ring, "races", "C reads B_slots before copy_B writes B_slots is done");
}

TEST_F(RingTest, CopiesAheadWithoutAwait) {
  OrderRing ring;
  ring.awaits = false;
  refuted(ring, "races", "C reads B_slots before copy_B writes B_slots is done");
  refuted(ring, "races", "nobody waits until it is done");
}

TEST_F(RingTest, CopiesAheadOneGroupTooMany) {
  OrderRing ring;
  ring.lax = 1;
  refuted(ring, "waits", "await allows 2 groups in flight, but fewer follow commit");
  refuted(ring, "races", "C reads B_slots before copy_B writes B_slots is done");
}

TEST_F(RingTest, CopiesAheadWithoutCommit) {
  OrderRing ring;
  ring.commits = false;
  refuted(ring, "races", "nobody waits until it is done");
}

TEST_F(RingTest, BaseOfCopiesAheadStays) {
  OrderRing ring;
  ring.advance = "";
  refuted(ring, "slots", "the kernel does not advance ring ring");
}

}  // namespace
}  // namespace tileopt::test
