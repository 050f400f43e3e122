#include "backends/runner/emulated_kernel.h"

#include "backends/runner/argument_bytes.h"
#include "backends/runner/call_arguments.h"

namespace tileopt {

struct EmulatedKernel::State {
  Signature signature;
  emulator::Module module;
};

namespace {
emulator::Array::Role role_of(const TensorArgument& argument) {
  if (!argument.written()) return emulator::Array::Role::in;
  return argument.role == TensorRole::out ? emulator::Array::Role::out : emulator::Array::Role::inout;
}

std::string reports_text(const emulator::Outcome& outcome, const emulator::Settings& settings) {
  std::string text;
  for (const emulator::Report& report : outcome.reports)
    text += (text.empty() ? "" : "; ") + report.kind + " in " + (report.kernel.empty() ? "the launcher" : report.kernel) + ", " + settings_text(settings) + ": " + report.text;
  return text;
}
}  // namespace

EmulatedKernel EmulatedKernel::compile(const Program& program, const SourceText& text) {
  const Signature signature = make_signature(program, {});
  const std::string calls = call_functions(signature, "extern \"C\" ", {"nullptr"});
  return EmulatedKernel(std::make_shared<State>(State{signature, emulator::Module::compile(text.source, calls)}), emulator::Settings());
}

EmulatedKernel EmulatedKernel::with(const emulator::Settings& settings) const { return EmulatedKernel(state_, settings); }

IsolatedRun EmulatedKernel::run_isolated(const Sizes& sizes, Arrays& arguments, double timeout_seconds) const {
  const Signature& signature = state_->signature;
  std::vector<emulator::Array> arrays;
  for (const TensorArgument& argument : signature.arguments)
    arrays.push_back({argument.tensor, role_of(argument), argument.packed ? 1 : size_bytes(argument.element), lay_out(argument, array_for(argument, arguments, sizes), sizes)});
  emulator::Settings settings = settings_;
  settings.timeout_seconds = timeout_seconds;
  const emulator::Outcome outcome = state_->module.run(size_values(signature, sizes), arrays, settings);
  switch (outcome.end) {
    case emulator::Outcome::End::refused: return {IsolatedRun::End::refused, outcome.code, ""};
    case emulator::Outcome::End::faulty: return {IsolatedRun::End::faulty, 0, reports_text(outcome, settings)};
    case emulator::Outcome::End::crashed: return {IsolatedRun::End::crashed, outcome.code, reports_text(outcome, settings)};
    case emulator::Outcome::End::hung: return {IsolatedRun::End::hung, 0, reports_text(outcome, settings)};
    case emulator::Outcome::End::done: break;
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const TensorArgument& argument = signature.arguments[i];
    if (!argument.written()) continue;
    if (!take_back(argument, arrays[i].bytes, sizes, arguments.at(argument.tensor)))
      return {IsolatedRun::End::overrun, static_cast<int>(i), "the kernel wrote between the elements of array " + argument.tensor};
  }
  return {};
}

std::vector<emulator::Settings> check_settings(unsigned warp_size, std::uint64_t seed) {
  emulator::Settings forward, random;
  forward.warp_size = random.warp_size = warp_size;
  random.order = emulator::Order::random;
  random.completion = emulator::Completion::random;
  random.seed = seed;
  return {forward, random};
}

}  // namespace tileopt
