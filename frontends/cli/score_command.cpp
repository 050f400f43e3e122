#include <chrono>
#include <cmath>
#include <iostream>
#include <sstream>

#include "explore/rank_quality.h"
#include "driver/predict_device.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/device_text.h"
#include "frontends/cli/guard.h"
#include "frontends/cli/items.h"
#include "frontends/cli/space_text.h"
#include "measure/measure_plan.h"
#include "records/record_file.h"
#include "space/describe_space.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

constexpr int kRateDraws = 20000;

/// One row of the table of features.
struct Scored {
  std::string label;    ///< identity of a record, key of a point, or "plan"
  double measured = 0;  ///< seconds; 0: not measured
  PlanScore score;
};

std::string csv_text(const std::vector<Scored>& rows) {
  std::ostringstream text;
  text.precision(12);
  text << "label,measured,predicted";
  if (!rows.empty())
    for (const auto& [name, value] : rows.front().score.features) text << "," << name;
  text << "\n";
  for (const Scored& row : rows) {
    text << row.label << "," << row.measured << "," << row.score.cost.seconds;
    for (const auto& [name, value] : row.score.features) text << "," << value;
    text << "\n";
  }
  return text.str();
}

/// On machines with agents; nothing on others, and where the passes refuse the plan.
std::optional<double> predicted_seconds(const Item& item, const Plan& plan, const TypicalSizes& sizes) {
  if (!item.request.machine.has_agents()) return std::nullopt;
  const Candidate<DeviceCost> cost = predict_plan(item.program, plan, item.request.machine, find_backend(item.request.backend), sizes);
  return feasible(cost) ? std::optional<double>(std::get<DeviceCost>(cost).seconds) : std::nullopt;
}

/// What the file of records measured of this very program, machine, sizes and threads.
std::vector<Scored> scored_records(const Item& item, const Options& options, std::string& skipped) {
  std::vector<Scored> rows;
  RecordScan scan;
  const std::string machine = machine_hash(item.request.machine);
  for (const Record& record : read_records(options.records, &scan)) {
    const RecordKey& key = record.key;
    if (key.program_hash != item.program->hash() || key.machine_hash != machine ||
        key.threads != item.request.resolve.threads)
      continue;
    if (record.outcome != RecordOutcome::measured || record.origin == "finalist") continue;
    if (!item.sizes.empty() && key.sizes != item.sizes) continue;
    const TypicalSizes sizes(key.sizes.begin(), key.sizes.end());
    const Plan plan = Plan::read(record.plan, options.records);
    rows.push_back({record.id(), record.seconds, score_plan(*item.program, plan, item.request.machine, sizes, key.threads)});
    if (const auto seconds = predicted_seconds(item, plan, sizes)) rows.back().score.cost.seconds = *seconds;
  }
  for (const std::string& message : bad_line_messages(options.records, scan)) skipped += message + "\n";
  if (rows.empty())
    throw Errors(
        Diagnostic{ErrorCode::invalid_option,
                   {options.records, 0, 0},
                   "no measured record of program `" + item.program->name() + "` on machine " + item.request.machine.name,
                   "give the --machine, --threads and --size that were measured, or measure: tileopt-schedule search",
                   ""});
  return rows;
}

/// Points a second, and some of them with their features.
std::vector<Scored> scored_points(const Item& item, const Options& options, ItemResult& result, std::string& text) {
  const Candidate<PlanSpace> described =
      describe_space(*item.program, item.request.pins, item.request.machine, item.request.resolve);
  if (const auto* refused = std::get_if<Infeasible>(&described)) {
    result = refused_result(item, *refused);
    return {};
  }
  const PlanSpace& space = std::get<PlanSpace>(described);
  PointScorer scorer(space, item.request.machine, item.request.resolve.threads);
  std::mt19937_64 random(options.seed);
  std::vector<Point> points;
  const int draws = options.sample > 0 ? options.sample : kRateDraws;
  for (int i = 0; i < draws; ++i) {
    if (auto point = space.sample(random)) points.push_back(std::move(*point));
  }
  if (options.rate) {
    double sum = 0;
    const auto start = std::chrono::steady_clock::now();
    for (const Point& point : points) sum += scorer.seconds(point);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double rate = seconds > 0 && std::isfinite(sum) ? double(points.size()) / seconds : 0;
    result.details["points_per_second"] = rate;
    text += "  " + count_text(rate) + " points scored a second, one thread\n";
  }
  std::vector<Scored> rows;
  if (options.sample > 0)
    for (const Point& point : points)
      rows.push_back(
          {space.key(point), 0, score_point(scorer, space, point, item.request.machine, item.request.resolve.threads)});
  return rows;
}

ItemResult score_one(const Item& item, const Options& options) {
  ItemResult result;
  const Machine& machine = item.request.machine;
  const ShapeCostModel names(machine, 1);
  std::string text = item.program->name() + " on " + machine.name + "\n", skipped;
  std::vector<Scored> rows;
  if (!options.records.empty()) {
    rows = scored_records(item, options, skipped);
    std::vector<Prediction> predictions;
    for (const Scored& row : rows) predictions.push_back({row.score.cost.seconds, row.measured});
    const RankQuality quality = rank_quality(predictions);
    result.details["quality"] = quality_document(quality);
    std::ostringstream line;
    line.precision(3);
    line << "  " << quality.plans << " measured plans: Kendall tau " << quality.tau << ", within the fastest quarter "
         << quality.tau_fastest << "; the plan of least cost runs at " << quality.top_one << " of the fastest one's speed\n";
    text += line.str();
  } else if (options.rate || options.sample > 0) {
    rows = scored_points(item, options, result, text);
    if (result.exit_code != exit_done) return result;
  } else {
    Plan plan;
    if (item.request.plan)
      plan = *item.request.plan;
    else {
      const Candidate<ResolvedPlan> resolved = resolve_plan(*item.program, item.request.pins, machine, item.request.resolve);
      if (const auto* refused = std::get_if<Infeasible>(&resolved)) return refused_result(item, *refused);
      plan = std::get<ResolvedPlan>(resolved).plan;
    }
    const TypicalSizes sizes(item.sizes.begin(), item.sizes.end());
    rows.push_back({"plan", 0, score_plan(*item.program, plan, machine, sizes, item.request.resolve.threads)});
    result.details["features"] = features_document(rows[0].score.features);
    if (machine.has_agents()) {
      const Candidate<DeviceCost> predicted = predict_plan(item.program, plan, machine, find_backend(item.request.backend), sizes);
      if (const auto* refused = std::get_if<Infeasible>(&predicted)) return refused_result(item, *refused);
      const DeviceCost& cost = std::get<DeviceCost>(predicted);
      rows[0].score.cost.seconds = cost.seconds;
      result.details["cost"] = device_cost_document(cost);
      text += "  " + device_cost_text(cost, machine);
    } else {
      result.details["cost"] = cost_document(rows[0].score.cost, names.memory_names());
      text += "  " + cost_text(rows[0].score.cost, names.memory_names()) + "\n";
    }
  }
  if (!options.features.empty()) write_file(output_for(item, options.features, ".csv"), csv_text(rows));
  result.messages = skipped;
  if (!options.json) std::cout << text;
  return result;
}

}  // namespace

int run_score(const Options& options) {
  return run_items(options, [&](const Item& item) { return score_one(item, options); });
}

}  // namespace tileopt::cli
