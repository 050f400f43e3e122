#include "passes/await_atoms.h"

#include <algorithm>
#include <utility>

#include "passes/ast_children.h"
#include "support/text.h"

namespace tileopt {

namespace {
class AtomAwaiter {
 public:
  AtomAwaiter(const SynchronizedSchedule& synchronized, Ast& ast) : synchronized_(synchronized), ast_(ast) {}

  void run() {
    find_ordinary_writes(ast_.root);
    ast_.root = host(ast_.root);
  }

 private:
  const Pipe* pipe_of(const std::string& statement) const {
    const auto found = synchronized_.flights().find(statement);
    return found == synchronized_.flights().end() ? nullptr : &found->second;
  }

  struct Place {
    std::string ring;
    AstExprPtr position;
  };
  /// Arrays that atoms read, and that something writes which the engines see behind a fence alone.
  void find_ordinary_writes(const AstNodePtr& node) {
    if (node == nullptr) return;
    if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) {
      const AstStatement& statement = ast_.statements.at(leaf->statement);
      const bool own_engine = pipe_of(leaf->statement) != nullptr || !statement.signal.empty();
      for (const auto& [name, other] : ast_.statements)
        if (!own_engine && pipe_of(name) != nullptr && contains(other.read_arrays, statement.write_array)) fences_ = true;
    }
    for (const AstNodePtr& child : children_of(node)) find_ordinary_writes(child);
  }

  /// Every leaf of the subtree, and whether there is one that flies on a pipe.
  struct Census {
    std::size_t leaves = 0, flying = 0, syncs = 0;
    const Pipe* pipe = nullptr;
    bool one_pipe = true;
    bool all_fly() const { return leaves > 0 && leaves == flying && syncs == 0 && one_pipe; }
  };
  void count(const AstNodePtr& node, Census& census) const {
    if (node == nullptr) return;
    if (std::holds_alternative<AstSync>(node->node)) ++census.syncs;
    if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) {
      ++census.leaves;
      if (const Pipe* pipe = pipe_of(leaf->statement)) {
        ++census.flying;
        census.one_pipe = census.one_pipe && (census.pipe == nullptr || census.pipe->name == pipe->name);
        census.pipe = pipe;
      }
    }
    for (const AstNodePtr& child : children_of(node)) count(child, census);
  }
  Census census_of(const AstNodePtr& node) const {
    Census census;
    count(node, census);
    return census;
  }

  /// Neighbours that fly on one pipe are one group: opened, closed and awaited together.
  std::vector<AstNodePtr> grouped(const std::vector<AstNodePtr>& children) const {
    std::vector<AstNodePtr> result;
    const Pipe* last = nullptr;
    for (const AstNodePtr& child : children) {
      const Census census = census_of(child);
      const Pipe* pipe = census.all_fly() ? census.pipe : nullptr;
      if (pipe == nullptr || last == nullptr || pipe->name != last->name) result.push_back(child);
      else result.back() = make_node(AstBlock{{result.back(), child}});
      last = pipe;
    }
    return result;
  }

  AstNodePtr host(const AstNodePtr& node) {
    if (node == nullptr || std::holds_alternative<AstLeaf>(node->node)) return node;
    if (!holds_level(node, synchronized_.agent_levels().independent)) {
      if (census_of(node).flying == 0) return node;
      const AstNodePtr block = around(node, nullptr);
      return awaited_ == nullptr ? block : make_node(AstBlock{{block, std::exchange(awaited_, nullptr)}});
    }
    std::vector<AstNodePtr> children;
    for (const AstNodePtr& child : children_of(node)) children.push_back(host(child));
    return with_children(node, children);
  }

