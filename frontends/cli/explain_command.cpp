#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <sstream>

#include "driver/device_report.h"
#include "driver/predict_device.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/device_text.h"
#include "frontends/cli/items.h"
#include "frontends/cli/space_text.h"
#include "space/describe_space.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

std::string digits_text(const KernelPlan& kernel) {
  std::ostringstream text;
  for (const auto& [member, digits] : kernel.digits) {
    text << "    " << member << " =";
    for (const Digit& digit : digits) text << " " << digit.name << ":" << (digit.radix == 0 ? "*" : std::to_string(digit.radix)) << "@" << digit.level;
    text << "\n";
  }
  return text.str();
}

std::string kernel_text(const KernelPlan& kernel) {
  std::ostringstream text;
  text << "  kernel " << kernel.name << ": " << join(kernel.statements, ", ") << "  (schedule: " << kernel.schedule << ")\n";
  text << digits_text(kernel);
  text << "    tree " << kernel.tree.write() << "\n";
  for (const auto& [statement, choice] : kernel.atoms) {
    if (choice.atom.empty()) continue;
    text << "    atom " << statement << ": " << choice.atom;
    if (!choice.box.empty()) text << " over " << join(choice.box, ", ") << " (" << choice.edge << (choice.whole.empty() ? "" : ", whole along " + join(choice.whole, ", ")) << ")";
    text << "\n";
  }
  for (const Promotion& promotion : kernel.promotions)
    text << "    keep " << promotion.tensor << " as " << promotion.array << " in " << promotion.space
         << (promotion.after.empty() ? std::string() : " below " + promotion.after) << "\n";
  return text.str();
}

std::string certificate_text(const Certificate& certificate) {
  if (!certificate.proved()) return "  not proved: " + unproved_text(certificate) + "\n";
  std::map<std::string, std::pair<int, double>> by_name;
  std::vector<std::string> order;
  for (const Obligation& obligation : certificate.obligations) {
    if (!by_name.contains(obligation.name)) order.push_back(obligation.name);
    auto& [count, milliseconds] = by_name[obligation.name];
    ++count;
    milliseconds += obligation.milliseconds;
  }
  std::ostringstream text;
  text << "  proved:";
  for (const std::string& name : order)
    text << " " << name << " (" << by_name[name].first << ", " << static_cast<long>(by_name[name].second + 0.5) << " ms)";
  text << "\n";
  for (const std::string& assumption : certificate.assumed) text << "  assumed: " << assumption << "\n";
  for (const std::string& permission : certificate.numerics) text << "  numerics used: " << permission << "\n";
  return text.str();
}

/// What the cost model says of the plan, and of the points next to the planner's own.
struct Advice {
  Document document = Document::object();
  std::string text;
};

constexpr std::size_t most_advice = 3;
constexpr double worth_trying = 0.98;   ///< of the plan's own cost: beyond, the model sees no difference
constexpr double worth_trying_on_devices = 0.9;
constexpr std::chrono::seconds most_time_to_advise{5};

/// The pins in which `point` differs from `from`.
std::vector<std::string> new_pins(const PlanSpace& space, const Point& from, const Point& point) {
  const std::vector<std::string> known = pin_calls(space, from);
  std::vector<std::string> calls;
  for (const std::string& call : pin_calls(space, point))
    if (!contains(known, call)) calls.push_back(call);
  return calls;
}

/// Points next to the planner's own, whose stages are made to be predicted, while the time for it lasts.
std::vector<std::pair<double, Point>> predict_neighbours(const Item& item, const PlanSpace& space, const Point& planned) {
  std::vector<std::pair<double, Point>> near;
  const TypicalSizes sizes(item.sizes.begin(), item.sizes.end());
  const auto start = std::chrono::steady_clock::now();
  for (const Point& point : space.neighbours(planned)) {
    if (std::chrono::steady_clock::now() - start > most_time_to_advise) break;
    const Candidate<ResolvedPlan> resolved = resolve_plan(*item.program, space.pins(point), item.request.machine, item.request.resolve);
    if (!feasible(resolved)) continue;
    const Candidate<DeviceCost> cost = predict_plan(item.program, std::get<ResolvedPlan>(resolved).plan, item.request.machine, find_backend(item.request.backend), sizes);
    if (feasible(cost)) near.emplace_back(std::get<DeviceCost>(cost).seconds, point);
  }
  return near;
}

