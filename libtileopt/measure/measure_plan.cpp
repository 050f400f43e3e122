#include "measure/measure_plan.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>

#include "backends/openmp/toolchain.h"
#include "driver/check_kernel.h"
#include "interpreter/interpreter.h"
#include "space/space.h"
#include "support/text.h"

namespace tileopt {
namespace {

/// Beyond this the interpreter is not asked about the sizes of the measurement.
constexpr std::int64_t most_instances = std::int64_t(1) << 22;
/// Boosted clocks run above the sustained frequency of the machine file.
constexpr double floor_slack = 0.5;
/// The allocator and the OpenMP runtime may take this much once.
constexpr std::int64_t allowed_growth_bytes = std::int64_t(16) << 20;
/// Of a kernel that was checked at small sizes: how far another order of summation may lie, over the largest element.
constexpr double approximate_roundoffs = 4096;

double relative_deviation(const std::vector<double>& values, double middle) {
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::fabs(value - middle));
  return middle > 0 ? median(distances) / middle : 0;
}

RecordOutcome outcome_of(IsolatedRun::End end) {
  switch (end) {
    case IsolatedRun::End::done: return RecordOutcome::wrong;
    case IsolatedRun::End::refused: return RecordOutcome::refused;
    case IsolatedRun::End::crashed: return RecordOutcome::crashed;
    case IsolatedRun::End::hung: return RecordOutcome::hung;
    case IsolatedRun::End::overrun:
    case IsolatedRun::End::faulty: return RecordOutcome::overrun;
  }
  return RecordOutcome::wrong;
}

std::string compiler_version(const std::string& compiler) {
  const std::string output = run_process({compiler, "--version"}, 20).output;
  return output.substr(0, output.find('\n'));
}

/// Norm-wise: another order of summation moves single elements that cancel by more than their own size.
std::string compare_approximately(const Program& program, const Arrays& reference, const Arrays& results) {
  for (const auto& [name, expected] : reference) {
    const HostArray& got = results.at(name);
    const ElementType type = program.tensor(name).type;
    double largest = 0, distance = 0;
    for (std::int64_t i = 0; i < expected.elements(); ++i) {
      const double a = expected.get(i), b = got.get(i);
      if (std::isnan(a) != std::isnan(b) || (std::isinf(a) && a != b)) return name + ": element " + std::to_string(i) + " is " + std::to_string(b) + ", not " + std::to_string(a);
      if (!std::isfinite(a)) continue;
      largest = std::max(largest, std::fabs(a));
      distance = std::max(distance, std::fabs(a - b));
    }
    const double allowed = is_float(type) ? largest * std::min(0.25, approximate_roundoffs * unit_roundoff(type)) : 0;
    if (!(distance <= allowed)) return name + " deviates by " + std::to_string(distance) + " from a kernel that was checked; " + std::to_string(allowed) + " is allowed";
  }
  return "";
}

}  // namespace

std::string utc_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

Measurer::Measurer(std::shared_ptr<const Program> program, Machine machine, MeasureOptions options)
    : program_(std::move(program)), machine_(std::move(machine)), options_(std::move(options)) {
  check_sizes(*program_, options_.sizes);
  require_machine(machine_);
  if (options_.compile.compiler.empty()) options_.compile.compiler = find_c_compiler();
  std::vector<std::string> flags = numeric_flags(program_->numerics());
  flags.insert(flags.end(), machine_.flags.begin(), machine_.flags.end());
  flags.insert(flags.end(), options_.compile.extra_flags.begin(), options_.compile.extra_flags.end());
  key_.program = program_->name();
  key_.program_hash = program_->hash();
  key_.sizes = options_.sizes;
  key_.machine = machine_.name;
  key_.machine_hash = machine_hash(machine_);
  key_.processor = processor_name();
  key_.compiler = compiler_version(options_.compile.compiler);
  key_.flags = join(flags, " ");
  key_.threads = options_.threads;
  key_.version = TILEOPT_VERSION;
  key_.space = space_version;
  work_ = count_work(*program_, options_.sizes);
  arguments_ = make_arguments(*program_, options_.sizes, options_.seed, Fill::uniform);
  if (count_instances(*program_, options_.sizes) <= most_instances) exact_ = interpret(*program_, options_.sizes, arguments_);
}

Record Measurer::start_record(const Plan& plan, const std::string& origin) const {
  Record record;
  record.key = key_;
  record.plan = plan.write();
  record.origin = origin;
  record.seed = options_.seed;
  record.time = utc_time();
  return record;
}

PendingPlan Measurer::begin(const Plan& plan, const std::string& origin) const {
  Request request;
  request.machine = machine_;
  request.backend = machine_.backend;
  request.plan = plan;
  request.resolve.threads = options_.threads;
  Trace trace;
  const Candidate<Outcome> candidate = resolve_and_compile(program_, request, trace);
  if (const auto* refused = std::get_if<Infeasible>(&candidate)) {
    return failed(plan, origin, to_string(*refused));
  }
  const Module& module = std::get<Outcome>(candidate).module;
  if (const std::string unproved = unproved_text(module.certificate); !unproved.empty()) {
    PendingPlan pending = failed(plan, origin, unproved);
    pending.record.source_hash = hash_text(module.text.source + module.text.header);
    pending.record.outcome = RecordOutcome::refuted;
    return pending;
  }
  return begin_text(plan, module.text, origin);
}

