#include <filesystem>
#include <iomanip>
#include <iostream>

#include "frontends/cli/commands.h"
#include "frontends/cli/templates.h"
#include "frontends/tile_text/tile_text.h"
#include "poly/isl.h"
#include "support/document.h"
#include "support/document_reader.h"
#include "support/error.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

[[noreturn]] void reject(const std::string& message, const std::string& hint) {
  throw Errors(Diagnostic{ErrorCode::invalid_option, {}, message, hint, ""});
}

const Template& find_template(const std::string& kind) {
  if (kind.empty()) reject("no kind of program", "give one: " + join(template_kinds(), ", "));
  for (const Template& each : templates())
    if (each.kind == kind) return each;
  const std::string near = nearest_name(kind, template_kinds());
  reject("there is no kind `" + kind + "`", near.empty() ? "kinds: " + join(template_kinds(), ", ") : "did you mean `" + near + "`?");
}

std::string named(const std::string& text, const std::string& name) {
  const std::string mark = "NAME";
  std::string result;
  std::size_t start = 0;
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, start)) {
    result += text.substr(start, at - start) + name;
    start = at + mark.size();
  }
  return result + text.substr(start);
}

/// The templates are fine, so what the parser objects to is the name.
void check_name(const std::string& text, const std::string& name) {
  poly::Context context;
  try {
    parse_tile_file(context.get(), text, "");
  } catch (const Errors& errors) {
    reject("`" + name + "` cannot name a program: " + errors.diagnostics().front().message, errors.diagnostics().front().hint);
  }
}

}  // namespace

int run_new(const Options& options) {
  if (options.list) {
    for (const Template& each : templates()) std::cout << std::left << std::setw(14) << each.kind << each.summary << "\n";
    return exit_done;
  }
  const Template& chosen = find_template(options.kind);
  const std::string name = options.name.empty() ? chosen.kind : options.name;
  const std::string text = named(chosen.text, name);
  check_name(text, name);
  if (options.output.empty()) {
    std::cout << text;
    return exit_done;
  }
  if (std::filesystem::exists(options.output))
    throw Errors(Diagnostic{ErrorCode::file_access, {options.output, 0, 0}, "the file exists already", "choose another one, or remove it first", ""});
  write_file(options.output, text);
  std::cerr << options.output << ": a " << chosen.kind << " to start from; next: tileopt-schedule check " << options.output << "\n";
  return exit_done;
}

}  // namespace tileopt::cli
