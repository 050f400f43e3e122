/// text: what the printer says it printed is what the Ast says: loops, conditions, leaves, storage.
#include <algorithm>
#include <map>
#include <optional>

#include "support/text.h"
#include "verify/obligations.h"

namespace tileopt::proof {

namespace {

/// What a faithful printer reports for an Ast, in print order (loops: see Execution).
struct Expected {
  std::vector<const AstIf*> conditions;
  std::vector<const AstLeaf*> leaves;
  std::vector<std::vector<std::string>> settled;  ///< per leaf: variables of the bound loops around
  std::vector<std::optional<std::size_t>> threads;  ///< per leaf: the outermost loop of threads around, in print order
  std::vector<std::string> bound = {};            ///< around the current node
  std::optional<std::size_t> thread = std::nullopt;
  std::size_t loops = 0;
};

void collect(const Machine& machine, const AstNodePtr& node, Expected& expected) {
  if (node == nullptr) return;
  if (const auto* block = std::get_if<AstBlock>(&node->node))
    for (const AstNodePtr& child : block->children) collect(machine, child, expected);
  if (const auto* loop = std::get_if<AstFor>(&node->node)) {
    const Level* level = machine.find_level(loop->level);
    const bool opens = !expected.thread && level != nullptr && level->kind == LevelKind::independent;
    if (opens) expected.thread = expected.loops;
    ++expected.loops;
    if (loop->binding) expected.bound.push_back(loop->variable);
    collect(machine, loop->body, expected);
    if (loop->binding) expected.bound.pop_back();
    if (opens) expected.thread.reset();
  }
  if (const auto* branch = std::get_if<AstIf>(&node->node)) {
    expected.conditions.push_back(branch);
    collect(machine, branch->then_body, expected);
    collect(machine, branch->else_body, expected);
  }
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) collect(machine, allocate->body, expected);
  if (const auto* roles = std::get_if<AstRoles>(&node->node))
    for (const AstRole& role : roles->roles) collect(machine, role.body, expected);
  if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) {
    expected.leaves.push_back(leaf);
    expected.settled.push_back(expected.bound);
    expected.threads.push_back(expected.thread);
  }
}

Refutation differs(const std::string& what, const std::string& printed, const std::string& wanted) {
  return Refutation{what + " was printed as `" + printed + "` where the Ast has `" + wanted + "`",
                    "printed: " + printed + " | Ast: " + wanted, {}};
}

Refutation miscounted(const std::string& what, std::size_t printed, std::size_t wanted) {
  return Refutation{std::to_string(printed) + " " + what + " were printed where the Ast has " + std::to_string(wanted),
                    "printed: " + std::to_string(printed) + " | Ast: " + std::to_string(wanted), {}};
}

