/// How the agents of a kernel meet, as data: rings of slots, barriers, and the statements that wait, signal and count. The Ast places
/// the statements (AstSync); `verify` proves that they suffice (docs/proofs.md, "slots", "waits", "races").
///
/// An *agent* is whatever runs statements one after the other: a CPU thread, a warp, a warpgroup, a role of those. Nothing here knows
/// of a particular machine: which levels are agents, which atoms are asynchronous and how they complete is in the machine file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/document.h"

namespace tileopt {

class Field;

/// `slots` buffers that are used in turn. A position is a number k >= 0 inside one run of the ring's scope (a tile); over all runs it
/// is  g = g0 + k, where the *base* g0 is kept by every role and advanced at the end of the run. Slot g % slots, phase g / slots % 2:
/// both are formed by the printer, from g alone.
struct Ring {
  std::string name;
  long slots = 1;
};

/// Who meets: nobody, the threads of a warp, a named set of threads (here: of one agent), all threads of the block; or whoever arrives
/// at, and whoever waits for, a phase of a barrier in memory.
enum class BarrierScope { none, warp, named, block, mbarrier };

/// A place to meet. An mbarrier has one barrier a slot of `ring`; its phase of position p is complete when `arrivals` arrivals at p were
/// made and, where bytes were announced for p, all of them have come. Waiting for a position below 0 returns at once.
struct Barrier {
  std::string name;
  BarrierScope scope = BarrierScope::block;
  std::string ring;     ///< mbarrier: the ring whose positions number its phases; else ""
  long arrivals = 1;    ///< mbarrier: that complete a phase; named, warp: threads that meet; block: 0
};

enum class SyncKind {
  wait,     ///< until the phase of a position of an mbarrier is complete
  expect,   ///< arrives, and announces bytes that asynchronous copies will bring
  arrive,   ///< arrives
  release,  ///< arrives: the slot of the position may be overwritten
  commit,   ///< closes a group of what this agent has issued to a pipe
  await,    ///< until all but the last `pending` groups of a pipe are done: wait_group<pending>
  barrier,  ///< all threads of the barrier's scope meet
  advance,  ///< the ring's base moves on by `position`, at the end of a run of its scope
  fence,    ///< what this agent has written to memory is there for what a pipe reads, once they have met (PTX: fence.proxy.async)
  open,     ///< what this agent has done to its registers is done before what it issues to a pipe next (PTX: wgmma.fence)
};

/// What is constant about a synchronisation statement; AstSync says where it stands and at which position.
struct Synchronization {
  std::string name;
  SyncKind kind = SyncKind::barrier;
  std::string target;     ///< barrier of wait, expect, arrive, release, barrier; pipe of commit, await; ring of advance
  std::string ring = "";  ///< the ring that `position` is on where the target has none (commit, await, barrier); "" = no position
  bool elected = false;   ///< one thread of the agent runs it, not all
  long bytes = 0;         ///< expect: announced for one position
};

std::string sync_kind_name(SyncKind kind);
std::optional<SyncKind> parse_sync_kind(const std::string& name);
std::string barrier_scope_name(BarrierScope scope);
std::optional<BarrierScope> parse_barrier_scope(const std::string& name);

/// Whether a statement of this kind has a barrier (a pipe, a ring) as its target.
bool targets_barrier(SyncKind kind);
bool targets_pipe(SyncKind kind);

Document write_ring(const Ring& ring);
Document write_barrier(const Barrier& barrier);
Document write_synchronization(const Synchronization& synchronization);
/// All three throw Errors(invalid_dump) with the path of the entry.
Ring read_ring(const Field& field);
Barrier read_barrier(const Field& field);
Synchronization read_synchronization(const Field& field);

}  // namespace tileopt
