/// The steps of one thread at concrete sizes: loops unrolled, bases of rings advanced, positions and storage as numbers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/ast.h"
#include "ir/machine.h"

namespace tileopt::test {

using Names = std::map<std::string, long>;

struct Access {
  std::string cell;  // array, copy, subscripts
  bool write = false;
};

// What a thread does next.
struct Step {
  const AstSync* sync = nullptr;  // null: a leaf
  const Synchronization* declared = nullptr;
  std::string label;
  long position = 0;             // absolute
  std::vector<Access> accesses;  // leaves
  const Pipe* pipe = nullptr;
  std::string signal;
  long signal_position = 0, bytes = 0;
};

long floor_quotient(long a, long b);
long evaluate(const AstExprPtr& e, const Names& names);

/// `agent`: the iteration of agent loops that this thread runs; `thread`: its number in the agent.
std::vector<Step> unroll_thread(const Ast& ast, const Machine& machine, const Names& sizes, const std::string& role, long agent,
                                long thread);

}  // namespace tileopt::test
