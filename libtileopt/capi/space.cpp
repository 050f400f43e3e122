/// Experimental: the space of plans, with cost models and searches of the host's own.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "capi/guard.h"
#include "capi/module_report.h"
#include "search/statement_view.h"
#include "space/describe_space.h"
#include "space/score.h"

using namespace tileopt::capi;
using tileopt::ErrorCode;
using tileopt::Point;

namespace tileopt::capi {

struct SpaceObject {
  std::shared_ptr<Session> session;  // first: destroyed last
  std::shared_ptr<ProgramObject> program;
  Request request;
  std::unique_ptr<PlanSpace> space;
  std::unique_ptr<PointScorer> scorer;  ///< used in the session's turn only
  std::vector<std::string> features;
};

namespace {

std::unique_ptr<SpaceObject> make_space(const std::shared_ptr<ProgramObject>& program, Request request) {
  auto object = std::make_unique<SpaceObject>();
  object->session = program->session;
  object->program = program;
  object->request = std::move(request);
  if (object->request.plan) reject(ErrorCode::invalid_option, "a resolved plan leaves no space", "give pins instead of `plan_json`");
  ResolveOptions& resolve = object->request.resolve;
  Candidate<PlanSpace> described = describe_space(*program->program, object->request.pins, object->request.machine, resolve);
  if (const auto* refused = std::get_if<Infeasible>(&described)) throw Refused{*refused};
  object->space = std::make_unique<PlanSpace>(std::get<PlanSpace>(std::move(described)));
  object->scorer = std::make_unique<PointScorer>(*object->space, object->request.machine, resolve.threads);
  const Point planned = object->space->planned_points().front();
  for (const auto& [name, value] : score_point(*object->scorer, *object->space, planned, object->request.machine, resolve.threads).features)
    object->features.push_back(name);
  return object;
}

/// @throws Errors(invalid_option) for numbers that the space has not, Refused where a constraint does not hold.
Point read_point(const SpaceObject& object, std::size_t variant, const std::size_t* values, std::size_t count) {
  const auto& variants = object.space->variants();
  if (variant >= variants.size()) reject(ErrorCode::invalid_option, "the space has no variant " + std::to_string(variant), "variants count from 0 to " + std::to_string(variants.size() - 1));
  const auto& choices = variants[variant].choices;
  if (count != choices.size()) reject(ErrorCode::invalid_option, std::to_string(count) + " values for " + std::to_string(choices.size()) + " choices", "give one value for each choice of the variant");
  if (count > 0) need_pointer(values, "values");
  Point point{variant, {values, values + count}};
  for (std::size_t c = 0; c < count; ++c)
    if (values[c] >= choices[c].values.size()) reject(ErrorCode::invalid_option, "choice `" + choices[c].name + "` has no value " + std::to_string(values[c]), "values count from 0 to " + std::to_string(choices[c].values.size() - 1));
  if (const Constraint* violated = object.space->violated(point))
    throw Refused{Infeasible{violated->kind == ConstraintKind::capacity ? "capacity" : "pin", "space", "", violated->name, violated->reason, {}, "", "choose other values"}};
  return point;
}

Plan plan_of(const SpaceObject& object, const Point& point) {
  Candidate<ResolvedPlan> resolved = resolve_point(*object.space, point, *object.program->program, object.request.machine, object.request.resolve);
  if (const auto* refused = std::get_if<Infeasible>(&resolved)) throw Refused{*refused};
  return std::get<ResolvedPlan>(std::move(resolved)).plan;
}

std::shared_ptr<ModuleObject> compile_point(const SpaceObject& object, const Point& point) {
  Request request = object.request;
  request.pins = {};
  request.plan = plan_of(object, point);
  return compile_module(*object.program, request);
}

/// What the host's callbacks make of a space, point by point.
class HostSearch {
 public:
  HostSearch(const SpaceObject& object, const tileopt_space* handle, const tileopt_cost_model* model, const tileopt_search* search)
      : object_(object), handle_(handle), model_(model), search_(search), start_(std::chrono::steady_clock::now()) {}

