/// Hand-written rings: a product of two matrices whose tiles travel through slots. Fields plant faults.
#pragma once

#include "builder.h"

namespace tileopt::test {

inline Program ring_product(isl::ctx ctx) {
  ProgramWriter w(ctx, "gemm", {"M", "N", "K"}, "M >= 1 and N >= 1 and K >= 0");
  w.tensor("A", TensorRole::in, {"M", "K"});
  w.tensor("B", TensorRole::in, {"K", "N"});
  w.tensor("C", TensorRole::out, {"M", "N"});
  w.statement("C_init", {"i", "j"}, "0 <= i < M and 0 <= j < N", "C[i, j]", Combine::assign, {}, 3);
  w.statement("C", {"i", "j", "k"}, "0 <= i < M and 0 <= j < N and 0 <= k < K", "C[i, j]", Combine::sum, {"A[i, k]", "B[k, j]"},
              4);
  return w.build("i > j > (C_init ; C: k)");
}

inline const std::vector<AstStatement::BoxDigit> kTileOfA = {{"ii", 4}, {"kx", 2}};
inline const std::vector<AstStatement::BoxDigit> kTileOfB = {{"kx", 2}, {"jj", 4}};
inline const Steps kBoxSteps = {{1, 0}, {0, 1}};
inline const Steps kSlotSteps = {{0, 0}, {1, 0}, {0, 1}};

/// Tiles of A (4 x 2) and B (2 x 4) go to slots by `copy_atom`, the product of `rows` rows runs on `mma`.
inline std::vector<AstStatement> ring_statements(const std::string& copy_atom, const std::string& signal, long rows) {
  const std::vector<AstStatement::BoxDigit> tile = {{"ii", rows}, {"jj", 4}};
  AstStatement a = copy("copy_A", "copy_in", "A_slots", "A", kTileOfA, kSlotSteps, kBoxSteps, true);
  AstStatement b = copy("copy_B", "copy_in", "B_slots", "B", kTileOfB, kSlotSteps, kBoxSteps, true);
  for (AstStatement* s : {&a, &b}) {
    s->atom = copy_atom;
    s->signal = signal;
  }
  const AstStatement init = compute("C_init", "acc", {}, tile, {{1, 0}, {0, 1}}, kBoxSteps, {}, "vector");
  const AstStatement product = compute("C", "acc", {"A_slots", "B_slots"}, tile, {{1, 0}, {0, 1}, {0, 0}}, kBoxSteps,
                                       {{{0, 0}, {1, 0}, {0, 0}}, {{0, 0}, {0, 0}, {0, 1}}}, "mma");
  const AstStatement store = copy("store", "copy_out", "C", "acc", tile, kBoxSteps, kBoxSteps);
  return {a, b, init, product, store};
}

/// A producer role copies by bytes; consumers (`groups` agents of `threads`) multiply by groups, `in_flight` of them at a time.
struct RoleRing {
  long groups = 1;
  std::string engine = "bulk";
  long slots = 4, storage = 4, in_flight = 1, threads = 128;
  bool persistent_tiles = true;
  long expected_bytes = 64;
  bool expects = true, waits_empty = true, waits_full = true, awaits = true, drains = true, releases = true, meets = true;
  bool elected_release = true;
  bool release_early = false;  ///< a position is released when its products are issued, not when they are done
  std::string empty_position;  ///< default: kb - slots
  std::string full_shift;      ///< added to the position of wait_full
  long lax = 0;                ///< groups too many in flight
  long arrivals_empty = 1, arrivals_full = 1, meeting_threads = 128;
  std::string producer_advance = "floord(K + 1, 2)", consumer_advance = "floord(K + 1, 2)";
  bool stores_early = false;    ///< the accumulators are stored before the last await
  bool inits_late = false;      ///< the accumulators are cleared again after the last product
  bool full_wait_late = false;  ///< wait_full after the product
  bool copies_before_wait = false;
  bool expects_before_wait = false;
  std::string signal_shift;  ///< added to the phase that copy_B signals
  bool consumer_first = false;

