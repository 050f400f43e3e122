/// Collects the user errors of one source file, so that a run reports all of them in source order.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "frontends/tile_text/syntax.h"
#include "support/error.h"

namespace tileopt::tile_text {

class Diagnostics {
 public:
  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  /// Keeps at most `limit` errors; the same code at the same position is kept once.
  void add(ErrorCode code, syntax::Position where, std::string message, std::string hint, std::string witness = "");
  /// Errors that were added, those that are not kept included: it grows with every one.
  std::size_t count() const { return added_; }
  const std::string& file() const { return file_; }
  SourceLocation locate(syntax::Position where) const {
    return {file_, where.line, where.column, where.end_line, where.end_column};
  }
  /// @throws Errors sorted by position, when there are any.
  void throw_if_any() const;

 private:
  static constexpr std::size_t limit = 100;
  std::string file_;
  std::vector<Diagnostic> diagnostics_;
  std::size_t added_ = 0;
};

/// The name of `candidates` nearest to `name` (at most two edits), or "".
std::string nearest_name(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace tileopt::tile_text
