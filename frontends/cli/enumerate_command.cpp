#include <algorithm>
#include <iostream>
#include <set>

#include "frontends/cli/commands.h"
#include "frontends/cli/items.h"
#include "frontends/cli/space_text.h"
#include "space/describe_space.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

constexpr int kBestSample = 20000;

/// The points that are asked for: the first ones, then random ones (of which the best), each once.
std::vector<std::pair<Point, double>> points_to_list(const PlanSpace& space, PointScorer& scorer, const Options& options) {
  std::vector<std::pair<Point, double>> listed;
  auto point = space.first();
  for (int i = 0; i < options.limit && point; ++i, point = space.next(*point))
    listed.emplace_back(*point, scorer.seconds(*point));
  const int draws = options.sample > 0 ? options.sample : options.best > 0 ? kBestSample : 0;
  std::mt19937_64 random(options.seed);
  std::set<Point> seen;
  std::vector<std::pair<Point, double>> drawn;
  for (int i = 0; i < draws; ++i) {
    const auto sampled = space.sample(random);
    if (!sampled) break;
    if (options.best > 0 && !seen.insert(*sampled).second) continue;
    drawn.emplace_back(*sampled, scorer.seconds(*sampled));
  }
  if (options.best > 0) {
    std::stable_sort(drawn.begin(), drawn.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (drawn.size() > static_cast<std::size_t>(options.best)) drawn.resize(static_cast<std::size_t>(options.best));
  }
  listed.insert(listed.end(), drawn.begin(), drawn.end());
  return listed;
}

ItemResult enumerate_one(const Item& item, const Options& options) {
  if (item.request.plan)
    throw Errors(Diagnostic{ErrorCode::invalid_option,
                            {},
                            "a resolved plan leaves nothing to enumerate",
                            "use --pin or --plan @NAME to keep some decisions",
                            ""});
  const Candidate<PlanSpace> described =
      describe_space(*item.program, item.request.pins, item.request.machine, item.request.resolve);
  if (const auto* refused = std::get_if<Infeasible>(&described)) return refused_result(item, *refused);
  const PlanSpace& space = std::get<PlanSpace>(described);
  PointScorer scorer(space, item.request.machine, item.request.resolve.threads);
  const SpaceCount count = space.count();
  const auto listed = points_to_list(space, scorer, options);

  ItemResult result;
  result.details["space"] = space_document(space, count);
  result.details["points"] = Document::array();
  for (const auto& [point, seconds] : listed) result.details["points"].push_back(point_document(space, point, seconds));
  if (options.json) return result;
  std::cout << item.program->name() << " on " << item.request.machine.name << "\n" << space_text(space, count);
  for (const auto& [point, seconds] : listed) {
    std::cout << "  " << space.key(point) << "  " << milliseconds_text(seconds) << "  " << space.text(point) << "\n";
  }
  return result;
}

}  // namespace

int run_enumerate(const Options& options) {
  return run_items(options, [&](const Item& item) { return enumerate_one(item, options); });
}

}  // namespace tileopt::cli
