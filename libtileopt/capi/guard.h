/// The boundary: every function of tileopt.h runs in `guard`, every one that works in a session in `in_session`.
#pragma once

#include <fenv.h>
#include <locale.h>

#include <condition_variable>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "capi/handles.h"

namespace tileopt::capi {

/// A plan or pin that cannot be honoured, on its way to the boundary.
struct Refused {
  Infeasible infeasible;
};
/// A proof that failed, on its way to the boundary.
struct NotProved {
  std::string message;
};
/// An error that only the C API knows: code, message, hint.
struct CallError {
  tileopt_status status = TILEOPT_USER_ERROR;
  std::string code, message, hint;
};

tileopt_error* new_error(const CallError& error) noexcept;
tileopt_error* new_error(const Errors& errors, const SourceTexts& texts) noexcept;
tileopt_error* new_error(const Infeasible& infeasible, const SourceTexts& texts) noexcept;
/// For the one place where nothing can be made any more: a handle that always exists, and that _free ignores.
inline constexpr std::uintptr_t out_of_memory_handle = 1;
tileopt_error* out_of_memory() noexcept;

/// What belongs to the thread while a call works: the C locale, since numbers are read and printed; the default floating-point environment,
/// since a host may round elsewhere or trap; and no pthread_cancel, which would unwind through us. Other threads see nothing of it.
class Inside {
 public:
  Inside() noexcept;
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  locale_t before_, outer_;
  fenv_t environment_;
  int cancelling_ = 0;
};

/// Runs a callback of the host's as the host would: under its locale. What it throws ends the call (`cancelled`).
template <class Body>
auto call_host(Body&& body) -> decltype(body());

/// Runs `body`, turning whatever it throws into an error: nothing crosses the boundary. `texts` is what positions point into;
/// `body` may still add to it.
template <class Body>
tileopt_error* guard(const SourceTexts& texts, Body&& body) noexcept {
  const Inside inside;
  try {
    body();
    return nullptr;
  } catch (const Errors& errors) {
    return new_error(errors, texts);
  } catch (const Refused& refused) {
    return new_error(refused.infeasible, texts);
  } catch (const CallError& error) {
    return new_error(error);
  } catch (const NotProved& failed) {
    return new_error(CallError{TILEOPT_NOT_PROVED, "not-proved", failed.message, ""});
  } catch (const ToolchainError& error) {
    return new_error(CallError{TILEOPT_NO_TOOLCHAIN, "no-toolchain", error.what(), ""});
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& error) {
    return new_error(CallError{TILEOPT_INTERNAL, "internal", error.what(), ""});
  } catch (...) {
    return new_error(CallError{TILEOPT_INTERNAL, "internal", "unknown exception", ""});
  }
}
template <class Body>
tileopt_error* guard(Body&& body) noexcept {
  return guard(SourceTexts(), std::forward<Body>(body));
}

/// For functions that answer with a number or borrowed text: `fallback` where the handle is not alive or something is thrown.
template <class Answer, class Handle, class Body>
Answer ask(const Handle* handle, Answer fallback, Body&& body) noexcept {
  try {
    const auto object = find(handle);
    return object == nullptr ? fallback : static_cast<Answer>(body(*object));
  } catch (...) {
    return fallback;
  }
}
/// Entry `at` of a list, or the fallback.
template <class List, class Answer, class Read>
Answer entry(const List& list, std::size_t at, Answer fallback, Read&& read) {
  return at < list.size() ? static_cast<Answer>(read(list[at])) : fallback;
}

/// The object behind a handle that a call needs. @throws CallError(invalid-handle) that names the argument.
template <class Handle>
std::shared_ptr<typename Behind<Handle>::Object> need(const Handle* handle, const char* argument) {
  auto object = find(handle);
  if (object != nullptr) return object;
  const std::string type = kind_name(Behind<Handle>::kind);
  throw CallError{TILEOPT_USER_ERROR, "invalid-handle",
                  handle == nullptr ? std::string("`") + argument + "` is NULL" : std::string("`") + argument + "` is no " + type + " that is alive",
                  "give a " + type + " that was made and is not freed yet"};
}

/// A user error that is about the call, not about a text.
[[noreturn]] void reject(ErrorCode code, const std::string& message, const std::string& hint);
/// @throws Errors(invalid_option) where a pointer that a call needs is NULL.
void need_pointer(const void* pointer, const char* argument);

/// A number of threads of a kernel. `what`: "option", "setting". @throws Errors(invalid_option).
int parse_threads(const std::string& text, const std::string& what);
/// `what`: "option `rewrites`"; `where`: the call that gave it, where calls have places. @throws Errors(invalid_option).
bool parse_yes_or_no(const std::string& text, const std::string& what, const SourceLocation& where = {});
/// `[{"primitive": "tile", "arguments": ["thread"], "keywords": {"i": 64}}]`: a partial Plan. @throws Errors(invalid_pin, invalid_dump).
Pins read_pins_json(const std::string& text);

/// The host's own locale again, around its callbacks.
class Outside {
 public:
  Outside() noexcept;
  ~Outside();
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

 private:
  locale_t inside_;
};

template <class Body>
auto call_host(Body&& body) -> decltype(body()) {
  const Outside outside;
  const std::string hint = "callbacks return, and tell by their answer what went wrong";
  try {
    return body();
  } catch (const std::exception& error) {
    throw CallError{TILEOPT_STOPPED, "cancelled", std::string("a callback threw an exception: ") + error.what(), hint};
  } catch (...) {
    throw CallError{TILEOPT_STOPPED, "cancelled", "a callback threw an exception", hint};
  }
}

/// One call's turn in a session, with its time limit. @throws CallError: called from a callback of the same session (`busy`), or after
/// tileopt_session_cancel (`cancelled`).
class Turn {
 public:
  explicit Turn(Session& session);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Session& session_;
  std::unique_lock<std::recursive_mutex> lock_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool finished_ = false;
  std::thread watch_;
};

/// @throws CallError (`cancelled`, `time-limit`) where the session was asked to stop.
void stop_if_asked(const Session& session);

/// `body` in the session's turn. Whatever it throws after the session was asked to stop is that request.
template <class Body>
void in_session(Session& session, Body&& body) {
  const Turn turn(session);
  try {
    body();
  } catch (...) {
    stop_if_asked(session);
    throw;
  }
}

}  // namespace tileopt::capi
