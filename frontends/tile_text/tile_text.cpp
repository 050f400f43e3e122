#include "frontends/tile_text/tile_text.h"

#include <map>

#include "frontends/tile_text/affine.h"
#include "frontends/tile_text/checker.h"
#include "frontends/tile_text/constants.h"
#include "frontends/tile_text/parser.h"
#include "frontends/tile_text/printer.h"
#include "frontends/tile_text/schedule.h"

namespace tileopt {

namespace {

using tile_text::Diagnostics;

void check_function_names(const syntax::Module& module, Diagnostics& diagnostics) {
  std::map<std::string, int> lines;
  for (const syntax::Function& function : module.functions) {
    const auto [known, fresh] = lines.emplace(function.name, function.where.line);
    if (fresh) continue;
    diagnostics.add(ErrorCode::duplicate_name, function.where,
                    "`" + function.name + "` is already defined (line " + std::to_string(known->second) + ")",
                    "choose another name for one of the functions");
  }
}

void check_scheduled_program(const syntax::Module& module, const syntax::Function& function, const Pins& pins,
                             Diagnostics& diagnostics) {
  std::vector<std::string> programs;
  for (const syntax::Function& other : module.functions)
    if (!tile_text::is_schedule(other) && !tile_text::is_pure(other)) programs.push_back(other.name);
  for (const std::string& program : programs)
    if (program == pins.program) return;
  const std::string nearest = tile_text::nearest_name(pins.program, programs);
  if (pins.program.empty())
    diagnostics.add(ErrorCode::invalid_pin, function.decorators.front().where, "the schedule names no program",
                    "write `@schedule(program)`");
  else
    diagnostics.add(ErrorCode::unknown_name, function.decorators.front().where,
                    "the file has no program `" + pins.program + "`",
                    nearest.empty() ? "name a function of this file" : "did you mean `" + nearest + "`?");
}

}  // namespace

TileFile parse_tile_file(isl::ctx ctx, const std::string& text, const std::string& file, const ConstantValues& constants) {
  Diagnostics diagnostics(file);
  const syntax::Module module = tile_text::parse_module(text, diagnostics);
  if (module.functions.empty() && diagnostics.count() == 0)
    diagnostics.add(ErrorCode::syntax, {1, 1}, "the file defines no function", "write `def name(A: f32[N], B: out[f32[N]]):`");
  check_function_names(module, diagnostics);
  tile_text::PureFunctions pure(ctx, module, diagnostics);
  TileFile result;
  for (const syntax::Function& function : module.functions) {
    if (function.broken) continue;
    if (tile_text::is_schedule(function)) {
      result.schedules.push_back(tile_text::read_schedule(function, diagnostics));
      check_scheduled_program(module, function, result.schedules.back(), diagnostics);
    } else if (tile_text::is_pure(function)) {
      continue;
    } else if (const auto bound = tile_text::bind_constants(function, constants, diagnostics)) {
      if (auto program = tile_text::check_function(ctx, *bound, pure, diagnostics)) result.programs.push_back(std::move(*program));
      for (const syntax::Parameter& parameter : bound->parameters)
        if (tile_text::is_constant(parameter)) result.constants[function.name][parameter.name] = *tile_text::fold_constant(parameter.value);
    }
  }
  diagnostics.throw_if_any();
  return result;
}

std::string canonical_tile_text(const std::string& text, const std::string& file) {
  Diagnostics diagnostics(file);
  const syntax::Module module = tile_text::parse_module(text, diagnostics);
  diagnostics.throw_if_any();
  return tile_text::print(module);
}

Pins parse_pins(const std::string& text, const std::string& file) {
  Diagnostics diagnostics(file);
  const std::size_t first = text.find_first_not_of(" \r\n");
  const bool whole = first != std::string::npos && (text[first] == '@' || text.compare(first, 4, "def ") == 0);
  Pins pins;
  if (whole) {
    const syntax::Module module = tile_text::parse_module(text, diagnostics);
    if (module.functions.size() != 1 || !tile_text::is_schedule(module.functions.front()))
      diagnostics.add(ErrorCode::invalid_pin, {1, 1}, "expected one `@schedule` function",
                      "write `@schedule(program)` above `def name():`");
    else if (!module.functions.front().broken)
      pins = tile_text::read_schedule(module.functions.front(), diagnostics);
  } else {
    tile_text::read_primitives(tile_text::parse_lines(text, diagnostics), pins, diagnostics);
  }
  diagnostics.throw_if_any();
  return pins;
}

std::string print_pins(const Pins& pins) { return tile_text::print_schedule(pins); }

}  // namespace tileopt
