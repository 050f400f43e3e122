#include "verify/verify.h"

#include <algorithm>

#include "verify/obligations.h"

namespace tileopt {

namespace proof {

Obligation obligation(std::string name, std::string subject, SourceLocation where, std::string plan_entry) {
  Obligation result;
  result.name = std::move(name);
  result.subject = std::move(subject);
  result.where = std::move(where);
  result.plan_entry = std::move(plan_entry);
  return result;
}

std::string kernel_entry(std::size_t kernel, const std::string& rest) {
  return "kernels[" + std::to_string(kernel) + "]" + (rest.empty() ? "" : "." + rest);
}

const PrintFacts::Loop* Checker::printed(std::size_t loop) const {
  const std::size_t kernel = execution.loops[loop].kernel;
  std::size_t position = 0;
  for (std::size_t i = 0; i < loop; ++i) position += execution.loops[i].kernel == kernel ? 1 : 0;
  if (kernel >= facts.size() || position >= facts[kernel].loops.size()) return nullptr;
  const PrintFacts::Loop& found = facts[kernel].loops[position];
  return found.variable == execution.loops[loop].node->variable ? &found : nullptr;
}

namespace {

const char* const kNames[] = {"values", "coverage", "order", "bounds", "padding", "races", "collectives", "slots", "waits", "lifetimes", "text", "capacity"};

std::vector<std::string> assumptions() {
  return {"floating point operations follow IEEE 754 and the C library's error bounds",
          "the C compiler, the OpenMP runtime and the machine do what their manuals say",
          "64-bit subscripts do not overflow: the launcher refuses sizes whose products do",
          "the launcher checks sizes, pointers, alignment and overlap before any kernel runs",
          "the printer writes each leaf's body and the arithmetic of subscripts as its facts say"};
}

void skip_all(Report& report, const std::string& reason) {
  for (const char* name : kNames) report.skip(obligation(name, "all kernels", {}, ""), reason);
}

void run(Report& report, Certificate& certificate, const Program& program, const std::vector<Ast>& kernels,
         const std::vector<PrintFacts>& facts, const Machine& machine) {
  std::optional<Execution> execution;
  std::string failure = "unreadable";
  report.prove(obligation("coverage", "reading the kernels", {}, ""), [&]() -> Outcome {
    try {
      execution = read_execution(program, kernels, machine);
    } catch (const std::exception& error) {
      failure = error.what();
      throw;
    }
    return {};
  });
  if (!execution) {
    skip_all(report, failure);
    return;
  }
  LastWriters writers(*execution);
  Checker checker{*execution, machine, facts, writers, report, certificate.numerics};
  check_versions(checker);
  check_coverage(checker);
  check_bindings(checker);
  check_order(checker);
  check_bounds(checker);
  check_values(checker);
  check_padding(checker);
  check_races(checker);
  check_happens_before(checker);
  check_fences_of_pipes(checker);
  check_collectives(checker);
  check_rings(checker);
  check_barriers(checker);
  check_lifetimes(checker);
  check_text(checker);
  check_capacity(checker);
  if (program.numerics().contract) certificate.numerics.push_back("contract: a*b + c may be one fused operation");
  const auto calls = [](const Statement& statement) {
    bool found = false;
    walk_expr(statement.body, [&](const Expr& e) { found = found || std::holds_alternative<Call>(e.node); });
    return found;
  };
  if (program.numerics().approx_ulp > 0 && std::any_of(program.statements().begin(), program.statements().end(), calls))
    certificate.numerics.push_back("approx_ulp: functions may be off by " + std::to_string(program.numerics().approx_ulp) + " units in the last place more than the C library's");
}

}  // namespace

}  // namespace proof

Certificate verify(const Program& program, const std::vector<Ast>& kernels, const std::vector<PrintFacts>& facts,
                   const Machine& machine, const std::string& version, const ProofOptions& options) {
  Certificate certificate;
  certificate.program = program.name();
  certificate.program_hash = program.hash();
  certificate.machine = machine.name;
  certificate.version = version;
  certificate.assumed = proof::assumptions();
  const auto versions = std::count_if(kernels.begin(), kernels.end(), [](const Ast& ast) { return !ast.when.empty(); });
  proof::Report report(program.ctx(), proof::Limits{options.operations, options.each, options.total * std::max<long>(1, versions)});
  if (options.attempt) proof::run(report, certificate, program, kernels, facts, machine);
  else proof::skip_all(report, proof_not_wanted);
  certificate.obligations = report.take();
  return certificate;
}

}  // namespace tileopt
