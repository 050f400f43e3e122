/// The subcommands of tileopt-schedule, one file each. Each returns the exit code.
#pragma once

#include "frontends/cli/options.h"

namespace tileopt::cli {

int run_compile(const Options& options);
int run_run(const Options& options);
int run_check(const Options& options);
int run_explain(const Options& options);
int run_verify(const Options& options);
int run_machines(const Options& options);
int run_fmt(const Options& options);
int run_new(const Options& options);
int run_explain_error(const Options& options);
int run_completion(const Options& options);
int run_man();
int run_measure(const Options& options);
int run_replay(const Options& options);
int run_export(const Options& options);
int run_enumerate(const Options& options);
int run_score(const Options& options);
int run_search_command(const Options& options);
int run_bench(const Options& options);

}  // namespace tileopt::cli
