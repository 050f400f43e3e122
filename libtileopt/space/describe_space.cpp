#include "space/describe_space.h"

#include <algorithm>

#include "passes/passes.h"
#include "rewrites/apply_rewrites.h"
#include "search/loop_choice.h"
#include "search/versions.h"
#include "space/plan_shape.h"
#include "space/variant_builder.h"
#include "support/text.h"

namespace tileopt {
namespace {

template <class T>
std::shared_ptr<const T> borrow(const T& object) {
  return std::shared_ptr<const T>(std::shared_ptr<void>(), &object);
}

Pin rewrite_pin(const Rewriting& rewriting) {
  Pin pin{"rewrite", {"\"" + rewriting.name + "\""}, {}, {}};
  for (const std::string& argument : rewriting.arguments) pin.arguments.push_back("\"" + argument + "\"");
  for (const auto& [name, value] : rewriting.sizes) pin.keywords.emplace_back(name, std::to_string(value));
  return pin;
}

/// The given pins with exactly these rewrites: what a name in a pin stands for must not depend on the pins beside it.
std::vector<Pin> with_rewrites(const Pins& given, const std::vector<Rewriting>& rewrites) {
  std::vector<Pin> pins;
  for (const Rewriting& rewriting : rewrites) pins.push_back(rewrite_pin(rewriting));
  pins.push_back(simple_pin("rewrite", {"none"}));
  for (const Pin& pin : given.pins)
    if (pin.primitive != "rewrite") pins.push_back(pin);
  return pins;
}

/// A structure to look at.
struct Sketch {
  std::string name;
  std::vector<Pin> pins;
};

class SpaceBuilder {
 public:
  SpaceBuilder(const Program& source, const Pins& given, const Machine& machine, const ResolveOptions& options)
      : source_(source), given_(given), machine_(machine), options_(options) {}

  Candidate<PlanSpace> build(SpaceScope scope) {
    TILEOPT_TRY(planned, resolve_plan(source_, given_, machine_, options_));
    std::vector<Sketch> sketches = sketch(planned.plan);
    if (scope == SpaceScope::planned) sketches.resize(1);
    for (const Sketch& each : sketches) add(each);
    TILEOPT_CHECK(!variants_.empty(), "the planner's own structure is one of the space");
    return PlanSpace(source_.name(), std::move(variants_), std::move(refused_));
  }

 private:
  std::vector<Sketch> sketch(const Plan& planned) const;
  std::vector<std::string> lanes_of(const Plan& planned) const;
  void add(const Sketch& sketch);
  Candidate<Plan> resolve(const std::vector<Pin>& pins) const;
  bool is_known(const Plan& plan) const {
    return std::any_of(variants_.begin(), variants_.end(),
                       [&](const Variant& v) { return v.planned.write().dump() == plan.write().dump(); });
  }

