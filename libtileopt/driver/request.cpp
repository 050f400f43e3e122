#include "driver/request.h"

#include <charconv>

#include "backends/cuda/cuda_backend.h"
#include "backends/hip/hip_backend.h"
#include "backends/openmp/openmp_backend.h"
#include "search/blame_pin.h"
#include "support/text.h"

namespace tileopt {

namespace {

[[noreturn]] void reject(ErrorCode code, const std::string& message, const std::string& hint) {
  throw Errors(Diagnostic{code, {}, message, hint, ""});
}

std::int64_t parse_size(const std::string& name, const std::string& digits, const std::string& origin) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failure == std::errc::result_out_of_range)
    reject(ErrorCode::invalid_size, origin + ": size `" + name + "=" + digits + "` does not fit in 64 bits", "give a smaller size");
  if (failure != std::errc() || end != digits.data() + digits.size() || digits.empty())
    reject(ErrorCode::invalid_size, origin + ": `" + digits + "` is not a whole number", "write sizes as M=1024,N=512");
  if (value < 0) reject(ErrorCode::invalid_size, origin + ": size `" + name + "` is negative", "sizes start at 0");
  return value;
}

/// What the request names must fit together; gives its backend.
const Backend& check_request(const Request& request) {
  const Backend& backend = find_backend(request.backend);
  if (request.machine.backend != request.backend)
    reject(ErrorCode::invalid_option, "machine `" + request.machine.name + "` is for backend `" + request.machine.backend + "`, not `" +
           request.backend + "`", "use --backend " + request.machine.backend);
  if (request.plan && !request.pins.pins.empty())
    reject(ErrorCode::invalid_option, "pins cannot change a resolved plan", "give the plan or the pins, not both");
  return backend;
}

}  // namespace

std::vector<std::string> backend_names() { return {"openmp", "cuda", "hip"}; }

const Backend& find_backend(const std::string& name) {
  static const std::unique_ptr<Backend> backends[] = {make_openmp_backend(), make_cuda_backend(), make_hip_backend()};
  for (const std::unique_ptr<Backend>& backend : backends)
    if (backend->name() == name) return *backend;
  reject(ErrorCode::invalid_option, "unknown backend `" + name + "`", "backends: " + join(backend_names(), ", "));
}

Pins find_schedule(const TileFile& file, const std::string& program, const std::string& name, const std::string& machine) {
  std::vector<std::string> names;
  for (const Pins& schedule : file.schedules) {
    if (schedule.program != program) continue;
    names.push_back("@" + schedule.name);
    if (schedule.name != name) continue;
    if (!schedule.machine.empty() && schedule.machine != machine)
      reject(ErrorCode::invalid_pin, "schedule `" + name + "` is for machine `" + schedule.machine + "`, not `" + machine + "`",
             "use --machine " + schedule.machine + ", or drop machine= from @schedule");
    return schedule;
  }
  reject(ErrorCode::invalid_pin, "program `" + program + "` has no schedule `@" + name + "`",
         names.empty() ? "its file has no @schedule function for it" : "schedules: " + join(names, ", "));
}

std::map<std::string, std::int64_t> parse_sizes(const std::string& text, const std::string& origin) {
  std::map<std::string, std::int64_t> sizes;
  const std::string separators = ",; \t";
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, start), text.size());
    const std::string item = text.substr(start, end - start);
    start = end + 1;
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0)
      reject(ErrorCode::invalid_size, origin + ": `" + item + "` names no size", "write sizes as M=1024,N=512");
    const std::string name = item.substr(0, equals);
    if (!sizes.emplace(name, parse_size(name, item.substr(equals + 1), origin)).second)
      reject(ErrorCode::invalid_size, origin + ": size `" + name + "` is given twice", "give every size once");
  }
  if (sizes.empty()) reject(ErrorCode::invalid_size, origin + ": no size is given", "write sizes as M=1024,N=512");
  return sizes;
}

Candidate<Outcome> resolve_and_compile(std::shared_ptr<const Program> program, const Request& request, Trace& trace,
                                       const EditedAsts& edited) {
  const Backend& backend = check_request(request);
  if (request.plan) {
    Candidate<Module> module = compile(program, *request.plan, request.machine, backend, trace, edited, request.proof);
    if (auto* refused = std::get_if<Infeasible>(&module)) {
      if (refused->hint.empty()) refused->hint = "change this entry of the plan, or leave --plan out and pin what matters";
      return std::move(*refused);
    }
    return Outcome{std::get<Module>(std::move(module)), {}};
  }
  std::vector<PlannedStages> planned;
  TILEOPT_TRY(resolved, resolve_plan(*program, request.pins, request.machine, request.resolve, &planned));
  Candidate<Module> module = compile(program, resolved.plan, request.machine, backend, trace, edited, request.proof, planned);
  if (auto* refused = std::get_if<Infeasible>(&module))
    return refused->code == stopped_code ? std::move(*refused) : blame_pin(*program, request.pins, request.machine, resolved.plan, std::move(*refused));
  return Outcome{std::get<Module>(std::move(module)), std::move(resolved.reasons)};
}

Candidate<std::vector<KernelStages>> resolve_and_stage(std::shared_ptr<const Program> program, const Request& request, Trace& trace,
                                                       const EditedAsts& edited) {
  check_request(request);
  if (request.plan) return compile_stages(program, *request.plan, request.machine, trace, edited);
  TILEOPT_TRY(resolved, resolve_plan(*program, request.pins, request.machine, request.resolve));
  return compile_stages(program, resolved.plan, request.machine, trace, edited);
}

const Obligation* first_unproved(const Certificate& certificate, int& count) {
  const Obligation* first = nullptr;
  count = 0;
  for (const Obligation& obligation : certificate.obligations) {
    if (obligation.verdict == Verdict::proved) continue;
    ++count;
    if (first == nullptr || (obligation.verdict == Verdict::refuted && first->verdict != Verdict::refuted)) first = &obligation;
  }
  return first;
}

std::string unproved_text(const Certificate& certificate) {
  if (certificate.proved()) return "";
  int count = 0;
  const Obligation* first = first_unproved(certificate, count);
  if (first == nullptr) return "no obligation was stated";
  return std::string(first->verdict == Verdict::refuted ? "refuted" : "not attempted") + ": " + first->name + " of " + first->subject + ": " +
         first->reason + (first->witness.empty() ? "" : "; witness " + first->witness) +
         (first->where.line == 0 ? "" : "; at " + to_string(first->where)) +
         (count > 1 ? " (and " + std::to_string(count - 1) + " more)" : "");
}

}  // namespace tileopt
