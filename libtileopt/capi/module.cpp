/// Compiling: decide, compile, prove.
#include "capi/handles.h"
#include "cost_models/machines.h"
#include "frontends/tile_text/tile_text.h"
#include "support/json_text.h"

using tileopt::ErrorCode;
using tileopt::capi::guard;
using tileopt::capi::Refused;
using tileopt::capi::reject;

namespace {

/// The "file" of a pin's positions.
std::string pin_origin(const tileopt_options& options, std::size_t index) {
  return options.pins.size() == 1 ? "pin" : "pin " + std::to_string(index + 1);
}

tileopt::SourceTexts source_texts(const tileopt_program& program, const tileopt_options& options) {
  tileopt::SourceTexts texts = program.texts;
  texts.add("machine_json", options.machine_json);
  texts.add("plan_json", options.plan_json);
  for (std::size_t i = 0; i < options.pins.size(); ++i) texts.add(pin_origin(options, i), options.pins[i]);
  return texts;
}

tileopt::Request make_request(const tileopt_program& program, const tileopt_options& options) {
  using namespace tileopt;
  Request request;
  request.backend = options.backend;
  request.resolve = options.resolve;
  request.machine = options.machine_json.empty() ? find_machine(options.machine)
                                                 : Machine::read(parse_json(options.machine_json, "machine_json"), "machine_json");
  if (!options.plan_json.empty()) request.plan = Plan::read(parse_json(options.plan_json, "plan_json"), "plan_json");
  if (!options.schedule.empty()) request.pins = find_schedule(program.file, program.program->name(), options.schedule, request.machine.name);
  for (std::size_t i = 0; i < options.pins.size(); ++i) {
    const Pins parsed = parse_pins(options.pins[i], pin_origin(options, i));
    request.pins.pins.insert(request.pins.pins.end(), parsed.pins.begin(), parsed.pins.end());
  }
  return request;
}

}  // namespace

extern "C" {

tileopt_error* tileopt_module_compile(const tileopt_program* program, const tileopt_options* options, tileopt_module** out_module) {
  tileopt::SourceTexts texts;
  return guard(texts, [&] {
    if (program == nullptr || out_module == nullptr)
      reject(ErrorCode::invalid_option, "program or out_module is NULL", "give both");
    const tileopt_options defaults;
    const tileopt_options& chosen = options == nullptr ? defaults : *options;
    texts = source_texts(*program, chosen);
    const tileopt::Request request = make_request(*program, chosen);
    tileopt::Trace trace;
    tileopt::Candidate<tileopt::Outcome> candidate = tileopt::resolve_and_compile(program->program, request, trace);
    if (const auto* refused = std::get_if<tileopt::Infeasible>(&candidate)) throw Refused{*refused};
    const tileopt::Module& module = std::get<tileopt::Outcome>(candidate).module;
    const std::string unproved = tileopt::unproved_text(module.certificate);
    if (!unproved.empty()) throw tileopt::capi::NotProved{unproved};
    *out_module = new tileopt_module{module.text.source, module.text.header, tileopt::json_text(module.certificate.write()) + "\n",
                                     module.plan.write().dump(2) + "\n"};
  });
}

const char* tileopt_module_peek_source(const tileopt_module* module) { return module->source.c_str(); }
const char* tileopt_module_peek_header(const tileopt_module* module) { return module->header.c_str(); }
const char* tileopt_module_peek_certificate(const tileopt_module* module) { return module->certificate.c_str(); }
const char* tileopt_module_peek_plan(const tileopt_module* module) { return module->plan.c_str(); }
void tileopt_module_free(tileopt_module* module) { delete module; }

}  // extern "C"
