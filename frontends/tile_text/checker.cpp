#include "frontends/tile_text/checker.h"

#include <algorithm>

#include "frontends/tile_text/block_lowering.h"
#include "frontends/tile_text/initialised.h"
#include "frontends/tile_text/printer.h"
#include "frontends/tile_text/signature.h"
#include "frontends/tile_text/symbols.h"
#include "rewrites/rewrite.h"

namespace tileopt::tile_text {

namespace {

/// isl operations that checking a function may take, by the length of its text: real programs need a hundredth of it, and
/// a hostile condition is refused within seconds.
unsigned long allowed_operations(const std::string& text) {
  return std::min<unsigned long>(1'000'000 + 100 * text.size(), 20'000'000);
}

/// The function below all that it calls: a source file of its own.
std::string program_text(const syntax::Function& function, const PureFunctions& functions) {
  std::string text;
  for (const syntax::Function* used : functions.used_by(function)) text += print(*used) + "\n\n";
  return text + print(function);
}

Program build_program(isl::ctx ctx, const syntax::Function& function, const Scope& scope, Lowering& lowering, const Tree& order, const std::string& file) {
  ProgramBuilder builder(ctx, function.name);
  builder.file(file)
      .text(program_text(function, *scope.functions()))
      .context(scope.context())
      .numerics(lowering.numerics)
      .order(order);
  for (const std::string& size : scope.sizes()) builder.parameter(size);
  for (const TensorSymbol& symbol : scope.tensors())
    if (symbol.tensor.role != TensorRole::local) builder.tensor(symbol.tensor);
  std::set<std::string> used;
  for (const LoweredStatement& statement : lowering.statements.all()) {
    used.insert(statement.ir.write.tensor);
    // Nobody may write it: `sum(...) if i == 0 else x` where i is never 0.
    for (const Access& read : statement.ir.reads) used.insert(read.tensor);
  }
  for (const TensorSymbol& symbol : scope.tensors())
    if (symbol.tensor.role == TensorRole::local && used.count(symbol.tensor.name)) builder.tensor(symbol.tensor);
  std::set<std::string> combines;
  for (const LoweredStatement& statement : lowering.statements.all()) combines.insert(statement.ir.monoid);
  for (const auto& [name, monoid] : lowering.monoids)
    if (combines.count(name)) builder.monoid(monoid);
  for (LoweredStatement& statement : lowering.statements.all()) builder.statement(std::move(statement.ir));
  return builder.build();
}

/// Keeps the promises of `scan`; nothing where one cannot be kept, which is reported.
std::optional<Program> take_scans(Program program, const std::vector<ScanPromise>& scans, Diagnostics& diagnostics) {
  const std::string what = "`scan` cannot run in linear work here: ";
  bool kept = true;
  for (const ScanPromise& scan : scans) {
    const Rewriting rewriting{"scan", {scan.statement}, {}};
    const std::size_t loops = program.statement(scan.statement).iterators.size();
    const Candidate<Rewritten> candidate = scan_prefix(program, rewriting);
    if (const auto* refused = std::get_if<Infeasible>(&candidate)) {
      diagnostics.add(ErrorCode::unsupported, scan.where, what + refused->reason.substr(to_string(rewriting).size() + 2), refused->hint);
      kept = false;
      continue;
    }
    const Program& linear = std::get<Rewritten>(candidate).program;
    if (linear.has_statement(scan.statement) && linear.statement(scan.statement).iterators.size() == loops) {
      diagnostics.add(ErrorCode::unsupported, scan.where, what + "a step may add several terms", "let the range grow by one: range(i + 1), or write the reduction without `scan`");
      kept = false;
      continue;
    }
    program = linear;
  }
  return kept ? std::optional(std::move(program)) : std::nullopt;
}

std::optional<Program> check_within_quota(isl::ctx ctx, const syntax::Function& function, PureFunctions& functions,
                                          Diagnostics& diagnostics) {
  const std::size_t errors = diagnostics.count();
  const std::string reserved = reserved_function_reason(function.name);
  if (!reserved.empty())
    diagnostics.add(ErrorCode::duplicate_name, function.where, "`" + function.name + "` " + reserved,
                    "choose another name for the function");
  Scope scope(ctx, function, diagnostics);
  scope.set_functions(&functions);
  const Numerics numerics = read_numerics(function, diagnostics);
  read_signature(scope, function);
  Kinds kinds(scope);
  StatementList statements;
  Lowering lowering{scope, kinds, statements, numerics, assigned_names(function.body)};
  const Tree::Branch whole = lower_body(lowering, function.body);
  check_initialised(scope, statements, whole.tree);
  if (diagnostics.count() > errors) return std::nullopt;
  for (const LoweredStatement& statement : statements.all())
    if (!statement.ir.body) return std::nullopt;  // it calls a function whose own errors were reported before
  if (statements.all().empty()) {
    diagnostics.add(ErrorCode::unsupported, function.where, "`" + function.name + "` has no statement that ever runs",
                    "assign to an `out` or `inout` parameter");
    return std::nullopt;
  }
  return take_scans(build_program(ctx, function, scope, lowering, whole.tree, diagnostics.file()), lowering.scans, diagnostics);
}

}  // namespace

std::optional<Program> check_function(isl::ctx ctx, const syntax::Function& function, PureFunctions& functions,
                                      Diagnostics& diagnostics) {
  const poly::QuotaGuard guard(ctx, allowed_operations(print(function)));
  try {
    return check_within_quota(ctx, function, functions, diagnostics);
  } catch (const isl::exception&) {
    if (!poly::quota_exceeded(ctx)) throw;
    diagnostics.add(ErrorCode::unsupported, function.where, "`" + function.name + "` is too complex to check",
                    "split it into several functions, or simplify its conditions");
    return std::nullopt;
  }
}

}  // namespace tileopt::tile_text
