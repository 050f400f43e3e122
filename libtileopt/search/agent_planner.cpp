/// What the loops of a proposal are to blocks and threads: free, shared, along neighbours in memory; and what they would cost.
#include "search/agent_planner.h"

#include <algorithm>

namespace tileopt {
namespace {

constexpr double kLaunchSeconds = 4e-6;
constexpr double kStepSeconds = 2e-9;    ///< of one instance in one thread
constexpr double kResidentThreads = 2048;  ///< of a multiprocessor
constexpr double kWorthSharing = 32;     ///< trips of a loop that threads of a block share: a warp's

/// Iterations of the member touch neighbours in memory: elements, or runs of as many as another member takes side by side.
bool touches_neighbours(const StatementView& view, const AccessView& access, std::size_t member) {
  if (access.unit_stride(member)) return true;
  if (!access.affine || !access.contiguous || access.dims_of(member) != std::vector<std::size_t>{*access.contiguous}) return false;
  for (std::size_t run = 0; run < view.members.size(); ++run)
    if (access.unit_stride(run) && view.ranges[run].constant == access.coefficients[*access.contiguous][member]) return true;
  return false;
}

}  // namespace

long power_of_two(double extent, long most) {
  long result = 1;
  while (result < most && double(result) < extent) result *= 2;
  return result;
}

void AgentPlanner::note_determined(const std::string& statement) {
  const Program& program = request_.program();
  const StatementMembers& members = proposal_.members.at(statement);
  const isl::set domain = program.statement(statement).domain.intersect_params(program.context());
  const isl::set values = isl::manage(isl_set_reset_tuple_id(domain.apply(isl::map(program.ctx(), members.map)).release()));  // { [m] }
  for (std::size_t m = 0; m < members.members.size(); ++m) {
    const auto count = static_cast<unsigned>(members.members.size() - m - 1);
    const isl::set prefix = isl::manage(isl_set_project_out(values.copy(), isl_dim_set, static_cast<unsigned>(m) + 1, count));
    isl_map* pairs = isl_map_from_domain_and_range(prefix.copy(), prefix.copy());
    for (std::size_t i = 0; i < m; ++i) pairs = isl_map_equate(pairs, isl_dim_in, static_cast<int>(i), isl_dim_out, static_cast<int>(i));
    const isl::map same_before = isl::manage(pairs);
    const auto last = static_cast<int>(m);
    const isl::map same = isl::manage(isl_map_equate(same_before.copy(), isl_dim_in, last, isl_dim_out, last));
    if (same_before.is_subset(same)) determined_.insert({statement, members.members[m]});
  }
}

double AgentPlanner::trips(const std::string& member, const std::vector<std::string>& statements) const {
  double result = 1;
  for (const std::string& statement : statements) {
    if (determined_.count({statement, member}) != 0) continue;
    const StatementView& view = views_.at(statement);
    const std::size_t m = view.member_index(member);
    if (m < view.members.size()) result = std::max(result, view.ranges[m].typical);
  }
  return result;
}

bool AgentPlanner::is_free(const std::string& member, const std::vector<std::string>& statements) const {
  const auto has_no_loop = [&](const std::string& statement) { return determined_.count({statement, member}) != 0; };
  if (std::all_of(statements.begin(), statements.end(), has_no_loop)) return false;
  if (!proposal_.is_free(member)) return false;
  return std::none_of(statements.begin(), statements.end(), [&](const std::string& statement) {
    const StatementView& view = views_.at(statement);
    const std::size_t m = view.member_index(member);
    return m < view.members.size() && view.guarded[m];
  });
}

AgentPlanner::Roles AgentPlanner::roles_of(const Chain& chain, bool in_block, const Ambition& ambition) const {
  Roles roles;
  if (in_block || !ambition.parallel) {
    roles.inside = chain.members;
    return roles;
  }
  for (const std::string& member : chain.members) {
    const bool free = is_free(member, chain.statements);
    if (free && (ambition.hoist || roles.inside.empty())) roles.parallel.push_back(member);
    else if (roles.parallel.empty() && !ambition.hoist) roles.host.push_back(member);
    else roles.inside.push_back(member);
  }
  if (!roles.parallel.empty()) return roles;
  // Blocks may still start below.
  roles.host.insert(roles.host.end(), roles.inside.begin(), roles.inside.end());
  roles.inside.clear();
  return roles;
}

/// Neighbours in memory become neighbours in a warp: the member along which most accesses are contiguous, the written one counting most.
std::string AgentPlanner::contiguous_member(const std::vector<std::string>& members, const std::vector<std::string>& statements) const {
  std::string best;
  double best_score = 0;
  for (const std::string& member : members) {
    double score = 0;
    for (const std::string& statement : statements) {
      const StatementView& view = views_.at(statement);
      const std::size_t m = view.member_index(member);
      if (m >= view.members.size()) continue;
      for (const AccessView& access : view.accesses) {
        if (touches_neighbours(view, access, m)) score += access.write ? 3 : 2;
        else if (access.moves_with(m)) score -= 1;
      }
    }
    if (best.empty() || score >= best_score) {
      best = member;
      best_score = score;
    }
  }
  return best;
}

std::optional<long> AgentPlanner::pinned(const std::string& level, const std::string& member, const std::vector<std::string>& statements) const {
  for (const std::string& statement : statements) {
    const StatementView& view = views_.at(statement);
    const std::size_t m = view.member_index(member);
    if (m >= view.members.size() || view.iterators[m].empty()) continue;
    if (const auto extent = request_.pins.tile(level, statement, view.iterators[m])) return extent;
  }
  return std::nullopt;
}

/// Elements of tensors that outlive the kernel which are touched by accesses for which neighbours along the member are neighbours in memory.
double AgentPlanner::runs(const std::string& member, const std::vector<std::string>& statements) const {
  double count = 0;
  for (const std::string& statement : statements) {
    const StatementView& view = views_.at(statement);
    const std::size_t m = view.member_index(member);
    if (m >= view.members.size()) continue;
    for (const AccessView& access : view.accesses) {
      if (!touches_neighbours(view, access, m) || request_.program().tensor(access.tensor).role == TensorRole::local) continue;
      double elements = 1;
      for (std::size_t other = 0; other < view.members.size(); ++other)
        if (access.moves_with(other)) elements *= trips(view.members[other], {statement});
      count += elements;
    }
  }
  return count;
}

double AgentPlanner::best_inner_runs(const Tree& tree, const std::vector<std::string>& statements) const {
  Tree below;
  const Chain chain = follow_chain(tree, statements, proposal_, below);
  const std::string shared = shared_member(chain);
  if (!shared.empty()) return runs(shared, statements);
  double count = 0;
  if (below.kind() == Tree::Kind::sequence)
    for (const Tree::Branch& branch : below.branches()) count += best_inner_runs(branch.tree, branch.statements);
  return count;
}

bool AgentPlanner::inner_runs(const Tree& tree, const std::vector<std::string>& statements) const {
  Tree below;
  const Chain chain = follow_chain(tree, statements, proposal_, below);
  if (below.kind() != Tree::Kind::sequence) return false;
  const Roles roles = roles_of(chain, false, {});
  double inside = 0, outside = 0;
  for (const Tree::Branch& branch : below.branches()) {
    if (roles.parallel.empty() && inner_runs(branch.tree, branch.statements)) return true;
    inside += best_inner_runs(branch.tree, branch.statements);
  }
  for (const std::string& member : roles.parallel) outside = std::max(outside, runs(member, statements));
  return !roles.parallel.empty() && inside > outside;
}

/// The free loop of a chain that the threads of a block share: neighbours in memory where there are any.
std::string AgentPlanner::shared_member(const Chain& chain) const {
  std::vector<std::string> candidates;
  for (const std::string& member : chain.members)
    if (is_free(member, chain.statements) && trips(member, chain.statements) > 1) candidates.push_back(member);
  if (candidates.empty()) return "";
  const std::string best = contiguous_member(candidates, chain.statements);
  if (trips(best, chain.statements) >= kWorthSharing || runs(best, chain.statements) == 0) return best;
  // Neighbours along a short loop: a longer one may go over them in runs.
  std::erase_if(candidates, [&](const std::string& member) { return trips(member, chain.statements) < kWorthSharing || runs(member, chain.statements) == 0; });
  return candidates.empty() ? "" : contiguous_member(candidates, chain.statements);
}

long AgentPlanner::partial_results(const Tree& tree, const std::vector<std::string>& statements) const {
  Tree below;
  const Chain chain = follow_chain(tree, statements, proposal_, below);
  const std::string shared = shared_member(chain);
  const std::optional<Wide> wide = shared.empty() ? std::nullopt : wide_member(chain, shared);
  const long run = wide && wide->member == shared ? wide->box.extent : 1;
  long count = 1;
  for (const std::string& statement : statements) {
    const StatementView& view = views_.at(statement);
    const std::size_t m = view.member_index(shared);
    if (m < view.members.size()) count = std::max(count, view.ranges[m].constant.value_or(1) / run);
  }
  if (below.kind() == Tree::Kind::sequence)
    for (const Tree::Branch& branch : below.branches()) count = std::max(count, partial_results(branch.tree, branch.statements));
  const Level* level = request_.machine.find_level(agent_);
  return level->count > 0 && count > level->count ? 1 : count;
}

long AgentPlanner::iterations_beside(const Tree& tree, const std::string& member, const std::vector<std::string>& statements, long threads) const {
  for (const Tree::Branch& branch : tree.branches()) {
    Tree below;
    follow_chain(branch.tree, branch.statements, proposal_, below);
    if (below.kind() == Tree::Kind::sequence) return 1;
  }
  return power_of_two(trips(member, statements), kBlockThreads / threads);
}

/// The loop that threads share, where each of them may take several of its iterations at once; or one inside of it that is as long as that.
std::optional<AgentPlanner::Wide> AgentPlanner::wide_member(const Chain& chain, const std::string& shared) const {
  if (!chain.ends_in_leaf && !chain.ends_in_leaves) return std::nullopt;
  const auto assigns = [&](const std::string& name) { return request_.program().statement(name).combine == Combine::assign; };
  if (std::all_of(chain.statements.begin(), chain.statements.end(), assigns)) {
    const auto box = choose_wide_box(request_, views_, chain.statements, shared);
    if (box) return trips(shared, chain.statements) >= double(2 * box->extent) ? std::optional(Wide{shared, *box}) : std::nullopt;
  }
  if (chain.statements.size() != 1 || chain.members.empty() || chain.members.back() == shared) return std::nullopt;
  const auto box = choose_wide_box(request_, views_, chain.statements, chain.members.back());
  const StatementView& view = views_.at(chain.statements.front());
  const std::size_t m = view.member_index(chain.members.back());
  const bool fits = box && m < view.members.size() && view.ranges[m].constant == box->extent && view.ranges[m].least == 0;
  return fits ? std::optional(Wide{chain.members.back(), *box}) : std::nullopt;
}

/// Predicted: every launch costs its start, every instance a step of one of the threads that are there. `parallel` = 0: outside of blocks.
double AgentPlanner::estimate(const Tree& tree, const std::vector<std::string>& statements, const Ambition& ambition, double launches, double parallel,
                              double serial) const {
  Tree below;
  const Chain chain = follow_chain(tree, statements, proposal_, below);
  const Roles roles = roles_of(chain, parallel > 0, ambition);
  for (const std::string& member : roles.host) launches *= trips(member, statements);
  for (const std::string& member : roles.parallel) parallel = std::max(parallel, 1.0) * trips(member, statements);
  for (const std::string& member : roles.inside) serial *= trips(member, statements);
  if (below.kind() == Tree::Kind::sequence) {
    double sum = 0;
    for (const Tree::Branch& branch : below.branches()) sum += estimate(branch.tree, branch.statements, ambition, launches, parallel, serial);
    return sum;
  }
  const double resident = kResidentThreads * request_.machine.cores, threads = std::max(parallel, 1.0);
  // Without blocks all of it is one launch of one thread.
  const double starts = parallel > 0 ? launches : 1, steps = parallel > 0 ? serial : serial * launches;
  return starts * (kLaunchSeconds + steps * kStepSeconds * std::max(1.0, threads / resident));
}

}  // namespace tileopt
