#include "driver/check_kernel.h"

#include "interpreter/interpreter.h"

namespace tileopt {

namespace {

constexpr double timeout_seconds = 120;
constexpr std::size_t shown_deviations = 3;

std::string fill_name(Fill fill) {
  switch (fill) {
    case Fill::uniform: return "random arguments";
    case Fill::integers: return "integer arguments";
  }
  return "?";
}

std::string end_text(const IsolatedRun& run) {
  switch (run.end) {
    case IsolatedRun::End::done: return "";
    case IsolatedRun::End::refused: return "the kernel refused valid arguments with code " + std::to_string(run.code);
    case IsolatedRun::End::crashed: return run.code == 0 ? "the kernel crashed" : "the kernel crashed with signal " + std::to_string(run.code);
    case IsolatedRun::End::hung: return "the kernel did not return in " + std::to_string(static_cast<int>(timeout_seconds)) + " s";
    case IsolatedRun::End::overrun: return "the kernel wrote outside its arrays";
    case IsolatedRun::End::faulty: return "the emulator reports a fault";
  }
  return "?";
}

/// "" where the run agrees with `reference`; `end` tells how it ended.
std::string run_once(const Program& program, const IsolatedKernel& kernel, const Sizes& sizes, const Arrays& arguments,
                     const InterpreterResult& reference, IsolatedRun::End& end) {
  Arrays results = arguments;
  const IsolatedRun run = kernel.run_isolated(sizes, results, timeout_seconds);
  end = run.end;
  if (run.end != IsolatedRun::End::done) return end_text(run) + (run.detail.empty() ? "" : ": " + run.detail);
  std::int64_t count = 0;
  const std::vector<Deviation> deviations = compare(program, reference, arguments, results, shown_deviations, &count);
  if (count == 0) return "";
  std::string text = std::to_string(count) + " elements deviate from the interpreter";
  for (const Deviation& deviation : deviations) text += "; " + deviation.text();
  return text;
}

std::vector<Fill> fills_for(const Program& program, const Sizes& sizes, std::size_t turn, std::int64_t both_fills) {
  if (count_instances(program, sizes) <= both_fills) return {Fill::uniform, Fill::integers};
  return {turn % 2 == 0 ? Fill::uniform : Fill::integers};
}

}  // namespace

SizeSpread timing_check_spread() { return {{1, 3, 7, 33, 64, 100}, 8, std::int64_t(1) << 20}; }

SizeSpread emulation_spread() { return {{0, 1, 2, 3, 7, 33, 64, 100}, 12, std::int64_t(1) << 19}; }

SizeSpread check_spread() { return {{0, 1, 2, 3, 7, 31, 33, 64, 100}}; }

std::string CheckReport::text() const {
  if (!failure.empty()) return failure;
  return "agrees with the interpreter in " + std::to_string(runs) + " runs at " + std::to_string(sizes.size()) +
         (sizes.size() == 1 ? " size vector" : " size vectors");
}

CheckReport check_kernels(const Program& program, const std::vector<const IsolatedKernel*>& kernels, const std::vector<Sizes>& sizes,
                          std::uint64_t seed, std::int64_t both_fills) {
  CheckReport report;
  for (const Sizes& vector : sizes) {
    const std::vector<Fill> fills = fills_for(program, vector, report.sizes.size(), both_fills);
    report.sizes.push_back(vector);
    for (const Fill fill : fills) {
      const Arrays arguments = make_arguments(program, vector, seed, fill);
      const InterpreterResult reference = interpret(program, vector, arguments);
      for (report.kernel = 0; report.kernel < kernels.size(); ++report.kernel) {
        ++report.runs;
        const std::string failure = run_once(program, *kernels[report.kernel], vector, arguments, reference, report.end);
        if (failure.empty()) continue;
        report.failure = "at " + sizes_text(vector) + ", " + fill_name(fill) + " of seed " + std::to_string(seed) + ": " + failure;
        return report;
      }
    }
  }
  return report;
}

}  // namespace tileopt