/// Subscripts are products of 64-bit numbers: a narrower loop variable wraps before they do.
Refutation narrow(const std::string& variable, const std::string& header) {
  return Refutation{"loop " + variable + " does not count in 64 bits", "printed: " + header, {}};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

bool is_parallel(const Execution& execution, std::size_t loop) { return execution.loops[loop].kind == LevelKind::independent; }

bool inside_parallel(const Execution& execution, std::size_t loop) {
  for (const std::size_t outer : execution.loops[loop].enclosing)
    if (is_parallel(execution, outer)) return true;
  return false;
}

/// `collapse(2)` runs the iterations of two loops as one: the inner one must be parallel too, alone, and of fixed bounds.
Outcome check_collapse(const Checker& checker, std::size_t index, const std::string& pragma) {
  const AstFor& outer = *checker.execution.loops[index].node;
  const std::size_t at = pragma.find("collapse(");
  if (at == std::string::npos) return {};
  const AstFor* inner = only_node<AstFor>(outer.body);
  const Level* level = inner != nullptr ? checker.machine.find_level(inner->level) : nullptr;
  const bool right = pragma.compare(at, 11, "collapse(2)") == 0 && level != nullptr && level->kind == LevelKind::independent &&
                     !mentions(inner->lower, outer.variable) && !mentions(inner->upper, outer.variable);
  if (right) return {};
  return differs("the pragma of loop " + outer.variable, pragma, "omp parallel for, without collapse");
}

std::string reduction_operator(Combine combine) {
  switch (combine) {
    case Combine::sum: return "+";
    case Combine::prod: return "*";
    case Combine::min: return "min";
    case Combine::max: return "max";
    case Combine::any: return "||";
    case Combine::all: return "&&";
    case Combine::bit_and: return "&";
    case Combine::bit_or: return "|";
    case Combine::bit_xor: return "^";
    case Combine::assign:
    case Combine::monoid: break;
  }
  return "?";
}

/// Whether the loop's leaves have no points: isl leaves loops behind whose conditions never hold, and `races` finds nothing in them.
bool never_runs(const Execution& execution, std::size_t index) {
  for (const std::size_t leaf : execution.loops[index].leaves)
    if (!execution.leaves[leaf].points.is_empty()) return false;
  return true;
}

/// Every element that lanes share is merged by a clause of its own, with its operator.
Outcome check_reductions(const Checker& checker, std::size_t index, const std::string& pragma) {
  std::size_t wanted = 0;
  const std::string name = "the pragma of loop " + checker.execution.loops[index].node->variable;
  for (const LaneReduction& reduction : checker.lane_reductions) {
    if (reduction.loop != index) continue;
    ++wanted;
    const std::string sign = reduction_operator(reduction.combine);
    const std::size_t at = pragma.find("reduction(");
    const bool named = reduction.combine == Combine::min || reduction.combine == Combine::max;
    if (at == std::string::npos || !has(pragma.substr(at), named ? sign : "reduction(" + sign + " :")) return differs(name, pragma, "omp simd reduction(" + sign + " : ...)");
  }
  if (occurrences(pragma, "reduction(") != wanted && !never_runs(checker.execution, index)) return differs(name, pragma, std::to_string(wanted) + " reduction clauses");
  return {};
}

/// Threads exactly at the outermost parallel loop. Lanes only at lockstep loops; without its pragma such a loop runs in order,
/// which is right too. An unrolled loop has no pragma.
Outcome check_pragma(const Checker& checker, std::size_t index, const std::string& pragma) {
  const AstFor& loop = *checker.execution.loops[index].node;
  const bool threads = has(pragma, "omp parallel"), lanes = has(pragma, "simd");
  const bool wants_threads = is_parallel(checker.execution, index) && !inside_parallel(checker.execution, index);
  const std::string name = "the pragma of loop " + loop.variable + " (level " + loop.level + ")";
  if (threads) {
    for (const std::size_t outer : checker.execution.loops[index].enclosing) {
      const PrintFacts::Loop* around = checker.printed(outer);
      if (around != nullptr && has(around->pragma, "simd"))
        return Refutation{"threads start inside the vector lanes of loop " + around->variable, pragma + " inside " + around->pragma, {}};
    }
  }
  if (threads != wants_threads && pragma != "unrolled") return differs(name, pragma, wants_threads ? "omp parallel for" : "");
  if (lanes && checker.execution.loops[index].kind != LevelKind::lockstep) return differs(name, pragma, "");
  if (threads) return check_collapse(checker, index, pragma);
  return lanes ? check_reductions(checker, index, pragma) : Outcome{};
}

/// Loops on the way from one independent loop to another are independent themselves, and nothing stands beside them: a launch has one nest
/// of blocks.
Outcome check_launch(const Execution& execution, std::size_t index) {
  const LoopUse& loop = execution.loops[index];
  bool launched = false;
  for (const std::size_t outer : loop.enclosing) {
    const LoopUse& around = execution.loops[outer];
    if (launched && around.kind != LevelKind::independent)
      return Refutation{"blocks of loop " + loop.node->variable + " start inside loop " + around.node->variable + " of a block", "loop " + loop.node->variable, {}};
    if (around.kind != LevelKind::independent) continue;
    launched = true;
    for (const std::size_t leaf : around.leaves) {
      const std::vector<std::size_t>& ids = execution.leaves[leaf].loop_ids;
      if (std::find(ids.begin(), ids.end(), index) == ids.end())
        return Refutation{execution.leaves[leaf].label + " stands beside the blocks of loop " + loop.node->variable, "loop " + around.node->variable, {}};
    }
  }
  return {};
}

/// Every iteration of an agent loop is run by the agent whose number has it as a digit, and no other agent gets past the test.
Outcome check_agents(const Execution& execution, std::size_t index, const PrintFacts::Loop& printed) {
  const LoopUse& loop = execution.loops[index];
  const std::string name = "loop " + loop.node->variable;
  if (printed.agents != loop.node->agents) return differs("the agents of " + name, std::to_string(printed.agents), std::to_string(loop.node->agents));
  bool outermost = true;
  for (const std::size_t outer : loop.enclosing) outermost = outermost && !execution.loops[outer].is_agent();
  for (const std::size_t number : loop.leaves) {
    const Leaf& leaf = execution.leaves[number];
    long weight = 1;
    for (std::size_t i = leaf.loop_ids.size(); i-- > 0 && leaf.loop_ids[i] != index;)
      if (execution.loops[leaf.loop_ids[i]].is_agent()) weight *= execution.loops[leaf.loop_ids[i]].node->agents;
    if (printed.weight != weight) return differs("the weight of " + name, std::to_string(printed.weight), std::to_string(weight));
    isl_set* outside = isl_set_lower_bound_si(leaf.points.copy(), isl_dim_set, static_cast<unsigned>(loop.depth), static_cast<int>(printed.agents));
    const isl::set below = isl::manage(isl_set_upper_bound_si(leaf.points.copy(), isl_dim_set, static_cast<unsigned>(loop.depth), -1));
    const isl::set missed = isl::manage(outside).unite(below);
    if (!missed.is_empty())
      return Refutation{name + " has " + std::to_string(printed.agents) + " agents, and iterations beyond", poly::sample_text(missed), leaf.where()};
  }
  if (outermost && printed.agents * printed.weight > printed.threads)
    return differs("the agents of a block", std::to_string(printed.threads), "at least " + std::to_string(printed.agents * printed.weight));
  const bool whole = ast_expr_text(loop.node->lower) == "0" && ast_expr_text(loop.node->upper) == std::to_string(printed.agents - 1) && loop.node->step == 1 &&
                     (!outermost || printed.agents * printed.weight == printed.threads);
  if (!printed.guarded && !whole) return differs("the test of " + name, "none", ast_expr_text(loop.node->lower) + " <= " + loop.node->variable + " <= " + ast_expr_text(loop.node->upper));
  return {};
}

/// Loops of a kernel that is launched: blocks and agents are numbers that are given, everything else counts.
Outcome check_device_loop(const Checker& checker, std::size_t index, const PrintFacts::Loop& printed) {
  const LoopUse& loop = checker.execution.loops[index];
  const std::string what = loop.is_agent() ? "agent" : loop.kind == LevelKind::independent ? "block" : "";
  const bool given = printed.pragma == "agent" || printed.pragma == "block";
  if (given != !what.empty() || (given && printed.pragma != what)) return differs("loop " + loop.node->variable, printed.pragma, what);
  if (what == "block") return check_launch(checker.execution, index);
  if (what == "agent") return check_agents(checker.execution, index, printed);
  return {};
}

/// A block of a launch has one number of agents, which is no more than its level has.
Outcome check_agent_counts(const Checker& checker, std::size_t kernel, const PrintFacts& facts) {
  std::map<std::size_t, long> launches;  // outermost independent loop -> agents of a block
  std::vector<std::size_t> loops;
  for (std::size_t i = 0; i < checker.execution.loops.size(); ++i)
    if (checker.execution.loops[i].kernel == kernel) loops.push_back(i);
  for (std::size_t i = 0; i < loops.size() && i < facts.loops.size(); ++i) {
    const LoopUse& loop = checker.execution.loops[loops[i]];
    if (!loop.is_agent()) continue;
    const auto launch = std::find_if(loop.enclosing.begin(), loop.enclosing.end(),
                                     [&](std::size_t outer) { return checker.execution.loops[outer].kind == LevelKind::independent; });
    if (launch == loop.enclosing.end()) return Refutation{"agent loop " + loop.node->variable + " stands in no block", "loop " + loop.node->variable, {}};
    const long threads = facts.loops[i].threads;
    const auto [known, fresh] = launches.emplace(*launch, threads);
    if (!fresh && known->second != threads) return differs("the agents of a block at loop " + loop.node->variable, std::to_string(threads), std::to_string(known->second));
    const Level* level = checker.machine.find_level(loop.node->level);
    if (level != nullptr && level->count > 0 && threads > level->count)
      return Refutation{"a block has " + std::to_string(threads) + " agents of at most " + std::to_string(level->count), "loop " + loop.node->variable, {}};
  }
  return {};
}

/// Backends whose kernels are launched: levels say what blocks and agents are.
bool is_launched(const Machine& machine) { return machine.backend == "cuda" || machine.backend == "hip"; }

Outcome check_loop(const Checker& checker, std::size_t index, const PrintFacts::Loop& printed) {
  const AstFor& loop = *checker.execution.loops[index].node;
  const auto compare = [&](const std::string& what, const std::string& have, const std::string& want) -> Outcome {
    if (have == want) return {};
    return differs("the " + what + " of loop " + loop.variable, have, want);
  };
  if (Outcome outcome = compare("variable", printed.variable, loop.variable)) return outcome;
  if (Outcome outcome = compare("lower bound", printed.lower, ast_expr_text(loop.lower))) return outcome;
  if (Outcome outcome = compare("upper bound", printed.upper, ast_expr_text(loop.upper))) return outcome;
  if (Outcome outcome = compare("step", std::to_string(printed.step), std::to_string(loop.step))) return outcome;
  if (Outcome outcome = compare("level", printed.level, loop.level)) return outcome;
  if (printed.persistent != loop.persistent)
    return differs("loop " + loop.variable, printed.persistent ? "a persistent loop" : "one iteration a block", loop.persistent ? "a persistent loop" : "one iteration a block");
  if ((printed.pragma == "bound") != loop.binding.has_value())
    return differs("loop " + loop.variable, printed.pragma == "bound" ? "one value" : "a loop", loop.binding ? "one value" : "a loop");
  if (loop.binding) {
    if (!has(printed.header, "int64_t " + loop.variable)) return narrow(loop.variable, printed.header);
    std::vector<std::string> subscripts;
    for (const auto& [access, exprs] : loop.binding->reads)
      for (const AstExprPtr& expr : exprs) subscripts.push_back(ast_expr_text(expr));
    return compare("value", join(printed.subscripts, "; "), join(subscripts, "; "));
  }
  if (is_launched(checker.machine)) {
    if (printed.pragma == "agent" || printed.pragma == "block") {
      if (!has(printed.header, "int64_t " + loop.variable)) return narrow(loop.variable, printed.header);
      return check_device_loop(checker, index, printed);
    }
    if (Outcome outcome = check_device_loop(checker, index, printed)) return outcome;
  }
  if (printed.pragma != "unrolled" && (!has(printed.header, "for (") || !has(printed.header, loop.variable)))
    return differs("the header of loop " + loop.variable, printed.header, "for (" + loop.variable + " ...)");
  if (printed.pragma != "unrolled" && !has(printed.header, "int64_t " + loop.variable)) return narrow(loop.variable, printed.header);
  // Pragmas are how C with OpenMP says who runs a loop; elsewhere the level says it.
  return checker.machine.backend == "openmp" ? check_pragma(checker, index, printed.pragma) : Outcome{};
}

Outcome check_loops(const Checker& checker, std::size_t kernel, const PrintFacts& facts) {
  std::vector<std::size_t> loops;
  for (std::size_t i = 0; i < checker.execution.loops.size(); ++i)
    if (checker.execution.loops[i].kernel == kernel) loops.push_back(i);
  if (facts.loops.size() != loops.size()) return miscounted("loops", facts.loops.size(), loops.size());
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (Outcome outcome = check_loop(checker, loops[i], facts.loops[i])) return outcome;
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (!facts.loops[i].accumulator.array.empty())
      if (Outcome outcome = check_accumulator(checker, loops[i], facts, facts.loops[i].accumulator)) return outcome;
  return is_launched(checker.machine) ? check_agent_counts(checker, kernel, facts) : Outcome{};
}

Outcome check_conditions(const PrintFacts& facts, const Expected& expected) {
  if (facts.conditions.size() != expected.conditions.size())
    return miscounted("conditions", facts.conditions.size(), expected.conditions.size());
  for (std::size_t i = 0; i < facts.conditions.size(); ++i) {
    const std::string wanted = ast_expr_text(expected.conditions[i]->condition);
    if (facts.conditions[i] != wanted) return differs("a condition", facts.conditions[i], wanted);
  }
  return {};
}

std::vector<std::string> subscript_texts(const AstLeaf& leaf) {
  std::vector<std::string> texts;
  for (const AstExprPtr& expr : leaf.write) texts.push_back(ast_expr_text(expr));
  for (const auto& read : leaf.reads)
    for (const AstExprPtr& expr : read) texts.push_back(ast_expr_text(expr));
  return texts;
}

std::vector<std::string> extent_texts(const AstLeaf& leaf) {
  std::vector<std::string> texts;
  for (const AstExprPtr& expr : leaf.extents) texts.push_back(ast_expr_text(expr));
  return texts;
}

/// Guards that no bound loop settles, and the predicate, are tested where the leaf stands; `atomic` where its update is to be.
std::vector<std::string> tests_of(const Program& program, const Machine& machine, const Ast& ast, const AstLeaf& leaf, const std::vector<std::string>& settled) {
  const AstStatement& statement = ast.statements.at(leaf.statement);
  std::vector<std::string> tests;
  if (statement.kind != "compute" || !program.has_statement(statement.statement)) return tests;
  const Statement& source = program.statement(statement.statement);
  for (std::size_t g = 0; g < source.guards.size(); ++g) {
    const AstExprPtr& iterator = leaf.instance.at(source.guards[g].iterator);
    if (iterator->kind != AstExpr::Kind::name || !contains(settled, iterator->name)) tests.push_back("guard " + std::to_string(g));
  }
  if (source.predicate != nullptr) tests.push_back("predicate");
  const Atom* atom = machine.find_atom(statement.atom);
  if (atom != nullptr && atom->body == "atomic_update") tests.push_back("atomic");
  return tests;
}

Outcome check_leaf(const Machine& machine, const Ast& ast, const PrintFacts::Leaf& printed, const AstLeaf& leaf, const std::vector<std::string>& tests) {
  if (printed.statement != leaf.statement) return differs("a leaf", printed.statement, leaf.statement);
  const std::vector<std::string> subscripts = subscript_texts(leaf), extents = extent_texts(leaf);
  if (printed.subscripts != subscripts)
    return differs("the subscripts of " + leaf.statement, join(printed.subscripts, "; "), join(subscripts, "; "));
  if (printed.extents != extents)
    return differs("the extents of " + leaf.statement, join(printed.extents, "; "), join(extents, "; "));
  const Pipe* pipe = machine.pipe_of(ast.statements.at(leaf.statement).atom);
  if (!printed.pipe.empty() && (pipe == nullptr || pipe->name != printed.pipe)) return differs("when " + leaf.statement + " is done", "later, by pipe " + printed.pipe, pipe == nullptr ? "at once" : "by pipe " + pipe->name);
  if (printed.tested != tests) return differs("what " + leaf.statement + " tests", join(printed.tested, ", "), join(tests, ", "));
  long points = 1;
  for (const AstStatement::BoxDigit& digit : ast.statements.at(leaf.statement).box) points *= digit.radix;
  if (printed.points != points)
    return differs("the box of " + leaf.statement, std::to_string(printed.points) + " points", std::to_string(points) + " points");
  return {};
}

Outcome check_leaves(const Program& program, const Machine& machine, const Ast& ast, const PrintFacts& facts, const Expected& expected) {
  if (facts.leaves.size() != expected.leaves.size()) return miscounted("leaves", facts.leaves.size(), expected.leaves.size());
  for (std::size_t i = 0; i < facts.leaves.size(); ++i)
    if (Outcome outcome = check_leaf(machine, ast, facts.leaves[i], *expected.leaves[i], tests_of(program, machine, ast, *expected.leaves[i], expected.settled[i])))
      return outcome;
  return {};
}

std::string strides_text(const std::vector<long>& strides) {
  std::vector<std::string> parts;
  for (const long stride : strides) parts.push_back(std::to_string(stride));
  return join(parts, ", ");
}

/// No two elements lie at one place: a step is at least what the dimensions behind it take.
Outcome check_gaps(const Array& array) {
  if (array.strides.empty()) return {};
  const std::size_t held = static_cast<std::size_t>(array.agent_dims);
  long room = 1;
  bool apart = array.strides.size() + held == array.extents.size();
  for (std::size_t d = array.strides.size(); apart && d-- > 0;) {
    apart = array.strides[d] >= room;
    room = array.strides[d] * array.extents[d + held];
  }
  if (apart) return {};
  return Refutation{"elements of " + array.name + " lie on top of each other", "strides " + strides_text(array.strides), {}};
}

std::string swizzle_text(const Swizzle& swizzle) {
  return swizzle.empty() ? "none" : "dimension " + std::to_string(swizzle.along) + " by " + std::to_string(swizzle.by);
}

/// A permutation of every row: what is replaced and what decides are two dimensions, and the places are a power of two.
Outcome check_swizzle(const Array& array) {
  if (array.swizzle.empty()) return {};
  const long dims = static_cast<long>(array.extents.size());
  const bool inside = array.swizzle.along >= array.agent_dims && array.swizzle.along < dims && array.swizzle.by >= array.agent_dims && array.swizzle.by < dims && array.swizzle.along != array.swizzle.by;
  const long places = inside ? array.extents[static_cast<std::size_t>(array.swizzle.along)] : 0;
  if (inside && places > 0 && (places & (places - 1)) == 0) return {};
  return Refutation{"swizzled elements of " + array.name + " lie on top of each other", swizzle_text(array.swizzle), {}};
}

Outcome check_buffers(const Ast& ast, const PrintFacts& facts) {
  for (const Array& array : ast.arrays) {
    const auto printed = std::find_if(facts.buffers.begin(), facts.buffers.end(),
                                      [&](const PrintFacts::Buffer& b) { return b.array == array.name; });
    if (printed == facts.buffers.end())
      return Refutation{"no storage was printed for " + array.name, "Ast: " + array.name + " in " + array.space, {}};
    if (printed->space != array.space) return differs("the space of " + array.name, printed->space, array.space);
    if (printed->slots != array.slots) return differs("the slots of " + array.name, std::to_string(printed->slots), std::to_string(array.slots));
    if (printed->strides != array.strides) return differs("the strides of " + array.name, strides_text(printed->strides), strides_text(array.strides));
    if (!(printed->swizzle == array.swizzle)) return differs("the swizzling of " + array.name, swizzle_text(printed->swizzle), swizzle_text(array.swizzle));
    if (Outcome outcome = check_gaps(array)) return outcome;
    if (Outcome outcome = check_swizzle(array)) return outcome;
    const long needed = array.slots * array.stored_elements() * size_bytes(array.element);
    if (printed->bytes < needed)
      return differs("the storage of " + array.name, std::to_string(printed->bytes) + " bytes", std::to_string(needed) + " bytes");
  }
  return {};
}

/// What a launch asks for holds every array of its blocks, and its blocks have the agents that the loops are over.
Outcome check_launches(const Machine& machine, const Ast& ast, const PrintFacts& facts) {
  for (const PrintFacts::Buffer& buffer : facts.buffers) {
    const Space* space = machine.find_space(buffer.space);
    const Level* owner = space == nullptr ? nullptr : machine.find_level(space->level);
    if (owner == nullptr || owner->kind != LevelKind::independent) continue;
    const auto launch = std::find_if(facts.launches.begin(), facts.launches.end(), [&](const PrintFacts::Launch& l) { return l.kernel == buffer.region; });
    if (launch == facts.launches.end()) return Refutation{"array " + buffer.array + " lies in no launch", "Ast: " + buffer.array + " in " + buffer.space, {}};
    if (buffer.alignment > 0 && buffer.offset % buffer.alignment != 0)
      return differs("the place of " + buffer.array, "byte " + std::to_string(buffer.offset), "a multiple of " + std::to_string(buffer.alignment));
    if (buffer.offset < 0 || buffer.offset + buffer.bytes > launch->shared_bytes)
      return differs("what launch " + launch->kernel + " asks for", std::to_string(launch->shared_bytes) + " bytes",
                     std::to_string(buffer.offset + buffer.bytes) + " bytes, with " + buffer.array);
  }
  long threads = 0, most = 0;
  for (const PrintFacts::Loop& loop : facts.loops) threads = std::max(threads, loop.threads);
  for (const PrintFacts::Launch& launch : facts.launches) most = std::max(most, launch.threads);
  if (threads > most) return differs("the agents of a block of kernel " + ast.kernel, std::to_string(most), std::to_string(threads));
  return {};
}

/// Stores past the caches happen where the Ast wants them, and a fence follows before another agent may look: at the end of what one
/// iteration of the threads' loop does, else at the end of the kernel.
Outcome check_fences(const Ast& ast, const PrintFacts& facts, const Expected& expected) {
  if (facts.leaves.size() != expected.leaves.size()) return miscounted("leaves", facts.leaves.size(), expected.leaves.size());
  for (std::size_t i = 0; i < facts.leaves.size(); ++i) {
    const PrintFacts::Leaf& leaf = facts.leaves[i];
    if (!leaf.streamed) continue;
    if (!ast.statements.at(leaf.statement).stream) return differs("how " + leaf.statement + " stores", "past the caches", "through the caches");
    const auto& thread = expected.threads[i];
    const bool fenced = !thread ? facts.fenced : *thread < facts.loops.size() && facts.loops[*thread].fenced;
    if (!fenced) return Refutation{"no fence follows what " + leaf.statement + " stores past the caches", "leaf " + leaf.statement, {}};
  }
  return {};
}

bool is_empty(const PrintFacts& facts) {
  return facts.loops.empty() && facts.conditions.empty() && facts.buffers.empty() && facts.leaves.empty();
}

}  // namespace

