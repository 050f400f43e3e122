/// What a bug report needs, as a folder: version, command line, inputs, machine, plan, and the stages up to the fault.
#pragma once

#include <string>
#include <vector>

#include "frontends/cli/items.h"

namespace tileopt::cli {

/// Remembers the command line and where reports go: TILEOPT_REPORT_DIR, or the folder for temporaries as it is now (`run` and
/// `check` move their own away later). Called once, before anything else.
void begin_reports(int argc, const char* const* argv);

/// A new folder "tileopt-report-…" with `version.txt`, `command.txt`, `message.txt` and the files of the command line.
/// Its path, or "" where it cannot be written: a report never makes things worse.
std::string write_crash_report(const std::string& message);

/// The same for a program: also `input.tile`, `machine.json`, `pins.txt` or `plan.json`, and below `stages/` the dumps of
/// the same compile, which is deterministic and so runs into the same fault.
std::string write_crash_report(const std::string& message, const Item& item);

}  // namespace tileopt::cli
