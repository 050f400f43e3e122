/// Errors as people read them: position, message, code, the piece of source underlined, witness, hint.
///
///   gemm.tile:5:25: error: index `k + 1` leaves A[M][K] [out-of-bounds]
///     5 |         C[i, j] = sum(A[i, k + 1] * B[k, j] for k in range(K))
///       |                            ^~~~~
///     witness: ...
///     hint: ...
#pragma once

#include <map>
#include <string>

#include "support/error.h"

namespace tileopt {

/// The texts that positions point into, by the file name that the positions use.
class SourceTexts {
 public:
  void add(const std::string& file, std::string text) { texts_[file] = std::move(text); }
  /// Whether files that were not added may be read from disk (a library does not touch its host's files).
  void read_missing_files(bool allowed) { reads_ = allowed; }
  /// "" where it is unknown.
  std::string text(const std::string& file) const;
  /// Line `number` of `file`, from 1, without its end; "" where it is unknown.
  std::string line(const std::string& file, int number) const;

 private:
  std::map<std::string, std::string> texts_;
  bool reads_ = false;
};

/// The line that `where` points at and its underline, each with a gutter, lines ending in "\n"; "" where the line is unknown.
/// A line longer than a terminal's is clipped around the piece.
std::string render_excerpt(const SourceLocation& where, const SourceTexts& texts);

/// One message of any kind, in the form above.
std::string render_message(const SourceLocation& where, const std::string& message, const std::string& code, const std::string& witness,
                           const std::string& hint, const SourceTexts& texts);
std::string render_error(const Diagnostic& diagnostic, const SourceTexts& texts);
/// All diagnostics, an empty line between two.
std::string render_errors(const Errors& errors, const SourceTexts& texts);
/// A refusal points at the pin that cannot be honoured, where there is one; else it names the plan's entry.
std::string render_refusal(const Infeasible& infeasible, const SourceTexts& texts);

}  // namespace tileopt
