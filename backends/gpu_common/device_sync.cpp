/// Where agents meet, wait and fence, and what engines do beside them: barriers, groups, phases, products of several threads, copies of boxes.
#include <algorithm>
#include <functional>

#include "backends/c_common/refusal.h"
#include "backends/gpu_common/collective_leaf.h"
#include "backends/gpu_common/device_printer.h"
#include "support/text.h"

namespace tileopt {

namespace {
constexpr long kPhaseBytes = 8;  ///< of a barrier in memory
}  // namespace

void DevicePrinter::print_sync(const AstSync& sync) {
  take_braces();
  if (!launch_) refuse("ast", sync.statement, "a barrier, or a wait, stands outside of blocks");
  // check_ast has refused all other kinds.
  const Synchronization& declared = ast_.synchronizations.at(sync.statement);
  const SyncKind kind = declared.kind;
  PrintFacts::Sync fact;
  fact.statement = sync.statement;
  if (kind == SyncKind::wait || kind == SyncKind::expect) {
    const long slots = ast_.find_ring(ast_.find_barrier(declared.target)->ring)->slots;
    helpers_.request("tileopt_phases");
    if (kind == SyncKind::wait) out_.line("tileopt_phase_wait(" + phase_c(declared.target, sync.position) + ", (unsigned)(" + c_bound(sync.position, 6) + ") / " + std::to_string(slots) + "u % 2u);");
    else out_.line("tileopt_phase_expect(" + phase_c(declared.target, sync.position) + ", " + std::to_string(declared.bytes) + ");");
    fact.slot = ast_expr_text(slot_of_position(sync.position, slots));
    if (kind == SyncKind::wait) fact.phase = ast_expr_text(phase_of_position(sync.position, slots));
    fact.bytes = declared.bytes;
    if (muted_ == 0) facts_.syncs.push_back(fact);
    return;
  }
  const bool matrices = declared.target == kMatrixPipe;
  helpers_.request(kind == SyncKind::barrier ? "tileopt_block_barrier" : matrices ? "tileopt_wgmma_groups" : "tileopt_async_groups");
  // Products in flight still fill them: they were held before the loop.
  if (kind == SyncKind::open && !leaves_products_) hold_registers();
  const std::string pipe = matrices ? "tileopt_wgmma_" : "tileopt_async_";
  if (kind == SyncKind::barrier) out_.line("tileopt_block_barrier();");
  else if (kind == SyncKind::fence) out_.line(pipe + "memory_fence();");
  else if (kind == SyncKind::await) out_.line(pipe + "wait(" + std::to_string(sync.pending) + ");");
  else out_.line(pipe + sync_kind_name(kind) + "();");
  // What is in flight still fills them.
  if (kind == SyncKind::await && matrices && sync.pending == 0) hold_registers();
  fact.pending = sync.pending;
  if (muted_ == 0) facts_.syncs.push_back(fact);
}

std::string DevicePrinter::phase_c(const std::string& barrier, const AstExprPtr& position) {
  const long slots = ast_.find_ring(ast_.find_barrier(barrier)->ring)->slots;
  const auto found = phases_.find(barrier);
  if (found == phases_.end()) refuse("ast", barrier, "barrier " + barrier + " is used outside of its ring's scope");
  return found->second + " + (unsigned)(" + c_bound(position, 6) + ") % " + std::to_string(slots) + "u";
}

/// One thread makes the barriers ready, and all meet: no position has been waited for, or filled, before.
void DevicePrinter::declare_rings(const AstAllocate& allocate) {
  for (const Barrier& barrier : ast_.barriers) {
    if (barrier.scope != BarrierScope::mbarrier || !contains(allocate.rings, barrier.ring)) continue;
    if (!launch_ || agent_loops_ > 0 || around_.size() > host_loops_) refuse("ast", barrier.name, "ring " + barrier.ring + " starts inside a loop of a block: its positions would have to go on");
    const long slots = ast_.find_ring(barrier.ring)->slots, bytes = kPhaseBytes * slots, offset = reserve_shared(barrier.name, bytes, kPhaseBytes);
    const std::string name = names_.declare_array(barrier.name);
    phases_[barrier.name] = name;
    helpers_.request("tileopt_phases");
    helpers_.request("TILEOPT_SHARED_BASE");
    helpers_.request("tileopt_block_barrier");
    out_.line("uint64_t* const " + name + " = (uint64_t*)(void*)(TILEOPT_SHARED_BASE + " + std::to_string(offset) + "); /* a barrier for each slot of " + barrier.ring + " */");
    out_.line("if (TILEOPT_THREAD_X == 0) tileopt_phases_begin(" + name + ", " + std::to_string(slots) + ", " + std::to_string(barrier.arrivals) + ");");
    out_.line("tileopt_block_barrier();");
    // Moved into the loop, what sets registers would stand between products in flight, and compilers then run those one by one.
    hold_registers();
    if (muted_ > 0) continue;
    facts_.phases.push_back({barrier.name, slots, barrier.arrivals});
    facts_.buffers.push_back({barrier.name, "shared", bytes, slots, launch_name_, offset, kPhaseBytes});
  }
}

void DevicePrinter::print_box_copy(const AstLeaf& leaf, PrintFacts::Leaf fact) {
  const AstStatement& statement = ast_.statements.at(leaf.statement);
  const Atom& atom = *machine_.find_atom(statement.atom);
  const auto argument = std::find_if(tensors_.begin(), tensors_.end(), [&](const TensorArgument* a) { return a->tensor == statement.read_arrays.front(); });
  const Barrier* barrier = ast_.find_barrier(statement.signal);
  if (argument == tensors_.end() || (*argument)->alignment == 0 || barrier == nullptr || leaf.signal_position == nullptr || agent_loops_ == 0)
    refuse("atom", leaf.statement, "atom " + atom.name + " is issued by one thread, copies boxes of an argument, and signals a barrier");
  AstLeaf resolved = leaf;
  resolved.write = resolve(leaf.write);
  for (auto& read : resolved.reads) read = resolve(read);
  const LeafView view = make_leaf_view(resolved, ast_, program_, storage_, settled_);
  fact.box_copy = describe_box_copy(view, leaf, atom, **argument);
  const auto known = std::find_if(maps_.begin(), maps_.end(), [&](const BoxMap& map) { return map.tensor == fact.box_copy->tensor && map.copy.box == fact.box_copy->box && map.copy.apart == fact.box_copy->apart; });
  std::string map;
  if (known != maps_.end()) map = known->name;
  else {
    BoxMap made{names_.fresh((*argument)->name + "_map"), (*argument)->tensor, {}, *fact.box_copy};
    for (std::size_t d = (*argument)->shape.size(); d-- > 0;) made.extents.push_back(c_bound((*argument)->shape[d]));
    map = made.name;
    maps_.push_back(std::move(made));
  }
  const std::string dims = std::to_string(fact.box_copy->box.size());
  helpers_.request("TILEOPT_TENSOR_MAP");
  helpers_.request("tileopt_copy_box" + dims);
  std::string coordinates;
  for (std::size_t d = view.reads[0].corner.size(); d-- > 0;) coordinates += ", (int)(" + c_bound(view.reads[0].corner[d]) + ")";
  const Storage& to = *view.write.storage;
  out_.line("tileopt_copy_box" + dims + "(" + to.name + " + (" + storage_.plain_offset_c(to, view.write.corner) + "), &" + map + ", " + phase_c(statement.signal, leaf.signal_position) + coordinates + ");");
  if (muted_ > 0) return;
  fact.pipe = atom.pipe;
  fact.signal_slot = ast_expr_text(slot_of_position(leaf.signal_position, ast_.find_ring(barrier->ring)->slots));
  facts_.leaves.push_back(std::move(fact));
}

bool DevicePrinter::leaves_products(const AstNodePtr& node) const {
  for (const AstNodePtr& child : flat_children(node)) {
    if (const auto* sync = std::get_if<AstSync>(&child->node); sync != nullptr && sync->pending > 0 && ast_.synchronizations.at(sync->statement).target == kMatrixPipe) return true;
    if (const auto* loop = std::get_if<AstFor>(&child->node); loop != nullptr && leaves_products(loop->body)) return true;
    if (const auto* allocate = std::get_if<AstAllocate>(&child->node); allocate != nullptr && leaves_products(allocate->body)) return true;
    if (const auto* branch = std::get_if<AstIf>(&child->node); branch != nullptr && (leaves_products(branch->then_body) || leaves_products(branch->else_body))) return true;
  }
  return false;
}

/// Where a loop is known to run, ptxas takes what sets the accumulators before it into the loop, finds them touched while products are in flight, and
/// puts these one after the other (C7514): so it is not told.
std::string DevicePrinter::tested(const AstIf& branch, std::string condition) {
  const std::function<bool(const AstExprPtr&)> known = [&](const AstExprPtr& expr) {
    return expr->kind != AstExpr::Kind::name && std::all_of(expr->arguments.begin(), expr->arguments.end(), known);
  };
  if (!launch_ || !known(resolve(branch.condition)) || !leaves_products(branch.then_body)) return condition;
  helpers_.request("tileopt_unknown");
  return "tileopt_unknown(" + condition + ")";
}

void DevicePrinter::hold_registers() {
  for (const std::string& array : held_) {
    const std::string wrapper = "tileopt_hold" + std::to_string(promoted(array).agent_elements());
    helpers_.request(wrapper);
    out_.line(wrapper + "(" + storage_.find(array).name + ");");
  }
}

void DevicePrinter::print_together(const AstLeaf& leaf, PrintFacts::Leaf fact) {
  const Atom& atom = *machine_.find_atom(ast_.statements.at(leaf.statement).atom);
  if (agent_variables_.size() < atom.agents.size()) refuse("atom", leaf.statement, "atom " + atom.name + " stands in fewer loops over threads than run it together");
  fact.together.assign(agent_variables_.end() - static_cast<long>(atom.agents.size()), agent_variables_.end());
  std::map<std::string, AstExprPtr> first;
  for (const std::string& variable : fact.together) first[variable] = ast_integer(0);
  const auto at_first = [&](std::vector<AstExprPtr> subscripts) {
    for (AstExprPtr& subscript : subscripts) subscript = fold(resolve(substitute(subscript, first)));
    return subscripts;
  };
  AstLeaf place = leaf;
  place.write = at_first(leaf.write);
  place.instance = at_first(leaf.instance);
  for (auto& read : place.reads) read = at_first(read);
  const CollectiveCall call = print_collective(make_leaf_view(place, ast_, program_, storage_, settled_), atom, storage_);
  helpers_.request(call.wrapper);
  helpers_.request("tileopt_matrix");
  take_braces();
  out_.line(call.text);
  if (muted_ > 0) return;
  fact.pipe = machine_.pipe_of(atom.name) == nullptr ? "" : atom.pipe;
  fact.wrapper = call.wrapper;
  fact.matrices = call.matrices;
  facts_.leaves.push_back(std::move(fact));
}

}  // namespace tileopt
