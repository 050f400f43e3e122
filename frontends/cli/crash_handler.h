/// Crashes (a bad pointer, a stack that is full, abort) end like other internal errors: exit code 70, a message, a report.
#pragma once

#include <string>

namespace tileopt::cli {

/// Handles SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT from now on: a process that is broken can do little, so the handler starts
/// the tool anew, which writes the report. Does nothing under sanitizers, which have handlers of their own, and with
/// TILEOPT_CORE_DUMP set, for those who want the crash itself.
void install_crash_handler(int argc, const char* const* argv);

/// In a process that was started by the handler: what happened, e.g. "signal 11 (Segmentation fault)"; else "".
std::string crash_of_parent();

}  // namespace tileopt::cli
