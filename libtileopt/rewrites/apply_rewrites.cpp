#include "rewrites/apply_rewrites.h"

#include <algorithm>

#include "rewrites/rewrite.h"
#include "support/document_reader.h"
#include "support/text.h"

namespace tileopt {

namespace {

/// isl operations that one rewrite may take: seconds. Real ones take a hundredth.
constexpr unsigned long operation_limit = 10'000'000;

struct Entry {
  RewriteShape shape;
  Candidate<Rewritten> (*apply)(const Program&, const Rewriting&);
};

const std::vector<Entry>& table() {
  static const std::vector<Entry> entries = {
      {{"inline", true, 1, 1, {}, {}, "rewrite(\"inline\", t)"}, inline_producer},
      {{"split", false, 2, 2, {"chunk"}, {"parts", "shared", "most"}, "rewrite(\"split\", C, \"k\", chunk=256)"}, split_reduction},
      {{"scan", false, 1, 2, {}, {}, "rewrite(\"scan\", y)"}, scan_prefix},
      {{"block_scan", false, 1, 1, {"block"}, {}, "rewrite(\"block_scan\", y, block=4096)"}, block_scan},
      {{"chained_scan", false, 1, 1, {"block", "run", "groups"}, {}, "rewrite(\"chained_scan\", y, block=1024, run=4, groups=16)"}, chained_scan},
      {{"reduce_scan", false, 1, 1, {"block"}, {}, "rewrite(\"reduce_scan\", y, block=65536)"}, reduce_scan},
      {{"hoist", false, 1, 1, {}, {}, "rewrite(\"hoist\", C)"}, hoist_factors},
      {{"local", false, 1, 1, {}, {}, "rewrite(\"local\", C)"}, reduce_in_local},
      {{"common_subexpressions", false, 1, 2, {}, {}, "rewrite(\"common_subexpressions\", Y)"}, common_subexpressions},
      {{"offset", false, 1, 1, {}, {}, "rewrite(\"offset\", C)"}, offset_factor},
      {{"exp2", false, 0, 1, {}, {}, "rewrite(\"exp2\")"}, exp_to_exp2},
  };
  return entries;
}

const Entry* find_entry(const std::string& name) {
  for (const Entry& entry : table())
    if (entry.shape.name == name) return &entry;
  return nullptr;
}

std::string unknown(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
  const std::string near = nearest_name(name, known);
  return "there is no " + what + " `" + name + "`; " + (near.empty() ? "there are " + join(known, ", ") : "did you mean `" + near + "`?");
}

}  // namespace

const std::vector<RewriteShape>& rewrite_shapes() {
  static const std::vector<RewriteShape> shapes = [] {
    std::vector<RewriteShape> all;
    for (const Entry& entry : table()) all.push_back(entry.shape);
    return all;
  }();
  return shapes;
}

const RewriteShape* find_rewrite(const std::string& name) {
  const Entry* entry = find_entry(name);
  return entry ? &entry->shape : nullptr;
}

std::string misshapen(const Program& program, const Rewriting& rewriting) {
  const RewriteShape* shape = find_rewrite(rewriting.name);
  std::vector<std::string> known;
  if (shape == nullptr) {
    for (const RewriteShape& each : rewrite_shapes()) known.push_back(each.name);
    return unknown("rewrite", rewriting.name, known);
  }
  const std::string example = "; write e.g. " + shape->example;
  if (rewriting.arguments.size() < shape->least || rewriting.arguments.size() > shape->most)
    return rewriting.name + " does not take " + std::to_string(rewriting.arguments.size()) + " names" + example;
  for (const std::string& size : shape->required)
    if (!rewriting.sizes.count(size)) return rewriting.name + " wants " + size + "=" + example;
  for (const auto& [size, value] : rewriting.sizes)
    if (!contains(shape->required, size) && !contains(shape->optional, size)) return rewriting.name + " has no size `" + size + "`" + example;
  if (rewriting.arguments.empty()) return "";
  if (shape->of_tensor) {
    for (const Tensor& tensor : program.tensors()) known.push_back(tensor.name);
  } else {
    for (const Statement& statement : program.statements()) known.push_back(statement.name);
  }
  const std::string& first = rewriting.arguments.front();
  return contains(known, first) ? "" : unknown(shape->of_tensor ? "tensor" : "statement", first, known);
}

Candidate<RewrittenProgram> apply_rewrite(const RewrittenProgram& before, const Rewriting& rewriting) {
  const Program& program = *before.program;
  const std::string entry = "rewrites[" + std::to_string(before.rewrites.size()) + "]";
  const std::string wrong = misshapen(program, rewriting);
  if (!wrong.empty()) return Infeasible{"pin", "apply_rewrites", "", entry, to_string(rewriting) + ": " + wrong, {}, "", "docs/rewrites.md lists the rewrites"};
  const poly::QuotaGuard quota(program.ctx(), operation_limit);
  try {
    Candidate<Rewritten> result = find_entry(rewriting.name)->apply(program, rewriting);
    if (Infeasible* refused = std::get_if<Infeasible>(&result)) {
      refused->plan_entry = entry;
      return std::move(*refused);
    }
    Rewritten& rewritten = std::get<Rewritten>(result);
    RewrittenProgram after = before;
    after.program = std::make_shared<const Program>(std::move(rewritten.program));
    after.rewrites.push_back(rewriting);
    after.exact = before.exact && rewritten.exact;
    for (const std::string& permission : rewritten.numerics)
      if (!contains(after.numerics, permission)) after.numerics.push_back(permission);
    return after;
  } catch (const isl::exception&) {
    if (!poly::quota_exceeded(program.ctx())) throw;
  }
  return Infeasible{"rewrite", "apply_rewrites", "", entry, to_string(rewriting) + ": the program is too involved for its conditions to be decided", {}, "", "drop the rewrite"};
}

Candidate<RewrittenProgram> apply_rewrites(std::shared_ptr<const Program> source, const std::vector<Rewriting>& rewrites) {
  RewrittenProgram program{std::move(source), {}, true, {}};
  for (const Rewriting& rewriting : rewrites) {
    TILEOPT_TRY(next, apply_rewrite(program, rewriting));
    program = std::move(next);
  }
  return program;
}

}  // namespace tileopt
