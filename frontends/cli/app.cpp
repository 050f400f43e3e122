#include "frontends/cli/app.h"

#include "cost_models/machines.h"
#include "driver/request.h"
#include "explore/strategy.h"
#include "frontends/cli/templates.h"
#include "poly/isl.h"
#include "support/error_pages.h"

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
  tileopt-schedule compile kernels/ --machines zen4,h100,mi300x --jobs 2 -o out   a batch; given again, it goes on
  tileopt-schedule compile gemm.tile --module gemm.json -o gemm.c
  tileopt-schedule verify gemm.json                     prove it again, in another process
  tileopt-schedule new matmul my_gemm -o my_gemm.tile   a commented program to start from
  tileopt-schedule fmt --check kernels/                 what is not formatted
  tileopt-schedule measure gemm.tile --size M=1024,N=1024,K=1024 --records runs.jsonl
  tileopt-schedule enumerate gemm.tile --size M=1024,N=1024,K=1024 --best 5
  tileopt-schedule search gemm.tile --size M=1024,N=1024,K=1024 --records runs.jsonl --trials 200 -o best.json
  tileopt-schedule replay gemm.tile --records runs.jsonl -o gemm.c
  tileopt-schedule explain-error out-of-bounds

Exit codes:
  0   done
  1   user error: the input, an option or a path is wrong
  2   infeasible: the plan or a pin cannot be honoured, and why
  3   a proof obligation or a result check failed
  4   a compiler or device is missing
  70  internal error
Over many inputs the largest code wins; every kernel's proof runs in every command (but see --prove).)";

const char* const enumerate_examples = R"(Examples:
  tileopt-schedule enumerate gemm.tile                          choices, constraints with reasons, number of points
  tileopt-schedule enumerate gemm.tile --size M=512,N=512,K=512 --best 10
  tileopt-schedule enumerate gemm.tile --limit 100 --json       the first 100 points, each with its pins)";
const char* const score_examples = R"(Examples:
  tileopt-schedule score gemm.tile --size M=1024,N=1024,K=1024  where the time goes, by the cost model
  tileopt-schedule score gemm.tile --plan best.json
  tileopt-schedule score gemm.tile --records runs.jsonl --size M=1024,N=1024,K=1024 --features features.csv
  tileopt-schedule score gemm.tile --rate)";
const char* const search_examples = R"(Examples:
  tileopt-schedule search gemm.tile --size M=1024,N=1024,K=1024 --records runs.jsonl -o best.json
  tileopt-schedule search gemm.tile --size M=1024,N=1024,K=1024 --records runs.jsonl --strategy beam --budget 600
  tileopt-schedule search gemm.tile --size M=512,N=512,K=512 --records runs.jsonl --strategy random --trials 300 --report report.json
  tileopt-schedule search gemm.tile --size M=512,N=512,K=512 --records runs.jsonl --deterministic --seed 3 --trials 50
Ctrl-C ends it with the fastest plan so far; the same command goes on from there.)";
const char* const bench_examples = R"(Examples:
  tileopt-schedule bench kernels/ --size M=1024,N=1024,K=1024   the planner's plan and every @schedule, beside the loops as written
  tileopt-schedule bench gemm.tile --size M=1024,N=1024,K=1024 --records runs.jsonl)";

void add_inputs(CLI::App& command, Options& options) {
  command.add_option("inputs", options.inputs, "Tile files, or folders: every *.tile below, sorted")->type_name("PATH");
  command.add_option("--program", options.program, "Only the program of this name");
}

