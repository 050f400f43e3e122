/// A module as one file: all that is needed to prove it again in another process (docs/proofs.md, "Proving again").
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/machine.h"
#include "ir/module.h"
#include "ir/program.h"
#include "support/document.h"
#include "verify/verify.h"

namespace tileopt {

struct ModuleFile {
  static constexpr const char* format = "tileopt-module/1";
  std::string version;                     ///< of the tileopt that wrote it
  std::string backend;
  std::shared_ptr<const Program> program;
  Machine machine;
  Plan plan;
  std::vector<Ast> asts;                   ///< kernels in launch order
  SourceText text;                         ///< what was printed, and what the printer says of it
  Certificate certificate;                 ///< what was proved then
};

/// Everything in full: no built-in machine is taken for granted.
Document write_module(const Program& program, const Machine& machine, const std::string& backend, const Module& module);

/// @throws Errors(file_access, invalid_dump, invalid_plan, invalid_machine, or what the program's text is guilty of), with the entry.
ModuleFile read_module(isl::ctx ctx, const std::string& path);

/// What a second proof of the same module says.
struct ModuleCheck {
  Certificate certificate;                 ///< of the second proof
  std::vector<std::string> differences;    ///< between the file's claims and what was found; one line each
  bool confirmed() const { return certificate.proved() && differences.empty(); }
};
/// Proves the module from the file alone: its loops against its program, its facts against its loops; prints the loops again and
/// compares the text and the facts; compares the certificate, times left out. Verdicts that the file does not claim (not attempted)
/// may be better now.
ModuleCheck check_module(const ModuleFile& file, const ProofOptions& proof);

}  // namespace tileopt
