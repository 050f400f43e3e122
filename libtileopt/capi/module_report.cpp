#include "capi/module_report.h"

#include <algorithm>

#include "backends/c_common/integer_c.h"
#include "backends/c_common/launcher.h"
#include "backends/c_common/register_arrays.h"
#include "backends/gpu_common/launch_plan.h"
#include "backends/openmp/toolchain.h"
#include "capi/host_memory.h"
#include "rewrites/apply_rewrites.h"
#include "driver/predict_device.h"
#include "space/score.h"
#include "support/json_text.h"
#include "support/text.h"

namespace tileopt::capi {

namespace {

Launch::Loop loop_of(const AstFor& loop) { return {loop.variable, loop.lower, loop.upper, loop.step}; }

std::string range_text(const Launch::Loop& loop) {
  return loop.variable + " = " + ast_expr_text(loop.lower) + " .. " + ast_expr_text(loop.upper) + (loop.step == 1 ? "" : " step " + std::to_string(loop.step));
}

/// max(0, (upper - lower) / step + 1), as far as it folds.
AstExprPtr count_of(const Launch::Loop& loop) {
  AstExprPtr span = sum_of(loop.upper, fold(ast_operation(AstExpr::Kind::negate, {loop.lower})));
  if (loop.step != 1) span = ast_operation(AstExpr::Kind::floor_div, {span, ast_integer(loop.step)});
  return fold(ast_operation(AstExpr::Kind::max, {ast_integer(0), plus(fold(span), 1)}));
}

/// The launches of a kernel in the order in which they are printed: outermost loops of the independent level, below loops of the host.
class LaunchReader {
 public:
  LaunchReader(std::string independent, std::vector<Launch>& launches) : independent_(std::move(independent)), launches_(launches) {}

  void read(const AstNodePtr& node) {
    for (const AstNodePtr& child : flat_children(node)) {
      if (const auto* loop = std::get_if<AstFor>(&child->node)) {
        if (loop->level == independent_) {
          add(*loop);
        } else {
          host_.push_back(loop_of(*loop));
          read(loop->body);
          host_.pop_back();
        }
      } else if (const auto* branch = std::get_if<AstIf>(&child->node)) {
        tests_.push_back({branch->condition, true});
        read(branch->then_body);
        tests_.back().wanted = false;
        if (branch->else_body != nullptr) read(branch->else_body);
        tests_.pop_back();
      } else if (const auto* allocate = std::get_if<AstAllocate>(&child->node)) {
        read(allocate->body);
      }
    }
  }

 private:
  void add(const AstFor& root) {
    Launch launch;
    launch.host = host_;
    launch.tests = tests_;
    std::vector<std::string> host, counts;
    for (const BlockLoop& block : plan_launch(root, independent_).blocks) {
      launch.blocks.push_back(loop_of(*block.loop));
      const std::string count = ast_expr_text(count_of(launch.blocks.back()));
      counts.push_back(block.dependent ? "hull(" + range_text(launch.blocks.back()) + ")" : count);
    }
    for (const Launch::Loop& loop : host_) host.push_back(range_text(loop));
    launch.blocks_text = counts.size() == 1 ? counts.front() : "(" + join(counts, ") * (") + ")";
    launch.host_text = join(host, "; ");
    launches_.push_back(std::move(launch));
  }

