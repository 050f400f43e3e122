/// The independent checker. Reads the source Program, the Asts of all kernels in launch order and what the printer used;
/// includes poly/isl and ir readers only, never a pass.
#pragma once

#include <chrono>

#include "ir/machine.h"
#include "ir/module.h"
#include "ir/program.h"

namespace tileopt {

/// How much is tried. Whatever is left out is `not_attempted`, with the reason.
struct ProofOptions {
  bool attempt = true;                         ///< false: nothing is, as asked for
  unsigned long operations = 4'000'000;        ///< isl operations an obligation may take
  std::chrono::milliseconds each{10'000};      ///< an obligation
  std::chrono::milliseconds total{60'000};     ///< all together, as often as there are versions of kernels
};

/// Reason of every obligation that was not attempted because nobody wanted it.
inline constexpr const char* proof_not_wanted = "asked for";

/// Proves or refutes every obligation. Never throws for what it cannot prove: that is `not_attempted` with the reason.
Certificate verify(const Program& program, const std::vector<Ast>& kernels, const std::vector<PrintFacts>& facts,
                   const Machine& machine, const std::string& version, const ProofOptions& options = {});

}  // namespace tileopt
