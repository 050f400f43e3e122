#include "measure/calibrate.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "driver/executable_kernel.h"
#include "driver/request.h"
#include "interpreter/interpreter.h"
#include "poly/isl.h"
#include "support/error.h"

namespace tileopt {
namespace {

constexpr std::int64_t kProduct = 512;     ///< extents of the product of matrices: 3 MB, which a second cache or its neighbour holds
constexpr double kShare = 0.5;             ///< of a memory that an array takes, so that it stays there
constexpr double kBeyond = 4;              ///< of all caches together: what the last memory is read with
constexpr double kLeastRead = 64 << 20;    ///< bytes that a call reads, so that calling it does not show
constexpr int kRuns = 5;                   ///< of each kernel: the fastest counts, noise only slows down

const char* const product_text =
    "@numerics(contract=True)\n"
    "def product(A: f32[N, N], B: f32[N, N], C: out[f32[N, N]]):\n"
    "    for i, j in grid(N, N):\n"
    "        C[i, j] = sum(A[i, k] * B[k, j] for k in range(N))\n";

/// Every call reads X as often as there are rounds; rounds stay outermost, else each part of X would be read again while it is near.
const char* const reading_text =
    "def reading(X: f32[N], total: out[f32[T]]):\n"
    "    for t in range(T):\n"
    "        total[t] = sum(X[j] for j in range(N))\n"
    "\n"
    "\n"
    "@schedule(reading)\n"
    "def in_order():\n"
    "    tile(\"serial\", t=0)\n";

class Calibrator {
 public:
  Calibrator(const Machine& machine, double seconds) : machine_(machine), seconds_(seconds) {}

  /// Seconds of the fastest run's median call.
  double time(const char* text, const std::string& schedule, const Sizes& sizes) {
    const TileFile file = parse_tile_file(context_.get(), text, "calibration");
    const auto program = std::make_shared<const Program>(file.programs.front());
    Request request;
    request.machine = machine_;
    request.backend = machine_.backend;
    request.resolve.typical_sizes = {sizes.begin(), sizes.end()};
    if (!schedule.empty()) request.pins = find_schedule(file, program->name(), schedule, machine_.name);
    Trace trace;
    Candidate<Outcome> candidate = resolve_and_compile(program, request, trace);
    if (const auto* refused = std::get_if<Infeasible>(&candidate)) throw std::runtime_error(refused->reason);
    const auto& outcome = std::get<Outcome>(candidate);
    if (const std::string unproved = unproved_text(outcome.module.certificate); !unproved.empty()) throw std::runtime_error(unproved);
    const ExecutableKernel kernel = ExecutableKernel::compile(*program, outcome.module.text, machine_);
    const Arrays arguments = make_arguments(*program, sizes, 1, Fill::uniform);
    double best = 0;
    for (int run = 0; run < kRuns; ++run) {
      const double seconds = ExecutableKernel::bench({&kernel}, sizes, arguments, seconds_ / kRuns).front();
      if (best == 0 || seconds < best) best = seconds;
    }
    return best;
  }

  double multiplications() { return std::pow(double(kProduct), 3) / time(product_text, "", {{"N", kProduct}}); }

  double bytes_a_second(double bytes) {
    const std::int64_t elements = std::max<std::int64_t>(256, static_cast<std::int64_t>(bytes / 4) / 256 * 256);
    const auto rounds = static_cast<std::int64_t>(std::ceil(kLeastRead / (4.0 * double(elements))));
    return 4.0 * double(elements * rounds) / time(reading_text, "in_order", {{"T", rounds}, {"N", elements}});
  }

 private:
  poly::Context context_;
  const Machine& machine_;
  const double seconds_;
};

/// Where a kernel cannot be made, the file's figure stays, and the reason is told.
template <class Measure>
void measure_fact(CalibratedFact& fact, double& value, const Measure& measure) {
  fact.before = fact.after = value;
  try {
    fact.after = measure();
    if (fact.after > 0) value = fact.after;
  } catch (const ToolchainError&) {
    throw;  // nothing can be measured here
  } catch (const std::runtime_error& error) {
    fact.how = std::string("not measured: ") + error.what();
  }
}

}  // namespace

Calibration calibrate(const Machine& machine, double seconds, double most_bytes) {
  if (machine.has_agents())
    throw Errors(Diagnostic{ErrorCode::invalid_option, {}, "machine " + machine.name + " is a GPU: only processors are calibrated", "its file's figures are its makers'"});
  require_machine(machine);
  Calibration result{machine, {}};
  Calibrator calibrator(machine, seconds);
  const double lanes = std::max(1.0, double(machine.vector_bytes) / 4);
  CalibratedFact product{"frequency", 0, 0, "product of " + std::to_string(kProduct) + " by " + std::to_string(kProduct) + " f32 matrices, one thread"};
  measure_fact(product, result.machine.frequency, [&] { return calibrator.multiplications() / (lanes * std::max(machine.fma_per_cycle, 0.1)); });
  result.facts.push_back(std::move(product));
  double nearer = 0;
  for (Memory& memory : result.machine.memories) {
    const double bytes = memory.capacity > 0 ? kShare * memory.capacity : kBeyond * nearer;
    CalibratedFact fact{"memories." + memory.name + ".bandwidth", memory.bandwidth, memory.bandwidth, ""};
    if (memory.name == "register" || bytes <= nearer) {
      fact.how = "not measured: half of it is no larger than the memory before";
    } else if (bytes > most_bytes) {
      fact.how = "not measured: it takes an array of " + std::to_string(static_cast<long>(bytes) >> 10) + " KB";
    } else {
      fact.how = "reading " + std::to_string(static_cast<long>(bytes) >> 10) + " KB of f32 again and again";
      measure_fact(fact, memory.bandwidth, [&] { return calibrator.bytes_a_second(bytes); });
    }
    nearer = std::max(nearer, memory.capacity);
    result.facts.push_back(std::move(fact));
  }
  return result;
}

}  // namespace tileopt
