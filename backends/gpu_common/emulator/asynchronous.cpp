// Asynchronous copies in groups, atomic operations and fences.
#include <algorithm>
#include <array>
#include <cstring>

#include "backends/gpu_common/emulator/machine.h"

namespace tileopt::emulator {

CopyPipe& Machine::pipe_of(Thread& thread) {
  if (thread.pipe == nullptr) thread.pipe = std::make_unique<CopyPipe>();
  return *thread.pipe;
}

/// The pipe of a thread is an agent of its own: its step is the number of the group.
void Machine::async_copy(std::byte* shared, const std::byte* global, unsigned bytes, unsigned source_bytes, const void* pc) {
  Thread& thread = *running_;
  const Site site = site_of(pc);
  settle(thread);
  ++progress_;
  const std::string who = thread_text(thread.block->number, thread.index);
  if (source_bytes > bytes) fail(make_report("asynchronous copy", who + " copies " + std::to_string(source_bytes) + " bytes into " + std::to_string(bytes), {site}));
  const auto misaligned = [&](const std::byte* address) { return reinterpret_cast<std::uintptr_t>(address) % bytes != 0; };
  if (misaligned(shared) || (source_bytes > 0 && misaligned(global)))
    fail(make_report("misaligned", who + " copies " + std::to_string(bytes) + " bytes asynchronously between addresses that are no multiples of that", {site}));
  const Agent pipe = thread.agent + threads_per_block_;
  const Access step{pipe, pipe_of(thread).committed + 1, site, false};
  if (source_bytes > 0) {
    Region& source = region_for(global, source_bytes, "copies", site);
    if (source.shadow != nullptr) check(source, global, source_bytes, Use::read, step, "reads");
  }
  Region& target = region_for(shared, bytes, "copies", site);
  if (target.kind != Region::Kind::shared) fail(make_report("asynchronous copy", who + " copies into " + target.name + ", which is no shared memory", {site}));
  check(target, shared, bytes, Use::write, step, "writes");
  thread.pipe->groups.back().push_back({shared, global, bytes, source_bytes});
  if (settings_.completion != Completion::early) return;
  std::memset(shared, 0, bytes);
  std::memcpy(shared, global, source_bytes);
}

void Machine::async_commit() {
  settle(*running_);
  CopyPipe& pipe = pipe_of(*running_);
  ++pipe.committed;
  pipe.groups.emplace_back();
}

void Machine::async_wait(unsigned pending) {
  Thread& thread = *running_;
  settle(thread);
  CopyPipe& pipe = pipe_of(thread);
  if (pipe.committed <= pending) return;
  const Tick wanted = pipe.committed - pending;
  while (pipe.completed < wanted) complete_oldest(pipe);
  pipe.awaited = std::max(pipe.awaited, wanted);
  thread.clock.learn(thread.index + threads_per_block_, wanted);
}

void Machine::complete_oldest(CopyPipe& pipe) {
  if (settings_.completion != Completion::early)
    for (const CopyPipe::Copy& copy : pipe.groups.front()) {
      std::memset(copy.shared, 0, copy.bytes);
      if (copy.source_bytes > 0) std::memcpy(copy.shared, copy.global, copy.source_bytes);
    }
  pipe.groups.erase(pipe.groups.begin());
  ++pipe.completed;
}

/// Ordering is C++'s: a relaxed operation publishes what the last fence before it covered, and what it finds counts from the
/// next fence on.
void Machine::atomic(std::byte* address, unsigned bytes, tileopt_emulator_order order, void (*apply)(void*, void*), void* operands, const void* pc) {
  Thread& thread = *running_;
  const Site site = site_of(pc);
  settle(thread);
  thread.site = site;
  if (settings_.order == Order::random && random_.below(2) == 0) yield();
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0)
    fail(make_report("misaligned", thread_text(thread.block->number, thread.index) + " updates an element that is not aligned to its size", {site}));
  Region& region = region_for(address, bytes, "updates", site);
  if (!region.writable || region.shadow == nullptr)
    fail(make_report("out of bounds", thread_text(thread.block->number, thread.index) + " updates " + region.name + ", which is only read", {site}));
  check(region, address, bytes, Use::update, {thread.agent, thread.tick, site, true}, "updates");
  std::array<std::byte, 16> before{};
  std::memcpy(before.data(), address, bytes);
  in_atomic_ = true;
  apply(address, operands);
  in_atomic_ = false;
  const bool changed = std::memcmp(before.data(), address, bytes) != 0;
  const auto published = published_.find(address);
  if (order == TILEOPT_RELEASE) {
    published_[address] = thread.clock.everything(thread.index, thread.tick);
    ++thread.tick;
  } else if (order == TILEOPT_ACQUIRE) {
    if (published != published_.end()) thread.clock.join(published->second);
  } else {
    if (published != published_.end()) join(thread.acquired, published->second);
    if (!thread.released.empty()) join(published_[address], thread.released);
  }
  if (changed) ++progress_;
  else yield();
}

void Machine::device_fence() {
  Thread& thread = *running_;
  settle(thread);
  if (!thread.acquired.empty()) thread.clock.join(thread.acquired);
  thread.acquired.clear();
  thread.released = thread.clock.everything(thread.index, thread.tick);
  ++thread.tick;
}

}  // namespace tileopt::emulator
