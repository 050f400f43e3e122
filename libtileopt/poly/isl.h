/// The only includer of isl. Bridges what `isl/cpp.h` lacks, guards quotas, and walks unions in a name-sorted order.
///
/// Write the space beside every isl variable: `isl::union_map reads;  // { S[i,j,k] -> A[a,b] }`
#pragma once

#include <isl/aff.h>
#include <isl/ast.h>
#include <isl/ast_build.h>
#include <isl/ast_type.h>
#include <isl/constraint.h>
#include <isl/cpp.h>
#include <isl/flow.h>
#include <isl/id.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/schedule.h>
#include <isl/schedule_node.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <isl/val.h>
#include <isl/version.h>

#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace tileopt::poly {

/// Owns one isl_ctx; declare it before, so that it is destroyed after, every isl object of it. One per thread.
class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  isl::ctx get() const { return isl::ctx(context_); }

 private:
  isl_ctx* context_;
};

/// Limits isl's operations inside its scope; restores the previous limit and resets the counter on exit.
/// A hit throws isl::exception (isl_error_quota): see is_quota_error.
class QuotaGuard {
 public:
  QuotaGuard(isl::ctx context, unsigned long max_operations);
  ~QuotaGuard();
  QuotaGuard(const QuotaGuard&) = delete;
  QuotaGuard& operator=(const QuotaGuard&) = delete;

 private:
  isl_ctx* context_;
  unsigned long previous_;
};
bool quota_exceeded(isl::ctx context);

template <class T>
std::string to_text(const T& object) {
  std::ostringstream out;
  out << object;
  return out.str();
}

/// Flow analysis; null source arguments mean "none". `order`: { S[..] -> [time] }.
struct Flow {
  isl::union_map must;       ///< source -> sink, exact last writers
  isl::union_map may;        ///< source -> sink, contains `must`
  isl::union_map no_source;  ///< sink accesses { S[..] -> A[..] } (part of) which no must-source precedes
};
Flow compute_flow(const isl::union_map& sink, const isl::union_map& must_source, const isl::union_map& may_source,
                  const isl::union_map& kill, const isl::union_map& order);

/// Name-sorted views, so that results do not depend on insertion order.
std::vector<isl::map> sorted_maps(const isl::union_map& union_map);
std::vector<isl::set> sorted_sets(const isl::union_set& union_set);

std::string input_name(const isl::map& map);   ///< tuple name of the domain, "" where anonymous
std::string output_name(const isl::map& map);  ///< tuple name of the range
std::string tuple_name(const isl::set& set);
std::vector<std::string> parameters(const isl::set& set);

/// Single-valued map as a piecewise function, with implicit equalities detected first. { A -> B }
isl::pw_multi_aff as_function(const isl::map& map);

/// The value of a function that is one constant everywhere.
std::optional<long> constant_of(const isl::pw_aff& function);

/// One integer point "{ S[1, 2] }" with the parameters' values ("N = 3, S[1, 2]"), or "" where empty.
std::string sample_text(const isl::set& set);
std::string sample_text(const isl::union_set& set);
std::string sample_text(const isl::map& map);
std::string sample_text(const isl::union_map& map);

isl::union_set empty_union_set(isl::ctx context);
isl::union_map empty_union_map(isl::ctx context);

/// { X[x] -> Y[y] : order(x) lexicographically before order(y) }, both orders { S -> [t] } of equal depth.
isl::union_map lex_lt(const isl::union_map& first, const isl::union_map& second);

/// Version text of the linked isl, e.g. "isl-0.25-GMP": a test asserts that Polly's isl was not linked instead.
std::string isl_version_text();

}  // namespace tileopt::poly
