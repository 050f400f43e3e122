#include <unistd.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "explore/measured_trials.h"
#include "explore/rank_quality.h"
#include "explore/search.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/guard.h"
#include "frontends/cli/items.h"
#include "frontends/cli/scratch.h"
#include "frontends/cli/space_text.h"
#include "frontends/cli/stop_signal.h"
#include "space/describe_space.h"
#include "support/json_text.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

constexpr int deterministic_calls = 9;
constexpr double no_seconds = 1e-6;      ///< so that the number of calls alone decides
constexpr std::size_t most_reasons = 8;  ///< refusals that the summary lists

[[noreturn]] void reject(const std::string& message, const std::string& hint) {
  throw Errors(Diagnostic{ErrorCode::invalid_option, {}, message, hint, ""});
}

void check_options(const Options& options) {
  if (!options.plan.empty() && !options.plan.starts_with("@"))
    reject("a resolved plan leaves nothing to search for",
           "use --pin or --plan @NAME to keep some decisions, or `measure` for one plan");
  if (!options.deterministic) return;
  if (options.budget > 0)
    reject("--deterministic and --budget contradict each other: a budget in seconds depends on the clock", "give --trials");
  if (options.overlap) reject("--deterministic and --overlap contradict each other", "leave one of them out");
}

MeasureOptions measure_options(const Item& item, const Options& options) {
  MeasureOptions measured;
  if (item.sizes.size() != item.program->parameters().size())
    throw Errors(Diagnostic{ErrorCode::invalid_size,
                            {item.file, 0, 0},
                            "program `" + item.program->name() + "` is searched at given sizes, and some are missing",
                            "give all of them: --size " + join(item.program->parameters(), "=...,") + "=...",
                            ""});
  measured.sizes = Sizes(item.sizes.begin(), item.sizes.end());
  measured.seed = options.seed;
  measured.seconds = options.deterministic ? no_seconds : options.seconds;
  if (options.deterministic) measured.least_calls = deterministic_calls;
  measured.threads = item.request.resolve.threads;
  return measured;
}

SearchOptions search_options(const Options& options) {
  SearchOptions search;
  search.strategy = options.strategy;
  search.trials = options.trials;
  search.seconds = options.budget;
  search.seed = options.seed;
  search.jobs = options.jobs;
  search.overlap = options.overlap;
  search.finalists = options.finalists;
  search.rounds = options.rounds;
  search.records = options.records;
  search.stop = [] { return StopSignal::noted() != 0; };
  return search;
}

/// Uniform draws alone say how a model orders the space: a guided search looks where the model points.
RankQuality quality_of(const SearchResult& result) {
  std::vector<Prediction> predictions;
  for (const Trial& trial : result.trials)
    if (trial.outcome == RecordOutcome::measured) predictions.push_back({trial.predicted, trial.seconds});
  return rank_quality(predictions);
}

/// The planner's own time, measured as the best one was; 0: it was not.
double planned_seconds(const SearchResult& result) {
  for (const Finalist& finalist : result.finalists)
    if (finalist.trial == 0) return finalist.seconds;
  const bool measured = !result.trials.empty() && result.trials.front().outcome == RecordOutcome::measured;
  return measured ? result.trials.front().seconds : 0;
}

Document trial_document(const PlanSpace& space, const Trial& trial) {
  return {{"point", space.key(trial.point)}, {"plan", trial.plan_hash},  {"outcome", outcome_name(trial.outcome)},
          {"detail", trial.detail},          {"seconds", trial.seconds}, {"noise", trial.noise},
          {"predicted", trial.predicted},    {"resumed", trial.resumed}};
}

Document result_document(const PlanSpace& space, const SpaceCount& count, const SearchResult& result) {
  Document d = {{"space", {{"version", space_version}, {"points", count.points}, {"exact", count.exact}}},
                {"interrupted", result.interrupted},
                {"exhausted", result.exhausted},
                {"repeated", result.repeated}};
  d["outcomes"] = Document::object();
  for (const auto& [outcome, number] : result.tally()) d["outcomes"][outcome_name(outcome)] = number;
  d["refused"] = Document::object();
  for (const auto& [reason, number] : result.refused) d["refused"][reason] = number;
  d["quality"] = quality_document(quality_of(result));
  d["planned_seconds"] = planned_seconds(result);
  d["best_seconds"] = result.best_seconds();
  if (const auto best = result.best()) d["best"] = point_document(space, result.trials[*best].point, result.best_seconds());
  d["finalists"] = Document::array();
  for (const Finalist& finalist : result.finalists)
    d["finalists"].push_back({{"plan", result.trials[finalist.trial].plan_hash},
                              {"seconds", finalist.seconds},
                              {"noise", finalist.noise},
                              {"planned", finalist.trial == 0}});
  return d;
}