PendingPlan Measurer::failed(const Plan& plan, const std::string& origin, const std::string& detail) const {
  PendingPlan pending{start_record(plan, origin), std::nullopt};
  pending.record.outcome = RecordOutcome::infeasible;
  pending.record.detail = detail;
  return pending;
}

PendingPlan Measurer::begin_text(const Plan& plan, const SourceText& text, const std::string& origin) const {
  PendingPlan pending{start_record(plan, origin), std::nullopt};
  pending.record.source_hash = hash_text(text.source + text.header);
  pending.kernel = ExecutableKernel::start(*program_, text, machine_, options_.compile);
  return pending;
}

PreparedPlan Measurer::finish(PendingPlan pending) const {
  PreparedPlan prepared{std::move(pending.record), std::nullopt};
  if (!pending.kernel) return prepared;
  try {
    prepared.kernel = pending.kernel->finish();
  } catch (const ToolchainError& error) {
    prepared.record.outcome = RecordOutcome::compile_failed;
    prepared.record.detail = error.what();
    return prepared;
  }
  check(prepared);
  return prepared;
}

PreparedPlan Measurer::prepare_text(const Plan& plan, const SourceText& text, const std::string& origin) const {
  return finish(begin_text(plan, text, origin));
}

void Measurer::check(PreparedPlan& prepared) const {
  const CheckReport report = check_kernels(*program_, {&*prepared.kernel}, spread_sizes(*program_, timing_check_spread()), options_.seed);
  if (report.failure.empty()) return;
  prepared.record.outcome = outcome_of(report.end);
  prepared.record.detail = report.failure;
  prepared.kernel.reset();
}

void Measurer::set_reference(const IsolatedKernel& kernel) {
  if (exact_ || approximate_) return;
  Arrays results = arguments_;
  if (kernel.run_isolated(options_.sizes, results, options_.timeout).end != IsolatedRun::End::done) return;
  approximate_.emplace();
  for (const Tensor& tensor : program_->tensors())
    if (tensor.role == TensorRole::out || tensor.role == TensorRole::inout) (*approximate_)[tensor.name] = results.at(tensor.name);
}

std::string Measurer::compare_results(const Arrays& results) const {
  if (exact_) {
    std::int64_t count = 0;
    const std::vector<Deviation> deviations = compare(*program_, *exact_, arguments_, results, 1, &count);
    return count == 0 ? "" : std::to_string(count) + " elements deviate from the interpreter; " + deviations.front().text();
  }
  return approximate_ ? compare_approximately(*program_, *approximate_, results) : "";
}

double Measurer::floor_seconds() const {
  if (machine_.frequency <= 0 || machine_.vector_bytes <= 0) return 0;
  // Two operations of a multiply-add on the narrowest elements that it computes with.
  const double per_second = machine_.frequency * machine_.fma_per_cycle * 2 * machine_.vector_bytes * options_.threads;
  return floor_slack * work_.operations / per_second;
}

Record Measurer::time(PreparedPlan prepared) const {
  Record record = std::move(prepared.record);
  if (!prepared.kernel) return record;
  const auto fail = [&](RecordOutcome outcome, const std::string& detail) {
    record.outcome = outcome;
    record.detail = detail;
    return record;
  };
  CompiledKernel::Timing timing;
  timing.seconds = options_.seconds;
  timing.least = options_.least_calls;
  Arrays results = arguments_;
  const IsolatedRun run = prepared.kernel->run_timed(options_.sizes, results, options_.timeout + options_.seconds, timing);
  if (run.end != IsolatedRun::End::done) return fail(outcome_of(run.end), run.detail);
  record.samples = timing.samples;
  record.seconds = median(timing.samples);
  record.noise = relative_deviation(timing.samples, record.seconds);
  if (const std::string difference = compare_results(results); !difference.empty()) return fail(RecordOutcome::wrong, difference);
  for (const auto& [name, last] : timing.last)
    if (last.bytes != results.at(name).bytes) {
      Arrays after = results;
      for (const auto& [other, array] : timing.last) after[other] = array;
      const std::string difference = compare_results(after);
      if (!difference.empty()) return fail(RecordOutcome::unstable, "after the timed calls: " + difference);
      if (!exact_ && !approximate_) return fail(RecordOutcome::unstable, "the last call gave another " + name + " than the first one");
    }
  if (timing.growth_bytes > allowed_growth_bytes)
    return fail(RecordOutcome::leaking, std::to_string(timing.growth_bytes >> 20) + " MiB more after " + std::to_string(timing.samples.size()) + " calls");
  double sum = 0;
  for (const double sample : timing.samples) sum += sample;
  if (sum > timing.elapsed) return fail(RecordOutcome::implausible, "its calls took longer than its process");
  if (record.seconds < floor_seconds())
    return fail(RecordOutcome::implausible, "faster than this machine's vector units can be: " + std::to_string(floor_seconds()) + " s");
  return record;
}

std::string machine_hash(const Machine& machine) { return hash_text(machine.write().dump()); }

}  // namespace tileopt