  std::string independent_;
  std::vector<Launch>& launches_;
  std::vector<Launch::Loop> host_;
  std::vector<Launch::Test> tests_;
};

void describe_kernels(const Outcome& outcome, ModuleObject& module) {
  const std::vector<PrintFacts>& facts = outcome.module.text.facts;
  for (std::size_t k = 0; k < outcome.module.plan.kernels.size(); ++k) {
    const KernelPlan& plan = outcome.module.plan.kernels[k];
    ModuleKernel kernel{plan.name, plan.statements, join(plan.statements, " "), 0, plan.when};
    std::vector<Launch> launches;
    if (k < facts.size()) {
      for (const PrintFacts::Buffer& buffer : facts[k].buffers)
        if (buffer.region == "workspace") kernel.workspace_bytes = std::max(kernel.workspace_bytes, buffer.offset + in_workspace(buffer.bytes));
      if (module.machine.has_agents()) LaunchReader(module.machine.level_name(LevelKind::independent), launches).read(outcome.module.asts.at(k).root);
      // Where a launch was printed more than once (edge and interior), its loops are not told apart: only what was printed is known.
      if (launches.size() != facts[k].launches.size()) launches.assign(facts[k].launches.size(), Launch{});
      for (std::size_t l = 0; l < launches.size(); ++l) {
        launches[l].name = facts[k].launches[l].kernel;
        launches[l].kernel = k;
        launches[l].threads = facts[k].launches[l].threads;
        launches[l].shared_bytes = facts[k].launches[l].shared_bytes;
        module.launches.push_back(std::move(launches[l]));
      }
    }
    module.kernels.push_back(std::move(kernel));
  }
}

ModuleObject::ArgumentText argument_text(const TensorArgument& argument) {
  ModuleObject::ArgumentText text;
  text.type = type_name(argument.element);
  for (const AstExprPtr& extent : argument.shape) text.extents.push_back(ast_expr_text(extent));
  for (const AstExprPtr& stride : element_strides(argument)) text.strides.push_back(ast_expr_text(fold(stride)));
  return text;
}

/// Nothing where the model does not know the plan's form: a cost is advice, not a part of the module.
std::optional<CostReport> cost_of(const Program& source, const Request& request, const Module& module) {
  try {
    const Plan& plan = module.plan;
    if (request.machine.has_agents()) {
      const DeviceCost cost = predict_module(source, module, request.machine, request.resolve.typical_sizes);
      CostReport report{cost.seconds, resource_name(cost.binding()), {}};
      for (const auto& [resource, seconds] : cost.parts()) report.parts.emplace_back(resource_name(resource), seconds);
      return report;
    }
    const Cost cost = score_plan(source, plan, request.machine, request.resolve.typical_sizes, request.resolve.threads).cost;
    const std::vector<std::string> memories = ShapeCostModel(request.machine, request.resolve.threads).memory_names();
    return CostReport{cost.seconds, binding_name(cost, memories), breakdown(cost, memories)};
  } catch (const Errors&) {
    return std::nullopt;
  }
}

std::string compiler_flags(const Program& program, const Machine& machine) {
  std::vector<std::string> flags;
  if (machine.backend == "openmp") {
    flags = numeric_flags(program.numerics());
    flags.push_back("-fopenmp");
  }
  flags.insert(flags.end(), machine.flags.begin(), machine.flags.end());
  return join(flags, " ");
}

}  // namespace

void describe_module(const std::shared_ptr<const Program>& source, const Request& request, Outcome& outcome, ModuleObject& module) {
  module.machine = request.machine;
  module.name = outcome.module.name;
  module.certificate = json_text(outcome.module.certificate.write()) + "\n";
  module.plan = outcome.module.plan.write().dump(2) + "\n";
  module.reasons = join(outcome.reasons, "\n");
  module.flags = compiler_flags(*source, request.machine);
  module.extension = find_backend(request.backend).extension();
  const Candidate<RewrittenProgram> rewritten = apply_rewrites(source, outcome.module.plan.rewrites);
  TILEOPT_CHECK(feasible(rewritten), "the rewrites of a compiled plan fit");
  module.program = source;
  module.signature = make_signature(*std::get<RewrittenProgram>(rewritten).program, outcome.module.asts);
  for (const TensorArgument& argument : module.signature.arguments) module.arguments.push_back(argument_text(argument));
  describe_kernels(outcome, module);
  module.cost = cost_of(*source, request, outcome.module);
  module.text = std::move(outcome.module.text);
  module.source = module.text.source;
  module.header = module.text.header;
}

std::int64_t workspace_bytes(const ModuleObject& module, const Sizes& sizes) {
  std::int64_t end = 0, own = 0;
  const auto reserve = [&](std::int64_t bytes) {
    if (__builtin_add_overflow(end, bytes, &end) || end > INT64_MAX - kWorkspaceAlignment) reject(ErrorCode::invalid_size, "the workspace's bytes overflow 64 bits", "choose smaller sizes");
    end = in_workspace(end);
  };
  for (const TensorArgument& local : module.signature.locals) reserve(argument_bytes(local, sizes));
  for (const ModuleKernel& kernel : module.kernels) own = std::max<std::int64_t>(own, kernel.workspace_bytes);
  reserve(own);
  return end;
}

namespace {

/// Walks the values of loops; counts what it looks at.
class LoopWalk {
 public:
  explicit LoopWalk(Sizes values) : values_(std::move(values)) {}

