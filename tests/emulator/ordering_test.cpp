// The detector of races beside a plain one that keeps whole vector clocks and every access; launches that fail; limits.
#include <random>

#include "backends/gpu_common/emulator/shadow.h"
#include "tests/emulator/emulated_input.h"

namespace tileopt::emulator {
namespace {

/// Two blocks of four threads with a pipe each, in plain vector clocks.
class PlainDetector {
 public:
  static constexpr std::uint32_t agents = 8, blocks = 2;
  struct Past {
    std::uint64_t first, end;
    Use use;
    Agent agent;
    Tick tick;
  };
  std::vector<std::vector<Tick>> known{agents * blocks, std::vector<Tick>(agents * blocks, 0)};
  std::vector<Tick> tick = std::vector<Tick>(agents * blocks, 1);
  std::vector<Past> past;

  bool conflicts(std::uint64_t first, std::uint64_t end, Use use, Agent agent) const {
    for (const Past& other : past) {
      if (other.end <= first || other.first >= end || other.agent == agent || known[agent][other.agent] >= other.tick) continue;
      if (use == Use::read ? other.use != Use::read : use == Use::write || other.use != Use::update) return true;
    }
    return false;
  }
  void meet(const std::vector<Agent>& who) {
    std::vector<Tick> together(agents * blocks, 0);
    for (const Agent a : who)
      for (Agent b = 0; b < together.size(); ++b) together[b] = std::max({together[b], known[a][b], b == a ? tick[a] : 0});
    for (const Agent a : who) {
      known[a] = together;
      ++tick[a];
    }
  }
  void release_to(Agent from, Agent to) {
    for (Agent b = 0; b < known[to].size(); ++b) known[to][b] = std::max({known[to][b], known[from][b], b == from ? tick[from] : 0});
    ++tick[from];
  }
};

/// Random accesses and synchronisations until the first conflict: both detectors see it at the same access, or neither does.
TEST(Ordering, SeesTheRacesThatPlainVectorClocksSee) {
  constexpr std::uint32_t agents = PlainDetector::agents, threads = 4;
  int races = 0, long_runs = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
    Shadow shadow(64, true, false);
    PlainDetector plain;
    std::vector<Clock> clocks;
    std::vector<Tick> ticks(agents * 2, 1);
    for (Agent a = 0; a < agents * 2; ++a) clocks.emplace_back(a / agents, agents);
    int step = 0;
    const unsigned quiet = 1 + below(4);
    for (; step < 200; ++step) {
      const Agent agent = below(2) * agents + below(threads);
      const unsigned what = below(4 * quiet + 4);
      if (what < 2) {
        std::vector<Agent> who;
        for (Agent a = 0; a < threads; ++a)
          if (what == 0 || a / 2 == agent % agents / 2) who.push_back(agent / agents * agents + a);
        std::vector<Clock::Participant> participants;
        for (const Agent a : who) participants.push_back({&clocks[a], a % agents, ticks[a]});
        const Clock together = Clock::of_meeting(participants);
        for (const Agent a : who) {
          clocks[a] = together;
          ++ticks[a];
        }
        plain.meet(who);
        continue;
      }
      if (what == 2) {
        const Agent to = below(2) * agents + below(threads);
        if (to == agent) continue;
        clocks[to].join(clocks[agent].everything(agent % agents, ticks[agent]));
        ++ticks[agent];
        plain.release_to(agent, to);
        continue;
      }
      const unsigned bytes = 1u << below(5);
      const std::uint64_t offset = below(64 / bytes) * bytes;
      const Use use = below(3) == 0 ? Use::write : below(4) == 0 ? Use::update : Use::read;
      const bool expected = plain.conflicts(offset, offset + bytes, use, agent);
      const Viewpoint viewpoint{&clocks[agent], agent / agents, agents, agent};
      const Conflict found = shadow.access(offset, bytes, use, {agent, ticks[agent], 0, use == Use::update}, viewpoint);
      ASSERT_EQ(found.kind == Conflict::Kind::race, expected) << "seed " << seed << ", step " << step;
      if (expected) break;
      plain.past.push_back({offset, offset + bytes, use, agent, ticks[agent]});
    }
    ++(step < 200 ? races : long_runs);
  }
  EXPECT_GT(races, 1000);
  EXPECT_GT(races + long_runs, 2999);
}

TEST(Ordering, ABarrierOrdersAsynchronousCopiesThatWereWaitedFor) {
  constexpr std::uint32_t agents = 4;
  Shadow shadow(16, false, false);
  Clock first(0, agents), second(0, agents);
  const Access copy{2, 1, 0, false};
  EXPECT_EQ(shadow.access(0, 16, Use::write, copy, {&first, 0, agents, 0}).kind, Conflict::Kind::none);
  EXPECT_EQ(shadow.access(0, 4, Use::read, {0, 1, 0, false}, {&first, 0, agents, 0}).kind, Conflict::Kind::race);
  first.learn(2, 1);
  EXPECT_EQ(shadow.access(0, 4, Use::read, {0, 1, 0, false}, {&first, 0, agents, 0}).kind, Conflict::Kind::none);
  EXPECT_EQ(shadow.access(4, 4, Use::read, {1, 1, 0, false}, {&second, 0, agents, 1}).kind, Conflict::Kind::race);
  const Clock together = Clock::of_meeting({{&first, 0, 1}, {&second, 1, 1}});
  EXPECT_EQ(shadow.access(8, 4, Use::read, {1, 2, 0, false}, {&together, 0, agents, 1}).kind, Conflict::Kind::none);
}

const char* const launcher = R"(
#include "tileopt_emulator.h"
__global__ void fill(const int64_t N, int32_t* Y) {
  const int64_t i = (int64_t)TILEOPT_BLOCK_X * 4 + TILEOPT_THREAD_X;
  if (i < N && TILEOPT_THREAD_Y == 0) Y[i] = 7;
}
extern "C" int64_t tileopt_workspace(const int64_t* sizes) { return sizes[0] < 0 ? -1 : 0; }
extern "C" int32_t tileopt_call(const int64_t* sizes, void** arrays, void*) {
  if (sizes[1] == 99) return 3;
  if (sizes[2] == 99) return ((volatile int32_t*)0)[1];
  return TILEOPT_LAUNCH(fill, dim3((unsigned)sizes[1]), dim3(4, (unsigned)sizes[2]), (unsigned)sizes[3], nullptr, sizes[0], (int32_t*)arrays[0]) ? 6 : 0;
}
)";