  Ast ast() const {
    Ast ast = kernel(
        "ring",
        {slotted("A_slots", "A", {4, 2}), slotted("B_slots", "B", {2, 4}), promoted("acc", "C", "register", {4 / groups, 4})},
        ring_statements(engine, "full", 4 / groups), tiles());
    ast.rings = {{"ring", slots}};
    ast.barriers = {{"full", BarrierScope::mbarrier, "ring", arrivals_full},
                    {"empty", BarrierScope::mbarrier, "ring", arrivals_empty},
                    {"group", BarrierScope::named, "", meeting_threads}};
    const auto declare = [&](Synchronization s) { ast.synchronizations[s.name] = s; };
    declare({"wait_empty", SyncKind::wait, "empty"});
    declare({"expect", SyncKind::expect, "full", "", true, expected_bytes});
    declare({"wait_full", SyncKind::wait, "full"});
    declare({"commit", SyncKind::commit, "mma", "ring"});
    declare({"await", SyncKind::await, "mma", "ring"});
    declare({"meet", SyncKind::barrier, "group", "ring"});
    declare({"release", SyncKind::release, "empty", "", elected_release});
    declare({"advance", SyncKind::advance, "ring"});
    return ast;
  }

 private:
  Array slotted(const std::string& name, const std::string& tensor, std::vector<long> extents) const {
    Array array = promoted(name, tensor, "shared", std::move(extents));
    array.ring = "ring";
    array.slots = storage;
    return array;
  }

  static std::string n(long value) { return std::to_string(value); }

  AstNodePtr tiles() const {
    const AstRole producer{"producer", 1, produce()}, consumer{"consumer", threads, consume()};
    const AstNodePtr both = ring_scope({"ring"}, {"A_slots", "B_slots"},
                                       consumer_first ? roles({consumer, producer}) : roles({producer, consumer}));
    if (!persistent_tiles)
      return loop("ti", "0", "floord(M - 1, 4)", loop("tj", "0", "floord(N - 1, 4)", both, "grid"), "grid");
    return persistent("ti", "0", "floord(M - 1, 4)", persistent("tj", "0", "floord(N - 1, 4)", both));
  }

  AstNodePtr produce() const {
    const AstNodePtr a = signalling(
        leaf("copy_A", {}, {"kb", "0", "0"}, {{"4 * ti", "2 * kb"}}, {"min(4, M - 4 * ti)", "min(2, K - 2 * kb)"}), "kb");
    const AstNodePtr b =
        signalling(leaf("copy_B", {}, {"kb", "0", "0"}, {{"2 * kb", "4 * tj"}}, {"min(2, K - 2 * kb)", "min(4, N - 4 * tj)"}),
                   "kb" + signal_shift);
    std::vector<AstNodePtr> body;
    const AstNodePtr wait = sync("wait_empty", empty_position.empty() ? "kb - " + n(slots) : empty_position);
    if (expects && expects_before_wait) body.push_back(sync("expect", "kb"));
    if (waits_empty && !copies_before_wait) body.push_back(wait);
    if (expects && !expects_before_wait) body.push_back(sync("expect", "kb"));
    body.push_back(a);
    body.push_back(b);
    if (waits_empty && copies_before_wait) body.push_back(wait);
    std::vector<AstNodePtr> all{loop("kb", "0", "floord(K - 1, 2)", block(body))};
    if (!producer_advance.empty()) all.push_back(sync("advance", producer_advance));
    return block(all);
  }

  std::string first_row() const { return groups == 1 ? "0" : n(4 / groups) + " * w"; }
  std::string row() const { return "4 * ti + " + first_row(); }

  AstNodePtr product(const std::string& kb) const {
    return loop("kk", "0", "min(1, K - 1 - 2 * (" + kb + "))",
                leaf("C", {row(), "4 * tj", "2 * (" + kb + ") + kk"}, {"0", "0"}, {{kb, first_row(), "kk"}, {kb, "kk", "0"}}));
  }

