#include "space/score.h"

#include <algorithm>
#include <cmath>

#include "space/plan_shape.h"

namespace tileopt {
namespace {

void apply_edit(const ShapeEdit& edit, std::vector<KernelShape>& shapes) {
  KernelShape& shape = shapes[edit.kernel];
  switch (edit.kind) {
    case ShapeEdit::Kind::radix:
      shape.digits[edit.at].radix = edit.radix;
      return;
    case ShapeEdit::Kind::level:
      shape.digits[edit.at].kind = edit.level;
      return;
    case ShapeEdit::Kind::path:
      for (std::size_t i = 0; i < edit.positions.size(); ++i)
        shape.statements[edit.at].path[edit.positions[i]] = edit.digits[i];
      return;
    case ShapeEdit::Kind::stream:
      for (const std::size_t s : edit.positions) shape.statements[edit.at].streams[s].active = edit.active;
      return;
    case ShapeEdit::Kind::scope:
      for (const std::size_t s : edit.positions) {
        ShapeStream& stream = shape.statements[edit.at].streams[s];
        if (stream.copy) stream.below = static_cast<std::size_t>(edit.radix);
        if (stream.packed) stream.renewed = static_cast<std::size_t>(edit.radix);
      }
      return;
  }
}

double logarithm(double value) { return std::log2(1 + std::max(0.0, value)); }
double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

PointScorer::PointScorer(const PlanSpace& space, const Machine& machine, int threads)
    : space_(space), model_(machine, threads) {
  for (const Variant& variant : space.variants()) shapes_.push_back(variant.shapes);
}

void PointScorer::apply(const Point& point) {
  const Variant& variant = space_.variants()[point.variant];
  for (std::size_t c = 0; c < variant.choices.size(); ++c) {
    for (const ShapeEdit& edit : variant.edits[c][point.values[c]]) apply_edit(edit, shapes_[point.variant]);
  }
}

Cost PointScorer::evaluate(std::size_t variant, CostCounts* counts) {
  Cost total;
  for (const KernelShape& shape : shapes_[variant]) total = add(total, model_.estimate(shape, counts));
  return total;
}

Cost PointScorer::score(const Point& point) {
  apply(point);
  return evaluate(point.variant, nullptr);
}

Cost PointScorer::score(const Point& point, CostCounts& counts) {
  apply(point);
  return evaluate(point.variant, &counts);
}

Features features_of(const Cost& cost, const CostCounts& counts, const std::vector<KernelShape>& shapes, const Machine& machine,
                     int threads) {
  double statements = 0, loops = 0, streams = 0;
  for (const KernelShape& shape : shapes) {
    for (const ShapeStatement& statement : shape.statements) {
      statements += 1;
      loops += double(statement.path.size());
      for (const ShapeStream& stream : statement.streams) streams += stream.active && !stream.copy ? 1 : 0;
    }
  }
  const double peak =
      machine.frequency * std::max(machine.fma_per_cycle, 0.1) * 2 * std::max(1.0, machine.vector_bytes / 4.0) * threads;
  Features features = {
      {"kernels", double(shapes.size())},
      {"statements", statements},
      {"loops", loops},
      {"accesses", streams},
      {"log_instances", logarithm(counts.instances)},
      {"log_operations", logarithm(counts.operations)},
      {"padding", counts.padded > 0 ? std::max(0.0, counts.padded / std::max(counts.instances, 1.0) - 1) : 0},
      {"vector_share", std::min(1.0, ratio(counts.vector_instances, std::max(counts.instances, counts.padded)))},
      {"log_loop_iterations", logarithm(counts.loop_iterations)},
      {"log_innermost_trips", logarithm(counts.innermost_trips)},
      {"log_copied_elements", logarithm(counts.copied_elements)},
      {"register_tile", counts.register_tile},
      {"tile_efficiency", counts.tile_efficiency},
      {"log_parallel_trips", logarithm(counts.parallel_trips)},
      {"log_nearest_bytes", logarithm(counts.nearest_bytes)},
      {"log_seconds", std::log2(std::max(cost.seconds, 1e-12))},
      {"share_compute", ratio(cost.compute, cost.seconds)},
      {"share_copies", ratio(cost.copies, cost.seconds)},
      {"share_peak", ratio(counts.operations / peak, cost.seconds)},
  };
  for (std::size_t l = 0; l < most_memories; ++l) {
    features.emplace_back("log_bytes_" + std::to_string(l + 1), logarithm(counts.bytes[l]));
    features.emplace_back("share_memory_" + std::to_string(l + 1), ratio(cost.memory[l], cost.seconds));
  }
  return features;
}

PlanScore score_plan(const Program& program, const Plan& plan, const Machine& machine, const TypicalSizes& sizes, int threads) {
  const std::vector<KernelShape> shapes = shapes_of_plan(program, plan, machine, complete_sizes(program, sizes));
  ShapeCostModel model(machine, threads);
  CostCounts counts;
  PlanScore score;
  for (const KernelShape& shape : shapes) score.cost = add(score.cost, model.estimate(shape, &counts));
  score.features = features_of(score.cost, counts, shapes, machine, threads);
  return score;
}

PlanScore score_point(PointScorer& scorer, const PlanSpace& space, const Point& point, const Machine& machine, int threads) {
  CostCounts counts;
  PlanScore score;
  score.cost = scorer.score(point, counts);
  score.features = features_of(score.cost, counts, space.variants()[point.variant].shapes, machine, threads);
  return score;
}

}  // namespace tileopt