void add_decisions(CLI::App& command, Options& options) {
  command.add_option("-m,--machine", options.machine,
                     "Machine name (see `tileopt-schedule machines`) or machine file; default: the plan's, else host")->type_name("NAME|FILE");
  command.add_option("--backend", options.backend, "Backend: openmp, cuda, hip; default: the machine's")->type_name("NAME");
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
  command.add_option("--prove", options.prove, "What is proved: `none`, the kernel that is kept (`winner`), or every kernel that is compiled (`all`)")
      ->type_name("WHAT")->capture_default_str()->check(CLI::IsMember({"none", "winner", "all"}));
  command.add_option("--certificate", options.certificate, "Write the certificate (JSON) here; a folder where there are several programs")->type_name("FILE");
  command.add_flag("--device-report", options.device_report, "Compile the code of GPUs too (NVRTC or clang; no GPU is needed): registers, spills and shared memory of "
                   "every kernel, in the certificate and shown by `explain`");
}

void add_json(CLI::App& command, Options& options) {
  command.add_flag("--json", options.json, "Machine-readable result on stdout");
}

void add_seed(CLI::App& command, Options& options) {
  const auto not_negative = [](std::string& text) {
    return text.starts_with('-') ? "--seed: " + text + " is negative: seeds start at 0" : std::string();
  };
  command.add_option("--seed", options.seed, "Seed of the random arguments")->capture_default_str()->check(CLI::Validator(not_negative, ""));
}

}  // namespace

CommandLine::CommandLine() : app("Turns tile programs into proved kernels.", "tileopt-schedule") {
  app.footer(examples);
  app.set_version_flag("--version", "tileopt " TILEOPT_VERSION " (" + poly::isl_version_text() + ")");
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  add_compilers();
  add_measurers();
  add_searchers();
  add_writers();
  add_informers();
}

CLI::App& CommandLine::add_command(const std::string& name, const std::string& description, Command command) {
  CLI::App& added = *app.add_subcommand(name, description);
  commands_.emplace_back(&added, command);
  return added;
}

void CommandLine::add_compilers() {
  CLI::App& compile = add_command("compile", "Decide, compile and prove; write C", Command::compile);
  CLI::App& run = add_command("run", "Compile, check, and time beside the original schedule", Command::run);
  CLI::App& check = add_command("check", "Compile and compare with the reference interpreter at many sizes", Command::check);
  CLI::App& explain = add_command("explain", "Say what was decided and why, and what was proved", Command::explain);
  for (CLI::App* command : {&compile, &run, &check, &explain}) {
    add_inputs(*command, options);
    add_decisions(*command, options);
    add_stages(*command, options);
    add_results(*command, options);
    add_json(*command, options);
    command->footer(examples);
  }
  CLI::Option* machines = compile.add_option("--machines", options.machines, "A batch: every program for each of these machines, NAME.c, NAME.h and the certificate in OUTPUT/MACHINE, an index in "
                                             "OUTPUT; what is done already and has not changed is kept")->type_name("NAME|FILE,...")->excludes("--machine")->excludes("--backend")
                                  ->excludes("--dump-dir")->excludes("--stop-after")->excludes("--start-from")->excludes("--certificate")->excludes("--device-report")->needs("--output");
  compile.add_option("--jobs", options.batch_jobs, "Worker processes of a batch; 0: one for each core")->capture_default_str()->check(CLI::Range(0, 1024))->needs(machines);
  compile.add_option("--module", options.module, "Write the whole module (JSON) here, for `verify`; a folder where there are several programs")->type_name("FILE")->excludes(machines);
  for (CLI::App* command : {&run, &check}) add_seed(*command, options);
  check.add_flag("--stages", options.stages, "Run every compile stage in the tree interpreter instead of the compiled kernel; name the first that deviates");
  check.add_flag("--emulate", options.emulate, "Run kernels of GPUs in the emulator on this machine: results, races, deadlocks, bounds (docs/emulator.md)")
      ->excludes("--stages");
}

