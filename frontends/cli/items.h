/// One program with all that is asked of it; runs a command over many, so that a bad one does not stop the others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driver/request.h"
#include "driver/size_vectors.h"
#include "frontends/cli/item_result.h"
#include "frontends/cli/options.h"
#include "support/document.h"
#include "support/render_error.h"

namespace tileopt::cli {

struct Item {
  std::string file;                        ///< as given; for messages
  std::shared_ptr<const Program> program;
  Request request;
  std::map<std::string, std::int64_t> sizes;  ///< of --size, for this program
  std::vector<Pins> schedules;             ///< the @schedule functions of this program that fit the machine
  EditedAsts edited;                       ///< from a resumed 60-ast dump
  TraceOptions trace;
  bool several = false;                    ///< one of several programs of the command line
  std::string output;                      ///< C file to write, "" = stdout
  std::string certificate;                 ///< JSON file to write, "" = none
  std::string module;                      ///< likewise
  bool device_report = false;              ///< the certificate has what the device's compiler reports
  SourceTexts texts;                       ///< what positions in messages point into
};

/// Compiles an item: resolve (unless its plan is resolved), compile, and refuse what is not proved, unless no proof was asked for.
/// @throws Errors, ToolchainError; sets `failed` and returns nothing for refusals.
struct Compiled {
  std::optional<Module> module;            ///< empty: see `failed`, or stopped by --stop-after
  std::vector<std::string> reasons;
  double milliseconds = 0;
  ItemResult failed;                       ///< exit code, summary and details of a refusal
};
Compiled compile_item(const Item& item);

/// Exit code, summary and details of a plan that cannot be honoured (or was stopped by --stop-after: nothing failed then).
ItemResult refused_result(const Item& item, const Infeasible& refused);

/// Runs `command` for every program that the options name, catching what it throws; prints messages to stderr, the result
/// document to stdout with --json, a summary where something failed. Returns the exit code: the largest of all.
int run_items(const Options& options, const std::function<ItemResult(const Item&)>& command);

/// The sizes that a command times a program at: those given, else all equal, halved until a run takes about a second and the
/// arguments fit in memory. @throws Errors(invalid_size).
Sizes sizes_to_time(const Item& item);

/// Counts and failures of a certificate for --json.
Document certificate_summary(const Certificate& certificate);

}  // namespace tileopt::cli