  const Program& source_;
  const Pins& given_;
  const Machine& machine_;
  const ResolveOptions& options_;
  std::vector<Variant> variants_;
  std::vector<RefusedVariant> refused_;
};

Candidate<Plan> SpaceBuilder::resolve(const std::vector<Pin>& list) const {
  Pins pins;
  pins.program = source_.name();
  pins.pins = list;
  try {
    TILEOPT_TRY(resolved, resolve_plan(source_, pins, machine_, options_));
    return std::move(resolved.plan);
  } catch (const Errors& errors) {
    // A pin of ours that contradicts a given one, or names what other rewrites leave away.
    const Diagnostic& first = errors.diagnostics().front();
    return Infeasible{"pin", "resolve_plan", "", "", first.message, first.where, "", first.hint};
  }
}

/// Loops that could run in lanes besides those that do: of statements with several that suit them.
std::vector<std::string> SpaceBuilder::lanes_of(const Plan& planned) const {
  constexpr std::size_t most = 4;
  const auto rewritten = apply_rewrites(borrow(source_), planned.rewrites);
  const Program& program = *std::get<RewrittenProgram>(rewritten).program;
  const TypicalSizes sizes = complete_sizes(program, options_.typical_sizes);
  std::vector<std::string> loops;
  for (const Statement& statement : program.statements()) {
    const StatementView view = view_statement(program, statement.name, iterator_members(statement), sizes);
    std::vector<std::string> suited;
    for (const std::string& iterator : statement.iterators) {
      if (suits_lanes(program, view, iterator)) suited.push_back(statement.name + "." + iterator);
    }
    if (suited.size() >= 2 && loops.size() + suited.size() <= most) loops.insert(loops.end(), suited.begin(), suited.end());
  }
  return loops;
}

std::vector<Sketch> SpaceBuilder::sketch(const Plan& whole) const {
  std::vector<Sketch> sketches;
  const std::vector<Pin> base = with_rewrites(given_, whole.rewrites);
  const auto with = [](std::vector<Pin> pins, const std::vector<Pin>& more) {
    pins.insert(pins.end(), more.begin(), more.end());
    return pins;
  };
  const auto given = [&](const std::string& primitive) {
    return std::any_of(given_.pins.begin(), given_.pins.end(), [&](const Pin& pin) { return pin.primitive == primitive; });
  };
  std::vector<Pin> tiles, scalars;
  const PinTable none;
  const auto rewritten = apply_rewrites(borrow(source_), whole.rewrites);
  const Program& program = *std::get<RewrittenProgram>(rewritten).program;
  const TypicalSizes sizes = complete_sizes(program, options_.typical_sizes);
  const Plan planned = running_at(whole, program, sizes);
  // A pin is of all versions: what only one of them can take is left to the planner.
  const auto all_take = [&](const std::string& statement, const std::string& atom) {
    return std::all_of(whole.kernels.begin(), whole.kernels.end(), [&](const KernelPlan& version) {
      const auto found = version.atoms.find(statement);
      return contains(version.statements, statement) ? found != version.atoms.end() && found->second.atom == atom : true;
    });
  };
  for (const KernelPlan& kernel : planned.kernels) {
    for (const std::string& statement : register_tiles(machine_, kernel)) {
      const std::string& atom = kernel.atoms.at(statement).atom;
      if (all_take(statement, atom)) tiles.push_back({"atom", {statement, "\"" + atom + "\""}, {}, {}});
      scalars.push_back({"atom", {statement, "\"scalar\""}, {}, {}});
    }
  }
  for (const KernelPlan& kernel : planned.kernels) {
    for (const std::string& statement : windows({program, machine_, sizes, none, 1}, kernel))
      scalars.push_back({"atom", {statement, "\"scalar\""}, {}, {}});
  }
  if (given("atom")) tiles.clear(), scalars.clear();
  // Which loops are taken must not depend on the tiles that a point asks for.
  for (const std::string schedule : {"isl", "wavefront"}) {
    const bool all = tiles.empty() && std::all_of(planned.kernels.begin(), planned.kernels.end(),
                                                  [&](const KernelPlan& k) { return k.schedule == schedule; });
    if (all && !given("schedule")) tiles.push_back(simple_pin("schedule", {schedule}));
  }
  sketches.push_back({"as planned", with(base, tiles)});
  if (!scalars.empty()) sketches.push_back({"loops without register tiles", with(base, scalars)});
  if (!given("schedule")) sketches.push_back({"isl's loops", with(with(base, scalars), {simple_pin("schedule", {"isl"})})});
  if (!given("schedule") && !given("vectorize")) {
    for (const std::string& loop : lanes_of(planned))
      sketches.push_back({"lanes along " + loop, with(with(base, scalars), {simple_pin("vectorize", {loop})})});
  }
  for (std::size_t k = 0; k + 1 < planned.kernels.size() && !given("fuse"); ++k) {
    const std::string &a = planned.kernels[k].statements.back(), &b = planned.kernels[k + 1].statements.front();
    sketches.push_back({"fuse " + a + ", " + b, with(base, {simple_pin("fuse", {a, b})})});
  }
  for (std::size_t r = 0; r < planned.rewrites.size() && !given("rewrite"); ++r) {
    std::vector<Rewriting> fewer = planned.rewrites;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(r));
    sketches.push_back({"without rewrite " + to_string(planned.rewrites[r]), with_rewrites(given_, fewer)});
  }
  if (!given("schedule")) sketches.push_back({"as written", with(base, {simple_pin("schedule", {"original"})})});
  return sketches;
}

void SpaceBuilder::add(const Sketch& sketch) {
  const Candidate<Plan> candidate = resolve(sketch.pins);
  if (const auto* refused = std::get_if<Infeasible>(&candidate)) {
    TILEOPT_CHECK(!variants_.empty(), "the planner's own decisions, pinned, are refused: " + refused->reason);
    refused_.push_back({sketch.name, *refused});
    return;
  }
  const Plan& whole = std::get<Plan>(candidate);
  if (is_known(whole)) return;
  Variant variant;
  variant.name = sketch.name;
  variant.pins = sketch.pins;
  variant.planned = whole;

  const auto rewritten = apply_rewrites(borrow(source_), whole.rewrites);
  const std::shared_ptr<const Program> program = std::get<RewrittenProgram>(rewritten);
  const TypicalSizes sizes = complete_sizes(*program, options_.typical_sizes);
  const Plan planned = running_at(whole, *program, sizes);
  const PinTable given = read_pins(*program, given_, machine_);
  const VariantContext context{*program, machine_, sizes, given, std::max(1, options_.threads)};
  const Dependences dependences = analyze_dependences(*program);
  const bool as_written = std::any_of(sketch.pins.begin(), sketch.pins.end(), [](const Pin& pin) {
    return pin.primitive == "schedule" && pin.arguments.front().find("original") != std::string::npos;
  });

  std::vector<Kernel> kernels;
  std::vector<Pin> cuts;
  for (const KernelPlan& plan : planned.kernels) {
    KernelPlan group;
    group.name = plan.name;
    group.statements = plan.statements;
    kernels.push_back(std::get<Kernel>(Kernel::create(program, borrow(dependences), group)));
    if (as_written) continue;
    for (const Pin& pin : contraction_shape_pins(context, plan)) cuts.push_back(pin);
    for (const Pin& pin : loop_shape_pins(context, plan, kernels.back())) cuts.push_back(pin);
  }
  Plan shaped = planned;
  if (!cuts.empty()) {
    std::vector<Pin> pins = sketch.pins;
    pins.insert(pins.end(), cuts.begin(), cuts.end());
    const Candidate<Plan> cut = resolve(pins);
    const Plan running = feasible(cut) ? running_at(std::get<Plan>(cut), *program, sizes) : Plan();
    bool fits = feasible(cut) && running.kernels.size() == planned.kernels.size();
    for (std::size_t k = 0; fits && k < planned.kernels.size(); ++k)
      fits = running.kernels[k].schedule == planned.kernels[k].schedule;
    if (fits)
      shaped = running;
    else if (const auto* refused = std::get_if<Infeasible>(&cut))
      variant.excluded.push_back({ConstraintKind::legality, "tiles of loops that the planner leaves whole", refused->reason});
    else
      variant.excluded.push_back({ConstraintKind::legality, "tiles of loops that the planner leaves whole",
                                  "with them the planner takes other loops"});
  }
  for (const KernelPlan& kernel : shaped.kernels) variant.shapes.push_back(shape_of_kernel(*program, kernel, machine_, sizes));
  if (!as_written) {
    for (std::size_t k = 0; k < planned.kernels.size(); ++k) {
      const KernelPart part{context, planned.kernels[k], shaped.kernels[k], k, variant};
      add_contraction_choices(part);
      add_window_choices(part);
      add_loop_choices(part, kernels[k]);
      add_promotion_choices(part);
    }
  }
  variants_.push_back(std::move(variant));
}

}  // namespace

Candidate<PlanSpace> describe_space(const Program& program, const Pins& pins, const Machine& machine,
                                    const ResolveOptions& options, SpaceScope scope) {
  return SpaceBuilder(program, pins, machine, options).build(scope);
}

Candidate<ResolvedPlan> resolve_point(const PlanSpace& space, const Point& point, const Program& program,
                                      const Machine& machine, const ResolveOptions& options) {
  return resolve_plan(program, space.pins(point), machine, options);
}

}  // namespace tileopt
