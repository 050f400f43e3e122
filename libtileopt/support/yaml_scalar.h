/// How plain YAML scalars are typed: one rule shared by the writer (what must be quoted) and the reader (what it means).
#pragma once

#include <optional>
#include <string>

#include "support/document.h"

namespace tileopt {

/// The value of a plain scalar that is no string: null, a boolean, an integer or a float; nothing for strings.
/// Integers beyond 64 bits and floats beyond double are nothing too, with `too_large` set.
std::optional<Document> plain_scalar_value(const std::string& text, bool& too_large);

/// Shortest text that reads back as the same double, and never as an integer.
std::string yaml_float(double value);

}  // namespace tileopt
