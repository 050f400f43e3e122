/// Happens-before as vector clocks that know blocks: what a thread knows of its own block is one shared vector (renewed where
/// threads meet) and a few entries of its own; what it knows of other blocks is a map, nearly always empty.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace tileopt::emulator {

/// Counts the steps of one agent between its synchronisations, from 1; 0: nothing yet.
using Tick = std::uint32_t;
/// Whatever acts on its own: threads, and the pipe of asynchronous copies of each. Number: block * agents of a block + index.
using Agent = std::uint32_t;

using Ticks = std::vector<Tick>;                                            ///< by index in the block
using TicksOfBlocks = std::map<std::uint32_t, std::shared_ptr<const Ticks>>;  ///< by block

/// Takes the greater tick of each agent.
void join(TicksOfBlocks& into, const TicksOfBlocks& from);

/// What happened before the next step of a thread, its own steps aside.
class Clock {
 public:
  Clock() = default;
  /// Of a thread of `block`, that knows nothing.
  Clock(std::uint32_t block, std::uint32_t agents);

  /// Whether agent `index` of the same block had done its step `tick` before.
  bool knows(std::uint32_t index, Tick tick) const {
    if (known_->own[index] >= tick) return true;
    for (const auto& [agent, last] : extra_)
      if (agent == index) return last >= tick;
    return false;
  }
  bool knows_of_block(std::uint32_t block, std::uint32_t index, Tick tick) const;

  void learn(std::uint32_t index, Tick tick);
  void join(const TicksOfBlocks& others);
  /// All that its thread (`index` of its block, now at `tick`) knows and did, in a form that other blocks can join.
  TicksOfBlocks everything(std::uint32_t index, Tick tick) const;

  struct Participant {
    const Clock* clock;
    std::uint32_t index;   ///< in the block
    Tick tick;             ///< its last step
  };
  /// What threads of one block know together after they have met.
  static Clock of_meeting(const std::vector<Participant>& participants);

 private:
  struct Known {
    Ticks own;
    TicksOfBlocks others;
  };
  std::uint32_t block_ = 0;
  std::shared_ptr<const Known> known_;
  std::vector<std::pair<std::uint32_t, Tick>> extra_;   ///< newer than known_: few
};

}  // namespace tileopt::emulator
