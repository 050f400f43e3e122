#include "builder.h"

#include <cstdio>
#include <map>

namespace tileopt::test {

namespace {

std::string clause(Combine combine, const std::string& array) {
  switch (combine) {
    case Combine::sum: return " reduction(+ : " + array + ")";
    case Combine::prod: return " reduction(* : " + array + ")";
    case Combine::min: return " reduction(tileopt_min_f32 : " + array + ")";
    case Combine::max: return " reduction(tileopt_max_f32 : " + array + ")";
    case Combine::any: return " reduction(|| : " + array + ")";
    case Combine::all: return " reduction(&& : " + array + ")";
    case Combine::bit_and: return " reduction(& : " + array + ")";
    case Combine::bit_or: return " reduction(| : " + array + ")";
    case Combine::bit_xor: return " reduction(^ : " + array + ")";
    case Combine::assign:
    case Combine::monoid: break;
  }
  return "";
}

class FaithfulPrinter {
 public:
  FaithfulPrinter(const Program& program, const Ast& ast) : program_(program), ast_(ast) {}
  PrintFacts facts;

  void print(const AstNodePtr& node) {
    if (node == nullptr) return;
    if (const auto* block = std::get_if<AstBlock>(&node->node))
      for (const AstNodePtr& child : block->children) print(child);
    if (const auto* loop = std::get_if<AstFor>(&node->node)) print_loop(*loop);
    if (const auto* branch = std::get_if<AstIf>(&node->node)) {
      facts.conditions.push_back(ast_expr_text(branch->condition));
      print(branch->then_body);
      print(branch->else_body);
    }
    if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) print(allocate->body);
    if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) print_leaf(*leaf);
    if (const auto* roles = std::get_if<AstRoles>(&node->node))
      for (const AstRole& role : roles->roles) print(role.body);
    if (const auto* sync = std::get_if<AstSync>(&node->node)) print_sync(*sync);
  }

 private:
  void print_loop(const AstFor& loop) {
    std::string pragma;
    if (loop.level == "thread" && threads_ == 0) pragma = "#pragma omp parallel for";
    if (loop.level == "simd") pragma = "#pragma omp simd" + reductions(loop.body);
    facts.loops.push_back({loop.variable, "for (int64_t " + loop.variable + " = ...)", pragma, ast_expr_text(loop.lower),
                           ast_expr_text(loop.upper), loop.step, loop.level, {}, loop.persistent});
    threads_ += loop.level == "thread" ? 1 : 0;
    print(loop.body);
    threads_ -= loop.level == "thread" ? 1 : 0;
  }

  /// Clauses for the one-element registers that the leaves directly below accumulate in.
  std::string reductions(const AstNodePtr& node) const {
    if (const auto* block = std::get_if<AstBlock>(&node->node)) {
      std::string text;
      for (const AstNodePtr& child : block->children) text += reductions(child);
      return text;
    }
    const auto* leaf = std::get_if<AstLeaf>(&node->node);
    if (leaf == nullptr) return "";
    const AstStatement& statement = ast_.statements.at(leaf->statement);
    for (const Array& array : ast_.arrays)
      if (array.name == statement.write_array && array.space == "register" && array.elements() == 1 && statement.kind == "compute")
        return clause(program_.statement(statement.statement).combine, array.name);
    return "";
  }

  void print_leaf(const AstLeaf& leaf) {
    PrintFacts::Leaf printed;
    printed.statement = leaf.statement;
    for (const AstExprPtr& e : leaf.write) printed.subscripts.push_back(ast_expr_text(e));
    for (const auto& read : leaf.reads)
      for (const AstExprPtr& e : read) printed.subscripts.push_back(ast_expr_text(e));
    for (const AstExprPtr& e : leaf.extents) printed.extents.push_back(ast_expr_text(e));
    const auto found = ast_.statements.find(leaf.statement);
    if (found != ast_.statements.end())
      for (const AstStatement::BoxDigit& digit : found->second.box) printed.points *= digit.radix;
    if (leaf.signal_position != nullptr) printed.signal_slot = slot(leaf.signal_position, slots_of(found->second.signal));
    facts.leaves.push_back(printed);
  }

