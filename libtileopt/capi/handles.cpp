#include "capi/handles.h"

namespace tileopt::capi {

tileopt_error* new_error(tileopt_status status, std::string message, const Diagnostic& first) noexcept {
  return new tileopt_error{status, std::move(message), first.hint, first.where.file, first.where.line, first.where.column};
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
int tileopt_error_line(const tileopt_error* error) { return error->line; }
int tileopt_error_column(const tileopt_error* error) { return error->column; }
void tileopt_error_free(tileopt_error* error) { delete error; }

}  // extern "C"
