/// The search: points become Plans, Plans become records, and the best of them are measured again, taking turns
/// (docs/search.md).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "explore/strategy.h"
#include "explore/trials.h"
#include "support/error.h"

namespace tileopt {

struct SearchOptions {
  std::string strategy = "evolutionary";
  int trials = 200;    ///< Plans that are built, failures among them; those in the file of records count
  double seconds = 0;  ///< stop proposing after so long; 0: no limit
  std::uint64_t seed = 1;
  int jobs = 2;                ///< Plans that are compiled at a time, and then timed one by one
  bool overlap = false;        ///< compile the next Plans while these are timed: faster, and the times are worth less
  int finalists = 4;           ///< measured again, taking turns; 0: the first measurement decides
  int rounds = 5;              ///< turns of each finalist
  std::string records;         ///< file to append to, and to resume from; "" = none
  std::function<bool()> stop;  ///< asked between steps; true: end with the best so far. What is in flight then is dropped
};

/// One Plan that was tried.
struct Trial {
  Point point;
  std::string plan_hash;
  Plan plan;
  double predicted = 0;  ///< seconds of the analytic cost
  RecordOutcome outcome = RecordOutcome::measured;
  std::string detail;
  double seconds = 0, noise = 0;
  bool resumed = false;  ///< taken from the file of records
};

struct Finalist {
  std::size_t trial = 0;          ///< among SearchResult::trials
  double seconds = 0, noise = 0;  ///< of all its turns
};

struct SearchResult {
  std::vector<Trial> trials;           ///< in the order in which they were proposed
  std::map<std::string, int> refused;  ///< points without a Plan, by the planner's reason: "legality: ..."
  int repeated = 0;                    ///< points whose Plan another point had given already
  std::vector<Finalist> finalists;     ///< best first
  bool interrupted = false, exhausted = false;
  std::map<RecordOutcome, int> tally() const;
  /// Of the finalists, else of the trials. Nothing where none was measured.
  std::optional<std::size_t> best() const;
  double best_seconds() const;
};

/// Told after every trial: how many are done, and the best so far.
using SearchProgress = std::function<void(const SearchResult& so_far)>;

/// The Plan of a point, or why there is none; see resolve_point.
using Resolver = std::function<Candidate<Plan>(const Point& point)>;

/// Searches until a budget is used up. Every trial is appended to the file of records before the next one is timed, so that a
/// kill costs what is in flight. Started again with the same options, it takes what the file holds of the same key and Plan for
/// measured, walks the same way, and goes on. The planner's own Plan is the first trial.
/// @throws Errors(file_access) of the file of records.
SearchResult run_search(const PlanSpace& space, PointScorer& scorer, const Resolver& resolve, Trials& trials,
                        const SearchOptions& options, const SearchProgress& progress = nullptr);

}  // namespace tileopt
