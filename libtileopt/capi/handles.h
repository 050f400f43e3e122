/// The objects behind the handles of tileopt.h, and the guard that every function of the boundary runs in.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/request.h"
#include "include/tileopt.h"
#include "poly/isl.h"
#include "support/render_error.h"

/// Everything made in a session shares its context, so that objects may be freed in any order.
struct tileopt_session {
  std::shared_ptr<tileopt::poly::Context> context;
};

struct tileopt_program {
  std::shared_ptr<tileopt::poly::Context> context;  // first: destroyed last
  tileopt::SourceTexts texts;                       // for messages
  tileopt::TileFile file;
  std::shared_ptr<const tileopt::Program> program;
};

struct tileopt_options {
  std::string machine = "host";
  std::string machine_json, plan_json, schedule;
  std::string backend = "openmp";
  std::vector<std::string> pins;
  tileopt::ResolveOptions resolve;
};

struct tileopt_module {
  std::string source, header, certificate, plan;
};

struct tileopt_error {
  tileopt_status status = TILEOPT_INTERNAL;
  std::string message, hint, file;
  int line = 0, column = 0;
  std::string code, rendered;
  int end_line = 0, end_column = 0;
};

namespace tileopt::capi {

/// A plan or pin that cannot be honoured, on its way to the boundary.
struct Refused {
  Infeasible infeasible;
};
/// A proof that failed, on its way to the boundary.
struct NotProved {
  std::string message;
};

/// A process that cannot even allocate an error ends here: NULL would mean success.
tileopt_error* new_error(tileopt_status status, const std::string& message, const std::string& code) noexcept;
tileopt_error* new_error(const Errors& errors, const SourceTexts& texts) noexcept;
tileopt_error* new_error(const Infeasible& infeasible, const SourceTexts& texts) noexcept;

/// Runs `body`, turning whatever it throws into an error: nothing crosses the boundary. `texts` is what positions point into;
/// `body` may still add to it.
template <class Body>
tileopt_error* guard(const SourceTexts& texts, Body&& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (const Errors& errors) {
    return new_error(errors, texts);
  } catch (const Refused& refused) {
    return new_error(refused.infeasible, texts);
  } catch (const NotProved& failed) {
    return new_error(TILEOPT_NOT_PROVED, failed.message, "not-proved");
  } catch (const ToolchainError& error) {
    return new_error(TILEOPT_NO_TOOLCHAIN, error.what(), "no-toolchain");
  } catch (const std::exception& error) {
    return new_error(TILEOPT_INTERNAL, error.what(), "internal");
  } catch (...) {
    return new_error(TILEOPT_INTERNAL, "unknown exception", "internal");
  }
}
template <class Body>
tileopt_error* guard(Body&& body) noexcept {
  return guard(SourceTexts(), std::forward<Body>(body));
}

/// A user error that is about the call, not about a text.
[[noreturn]] void reject(ErrorCode code, const std::string& message, const std::string& hint);

}  // namespace tileopt::capi