std::string search_text(const PlanSpace& space, const SpaceCount& count, const SearchResult& result, const Work& work) {
  std::ostringstream text;
  text << "  space: " << (count.exact ? "" : "at most ") << count_text(count.points) << " points, version " << space_version
       << "\n";
  std::vector<std::string> outcomes;
  for (const auto& [outcome, number] : result.tally()) outcomes.push_back(std::to_string(number) + " " + outcome_name(outcome));
  const auto resumed = std::count_if(result.trials.begin(), result.trials.end(), [](const Trial& t) { return t.resumed; });
  text << "  " << result.trials.size() << " trials: " << (outcomes.empty() ? "none" : join(outcomes, ", "))
       << (resumed > 0 ? " (" + std::to_string(resumed) + " from the records)" : "")
       << (result.exhausted ? "; the space has no other plans" : "") << "\n";
  std::vector<std::pair<int, std::string>> reasons;
  for (const auto& [reason, number] : result.refused) reasons.emplace_back(number, reason);
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t r = 0; r < reasons.size() && r < most_reasons; ++r)
    text << "    " << reasons[r].first << " points without a plan: " << reasons[r].second << "\n";
  if (reasons.size() > most_reasons)
    text << "    and " << reasons.size() - most_reasons << " more reasons (--report lists them)\n";
  const auto best = result.best();
  if (!best) return text.str();
  const Trial& trial = result.trials[*best];
  text << "  fastest: " << milliseconds_text(result.best_seconds()) << ", " << rate_text(work, result.best_seconds());
  if (const double planned = planned_seconds(result); planned > 0 && *best != 0)
    text << ", " << std::setprecision(3) << planned / result.best_seconds() << "x the planner's own ("
         << milliseconds_text(planned) << ")";
  if (*best == 0) text << ", the planner's own";
  text << "\n    " << space.text(trial.point) << "\n";
  if (*best != 0)
    for (const std::string& call : pin_calls(space, trial.point)) text << "    --pin '" << call << "'\n";
  const RankQuality quality = quality_of(result);
  text << "  the cost model on these trials: Kendall tau " << std::setprecision(2) << quality.tau
       << ", within the fastest quarter " << quality.tau_fastest << "\n";
  return text.str();
}

class ProgressLine {
 public:
  explicit ProgressLine(int trials) : trials_(trials), terminal_(isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() {
    if (shown_) std::cerr << "\r\033[K" << std::flush;
  }
  void show(const SearchResult& so_far) {
    if (!terminal_) return;
    shown_ = true;
    std::cerr << "\r\033[K" << so_far.trials.size() << "/" << trials_ << " trials, fastest "
              << milliseconds_text(so_far.best_seconds()) << std::flush;
  }

 private:
  int trials_;
  bool terminal_, shown_ = false;
};

ItemResult search_one(const Item& item, const Options& options) {
  check_options(options);
  const Machine& machine = item.request.machine;
  MeasuredTrials trials(item.program, machine, measure_options(item, options));
  const Candidate<PlanSpace> described = describe_space(*item.program, item.request.pins, machine, item.request.resolve);
  if (const auto* refused = std::get_if<Infeasible>(&described)) return refused_result(item, *refused);
  const PlanSpace& space = std::get<PlanSpace>(described);
  PointScorer scorer(space, machine, item.request.resolve.threads);
  const Resolver resolve = [&](const Point& point) -> Candidate<Plan> {
    try {
      TILEOPT_TRY(resolved, resolve_point(space, point, *item.program, machine, item.request.resolve));
      return std::move(resolved.plan);
    } catch (const InternalError& error) {
      // One point costs itself; the summary lists it among the points without a plan.
      return Infeasible{"internal", "resolve_plan", "", "", error.what()};
    }
  };
  SearchResult found;
  {
    ProgressLine line(options.trials);
    found = run_search(space, scorer, resolve, trials, search_options(options),
                       [&](const SearchResult& so_far) { line.show(so_far); });
  }
  const SpaceCount count = space.count();
  const auto best = found.best();
  ItemResult result;
  if (best && !options.output.empty())
    write_file(output_for(item, options.output, ".json"), json_text(found.trials[*best].plan.write()) + "\n");
  const Document summary = result_document(space, count, found);
  if (!options.report.empty()) {
    Document report = summary;
    report["trials"] = Document::array();
    for (const Trial& trial : found.trials) report["trials"].push_back(trial_document(space, trial));
    write_file(output_for(item, options.report, ".json"), json_text(report) + "\n");
  }
  if (!options.json)
    std::cout << item.program->name() << " on " << machine.name << "\n" << search_text(space, count, found, trials.work());
  for (const auto& [name, value] : summary.items()) result.details[name] = value;
  result.summary =
      best ? "fastest " + milliseconds_text(found.best_seconds()) + " of " + std::to_string(found.trials.size()) + " trials"
           : "no plan was measured";
  if (found.interrupted) {
    result.exit_code = 128 + StopSignal::noted();
    result.summary = "stopped: " + result.summary;
    result.messages =
        item.program->name() + ": " + result.summary + "; the same command goes on from " + options.records + "\n";
  } else if (!best) {
    result.exit_code = exit_not_proved;
    result.messages = item.program->name() + ": none of " + std::to_string(found.trials.size()) +
                      " trials was measured: see the records in " + options.records + "\n";
  }
  return result;
}

}  // namespace

int run_search_command(const Options& options) {
  const ScratchFolder scratch;
  const StopSignal stop;
  return run_items(options, [&](const Item& item) { return search_one(item, options); });
}

}  // namespace tileopt::cli
