#include "capi/guard.h"

#include <csignal>

#include "support/entry_location.h"

namespace tileopt::capi {

namespace {

tileopt_error* hand_out(std::shared_ptr<ErrorObject> error) {
  return insert<tileopt_error>(std::move(error));
}

std::shared_ptr<ErrorObject> make(tileopt_status status, const std::string& message, const std::string& code) {
  auto error = std::make_shared<ErrorObject>();
  error->status = status;
  error->message = message;
  error->code = code;
  error->rendered = "error: " + message + " [" + code + "]";
  return error;
}

void place(ErrorObject& error, const std::string& rendered, const std::string& hint, const std::string& witness, const SourceLocation& where) {
  error.rendered = rendered;
  error.hint = hint;
  error.witness = witness;
  error.file = where.file;
  error.line = where.line;
  error.column = where.column;
  error.end_line = where.end_line;
  error.end_column = where.end_column;
}

std::shared_ptr<ErrorObject> make(const Errors& errors, const SourceTexts& texts) {
  const Diagnostic& first = errors.diagnostics().front();
  auto error = make(TILEOPT_USER_ERROR, errors.what(), error_code_name(first.code));
  place(*error, render_errors(errors, texts), first.hint, first.witness, first.where);
  if (errors.diagnostics().size() > 1)
    for (const Diagnostic& fault : errors.diagnostics()) error->parts.push_back(make(Errors(fault), texts));
  return error;
}

/// Runs `build`; where even that cannot be, there is one error left.
template <class Build>
tileopt_error* safely(Build&& build) noexcept {
  try {
    return hand_out(build());
  } catch (...) {
    return out_of_memory();
  }
}

}  // namespace

tileopt_error* new_error(const CallError& call) noexcept {
  return safely([&] {
    auto error = make(call.status, call.message, call.code);
    error->hint = call.hint;
    if (!call.hint.empty()) error->rendered += "\n  hint: " + call.hint;
    return error;
  });
}

tileopt_error* new_error(const Errors& unlocated, const SourceTexts& texts) noexcept {
  return safely([&] { return make(locate_entries(unlocated, texts), texts); });
}

tileopt_error* new_error(const Infeasible& infeasible, const SourceTexts& texts) noexcept {
  return safely([&] {
    auto error = make(TILEOPT_INFEASIBLE, to_string(infeasible), infeasible.code);
    place(*error, render_refusal(infeasible, texts), infeasible.hint, infeasible.witness, infeasible.where);
    return error;
  });
}

tileopt_error* out_of_memory() noexcept {
  return reinterpret_cast<tileopt_error*>(out_of_memory_handle);
}

namespace {
thread_local locale_t host_locale = LC_GLOBAL_LOCALE;

/// Null where there is none to be had: then the host's stays.
locale_t classic_locale() noexcept {
  static const locale_t classic = newlocale(LC_ALL_MASK, "C", nullptr);
  return classic;
}
}  // namespace

Inside::Inside() noexcept : before_(uselocale(classic_locale())), outer_(host_locale) {
  host_locale = before_;
  fegetenv(&environment_);
  fesetenv(FE_DFL_ENV);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling_);
}
Inside::~Inside() {
  uselocale(before_);
  host_locale = outer_;
  fesetenv(&environment_);
  pthread_setcancelstate(cancelling_, nullptr);
}
Outside::Outside() noexcept : inside_(uselocale(host_locale)) {}
Outside::~Outside() { uselocale(inside_); }

void reject(ErrorCode code, const std::string& message, const std::string& hint) {
  throw Errors(Diagnostic{code, {}, message, hint, ""});
}

void need_pointer(const void* pointer, const char* argument) {
  if (pointer == nullptr) reject(ErrorCode::invalid_option, std::string("`") + argument + "` is NULL", std::string("give `") + argument + "`");
}

void stop_if_asked(const Session& session) {
  if (session.cancelled)
    throw CallError{TILEOPT_STOPPED, "cancelled", "the session was cancelled", "tileopt_session_resume makes it usable again"};
  if (session.late)
    throw CallError{TILEOPT_STOPPED, "time-limit", "the call used up the session's `seconds`", "set a larger value, or 0 for no limit"};
}

namespace {
/// Threads that begin in its scope take no signals: the host's signals are for the host's threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};
}  // namespace

Turn::Turn(Session& session) : session_(session), lock_(session.turn) {
  if (session.depth > 0)
    throw CallError{TILEOPT_USER_ERROR, "busy", "a callback called into the session that is calling it",
                    "from a callback only cancel, read what is borrowed, and free; use another session for more"};
  isl_ctx* isl = session.context.get().get();
  isl_ctx_resume(isl);  // first: a cancel that comes later is not undone
  isl_ctx_reset_error(isl);
  session.late = false;
  stop_if_asked(session);
  if (session.seconds.count() > 0) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(session.seconds);
    const SignalsBlocked blocked;
    watch_ = std::thread([this, isl, deadline] {
      std::unique_lock lock(mutex_);
      if (done_.wait_until(lock, deadline, [this] { return finished_; })) return;
      session_.late = true;
      isl_ctx_abort(isl);
    });
  }
  ++session.depth;
}

Turn::~Turn() {
  --session_.depth;
  if (watch_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      finished_ = true;
    }
    done_.notify_one();
    watch_.join();
  }
  isl_ctx* isl = session_.context.get().get();
  isl_ctx_resume(isl);
  isl_ctx_reset_error(isl);
  session_.late = false;
}

}  // namespace tileopt::capi