class Launches : public testing::Test {
 protected:
  Outcome run(std::vector<std::int64_t> sizes) {
    static const Module module = Module::compile(launcher, "");
    arguments = {array("Y", Array::Role::out, std::vector<std::int32_t>(10, 1))};
    return module.run(sizes, arguments, Settings());
  }
  std::vector<Array> arguments;
};

TEST_F(Launches, WriteWhatTheyShould) {
  const Outcome outcome = run({10, 3, 1, 0});
  ASSERT_EQ(outcome.end, Outcome::End::done) << reports_text(outcome);
  EXPECT_EQ(values_of<std::int32_t>(arguments[0]), std::vector<std::int32_t>(10, 7));
  EXPECT_EQ(outcome.blocks, 3);
}

TEST_F(Launches, FailWhereADeviceWouldRefuse) {
  for (const std::vector<std::int64_t>& sizes : std::vector<std::vector<std::int64_t>>{{10, 0, 1, 0}, {10, 3, 257, 0}, {10, 3, 1, 1 << 20}}) {
    const Outcome outcome = run(sizes);
    EXPECT_EQ(outcome.end, Outcome::End::refused) << sizes[1];
    EXPECT_EQ(outcome.code, 6);
    EXPECT_EQ(values_of<std::int32_t>(arguments[0]), std::vector<std::int32_t>(10, 1));
  }
}

TEST_F(Launches, GiveTheCodesOfLaunchers) {
  const Outcome refused = run({10, 99, 1, 0});
  EXPECT_EQ(refused.end, Outcome::End::refused);
  EXPECT_EQ(refused.code, 3);
  EXPECT_EQ(run({-1, 3, 1, 0}).end, Outcome::End::refused);
}

TEST_F(Launches, TellHugeGridsAndCrashesOfTheLauncher) {
  const Outcome huge = run({10, std::int64_t(1) << 30, 1, 0});
  ASSERT_EQ(huge.end, Outcome::End::faulty);
  EXPECT_EQ(huge.reports.at(0).kind, "limit");
  const Outcome crashed = run({10, 3, 99, 0});
  ASSERT_EQ(crashed.end, Outcome::End::crashed);
  EXPECT_EQ(crashed.reports.at(0).kind, "crash");
  EXPECT_NE(crashed.reports.at(0).text.find("the launcher"), std::string::npos) << crashed.reports.at(0).text;
}

TEST_F(Launches, BlocksThatWaitForLaterOnesAreReported) {
  const Module module = Module::compile(read_input("look_back"), "");
  const std::vector<std::uint32_t> x(90, 1);
  std::vector<Array> arrays = {array("X", Array::Role::in, x), array("Y", Array::Role::out, x), array("ready", Array::Role::inout, std::vector<std::uint32_t>(90, 0))};
  Settings settings;
  settings.order = Order::reverse;
  const Outcome outcome = module.run({90}, arrays, settings);
  ASSERT_EQ(outcome.reports.size(), 1u);
  EXPECT_EQ(outcome.reports[0].kind, "deadlock");
  EXPECT_NE(outcome.reports[0].text.find("64 running blocks"), std::string::npos) << outcome.reports[0].text;
}

TEST(ModuleText, ThatDoesNotCompileIsAToolchainError) {
  EXPECT_THROW(Module::compile("#include \"tileopt_emulator.h\"\nint broken(", ""), std::runtime_error);
}

}  // namespace
}  // namespace tileopt::emulator