  template <class Visit>
  void over(const std::vector<Launch::Loop>& loops, std::size_t depth, Visit&& visit) {
    if (depth == loops.size()) return visit();
    const Launch::Loop& loop = loops[depth];
    const std::int64_t first = evaluate(loop.lower, values_), last = evaluate(loop.upper, values_);
    for (std::int64_t value = first; value <= last; value += loop.step) {
      step();
      values_[loop.variable] = value;
      over(loops, depth + 1, visit);
    }
    values_.erase(loop.variable);
  }

  bool holds(const std::vector<Launch::Test>& tests) const {
    return std::all_of(tests.begin(), tests.end(), [&](const Launch::Test& test) { return (evaluate(test.condition, values_) != 0) == test.wanted; });
  }

  /// As the printed text numbers blocks: the product over the loops of how many values lie between the least and the largest.
  std::int64_t blocks(const std::vector<Launch::Loop>& loops) {
    std::int64_t product = 1;
    std::vector<Launch::Loop> outer;
    for (const Launch::Loop& loop : loops) {
      std::int64_t first = INT64_MAX, last = INT64_MIN;
      if (mentions_any(loop, outer)) {
        over(outer, 0, [&] { extend(loop, first, last); });
      } else {
        extend(loop, first, last);
      }
      const std::int64_t count = last < first ? 0 : (last - first) / loop.step + 1;
      if (__builtin_mul_overflow(product, count, &product)) reject(ErrorCode::invalid_size, "the blocks overflow 64 bits", "choose smaller sizes");
      outer.push_back({loop.variable, ast_integer(last < first ? 0 : first), ast_integer(last < first ? -1 : last), loop.step});
    }
    return product;
  }

 private:
  static bool mentions_any(const Launch::Loop& loop, const std::vector<Launch::Loop>& outer) {
    std::set<std::string> names;
    collect_names(loop.lower, names);
    collect_names(loop.upper, names);
    return std::any_of(outer.begin(), outer.end(), [&](const Launch::Loop& other) { return names.count(other.variable) != 0; });
  }
  void extend(const Launch::Loop& loop, std::int64_t& first, std::int64_t& last) {
    const std::int64_t lower = evaluate(loop.lower, values_), upper = evaluate(loop.upper, values_);
    if (lower > upper) return;
    first = std::min(first, lower);
    last = std::max(last, upper);
  }
  void step() {
    if (++steps_ > std::int64_t(1) << 24) reject(ErrorCode::unsupported, "the launches of these sizes are too many to be counted", "choose smaller sizes");
  }

  Sizes values_;
  std::int64_t steps_ = 0;
};

}  // namespace

std::pair<std::int64_t, std::int64_t> launch_counts(const Launch& launch, const Sizes& sizes) {
  if (launch.blocks.empty()) reject(ErrorCode::unsupported, "the blocks of launch `" + launch.name + "` are not known", "read them in the source");
  std::int64_t launches = 0, most = 0;
  LoopWalk walk(sizes);
  walk.over(launch.host, 0, [&] {
    if (!walk.holds(launch.tests)) return;
    ++launches;
    most = std::max(most, walk.blocks(launch.blocks));
  });
  return {launches, most};
}

}  // namespace tileopt::capi
