#include "search/resolve_plan.h"

#include <algorithm>

#include "passes/passes.h"
#include "search/blame_pin.h"
#include "search/check_pins.h"
#include "search/choose_rewrites.h"
#include "search/contraction.h"
#include "search/group_pins.h"
#include "search/pins.h"
#include "search/plan_agent_contraction.h"
#include "search/plan_agents.h"
#include "search/plan_collective.h"
#include "search/plan_generic.h"
#include "search/plan_parts.h"
#include "search/reduction_tile.h"
#include "search/versions.h"
#include "support/text.h"

namespace tileopt {
namespace {

constexpr std::size_t kMostAttempts = 20;

/// A shared pointer that owns nothing: planning ends before its caller's objects do.
template <class T>
std::shared_ptr<const T> borrow(const T& object) {
  return std::shared_ptr<const T>(std::shared_ptr<void>(), &object);
}

/// What is planned, as long as its stages live.
struct Planned {
  std::shared_ptr<const Program> program;  ///< rewritten
  std::shared_ptr<const Dependences> dependences;
};

std::string to_text(const KernelPlan& plan) { return write_kernel_plan(plan).dump(); }

/// Runs the passes on a kernel plan. Cheap beside the proofs, and the only judge of what is legal and fits.
Candidate<PlannedStages> dry_run(const Planned& planned, const KernelPlan& plan, const Machine& machine) {
  TILEOPT_TRY(kernel, Kernel::create(planned.program, planned.dependences, plan));
  TILEOPT_TRY(schedule, compute_schedule(kernel));
  TILEOPT_TRY(digits, digitize(schedule, machine));
  TILEOPT_TRY(fitted, fit_atoms(digits, machine));
  TILEOPT_TRY(promoted, promote_footprints(fitted, machine));
  TILEOPT_TRY(pipelined, pipeline_copies(promoted, machine));
  TILEOPT_TRY(synchronized, place_barriers(pipelined, machine));
  PlannedStages stages{to_text(plan), std::move(synchronized), std::nullopt};
  // Whether loops over indices can run one value alone, and what is a launch, shows in the Ast.
  const bool guarded = std::any_of(plan.statements.begin(), plan.statements.end(),
                                   [&](const std::string& name) { return !kernel.program().statement(name).guards.empty(); });
  if (!guarded && !machine.has_agents()) return stages;
  TILEOPT_TRY(ast, build_ast(stages.synchronized));
  stages.ast = std::move(ast);
  return stages;
}

/// One way to plan a kernel: for every part its options, best first.
struct Strategy {
  std::string name;
  std::string schedule;                          ///< KernelPlan::schedule
  std::vector<std::vector<PartOption>> options;  ///< by part
};

class KernelPlanner {
 public:
  /// `split`: a plan that lacks a fact about the sizes (PlanPart::excess) is given as soon as that is known, before the passes judge it.
  KernelPlanner(const PlanRequest& request, const Planned& planned, bool split, std::vector<std::string>& reasons)
      : request_(request), planned_(planned), split_(split), reasons_(reasons) {}

  Candidate<KernelPlan> run() {
    const bool original_only = request_.pins.schedule == "original";
    if (!original_only) {
      // First with products that threads compute together, where the machine has them.
      for (const bool together : {true, false}) {
        if (together && !has_collectives()) continue;
        const auto contractions = contraction_strategy(together);
        if (!contractions) continue;
        if (auto plan = attempt(*contractions)) return std::move(*plan);
      }
      for (LoopPlan& loops : request_.machine.has_agents() ? plan_agents(request_) : plan_loops(request_)) {
        if (auto plan = attempt({"loops", loops.method, {std::move(loops.options)}})) return std::move(*plan);
      }
    }
    if (original_only || request_.pins.empty()) {
      if (auto plan = attempt({"original", "original", {{plan_original(request_)}}})) return std::move(*plan);
    }
    if (pin_refusal_) return *pin_refusal_;
    if (refusal_) return *refusal_;
    if (request_.pins.schedule == "wavefront") {
      const Pin& pin = *request_.pins.schedule_pin;
      return Infeasible{"pin", "resolve_plan", kernel().name(), "kernels", pin_text(pin) + ": kernel " + kernel().name() +
                            " has no permutable loops that all carry a dependence, on this kind of machine", pin.where, "", "remove the pin"};
    }
    return Infeasible{"legality", "resolve_plan", kernel().name(), "", "no schedule was found", {}, "",
                      "pin schedule(\"original\"), which keeps the loops as written"};
  }

  /// Of the plan that `run` gave: PlanPart::excess of all its parts, and of those that could not be planned without.
  const std::vector<isl::pw_aff>& excess() const { return excess_; }
  /// Of the plan that `run` gave; nothing where it was not judged.
  std::optional<PlannedStages> take_stages() { return std::move(stages_); }