  /// `later`: the pipe of atoms that may run after the node, in the same block.
  AstNodePtr around(const AstNodePtr& node, const Pipe* later) {
    if (node == nullptr) return nullptr;
    if (const auto* sync = std::get_if<AstSync>(&node->node)) {
      const bool meets = ast_.synchronizations.at(sync->statement).kind == SyncKind::barrier;
      return meets && fences_ && later != nullptr && later->fenced ? make_node(AstBlock{{statement(SyncKind::fence, *later), node}}) : node;
    }
    const Census census = census_of(node);
    if (census.all_fly()) {
      std::vector<AstNodePtr> steps = {node, statement(SyncKind::commit, *census.pipe)};
      const Place place = place_in_ring(node);
      flying_ = groups_in_flight(place);
      awaited_ = statement(SyncKind::await, *census.pipe, flying_ == 0 ? place : Place{place.ring, minus(place.position, flying_)}, flying_);
      if (census.pipe->fenced) steps.insert(steps.begin(), statement(SyncKind::open, *census.pipe));
      return make_node(AstBlock{std::move(steps)});
    }
    const auto* loop = std::get_if<AstFor>(&node->node);
    const bool repeats = loop != nullptr;
    const bool in_order = std::holds_alternative<AstBlock>(node->node);
    std::vector<AstNodePtr> children = in_order ? grouped(children_of(node)) : children_of(node);
    const Pipe* after = repeats && census.pipe != nullptr ? census.pipe : later;
    for (std::size_t i = children.size(); i-- > 0;) {
      const Census inside = census_of(children[i]);
      children[i] = around(children[i], after);
      if (awaited_ != nullptr && !in_order) children[i] = make_node(AstBlock{{children[i], std::exchange(awaited_, nullptr)}});
      // What follows and only copies runs meanwhile; the first thing that does not finds the atoms done.
      if (awaited_ != nullptr) {
        if (flying_ > 0) landing_ = awaited_;
        std::size_t behind = i + 1;
        while (behind < children.size() && only_copies(children[behind])) ++behind;
        children.insert(children.begin() + static_cast<long>(behind), std::exchange(awaited_, nullptr));
      }
      if (in_order && inside.pipe != nullptr) after = inside.pipe;
    }
    const AstNodePtr result = with_children(node, children);
    if (!repeats || landing_ == nullptr) return result;
    // The last ones are awaited one after the other, behind the loop.
    std::vector<AstNodePtr> steps = {result};
    const auto& in_loop = std::get<AstSync>(std::exchange(landing_, nullptr)->node);
    for (long pending = std::exchange(flying_, 0); pending-- > 0;)
      steps.push_back(make_node(AstSync{in_loop.statement, minus(ast_operation(AstExpr::Kind::sub, {loop->upper, loop->lower}), pending), pending}));
    // Under a test of the loop's own: where it may be skipped, compilers copy its registers behind it, before they are awaited.
    return make_node(AstIf{ast_operation(AstExpr::Kind::le, {loop->lower, loop->upper}), make_node(AstBlock{std::move(steps)}), nullptr});
  }

  static AstExprPtr minus(const AstExprPtr& value, long amount) { return amount == 0 ? value : ast_operation(AstExpr::Kind::sub, {value, ast_integer(amount)}); }
  /// Slots of the ring that copies leave alone for as long.
  long groups_in_flight(const Place& place) const {
    for (const PipelinedSchedule::Pipeline& pipeline : synchronized_.pipelined().pipelines())
      if (!place.ring.empty() && pipeline.ring == place.ring) return pipeline.in_flight();
    return 0;
  }

  /// Copies, and what commits them: nothing that computes, meets or awaits.
  bool only_copies(const AstNodePtr& node) const {
    if (node == nullptr) return true;
    if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) return ast_.statements.at(leaf->statement).kind == "copy_in";
    if (const auto* sync = std::get_if<AstSync>(&node->node)) return ast_.synchronizations.at(sync->statement).kind == SyncKind::commit;
    const std::vector<AstNodePtr> children = children_of(node);
    return std::all_of(children.begin(), children.end(), [&](const AstNodePtr& child) { return only_copies(child); });
  }

  /// Of the slots that the atoms read: what awaits them stands at the same position.
  Place place_in_ring(const AstNodePtr& node) const {
    if (node == nullptr) return {};
    if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) {
      const AstStatement& statement = ast_.statements.at(leaf->statement);
      for (std::size_t r = 0; r < leaf->reads.size(); ++r)
        for (const Array& array : ast_.arrays)
          if (array.name == statement.read_arrays[r] && !array.ring.empty()) return {array.ring, leaf->reads[r].front()};
    }
    for (const AstNodePtr& child : children_of(node))
      if (Place place = place_in_ring(child); place.position != nullptr) return place;
    return {};
  }

  AstNodePtr statement(SyncKind kind, const Pipe& pipe, const Place& place = {}, long pending = 0) {
    const std::string name = sync_kind_name(kind) + "_" + pipe.name + (place.ring.empty() ? "" : "_" + place.ring);
    ast_.synchronizations.emplace(name, Synchronization{name, kind, pipe.name, place.ring});
    return make_node(AstSync{name, place.position, pending});
  }

  const SynchronizedSchedule& synchronized_;
  Ast& ast_;
  bool fences_ = false;     ///< somebody writes what atoms read in a way that they see behind a fence alone
  long flying_ = 0;         ///< groups that `awaited_` leaves in flight
  AstNodePtr landing_;      ///< the await inside a loop that leaves some in flight, until the loop ends
  AstNodePtr awaited_;  ///< of the part that has been opened and committed last, until its place is found
};
}  // namespace

void await_atoms(const SynchronizedSchedule& synchronized, Ast& ast) {
  if (!synchronized.flights().empty()) AtomAwaiter(synchronized, ast).run();
}

}  // namespace tileopt
