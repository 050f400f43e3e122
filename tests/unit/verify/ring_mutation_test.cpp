/// Mutation of rings: operators put one fault each at every place of right hand-written rings. The obligations that may refute
/// a mutant are tabulated beforehand; a simulation of events says whether it is a fault at all.
#include <functional>
#include <iostream>
#include <set>

#include "event_simulator.h"
#include "ring_kernels.h"
#include "verify/obligations.h"

namespace tileopt::test {
namespace {

struct Mutant {
  std::string change;
  Ast ast;
};

struct RingOperator {
  std::string name, what;
  std::set<std::string> expected;  // obligations, any of which may refute a mutant
  std::function<std::vector<Mutant>(const Ast&)> mutants;
};

// ---- edits

using Edit = std::function<AstNodePtr(const AstBlock&, std::size_t child)>;  // null: nothing to change here

/// Calls `edit` on child number `wanted` of all blocks (in print order); the changed tree, or null where nothing changed.
class ChildEditor {
 public:
  ChildEditor(std::size_t wanted, const Edit& edit) : left_(wanted), edit_(edit) {}
  AstNodePtr run(const AstNodePtr& root) {
    const AstNodePtr changed = visit(root);
    return done_ ? changed : nullptr;
  }
  bool past_the_end() const { return !reached_; }

 private:
  AstNodePtr visit(const AstNodePtr& node) {
    if (node == nullptr) return node;
    if (const auto* n = std::get_if<AstBlock>(&node->node)) return block(*n);
    if (const auto* n = std::get_if<AstFor>(&node->node)) return with(*n, [&](AstFor& c) { c.body = visit(c.body); });
    if (const auto* n = std::get_if<AstAllocate>(&node->node)) return with(*n, [&](AstAllocate& c) { c.body = visit(c.body); });
    if (const auto* n = std::get_if<AstIf>(&node->node)) return with(*n, [&](AstIf& c) { c.then_body = visit(c.then_body); });
    if (const auto* n = std::get_if<AstRoles>(&node->node))
      return with(*n, [&](AstRoles& c) {
        for (AstRole& role : c.roles) role.body = visit(role.body);
      });
    return node;
  }
  template <class Node, class Change>
  static AstNodePtr with(Node copy, Change&& change) {
    change(copy);
    return make_node(std::move(copy));
  }
  AstNodePtr block(const AstBlock& source) {
    AstBlock copy;
    for (std::size_t i = 0; i < source.children.size(); ++i) {
      if (!reached_ && left_-- == 0) {
        reached_ = true;
        if (const AstNodePtr changed = edit_(source, i)) {
          done_ = true;
          return changed;
        }
      }
      copy.children.push_back(visit(source.children[i]));
    }
    return make_node(std::move(copy));
  }

