/// Errors about an entry of a YAML or JSON file name the entry's path; here they get its line and column.
#pragma once

#include <string>

#include "support/error.h"
#include "support/render_error.h"

namespace tileopt {

/// Where "kernels[0].atoms.C.edge" stands in `text`; line 0 where it does not, or where the text is malformed.
SourceLocation find_entry(const std::string& text, const std::string& file, const std::string& path);

/// `errors` with positions for those whose message starts with the path of an entry of a known file.
Errors locate_entries(const Errors& errors, const SourceTexts& texts);

}  // namespace tileopt
