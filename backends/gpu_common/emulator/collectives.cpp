// Where threads meet: block barriers, and the collectives of a warp.
#include <algorithm>
#include <cstring>

#include "backends/gpu_common/emulator/machine.h"

namespace tileopt::emulator {

namespace {
std::string hex(std::uint64_t mask) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (; mask != 0 || text.empty(); mask >>= 4) text.insert(text.begin(), digits[mask & 15]);
  return "0x" + text;
}

const char* name_of(tileopt_emulator_meeting kind) {
  switch (kind) {
    case TILEOPT_WARP_BARRIER: return "a warp barrier";
    case TILEOPT_SHUFFLE:
    case TILEOPT_SHUFFLE_XOR:
    case TILEOPT_SHUFFLE_UP:
    case TILEOPT_SHUFFLE_DOWN: return "a shuffle";
    case TILEOPT_BALLOT: return "a vote";
  }
  return "?";
}

/// The lane that `lane` takes its value from; lanes past the ends give their own.
unsigned source_lane(const tileopt_emulator_warp_request& request, unsigned lane, unsigned warp_size) {
  unsigned source = lane;
  switch (request.kind) {
    case TILEOPT_SHUFFLE: return request.argument % warp_size;
    case TILEOPT_SHUFFLE_XOR: source = lane ^ request.argument; break;
    case TILEOPT_SHUFFLE_UP: source = lane < request.argument ? lane : lane - request.argument; break;
    case TILEOPT_SHUFFLE_DOWN: source = lane + request.argument; break;
    case TILEOPT_WARP_BARRIER:
    case TILEOPT_BALLOT: break;
  }
  return source < warp_size ? source : lane;
}
}  // namespace

/// All threads of a block have to come by the same printed line. (One line can have several addresses: loops are unrolled.)
void Machine::require_same_place(const char* what, Site mine, const Thread& other, Site theirs) {
  if (mine == theirs) return;
  const std::vector<int> here = symbolizer_.lines(mine), there = symbolizer_.lines(theirs);
  if (here == there) return;
  fail(make_report("barrier", thread_text(running_->block->number, running_->index) + " reaches " + what + " here while " +
                                  thread_text(other.block->number, other.index) + " waits at " + symbolizer_.text(theirs),
                   {mine, theirs}));
}

void Machine::block_barrier(const void* pc) {
  Thread& thread = *running_;
  Block& block = *thread.block;
  const Site site = site_of(pc);
  settle(thread);
  ++progress_;
  if (block.left > 0) {
    const auto gone = std::find_if(block.threads.begin(), block.threads.end(), [](const auto& t) { return t->state == Thread::State::finished; });
    fail(make_report("barrier", thread_text(block.number, thread.index) + " waits for its block, of which " + std::to_string(block.left) +
                                    " threads have left the kernel, e.g. " + thread_text(block.number, (*gone)->index),
                     {site}));
  }
  if (!block.at_barrier.empty()) require_same_place("a block barrier", site, *block.at_barrier.front(), block.at_barrier.front()->site);
  thread.site = site;
  block.at_barrier.push_back(&thread);
  if (block.at_barrier.size() == threads_per_block_) {
    release_barrier(block);
    if (settings_.order != Order::forward) yield();
    return;
  }
  wait("its block at a barrier", site);
}

void Machine::release_barrier(Block& block) {
  std::vector<Clock::Participant> participants;
  for (const Thread* thread : block.at_barrier) participants.push_back({&thread->clock, thread->index, thread->tick});
  std::sort(participants.begin(), participants.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  const Clock together = Clock::of_meeting(participants);
  for (Thread* thread : block.at_barrier) {
    thread->clock = together;
    ++thread->tick;
    thread->state = Thread::State::ready;
  }
  block.at_barrier.clear();
}

std::uint64_t Machine::existing_lanes(const Block& block, std::uint32_t warp) const {
  const std::uint32_t first = warp * settings_.warp_size;
  const std::uint32_t count = std::min<std::uint32_t>(settings_.warp_size, static_cast<std::uint32_t>(block.threads.size()) - first);
  return count == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << count) - 1;
}