  std::shared_ptr<ModuleObject> run(std::size_t trials) {
    if (search_ != nullptr) propose(trials);
    else walk(trials);
    std::stable_sort(scored_.begin(), scored_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::optional<Refused> refused;
    for (std::size_t i = 0; i < scored_.size() && i < most_compiles; ++i) {
      try {
        return compile_point(object_, scored_[i].second);
      } catch (const Refused& each) {
        refused = each;
      } catch (const NotProved&) {
      }
    }
    if (refused) throw *refused;
    throw CallError{TILEOPT_INFEASIBLE, "pin", "no point of the space that was tried has a plan", "try more points, or take pins away"};
  }

 private:
  static constexpr std::size_t most_compiles = 16;

  /// Seconds of a point; negative: it has no plan, or the model rules it out.
  double score(const Point& point) {
    if (object_.space->violated(point) != nullptr) return -1;
    const PlanScore score = score_point(*object_.scorer, *object_.space, point, object_.request.machine, object_.request.resolve.threads);
    double seconds = score.cost.seconds;
    if (model_ != nullptr) {
      std::vector<double> values;
      for (const auto& [name, value] : score.features) values.push_back(value);
      seconds = call_host([&] { return model_->seconds(model_->user, values.data(), values.size()); });
    }
    if (!(seconds > 0) || !std::isfinite(seconds)) return -1;
    scored_.emplace_back(seconds, point);
    return seconds;
  }

  bool ask(std::size_t& variant, std::vector<std::size_t>& values) {
    return call_host([&] { return search_->propose(search_->user, handle_, &variant, values.data()); }) != 0;
  }
  void tell(std::size_t variant, const std::vector<std::size_t>& values, double seconds) {
    if (search_->learn != nullptr) call_host([&] { search_->learn(search_->user, variant, values.data(), seconds); });
  }

  void propose(std::size_t trials) {
    std::size_t room = 1;
    for (const Variant& variant : object_.space->variants()) room = std::max(room, variant.choices.size());
    for (std::size_t trial = 0; trial < trials; ++trial) {
      report_progress(*object_.session, start_, "search", "");
      std::size_t variant = 0;
      std::vector<std::size_t> values(room, 0);
      if (!ask(variant, values)) return;
      const std::size_t count = variant < object_.space->variants().size() ? object_.space->variants()[variant].choices.size() : 0;
      double seconds = -1;
      try {
        seconds = score(read_point(object_, variant, values.data(), count));
      } catch (const Refused&) {
      }
      tell(variant, values, seconds);
    }
  }

  void walk(std::size_t trials) {
    std::vector<Point> points = object_.space->planned_points();
    for (const Point& point : object_.space->neighbours(points.front())) points.push_back(point);
    std::mt19937_64 random(1);
    for (std::size_t trial = 0; trial < trials; ++trial) {
      report_progress(*object_.session, start_, "search", "");
      if (trial < points.size()) {
        score(points[trial]);
        continue;
      }
      const std::optional<Point> drawn = object_.space->sample(random);
      if (!drawn) return;
      score(*drawn);
    }
  }

  const SpaceObject& object_;
  const tileopt_space* handle_;
  const tileopt_cost_model* model_;
  const tileopt_search* search_;
  std::chrono::steady_clock::time_point start_;
  std::vector<std::pair<double, Point>> scored_;
};

template <class Answer, class Read>
Answer of_variant(const tileopt_space* space, size_t variant, Answer fallback, Read&& read) noexcept {
  return ask(space, fallback, [&](const SpaceObject& object) { return entry(object.space->variants(), variant, fallback, read); });
}
template <class Answer, class Read>
Answer of_choice(const tileopt_space* space, size_t variant, size_t choice, Answer fallback, Read&& read) noexcept {
  return of_variant(space, variant, fallback, [&](const Variant& v) { return entry(v.choices, choice, fallback, read); });
}

}  // namespace
}  // namespace tileopt::capi

extern "C" {

tileopt_error* tileopt_space_create(const tileopt_program* program, const tileopt_options* options, tileopt_space** out_space) {
  return guard([&] {
    const auto object = need(program, "program");
    need_pointer(out_space, "out_space");
    const OptionsObject::Values chosen = copy_options(options);
    in_session(*object->session, [&] { *out_space = insert<tileopt_space>(owned(object->session, make_space(object, make_request(*object, chosen)))); });
  });
}
void tileopt_space_free(tileopt_space* space) { erase(space); }

size_t tileopt_space_variant_count(const tileopt_space* space) {
  return ask(space, size_t(0), [](const SpaceObject& object) { return object.space->variants().size(); });
}
const char* tileopt_space_peek_variant(const tileopt_space* space, size_t variant) {
  return of_variant(space, variant, "", [](const tileopt::Variant& v) { return v.name.c_str(); });
}
size_t tileopt_space_choice_count(const tileopt_space* space, size_t variant) {
  return of_variant(space, variant, size_t(0), [](const tileopt::Variant& v) { return v.choices.size(); });
}
const char* tileopt_space_peek_choice(const tileopt_space* space, size_t variant, size_t choice) {
  return of_choice(space, variant, choice, "", [](const tileopt::Choice& c) { return c.name.c_str(); });
}
size_t tileopt_space_value_count(const tileopt_space* space, size_t variant, size_t choice) {
  return of_choice(space, variant, choice, size_t(0), [](const tileopt::Choice& c) { return c.values.size(); });
}
const char* tileopt_space_peek_value(const tileopt_space* space, size_t variant, size_t choice, size_t value) {
  return of_choice(space, variant, choice, "", [&](const tileopt::Choice& c) {
    return entry(c.values, value, "", [](const tileopt::ChoiceValue& v) { return v.text.c_str(); });
  });
}
size_t tileopt_space_planned_value(const tileopt_space* space, size_t variant, size_t choice) {
  return of_choice(space, variant, choice, size_t(0), [](const tileopt::Choice& c) { return c.planned; });
}
size_t tileopt_space_feature_count(const tileopt_space* space) {
  return ask(space, size_t(0), [](const SpaceObject& object) { return object.features.size(); });
}
const char* tileopt_space_peek_feature(const tileopt_space* space, size_t feature) {
  return ask(space, "", [&](const SpaceObject& object) { return entry(object.features, feature, "", [](const std::string& f) { return f.c_str(); }); });
}

tileopt_error* tileopt_space_score(const tileopt_space* space, size_t variant, const size_t* values, size_t value_count, double* out_seconds) {
  return guard([&] {
    const auto object = need(space, "space");
    need_pointer(out_seconds, "out_seconds");
    in_session(*object->session, [&] { *out_seconds = object->scorer->seconds(read_point(*object, variant, values, value_count)); });
  });
}

tileopt_error* tileopt_space_compile(const tileopt_space* space, size_t variant, const size_t* values, size_t value_count, tileopt_module** out_module) {
  return guard([&] {
    const auto object = need(space, "space");
    need_pointer(out_module, "out_module");
    in_session(*object->session, [&] { *out_module = insert<tileopt_module>(compile_point(*object, read_point(*object, variant, values, value_count))); });
  });
}

tileopt_error* tileopt_space_search(const tileopt_space* space, const tileopt_cost_model* model, const tileopt_search* search, size_t trials,
                                    tileopt_module** out_module) {
  return guard([&] {
    const auto object = need(space, "space");
    need_pointer(out_module, "out_module");
    if (model != nullptr && (model->struct_size < sizeof(tileopt_cost_model) || model->seconds == nullptr))
      reject(ErrorCode::invalid_option, "the cost model's table is too small or lacks `seconds`", "set struct_size to sizeof(tileopt_cost_model)");
    if (search != nullptr && (search->struct_size < sizeof(tileopt_search) || search->propose == nullptr))
      reject(ErrorCode::invalid_option, "the search's table is too small or lacks `propose`", "set struct_size to sizeof(tileopt_search)");
    in_session(*object->session, [&] { *out_module = insert<tileopt_module>(HostSearch(*object, space, model, search).run(trials)); });
  });
}

}  // extern "C"
