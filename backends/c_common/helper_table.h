/// The texts behind Helpers: rows in emission order, requirements before their users.
#pragma once

#include <string>
#include <vector>

#include "ir/expr.h"

namespace tileopt {

struct HelperRow {
  std::string name;
  std::vector<std::string> requirements;
  std::string text;
};

/// Bit casts, 16-bit floats, index arithmetic, integer and float operators.
std::vector<HelperRow> arithmetic_helper_rows();
/// exp, exp2, log, tanh, erf, sqrt, rounding.
std::vector<HelperRow> math_helper_rows();
/// Dot atoms, on vectors of words.
std::vector<HelperRow> dot_helper_rows();
/// Rows on vectors; `@` stands for the number of lanes, requirements are of the same number of lanes.
std::vector<HelperRow> vector_helper_rows();
/// The functions of Call on vectors, and the single instructions that they are made of.
std::vector<HelperRow> vector_math_helper_rows();
/// Whether the function has such a row for elements of this compute type.
bool has_vector_function(Function function, ElementType type);

/// Both scalar tables, in emission order.
const std::vector<HelperRow>& scalar_helper_table();
const std::vector<HelperRow>& vector_helper_table();

}  // namespace tileopt