void CommandLine::add_measurers() {
  CLI::App& measure = add_command("measure", "Compile, prove, check and time; append a record, whatever happens", Command::measure);
  add_inputs(measure, options);
  add_decisions(measure, options);
  measure.add_option("--records", options.records, "File of records to append to (docs/records.md)")->type_name("FILE")->required();
  measure.add_option("--seconds", options.seconds, "Timed calls go on for so long")->capture_default_str()->check(CLI::Range(0.001, 3600.0));
  add_seed(measure, options);
  add_json(measure, options);

  CLI::App& replay = add_command("replay", "Build the kernel of a record again, byte for byte, or say what differs", Command::replay);
  add_inputs(replay, options);
  replay.add_option("--records", options.records, "File of records")->type_name("FILE")->required();
  replay.add_option("--id", options.id, "Identity of the record; default: the fastest of each program")->type_name("ID");
  replay.add_option("-o,--output", options.output, "C file, or folder for NAME.c and NAME.h")->type_name("PATH");
  add_json(replay, options);

  CLI::App& exported = add_command("export", "Print the records of one or several files as a table, every record once", Command::export_records);
  exported.add_option("inputs", options.inputs, "Files of records")->type_name("FILE")->required();
  exported.add_option("--format", options.format, "csv, or jsonl: the records themselves, merged")->capture_default_str()->check(CLI::IsMember({"csv", "jsonl"}));
  exported.add_option("-o,--output", options.output, "File to write; default: standard output")->type_name("FILE");
}

void CommandLine::add_searchers() {
  const auto at_least = [](int least) { return CLI::Range(least, 1000000000); };
  CLI::App& enumerate = add_command("enumerate", "The space of a program: its choices, constraints, size, and points with their cost", Command::enumerate);
  enumerate.add_option("--limit", options.limit, "List so many points, in order")->check(at_least(0));
  enumerate.add_option("--sample", options.sample, "Draw so many random points")->check(at_least(0));
  enumerate.add_option("--best", options.best, "Of the drawn points (20000 where --sample is not given), list those with the least cost")->check(at_least(0));
  enumerate.footer(enumerate_examples);

  CLI::App& score = add_command("score", "The analytic cost of a plan, and how well it orders what was measured", Command::score);
  score.add_option("--records", options.records, "File of records: compare the cost of each plan with its time")->type_name("FILE");
  score.add_option("--features", options.features, "Write the features of the plan, of the records, or of the drawn points as CSV")->type_name("FILE");
  score.add_option("--sample", options.sample, "Score so many random points")->check(at_least(0));
  score.add_flag("--rate", options.rate, "Measure how many points are scored a second");
  score.footer(score_examples);

  CLI::App& search = add_command("search", "Try plans of the space, keep every attempt as a record, and give the fastest", Command::search);
  search.add_option("--records", options.records, "File of records to append to and to resume from (docs/records.md)")->type_name("FILE")->required();
  search.add_option("--strategy", options.strategy, "random, beam or evolutionary")->type_name("STRATEGY")->capture_default_str()->check(CLI::IsMember(strategy_names()));
  search.add_option("--trials", options.trials, "Plans to build, failures and those in the file of records among them")->capture_default_str()->check(at_least(1));
  search.add_option("--budget", options.budget, "Propose no further plans after so many seconds")->type_name("SECONDS")->check(CLI::Range(0.001, 1e9));
  search.add_option("--seconds", options.seconds, "Timed calls of one plan go on for so long")->capture_default_str()->check(CLI::Range(0.001, 3600.0));
  search.add_option("--jobs", options.jobs, "Plans that are compiled at a time, before they are timed one by one")->capture_default_str()->check(CLI::Range(1, 256));
  search.add_flag("--overlap", options.overlap, "Compile the next plans while these are timed: faster, with times that are worth less");
  search.add_option("--finalists", options.finalists, "Fastest plans to measure again, taking turns")->capture_default_str()->check(CLI::Range(0, 64));
  search.add_option("--rounds", options.rounds, "Turns of each finalist")->capture_default_str()->check(CLI::Range(1, 1000));
  search.add_flag("--deterministic", options.deterministic, "Nothing depends on the clock but the times themselves: a fixed number of calls, no --budget, no --overlap");
  search.add_option("-o,--output", options.output, "Write the fastest plan (JSON); a folder where there are several programs")->type_name("PATH");
  search.add_option("--report", options.report, "Write all trials, and how well the cost ordered them, as JSON; a folder where there are several programs")->type_name("FILE");
  search.footer(search_examples);

  CLI::App& bench = add_command("bench", "Time every plan of every program beside its original schedule, taking turns", Command::bench);
  bench.add_option("--records", options.records, "File of records: the fastest plan in it takes part")->type_name("FILE");
  bench.add_option("--seconds", options.seconds, "Timed calls of one program go on for so long")->capture_default_str()->check(CLI::Range(0.001, 3600.0));
  bench.footer(bench_examples);
  for (CLI::App* command : {&enumerate, &score, &search, &bench}) {
    add_inputs(*command, options);
    add_decisions(*command, options);
    add_seed(*command, options);
    add_json(*command, options);
  }
}

