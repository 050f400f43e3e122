/// The proof is about the rewritten program; that it means what the source says is checked by running both.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/size_vectors.h"
#include "ir/certificate.h"
#include "rewrites/apply_rewrites.h"

namespace tileopt {

struct RewriteCheck {
  std::vector<Sizes> sizes;  ///< at which both programs ran
  int runs = 0;
  std::string failure;       ///< the first run in which they differ; "" = none
  std::string witness;       ///< its sizes, arguments and element
  std::string text() const;  ///< one line of the certificate's `assumed`
  bool exact = true;         ///< compared bit by bit; else within the interpreter's error bound
};

/// Runs source and rewritten program in the reference interpreter, at sizes from 0 to beyond the rewrites' own chunks, on random and
/// on small-integer arguments. Deterministic.
RewriteCheck check_rewrites(const Program& source, const RewrittenProgram& rewritten);

/// Adds what was checked to `certificate`: an assumption, the permissions used, or a refuted obligation "rewrites".
/// Nothing where there are no rewrites.
void attest_rewrites(const Program& source, const RewrittenProgram& rewritten, Certificate& certificate);

}  // namespace tileopt