 private:
  const Kernel& kernel() const { return request_.kernel; }

  /// Contractions and short windows with their initialisations as parts of their own, the statements between them as generic parts.
  /// `together`: at least one by an atom that agents run together, which its epilogue joins.
  std::optional<Strategy> contraction_strategy(bool together);
  bool has_collectives() const {
    return std::any_of(request_.machine.atoms.begin(), request_.machine.atoms.end(), [](const Atom& atom) { return atom.is_collective(); });
  }
  bool add_generic_part(Strategy& strategy, const std::vector<std::string>& statements);
  std::optional<KernelPlan> attempt(const Strategy& strategy);
  void note(const std::string& text) { reasons_.push_back("kernel " + kernel().name() + ": " + text); }

  const PlanRequest& request_;
  const Planned& planned_;
  bool split_;
  std::vector<std::string>& reasons_;
  std::optional<Infeasible> refusal_, pin_refusal_;
  std::vector<isl::pw_aff> excess_;
  std::vector<isl::pw_aff> wanted_;  ///< facts about the sizes that would give a part with an atom that threads run together
  std::optional<PlannedStages> stages_;
};

bool KernelPlanner::add_generic_part(Strategy& strategy, const std::vector<std::string>& statements) {
  KernelPlan part;
  part.name = kernel().name();
  part.statements = statements;
  auto created = Kernel::create(borrow(kernel().program()), borrow(kernel().dependences()), part);
  if (!feasible(created)) return false;
  auto owned = std::make_shared<Kernel>(std::get<Kernel>(std::move(created)));
  auto request = std::make_shared<PlanRequest>(PlanRequest{*owned, request_.machine, request_.sizes, request_.pins, request_.threads});
  std::vector<LoopPlan> loops = request_.machine.has_agents() ? plan_agents(*request) : plan_loops(*request);
  if (loops.empty()) return false;  // a pinned schedule that the part has not
  std::vector<PartOption> options = std::move(loops.front().options);
  for (PartOption& option : options) {
    option.build = [owned, request, build = option.build](NameTable& names) { return build(names); };
  }
  strategy.options.push_back(std::move(options));
  return true;
}

std::optional<Strategy> KernelPlanner::contraction_strategy(bool together) {
  Strategy strategy{together ? "collective contraction" : "contraction", "original", {}};
  std::vector<std::string> taken;  // epilogues, and products that meet in one
  std::vector<Contraction> found;
  std::vector<ReductionTile> windows;
  for (const std::string& name : kernel().statements()) {
    std::string why_not, window_why_not;
    auto contraction = find_contraction(kernel(), name, request_.sizes, why_not);
    // The tile of a block starts from a literal: its agents' parts of it have no extents.
    if (contraction && request_.machine.has_agents() && !contraction->init.empty() && !kernel().program().statement(contraction->init).reads.empty())
      contraction->init.clear();
    const bool is_sum = kernel().program().statement(name).combine == Combine::sum;
    if (contraction) found.push_back(std::move(*contraction));
    else if (request_.machine.has_agents()) {
      if (is_sum) note(name + " gets no tile of a block: " + why_not);
    }
    else if (auto window = find_reduction_tile(kernel(), name, request_.sizes, window_why_not)) windows.push_back(std::move(*window));
    else if (is_sum) note(name + " gets no register tile: " + why_not);
  }
  std::vector<std::string> loose;
  bool any = false, any_together = false;
  const auto flush = [&] {
    const bool done = loose.empty() || add_generic_part(strategy, loose);
    loose.clear();
    return done;
  };
  for (const std::string& name : kernel().statements()) {
    const auto is_init = [&](const auto& c) { return c.init == name; };
    if (std::any_of(found.begin(), found.end(), is_init) || std::any_of(windows.begin(), windows.end(), is_init) || contains(taken, name)) continue;
    const auto window = std::find_if(windows.begin(), windows.end(), [&](const ReductionTile& w) { return w.statement == name; });
    const auto contraction = std::find_if(found.begin(), found.end(), [&](const Contraction& c) { return c.statement == name; });
    if (contraction == found.end() && window == windows.end()) {
      loose.push_back(name);
      continue;
    }
    std::string why_not;
    if (together && contraction != found.end()) {
      const std::string epilogue = find_epilogue(request_, *contraction);
      std::vector<Contraction> products = {*contraction};
      for (const Contraction& other : found)
        if (!epilogue.empty() && other.statement != name && !contains(taken, other.statement) && find_epilogue(request_, other) == epilogue && run_alike(kernel().program(), *contraction, other)) products.push_back(other);
      std::vector<isl::pw_aff> wanted;
      std::vector<PartOption> options = plan_collective(request_, products, epilogue, why_not, wanted);
      wanted_.insert(wanted_.end(), wanted.begin(), wanted.end());
      if (options.empty()) note(name + " is not computed by threads together: " + why_not);
      else {
        if (!flush()) return std::nullopt;
        any = any_together = true;
        taken.push_back(epilogue);
        for (const Contraction& product : products) taken.push_back(product.statement);
        strategy.options.push_back(std::move(options));
        continue;
      }
    }
    std::vector<PartOption> options = contraction == found.end() ? plan_reduction_tile(request_, *window, why_not)
                                      : request_.machine.has_agents() ? plan_agent_contraction(request_, *contraction, why_not)
                                                                      : plan_contraction(request_, *contraction, why_not);
    if (options.empty()) {
      note(name + " gets no register tile: " + why_not);
      const std::string& init = contraction != found.end() ? contraction->init : window->init;
      if (!init.empty()) loose.push_back(init);
      loose.push_back(name);
      continue;
    }
    if (!flush()) return std::nullopt;
    any = true;
    strategy.options.push_back(std::move(options));
  }
  if (!any || (together && !any_together) || !flush()) return std::nullopt;
  return strategy;
}

std::optional<KernelPlan> KernelPlanner::attempt(const Strategy& strategy) {
  std::size_t levels = 0;
  for (const auto& options : strategy.options) levels = std::max(levels, options.size());
  for (std::size_t level = 0; level < std::min(levels, kMostAttempts); ++level) {
    NameTable names;
    for (const Tensor& tensor : request_.program().tensors()) names.reserve(tensor.name);  // digits may not be called so
    std::vector<PlanPart> parts;
    for (const auto& options : strategy.options) parts.push_back(options[std::min(level, options.size() - 1)].build(names));
    KernelPlan plan = join_parts(kernel(), strategy.schedule, parts);
    std::vector<std::string> reasons;
    for (const PlanPart& part : parts) reasons.insert(reasons.end(), part.reasons.begin(), part.reasons.end());
    if (auto unmet = apply_pins(request_, plan, reasons)) {
      if (!pin_refusal_) {
        pin_refusal_ = *unmet;
        note("tried and refused: " + strategy.name + ": " + unmet->reason);
      }
      continue;
    }
    std::vector<isl::pw_aff> excess = wanted_;
    for (const PlanPart& part : parts) excess.insert(excess.end(), part.excess.begin(), part.excess.end());
    const bool judge = !split_ || excess.empty();
    auto tried = judge ? dry_run(planned_, plan, request_.machine) : Candidate<PlannedStages>(Infeasible{});
    const Infeasible* problem = judge ? std::get_if<Infeasible>(&tried) : nullptr;
    if (problem == nullptr) {
      reasons_.insert(reasons_.end(), reasons.begin(), reasons.end());
      excess_ = std::move(excess);
      if (judge) stages_ = std::get<PlannedStages>(std::move(tried));
      return plan;
    }
    const std::string label = strategy.options.front()[std::min(level, strategy.options.front().size() - 1)].label;
    note("tried and refused: " + strategy.name + " (" + label + "): " + problem->reason);
    if (!refusal_) refusal_ = blame_pin(request_.program(), request_.pins, plan, *problem);
  }
  return std::nullopt;
}

/// What all groups of statements are planned with.
struct Planning {
  Planned planned;
  const Machine& machine;
  const TypicalSizes& sizes;
  const PinTable& pins;
  const std::vector<KernelPlan>& groups;
  int threads = 1;

