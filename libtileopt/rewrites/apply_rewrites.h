/// 05. Algebra that the polyhedral model cannot see: Program -> Program, each rewrite named in the Plan (docs/rewrites.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/plan.h"
#include "ir/program.h"

namespace tileopt {

/// Which arguments a rewrite takes. The first names a tensor or a statement.
struct RewriteShape {
  std::string name;
  bool of_tensor = false;                ///< the first argument names a local; else a statement
  std::size_t least = 1, most = 1;       ///< arguments
  std::vector<std::string> required = {}, optional = {};  ///< sizes
  std::string example;                   ///< as a pin
};
/// All rewrites, in the order of docs/rewrites.md.
const std::vector<RewriteShape>& rewrite_shapes();
const RewriteShape* find_rewrite(const std::string& name);
/// "" where the arguments have the right number and name what the program has; else what is wrong.
std::string misshapen(const Program& program, const Rewriting& rewriting);

/// A program and what was done to it. Without rewrites `program` is the source itself, the same object.
struct RewrittenProgram {
  std::shared_ptr<const Program> program;
  std::vector<Rewriting> rewrites;
  bool exact = true;                  ///< in its original order it gives the very bits of the source
  std::vector<std::string> numerics;  ///< permissions used, each once
  operator std::shared_ptr<const Program>() const { return program; }
};

/// Takes the rewrites in order. The first whose conditions fail is the refusal (codes "rewrite", "numerics", "pin").
Candidate<RewrittenProgram> apply_rewrites(std::shared_ptr<const Program> source, const std::vector<Rewriting>& rewrites);

/// One more.
Candidate<RewrittenProgram> apply_rewrite(const RewrittenProgram& program, const Rewriting& rewriting);

}  // namespace tileopt
