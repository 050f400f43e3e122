#include "backends/gpu_common/emulator/clock.h"

#include <algorithm>

namespace tileopt::emulator {

namespace {
void raise(Ticks& into, const Ticks& from) {
  if (into.size() < from.size()) into.resize(from.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

void join_block(TicksOfBlocks& into, std::uint32_t block, const std::shared_ptr<const Ticks>& from) {
  std::shared_ptr<const Ticks>& mine = into[block];
  if (mine == nullptr) mine = from;
  if (mine == from) return;
  auto joined = std::make_shared<Ticks>(*mine);
  raise(*joined, *from);
  mine = std::move(joined);
}
}  // namespace

void join(TicksOfBlocks& into, const TicksOfBlocks& from) {
  for (const auto& [block, ticks] : from) join_block(into, block, ticks);
}

Clock::Clock(std::uint32_t block, std::uint32_t agents) : block_(block) {
  auto known = std::make_shared<Known>();
  known->own.assign(agents, 0);
  known_ = std::move(known);
}

bool Clock::knows_of_block(std::uint32_t block, std::uint32_t index, Tick tick) const {
  const auto found = known_->others.find(block);
  return found != known_->others.end() && index < found->second->size() && (*found->second)[index] >= tick;
}

void Clock::learn(std::uint32_t index, Tick tick) {
  if (known_->own[index] >= tick) return;
  for (auto& [agent, last] : extra_) {
    if (agent != index) continue;
    last = std::max(last, tick);
    return;
  }
  extra_.emplace_back(index, tick);
}

void Clock::join(const TicksOfBlocks& others) {
  auto both = std::make_shared<Known>(*known_);
  for (const auto& [block, ticks] : others) {
    if (block == block_) raise(both->own, *ticks);
    else join_block(both->others, block, ticks);
  }
  known_ = std::move(both);
}

TicksOfBlocks Clock::everything(std::uint32_t index, Tick tick) const {
  auto own = std::make_shared<Ticks>(known_->own);
  for (const auto& [agent, last] : extra_) (*own)[agent] = std::max((*own)[agent], last);
  (*own)[index] = tick;
  TicksOfBlocks all = known_->others;
  all[block_] = std::move(own);
  return all;
}

Clock Clock::of_meeting(const std::vector<Participant>& participants) {
  Clock result = *participants.front().clock;
  auto together = std::make_shared<Known>(*result.known_);
  const Known* joined = result.known_.get();
  for (const Participant& participant : participants) {
    const Known* known = participant.clock->known_.get();
    if (known != joined) {
      raise(together->own, known->own);
      emulator::join(together->others, known->others);
      joined = known;
    }
    for (const auto& [agent, tick] : participant.clock->extra_) together->own[agent] = std::max(together->own[agent], tick);
    together->own[participant.index] = std::max(together->own[participant.index], participant.tick);
  }
  result.known_ = std::move(together);
  result.extra_.clear();
  return result;
}

}  // namespace tileopt::emulator
