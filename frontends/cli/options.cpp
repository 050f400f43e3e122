#include "frontends/cli/options.h"

#include <cstdlib>

#include "frontends/cli/app.h"

namespace tileopt::cli {

Parsed parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == 0;  // --help, --version
    return {std::nullopt, line.app.exit(error) == 0 && asked ? exit_done : exit_user_error};
  }
  line.options.command = line.command();
  if (const char* planted = std::getenv("TILEOPT_TEST_FAIL"); planted != nullptr) line.options.planted_failure = planted;
  return {line.options, exit_done};
}

}  // namespace tileopt::cli
