#include "backends/runner/emulated_kernel.h"

#include <algorithm>
#include <sstream>

#include "backends/runner/argument_bytes.h"
#include "backends/runner/call_arguments.h"
#include "backends/runner/plan_context.h"

namespace tileopt {

struct EmulatedKernel::State {
  Signature signature;
  SourceText text;
  emulator::Module module;
};

namespace {
emulator::Array::Role role_of(const TensorArgument& argument) {
  if (!argument.written()) return emulator::Array::Role::in;
  return argument.role == TensorRole::out ? emulator::Array::Role::out : emulator::Array::Role::inout;
}

std::string line_of(const std::string& text, int number) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i < number && std::getline(lines, line); ++i) {
  }
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string::npos ? "" : line.substr(first);
}

/// "race in kernel …, random order …: line 22: …", with the kernel's place in the Plan.
std::string reports_text(const emulator::Outcome& outcome, const emulator::Settings& settings, const SourceText& text) {
  std::string all;
  for (const emulator::Report& report : outcome.reports) {
    const std::string context = plan_context(report.kernel, report.lines.empty() ? "" : line_of(text.source, report.lines.front()), text.facts);
    all += (all.empty() ? "" : "\n") + report.kind + " in " + (report.kernel.empty() ? "the launcher" : report.kernel);
    all += (context.empty() ? "" : " (" + context + ")") + ", " + settings_text(settings) + ": " + report.text;
  }
  return all;
}
}  // namespace

EmulatedKernel EmulatedKernel::compile(const Program& program, const SourceText& text) {
  const Signature signature = make_signature(program, {});
  const std::string calls = call_functions(signature, "extern \"C\" ", {"nullptr"});
  return EmulatedKernel(std::make_shared<State>(State{signature, text, emulator::Module::compile(text.source, calls)}), emulator::Settings());
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
    case emulator::Outcome::End::faulty: return {IsolatedRun::End::faulty, 0, reports_text(outcome, settings, state_->text)};
    case emulator::Outcome::End::crashed: return {IsolatedRun::End::crashed, outcome.code, reports_text(outcome, settings, state_->text)};
    case emulator::Outcome::End::hung: return {IsolatedRun::End::hung, 0, reports_text(outcome, settings, state_->text)};
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

std::vector<emulator::Settings> check_settings(const Machine& machine, std::uint64_t seed) {
  emulator::Settings forward;
  if (machine.multiprocessor) forward.warp_size = static_cast<unsigned>(machine.multiprocessor->warp);
  if (const Space* shared = machine.find_space("shared"); shared != nullptr && shared->capacity > 0)
    forward.max_shared_bytes = static_cast<std::uint32_t>(shared->capacity);
  long threads = 0;
  for (const Level& level : machine.levels)
    if (level.kind == LevelKind::barrier) threads = std::max(threads, level.count);
  if (threads > 0) forward.max_threads = static_cast<std::uint32_t>(threads);
  emulator::Settings random = forward;
  random.order = emulator::Order::random;
  random.completion = emulator::Completion::random;
  random.seed = seed;
  return {forward, random};
}

}  // namespace tileopt
