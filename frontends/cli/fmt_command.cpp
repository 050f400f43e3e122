#include <iostream>
#include <iterator>

#include "frontends/cli/colour.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/inputs.h"
#include "frontends/tile_text/formatter.h"
#include "support/document.h"
#include "support/render_error.h"

namespace tileopt::cli {

namespace {

void print_errors(const Errors& errors, const SourceTexts& texts) {
  const std::string messages = render_errors(errors, texts) + "\n";
  std::cerr << (colours_wanted() ? coloured(messages) : messages);
}

/// Standard input to standard output; with --check nothing is printed but the verdict.
int format_stream(bool check) {
  const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  const std::string name = "<stdin>";
  try {
    const std::string formatted = format_tile_text(text, name);
    if (!check) std::cout << formatted;
    else if (formatted != text) std::cout << name << "\n";
    return check && formatted != text ? exit_user_error : exit_done;
  } catch (const Errors& errors) {
    SourceTexts texts;
    texts.add(name, text);
    print_errors(errors, texts);
    return exit_user_error;
  }
}

enum class Outcome { unchanged, changed, broken };

Outcome format_file(const std::string& path, bool check) {
  SourceTexts texts;
  try {
    const std::string text = read_file(path);
    texts.add(path, text);
    const std::string formatted = format_tile_text(text, path);
    if (formatted == text) return Outcome::unchanged;
    if (!check) write_file(path, formatted);
    return Outcome::changed;
  } catch (const Errors& errors) {
    print_errors(errors, texts);
    return Outcome::broken;
  }
}

}  // namespace

int run_fmt(const Options& options) {
  if (options.inputs == std::vector<std::string>{"-"}) return format_stream(options.check);
  int changed = 0, unchanged = 0, broken = 0;
  for (const Input& input : collect_inputs(options.inputs)) {
    const std::string& path = input.path;
    if (input.errors) {
      print_errors(*input.errors, {});
      ++broken;
      continue;
    }
    switch (format_file(path, options.check)) {
      case Outcome::unchanged: ++unchanged; break;
      case Outcome::broken: ++broken; break;
      case Outcome::changed:
        ++changed;
        std::cout << path << "\n";
        break;
    }
  }
  std::cerr << changed << (options.check ? " to format, " : " formatted, ") << unchanged << " as they should be"
            << (broken > 0 ? ", " + std::to_string(broken) + " with errors" : "") << "\n";
  return broken > 0 || (options.check && changed > 0) ? exit_user_error : exit_done;
}

}  // namespace tileopt::cli
