/// What a module says of itself: kernels, launches, arguments, workspace, cost.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "capi/guard.h"

namespace tileopt::capi {

/// Fills everything of `module` but its session.
void describe_module(const std::shared_ptr<const Program>& source, const Request& request, Outcome& outcome, ModuleObject& module);

/// Bytes of workspace as the printed `_workspace_bytes` computes them.
std::int64_t workspace_bytes(const ModuleObject& module, const Sizes& sizes);
/// How often a launch is launched, and the blocks of the largest one. @throws Errors(invalid_size, unsupported).
std::pair<std::int64_t, std::int64_t> launch_counts(const Launch& launch, const Sizes& sizes);

/// Tells the session's progress callback, and stops where that, tileopt_session_cancel or the time limit asks for it.
void report_progress(const Session& session, std::chrono::steady_clock::time_point start, const std::string& stage, const std::string& kernel);
CallError stopped_by_callback();

Request make_request(const ProgramObject& program, const OptionsObject::Values& options);
/// Defaults for NULL. @throws CallError(invalid-handle).
OptionsObject::Values copy_options(const tileopt_options* options);
/// In the session's turn. @throws Refused, NotProved, Errors.
std::shared_ptr<ModuleObject> compile_module(const ProgramObject& program, const Request& request);

}  // namespace tileopt::capi
