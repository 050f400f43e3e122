/// Shadow of a piece of memory: who wrote and read each part of it last, and which bytes were ever written.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/gpu_common/emulator/clock.h"

namespace tileopt::emulator {

/// Offset of a return address in the loaded object; leads to the printed line.
using Site = std::uint32_t;

/// One access, as later ones are compared with it.
struct Access {
  Agent agent = 0;
  Tick tick = 0;      ///< 0: there was none
  Site site = 0;
  bool atomic = false;
};

/// Whoever accesses, and what it knows.
struct Viewpoint {
  const Clock* clock;
  std::uint32_t block, agents;   ///< its block, agents of every block
  Agent self;                    ///< the thread, also where one of its pipes accesses
  std::uint32_t fenced = 0;      ///< > 0: only what a fence of its agent stands behind counts; agents so far up in number say what that is
  bool after(const Access& earlier) const {
    if (fenced > 0) return fenced_after(earlier);
    if (earlier.agent == self) return true;
    const std::uint32_t index = earlier.agent - block * agents;
    if (index < agents) return clock->knows(index, earlier.tick);
    return clock->knows_of_block(earlier.agent / agents, earlier.agent % agents, earlier.tick);
  }
  bool fenced_after(const Access& earlier) const {
    const std::uint32_t index = earlier.agent - block * agents;
    // Engines behind fences see what each other have done; agents of other blocks have met this one otherwise.
    return index >= fenced / 3 * 2 || clock->knows(index + fenced, earlier.tick);
  }
};

enum class Use { read, write, update };   ///< update: an atomic operation

struct Conflict {
  enum class Kind { none, race, uninitialised };
  Kind kind = Kind::none;
  Access other;
  bool other_wrote = false;
  std::uint64_t offset = 0;   ///< first byte concerned
};

class Shadow {
 public:
  /// `written`: its bytes count as written. `constant`: nobody may write it, so that readers need not be remembered.
  Shadow(std::uint64_t bytes, bool written, bool constant);

  /// Compares [offset, offset + bytes) with what was before, and remembers the access. The first conflict is returned.
  Conflict access(std::uint64_t offset, std::uint64_t bytes, Use use, const Access& me, const Viewpoint& viewpoint);

  /// Everything so far happened before everything that follows: a new launch.
  void forget_accesses() { ++epoch_; }

  /// Bytes that all shadows of this process take. Bounded: @throws std::bad_alloc beyond `limit`.
  static std::uint64_t total_bytes();
  static constexpr std::uint64_t limit = std::uint64_t(3) << 30;

 private:
  struct Cell {
    Access write, read;
    std::uint32_t more = 0;     ///< further readers and atomic operations: index in lists_, 0: none
    bool written = false;
    bool updated = false;       ///< the list holds atomic operations
  };
  /// 256 bytes in cells of 1 << shift bytes. The cells shrink when an access covers only part of one.
  struct Page {
    std::uint64_t epoch = 0;
    unsigned shift = 4;
    std::vector<Cell> cells;
  };
  static constexpr std::uint64_t page_bytes = 256;

  Page& page(std::uint64_t number);
  void refine(Page& page, unsigned shift);
  void forget(Page& page);
  Conflict read(Cell& cell, const Access& me, const Viewpoint& viewpoint);
  Conflict update(Cell& cell, const Access& me, const Viewpoint& viewpoint);
  Conflict write(Cell& cell, const Access& me, const Viewpoint& viewpoint);
  void remember_reader(Cell& cell, const Access& me, const Viewpoint& viewpoint);
  std::vector<Access>& list(Cell& cell);
  void drop_list(Cell& cell);

  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<std::vector<Access>> lists_{1};
  std::vector<std::uint32_t> free_lists_;
  std::uint64_t epoch_ = 1;
  bool written_, constant_;
};

}  // namespace tileopt::emulator
