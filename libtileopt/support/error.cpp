#include "support/error.h"

namespace tileopt {

std::string to_string(const SourceLocation& where) {
  if (where.line == 0) return where.file;
  return where.file + ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
}

std::string error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::syntax: return "syntax";
    case ErrorCode::unknown_name: return "unknown-name";
    case ErrorCode::duplicate_name: return "duplicate-name";
    case ErrorCode::type_mismatch: return "type-mismatch";
    case ErrorCode::shape_mismatch: return "shape-mismatch";
    case ErrorCode::not_affine: return "not-affine";
    case ErrorCode::out_of_bounds: return "out-of-bounds";
    case ErrorCode::uninitialised_read: return "uninitialised-read";
    case ErrorCode::contradictory_assume: return "contradictory-assume";
    case ErrorCode::false_claim: return "false-claim";
    case ErrorCode::invalid_write: return "invalid-write";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::invalid_size: return "invalid-size";
    case ErrorCode::unknown_machine: return "unknown-machine";
    case ErrorCode::invalid_machine: return "invalid-machine";
    case ErrorCode::invalid_plan: return "invalid-plan";
    case ErrorCode::invalid_pin: return "invalid-pin";
    case ErrorCode::invalid_option: return "invalid-option";
    case ErrorCode::file_access: return "file-access";
    case ErrorCode::invalid_dump: return "invalid-dump";
  }
  return "unknown";
}

const std::vector<ErrorCode>& all_error_codes() {
  static const std::vector<ErrorCode> codes = [] {
    std::vector<ErrorCode> all;
    for (int c = 0; c <= static_cast<int>(ErrorCode::invalid_dump); ++c) all.push_back(static_cast<ErrorCode>(c));
    return all;
  }();
  return codes;
}

std::string to_string(const Diagnostic& d) {
  std::string text = to_string(d.where);
  if (!text.empty()) text += ": ";
  text += "error: " + d.message + " [" + error_code_name(d.code) + "]";
  if (!d.witness.empty()) text += "\n  witness: " + d.witness;
  if (!d.hint.empty()) text += "\n  hint: " + d.hint;
  return text;
}

namespace {
std::string join_diagnostics(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics) text += (text.empty() ? "" : "\n") + to_string(d);
  return text;
}
}  // namespace

Errors::Errors(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join_diagnostics(diagnostics)), diagnostics_(std::move(diagnostics)) {}

void fail_check(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError(std::string(file) + ":" + std::to_string(line) + ": check `" + condition + "` failed: " + message);
}

std::string to_string(const Infeasible& i) {
  std::string text = "infeasible [" + i.code + "] in " + i.stage;
  if (!i.kernel.empty()) text += ", kernel " + i.kernel;
  if (!i.plan_entry.empty()) text += ", plan entry " + i.plan_entry;
  text += ": " + i.reason;
  if (!i.witness.empty()) text += "\n  witness: " + i.witness;
  if (!i.hint.empty()) text += "\n  hint: " + i.hint;
  return text;
}

const std::vector<std::string>& infeasible_codes() {
  static const std::vector<std::string> codes = {"pin", "legality", "capacity", "promotion", "atom", "numerics", "rewrite", "limit", "codegen", "ast"};
  return codes;
}

}  // namespace tileopt
