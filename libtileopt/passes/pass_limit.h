/// A bound on what isl may do inside one pass: some sets that plans make are beyond its integer programming, and a compile must end.
/// Counted in isl's operations, not in seconds, so that the same Plan is refused on every machine.
#pragma once

#include <exception>
#include <string>

#include "poly/isl.h"
#include "support/error.h"

namespace tileopt {

/// Constant but in tests of the limit itself.
inline thread_local unsigned long pass_operations = 5'000'000;  ///< seconds; of 20,000 random pairs of programs and plans one goes beyond

/// What `run` returns; or, where it goes beyond the limit, a refusal (code `limit`) that names the pass. Inside a spent limit isl fails in many
/// ways, so every exception counts as its consequence there.
template <class Run>
auto within_limit(isl::ctx context, const std::string& pass, const std::string& kernel, const Run& run, unsigned long operations = pass_operations)
    -> decltype(run()) {
  const poly::QuotaGuard quota(context, operations);
  try {
    auto result = run();
    if (!poly::quota_exceeded(context)) return result;
  } catch (const std::exception&) {
    if (!poly::quota_exceeded(context)) throw;
  }
  return Infeasible{"limit", pass, kernel, "kernels[" + kernel + "]", "the sets of this plan are too involved: isl was stopped after " + std::to_string(operations) + " operations",
                    {}, "", "choose rounder tile sizes, promote fewer arrays, or pin schedule(\"original\")"};
}

}  // namespace tileopt
