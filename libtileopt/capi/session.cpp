/// Sessions: settings, callbacks, cancelling.
#include <charconv>
#include <cmath>
#include <map>

#include "capi/guard.h"
#include "support/text.h"

using namespace tileopt::capi;
using tileopt::ErrorCode;

namespace {

double parse_seconds(const std::string& text) {
  double seconds = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (failure != std::errc() || end != text.data() + text.size() || !(seconds >= 0) || seconds > 1e6)
    reject(ErrorCode::invalid_option, "setting `seconds`: `" + text + "` is no time", "give seconds from 0 (no limit) to 1000000");
  return seconds;
}

}  // namespace

extern "C" {

tileopt_error* tileopt_session_create(tileopt_session** out_session) {
  return guard([&] {
    need_pointer(out_session, "out_session");
    *out_session = insert<tileopt_session>(std::make_shared<Session>());
  });
}
void tileopt_session_free(tileopt_session* session) { erase(session); }

tileopt_error* tileopt_session_set(tileopt_session* session, const char* key, const char* value) {
  return guard([&] {
    const auto object = need(session, "session");
    need_pointer(key, "key");
    need_pointer(value, "value");
    const Turn turn(*object);
    if (std::string(key) == "seconds") object->seconds = std::chrono::duration<double>(parse_seconds(value));
    else if (std::string(key) == "threads") object->threads = parse_threads(value, "setting");
    else reject(ErrorCode::invalid_option, std::string("unknown setting `") + key + "`", "settings: seconds, threads");
  });
}

tileopt_error* tileopt_session_cancel(tileopt_session* session) {
  return guard([&] {
    const auto object = need(session, "session");
    object->cancelled = true;
    isl_ctx_abort(object->context.get().get());
  });
}
tileopt_error* tileopt_session_resume(tileopt_session* session) {
  return guard([&] { need(session, "session")->cancelled = false; });
}

tileopt_error* tileopt_session_set_progress(tileopt_session* session, tileopt_progress progress, void* user) {
  return guard([&] {
    const auto object = need(session, "session");
    const Turn turn(*object);
    object->progress = progress;
    object->progress_user = user;
  });
}
tileopt_error* tileopt_session_set_dump(tileopt_session* session, tileopt_dump dump, void* user) {
  return guard([&] {
    const auto object = need(session, "session");
    const Turn turn(*object);
    object->dump = dump;
    object->dump_user = user;
  });
}

}  // extern "C"