bool mentions(const AstExprPtr& expr, const std::string& name) {
  if (expr->kind == AstExpr::Kind::name) return expr->name == name;
  return std::any_of(expr->arguments.begin(), expr->arguments.end(), [&](const AstExprPtr& a) { return mentions(a, name); });
}

void check_text(Checker& checker) {
  const auto& kernels = *checker.execution.kernels;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const auto entry = [&](const std::string& what) {
      return obligation("text", what + " of kernel " + kernels[k].kernel, {}, kernel_entry(k, ""));
    };
    if (k >= checker.facts.size() || is_empty(checker.facts[k])) {
      checker.report.skip(entry("text"), "no print facts");
      continue;
    }
    const PrintFacts& facts = checker.facts[k];
    Expected expected;
    collect(checker.machine, kernels[k].root, expected);
    checker.report.prove(entry("loops"), [&] { return check_loops(checker, k, facts); });
    checker.report.prove(entry("conditions"), [&] { return check_conditions(facts, expected); });
    checker.report.prove(entry("leaves"), [&] { return check_leaves(checker.program(), checker.machine, kernels[k], facts, expected); });
    if (std::any_of(facts.leaves.begin(), facts.leaves.end(), [](const PrintFacts::Leaf& leaf) { return leaf.streamed; }))
      checker.report.prove(entry("fences"), [&] { return check_fences(kernels[k], facts, expected); });
    checker.report.prove(entry("storage"), [&] { return check_buffers(kernels[k], facts); });
    if (is_launched(checker.machine)) checker.report.prove(entry("launches"), [&] { return check_launches(checker.machine, kernels[k], facts); });
    check_layouts(checker, k);
    check_wide_text(checker, k);
    check_box_copies(checker, k);
    check_sync_text(checker, k);
  }
}

}  // namespace tileopt::proof
