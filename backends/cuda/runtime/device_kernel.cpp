#include "backends/cuda/runtime/device_kernel.h"

#include <algorithm>

#include "backends/cuda/runtime/device_process.h"
#include "backends/cuda/runtime/driver_api.h"
#include "backends/cuda/runtime/nvrtc.h"
#include "backends/gpu_common/emulator/module.h"
#include "backends/runner/argument_bytes.h"
#include "backends/runner/call_arguments.h"
#include "support/error.h"

namespace tileopt {

struct DeviceKernel::State {
  Signature signature;
  cuda::Cubin cubin;
  emulator::Module launcher;
  cuda::DeviceProcess process;
  State(Signature names, cuda::Cubin code, emulator::Module host, const std::string& architecture)
      : signature(std::move(names)), cubin(std::move(code)), launcher(std::move(host)), process(cubin.image, architecture, launcher.object()) {}
};

namespace {
std::string as_text(const std::vector<std::byte>& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::vector<std::byte> as_bytes(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

/// False where the kernel wrote between the elements of an array, whose name is left in `culprit`.
bool take_all(const Signature& signature, const std::vector<std::string>& results, const Sizes& sizes, Arrays& arrays, std::string& culprit) {
  for (std::size_t i = 0; i < signature.arguments.size(); ++i) {
    const TensorArgument& argument = signature.arguments[i];
    if (!argument.written() || take_back(argument, as_bytes(results.at(i)), sizes, arrays.at(argument.tensor))) continue;
    culprit = argument.tensor;
    return false;
  }
  return true;
}
}  // namespace

DeviceKernel DeviceKernel::compile(const Program& program, const SourceText& text, const Machine& machine) { return start(program, text, machine).finish(); }

/// What belongs to isl is read here: the compilers' thread gets values only.
DeviceKernel::Pending DeviceKernel::start(const Program& program, const SourceText& text, const Machine& machine) {
  cuda::DriverApi::open();
  Pending pending;
  Signature signature = make_signature(program, {});
  std::string calls = call_functions(signature, "extern \"C\" ", {"nullptr"});
  pending.state_ = std::async(std::launch::async, [signature = std::move(signature), calls = std::move(calls), source = text.source, architecture = cuda::architecture_of(machine),
                                                   contract = program.numerics().contract] {
    cuda::Cubin cubin = cuda::compile_device_code(source, architecture, contract);
    return std::make_shared<State>(signature, std::move(cubin), emulator::Module::compile_launcher(source, calls), architecture);
  });
  return pending;
}

IsolatedRun DeviceKernel::run_isolated(const Sizes& sizes, Arrays& arguments, double timeout_seconds) const {
  Timing none;
  none.seconds = 0;
  return run_timed(sizes, arguments, timeout_seconds, none);
}

IsolatedRun DeviceKernel::run_timed(const Sizes& sizes, Arrays& arguments, double timeout_seconds, Timing& timing) const {
  const Signature& signature = state_->signature;
  cuda::DeviceJob job;
  job.sizes = size_values(signature, sizes);
  for (const TensorArgument& argument : signature.arguments)
    job.arguments.push_back({argument.tensor, argument.written(), argument.by_value, as_text(lay_out(argument, array_for(argument, arguments, sizes), sizes))});
  job.seconds = timing.seconds;
  job.least = timing.least;
  job.flush_cache = timing.flush_cache;
  cuda::DeviceAnswer answer;
  if (!state_->process.ask(job, timeout_seconds, answer)) return {IsolatedRun::End::hung, 0, "the kernel did not finish in " + std::to_string(static_cast<int>(timeout_seconds)) + " s"};
  using End = cuda::DeviceAnswer::End;
  switch (answer.end) {
    case End::refused: return {IsolatedRun::End::refused, static_cast<int>(answer.code), answer.text};
    case End::overrun: return {IsolatedRun::End::overrun, 0, answer.text};
    case End::crashed: return {IsolatedRun::End::crashed, 0, answer.text};
    case End::unavailable: throw ToolchainError(answer.text);
    case End::done: break;
  }
  std::string culprit;
  bool good = take_all(signature, answer.results, sizes, arguments, culprit);
  if (good && timing.seconds > 0) {
    timing.samples = std::move(answer.samples);
    timing.last = arguments;
    good = take_all(signature, answer.last, sizes, timing.last, culprit);
  }
  if (good) return {};
  return {IsolatedRun::End::overrun, 0, "the kernel wrote between the elements of array " + culprit};
}

const std::string& DeviceKernel::compiler_log() const { return state_->cubin.log; }
bool DeviceKernel::from_cache() const { return state_->cubin.cached; }

}  // namespace tileopt