  std::size_t left_;
  const Edit& edit_;
  bool reached_ = false, done_ = false;
};

const AstSync* sync_of(const AstNodePtr& node) { return std::get_if<AstSync>(&node->node); }

std::vector<Mutant> at_every_child(const Ast& ast, const std::string& change, const Edit& edit) {
  std::vector<Mutant> mutants;
  for (std::size_t i = 0;; ++i) {
    ChildEditor editor(i, edit);
    const AstNodePtr root = editor.run(ast.root);
    if (editor.past_the_end()) return mutants;
    if (root == nullptr) continue;
    Ast changed = ast;
    changed.root = root;
    mutants.push_back({change + " (place " + std::to_string(i) + ")", changed});
  }
}

AstNodePtr without(const AstBlock& block, std::size_t child) {
  AstBlock copy = block;
  copy.children.erase(copy.children.begin() + static_cast<long>(child));
  return make_node(std::move(copy));
}
AstNodePtr replaced(const AstBlock& block, std::size_t child, AstSync sync) {
  AstBlock copy = block;
  copy.children[child] = make_node(std::move(sync));
  return make_node(std::move(copy));
}

std::function<std::vector<Mutant>(const Ast&)> dropped(const std::set<SyncKind>& kinds) {
  return [=](const Ast& ast) {
    return at_every_child(ast, "dropped", [&](const AstBlock& block, std::size_t i) -> AstNodePtr {
      const AstSync* sync = sync_of(block.children[i]);
      return sync != nullptr && kinds.count(ast.synchronizations.at(sync->statement).kind) != 0 ? without(block, i) : nullptr;
    });
  };
}

std::vector<Mutant> moved(const Ast& ast) {
  return at_every_child(ast, "after its neighbour", [&](const AstBlock& block, std::size_t i) -> AstNodePtr {
    if (i + 1 >= block.children.size() || sync_of(block.children[i]) == nullptr) return nullptr;
    AstBlock copy = block;
    std::swap(copy.children[i], copy.children[i + 1]);
    return make_node(std::move(copy));
  });
}

std::vector<Mutant> shifted(const Ast& ast) {
  std::vector<Mutant> all;
  for (const long by : {-1L, 1L})
    for (Mutant& m : at_every_child(
             ast, "position shifted by " + std::to_string(by), [&](const AstBlock&block, std::size_t i) -> AstNodePtr {
               const AstSync* sync = sync_of(block.children[i]);
               if (sync == nullptr || sync->position == nullptr) return nullptr;
               const Synchronization& declared = ast.synchronizations.at(sync->statement);
               const Barrier* barrier = ast.find_barrier(declared.target);
               // Only the positions of phases are in the text; those of other statements say what is claimed of them.
               if (declared.kind != SyncKind::advance && (barrier == nullptr || barrier->scope != BarrierScope::mbarrier))
                 return nullptr;
               AstSync copy = *sync;
               copy.position = ast_operation(AstExpr::Kind::add, {sync->position, ast_integer(by)});
               return replaced(block, i, copy);
             }))
      all.push_back(std::move(m));
  return all;
}

std::vector<Mutant> lax(const Ast& ast) {
  return at_every_child(ast, "one group more in flight", [&](const AstBlock& block, std::size_t i) -> AstNodePtr {
    const AstSync* sync = sync_of(block.children[i]);
    if (sync == nullptr || ast.synchronizations.at(sync->statement).kind != SyncKind::await) return nullptr;
    AstSync copy = *sync;
    ++copy.pending;
    return replaced(block, i, copy);
  });
}

std::vector<Mutant> shrunk_storage(const Ast& ast) {
  std::vector<Mutant> mutants;
  for (std::size_t a = 0; a < ast.arrays.size(); ++a) {
    if (ast.arrays[a].ring.empty()) continue;
    Mutant mutant{ast.arrays[a].name + " has one slot less", ast};
    --mutant.ast.arrays[a].slots;
    mutants.push_back(mutant);
  }
  return mutants;
}

std::vector<Mutant> shrunk_ring(const Ast& ast) {
  Mutant mutant{"one slot less", ast};
  --mutant.ast.rings[0].slots;
  for (Array& array : mutant.ast.arrays)
    if (!array.ring.empty()) --array.slots;
  return {mutant};
}

std::vector<Mutant> miscounted(const Ast& ast) {
  std::vector<Mutant> mutants;
  for (std::size_t b = 0; b < ast.barriers.size(); ++b)
    for (const long by : {-1L, 1L}) {
      Mutant mutant{ast.barriers[b].name + " counts " + std::to_string(ast.barriers[b].arrivals + by), ast};
      mutant.ast.barriers[b].arrivals += by;
      if (mutant.ast.barriers[b].arrivals >= 1 && ast.barriers[b].scope != BarrierScope::block) mutants.push_back(mutant);
    }
  return mutants;
}

std::vector<Mutant> other_bytes(const Ast& ast) {
  std::vector<Mutant> mutants;
  for (const auto& [name, declared] : ast.synchronizations)
    for (const long by : {-16L, 16L}) {
      if (declared.kind != SyncKind::expect) continue;
      Mutant mutant{name + " announces " + std::to_string(declared.bytes + by), ast};
      mutant.ast.synchronizations[name].bytes += by;
      mutants.push_back(mutant);
    }
  return mutants;
}

std::vector<Mutant> other_threads(const Ast& ast) {
  std::vector<Mutant> mutants;
  for (const auto& [name, declared] : ast.synchronizations) {
    if (declared.kind == SyncKind::advance || declared.kind == SyncKind::expect) continue;
    Mutant mutant{name + (declared.elected ? " by all threads" : " by one thread"), ast};
    mutant.ast.synchronizations[name].elected = !declared.elected;
    mutants.push_back(mutant);
  }
  return mutants;
}

const std::vector<RingOperator> kOperators = {
    {"drop-wait", "a wait for a phase is forgotten", {"races", "slots", "waits"}, dropped({SyncKind::wait})},
    {"drop-arrival", "a phase is not arrived at", {"waits"}, dropped({SyncKind::expect, SyncKind::release})},
    {"drop-commit", "a group is not closed", {"races", "slots", "waits"}, dropped({SyncKind::commit})},
    {"drop-await", "a group is not waited for", {"races", "slots"}, dropped({SyncKind::await})},
    {"drop-barrier", "threads do not meet", {"races", "slots", "waits"}, dropped({SyncKind::barrier})},
    {"drop-advance", "a base stays", {"slots"}, dropped({SyncKind::advance})},
    {"move-synchronisation", "a statement changes places with the next one", {"races", "slots", "waits"}, moved},
    {"shift-position", "one position too early or too late", {"races", "slots", "waits"}, shifted},
    {"lax-await", "one group too many in flight", {"waits"}, lax},
    {"shrink-storage", "an array has a slot less than the ring", {"slots"}, shrunk_storage},
    {"shrink-ring", "all have a slot less, but waits count the old ones", {"races", "slots", "waits"}, shrunk_ring},
    {"miscount-arrivals", "a barrier counts another number of threads", {"waits"}, miscounted},
    {"expect-bytes", "other bytes are announced than come", {"waits"}, other_bytes},
    {"elect-threads", "one thread for all, or all for one", {"races", "slots", "waits"}, other_threads},
};

class RingMutationTest : public ::testing::Test {
 protected:
  std::optional<std::string> simulate(const Ast& ast) {
    for (const long positions : {1L, 3L, 7L})
      for (const long tiles : {1L, 3L})
        for (const Schedule schedule : {Schedule::random, Schedule::engines_first, Schedule::engines_last,
                                        Schedule::first_thread_first, Schedule::last_thread_first}) {
          const auto fault = simulate_events(ast, asynchronous_machine(), {{"M", 4 * tiles}, {"N", 4}, {"K", 2 * positions}},
                                             schedule, random_);
          if (fault) return fault->kind + ": " + fault->text;
        }
    return {};
  }

