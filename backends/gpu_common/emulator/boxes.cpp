// Boxes of tensors that an engine copies into shared memory (TMA), and the barriers in memory that count their bytes. The engine is an agent of
// its own for every thread; who waits for the phase of a barrier knows what its boxes have brought.
#include <algorithm>
#include <cstring>

#include "backends/gpu_common/emulator/machine.h"

namespace tileopt::emulator {

namespace {
constexpr std::uint64_t kPieceBytes = 16, kPhaseBytes = 8, kAlignment = 128;
constexpr int kMostDims = 5, kMostSide = 256, kMostApart = 8;
constexpr std::uint32_t kBoxAgent = 5;   ///< after the thread itself, in units of a block's threads

/// What stands in the 128 bytes of a map.
struct StoredTensor {
  std::uint64_t mark;
  tileopt_emulator_tensor tensor;
};
constexpr std::uint64_t kMark = 0x70616d7470656c69;
static_assert(sizeof(StoredTensor) <= 128);

std::uint64_t swizzled(std::uint64_t offset, int swizzle) {
  if (swizzle == 0) return offset;
  const std::uint64_t pieces = static_cast<std::uint64_t>(swizzle) / kPieceBytes;
  return offset ^ (offset >> 7 & (pieces - 1)) << 4;
}
}  // namespace

/// As cuTensorMapEncodeTiled: what it refuses is refused here.
int Machine::map_tensor(void* map, const tileopt_emulator_tensor& tensor) {
  if (reinterpret_cast<std::uintptr_t>(tensor.first) % kPieceBytes != 0 || tensor.rank < 1 || tensor.rank > kMostDims) return 1;
  std::int64_t stride = tensor.element_bytes;
  for (int d = 0; d < tensor.rank; ++d) {
    if (tensor.extents[d] < 0 || tensor.extents[d] > INT32_MAX || tensor.box[d] < 1 || tensor.box[d] > kMostSide) return 1;
    // Along the fastest dimension the engine takes no notice of it; elsewhere the box is that of elements between which others are left out.
    if (tensor.apart[d] < 1 || tensor.apart[d] > kMostApart || (d == 0 && tensor.apart[d] != 1) || tensor.box[d] % tensor.apart[d] != 0) return 1;
    stride *= std::max<std::int64_t>(tensor.extents[d], 1);
    if (d + 1 < tensor.rank && tensor.extents[0] > 0 && stride % static_cast<std::int64_t>(kPieceBytes) != 0) return 1;
  }
  const std::int64_t row = static_cast<std::int64_t>(tensor.box[0]) * tensor.element_bytes;
  if (row % static_cast<std::int64_t>(kPieceBytes) != 0 || (tensor.swizzle != 0 && row > tensor.swizzle)) return 1;
  const StoredTensor stored = {kMark, tensor};
  std::memcpy(map, &stored, sizeof stored);
  return 0;
}

Phase& Machine::phase_at(const std::byte* address, Site site) {
  Block& block = *running_->block;
  const auto found = block.phases.find(address);
  const std::string who = thread_text(block.number, running_->index);
  if (found == block.phases.end()) fail(make_report("phase", who + " uses a barrier in memory that nobody has made ready", {site}));
  Phase& phase = found->second;
  if (phase.maker != running_->index && !running_->clock.knows(phase.maker, phase.made))
    fail(make_report("phase", who + " uses a barrier in memory that " + thread_text(block.number, phase.maker) + " makes ready, with nothing that orders the two", {site}));
  return phase;
}

void Machine::complete_if_done(Phase& phase) {
  if (phase.pending != 0 || phase.bytes != 0) return;
  join(phase.published, phase.arrived);
  phase.arrived.clear();
  phase.pending = phase.arrivals;
  phase.parity ^= 1;
  ++progress_;
  for (Thread* thread : phase.waiting) thread->state = Thread::State::ready;
  phase.waiting.clear();
}

void Machine::phase(tileopt_emulator_phase_event event, std::byte* address, int slots, unsigned value, const void* pc) {
  Thread& thread = *running_;
  Block& block = *thread.block;
  const Site site = site_of(pc);
  settle(thread);
  ++progress_;
  const std::string who = thread_text(block.number, thread.index);
  if (event == TILEOPT_PHASES_BEGIN) {
    const Region& shared = *block.shared_region;
    const std::uint64_t bytes = kPhaseBytes * static_cast<std::uint64_t>(slots);
    if (!shared.holds(address) || static_cast<std::uint64_t>(address - shared.begin) + bytes > shared.bytes || reinterpret_cast<std::uintptr_t>(address) % kPhaseBytes != 0)
      fail(make_report("phase", who + " makes barriers ready that do not lie in its block's shared memory, or at no multiple of " + std::to_string(kPhaseBytes), {site}));
    check(*block.shared_region, address, bytes, Use::write, {thread.agent, thread.tick, site, false}, "writes");
    for (int slot = 0; slot < slots; ++slot) {
      Phase made;
      made.arrivals = made.pending = value;
      made.maker = thread.index;
      made.made = thread.tick;
      block.phases[address + kPhaseBytes * static_cast<std::uint64_t>(slot)] = std::move(made);
    }
    return;
  }
  Phase& phase = phase_at(address, site);
  if (event == TILEOPT_PHASE_EXPECT) {
    if (phase.pending == 0) fail(make_report("phase", who + " arrives at a phase that has all its arrivals", {site}));
    join(phase.arrived, thread.clock.everything(thread.index, thread.tick));
    ++thread.tick;
    --phase.pending;
    phase.bytes += value;
    return complete_if_done(phase);
  }
  while (phase.parity == (value & 1)) {
    phase.waiting.push_back(&thread);
    wait("a phase of a barrier in memory (" + std::to_string(phase.pending) + " arrivals and " + std::to_string(phase.bytes) + " bytes are missing)", site);
  }
  thread.clock.join(phase.published);
}

void Machine::copy_box(const tileopt_emulator_box& request, const void* pc) {
  Thread& thread = *running_;
  Block& block = *thread.block;
  const Site site = site_of(pc);
  settle(thread);
  ++progress_;
  const std::string who = thread_text(block.number, thread.index);
  StoredTensor stored;
  std::memcpy(&stored, request.map, sizeof stored);
  const tileopt_emulator_tensor& tensor = stored.tensor;
  if (stored.mark != kMark || tensor.rank != request.rank) fail(make_report("box", who + " copies a box with a map that was not made, or has another number of dimensions", {site}));
  Region& shared = *block.shared_region;
  const auto* to = static_cast<const std::byte*>(request.shared);
  std::int64_t bytes = tensor.element_bytes;
  for (int d = 0; d < tensor.rank; ++d) bytes *= tensor.box[d] / tensor.apart[d];
  if (!shared.holds(to) || static_cast<std::uint64_t>(to - shared.begin) + static_cast<std::uint64_t>(bytes) > shared.bytes)
    fail(make_report("out of bounds", who + " copies a box that does not lie in its block's shared memory", {site}));
  const auto first = static_cast<std::uint64_t>(to - shared.begin);
  if (first % kAlignment != 0) fail(make_report("misaligned", who + " copies a box to no multiple of " + std::to_string(kAlignment) + " bytes", {site}));
  phase_at(static_cast<const std::byte*>(request.phase), site);

  Box box;
  box.phase = static_cast<const std::byte*>(request.phase);
  box.bytes = bytes;
  box.agent = thread.index + kBoxAgent * threads_per_block_;
  box.tick = ++thread.boxes;
  box.site = site;
  const Access step{thread.agent + kBoxAgent * threads_per_block_, box.tick, site, false};
  const unsigned element = static_cast<unsigned>(tensor.element_bytes), run = std::min<unsigned>(static_cast<unsigned>(kPieceBytes), static_cast<unsigned>(tensor.box[0]) * element);
  // Piece by piece: what lies side by side in the tensor is swapped in shared memory.
  int at[kMostDims] = {};
  for (std::uint64_t offset = 0; offset < static_cast<std::uint64_t>(bytes); offset += run) {
    bool inside = true;
    std::int64_t place = 0, stride = 1;
    for (int d = 0; d < tensor.rank; ++d) {
      const std::int64_t coordinate = std::int64_t(request.coordinates[d]) + at[d];
      if (d > 0) inside = inside && coordinate >= 0 && coordinate < tensor.extents[d];
      place += coordinate * stride;
      stride *= tensor.extents[d];
    }
    const std::int64_t start = std::int64_t(request.coordinates[0]) + at[0];
    for (unsigned done = 0; done < run;) {
      const std::int64_t coordinate = start + done / element;
      const bool real = inside && coordinate >= 0 && coordinate < tensor.extents[0];
      unsigned count = element;
      while (done + count < run && (inside && start + (done + count) / element >= 0 && start + (done + count) / element < tensor.extents[0]) == real) count += element;
      const auto* from = static_cast<const std::byte*>(tensor.first) + (place + done / element) * tensor.element_bytes;
      if (real) {
        Region& source = region_for(from, count, "copies", site);
        if (source.shadow != nullptr) check(source, from, count, Use::read, step, "reads");
      }
      box.rows.push_back({swizzled(first + offset + done, tensor.swizzle), real ? from : nullptr, count});
      done += count;
    }
    at[0] += static_cast<int>(run / element);
    for (int d = 0; d + 1 < tensor.rank && at[d] >= tensor.box[d]; ++d) {
      at[d] = 0;
      at[d + 1] += tensor.apart[d + 1];
    }
  }
  check(shared, to, static_cast<std::uint64_t>(bytes), Use::write, step, "writes");
  block.boxes.push_back(std::move(box));
  if (settings_.completion == Completion::early) complete_box(block, block.boxes.size() - 1);
}

/// Also called outside of threads: nothing fails here.
void Machine::complete_box(Block& block, std::size_t number) {
  const Box box = std::move(block.boxes[number]);
  block.boxes.erase(block.boxes.begin() + static_cast<std::ptrdiff_t>(number));
  for (const Box::Row& row : box.rows) {
    if (row.from == nullptr) std::memset(block.shared + row.to, 0, row.bytes);
    else std::memcpy(block.shared + row.to, row.from, row.bytes);
  }
  const auto found = block.phases.find(box.phase);
  if (found == block.phases.end()) return;
  auto brought = std::make_shared<Ticks>(agents_, 0);
  (*brought)[box.agent] = box.tick;
  join(found->second.arrived, TicksOfBlocks{{block.number, std::move(brought)}});
  found->second.bytes -= box.bytes;
  complete_if_done(found->second);
}

/// Boxes that come later than the end of their block would write what belongs to another.
void Machine::check_boxes(const Block& block) {
  if (block.boxes.empty() || failed_) return;
  record(make_report("box", "a box that " + thread_text(block.number, block.boxes.front().agent % threads_per_block_) + " copies is still on its way when its block ends", {block.boxes.front().site}));
}

}  // namespace tileopt::emulator
