// What loads and stores of a kernel are checked for: bounds, writes to inputs, bytes that nobody has written, races.
#include <algorithm>
#include <cstring>

#include "backends/gpu_common/emulator/machine.h"

namespace tileopt::emulator {

namespace {
std::string count_text(std::uint64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

/// Bytes between an address and a region; 0 inside.
std::uint64_t distance(const Region& region, const std::byte* address) {
  if (address < region.begin) return static_cast<std::uint64_t>(region.begin - address);
  return region.holds(address) ? 0 : static_cast<std::uint64_t>(address - region.begin) - region.bytes + 1;
}

bool of_user(const Region& region) { return region.kind == Region::Kind::tensor || region.kind == Region::Kind::shared; }
}  // namespace

Region* Machine::find(const std::byte* address) {
  if (last_region_ != nullptr && last_region_->holds(address)) return last_region_;
  for (const std::unique_ptr<Region>& region : regions_)
    if (region->holds(address)) return last_region_ = region.get();
  return nullptr;
}

std::string Machine::element_text(const Region& region, std::uint64_t offset) const {
  if (region.kind != Region::Kind::tensor) return "byte " + std::to_string(offset) + " of " + region.name;
  return "element " + std::to_string(offset / static_cast<std::uint64_t>(region.element_bytes)) + " of " + region.name;
}

/// The region that holds the whole access, of this block where it is shared memory; else a fault.
Region& Machine::region_for(const std::byte* address, std::uint64_t bytes, const char* verb, Site site) {
  Region* region = find(address);
  const bool own = region == nullptr || region->kind != Region::Kind::shared || region == running_->block->shared_region;
  if (region != nullptr && own && static_cast<std::uint64_t>(address - region->begin) + bytes <= region->bytes) return *region;
  const Region* nearest = nullptr;
  for (const std::unique_ptr<Region>& candidate : regions_) {
    const bool foreign = candidate->kind == Region::Kind::shared && candidate.get() != running_->block->shared_region;
    if (!of_user(*candidate) || foreign) continue;
    if (nearest == nullptr || distance(*candidate, address) < distance(*nearest, address)) nearest = candidate.get();
  }
  std::string where = "outside all memory";
  if (nearest != nullptr && distance(*nearest, address) <= std::uint64_t(1) << 24) {
    const std::string size = ", which has " + count_text(nearest->bytes);
    if (address < nearest->begin) where = count_text(static_cast<std::uint64_t>(nearest->begin - address)) + " before " + nearest->name + size;
    else where = "at byte " + std::to_string(address - nearest->begin) + " of " + nearest->name + size;
  }
  fail(make_report("out of bounds", thread_text(running_->block->number, running_->index) + " " + verb + " " + count_text(bytes) + " " + where, {site}));
}

void Machine::access(const std::byte* address, std::uint64_t bytes, tileopt_emulator_access kind, const void* pc) {
  if (running_ == nullptr || in_atomic_ || running_->on_stack(address)) return;
  Thread& thread = *running_;
  settle(thread);
  ++accesses_;
  ++progress_;
  const Site site = site_of(pc);
  last_site_ = site;
  const char* verb = kind == TILEOPT_READ ? "reads" : "writes";
  if (settings_.order == Order::random && random_.below(32) == 0) yield();
  Region& region = region_for(address, bytes, verb, site);
  if (kind == TILEOPT_WRITE && !region.writable)
    fail(make_report("out of bounds", thread_text(thread.block->number, thread.index) + " writes " + region.name + ", which is only read", {site}));
  if (region.shadow == nullptr) return;
  check(region, address, bytes, kind == TILEOPT_READ ? Use::read : Use::write, {thread.agent, thread.tick, site, false}, verb);
}

/// A read of what nobody has written may be half of a race, whose other half comes later: the run goes on, and the first one is kept.
/// A write that conflicts does harm only where it changes something, which shows at the next step of the thread.
void Machine::check(Region& region, const std::byte* address, std::uint64_t bytes, Use use, const Access& me, const char* verb) {
  const auto offset = static_cast<std::uint64_t>(address - region.begin);
  const Conflict conflict = region.shadow->access(offset, bytes, use, me, viewpoint(*running_));
  if (conflict.kind == Conflict::Kind::none) return;
  Report report = conflict_report(region, conflict, use, me, verb);
  if (conflict.kind == Conflict::Kind::uninitialised) {
    if (!uninitialised_) uninitialised_ = std::move(report);
    return;
  }
  if (use != Use::write || me.agent != running_->agent) fail(std::move(report));
  running_->doubtful = Thread::Doubtful{address, {address, address + bytes}, std::move(report)};
}

void Machine::settle(Thread& thread) {
  if (!thread.doubtful) return;
  const Thread::Doubtful doubtful = std::move(*thread.doubtful);
  thread.doubtful.reset();
  if (std::memcmp(doubtful.address, doubtful.before.data(), doubtful.before.size()) != 0) fail(doubtful.report);
}

Report Machine::conflict_report(const Region& region, const Conflict& conflict, Use use, const Access& me, const char* verb) {
  const std::string what = agent_text(me.agent) + " " + verb + " " + element_text(region, conflict.offset);
  if (conflict.kind == Conflict::Kind::uninitialised) return make_report("uninitialised", what + ", which nothing has written", {me.site});
  const std::string other = conflict.other_wrote ? (conflict.other.atomic ? ", updated by " : ", written by ") : ", read by ";
  const char* const how = use == Use::update && conflict.other.atomic ? "atomically, " : "";
  return make_report("race", what + other + how + agent_text(conflict.other.agent) + " at " + symbolizer_.text(conflict.other.site) + " with nothing that orders the two",
                     {me.site, conflict.other.site});
}

void Machine::undefined(const char* kind, const char* what, const void* pc) {
  if (in_atomic_) return;
  const Site site = site_of(pc);
  if (running_ == nullptr) return failed_ ? void() : record(make_report(kind, std::string("the launcher does ") + what, {site}));
  fail(make_report(kind, thread_text(running_->block->number, running_->index) + " does " + what, {site}));
}

}  // namespace tileopt::emulator
