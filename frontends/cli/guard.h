/// What goes wrong while an item is worked on, as a result: exit code, messages for people, entries for --json.
#pragma once

#include <functional>
#include <string>

#include "frontends/cli/item_result.h"
#include "support/error.h"
#include "support/render_error.h"

namespace tileopt::cli {

ItemResult failure(int exit_code, const std::string& summary, const std::string& messages);
ItemResult user_error(const Errors& errors, const SourceTexts& texts);
ItemResult refusal(const Infeasible& infeasible, const SourceTexts& texts);
/// A compiled kernel that computes something else than the reference interpreter.
ItemResult wrong_result(const std::string& file, const std::string& program, const std::string& what);
/// A bug of ours; `report` is where crash_report wrote what it knows, "" where it could not.
ItemResult internal_error(const std::string& message, const std::string& report);

/// Runs `action`, turning each kind of exception into its result. `write_report` makes the bundle of an internal error and
/// returns its path.
ItemResult guarded(const SourceTexts& texts, const std::function<std::string(const std::string& message)>& write_report,
                   const std::function<ItemResult()>& action);

/// "done", "error", "infeasible", "failed", "no toolchain" or "internal error".
std::string status_name(int exit_code);

}  // namespace tileopt::cli
