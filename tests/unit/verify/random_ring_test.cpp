/// Random rings, right and wrong: what the checker proves never fails when it is run event by event at small sizes, and what it
/// refutes fails there. The two share no code. TILEOPT_RINGS=400 tries more.
#include <cstdlib>
#include <iostream>

#include "event_simulator.h"
#include "ring_kernels.h"

namespace tileopt::test {
namespace {

long wanted(long otherwise) {
  const char* text = std::getenv("TILEOPT_RINGS");
  return text != nullptr ? std::atol(text) : otherwise;
}

class RandomRingTest : public ::testing::Test {
 protected:
  long pick(long least, long most) {
    return least + static_cast<long>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  template <class Value>
  Value one_of(const std::vector<Value>& values) {
    return values[static_cast<std::size_t>(pick(0, static_cast<long>(values.size()) - 1))];
  }

  // Plants one of them; says which.
  std::string plant_one(const std::vector<std::pair<std::string, std::function<void()>>>& faults) {
    const auto [name, plant] = one_of(faults);
    plant();
    return ", fault: " + name;
  }

  // Both verdicts are met often enough to mean something.
  void expect_both_verdicts() const {
    std::cout << tried_ << " rings, " << proved_ << " proved" << std::endl;
    if (tried_ < 10) return;
    EXPECT_GT(proved_, tried_ / 5);
    EXPECT_LT(proved_, tried_ * 4 / 5);
  }

  // The first fault in any schedule, at sizes with 0, 1 and many positions a tile and one or several tiles.
  std::optional<std::string> simulate(const Ast& ast, long slots) {
    for (const long positions : {0L, 1L, 2L, slots, slots + 1, 2 * slots + 1})
      for (const long tiles : {1L, 3L})
        for (const Schedule schedule : {Schedule::random, Schedule::engines_first, Schedule::engines_last,
                                        Schedule::first_thread_first, Schedule::last_thread_first}) {
          const auto fault = simulate_events(ast, asynchronous_machine(), {{"M", 4 * tiles}, {"N", 4}, {"K", 2 * positions}},
                                             schedule, random_);
          if (fault)
            return fault->kind + ": " + fault->text + " (" + std::to_string(positions) + " positions, " +
                   std::to_string(tiles) + " tiles)";
        }
    return {};
  }

  // Both must agree; counts what was right.
  template <class Ring>
  void compare(const Ring& ring, const std::string& text) {
    const Ast ast = ring.ast();
    const Certificate certificate = check(ring_product(ctx_), {ast}, asynchronous_machine());
    const std::optional<std::string> fault = simulate(ast, ring.slots);
    ++tried_;
    proved_ += certificate.proved() ? 1 : 0;
    std::string reasons;
    for (const Obligation& o : certificate.obligations)
      if (o.verdict != Verdict::proved) reasons += "\n  " + o.name + " of " + o.subject + ": " + o.reason + " | " + o.witness;
    EXPECT_FALSE(certificate.proved() && fault) << "HOLE: " << text << ": " << *fault;
    EXPECT_FALSE(!certificate.proved() && !fault) << "refuted though right: " << text << reasons;
  }

  poly::Context context_;
  isl::ctx ctx_ = context_.get();
  std::mt19937_64 random_{20240611};
  long tried_ = 0, proved_ = 0;
};

TEST_F(RandomRingTest, RolesAgreeWithTheirEvents) {
  for (long i = 0; i < wanted(20); ++i) {
    RoleRing ring = chance(20) ? tagged_ring() : RoleRing{};
    ring.slots = pick(1, 4);
    ring.storage = ring.slots + (chance(15) ? one_of<long>({-1, 1, 2}) : 0);
    if (ring.storage < 1) ring.storage = 1;
    ring.in_flight = std::min(pick(0, 2), chance(15) ? 2 : ring.slots - 1);
    // An odd number of arrivals too many leaves the parity as it would be, which is no fault that shows.
    ring.threads = one_of<long>({1, 4});
    ring.meeting_threads = ring.threads;
    ring.persistent_tiles = true;
    ring.meets = ring.threads > 1 || chance(50);
    ring.groups = ring.arrivals_empty = chance(30) ? 2 : 1;
    if (chance(20)) {
      ring.elected_release = false;
      ring.arrivals_empty *= ring.threads;
    }
    std::string text = "slots " + std::to_string(ring.slots) + ", storage " + std::to_string(ring.storage) + ", in flight " +
                       std::to_string(ring.in_flight) + ", threads " + std::to_string(ring.threads) +
                       (ring.meets ? "" : ", no meeting") + (ring.elected_release ? "" : ", all release") + ", groups " +
                       std::to_string(ring.groups) + ", " + ring.engine;
    if (chance(55)) {
      const std::string s = std::to_string(ring.slots);
      const std::vector<std::pair<std::string, std::function<void()>>> faults = {
          {"no expect", [&] { ring.expects = ring.engine == "dma"; }},
          {"bytes",
           [&] {
             ring.expected_bytes = ring.engine == "dma" ? 64 : one_of<long>({48, 80, 32});
           }},
          {"no wait empty", [&] { ring.waits_empty = false; }},
          {"late wait empty", [&] { ring.copies_before_wait = true; }},
          {"early expect", [&] { ring.expects_before_wait = ring.engine != "dma"; }},
          {"no wait full", [&] { ring.waits_full = false; }},
          {"late wait full", [&] { ring.full_wait_late = true; }},
          {"no await", [&] { ring.awaits = false; }},
          {"no drain", [&] { ring.drains = false; }},
          {"no release", [&] { ring.releases = false; }},
          {"no meeting", [&] { ring.meets = false; }},
          {"all release", [&] { ring.elected_release = false; }},
          {"early release", [&] { ring.release_early = true; }},
          {"empty parity", [&] { ring.empty_position = "kb"; }},
          {"empty position",
           [&] {
             ring.empty_position = "kb - " + std::to_string(ring.slots + one_of<long>({-1, 1}));
           }},
          {"full parity", [&] { ring.full_shift = " - " + s; }},
          {"full position",
           [&] {
             ring.full_shift = one_of<std::string>({" + 1", " - 1"});
           }},
          {"lax", [&] { ring.lax = 1; }},
          {"arrivals", [&] { ++ring.arrivals_empty; }},
          {"full arrivals", [&] { ++ring.arrivals_full; }},
          {"consumer base",
           [&] {
             ring.consumer_advance = one_of<std::string>({"", "floord(K, 2) + 1", "0"});
           }},
          {"producer base",
           [&] {
             ring.producer_advance = one_of<std::string>({"", "floord(K, 2) + 1", "0"});
           }},
          {"signal", [&] { ring.signal_shift = ring.slots > 1 ? " + 1" : ""; }},
          {"stores early", [&] { ring.stores_early = true; }},
          {"fewer meet", [&] { ring.meeting_threads = ring.threads + 1; }}};
      text += plant_one(faults);
    }
    compare(ring, text);
  }
  expect_both_verdicts();
}

TEST_F(RandomRingTest, ThreadsAgreeWithTheirEvents) {
  for (long i = 0; i < wanted(12); ++i) {
    OrderRing ring;
    ring.slots = pick(2, 4);
    ring.storage = ring.slots + (chance(20) ? one_of<long>({-1, 1}) : 0);
    ring.ahead = pick(1, ring.slots - (chance(80) ? 1 : 0));
    std::string text = "slots " + std::to_string(ring.slots) + ", storage " + std::to_string(ring.storage) + ", ahead " +
                       std::to_string(ring.ahead);
    if (chance(55)) {
      const std::vector<std::pair<std::string, std::function<void()>>> faults = {
          {"no barrier", [&] { ring.meets = false; }},
          {"barrier at even positions", [&] { ring.meets_if_even = true; }},
          {"divergent barrier", [&] { ring.meets_inside_threads = true; }},
          {"one thread at the barrier", [&] { ring.elected_meeting = true; }},
          {"no await", [&] { ring.awaits = false; }},
          {"no commit", [&] { ring.commits = false; }},
          {"copies before", [&] { ring.copies_before_meeting = true; }},
          {"multiplies before", [&] { ring.multiplies_before_meeting = true; }},
          {"lax", [&] { ring.lax = 1; }},
          {"base", [&] {
             ring.advance = one_of<std::string>({"", "0"});
           }}};
      text += plant_one(faults);
    }
    compare(ring, text);
  }
  expect_both_verdicts();
}

}  // namespace
}  // namespace tileopt::test
