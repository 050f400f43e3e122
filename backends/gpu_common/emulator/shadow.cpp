#include "backends/gpu_common/emulator/shadow.h"

#include <algorithm>
#include <bit>
#include <new>
#include <tuple>

namespace tileopt::emulator {

namespace {
std::uint64_t shadow_bytes = 0;

void charge(std::uint64_t bytes) {
  shadow_bytes += bytes;
  if (shadow_bytes > Shadow::limit) throw std::bad_alloc();
}

/// Greatest cell, as a power of two up to 16 bytes, that both ends of an access are multiples of.
unsigned finest(std::uint64_t offset, std::uint64_t end) { return std::min(4u, static_cast<unsigned>(std::countr_zero(offset | end | 16))); }

Conflict race(const Access& other, bool other_wrote) { return {Conflict::Kind::race, other, other_wrote, 0}; }
}  // namespace

std::uint64_t Shadow::total_bytes() { return shadow_bytes; }

Shadow::Shadow(std::uint64_t bytes, bool written, bool constant)
    : pages_((bytes + page_bytes - 1) / page_bytes), written_(written), constant_(constant) {}

Shadow::Page& Shadow::page(std::uint64_t number) {
  std::unique_ptr<Page>& slot = pages_[number];
  if (slot == nullptr) {
    slot = std::make_unique<Page>();
    slot->epoch = epoch_;
    slot->cells.resize(page_bytes >> slot->shift);
    for (Cell& cell : slot->cells) cell.written = written_;
    charge(sizeof(Page) + slot->cells.size() * sizeof(Cell));
  }
  if (slot->epoch != epoch_) forget(*slot);
  return *slot;
}

void Shadow::forget(Page& page) {
  page.epoch = epoch_;
  for (Cell& cell : page.cells) {
    drop_list(cell);
    cell.write = cell.read = {};
  }
}

void Shadow::refine(Page& page, unsigned shift) {
  const unsigned parts = 1u << (page.shift - shift);
  std::vector<Cell> cells;
  cells.reserve(page.cells.size() * parts);
  for (const Cell& cell : page.cells) {
    for (unsigned part = 0; part < parts; ++part) {
      cells.push_back(cell);
      if (part == 0 || cell.more == 0) continue;
      cells.back().more = 0;
      const std::vector<Access> copy = lists_[cell.more];
      list(cells.back()) = copy;
    }
  }
  charge((cells.size() - page.cells.size()) * sizeof(Cell));
  page.cells = std::move(cells);
  page.shift = shift;
}

std::vector<Access>& Shadow::list(Cell& cell) {
  if (cell.more != 0) return lists_[cell.more];
  if (free_lists_.empty()) {
    free_lists_.push_back(static_cast<std::uint32_t>(lists_.size()));
    lists_.emplace_back();
    charge(64);
  }
  cell.more = free_lists_.back();
  free_lists_.pop_back();
  return lists_[cell.more];
}

void Shadow::drop_list(Cell& cell) {
  if (cell.more == 0) return;
  lists_[cell.more].clear();
  free_lists_.push_back(cell.more);
  cell.more = 0;
  cell.updated = false;
}

Conflict Shadow::access(std::uint64_t offset, std::uint64_t bytes, Use use, const Access& me, const Viewpoint& viewpoint) {
  const std::uint64_t end = offset + bytes;
  Conflict first_conflict;
  while (offset < end) {
    Page& here = page(offset / page_bytes);
    const std::uint64_t first = offset / page_bytes * page_bytes, stop = std::min(end, first + page_bytes);
    const unsigned shift = finest(offset - first, stop - first);
    if (shift < here.shift) refine(here, shift);
    for (; offset < stop; offset += std::uint64_t(1) << here.shift) {
      Cell& cell = here.cells[(offset - first) >> here.shift];
      Conflict conflict = use == Use::read ? read(cell, me, viewpoint) : use == Use::write ? write(cell, me, viewpoint) : update(cell, me, viewpoint);
      if (conflict.kind == Conflict::Kind::none || first_conflict.kind != Conflict::Kind::none) continue;
      first_conflict = conflict;
      first_conflict.offset = offset;
    }
  }
  return first_conflict;
}

/// A read before any write is remembered too: the write that should have come first may follow.
Conflict Shadow::read(Cell& cell, const Access& me, const Viewpoint& viewpoint) {
  if (!cell.written) {
    remember_reader(cell, me, viewpoint);
    return {Conflict::Kind::uninitialised, {}, false, 0};
  }
  if (cell.write.tick != 0 && !viewpoint.after(cell.write)) return race(cell.write, true);
  if (cell.updated)
    for (const Access& other : lists_[cell.more])
      if (other.atomic && !viewpoint.after(other)) return race(other, true);
  if (!constant_) remember_reader(cell, me, viewpoint);
  return {};
}

/// Readers that happened before this one need not be remembered: who comes after this one comes after them. The list may hold a reader
/// twice; it is sifted where it grows.
void Shadow::remember_reader(Cell& cell, const Access& me, const Viewpoint& viewpoint) {
  if (cell.read.tick == 0 || cell.read.agent == me.agent) {
    cell.read = me;
    return;
  }
  const auto surpassed = [&](const Access& other) { return !other.atomic && viewpoint.after(other); };
  if (viewpoint.after(cell.read)) {
    cell.read = me;
    if (cell.more != 0) std::erase_if(lists_[cell.more], surpassed);
    return;
  }
  std::vector<Access>& others = list(cell);
  if (!others.empty() && !others.back().atomic && others.back().agent == me.agent) {
    others.back() = me;
    return;
  }
  if (others.size() >= 32 && std::has_single_bit(others.size())) {
    std::erase_if(others, surpassed);
    std::sort(others.begin(), others.end(), [](const Access& a, const Access& b) {
      return std::tuple(a.atomic, a.agent, b.tick) < std::tuple(b.atomic, b.agent, a.tick);
    });
    others.erase(std::unique(others.begin(), others.end(), [](const Access& a, const Access& b) { return a.atomic == b.atomic && a.agent == b.agent; }), others.end());
  }
  if (others.size() == others.capacity()) charge(std::max<std::size_t>(others.size(), 1) * sizeof(Access));
  others.push_back(me);
}

/// Atomic operations do not race with each other. They stay in the list until a write that comes after all of them.
Conflict Shadow::update(Cell& cell, const Access& me, const Viewpoint& viewpoint) {
  if (cell.write.tick != 0 && !viewpoint.after(cell.write)) return race(cell.write, true);
  if (cell.read.tick != 0 && !viewpoint.after(cell.read)) return race(cell.read, false);
  std::vector<Access>& others = list(cell);
  cell.updated = true;
  Access* mine = nullptr;
  for (Access& other : others) {
    if (!other.atomic && !viewpoint.after(other)) return race(other, false);
    if (other.atomic && other.agent == me.agent) mine = &other;
  }
  if (mine != nullptr) *mine = me;
  else others.push_back(me);
  if (!cell.written) return {Conflict::Kind::uninitialised, {}, false, 0};
  return {};
}

/// The access is remembered also where it conflicts: whether that does harm is for the caller to find out.
Conflict Shadow::write(Cell& cell, const Access& me, const Viewpoint& viewpoint) {
  Conflict conflict;
  if (cell.write.tick != 0 && !viewpoint.after(cell.write)) conflict = race(cell.write, true);
  else if (cell.read.tick != 0 && !viewpoint.after(cell.read)) conflict = race(cell.read, false);
  else if (cell.more != 0)
    for (const Access& other : lists_[cell.more])
      if (!viewpoint.after(other)) conflict = race(other, other.atomic);
  cell.write = me;
  cell.read = {};
  drop_list(cell);
  cell.written = true;
  return conflict;
}

}  // namespace tileopt::emulator
