/// tileopt-schedule: from tile programs to proved kernels, on the command line (docs/cli.md).
#include <exception>
#include <iostream>

#include "frontends/cli/commands.h"
#include "frontends/cli/options.h"
#include "frontends/cli/report.h"

namespace tileopt::cli {

namespace {

int run_command(const Options& options) {
  switch (options.command) {
    case Command::compile: return run_compile(options);
    case Command::run: return run_run(options);
    case Command::check: return run_check(options);
    case Command::explain: return run_explain(options);
    case Command::machines: return run_machines(options);
  }
  return exit_internal;
}

int run_guarded(int argc, const char* const* argv) {
  try {
    const Parsed parsed = parse_command_line(argc, argv);
    return parsed.options ? run_command(*parsed.options) : parsed.exit_code;
  } catch (const Errors& errors) {
    std::cerr << errors_text(errors, "") << "\n";
    return exit_user_error;
  } catch (const ToolchainError& error) {
    std::cerr << "error: " << error.what() << "\n";
    return exit_no_toolchain;
  } catch (const std::exception& error) {
    std::cerr << "internal error: " << error.what() << "\n  hint: this is a fault of tileopt; please report it with the input\n";
    return exit_internal;
  }
}

}  // namespace

}  // namespace tileopt::cli

int main(int argc, char** argv) {
  const int exit_code = tileopt::cli::run_guarded(argc, argv);
  std::cout.flush();
  if (!std::cout && exit_code == 0) {
    std::cerr << "error: cannot write to standard output\n";
    return tileopt::cli::exit_user_error;
  }
  return exit_code;
}
