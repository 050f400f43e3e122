/// One program of `compile`: decided, compiled, proved, and written where its item says.
#pragma once

#include "frontends/cli/items.h"

namespace tileopt::cli {

/// `json`: what is not written to a file goes into the details instead of standard output. @throws as compile_item, and Errors(file_access).
ItemResult compile_one(const Item& item, bool json);

/// `compile --machines`: every program for every machine, in worker processes. Returns the exit code.
int run_batch(const Options& options);

}  // namespace tileopt::cli
