/// JSON text of documents that quote what users gave: file names are bytes, and need not be UTF-8.
#pragma once

#include <string>

#include "support/document.h"

namespace tileopt {

/// Indented text; bytes that are not UTF-8 become U+FFFD.
inline std::string json_text(const Document& document, int indent = 2) { return document.dump(indent, ' ', false, Document::error_handler_t::replace); }

}  // namespace tileopt
