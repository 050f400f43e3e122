/// The tile language as text: source -> Programs and schedule pins; Program source -> canonical text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/plan.h"
#include "ir/program.h"

namespace tileopt {

/// Values for `const` parameters: program -> name -> value; those of the program "" are for all programs.
using ConstantValues = std::map<std::string, std::map<std::string, std::int64_t>>;

/// All that one source file declares.
struct TileFile {
  std::vector<Program> programs;   ///< source order
  std::vector<Pins> schedules;     ///< source order
  ConstantValues constants;        ///< what the `const` parameters of each program are
};

/// Parses and checks. Every `const` parameter takes the value given in `constants`, else its default; names that no program has are
/// ignored. @throws Errors with every error found in the file, in source order.
TileFile parse_tile_file(isl::ctx ctx, const std::string& text, const std::string& file, const ConstantValues& constants = {});

/// The canonical text of a source file: parse(canonical(x)) = parse(x), canonical(canonical(x)) = canonical(x).
/// @throws Errors(syntax).
std::string canonical_tile_text(const std::string& text, const std::string& file);

/// Pins given on the command line or in a plan file, e.g. `tile("thread", i=64)`; one primitive a line.
Pins parse_pins(const std::string& text, const std::string& file);

/// `@schedule` text of pins; parse_pins(print_pins(p)) = p.
std::string print_pins(const Pins& pins);

}  // namespace tileopt
