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

/// Everything made in a session shares its context, so that objects may be freed in any order.
struct tileopt_session {
  std::shared_ptr<tileopt::poly::Context> context;
};

struct tileopt_program {
  std::shared_ptr<tileopt::poly::Context> context;  // first: destroyed last
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
};

namespace tileopt::capi {

/// A refusal on its way to the boundary.
struct Refused : std::runtime_error {
  Refused(tileopt_status kind, const std::string& message) : std::runtime_error(message), status(kind) {}
  tileopt_status status;
};

/// A process that cannot even allocate an error ends here: NULL would mean success.
tileopt_error* new_error(tileopt_status status, std::string message, const tileopt::Diagnostic& first = {}) noexcept;

/// Runs `body`, turning whatever it throws into an error: nothing crosses the boundary.
template <class Body>
tileopt_error* guard(Body&& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (const Errors& errors) {
    return new_error(TILEOPT_USER_ERROR, errors.what(), errors.diagnostics().front());
  } catch (const ToolchainError& error) {
    return new_error(TILEOPT_NO_TOOLCHAIN, error.what());
  } catch (const Refused& refused) {
    return new_error(refused.status, refused.what());
  } catch (const std::exception& error) {
    return new_error(TILEOPT_INTERNAL, error.what());
  } catch (...) {
    return new_error(TILEOPT_INTERNAL, "unknown exception");
  }
}

/// A user error that is about the call, not about a text.
[[noreturn]] void reject(ErrorCode code, const std::string& message, const std::string& hint);

}  // namespace tileopt::capi
