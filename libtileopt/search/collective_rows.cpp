/// Rows of a tile that run along several loops of the result: which of its digits are whose, and in how many ways.
#include <algorithm>

#include "search/collective_planner.h"
#include "search/plan_collective.h"

namespace tileopt {

std::vector<DigitPart> digit_parts(const std::vector<long>& extents, long radix, long weight) {
  std::vector<DigitPart> parts;
  long nearer = 1;  // rows of one value of the loop
  for (std::size_t i = extents.size(); i-- > 0;) {
    const long reach = nearer * extents[i], low = std::max(weight, nearer), high = std::min(weight * radix, reach);
    const bool still = radix == 1 && parts.empty() && (weight < reach || i == 0);
    if (low < high || still) parts.insert(parts.begin(), DigitPart{i, still ? 1 : high / low, (still ? weight : low) / nearer});
    nearer = reach;
  }
  return parts;
}

namespace {

/// All ways to share factors of the rows, the nearest first, among the loops: each takes a run of them, loops from `at` on the rest. Those
/// with long runs of near rows come first.
void share(const std::vector<long>& factors, std::size_t from, const std::vector<std::size_t>& loops, std::size_t at, const std::vector<SideLoop>& taken, std::vector<std::vector<SideLoop>>& found) {
  if (from == factors.size()) found.emplace_back(taken.rbegin(), taken.rend());
  for (; at < loops.size(); ++at) {
    long extent = 1;
    for (std::size_t taking = from; taking < factors.size(); ++taking) extent *= factors[taking];
    for (std::size_t end = factors.size(); end > from; extent /= factors[--end]) {
      std::vector<SideLoop> more = taken;
      more.push_back({loops[at], extent});
      share(factors, end, loops, at + 1, more, found);
    }
  }
}

}  // namespace

std::vector<std::vector<SideLoop>> share_rows(const PlanRequest& request, const Contraction& contraction, const Atom& atom, long groups) {
  const AccessView &left = contraction.view.accesses[1 + contraction.left], &result = contraction.view.accesses[0];
  const isl::set domain = request.program().statement(contraction.statement).domain.intersect_params(request.program().context());
  std::vector<std::size_t> loops = {contraction.rows};
  for (const std::size_t m : contraction.outer_left)
    if (left.moves_with(m) && moves_alone(result, m) && is_rectangular(domain, m, contraction.fixed)) loops.push_back(m);
  for (const std::size_t m : loops)
    if (left.dims_of(m).size() != 1) return {};
  if (loops.size() == 1) return {};
  // As they follow each other in a box of the left factor.
  std::stable_sort(loops.begin(), loops.end(), [&](std::size_t a, std::size_t b) { return left.dims_of(a).front() > left.dims_of(b).front(); });
  std::vector<std::pair<long, long>> digits;  // step, radix
  for (std::size_t d = 0; d < atom.steps.rows.size(); ++d) {
    const std::size_t box = atom.extents.size();
    if (atom.steps.rows[d] > 0) digits.emplace_back(atom.steps.rows[d], d < box ? atom.extents[d] : atom.agents[d - box]);
  }
  std::sort(digits.begin(), digits.end());
  std::vector<long> factors;
  for (const auto& [step, radix] : digits) factors.push_back(radix);
  if (groups > 1) factors.push_back(groups);
  std::vector<std::vector<SideLoop>> found;
  share(factors, 0, loops, 0, {}, found);
  const auto is_plain = [&](const std::vector<SideLoop>& rows) { return rows.size() == 1 && rows.front().member == contraction.rows; };
  found.erase(std::remove_if(found.begin(), found.end(), is_plain), found.end());
  return found;
}

}  // namespace tileopt