  std::string fresh(std::string name) const {
    while (std::any_of(groups.begin(), groups.end(), [&](const KernelPlan& group) { return group.name == name; })) name += "_";
    return name;
  }
};

struct PlannedKernel {
  KernelPlan plan;
  std::vector<isl::pw_aff> excess;   ///< where all are 0, a better plan is possible
  std::vector<std::string> reasons;
  std::optional<PlannedStages> stages;
};

/// `split`: as KernelPlanner has it.
Candidate<PlannedKernel> plan_kernel(const Planning& planning, const KernelPlan& group, bool split = false) {
  TILEOPT_TRY(kernel, Kernel::create(planning.planned.program, planning.planned.dependences, group));
  // A version's may not be those of all, and neither may those at which its statements run.
  isl::set runs = isl::manage(isl_set_empty(kernel.program().context().space().release()));
  for (const std::string& name : kernel.statements()) runs = runs.unite(kernel.program().statement(name).domain.params());
  const bool never = runs.intersect(kernel.program().context()).is_empty();
  const TypicalSizes sizes = complete_sizes(never ? kernel.program() : kernel.program().restricted_to(runs.coalesce()), planning.sizes);
  const PlanRequest request{kernel, planning.machine, sizes, planning.pins, planning.threads};
  PlannedKernel planned;
  KernelPlanner planner(request, planning.planned, split, planned.reasons);
  auto plan = planner.run();
  if (const Infeasible* refused = std::get_if<Infeasible>(&plan)) return *refused;
  planned.plan = std::get<KernelPlan>(std::move(plan));
  planned.excess = planner.excess();
  planned.stages = planner.take_stages();
  return planned;
}

/// The same decisions, but for name and sizes.
bool decides_alike(KernelPlan a, const KernelPlan& b) {
  a.name = b.name;
  a.when = b.when;
  return write_kernel_plan(a) == write_kernel_plan(b);
}

/// One plan for all sizes, or two versions: where a fact about the sizes would allow a better one. Without both versions there is none.
Candidate<std::vector<PlannedKernel>> plan_versions(const Planning& planning, const KernelPlan& group, std::vector<std::string>& reasons) {
  TILEOPT_TRY(whole, plan_kernel(planning, group, planning.pins.versions));
  const auto keep = [&](const std::vector<std::string>& more) { reasons.insert(reasons.end(), more.begin(), more.end()); };
  const auto split = split_sizes(*planning.planned.program, whole.excess);
  const auto one_version = [&](const std::string& why) -> Candidate<std::vector<PlannedKernel>> {
    if (!whole.stages) {
      TILEOPT_TRY(judged, plan_kernel(planning, group));
      whole = std::move(judged);
    }
    keep(whole.reasons);
    if (split) reasons.push_back("kernel " + group.name + ": one version for all sizes: " + why + "; for " + split->holds + " alone a better one is known, and assume(...) can say that there are no others");
    return std::vector<PlannedKernel>{std::move(whole)};
  };
  if (!split) return one_version("");
  if (!planning.pins.versions) return one_version("versions(\"off\")");
  KernelPlan better = group, fallback = group;
  better.when = split->holds;
  fallback.when = split->fails;
  fallback.name = planning.fresh(group.name + "_fallback");
  auto first = plan_kernel(planning, better), second = plan_kernel(planning, fallback);
  for (const auto* planned : {&first, &second})
    if (const auto* refused = std::get_if<Infeasible>(planned)) return one_version("with two, one is refused: " + refused->reason);
  PlannedKernel &a = std::get<PlannedKernel>(first), &b = std::get<PlannedKernel>(second);
  if (!a.excess.empty() || decides_alike(a.plan, b.plan)) return one_version("the pins leave nothing to decide otherwise");
  reasons.push_back("kernel " + group.name + ": two versions, of which the sizes choose: " + a.plan.name + " for " + a.plan.when + ", " + b.plan.name +
                    " for the others; for one alone: assume(...) where others never come, or versions(\"off\")");
  keep(a.reasons);
  keep(b.reasons);
  return std::vector<PlannedKernel>{std::move(a), std::move(b)};
}

}  // namespace

Candidate<ResolvedPlan> resolve_plan(const Program& source, const Pins& pins, const Machine& machine, const ResolveOptions& options,
                                     std::vector<PlannedStages>* stages) {
  ResolvedPlan resolved;
  TILEOPT_TRY(rewritten, choose_rewrites(borrow(source), pins, machine, options, resolved.reasons));
  const Program& program = *rewritten.program;
  const PinTable table = read_pins(program, pins, machine);
  if (!table.pipelines.empty() && !machine.has_agents()) {
    const Pin& pin = *table.pipelines.front().pin;
    return Infeasible{"pin", "resolve_plan", "", "", pin_text(pin) + ": machine " + machine.name + " completes copies at once (no asynchronous copies), so there is nothing to pipeline",
                      pin.where, "", "drop the pin on this machine"};
  }
  const auto dependences = std::make_shared<const Dependences>(analyze_dependences(program));
  const TypicalSizes sizes = complete_sizes(program, options.typical_sizes);
  TILEOPT_TRY(groups, group_statements(program, table));
  resolved.plan.rewrites = rewritten.rewrites;
  resolved.plan.program = program.name();
  resolved.plan.program_hash = program.hash();
  resolved.plan.machine = machine.name;
  resolved.plan.version = TILEOPT_VERSION;
  for (const KernelPlan& group : groups) {
    const Planning planning{{rewritten.program, dependences}, machine, sizes, table, groups, std::max(1, options.threads)};
    TILEOPT_TRY(versions, plan_versions(planning, group, resolved.reasons));
    for (PlannedKernel& version : versions) {
      resolved.plan.kernels.push_back(std::move(version.plan));
      if (stages != nullptr && version.stages) stages->push_back(*std::move(version.stages));
    }
  }
  if (auto unused = find_unused_pin(program, table, resolved.plan)) return *unused;
  return resolved;
}

}  // namespace tileopt