  /// wait_full, product, commit at position kb; then what is retimed by `in_flight`.
  AstNodePtr step(const std::string& kb, bool retire) const {
    std::vector<AstNodePtr> body;
    const AstNodePtr wait = sync("wait_full", kb + full_shift);
    if (waits_full && !full_wait_late) body.push_back(wait);
    body.push_back(product(kb));
    if (waits_full && full_wait_late) body.push_back(wait);
    body.push_back(sync("commit", kb));
    if (release_early) append(body, {sync("meet", kb), sync("release", kb)});
    if (retire) append(body, retirement(kb + " - " + n(in_flight), in_flight + lax));
    return block(body);
  }

  std::vector<AstNodePtr> retirement(const std::string& position, long pending) const {
    std::vector<AstNodePtr> body;
    if (awaits) body.push_back(sync("await", position, pending));
    if (meets && !release_early) body.push_back(sync("meet", position));
    if (releases && !release_early) body.push_back(sync("release", position));
    return body;
  }
  static void append(std::vector<AstNodePtr>& to, const std::vector<AstNodePtr>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  AstNodePtr consume() const {
    const AstNodePtr init = leaf("C_init", {row(), "4 * tj"}, {"0", "0"}, {});
    const AstNodePtr store = leaf("store", {}, {row(), "4 * tj"}, {{"0", "0"}},
                                  {"min(" + n(4 / groups) + ", M - (" + row() + "))", "min(4, N - 4 * tj)"});
    std::vector<AstNodePtr> body{init};
    const std::string last = "floord(K - 1, 2)", first_steady = n(in_flight);
    body.push_back(loop("kb", "0", "min(" + n(in_flight - 1) + ", " + last + ")", step("kb", false)));
    body.push_back(loop("kb", first_steady, last, step("kb", true)));
    if (stores_early) body.push_back(store);
    // The last `in_flight` groups, oldest first.
    std::vector<AstNodePtr> drain;
    for (long d = in_flight; drains && d >= 1; --d)
      drain.push_back(branch("K >= " + n(2 * d - 1), block(retirement(last + " - " + n(d - 1), d - 1 + lax))));
    append(body, drain);
    if (inits_late) body.push_back(init);
    if (!stores_early) body.push_back(store);
    if (!consumer_advance.empty()) body.push_back(sync("advance", consumer_advance));
    const AstNodePtr one = allocate({"acc"}, block(body));
    return groups == 1 ? one : loop("w", "0", n(groups - 1), one, "warpgroup");
  }
};

/// The copies of one position are two arrivals; nobody announces bytes.
inline RoleRing tagged_ring() {
  RoleRing ring;
  ring.engine = "dma";
  ring.expects = false;
  ring.arrivals_full = 2;
  return ring;
}

/// One role of threads: each copies its part some positions ahead, by commit groups, and meets the others at a barrier of the
/// block.
struct OrderRing {
  std::string engine = "cp_async";         ///< "": copies are done when the thread goes on
  long slots = 3, storage = 3, ahead = 2;  ///< positions that are copied before they are needed
  bool meets = true, awaits = true, commits = true;
  bool meets_inside_threads = false;   ///< the barrier stands in the loop over threads
  bool meets_if_even = false;          ///< the barrier is left out at odd positions
  bool copies_before_meeting = false;  ///< the slot is filled before all have read it
  bool multiplies_before_meeting = false;
  bool elected_meeting = false;
  long lax = 0;
  std::string advance = "floord(K + 1, 2)";

  Ast ast() const {
    Ast ast = kernel("ring",
                     {slotted("A_slots", "A", {4, 2}), slotted("B_slots", "B", {2, 4}), promoted("acc", "C", "shared", {4, 4})},
                     statements(), tiles());
    ast.rings = {{"ring", slots}};
    ast.barriers = {{"all", BarrierScope::block, "", 0}};
    const auto declare = [&](Synchronization s) { ast.synchronizations[s.name] = s; };
    declare({"commit", SyncKind::commit, "cp_async", "ring"});
    declare({"await", SyncKind::await, "cp_async", "ring"});
    declare({"meet", SyncKind::barrier, "all", "ring", elected_meeting});
    declare({"advance", SyncKind::advance, "ring"});
    return ast;
  }

 private:
  static std::string n(long value) { return std::to_string(value); }
  Array slotted(const std::string& name, const std::string& tensor, std::vector<long> extents) const {
    Array array = promoted(name, tensor, "shared", std::move(extents));
    array.ring = "ring";
    array.slots = storage;
    return array;
  }

