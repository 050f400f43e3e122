#include "explore/measured_trials.h"

namespace tileopt {
namespace {

struct MeasuredBuild : Build {
  std::optional<PendingPlan> pending;
  std::optional<PreparedPlan> prepared;

  void settle() override {
    if (pending && pending->kernel) pending->kernel->wait();
  }
};

}  // namespace

MeasuredTrials::MeasuredTrials(std::shared_ptr<const Program> program, const Machine& machine, const MeasureOptions& options)
    : measurer_(std::move(program), machine, options) {}

std::unique_ptr<Build> MeasuredTrials::begin(const Plan& plan, const std::string& origin) {
  auto build = std::make_unique<MeasuredBuild>();
  try {
    build->pending = measurer_.begin(plan, origin);
  } catch (const InternalError& error) {
    // A bug of ours in one candidate must not end a search of hours; its record says what it was.
    build->pending = measurer_.failed(plan, origin, std::string("internal error: ") + error.what());
  }
  return build;
}

Record MeasuredTrials::time(Build& build) {
  auto& own = static_cast<MeasuredBuild&>(build);
  if (!own.prepared) {
    own.prepared = measurer_.finish(std::move(*own.pending));
    own.pending.reset();
    // The first sound kernel is what the others are compared with where the interpreter is too slow.
    if (own.prepared->kernel) measurer_.set_reference(*own.prepared->kernel);
  }
  return measurer_.time(*own.prepared);
}

Record MeasuredTrials::time_again(Build& build) { return time(build); }

}  // namespace tileopt
