/// The pages of docs/errors.md, one for each code of an error; embedded when the library is built.
#pragma once

#include <string>
#include <vector>

namespace tileopt {

struct ErrorPage {
  std::string code;
  std::string text;  ///< Markdown, from the heading "## `code`" to the next page
};

/// In the order of docs/errors.md.
const std::vector<ErrorPage>& error_pages();

/// The page of `code`, or null.
const ErrorPage* find_error_page(const std::string& code);

/// Every code an error can carry: of all ErrorCodes, of refusals, "not-proved", "no-toolchain", "internal", and those of the C API.
std::vector<std::string> all_codes();

}  // namespace tileopt