Advice advise_device(const Item& item, const Module& module) {
  Advice advice;
  const Machine& machine = item.request.machine;
  const DeviceCost own = predict_module(*item.program, module, machine, {item.sizes.begin(), item.sizes.end()});
  advice.document["cost"] = device_cost_document(own);
  advice.document["advice"] = device_advice(own);
  std::ostringstream text;
  text << "  predicted " << device_cost_text(own, machine) << "    " << device_advice(own) << "\n";
  if (!item.request.plan) {
    const Candidate<PlanSpace> described = describe_space(*item.program, item.request.pins, machine, item.request.resolve, SpaceScope::planned);
    if (const PlanSpace* space = std::get_if<PlanSpace>(&described)) {
      const Point planned = space->planned_points().front();
      std::vector<std::pair<double, Point>> near = predict_neighbours(item, *space, planned);
      std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      advice.document["to_try"] = Document::array();
      for (std::size_t i = 0; i < near.size() && i < most_advice && near[i].first < worth_trying_on_devices * own.seconds; ++i) {
        const std::vector<std::string> pins = new_pins(*space, planned, near[i].second);
        advice.document["to_try"].push_back({{"pins", pins}, {"seconds", near[i].first}});
        text << "  to try: " << join(pins, ", ") << ": predicted " << milliseconds_text(near[i].first) << "\n";
      }
      if (advice.document["to_try"].empty() && !near.empty()) text << "  to try: no single pin of " << near.size() << " is predicted to gain a tenth\n";
    }
  }
  advice.text = text.str();
  return advice;
}

Advice advise(const Item& item, const Module& module) {
  if (item.request.machine.has_agents()) return advise_device(item, module);
  const Plan& plan = module.plan;
  Advice advice;
  const Machine& machine = item.request.machine;
  const int threads = item.request.resolve.threads;
  const PlanScore own = score_plan(*item.program, plan, machine, {item.sizes.begin(), item.sizes.end()}, threads);
  const std::vector<std::string> memories = ShapeCostModel(machine, threads).memory_names();
  advice.document["cost"] = cost_document(own.cost, memories);
  std::ostringstream text;
  text << "  predicted " << cost_text(own.cost, memories) << "\n";
  if (!item.request.plan) {
    const Candidate<PlanSpace> described = describe_space(*item.program, item.request.pins, machine, item.request.resolve, SpaceScope::planned);
    if (const PlanSpace* space = std::get_if<PlanSpace>(&described)) {
      PointScorer scorer(*space, machine, threads);
      const Point planned = space->planned_points().front();
      std::vector<std::pair<double, Point>> near;
      for (const Point& point : space->neighbours(planned)) near.emplace_back(scorer.seconds(point), point);
      std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      const double seconds = scorer.seconds(planned);
      advice.document["to_try"] = Document::array();
      for (std::size_t i = 0; i < near.size() && i < most_advice && near[i].first < worth_trying * seconds; ++i) {
        const std::vector<std::string> pins = new_pins(*space, planned, near[i].second);
        advice.document["to_try"].push_back({{"pins", pins}, {"seconds", near[i].first}});
        text << "  to try: " << join(pins, ", ") << ": predicted " << milliseconds_text(near[i].first) << "\n";
      }
      if (advice.document["to_try"].empty() && !near.empty()) text << "  to try: no single pin of " << near.size() << " is predicted to gain 2 %; `search` measures\n";
    }
  }
  advice.text = text.str();
  return advice;
}

ItemResult explain_one(const Item& item, bool json) {
  Compiled compiled = compile_item(item);
  if (!compiled.module) return compiled.failed;
  const Module& module = *compiled.module;
  ItemResult result;
  result.details["machine"] = item.request.machine.name;
  result.details["reasons"] = compiled.reasons;
  result.details["plan"] = module.plan.write();
  result.details["obligations"] = certificate_summary(module.certificate);
  result.details["certificate"] = module.certificate.write();
  const Advice advice = advise(item, module);
  for (const auto& [name, value] : advice.document.items()) result.details[name] = value;
  if (json) return result;
  std::cout << item.program->name() << " on " << item.request.machine.name << "\n";
  for (const std::string& reason : compiled.reasons) std::cout << "  " << reason << "\n";
  std::cout << advice.text;
  for (const Rewriting& rewriting : module.plan.rewrites) std::cout << "  rewritten by " << to_string(rewriting) << "\n";
  for (const KernelPlan& kernel : module.plan.kernels) std::cout << kernel_text(kernel);
  std::cout << certificate_text(module.certificate);
  if (module.certificate.device) std::cout << device_report_text(*module.certificate.device);
  return result;
}

}  // namespace

int run_explain(const Options& options) {
  return run_items(options, [&](const Item& item) { return explain_one(item, options.json); });
}

}  // namespace tileopt::cli