  void judge(const RingOperator& op, const std::string& subject, const Mutant& mutant) {
    const Certificate certificate = check(ring_product(ctx_), {mutant.ast}, asynchronous_machine());
    const std::optional<std::string> fault = simulate(mutant.ast);
    std::set<std::string> refuting;
    std::string reasons;
    for (const Obligation& o : certificate.obligations) {
      if (o.verdict != Verdict::refuted) continue;
      refuting.insert(o.name);
      reasons += "\n  " + o.name + ": " + o.reason;
    }
    const std::string text = op.name + " of " + subject + ": " + mutant.change;
    EXPECT_FALSE(certificate.proved() && fault) << "HOLE: " << text << ": " << *fault;
    bool expected = false;
    for (const std::string& name : op.expected) expected = expected || refuting.count(name) != 0;
    EXPECT_TRUE(!fault || expected) << "UNEXPECTED: " << text << ": " << fault.value_or("") << reasons;
    auto& counts = judged_[op.name];
    ++counts[certificate.proved()     ? "equivalent"
             : !certificate.refuted() ? "not attempted"
             : fault                  ? "refuted"
                                      : "conservative"];
    if (!certificate.proved() && !fault) std::cout << "  conservative: " << text << reasons << std::endl;
  }

  void run(const std::string& subject, const Ast& ast) {
    ASSERT_FALSE(simulate(ast).has_value());
    const bool all = std::getenv("TILEOPT_RINGS") != nullptr;
    for (const RingOperator& op : kOperators) {
      const std::vector<Mutant> mutants = op.mutants(ast);
      for (std::size_t i = 0; i < mutants.size(); ++i)
        if (all || i == (op.name.size() * 7) % mutants.size()) judge(op, subject, mutants[i]);
    }
    for (const auto& [name, counts] : judged_) {
      std::cout << "  " << name << ":";
      for (const auto& [judgement, count] : counts) std::cout << " " << count << " " << judgement;
      std::cout << std::endl;
    }
  }