void CommandLine::add_writers() {
  CLI::App& fmt = add_command("fmt", "Format tile files in place; comments and docstrings stay", Command::fmt);
  fmt.add_option("inputs", options.inputs, "Tile files, folders (every *.tile below), or - for standard input to standard output")
      ->type_name("PATH")->required();
  fmt.add_flag("--check", options.check, "Write nothing; list the files that are not formatted, and exit with 1 where there are any");

  CLI::App& create = add_command("new", "Write a small commented program to start from", Command::create);
  create.add_option("kind", options.kind, "Kind of program (see --list)")->type_name("KIND");
  create.add_option("name", options.name, "Name of the program; default: the kind")->type_name("NAME");
  create.add_option("-o,--output", options.output, "File to write; it must not exist. Default: standard output")->type_name("FILE");
  create.add_flag("--list", options.list, "List the kinds");
}

void CommandLine::add_informers() {
  CLI::App& verify = add_command("verify", "Prove modules again, from their files alone", Command::verify);
  verify.add_option("inputs", options.inputs, "Files of `compile --module`")->type_name("FILE")->required();
  verify.add_option("--certificate", options.certificate, "Write the certificate of the second proof (JSON) here; one module only")->type_name("FILE");
  add_json(verify, options);

  CLI::App& machines = add_command("machines", "List the machines; with a name, print its file; `calibrate`: measure one, and write its file", Command::machines);
  machines.add_option("name", options.machine, "Machine name or file; or `calibrate`")->type_name("NAME|FILE");
  machines.add_option("calibrated", options.calibrated, "calibrate: the machine to measure, which is this one; default: host")->type_name("NAME|FILE");
  machines.add_option("-o,--output", options.output, "calibrate: write the machine file here; default: print it")->type_name("FILE");
  machines.add_option("--seconds", options.seconds, "calibrate: timed calls for each fact go on for so long")->capture_default_str()->check(CLI::Range(0.001, 3600.0));
  add_json(machines, options);

  CLI::App& explain_error = add_command("explain-error", "Explain the code of an error; without a code, list them", Command::explain_error);
  explain_error.add_option("code", options.code, "Code, as in `error: ... [code]`")->type_name("CODE");

  CLI::App& completion = add_command("completion", "Print the completion script of a shell", Command::completion);
  completion.add_option("shell", options.shell, "bash, zsh or fish")->type_name("SHELL")->required();

  add_command("man", "Print the manual page", Command::man);
}

Command CommandLine::command() const {
  for (const auto& [app_command, command] : commands_)
    if (app_command->parsed()) return command;
  return Command::compile;
}

std::vector<std::string> CommandLine::choices(const std::string& type_name, const std::string& option) const {
  if (option == "--backend") return backend_names();
  if (option == "--machine" || type_name.starts_with("NAME|FILE")) return machine_names();
  if (type_name == "STAGE") return stage_names();
  if (type_name == "CODE") return all_codes();
  if (type_name == "WHAT") return {"all", "none", "winner"};
  if (type_name == "STRATEGY") return strategy_names();
  if (type_name == "SHELL") return {"bash", "fish", "zsh"};
  if (type_name == "KIND") return template_kinds();
  return {};
}

}  // namespace tileopt::cli
