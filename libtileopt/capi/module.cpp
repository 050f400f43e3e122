/// Compiling: decide, compile, prove.
#include "capi/guard.h"
#include "capi/module_report.h"
#include "cost_models/machines.h"
#include "frontends/tile_text/tile_text.h"
#include "support/json_text.h"
#include "support/text.h"

using namespace tileopt::capi;
using tileopt::ErrorCode;

namespace {

using Values = OptionsObject::Values;

/// The "file" of a pin's positions.
std::string pin_origin(const Values& options, std::size_t index) {
  return options.pins.size() == 1 ? "pin" : "pin " + std::to_string(index + 1);
}

tileopt::SourceTexts source_texts(const ProgramObject& program, const Values& options) {
  tileopt::SourceTexts texts = program.texts;
  texts.add("machine_json", options.machine_json);
  texts.add("plan_json", options.plan_json);
  texts.add("pins_json", options.pins_json);
  for (std::size_t i = 0; i < options.pins.size(); ++i) texts.add(pin_origin(options, i), options.pins[i]);
  return texts;
}

void append(tileopt::Pins& pins, const tileopt::Pins& more) { pins.pins.insert(pins.pins.end(), more.pins.begin(), more.pins.end()); }

/// What the session's callbacks are told. A callback that says stop ends the call.
tileopt::TraceOptions trace_options(const Session& session) {
  tileopt::TraceOptions options;
  const auto start = std::chrono::steady_clock::now();
  options.on_stage = [&session, start](const std::string& stage, const std::string& kernel) { report_progress(session, start, stage, kernel); };
  if (session.dump == nullptr) return options;
  options.on_file = [&session](const std::string& path, const std::string& text) {
    if (call_host([&] { return session.dump(session.dump_user, path.c_str(), text.data(), text.size()); }) != 0) throw stopped_by_callback();
  };
  return options;
}

}  // namespace

namespace tileopt::capi {

CallError stopped_by_callback() {
  return {TILEOPT_STOPPED, "cancelled", "a callback ended the call", "callbacks return 0 to go on"};
}

void report_progress(const Session& session, std::chrono::steady_clock::time_point start, const std::string& stage, const std::string& kernel) {
  stop_if_asked(session);
  if (session.progress == nullptr) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (call_host([&] { return session.progress(session.progress_user, stage.c_str(), kernel.c_str(), seconds); }) != 0) throw stopped_by_callback();
}

Request make_request(const ProgramObject& program, const OptionsObject::Values& options) {
  Request request;
  request.resolve = options.resolve;
  request.resolve.threads = options.threads.value_or(program.session->threads);
  if (options.machine_object != nullptr) request.machine = *options.machine_object;
  else if (!options.machine_json.empty()) request.machine = Machine::read(parse_json(options.machine_json, "machine_json"), "machine_json");
  else request.machine = find_machine(options.machine);
  request.backend = options.backend.empty() ? request.machine.backend : options.backend;
  if (!options.plan_json.empty()) request.plan = Plan::read(parse_json(options.plan_json, "plan_json"), "plan_json");
  if (!options.schedule.empty()) request.pins = find_schedule(program.file, program.program->name(), options.schedule, request.machine.name);
  if (!options.pins_json.empty()) append(request.pins, read_pins_json(options.pins_json));
  for (std::size_t i = 0; i < options.pins.size(); ++i) append(request.pins, parse_pins(options.pins[i], pin_origin(options, i)));
  return request;
}

OptionsObject::Values copy_options(const tileopt_options* options) {
  if (options == nullptr) return {};
  const auto object = need(options, "options");
  const std::lock_guard lock(object->mutex);
  return object->values;
}

std::shared_ptr<ModuleObject> compile_module(const ProgramObject& program, const Request& request) {
  Session& session = *program.session;
  Trace trace(trace_options(session));
  report_progress(session, std::chrono::steady_clock::now(), "00-resolve", "");
  Candidate<Outcome> candidate = resolve_and_compile(program.program, request, trace);
  if (const auto* refused = std::get_if<Infeasible>(&candidate)) throw Refused{*refused};
  Outcome& outcome = std::get<Outcome>(candidate);
  const std::string unproved = unproved_text(outcome.module.certificate);
  if (!unproved.empty()) throw NotProved{unproved};
  auto module = std::make_unique<ModuleObject>();
  module->session = program.session;
  describe_module(program.program, request, outcome, *module);
  return owned(program.session, std::move(module));
}

}  // namespace tileopt::capi

extern "C" {

tileopt_error* tileopt_module_compile(const tileopt_program* program, const tileopt_options* options, tileopt_module** out_module) {
  tileopt::SourceTexts texts;
  return guard(texts, [&] {
    const auto object = need(program, "program");
    need_pointer(out_module, "out_module");
    const Values chosen = copy_options(options);
    texts = source_texts(*object, chosen);
    in_session(*object->session, [&] { *out_module = insert<tileopt_module>(compile_module(*object, make_request(*object, chosen))); });
  });
}
void tileopt_module_free(tileopt_module* module) { erase(module); }

}  // extern "C"
