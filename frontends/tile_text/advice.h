/// What people write who come from other languages, and what they mean: hints for the parser's messages.
#pragma once

#include <string>

#include "frontends/tile_text/token_cursor.h"

namespace tileopt::tile_text {

/// For a character beyond ASCII that looks like one of the language ("×", "−", "“"): what to write instead, else "".
std::string ascii_lookalike(const std::string& character);

/// What to write for a function, type or value of Python, NumPy or C that the language lacks ("pow", "float32", "true"), else "".
std::string advice_for_function(const std::string& name);
std::string advice_for_type(const std::string& name);
std::string advice_for_value(const std::string& name);

/// How to mend a statement that goes on where it should end, e.g. `2 A[i]` or `B[i] = A[i] {`.
std::string advice_at_line_end(const TokenCursor& cursor);

/// How to mend a line at the top of the file that is no function, e.g. `void f() {`.
std::string advice_at_module(const TokenCursor& cursor);

}  // namespace tileopt::tile_text
