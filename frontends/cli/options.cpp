#include "frontends/cli/options.h"

#include <CLI/CLI.hpp>

#include <iostream>

#include "poly/isl.h"

namespace tileopt::cli {

namespace {

const char* const examples = R"(Examples:
  tileopt-schedule compile gemm.tile -o gemm.c          write gemm.c and gemm.h for this CPU
  tileopt-schedule compile kernels/ -o out/ --machine zen4
  tileopt-schedule run gemm.tile --size M=1024,N=1024,K=1024
  tileopt-schedule check kernels/ --seed 7
  tileopt-schedule explain gemm.tile --pin 'tile("thread", i=64)'
  tileopt-schedule compile gemm.tile --plan @tuned      use the pins of its @schedule function `tuned`
  tileopt-schedule compile gemm.tile --dump-dir D --stop-after digits
  tileopt-schedule compile --start-from D/gemm/30-digits.yaml --dump-dir E -o gemm.c

Exit codes:
  0   done
  1   user error: the input, an option or a path is wrong
  2   infeasible: the plan or a pin cannot be honoured, and why
  3   a proof obligation or a result check failed
  4   a compiler or device is missing
  70  internal error
Over many inputs the largest code wins; every kernel's proof runs in every command.)";

void add_inputs(CLI::App& command, Options& options) {
  command.add_option("inputs", options.inputs, "Tile files, or folders: every *.tile below, sorted")->type_name("PATH");
  command.add_option("--program", options.program, "Only the program of this name");
}

void add_decisions(CLI::App& command, Options& options) {
  command.add_option("-m,--machine", options.machine,
                     "Machine name (see `tileopt-schedule machines`) or machine file; default: the plan's, else host")->type_name("NAME|FILE");
  command.add_option("--backend", options.backend, "Backend: openmp")->capture_default_str();
  command.add_option("--size", options.sizes, "Sizes, e.g. M=1024,N=512 (gemm:M=1024,... for one program of several): what `run` times, what the cost model "
                     "assumes; may be repeated")->type_name("N=V,...");
  command.add_option("--threads", options.threads, "Threads that the kernel may use")->capture_default_str()->check(CLI::Range(1, 4096));
  command.add_option("--plan", options.plan, "A resolved plan (plan.json), or the @schedule function of the program")->type_name("FILE|@NAME");
  command.add_option("--pin", options.pins, "Pin one decision, e.g. 'tile(\"thread\", i=64)'; may be repeated")->type_name("PRIMITIVE");
}

void add_stages(CLI::App& command, Options& options) {
  command.add_option("--dump-dir", options.dump_dir, "Write every stage into this folder (one per program where there are several)")->type_name("FOLDER");
  command.add_option("--stop-after", options.stop_after, "Stop after a stage, e.g. digits")->type_name("STAGE");
  command.add_option("--start-from", options.start_from, "Resume from a dumped stage instead of a tile file")->type_name("DUMP");
}

void add_results(CLI::App& command, Options& options) {
  command.add_option("-o,--output", options.output, "C file, or folder for NAME.c and NAME.h")->type_name("PATH");
  command.add_option("--certificate", options.certificate, "Write the certificate (JSON) here; a folder where there are several programs")->type_name("FILE");
}

void add_json(CLI::App& command, Options& options) {
  command.add_flag("--json", options.json, "Machine-readable result on stdout");
}

void add_seed(CLI::App& command, Options& options) {
  command.add_option("--seed", options.seed, "Seed of the random arguments")->capture_default_str();
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
  Options options;
  CLI::App app("Turns tile programs into proved kernels.", "tileopt-schedule");
  app.footer(examples);
  app.set_version_flag("--version", "tileopt " TILEOPT_VERSION " (" + poly::isl_version_text() + ")");
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);

  CLI::App& compile = *app.add_subcommand("compile", "Decide, compile and prove; write C");
  CLI::App& run = *app.add_subcommand("run", "Compile, check, and time beside the original schedule");
  CLI::App& check = *app.add_subcommand("check", "Compile and compare with the reference interpreter at many sizes");
  CLI::App& explain = *app.add_subcommand("explain", "Say what was decided and why, and what was proved");
  CLI::App& machines = *app.add_subcommand("machines", "List the machines; with a name, print its file");
  for (CLI::App* command : {&compile, &run, &check, &explain}) {
    add_inputs(*command, options);
    add_decisions(*command, options);
    add_stages(*command, options);
    add_results(*command, options);
    add_json(*command, options);
    command->footer(examples);
  }
  for (CLI::App* command : {&run, &check}) add_seed(*command, options);
  check.add_flag("--stages", options.stages, "Run every compile stage in the tree interpreter instead of the compiled kernel; name the first that deviates");
  machines.add_option("name", options.machine, "Machine name or file");
  add_json(machines, options);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == 0;  // --help, --version
    return {std::nullopt, app.exit(error) == 0 && asked ? exit_done : exit_user_error};
  }
  if (run.parsed()) options.command = Command::run;
  if (check.parsed()) options.command = Command::check;
  if (explain.parsed()) options.command = Command::explain;
  if (machines.parsed()) options.command = Command::machines;
  return {options, exit_done};
}

}  // namespace tileopt::cli
