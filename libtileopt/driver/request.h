/// What a user asks of one program (command line and C API alike), and the way from there to a module.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "driver/pipeline.h"
#include "driver/trace.h"
#include "frontends/tile_text/tile_text.h"
#include "ir/machine.h"
#include "ir/module.h"
#include "ir/plan.h"
#include "search/resolve_plan.h"

namespace tileopt {

struct Request {
  Machine machine;
  std::string backend = "openmp";
  Pins pins;                  ///< used where `plan` is empty
  std::optional<Plan> plan;   ///< resolved: nothing is decided
  ResolveOptions resolve;
  ProofOptions proof;         ///< of the module that is kept
};

struct Outcome {
  Module module;
  std::vector<std::string> reasons;  ///< why the open decisions fell as they did; empty for a given plan
};

/// resolve_plan, then compile. Pins together with a resolved plan are a contradiction.
/// @throws Errors(invalid_option, invalid_plan, ...).
Candidate<Outcome> resolve_and_compile(std::shared_ptr<const Program> program, const Request& request, Trace& trace,
                                       const EditedAsts& edited = {});

/// resolve_plan, then the stages alone: nothing is printed or proved.
/// @throws as resolve_and_compile.
Candidate<std::vector<KernelStages>> resolve_and_stage(std::shared_ptr<const Program> program, const Request& request, Trace& trace,
                                                       const EditedAsts& edited = {});

/// Names of the backends that were built in.
std::vector<std::string> backend_names();
/// @throws Errors(invalid_option) with the names.
const Backend& find_backend(const std::string& name);

/// The `@schedule` function `name` for `program`. @throws Errors(invalid_pin) with the names there are; also where the
/// schedule is for another machine.
Pins find_schedule(const TileFile& file, const std::string& program, const std::string& name, const std::string& machine);

/// "M=1024,N=512" (also ";" or blanks between). `origin` names the option in messages.
/// @throws Errors(invalid_size): nothing given, no `=`, not a whole number, negative, named twice.
std::map<std::string, std::int64_t> parse_sizes(const std::string& text, const std::string& origin);

/// The obligation to report first of an unproved certificate: a refuted one before one that was not attempted; null where all are
/// proved. `count` is how many are not.
const Obligation* first_unproved(const Certificate& certificate, int& count);

/// One line: what an unproved certificate lacks first, or "" where everything is proved.
std::string unproved_text(const Certificate& certificate);

}  // namespace tileopt
