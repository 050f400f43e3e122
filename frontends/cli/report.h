/// Messages to people: diagnostics with the source line underlined, refusals, the summary.
#pragma once

#include <string>

#include "support/error.h"

namespace tileopt::cli {

/// "file:line:col: error: …" with the line of `source` it points at and a caret below it. `source` may be empty: then the
/// file is read, if it can be.
std::string diagnostic_text(const Diagnostic& diagnostic, const std::string& source);

/// All diagnostics of `errors`, a blank line between.
std::string errors_text(const Errors& errors, const std::string& source);

}  // namespace tileopt::cli