  poly::Context context_;
  isl::ctx ctx_ = context_.get();
  std::mt19937_64 random_{7};
  std::map<std::string, std::map<std::string, int>> judged_;
};

TEST_F(RingMutationTest, Roles) {
  RoleRing ring;
  ring.slots = ring.storage = 3;
  ring.threads = ring.meeting_threads = 4;
  run("roles", ring.ast());
  EXPECT_EQ(judged_.size(), kOperators.size());
}

TEST_F(RingMutationTest, Threads) {
  run("threads", OrderRing{}.ast());
  EXPECT_GE(judged_.size(), 9u);
}

/// What the printer formed from positions is compared with them.
TEST_F(RingMutationTest, Print) {
  const RoleRing ring;
  const Program program = ring_product(ctx_);
  const Ast ast = ring.ast();
  const PrintFacts right = faithful_facts(program, ast);
  const auto at = [&](const std::string& statement) {
    for (std::size_t i = 0; i < right.syncs.size(); ++i)
      if (right.syncs[i].statement == statement) return i;
    return right.syncs.size();
  };
  const std::vector<Ast> kernels{ast};
  const Machine machine = asynchronous_machine();
  const proof::Execution execution = proof::read_execution(program, kernels, machine);
  const auto check_changed = [&](const std::function<void(PrintFacts&)>& change) {
    std::vector<PrintFacts> facts{right};
    change(facts[0]);
    proof::LastWriters writers(execution);
    proof::Report report(ctx_, proof::Limits{4'000'000, std::chrono::seconds(10), std::chrono::seconds(60)});
    Certificate certificate;
    proof::Checker checker{execution, machine, facts, writers, report, certificate.numerics};
    proof::check_text(checker);
    certificate.obligations = report.take();
    return certificate;
  };
  const auto refuted = [&](const std::string& reason, const std::function<void(PrintFacts&)>& change) {
    expect_refuted(check_changed(change), "text", reason);
  };
  const auto proved = [&](const std::function<void(PrintFacts&)>& change) { expect_proved(check_changed(change)); };
  // Another way to write the phase before: the parity of this turn, inverted.
  proved([&](PrintFacts& f) { f.syncs[at("wait_empty")].phase = "1 - mod(floord(g0 + kb, 4), 2)"; });
  proved([&](PrintFacts& f) { f.syncs[at("wait_empty")].slot = "mod(g0 + kb, 4)"; });
  refuted("the phase of wait_empty", [&](PrintFacts& f) { f.syncs[at("wait_empty")].phase = "mod(floord(g0 + kb, 4), 2)"; });
  refuted("the phase of wait_full", [&](PrintFacts& f) { f.syncs[at("wait_full")].phase = "1 - mod(floord(g0 + kb, 4), 2)"; });
  refuted("the phase of wait_full", [&](PrintFacts& f) { f.syncs[at("wait_full")].phase = "mod(floord(kb, 4), 2)"; });
  refuted("the slot of wait_full", [&](PrintFacts& f) { f.syncs[at("wait_full")].slot = "mod(g0 + kb, 3)"; });
  refuted("the slot of release", [&](PrintFacts& f) { f.syncs[at("release")].slot = "mod(g0 + kb, 4)"; });
  refuted("the bytes of expect", [&](PrintFacts& f) { f.syncs[at("expect")].bytes = 48; });
  refuted("the groups in flight of await", [&](PrintFacts& f) { f.syncs[at("await")].pending = 2; });
  refuted("who runs release", [&](PrintFacts& f) { f.syncs[at("release")].elected = false; });
  refuted("the amount of advance", [&](PrintFacts& f) { f.syncs[at("advance")].amount = "floord(K, 2)"; });
  refuted("a synchronisation was printed as `nothing`", [&](PrintFacts& f) { f.syncs.pop_back(); });
  refuted("a synchronisation was printed as", [&](PrintFacts& f) { std::swap(f.syncs[0], f.syncs[1]); });
  refuted("the signal of copy_A", [&](PrintFacts& f) { f.leaves[0].signal_slot = "mod(kb, 4)"; });
  refuted("the slots of A_slots", [&](PrintFacts& f) { f.buffers[0].slots = 3; });
  refuted("the storage of A_slots", [&](PrintFacts& f) { f.buffers[0].bytes /= 2; });
  refuted("loop ti was printed as `one iteration a block`", [&](PrintFacts& f) { f.loops[0].persistent = false; });
}

}  // namespace
}  // namespace tileopt::test