  long slots_of(const std::string& barrier) const {
    const Barrier* found = ast_.find_barrier(barrier);
    const Ring* ring = found != nullptr ? ast_.find_ring(found->ring) : nullptr;
    return ring != nullptr ? ring->slots : 1;
  }
  static std::string slot(const AstExprPtr& position, long slots) { return "mod(g0 + (" + ast_expr_text(position) + "), " + std::to_string(slots) + ")"; }

  void print_sync(const AstSync& sync) {
    const Synchronization& declared = ast_.synchronizations.at(sync.statement);
    PrintFacts::Sync printed;
    printed.statement = sync.statement;
    printed.bytes = declared.bytes;
    printed.pending = sync.pending;
    printed.elected = declared.elected;
    if (declared.kind == SyncKind::advance) printed.amount = ast_expr_text(sync.position);
    const Barrier* barrier = ast_.find_barrier(declared.target);
    if (barrier != nullptr && barrier->scope == BarrierScope::mbarrier) {
      const long slots = slots_of(barrier->name);
      printed.slot = slot(sync.position, slots);
      if (declared.kind == SyncKind::wait)
        printed.phase = "mod(floord(g0 + (" + ast_expr_text(sync.position) + "), " + std::to_string(slots) + "), 2)";
    }
    facts.syncs.push_back(printed);
  }

  const Program& program_;
  const Ast& ast_;
  int threads_ = 0;
};

}  // namespace

PrintFacts faithful_facts(const Program& program, const Ast& ast) {
  FaithfulPrinter printer(program, ast);
  printer.print(ast.root);
  for (const Array& array : ast.arrays) {
    printer.facts.buffers.push_back({array.name, array.space, array.slots * array.elements() * size_bytes(array.element), array.slots});
    printer.facts.buffers.back().strides = array.strides;
  }
  for (const Barrier& barrier : ast.barriers)
    if (const Ring* ring = ast.find_ring(barrier.ring); barrier.scope == BarrierScope::mbarrier && ring != nullptr) printer.facts.phases.push_back({barrier.name, ring->slots, barrier.arrivals});
  return printer.facts;
}

void print(const Certificate& certificate) {
  for (const Obligation& o : certificate.obligations)
    std::printf("  %-9s %-13s %7.1f ms  %s%s%s\n", o.name.c_str(),
                o.verdict == Verdict::proved ? "proved" : o.verdict == Verdict::refuted ? "REFUTED" : "not attempted", o.milliseconds,
                o.subject.c_str(), o.reason.empty() ? "" : (": " + o.reason).c_str(),
                o.witness.empty() ? "" : ("\n            " + o.witness).c_str());
}

double milliseconds(const Certificate& certificate, const std::string& name) {
  double total = 0;
  for (const Obligation& o : certificate.obligations)
    if (name.empty() || o.name == name) total += o.milliseconds;
  return total;
}

void expect_proved(const Certificate& certificate) {
  EXPECT_TRUE(certificate.proved());
  for (const Obligation& o : certificate.obligations)
    EXPECT_EQ(o.verdict, Verdict::proved) << o.name << " of " << o.subject << ": " << o.reason << "\n  " << o.witness;
}

Obligation expect_refuted(const Certificate& certificate, const std::string& name, const std::string& reason) {
  for (const Obligation& o : certificate.obligations)
    if (o.name == name && o.verdict == Verdict::refuted && (o.subject + ": " + o.reason).find(reason) != std::string::npos) {
      EXPECT_FALSE(o.witness.empty()) << o.reason;
      return o;
    }
  ADD_FAILURE() << "no refuted obligation " << name << " with `" << reason << "`";
  print(certificate);
  return {};
}

}  // namespace tileopt::test
