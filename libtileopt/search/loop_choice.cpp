#include "search/loop_choice.h"

#include <algorithm>
#include <cmath>

#include "search/lane_box.h"
#include "search/recurrence.h"
#include "support/text.h"

namespace tileopt {
namespace {

/// A tiled nest must promise this much to be tried before the plain one: tiles cost loop overhead that the model only estimates. Where
/// iterations wait for each other that overhead is hidden.
constexpr double kWorthwhile = 0.85;
/// A staged tile: runs of four lines for the stores, one line for the loads.
constexpr long kStagedRun = 64, kStagedRows = 16;
/// A tile of squares that are turned in registers: measured best of 16 to 512 by 16 to 128 on 8192 x 8192 of f32.
constexpr long kTurnedRun = 128, kTurnedRows = 64;

/// Trip count of a member at the typical sizes: the longest over the statements.
double member_trips(const std::string& member, const std::vector<std::string>& statements,
                    const std::map<std::string, StatementView>& views) {
  double trips = 1;
  for (const std::string& statement : statements) {
    const StatementView& view = views.at(statement);
    const std::size_t m = view.member_index(member);
    if (m < view.members.size()) trips = std::max(trips, view.ranges[m].typical);
  }
  return trips;
}

/// The chain as one nest for the model; members numbered outer loops first.
class NestBuilder {
 public:
  NestBuilder(const PlanRequest& request, const Chain& chain, const std::vector<std::string>& outer,
              const std::map<std::string, StatementView>& views)
      : chain_(chain), outer_(outer) {
    members_ = outer;
    members_.insert(members_.end(), chain.members.begin(), chain.members.end());
    for (const std::string& member : members_) trips_.push_back(member_trips(member, chain.statements, views));
    for (const std::string& statement : chain.statements) {
      const StatementView& view = views.at(statement);
      nest_.operations += count_operations(request.program().statement(statement));
      nest_.recurrence_operations += recurrence_operations(request.program().statement(statement));
      for (const AccessView& access : view.accesses) {
        if (access.affine) add_access(view, access);
      }
    }
  }

  double trips(const std::string& member) const { return trips_[index(member)]; }
  /// Some statement reads what another of its instances wrote.
  bool recurrent() const { return nest_.recurrence_operations > 0; }
  NestCost estimate(const ChainChoice& choice, bool vector, const Machine& machine) const {
    Nest nest = nest_;
    nest.vector = vector;
    if (recurrent()) nest.independent = independent_iterations(choice);
    for (const std::string& member : outer_) nest.loops.push_back({index(member), trips(member)});
    for (const auto& group : chain_.groups) {
      for (const std::string& member : group) {
        const auto tile = choice.tiles.find(member);
        if (tile != choice.tiles.end()) nest.loops.push_back({index(member), std::ceil(trips(member) / double(tile->second))});
      }
      for (const std::string& member : choice.order) {
        if (!contains(group, member)) continue;
        const auto tile = choice.tiles.find(member);
        nest.loops.push_back({index(member), tile == choice.tiles.end() ? trips(member) : std::min(trips(member), double(tile->second))});
      }
    }
    return estimate_nest(nest, members_.size(), machine);
  }

 private:
  /// Iterations of the innermost loops that carry nothing.
  double independent_iterations(const ChainChoice& choice) const {
    double iterations = 1;
    for (std::size_t i = choice.order.size(); i-- > 0 && !contains(chain_.carried, choice.order[i]);) {
      const auto tile = choice.tiles.find(choice.order[i]);
      iterations *= tile == choice.tiles.end() ? trips(choice.order[i]) : std::min(trips(choice.order[i]), double(tile->second));
    }
    return iterations;
  }
  std::size_t index(const std::string& member) const {
    return static_cast<std::size_t>(std::find(members_.begin(), members_.end(), member) - members_.begin());
  }
  void add_access(const StatementView& view, const AccessView& access) {
    NestAccess result{access.tensor, access.element_bytes, access.write, {}};
    // The model takes the last subscript for the contiguous one.
    for (const std::size_t d : access.order) {
      const std::vector<long>& row = access.coefficients[d];
      std::vector<long> mapped(members_.size(), 0);
      for (std::size_t m = 0; m < view.members.size(); ++m) {
        const std::size_t at = index(view.members[m]);
        if (at < members_.size()) mapped[at] = row[m];
      }
      result.coefficients.push_back(std::move(mapped));
    }
    if (!access.order.empty() && !access.contiguous) result.coefficients.emplace_back(members_.size(), 0);
    nest_.accesses.push_back(std::move(result));
  }

