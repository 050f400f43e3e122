/// tileopt-schedule: from tile programs to proved kernels, on the command line (docs/cli.md).
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "frontends/cli/colour.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/crash_handler.h"
#include "frontends/cli/crash_report.h"
#include "frontends/cli/guard.h"
#include "frontends/cli/options.h"

namespace tileopt::cli {

namespace {

int run_command(const Options& options) {
  switch (options.command) {
    case Command::compile: return run_compile(options);
    case Command::run: return run_run(options);
    case Command::check: return run_check(options);
    case Command::explain: return run_explain(options);
    case Command::verify: return run_verify(options);
    case Command::machines: return run_machines(options);
    case Command::fmt: return run_fmt(options);
    case Command::create: return run_new(options);
    case Command::explain_error: return run_explain_error(options);
    case Command::completion: return run_completion(options);
    case Command::man: return run_man();
    case Command::measure: return run_measure(options);
    case Command::replay: return run_replay(options);
    case Command::export_records: return run_export(options);
    case Command::enumerate: return run_enumerate(options);
    case Command::score: return run_score(options);
    case Command::search: return run_search_command(options);
    case Command::bench: return run_bench(options);
  }
  return exit_internal;
}

/// For tests: TILEOPT_TEST_FAIL=main throws, =crash ends in a signal; stages are TraceOptions::planted_failure.
void plant_failure() {
  const char* planted = std::getenv("TILEOPT_TEST_FAIL");
  if (planted == nullptr) return;
  if (std::string(planted) == "main") throw std::runtime_error("planted in main");
  if (std::string(planted) == "crash") std::raise(SIGSEGV);
}

int run_guarded(int argc, const char* const* argv) {
  begin_reports(argc, argv);
  install_crash_handler(argc, argv);
  SourceTexts texts;
  texts.read_missing_files(true);
  const auto report = [](const std::string& message) { return write_crash_report(message); };
  const ItemResult result = guarded(texts, report, [&] {
    const Parsed parsed = parse_command_line(argc, argv);
    if (const std::string crash = crash_of_parent(); !crash.empty()) throw InternalError(crash);
    plant_failure();
    ItemResult done;
    done.exit_code = parsed.options ? run_command(*parsed.options) : parsed.exit_code;
    return done;
  });
  std::cerr << (colours_wanted() ? coloured(result.messages) : result.messages);
  return result.exit_code;
}

}  // namespace

}  // namespace tileopt::cli

int main(int argc, char** argv) {
  // A file that grows beyond a limit is a failed write, with its own message, and not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  const int exit_code = tileopt::cli::run_guarded(argc, argv);
  std::cout.flush();
  if (!std::cout && exit_code == 0) {
    std::cerr << "error: cannot write to standard output\n";
    return tileopt::cli::exit_user_error;
  }
  return exit_code;
}
