/// Errors, three kinds, never mixed: a user error (thrown `Error`/`Errors`), a bug (`TILEOPT_CHECK`),
/// an infeasible candidate (the value `Infeasible`).
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tileopt {

/// A position in the user's input; lines and columns count from 1, 0 means unknown. A column is a character, not a byte.
/// The piece that is meant ends before `end_line:end_column`; where that is unknown, only its first character is.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
  int end_line = 0;
  int end_column = 0;
  /// Where a piece starts is its identity; where it ends is for showing it.
  friend bool operator==(const SourceLocation& a, const SourceLocation& b) {
    return a.file == b.file && a.line == b.line && a.column == b.column;
  }
};

/// "file:line:col", or "file" where the position is unknown.
std::string to_string(const SourceLocation& where);

/// Stable codes of user errors; the text form is the kebab-case name (see error_code_name).
enum class ErrorCode {
  syntax,
  unknown_name,
  duplicate_name,
  type_mismatch,
  shape_mismatch,
  not_affine,
  out_of_bounds,
  uninitialised_read,
  contradictory_assume,
  false_claim,
  invalid_write,
  unsupported,
  invalid_size,
  unknown_machine,
  invalid_machine,
  invalid_plan,
  invalid_pin,
  invalid_option,
  file_access,
  invalid_dump,
};
std::string error_code_name(ErrorCode code);
/// Every ErrorCode, in declaration order.
const std::vector<ErrorCode>& all_error_codes();

/// One user error: where in the user's input, what is wrong, how to mend it, and (where there is one) an iteration that shows it.
struct Diagnostic {
  ErrorCode code = ErrorCode::syntax;
  SourceLocation where;
  std::string message;
  std::string hint;
  std::string witness;
};

/// "file:line:col: error: message [code]\n  witness: ...\n  hint: ..."
std::string to_string(const Diagnostic& diagnostic);

/// Thrown for user errors; carries every error found in the run, in source order.
class Errors : public std::runtime_error {
 public:
  explicit Errors(std::vector<Diagnostic> diagnostics);
  explicit Errors(Diagnostic diagnostic) : Errors(std::vector<Diagnostic>{std::move(diagnostic)}) {}
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// A bug of ours: reported as internal (exit code 70).
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// A toolchain or device that the request needs is missing (exit code 4).
class ToolchainError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] void fail_check(const char* condition, const char* file, int line, const std::string& message);

#define TILEOPT_CHECK(condition, message) \
  ((condition) ? void(0) : ::tileopt::fail_check(#condition, __FILE__, __LINE__, (message)))

/// A candidate that cannot be built: a value, never an exception.
struct Infeasible {
  std::string code;        ///< one of infeasible_codes()
  std::string stage;       ///< compile stage that refused, e.g. "promote_footprints"
  std::string kernel;      ///< kernel of the Plan
  std::string plan_entry;  ///< path into the Plan, e.g. "kernels[0].promotions[B_packed]"
  std::string reason;      ///< e.g. "needs 2.1 MiB of \"stack\" beside 1 MiB available"
  SourceLocation where = {};   ///< the pin that asks for it, where one does
  std::string witness = {};    ///< e.g. the two instances whose order would be reversed
  std::string hint = {};       ///< what to change
};
std::string to_string(const Infeasible& infeasible);

/// The codes of Infeasible that mean a refusal, with a page each in docs/errors.md.
const std::vector<std::string>& infeasible_codes();

template <class T>
using Candidate = std::variant<T, Infeasible>;

template <class T>
bool feasible(const Candidate<T>& candidate) { return std::holds_alternative<T>(candidate); }

/// Binds `name` to the value of a Candidate, or returns its Infeasible.
#define TILEOPT_TRY(name, expression)                                                   \
  auto name##_candidate = (expression);                                                 \
  if (auto* refused = std::get_if<::tileopt::Infeasible>(&name##_candidate)) return std::move(*refused); \
  auto& name = std::get<0>(name##_candidate)

}  // namespace tileopt
