/// The command line as a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tileopt::cli {

enum class Command { compile, run, check, explain, verify, machines, fmt, create, explain_error, completion, man, measure, replay, export_records,
                     enumerate, score, search, bench };

/// Exit codes (docs/cli.md); over many inputs the largest one wins.
enum ExitCode { exit_done = 0, exit_user_error = 1, exit_infeasible = 2, exit_not_proved = 3, exit_no_toolchain = 4, exit_internal = 70 };

struct Options {
  Command command = Command::compile;
  std::vector<std::string> inputs;   ///< files and folders
  std::string program;               ///< only the program of this name
  std::string machine;               ///< "" = the plan's, or "host"
  std::string backend;  ///< "": the machine's
  std::string machines;              ///< compile: a batch, for each of "zen4,h100"
  int batch_jobs = 0;                ///< compile: worker processes of a batch; 0: one for each core
  std::vector<std::string> sizes;    ///< "M=1024,N=512", each may hold several
  int threads = 1;
  std::string plan;                  ///< file, or "@name"
  std::vector<std::string> pins;     ///< `tile("thread", i=64)`
  std::string dump_dir, stop_after, start_from;
  std::string output;                ///< file or folder
  std::string certificate;
  bool device_report = false;
  std::string module;                ///< compile: file or folder for the whole module; see `verify`
  std::string prove = "all";         ///< "none", "winner" or "all"
  bool stages = false;               ///< check: every stage in the tree interpreter instead of the compiled kernel
  bool emulate = false;              ///< check: kernels of GPUs in the emulator, on the host
  bool json = false;
  std::uint64_t seed = 1;
  bool check = false;                ///< fmt: only look
  bool list = false;                 ///< new: list the kinds
  std::string kind, name;            ///< new
  std::string code;                  ///< explain-error
  std::string shell;                 ///< completion
  std::string records;               ///< measure: file to append to; replay: file to read
  std::string id;                    ///< replay: identity of the record; "" = the fastest of the program
  double seconds = 0.5;              ///< measure: timed calls go on for so long
  std::string format = "csv";        ///< export
  int limit = 0;                     ///< enumerate: points to list, in order
  int sample = 0;                    ///< enumerate, score: random points
  int best = 0;                      ///< enumerate: of the sampled points, those with the least cost
  bool rate = false;                 ///< score: how many points a second
  std::string features;              ///< score: CSV file of features
  std::string strategy = "evolutionary";
  int trials = 200;                  ///< search
  double budget = 0;                 ///< search: seconds; 0: no limit
  int jobs = 2;                      ///< search: plans that are compiled at a time
  int finalists = 4, rounds = 5;     ///< search
  bool overlap = false, deterministic = false;  ///< search
  std::string report;                ///< search: JSON file
  std::string calibrated;            ///< machines calibrate: name or file; "" = host
  std::string planted_failure;       ///< for tests: TraceOptions::planted_failure, of TILEOPT_TEST_FAIL
};

/// Options, or the exit code where the run ends here (help, version, a wrong command line: already printed).
struct Parsed {
  std::optional<Options> options;
  int exit_code = 0;
};
Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace tileopt::cli