  /// Thread t has row t of A and of the product, and column t of B.
  std::vector<AstStatement> statements() const {
    const std::vector<AstStatement::BoxDigit> pair = {{"kx", 2}}, row = {{"jj", 4}};
    AstStatement a = copy("copy_A", "copy_in", "A_slots", "A", pair, {{0}, {0}, {1}}, {{0}, {1}}, true);
    AstStatement b = copy("copy_B", "copy_in", "B_slots", "B", pair, {{0}, {1}, {0}}, {{1}, {0}}, true);
    a.atom = b.atom = engine;
    return {a, b, compute("C_init", "acc", {}, row, {{0}, {1}}, {{0}, {1}}, {}, "vector"),
            compute("C", "acc", {"A_slots", "B_slots"}, row, {{0}, {1}, {0}}, {{0}, {1}}, {{{0}, {0}, {0}}, {{0}, {0}, {1}}},
                    "vector"),
            copy("store", "copy_out", "C", "acc", row, {{0}, {1}}, {{0}, {1}})};
  }

  static AstNodePtr threads(AstNodePtr body) { return loop("t", "0", "3", std::move(body), "thread"); }

  AstNodePtr copies(const std::string& p) const {
    return threads(block({leaf("copy_A", {}, {p, "t", "0"}, {{"4 * ti + t", "2 * (" + p + ")"}},
                               {"(4 * ti + t < M ? min(2, K - 2 * (" + p + ")) : 0)"}),
                          leaf("copy_B", {}, {p, "0", "t"}, {{"2 * (" + p + ")", "4 * tj + t"}},
                               {"(4 * tj + t < N ? min(2, K - 2 * (" + p + ")) : 0)"})}));
  }

  AstNodePtr tiles() const {
    const std::string last = "floord(K - 1, 2)";
    const AstNodePtr init = threads(leaf("C_init", {"4 * ti + t", "4 * tj"}, {"t", "0"}, {}));
    const AstNodePtr store = threads(
        branch("4 * ti + t <= M - 1", leaf("store", {}, {"4 * ti + t", "4 * tj"}, {{"t", "0"}}, {"min(4, N - 4 * tj)"})));
    const AstNodePtr product =
        threads(loop("kk", "0", "min(1, K - 1 - 2 * kb)",
                     leaf("C", {"4 * ti + t", "4 * tj", "2 * kb + kk"}, {"t", "0"}, {{"kb", "t", "kk"}, {"kb", "kk", "0"}})));
    std::vector<AstNodePtr> start{branch("2 * kb <= K - 1", copies("kb"))};
    if (commits) start.push_back(sync("commit", "kb"));
    std::vector<AstNodePtr> body;
    const AstNodePtr more = branch("2 * (kb + " + n(ahead) + ") <= K - 1", copies("kb + " + n(ahead)));
    AstNodePtr meeting = sync("meet", "kb");
    if (meets_inside_threads) meeting = loop("t", "0", "3", branch("t >= 1", meeting), "thread");
    if (meets_if_even) meeting = branch("mod(kb, 2) == 0", meeting);
    if (awaits) body.push_back(sync("await", "kb", ahead - 1 + lax));
    if (copies_before_meeting) body.push_back(more);
    if (multiplies_before_meeting) body.push_back(product);
    if (meets) body.push_back(meeting);
    if (!copies_before_meeting) body.push_back(more);
    if (commits) body.push_back(sync("commit", "kb + " + n(ahead)));
    if (!multiplies_before_meeting) body.push_back(product);
    std::vector<AstNodePtr> all{init, loop("kb", "0", n(ahead - 1), block(start)), loop("kb", "0", last, block(body)), store};
    if (!advance.empty()) all.push_back(sync("advance", advance));
    return persistent(
        "ti", "0", "floord(M - 1, 4)",
        persistent("tj", "0", "floord(N - 1, 4)", ring_scope({"ring"}, {"A_slots", "B_slots", "acc"}, block(all))));
  }
};

}  // namespace tileopt::test
