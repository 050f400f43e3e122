#include "event_steps.h"

#include <algorithm>

namespace tileopt::test {

long floor_quotient(long a, long b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0); }

long evaluate(const AstExprPtr& e, const Names& names) {
  using Kind = AstExpr::Kind;
  const auto a = [&](std::size_t i) { return evaluate(e->arguments[i], names); };
  switch (e->kind) {
    case Kind::integer:
      return static_cast<long>(e->value);
    case Kind::name:
      return names.at(e->name);
    case Kind::negate:
      return -a(0);
    case Kind::add:
      return a(0) + a(1);
    case Kind::sub:
      return a(0) - a(1);
    case Kind::mul:
      return a(0) * a(1);
    case Kind::floor_div:
      return floor_quotient(a(0), a(1));
    case Kind::exact_div:
      return a(0) / a(1);
    case Kind::modulo:
      return a(0) - a(1) * floor_quotient(a(0), a(1));
    case Kind::min:
      return std::min(a(0), a(1));
    case Kind::max:
      return std::max(a(0), a(1));
    case Kind::select:
      return a(0) != 0 ? a(1) : a(2);
    case Kind::eq:
      return a(0) == a(1);
    case Kind::ne:
      return a(0) != a(1);
    case Kind::lt:
      return a(0) < a(1);
    case Kind::le:
      return a(0) <= a(1);
    case Kind::gt:
      return a(0) > a(1);
    case Kind::ge:
      return a(0) >= a(1);
    case Kind::logical_and:
      return a(0) != 0 && a(1) != 0;
    case Kind::logical_or:
      return a(0) != 0 || a(1) != 0;
  }
  return 0;
}

namespace {

// The steps of one thread: loops unrolled, bases advanced.
class Unroller {
 public:
  // `agent`: the iteration of agent loops that this thread runs; `thread`: its number in the agent.
  Unroller(const Ast& ast, const Machine& machine, Names sizes, const std::string& role, long agent, long thread)
      : ast_(ast), machine_(machine), names_(std::move(sizes)), role_(role), agent_(agent), thread_(thread) {}

  std::vector<Step> run() {
    walk(ast_.root);
    return std::move(steps_);
  }

 private:
  void walk(const AstNodePtr& node) {
    if (node == nullptr) return;
    if (const auto* n = std::get_if<AstBlock>(&node->node))
      for (const AstNodePtr& child : n->children) walk(child);
    if (const auto* n = std::get_if<AstFor>(&node->node)) loop(*n);
    if (const auto* n = std::get_if<AstIf>(&node->node))
      walk(evaluate(n->condition, names_) != 0 ? n->then_body : n->else_body);
    if (const auto* n = std::get_if<AstAllocate>(&node->node)) walk(n->body);
    if (const auto* n = std::get_if<AstRoles>(&node->node))
      for (const AstRole& role : n->roles)
        if (role.name == role_) walk(role.body);
    if (const auto* n = std::get_if<AstSync>(&node->node)) sync(*n);
    if (const auto* n = std::get_if<AstLeaf>(&node->node)) leaf(*n);
  }

  void loop(const AstFor& loop) {
    const long lower = evaluate(loop.lower, names_), upper = evaluate(loop.upper, names_);
    const Level* level = machine_.find_level(loop.level);
    const bool agents = level != nullptr && level->kind == LevelKind::barrier;
    for (long value = lower; value <= upper; value += loop.step) {
      if (agents && value != agent_) continue;
      // A block of its own starts from the beginning.
      if (level != nullptr && level->kind == LevelKind::independent && !loop.persistent) bases_.clear();
      names_[loop.variable] = value;
      walk(loop.body);
    }
    names_.erase(loop.variable);
  }

  void sync(const AstSync& node) {
    const Synchronization& declared = ast_.synchronizations.at(node.statement);
    if (declared.elected && (thread_ != 0 || (role_.empty() && agent_ != 0))) return;
    const long position = node.position == nullptr ? 0 : evaluate(node.position, names_);
    if (declared.kind == SyncKind::advance) {
      bases_[declared.target] += position;
      return;
    }
    Step step;
    step.sync = &node;
    step.declared = &declared;
    step.label = label(node.statement, position);
    const Barrier* barrier = ast_.find_barrier(declared.target);
    if (barrier != nullptr && barrier->scope == BarrierScope::mbarrier) step.position = bases_[barrier->ring] + position;
    steps_.push_back(step);
  }

  std::string label(const std::string& name, long position) const {
    return (role_.empty() ? "" : role_ + " ") + std::to_string(agent_) + "." + std::to_string(thread_) + ": " + name + "[" +
           std::to_string(position) + "]";
  }

  void leaf(const AstLeaf& node) {
    const AstStatement& statement = ast_.statements.at(node.statement);
    Step step;
    step.label = label(node.statement, 0);
    step.pipe = machine_.pipe_of(statement.atom);
    step.signal = statement.signal;
    if (node.signal_position != nullptr)
      step.signal_position = bases_[ast_.find_barrier(step.signal)->ring] + evaluate(node.signal_position, names_);
    std::vector<long> point(statement.box.size(), 0);
    for (bool more = true; more;) {
      add(step, statement.write_array, node.write, statement.write_steps, point, true);
      for (std::size_t r = 0; r < node.reads.size(); ++r)
        add(step, statement.read_arrays[r], node.reads[r], statement.read_steps[r], point, false);
      step.bytes += element_bytes(statement.write_array);
      more = false;
      for (std::size_t d = point.size(); d-- > 0 && !more;) {
        more = ++point[d] < statement.box[d].radix;
        if (!more) point[d] = 0;
      }
    }
    steps_.push_back(std::move(step));
  }

  const Array* find_array(const std::string& name) const {
    for (const Array& array : ast_.arrays)
      if (array.name == name) return &array;
    return nullptr;
  }
  long element_bytes(const std::string& array) const {
    return find_array(array) == nullptr ? 0 : size_bytes(find_array(array)->element);
  }

  // Program tensors are not followed: no two steps of these kernels meet in one.
  void add(Step& step, const std::string& name, const std::vector<AstExprPtr>& subscripts,
           const std::vector<std::vector<long>>& steps, const std::vector<long>& point, bool write) {
    const Array* array = find_array(name);
    if (array == nullptr) return;
    std::string cell = name;
    if (array->space == "register") cell += " of " + role_ + std::to_string(agent_) + "." + std::to_string(thread_);
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      long value = evaluate(subscripts[d], names_);
      for (std::size_t b = 0; b < point.size(); ++b) value += steps[d][b] * point[b];
      if (d == 0 && !array->ring.empty()) value = (bases_[array->ring] + value) % array->slots;
      cell += "[" + std::to_string(value) + "]";
    }
    const bool known = std::any_of(step.accesses.begin(), step.accesses.end(),
                                   [&](const Access& a) { return a.cell == cell && a.write == write; });
    if (!known) step.accesses.push_back({cell, write});
  }

  const Ast& ast_;
  const Machine& machine_;
  Names names_;
  std::string role_;
  long agent_, thread_;
  std::map<std::string, long> bases_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> unroll_thread(const Ast& ast, const Machine& machine, const Names& sizes, const std::string& role, long agent,
                                long thread) {
  return Unroller(ast, machine, sizes, role, agent, thread).run();
}

}  // namespace tileopt::test