void Machine::warp(const tileopt_emulator_warp_request& request, const void* pc) {
  Thread& thread = *running_;
  Block& block = *thread.block;
  const Site site = site_of(pc);
  settle(thread);
  ++progress_;
  const std::uint32_t warp = thread.index / settings_.warp_size, lane = thread.index % settings_.warp_size;
  const std::uint64_t exist = existing_lanes(block, warp), mine = std::uint64_t(1) << lane;
  const std::uint64_t mask = request.mask == ~0ull ? exist : request.mask;
  const std::string who = thread_text(block.number, thread.index) + " (lane " + std::to_string(lane) + ")";
  const std::string what = name_of(request.kind);
  if ((mask & mine) == 0) fail(make_report("warp", who + " is not in its own mask " + hex(mask) + " at " + what, {site}));
  if ((mask & ~exist) != 0) fail(make_report("warp", who + " names lanes " + hex(mask & ~exist) + ", which its warp does not have, at " + what, {site}));
  for (std::uint32_t other = 0; other < settings_.warp_size; ++other) {
    if ((mask >> other & 1) == 0) continue;
    if (block.threads[warp * settings_.warp_size + other]->state == Thread::State::finished)
      fail(make_report("warp", who + " waits for lane " + std::to_string(other) + ", which has left the kernel, at " + what, {site}));
  }
  std::vector<Meeting>& meetings = block.warps[warp];
  for (std::size_t i = 0; i < meetings.size(); ++i) {
    Meeting& meeting = meetings[i];
    const Thread& first = *meeting.lanes.front().first;
    if ((meeting.mask & mine) == 0) continue;
    if (meeting.mask != mask) {
      if ((mask & meeting.arrived) != 0)
        fail(make_report("warp", who + " names lanes " + hex(mask) + " at " + what + ", while " + thread_text(block.number, first.index) + " waits for lanes " +
                                     hex(meeting.mask) + ": neither can go on",
                         {site, meeting.site}));
      continue;
    }
    if (meeting.kind != request.kind)
      fail(make_report("warp", who + " is at " + what + " while " + thread_text(block.number, first.index) + " waits at " + name_of(meeting.kind), {site, meeting.site}));
    require_same_place(what.c_str(), site, first, meeting.site);
    meeting.lanes.emplace_back(&thread, &request);
    meeting.arrived |= mine;
    if (meeting.arrived != meeting.mask) return wait("lanes " + hex(mask) + " at " + what, site);
    Meeting done = std::move(meeting);
    meetings.erase(meetings.begin() + static_cast<std::ptrdiff_t>(i));
    complete(done, block);
    return;
  }
  Meeting meeting{request.kind, mask, mine, site, {{&thread, &request}}};
  if (mask == mine) return complete(meeting, block);
  meetings.push_back(std::move(meeting));
  wait("lanes " + hex(mask) + " at " + what, site);
}

/// Shuffles and votes exchange values, and order nothing in memory; warp barriers do.
void Machine::complete(Meeting& meeting, Block& block) {
  if (meeting.kind == TILEOPT_WARP_BARRIER) join_warp(meeting);
  const std::uint32_t first = meeting.lanes.front().first->index / settings_.warp_size * settings_.warp_size;
  std::uint64_t votes = 0;
  std::array<std::array<std::byte, 8>, 64> given{};
  for (const auto& [thread, request] : meeting.lanes) {
    if (request->value == nullptr) continue;
    std::memcpy(given[thread->index - first].data(), request->value, request->bytes);
    if (given[thread->index - first][0] != std::byte{0}) votes |= std::uint64_t(1) << (thread->index - first);
  }
  for (const auto& [thread, request] : meeting.lanes) {
    thread->state = Thread::State::ready;
    if (request->value == nullptr) continue;
    if (request->kind == TILEOPT_BALLOT) {
      std::memcpy(request->value, &votes, sizeof votes);
      continue;
    }
    const unsigned lane = thread->index - first, source = source_lane(*request, lane, settings_.warp_size);
    if ((meeting.mask >> source & 1) == 0)
      fail(make_report("warp", thread_text(block.number, thread->index) + " (lane " + std::to_string(lane) + ") takes a value from lane " + std::to_string(source) +
                                   ", which is not in the mask " + hex(meeting.mask),
                       {meeting.site}));
    std::memcpy(request->value, given[source].data(), request->bytes);
  }
}

void Machine::join_warp(Meeting& meeting) {
  std::vector<Clock::Participant> participants;
  for (const auto& [thread, request] : meeting.lanes) participants.push_back({&thread->clock, thread->index, thread->tick});
  const Clock together = Clock::of_meeting(participants);
  for (const auto& [thread, request] : meeting.lanes) {
    thread->clock = together;
    ++thread->tick;
  }
}

}  // namespace tileopt::emulator
