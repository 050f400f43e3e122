/// Starting again from a dump: its decisions win over the Plan that it bundles.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "ir/ast.h"
#include "ir/machine.h"
#include "ir/plan.h"
#include "ir/program.h"

namespace tileopt {

/// Asts that replace the built ones, by kernel.
using EditedAsts = std::map<std::string, Ast>;

/// All that compile() needs, taken from one dump.
struct Resumed {
  std::shared_ptr<const Program> program;
  Plan plan;           ///< with the dump's decisions in place
  Machine machine;
  EditedAsts asts;     ///< from a 60-ast dump
};

/// Reads a stage's YAML dump, or 00-program.tile beside its plan.json.
/// @throws Errors: file_access, invalid_dump, invalid_plan, unknown_machine, or what the program's text is guilty of.
Resumed resume_from(isl::ctx ctx, const std::string& path);

}  // namespace tileopt
