/// Versions, error pages, and what can be asked of an error.
#include "capi/guard.h"
#include "support/error_pages.h"

using namespace tileopt::capi;

namespace {

const ErrorObject& no_memory() {
  static const ErrorObject* const error = [] {
    auto* made = new ErrorObject;
    made->message = made->rendered = "error: out of memory [out-of-memory]";
    made->code = "out-of-memory";
    made->status = TILEOPT_NO_TOOLCHAIN;
    return made;
  }();
  return *error;
}

template <class Answer, class Read>
Answer of_error(const tileopt_error* error, Answer fallback, Read&& read) noexcept {
  try {
    if (reinterpret_cast<std::uintptr_t>(error) == out_of_memory_handle) return read(no_memory());
    const auto object = find(error);
    return object == nullptr ? fallback : read(*object);
  } catch (...) {
    return fallback;
  }
}
const char* text_of(const tileopt_error* error, std::string ErrorObject::*member) noexcept {
  return of_error(error, "", [&](const ErrorObject& object) { return (object.*member).c_str(); });
}
int number_of(const tileopt_error* error, int ErrorObject::*member) noexcept {
  return of_error(error, 0, [&](const ErrorObject& object) { return object.*member; });
}

}  // namespace

extern "C" {

int tileopt_abi_version(void) { return TILEOPT_ABI_VERSION; }
const char* tileopt_version(void) { return TILEOPT_VERSION; }
const char* tileopt_isl_version(void) {
  try {
    static const std::string text = tileopt::poly::isl_version_text();
    return text.c_str();
  } catch (...) {
    return "";
  }
}
size_t tileopt_live_count(void) {
  try {
    return Registry::instance().live();
  } catch (...) {
    return 0;
  }
}
const char* tileopt_peek_error_page(const char* code) {
  try {
    const tileopt::ErrorPage* page = code == nullptr ? nullptr : tileopt::find_error_page(code);
    return page == nullptr ? "" : page->text.c_str();
  } catch (...) {
    return "";
  }
}

tileopt_status tileopt_error_status(const tileopt_error* error) {
  return of_error(error, TILEOPT_INTERNAL, [](const ErrorObject& object) { return object.status; });
}
const char* tileopt_error_peek_message(const tileopt_error* error) { return text_of(error, &ErrorObject::message); }
const char* tileopt_error_peek_rendered(const tileopt_error* error) { return text_of(error, &ErrorObject::rendered); }
const char* tileopt_error_peek_code(const tileopt_error* error) { return text_of(error, &ErrorObject::code); }
const char* tileopt_error_peek_hint(const tileopt_error* error) { return text_of(error, &ErrorObject::hint); }
const char* tileopt_error_peek_witness(const tileopt_error* error) { return text_of(error, &ErrorObject::witness); }
const char* tileopt_error_peek_file(const tileopt_error* error) { return text_of(error, &ErrorObject::file); }
int tileopt_error_line(const tileopt_error* error) { return number_of(error, &ErrorObject::line); }
int tileopt_error_column(const tileopt_error* error) { return number_of(error, &ErrorObject::column); }
int tileopt_error_end_line(const tileopt_error* error) { return number_of(error, &ErrorObject::end_line); }
int tileopt_error_end_column(const tileopt_error* error) { return number_of(error, &ErrorObject::end_column); }
size_t tileopt_error_count(const tileopt_error* error) {
  return of_error(error, std::size_t(0), [](const ErrorObject& object) { return std::max<std::size_t>(object.parts.size(), 1); });
}
tileopt_error* tileopt_error_copy(const tileopt_error* error, size_t fault, tileopt_error** out_error) {
  return guard([&] {
    need_pointer(out_error, "out_error");
    const auto object = need(error, "error");
    const std::size_t count = std::max<std::size_t>(object->parts.size(), 1);
    if (fault >= count) reject(tileopt::ErrorCode::invalid_option, "the error has " + std::to_string(count) + " faults, none of number " + std::to_string(fault), "count from 0 to tileopt_error_count - 1");
    *out_error = insert<tileopt_error>(object->parts.empty() ? object : object->parts[fault]);
  });
}
void tileopt_error_free(tileopt_error* error) { erase(error); }

}  // extern "C"