  const Chain& chain_;
  const std::vector<std::string>& outer_;
  std::vector<std::string> members_;
  std::vector<double> trips_;
  Nest nest_;
};

/// Tile extents that pins fix, by member: at whatever level, the member is cut there. 0: it is not to be cut.
std::map<std::string, long> pinned_tiles(const PlanRequest& request, const Chain& chain, const std::map<std::string, StatementView>& views) {
  std::map<std::string, long> tiles;
  for (const TilePin& pin : request.pins.tiles) {
    for (const std::string& statement : chain.statements) {
      if (!pin.loop.statement.empty() && pin.loop.statement != statement) continue;
      const StatementView& view = views.at(statement);
      for (std::size_t m = 0; m < view.members.size(); ++m) {
        if (contains(chain.members, view.members[m]) && view.iterators[m] == pin.loop.name) tiles[view.members[m]] = pin.extent;
      }
    }
  }
  return tiles;
}

std::vector<long> tile_sizes(double trips, bool lanes) {
  std::vector<long> sizes = {0};
  for (const long size : lanes ? std::vector<long>{32, 64, 128, 256, 512, 1024} : std::vector<long>{8, 16, 32, 64, 128}) {
    if (double(size) * 2 <= trips) sizes.push_back(size);
  }
  return sizes;
}

/// All combinations of tile sizes for one group; what `base` cuts already stays.
void search_tiles(const NestBuilder& nest, const std::vector<std::string>& group, const ChainChoice& base, bool vector,
                  const Machine& machine, std::vector<ChainChoice>& found) {
  std::vector<std::vector<long>> sizes;
  double combinations = 1;
  for (const std::string& member : group) {
    if (base.tiles.count(member)) sizes.push_back({base.tiles.at(member)});
    else if (contains(base.whole, member)) sizes.push_back({0});
    else sizes.push_back(tile_sizes(nest.trips(member), vector && member == base.order.back()));
    combinations *= double(sizes.back().size());
    if (combinations > 4000) sizes.back() = {0};
  }
  std::vector<std::size_t> at(group.size(), 0);
  for (;;) {
    std::size_t g = 0;
    while (g < group.size() && ++at[g] == sizes[g].size()) at[g++] = 0;
    if (g == group.size()) return;
    ChainChoice choice = base;
    for (std::size_t m = 0; m < group.size(); ++m) {
      if (sizes[m][at[m]] > 0) choice.tiles[group[m]] = sizes[m][at[m]];
    }
    const NestCost cost = nest.estimate(choice, vector, machine);
    choice.seconds = cost.seconds;
    choice.binding = cost.binding;
    found.push_back(std::move(choice));
  }
}

/// The loop along which the result is contiguous, and another one, in the last permutable group, along which an operand is that does not stand
/// still along the first; two empty names where there is no such pair.
std::pair<std::string, std::string> crossed_members(const Chain& chain, const StatementView& view) {
  const AccessView& write = view.accesses[0];
  const std::vector<std::string>& group = chain.groups.back();
  std::string stored, loaded;
  for (const std::string& member : group) {
    if (write.unit_stride(view.member_index(member))) stored = member;
  }
  for (const std::string& member : group) {
    for (std::size_t a = 1; a < view.accesses.size() && !stored.empty(); ++a) {
      const AccessView& read = view.accesses[a];
      const bool across = read.affine && read.moves_with(view.member_index(stored)) && read.unit_stride(view.member_index(member));
      if (member != stored && across && write.moves_with(view.member_index(member))) loaded = member;
    }
  }
  if (stored.empty() || loaded.empty()) return {};
  return {stored, loaded};
}

/// A transposition in registers: squares of whole vectors are loaded line by line, turned, and stored line by line. Tiles of them keep the
/// pages of both sides near.
std::optional<ChainChoice> turned_choice(const PlanRequest& request, const Chain& chain, const std::map<std::string, StatementView>& views,
                                         const ChainChoice& base, const NestBuilder& nest) {
  if (!chain.ends_in_leaf || chain.statements.size() != 1) return std::nullopt;
  const StatementView& view = views.at(chain.statements.front());
  if (request.program().statement(view.statement).combine != Combine::assign || !view.accesses[0].affine) return std::nullopt;
  const auto [stored, loaded] = crossed_members(chain, view);
  if (stored.empty() || !choose_square_box(request, view, loaded, stored)) return std::nullopt;
  ChainChoice choice = base;
  if (nest.trips(stored) >= 2 * kTurnedRun && !contains(base.whole, stored)) choice.tiles.emplace(stored, kTurnedRun);
  if (nest.trips(loaded) >= 2 * kTurnedRows && !contains(base.whole, loaded)) choice.tiles.emplace(loaded, kTurnedRows);
  choice.order = chain.members;
  for (const std::string& member : {stored, loaded}) {
    choice.order.erase(std::find(choice.order.begin(), choice.order.end(), member));
    choice.order.push_back(member);
  }
  choice.turned = loaded;
  choice.lanes = stored;
  choice.distribute = false;
  const NestCost cost = nest.estimate(choice, true, request.machine);
  choice.seconds = cost.seconds;
  choice.binding = cost.binding;
  return choice;
}

/// A transposition: the result is contiguous along one loop, an operand along another, in one permutable group. Read in rows, the
/// result is gathered in a near tile and stored in rows: neither side touches a line for one element only.
std::optional<ChainChoice> staged_choice(const PlanRequest& request, const Chain& chain, const std::map<std::string, StatementView>& views,
                                         const ChainChoice& base, const NestBuilder& nest) {
  if (!chain.ends_in_leaf || chain.statements.size() != 1) return std::nullopt;
  const StatementView& view = views.at(chain.statements.front());
  if (request.program().statement(view.statement).combine != Combine::assign || !view.accesses[0].affine) return std::nullopt;
  const auto [stored, loaded] = crossed_members(chain, view);
  if (stored.empty()) return std::nullopt;
  if (nest.trips(stored) < 2 * kStagedRun || nest.trips(loaded) < 2 * kStagedRows) return std::nullopt;
  if (contains(base.whole, stored) || contains(base.whole, loaded)) return std::nullopt;
  ChainChoice choice = base;
  choice.tiles.emplace(stored, kStagedRun);
  choice.tiles.emplace(loaded, kStagedRows);
  choice.order = chain.members;
  choice.order.erase(std::find(choice.order.begin(), choice.order.end(), loaded));
  choice.order.push_back(loaded);
  choice.staged = true;
  const NestCost cost = nest.estimate(choice, false, request.machine);
  choice.seconds = cost.seconds;
  choice.binding = cost.binding;
  return choice;
}

/// Members of the last group that lanes may run along: where everything is assigned, and stays together, those that carry nothing.
std::vector<std::string> candidates(const PlanRequest& request, const Chain& chain) {
  const bool assigned = std::all_of(chain.statements.begin(), chain.statements.end(), [&](const std::string& statement) {
    return request.program().statement(statement).combine == Combine::assign;
  });
  if (!assigned || !chain.ends_in_leaf) return chain.groups.back();
  std::vector<std::string> members;
  for (const std::string& member : chain.groups.back()) {
    if (!contains(chain.carried, member)) members.push_back(member);
  }
  return members;
}

}  // namespace

Chain follow_chain(const Tree& tree, const std::vector<std::string>& statements, const ScheduleProposal& proposal, Tree& below) {
  Chain chain;
  chain.statements = statements;
  Tree node = tree;
  while (node.kind() == Tree::Kind::band) {
    chain.members.push_back(node.dim());
    node = node.child();
  }
  below = node;
  for (const std::string& member : chain.members) {
    if (!proposal.is_free(member)) chain.carried.push_back(member);
    const auto set = std::find_if(proposal.permutable.begin(), proposal.permutable.end(), [&](const auto& s) { return contains(s, member); });
    const bool continues = !chain.groups.empty() && set != proposal.permutable.end() && contains(*set, chain.groups.back().front());
    if (continues) chain.groups.back().push_back(member);
    else chain.groups.push_back({member});
  }
  chain.ends_in_leaf = below.kind() == Tree::Kind::leaf;
  chain.ends_in_leaves = below.kind() == Tree::Kind::sequence &&
                         std::all_of(below.branches().begin(), below.branches().end(),
                                     [](const Tree::Branch& b) { return b.tree.kind() == Tree::Kind::leaf; });
  return chain;
}

bool moves_as_lanes(const Program& program, const StatementView& view, const std::string& member) {
  const std::size_t m = view.member_index(member);
  if (m >= view.members.size() || view.guarded[m]) return false;
  const AccessView& write = view.accesses[0];
  if (!write.affine) return false;
  const bool reduces = program.statement(view.statement).combine != Combine::assign && !write.moves_with(m);
  if (!write.unit_stride(m) && !reduces) return false;
  int neighbours = 0, scattered = 0;
  for (std::size_t a = 1; a < view.accesses.size(); ++a) {
    const AccessView& read = view.accesses[a];
    if (read.unit_stride(m)) ++neighbours;
    else if (read.moves_with(m)) ++scattered;
  }
  return scattered <= neighbours;
}

bool suits_lanes(const Program& program, const StatementView& view, const std::string& member) {
  return moves_as_lanes(program, view, member) && program.statement(view.statement).combine != Combine::monoid;
}

std::string vector_member(const PlanRequest& request, const std::vector<std::string>& group, const std::vector<std::string>& statements,
                          const std::map<std::string, StatementView>& views) {
  std::string best;
  double best_score = 0;
  for (const std::string& member : group) {
    double score = 0;
    bool suits = true;
    for (const std::string& statement : statements) {
      const StatementView& view = views.at(statement);
      suits = suits && suits_lanes(request.program(), view, member);
      const std::size_t m = view.member_index(member);
      if (m >= view.members.size()) continue;
      score += view.accesses[0].unit_stride(m) ? 4 : 2;
      for (std::size_t a = 1; a < view.accesses.size(); ++a) {
        score += view.accesses[a].unit_stride(m) ? 2 : view.accesses[a].moves_with(m) ? -3 : 1;
      }
      if (request.pins.vectorized(statement, view.iterators[m])) score += 1000;
    }
    if (suits && score > best_score) {
      best_score = score;
      best = member;
    }
  }
  return best;
}

std::vector<ChainChoice> rank_choices(const PlanRequest& request, const Chain& chain, const std::vector<std::string>& outer,
                                      const std::map<std::string, StatementView>& views) {
  ChainChoice plain;
  plain.order = chain.members;
  for (const auto& [member, extent] : pinned_tiles(request, chain, views)) {
    if (extent > 0) plain.tiles[member] = extent;
    else plain.whole.push_back(member);
  }
  if (chain.members.empty()) return {plain};
  const NestBuilder nest(request, chain, outer, views);
  const bool at_leaves = chain.ends_in_leaf || chain.ends_in_leaves;
  const std::string lanes = at_leaves ? vector_member(request, candidates(request, chain), chain.statements, views) : "";
  std::vector<ChainChoice> choices;
  ChainChoice base = plain;
  if (!lanes.empty()) {
    base.order.erase(std::find(base.order.begin(), base.order.end(), lanes));
    base.order.push_back(lanes);
    base.distribute = chain.ends_in_leaves;
  }
  const NestCost cost = nest.estimate(base, !lanes.empty(), request.machine);
  base.seconds = cost.seconds;
  base.binding = cost.binding;

  if (const auto turned = at_leaves ? turned_choice(request, chain, views, base, nest) : std::nullopt) choices.push_back(*turned);
  if (lanes.empty()) {
    if (const auto staged = staged_choice(request, chain, views, base, nest)) choices.push_back(*staged);
  }
  const auto widest = std::max_element(chain.groups.begin(), chain.groups.end(), [](const auto& a, const auto& b) { return a.size() <= b.size(); });
  // Above further loops the model does not see what the tiles would hold.
  if (at_leaves && widest->size() >= 2) {
    std::vector<ChainChoice> tiled;
    search_tiles(nest, *widest, base, !lanes.empty(), request.machine, tiled);
    std::stable_sort(tiled.begin(), tiled.end(), [](const ChainChoice& a, const ChainChoice& b) { return a.seconds < b.seconds; });
    for (std::size_t i = 0; i < tiled.size() && i < 2; ++i) {
      if (tiled[i].seconds < (nest.recurrent() ? 1.0 : kWorthwhile) * base.seconds) choices.push_back(tiled[i]);
    }
  }
  choices.push_back(base);
  if (base.distribute) {
    ChainChoice together = base;
    together.distribute = false;
    choices.push_back(together);
  }
  if (plain.order != base.order || base.distribute) {
    plain.seconds = nest.estimate(plain, false, request.machine).seconds;
    choices.push_back(plain);
  }
  return choices;
}

}  // namespace tileopt
