#include <iostream>

#include "frontends/cli/commands.h"
#include "support/document_reader.h"
#include "support/error.h"
#include "support/error_pages.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

/// The first sentence below the heading.
std::string summary(const ErrorPage& page) {
  const std::size_t start = page.text.find_first_not_of('\n', page.text.find('\n'));
  const std::string text = page.text.substr(start, page.text.find("\n\n", start) - start);
  const std::size_t end = text.find(". ");
  std::string first = end == std::string::npos ? text : text.substr(0, end + 1);
  for (char& c : first)
    if (c == '\n') c = ' ';
  return first;
}

}  // namespace

int run_explain_error(const Options& options) {
  if (options.code.empty()) {
    for (const ErrorPage& page : error_pages()) std::cout << page.code << std::string(page.code.size() < 22 ? 22 - page.code.size() : 1, ' ') << summary(page) << "\n";
    return exit_done;
  }
  std::string code = options.code;
  if (code.starts_with("[") && code.ends_with("]")) code = code.substr(1, code.size() - 2);
  const ErrorPage* page = find_error_page(code);
  if (page == nullptr) {
    const std::string near = nearest_name(code, all_codes());
    throw Errors(Diagnostic{ErrorCode::invalid_option, {}, "there is no error code `" + options.code + "`",
                            near.empty() ? "`tileopt-schedule explain-error` lists them" : "did you mean `" + near + "`?", ""});
  }
  std::cout << page->text;
  return exit_done;
}

}  // namespace tileopt::cli
