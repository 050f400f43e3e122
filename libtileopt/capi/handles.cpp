#include "capi/handles.h"

#include "support/entry_location.h"

namespace tileopt::capi {

tileopt_error* new_error(tileopt_status status, const std::string& message, const std::string& code) noexcept {
  auto* error = new tileopt_error;
  error->status = status;
  error->message = message;
  error->code = code;
  error->rendered = "error: " + message + " [" + code + "]";
  return error;
}

namespace {
tileopt_error* placed_error(tileopt_status status, const std::string& message, const std::string& code, const std::string& rendered,
                            const std::string& hint, const SourceLocation& where) {
  tileopt_error* error = new_error(status, message, code);
  error->rendered = rendered;
  error->hint = hint;
  error->file = where.file;
  error->line = where.line;
  error->column = where.column;
  error->end_line = where.end_line;
  error->end_column = where.end_column;
  return error;
}
}  // namespace

tileopt_error* new_error(const Errors& unlocated, const SourceTexts& texts) noexcept {
  const Errors errors = locate_entries(unlocated, texts);
  const Diagnostic& first = errors.diagnostics().front();
  return placed_error(TILEOPT_USER_ERROR, errors.what(), error_code_name(first.code), render_errors(errors, texts), first.hint, first.where);
}

tileopt_error* new_error(const Infeasible& infeasible, const SourceTexts& texts) noexcept {
  return placed_error(TILEOPT_INFEASIBLE, to_string(infeasible), infeasible.code, render_refusal(infeasible, texts), infeasible.hint,
                      infeasible.where);
}

void reject(ErrorCode code, const std::string& message, const std::string& hint) {
  throw Errors(Diagnostic{code, {}, message, hint, ""});
}

}  // namespace tileopt::capi

extern "C" {

int tileopt_abi_version(void) { return TILEOPT_ABI_VERSION; }
const char* tileopt_version(void) { return TILEOPT_VERSION; }
const char* tileopt_isl_version(void) {
  static const std::string text = tileopt::poly::isl_version_text();
  return text.c_str();
}

tileopt_status tileopt_error_status(const tileopt_error* error) { return error->status; }
const char* tileopt_error_peek_message(const tileopt_error* error) { return error->message.c_str(); }
const char* tileopt_error_peek_hint(const tileopt_error* error) { return error->hint.c_str(); }
const char* tileopt_error_peek_file(const tileopt_error* error) { return error->file.c_str(); }
const char* tileopt_error_peek_code(const tileopt_error* error) { return error->code.c_str(); }
const char* tileopt_error_peek_rendered(const tileopt_error* error) { return error->rendered.c_str(); }
int tileopt_error_end_line(const tileopt_error* error) { return error->end_line; }
int tileopt_error_end_column(const tileopt_error* error) { return error->end_column; }
int tileopt_error_line(const tileopt_error* error) { return error->line; }
int tileopt_error_column(const tileopt_error* error) { return error->column; }
void tileopt_error_free(tileopt_error* error) { delete error; }

}  // extern "C"
