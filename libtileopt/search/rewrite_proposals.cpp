#include "search/rewrite_proposals.h"

#include <algorithm>
#include <optional>
#include <set>

#include "interpreter/interpreter.h"
#include "ir/body.h"
#include "rewrites/rewrite.h"
#include "rewrites/order_edit.h"
#include "search/choose_multiplier.h"
#include "search/lane_box.h"
#include "search/statement_view.h"
#include "support/text.h"

namespace tileopt {

namespace {

isl::map access_map(const Program& program, const Statement& statement, const Access& access) {
  return access.index.as_map().intersect_domain(statement.domain.intersect_params(program.context()));
}

/// Names of a statement that pins may use.
std::vector<std::string> names_of(const Statement& statement) {
  std::vector<std::string> names = statement.iterators;
  names.push_back(statement.name);
  names.push_back(statement.write.tensor);
  return names;
}

/// The one read of a tensor in the program; nothing where there are none or several.
std::optional<std::pair<const Statement*, const Access*>> only_read(const Program& program, const std::string& tensor) {
  std::optional<std::pair<const Statement*, const Access*>> found;
  for (const Statement& s : program.statements())
    for (const Access& read : s.reads) {
      if (read.tensor != tensor) continue;
      if (found) return std::nullopt;
      found = {&s, &read};
    }
  return found;
}

/// A local whose elements are read once, and not by a product that a register tile would read many times.
std::vector<Proposal> propose_inline(const Program& program, const Machine&, const ResolveOptions&) {
  std::vector<Proposal> proposals;
  for (const Statement& producer : program.statements()) {
    const std::string& local = producer.write.tensor;
    if (program.tensor(local).role != TensorRole::local || producer.combine != Combine::assign || producer.conditional()) continue;
    const auto use = only_read(program, local);
    if (!use || !access_map(program, *use->first, *use->second).is_injective()) continue;
    const Binary* product = std::get_if<Binary>(&use->first->body->node);
    if (use->first->combine == Combine::sum && product && product->op == BinaryOp::mul) continue;
    proposals.push_back({{"inline", {local}, {}}, "every element of " + local + " is read once, by " + use->first->name + ": it need not be stored", names_of(producer)});
  }
  return proposals;
}

/// The iterator is in the subscripts, not only in the conditions of an access.
bool moves_with(const Access& access, const Statement& statement, std::size_t iterator) {
  const isl::pw_multi_aff index = isl::manage(isl_pw_multi_aff_gist(access.index.copy(), statement.domain.copy()));
  return isl_pw_multi_aff_involves_dims(index.get(), isl_dim_in, static_cast<unsigned>(iterator), 1) != isl_bool_false;
}

/// A reduction over a range that ends with a loop of the result, of terms that do not move with it.
std::vector<Proposal> propose_scan(const Program& program, const Machine&, const ResolveOptions&) {
  std::vector<Proposal> proposals;
  for (const Statement& s : program.statements()) {
    if (s.combine == Combine::assign || s.conditional()) continue;
    for (std::size_t i = 0; i < s.iterators.size(); ++i) {
      if (!moves_with(s.write, s, i)) continue;
      if (std::any_of(s.reads.begin(), s.reads.end(), [&](const Access& read) { return moves_with(read, s, i); })) continue;
      const auto at = static_cast<unsigned>(i);
      const isl::set any_value = isl::manage(isl_set_eliminate(s.domain.copy(), isl_dim_set, at, 1));
      const isl::set own = isl::manage(isl_set_project_out(isl_set_project_out(s.domain.copy(), isl_dim_set, at + 1,
                                           static_cast<unsigned>(s.iterators.size()) - at - 1), isl_dim_set, 0, at));
      isl_set* range = isl_set_insert_dims(own.copy(), isl_dim_set, 0, at);
      range = isl_set_insert_dims(range, isl_dim_set, at + 1, static_cast<unsigned>(s.iterators.size()) - at - 1);
      range = isl_set_set_tuple_name(range, s.name.c_str());
      if (any_value.intersect(isl::manage(range)).is_equal(s.domain)) continue;  // the range does not depend on the loop
      proposals.push_back({{"scan", {s.name, s.iterators[i]}, {}}, "the terms of " + s.write.tensor + " grow along " + s.iterators[i] + ": linear work instead of quadratic", names_of(s)});
    }
  }
  return proposals;
}

constexpr long kLeastParts = 32, kBlockParts = 512;  ///< partial results of a reduction along a row, one a thread of its block: a warp's; measured on an H200: rows lose again with 1024
constexpr double kRounds = 4, kManyRounds = 8;  ///< of accesses of a thread: a loop unrolled as often has them all in flight
constexpr long kLastParts = 16;        ///< ... and of those: what remains is short for one thread
constexpr double kWorthSplitting = 512;  ///< trips
constexpr double kWorthSharing = 64;     ///< trips of a row that threads of a block read together

/// Threads that share a row: each has some accesses to wait for at once. Where a row is reduced more than once, or what combines two terms is more than
/// an instruction, the instructions around each thread's loops count, and fewer threads do (H200, rows of 8192 bf16, 4 and 8 rounds, us: layernorm 165,
/// 157, softmax 199, 183, argmax of f32 278, 155; but rmsnorm 136, 169, which only waits for memory).
long parts_of_row(const Program& program, const Statement& s, std::size_t along, double extent, long run) {
  const auto reads = [&](const Statement& other) {
    return std::any_of(s.reads.begin(), s.reads.end(), [&](const Access& read) {
      return moves_with(read, s, along) && std::any_of(other.reads.begin(), other.reads.end(), [&](const Access& access) { return access.tensor == read.tensor; });
    });
  };
  const auto& statements = program.statements();
  const auto reductions = std::count_if(statements.begin(), statements.end(), [&](const Statement& other) { return other.combine != Combine::assign && reads(other); });
  const double rounds = reductions > 1 || s.combine == Combine::monoid ? kManyRounds : kRounds;
  long parts = kLeastParts;
  while (parts < kBlockParts && extent >= double(2 * parts * run) * rounds) parts *= 2;
  return parts;
}

/// Where one step of the iterator is a step to the neighbour in memory.
bool runs_along(const Program& program, const Statement& s, const Access& access, std::size_t iterator) {
  const StatementView view = view_statement(program, s.name, iterator_members(s), {});
  for (std::size_t a = 0; a < view.accesses.size(); ++a) {
    const Access& other = a == 0 ? s.write : s.reads[a - 1];
    if (&other == &access) return view.accesses[a].unit_stride(iterator);
  }
  return false;
}

/// The iterator of a reduction whose terms lie side by side along it, and along no other; nothing where terms are used for several elements,
/// as in products of matrices.
std::optional<std::size_t> row_iterator(const Program& program, const Statement& s) {
  std::vector<std::size_t> outer, inner;
  for (std::size_t i = 0; i < s.iterators.size(); ++i) (moves_with(s.write, s, i) ? outer : inner).push_back(i);
  if (inner.empty()) return std::nullopt;
  const std::size_t k = inner.back();
  bool along = false;
  for (const Access& read : s.reads) {
    if (!moves_with(read, s, k)) continue;
    along = along || runs_along(program, s, read, k);
    for (const std::size_t i : outer) {
      if (runs_along(program, s, read, i)) return std::nullopt;
      if (outer.size() > 1 && !moves_with(read, s, i)) return std::nullopt;
    }
  }
  return along ? std::optional(k) : std::nullopt;
}

constexpr double kThreadsToKeepBusy = 1024;  ///< of a multiprocessor: half of what it can hold
constexpr long kMostParts = 64;

/// The iterator of a reduction that few threads would run one after the other, each for an element of its own, and the number of partial
/// results that would keep a GPU busy; nothing where there is enough to do, or terms are used for several elements.
std::optional<std::pair<std::size_t, long>> long_iterator(const Program& program, const Statement& s, const StatementView& view, const Machine& machine) {
  std::vector<std::size_t> outer, inner;
  for (std::size_t i = 0; i < s.iterators.size(); ++i) (moves_with(s.write, s, i) ? outer : inner).push_back(i);
  if (inner.size() != 1 || outer.empty() || inner[0] + 1 != s.iterators.size() || view.ranges[inner[0]].constant || view.ranges[inner[0]].typical < kWorthSplitting) return std::nullopt;
  for (const Access& read : s.reads)
    for (const std::size_t i : outer)
      if (outer.size() > 1 && moves_with(read, s, inner[0]) && !moves_with(read, s, i)) return std::nullopt;
  if (is_tuple(program.tensor(s.write.tensor).type)) return std::nullopt;
  double threads = 1;
  for (const std::size_t i : outer) threads *= view.ranges[i].typical;
  const double wanted = kThreadsToKeepBusy * machine.cores;
  long parts = 1;
  while (parts < kMostParts && threads * double(parts) < wanted && double(parts) * 16 < view.ranges[inner[0]].typical) parts *= 2;
  return parts < 4 ? std::nullopt : std::optional(std::pair(inner[0], parts));
}

constexpr double kBlocksToKeepBusy = 8;   ///< of a multiprocessor, each with a sum of its own
constexpr double kWorthBlocks = 1 << 16;  ///< terms of one element that several blocks share

/// Sums of so few elements that most of a GPU would idle: how blocks share the terms of each. Along the outermost loop of several, or in runs
/// of the only one that a block's threads then read together.
std::optional<Rewriting> share_among_blocks(const Program& program, const Statement& s, const StatementView& view, const Machine& machine) {
  double elements = 1, terms = 1;
  std::vector<std::size_t> inner;
  for (std::size_t i = 0; i < s.iterators.size(); ++i) {
    const bool outer = moves_with(s.write, s, i);
    (outer ? elements : terms) *= view.ranges[i].typical;
    if (!outer) inner.push_back(i);
  }
  if (inner.empty() || terms < kWorthBlocks) return std::nullopt;
  const std::size_t at = inner.front();
  const long run = std::max(1L, widest_run(machine, program, view, s.iterators[inner.back()]));
  const long chunk = inner.size() > 1 ? 1 : kBlockParts * run * static_cast<long>(kRounds);
  long parts = 1;
  while (parts < kBlockParts && elements * double(2 * parts) <= kBlocksToKeepBusy * machine.cores && double(2 * parts * chunk) <= view.ranges[at].typical) parts *= 2;
  if (parts < 4) return std::nullopt;
  return Rewriting{"split", {s.name, s.iterators[at]}, {{"chunk", chunk}, {"parts", parts}}};
}

/// Loops of the result that stand outside of all others.
std::size_t leading_loops(const Statement& s) {
  std::size_t count = 0;
  while (count < s.iterators.size() && moves_with(s.write, s, count)) ++count;
  return count;
}

/// The loops outside of the one that is split stay around its parts.
std::map<std::string, long> with_shared(std::map<std::string, long> sizes, std::size_t loops) {
  if (loops > 0) sizes["shared"] = static_cast<long>(loops);
  return sizes;
}

constexpr long kScatterThreads = 1024;   ///< of a block that accumulates into a copy of its own
constexpr long kPrivateBytes = 16 << 10;  ///< of a copy: as many blocks as a multiprocessor has threads for can have theirs
constexpr double kResidentThreads = 2048;

/// Sums into few elements that data chooses, on machines whose blocks have memory of their own: a copy for each block.
std::optional<Proposal> privatize(const Program& program, const Statement& s, const Machine& machine, const TypicalSizes& sizes) {
  const bool atomic = std::any_of(machine.atoms.begin(), machine.atoms.end(), [](const Atom& atom) { return atom.body == "atomic_update"; });
  const bool shared = std::any_of(machine.spaces.begin(), machine.spaces.end(), [&](const Space& space) { return machine.is_of_block(space.name); });
  if (!atomic || !shared || s.guards.empty() || s.guard_of(0) != nullptr || moves_with(s.write, s, 0)) return std::nullopt;
  const StatementView view = view_statement(program, s.name, iterator_members(s), sizes);
  double terms = 1, elements = 1;
  for (std::size_t i = 0; i < s.iterators.size(); ++i) {
    if (!view.guarded[i] && moves_with(s.write, s, i)) return std::nullopt;  // rows of elements: as they are
    if (!view.guarded[i]) terms *= view.ranges[i].typical;
  }
  for (const std::int64_t extent : evaluate_shape(program.tensor(s.write.tensor), sizes)) elements *= double(extent);
  const long most = kPrivateBytes / size_bytes(program.tensor(s.write.tensor).type);
  if (elements > double(most) || terms < kWorthBlocks) return std::nullopt;
  const long resident = static_cast<long>(kResidentThreads / double(kScatterThreads) * machine.cores);
  const auto parts = std::min(resident, static_cast<long>(terms / std::max(double(kScatterThreads) * kRounds, 4 * elements)));
  if (parts < 4) return std::nullopt;
  return Proposal{{"split", {s.name, s.iterators.front()}, {{"chunk", kScatterThreads}, {"most", most}, {"parts", parts}}},
                  "few elements of " + s.write.tensor + " are updated often: every block has a copy of its own", names_of(s)};
}

/// Reductions along rows, on machines whose blocks have threads that read neighbours together: a partial result a thread.
std::vector<Proposal> propose_split(const Program& program, const Machine& machine, const ResolveOptions& options) {
  std::vector<Proposal> proposals;
  if (!machine.has_agents()) return proposals;
  const TypicalSizes sizes = complete_sizes(program, options.typical_sizes);
  for (const Statement& s : program.statements()) {
    if (s.combine == Combine::assign || s.iterators.empty()) continue;
    if (s.conditional()) {
      if (auto copies = privatize(program, s, machine, sizes)) proposals.push_back(std::move(*copies));
      continue;
    }
    const StatementView view = view_statement(program, s.name, iterator_members(s), sizes);
    const std::size_t last = s.iterators.size() - 1;
    // The partial results of a block, combined: read in turn from a local of as many parts.
    const std::optional<long> count = view.ranges[last].constant;
    const bool of_block = count && *count > 2 * kLastParts && *count <= kBlockParts && *count % kLastParts == 0;
    const bool combines = s.reads.size() == 1 && program.tensor(s.reads[0].tensor).role == TensorRole::local && of_block && !moves_with(s.write, s, last);
    if (combines) {
      proposals.push_back({{"split", {s.name, s.iterators[last]}, with_shared({{"chunk", 1}, {"parts", kLastParts}}, last)},
                           "the partial results of a block are combined by several of its threads", names_of(s)});
      continue;
    }
    const auto k = row_iterator(program, s);
    if (const auto shared = k ? share_among_blocks(program, s, view, machine) : std::nullopt) {
      proposals.push_back({*shared, "few elements of " + s.write.tensor + " have long sums: several blocks share each", names_of(s)});
      continue;
    }
    if (const auto column = k ? std::nullopt : long_iterator(program, s, view, machine)) {
      proposals.push_back({{"split", {s.name, s.iterators[column->first]}, {{"chunk", 1}, {"parts", column->second}}},
                           "few elements of " + s.write.tensor + " have long sums: several threads share each", names_of(s)});
      continue;
    }
    if (!k || view.ranges[*k].typical < kWorthSharing) continue;
    const long run = std::max(1L, widest_run(machine, program, view, s.iterators[*k]));
    proposals.push_back({{"split", {s.name, s.iterators[*k]}, with_shared({{"chunk", run}, {"parts", parts_of_row(program, s, *k, view.ranges[*k].typical, run)}}, leading_loops(s))},
                         "the terms of " + s.write.tensor + " lie side by side along " + s.iterators[*k] + ": the threads of a block read them together", names_of(s)});
  }
  return proposals;
}

constexpr long kChainThreads = 256;   ///< of a block that scans a row: enough to have its next elements on their way, few enough for several blocks a multiprocessor
constexpr long kNarrowRun = 4;         ///< elements that a thread scans where it cannot read several at once

constexpr double kLeastPart = 8192;     ///< elements that are worth a block of their own

/// The statements that add the terms of recurrences along rows that lie along the result, with their loops' ranges.
std::vector<std::pair<const Statement*, StatementView>> row_recurrences(const Program& program, const Machine& machine, const TypicalSizes& sizes) {
  std::vector<std::pair<const Statement*, StatementView>> found;
  if (!machine.has_agents()) return found;
  for (const Statement& s : program.statements()) {
    if (s.combine == Combine::assign || s.conditional() || s.iterators.empty()) continue;
    const auto carries = [&](const Statement& other) {
      const bool own = other.combine == Combine::assign && other.write.tensor == s.write.tensor && other.iterators == s.iterators;
      return own && other.reads.size() == 1 && other.reads[0].tensor == s.write.tensor;
    };
    const std::size_t along = s.iterators.size() - 1;
    if (std::none_of(program.statements().begin(), program.statements().end(), carries) || !runs_along(program, s, s.write, along)) continue;
    StatementView view = view_statement(program, s.name, iterator_members(s), sizes);
    if (view.ranges[along].typical >= kWorthSharing) found.emplace_back(&s, std::move(view));
  }
  return found;
}

/// A long vector: blocks share it. (Of matrices with few long rows the planner would take minutes.)
std::vector<Proposal> propose_reduce_scan(const Program& program, const Machine& machine, const ResolveOptions& options) {
  std::vector<Proposal> proposals;
  for (const auto& [s, view] : row_recurrences(program, machine, complete_sizes(program, options.typical_sizes))) {
    const double steps = view.ranges.back().typical;
    if (s->iterators.size() > 1 || steps < 8 * kLeastPart) continue;
    long block = static_cast<long>(kLeastPart);
    while (steps / double(block) > kBlocksToKeepBusy * machine.cores) block *= 2;
    proposals.push_back({{"reduce_scan", {s->name}, {{"block", block}}}, "the elements of " + s->write.tensor + " are many: several blocks scan a part each", names_of(*s)});
  }
  return proposals;
}

/// Recurrences along rows, on machines whose blocks have threads: a block a row, its threads a run each.
std::vector<Proposal> propose_chained_scan(const Program& program, const Machine& machine, const ResolveOptions& options) {
  std::vector<Proposal> proposals;
  for (const auto& [s, view] : row_recurrences(program, machine, complete_sizes(program, options.typical_sizes))) {
    const double steps = view.ranges.back().typical;
    const long widest = widest_run(machine, program, view, s->iterators.back()), run = widest > 0 ? widest : kNarrowRun;
    long threads = kLeastParts, groups = 4;
    while (threads < kChainThreads && double(threads * run) < steps) threads *= 2;
    while (groups * groups < threads) groups *= 2;
    proposals.push_back({{"chained_scan", {s->name}, {{"block", threads * run}, {"run", run}, {"groups", groups}}},
                         "the threads of a block scan rows of " + s->write.tensor + " together, " + std::to_string(run) + " elements each at a time", names_of(*s)});
  }
  return proposals;
}

constexpr double kWorthOffsetting = 32;  ///< products for every element that is read once more

/// The products that an atom adds side by side, of factors of these types; 0: no atom takes them.
long depth_of_dots(const Machine& machine, const std::string& left, const std::string& right) {
  long depth = 0;
  for (const Atom& atom : machine.atoms) {
    const AtomOperand *l = atom.find_operand("left"), *r = atom.find_operand("right");
    if (atom.body == "dot" && l != nullptr && r != nullptr && l->element == left && r->element == right) depth = std::max(depth, depth_of(atom));
  }
  return depth;
}

/// Products of signed bytes, on machines that add more products of unsigned by signed ones at once.
std::vector<Proposal> propose_offset(const Program& program, const Machine& machine, const ResolveOptions& options) {
  std::vector<Proposal> proposals;
  const long depth = std::max(depth_of_dots(machine, "u8", "i8"), depth_of_dots(machine, "i8", "u8"));
  if (machine.has_agents() || depth <= std::max(depth_of_dots(machine, "i8", "i8"), depth_of_dots(machine, "i16", "i16"))) return proposals;
  const TypicalSizes sizes = complete_sizes(program, options.typical_sizes);
  for (const Statement& s : program.statements()) {
    const bool bytes = s.reads.size() == 2 && std::all_of(s.reads.begin(), s.reads.end(), [&](const Access& read) { return program.tensor(read.tensor).type == ElementType::i8; });
    if (!bytes || s.combine != Combine::sum || s.conditional() || s.body->type != ElementType::i32) continue;
    const StatementView view = view_statement(program, s.name, iterator_members(s), sizes);
    double products = 1, read[2] = {1, 1};
    for (std::size_t i = 0; i < s.iterators.size(); ++i) {
      products *= view.ranges[i].typical;
      for (std::size_t r = 0; r < 2; ++r) read[r] *= moves_with(s.reads[r], s, i) ? view.ranges[i].typical : 1;
    }
    if (products < kWorthOffsetting * (read[0] + read[1])) continue;
    proposals.push_back({{"offset", {s.name}, {}}, "machine " + machine.name + " adds " + std::to_string(depth) + " products of unsigned by signed bytes at once",
                         {s.name, s.reads[0].tensor, s.reads[1].tensor}});
  }
  return proposals;
}

constexpr double kLeastTile = 64;  ///< of every side of a product, from which agents multiply tiles of it together

/// Products whose result an argument holds, on machines whose agents multiply such matrices together into registers of their own.
std::vector<Proposal> propose_local(const Program& program, const Machine& machine, const ResolveOptions& options) {
  std::vector<Proposal> proposals;
  const TypicalSizes sizes = complete_sizes(program, options.typical_sizes);
  for (const Statement& s : program.statements()) {
    const Tensor& result = program.tensor(s.write.tensor);
    const Binary* product = std::get_if<Binary>(&s.body->node);
    if (s.combine != Combine::sum || s.conditional() || result.role == TensorRole::local || product == nullptr || product->op != BinaryOp::mul || s.reads.size() != 2) continue;
    if (!program.numerics().reassociate || !program.numerics().flush_subnormals || s.reads[0].tensor == s.reads[1].tensor) continue;
    const Read *left = std::get_if<Read>(&without_casts(product->left)->node), *right = std::get_if<Read>(&without_casts(product->right)->node);
    if (left == nullptr || right == nullptr) continue;
    const auto type = [&](const Read* read) { return type_name(program.tensor(s.reads[read->access].tensor).type); };
    const auto fits = [&](const Atom& atom) {
      return atom.is_collective() && atom.find_operand("left")->element == type(left) && atom.find_operand("right")->element == type(right) && atom.find_operand("result")->element == type_name(result.type);
    };
    if (std::none_of(machine.atoms.begin(), machine.atoms.end(), fits)) continue;
    const StatementView view = view_statement(program, s.name, iterator_members(s), sizes);
    // One sum, rows of one factor alone and columns of the other alone, all of them long enough; what is left counts products.
    long sums = 0, rows = 0, lanes = 0;
    bool large = true;
    for (std::size_t i = 0; i < s.iterators.size(); ++i) {
      const bool of_result = view.accesses[0].moves_with(i), of_left = view.accesses[1 + left->access].moves_with(i), of_right = view.accesses[1 + right->access].moves_with(i);
      const bool outer = of_result && of_left && of_right;
      sums += !of_result ? 1 : 0;
      rows += of_result && of_left && !of_right ? 1 : 0;
      lanes += of_result && of_right && !of_left ? 1 : 0;
      large = large && (outer || (view.ranges[i].typical >= kLeastTile && (of_result || !view.ranges[i].constant || *view.ranges[i].constant > kLeastTile)));
    }
    // It starts from zero in the loops that it accumulates in.
    std::vector<std::string> all;
    for (const Statement& other : program.statements()) all.push_back(other.name);
    const std::vector<std::string> loops = loops_around(program, s.name);
    const auto starts = [&](const std::string& name) { return name != s.name && program.statement(name).write.tensor == s.write.tensor; };
    const bool together = loops.size() > 1 && [&] {
      const std::vector<std::string> sharing = sharers(program.order(), s.name, loops[loops.size() - 2], all);
      return std::any_of(sharing.begin(), sharing.end(), starts);
    }();
    if (!together) continue;
    const bool affine = std::all_of(view.accesses.begin(), view.accesses.end(), [](const AccessView& access) { return access.affine; });
    if (sums != 1 || rows != 1 || lanes != 1 || !large || !affine) continue;
    proposals.push_back({{"local", {s.name}, {}}, "threads of machine " + machine.name + " multiply " + type(left) + " by " + type(right) + " together, in registers of their own: " + result.name + " is stored from them", {s.name, s.write.tensor}});
  }
  return proposals;
}

/// Functions that cost more than storing and loading their value.
std::set<Function> costly_calls(const Statement& statement) {
  std::set<Function> found;
  walk_expr(statement.body, [&](const Expr& e) {
    const auto* call = std::get_if<Call>(&e.node);
    if (call == nullptr) return;
    switch (call->function) {
      case Function::exp: case Function::exp2: case Function::log: case Function::tanh: case Function::erf: found.insert(call->function); break;
      case Function::sqrt: case Function::rsqrt: case Function::abs: case Function::floor: case Function::ceil: case Function::round: break;
    }
  });
  return found;
}

/// What a statement computes and a later one computes again for an element of its result: kept there meanwhile, where what lies between the
/// two stays in the second cache. GPUs compute again rather than go to memory.
std::vector<Proposal> propose_keeping(const Program& program, const Machine& machine, const ResolveOptions& options) {
  std::vector<Proposal> proposals;
  if (machine.has_agents()) return proposals;
  const TypicalSizes sizes = complete_sizes(program, options.typical_sizes);
  const Memory* cache = machine.find_memory("L2");
  for (const Statement& s : program.statements()) {
    const std::set<Function> calls = costly_calls(s);
    if (calls.empty() || s.conditional()) continue;
    const StatementView view = view_statement(program, s.name, iterator_members(s), sizes);
    bool later = false;
    for (const Statement& last : program.statements()) {
      if (last.name == s.name) later = true;
      if (!later || last.name == s.name || last.combine != Combine::assign || last.conditional() || program.tensor(last.write.tensor).role == TensorRole::local) continue;
      const std::set<Function> again = costly_calls(last);
      if (std::none_of(calls.begin(), calls.end(), [&](Function f) { return again.contains(f); })) continue;
      double bytes = size_bytes(program.tensor(last.write.tensor).type);
      for (std::size_t i = common_loops(program, s.name, last.name); i < s.iterators.size(); ++i) bytes *= view.ranges[i].typical;
      if (cache == nullptr || bytes > cache->capacity / 2) continue;
      std::vector<std::string> touched = names_of(s);
      const std::vector<std::string> theirs = names_of(last);
      touched.insert(touched.end(), theirs.begin(), theirs.end());
      proposals.push_back({{"common_subexpressions", {s.name, last.write.tensor}, {}},
                           last.name + " computes again what " + s.name + " has computed, and can keep it in " + last.write.tensor + " meanwhile", touched});
    }
  }
  return proposals;
}

}  // namespace

const std::vector<ProposalKind>& proposal_kinds() {
  static const std::vector<ProposalKind> kinds = {{"scan", propose_scan}, {"reduce_scan", propose_reduce_scan}, {"chained_scan", propose_chained_scan}, {"inline", propose_inline}, {"split", propose_split}, {"offset", propose_offset}, {"local", propose_local},
                                                   {"common_subexpressions", propose_keeping}};
  return kinds;
}

}  // namespace tileopt
