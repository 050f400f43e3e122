/// The objects behind the handles of tileopt.h.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/c_common/signature.h"
#include "capi/registry.h"
#include "cost_models/shape_cost.h"
#include "driver/executable_kernel.h"
#include "driver/request.h"
#define TILEOPT_EXPERIMENTAL
#include "include/tileopt.h"
#include "poly/isl.h"
#include "space/space.h"
#include "support/render_error.h"

namespace tileopt::capi {

/// What programs and all that is made of them share: isl's context, and how calls are watched. Calls into one session take turns.
struct Session {
  poly::Context context;
  std::recursive_mutex turn;
  int depth = 0;                        ///< calls that hold the turn; guarded by it
  std::atomic<bool> cancelled = false;  ///< until tileopt_session_resume
  std::atomic<bool> late = false;       ///< the call has used up its seconds
  std::chrono::duration<double> seconds{0};  ///< of a call; 0: no limit
  int threads = 1;                      ///< that kernels will run on, where the options do not say
  tileopt_progress progress = nullptr;
  void* progress_user = nullptr;
  tileopt_dump dump = nullptr;
  void* dump_user = nullptr;
};

/// Makes an object that holds things of isl die in its session's turn, whoever is its last user.
template <class T>
std::shared_ptr<T> owned(const std::shared_ptr<Session>& session, std::unique_ptr<T> object) {
  return std::shared_ptr<T>(object.release(), [session](T* dying) {
    const std::lock_guard lock(session->turn);
    delete dying;
  });
}

struct ProgramObject {
  std::shared_ptr<Session> session;  // first: destroyed last
  SourceTexts texts;                 // for messages
  TileFile file;                     // of a program that was built: its constants and schedules are empty
  std::shared_ptr<const Program> program;
  std::string hash;
};

struct OptionsObject {
  std::mutex mutex;
  struct Values {
    std::string machine = "host";
    std::shared_ptr<const Machine> machine_object;  // instead
    std::string machine_json, plan_json, pins_json, schedule;
    std::string backend;                            // "" = the machine's
    std::vector<std::string> pins;
    std::optional<int> threads;                     // absent: the session's
    ResolveOptions resolve;
  } values;
};

struct MachineObject {
  std::shared_ptr<const Machine> machine;
  std::string json;
};

/// One launch of a GPU module.
struct Launch {
  std::string name;
  std::size_t kernel = 0;
  long threads = 1, shared_bytes = 0;
  struct Loop {
    std::string variable;
    AstExprPtr lower, upper;
    std::int64_t step = 1;
  };
  struct Test {
    AstExprPtr condition;
    bool wanted = true;      ///< false: launched where it does not hold
  };
  std::vector<Loop> host;    ///< loops of the host around it, outermost first
  std::vector<Test> tests;   ///< of the host around it, over sizes and its loops
  std::vector<Loop> blocks;  ///< outermost first
  std::string blocks_text, host_text;
};

struct ModuleKernel {
  std::string name;
  std::vector<std::string> statements;
  std::string statements_text;
  long workspace_bytes = 0;  ///< its promoted arrays
  std::string when = "";     ///< KernelPlan::when
};

struct CostReport {
  double seconds = 0;
  std::string binding;
  std::vector<std::pair<std::string, double>> parts;
};

struct ModuleObject {
  std::shared_ptr<Session> session;  // first: destroyed last
  std::shared_ptr<const Program> program;
  Machine machine;
  SourceText text;
  std::string name, source, header, certificate, plan, reasons, extension, flags;
  Signature signature;               ///< sizes, arguments, locals in the workspace
  struct ArgumentText {
    std::string type;
    std::vector<std::string> extents, strides;
  };
  std::vector<ArgumentText> arguments;
  std::vector<ModuleKernel> kernels;
  std::vector<Launch> launches;
  std::optional<CostReport> cost;
};

struct ErrorObject {
  tileopt_status status = TILEOPT_INTERNAL;
  std::string message, hint, file, code, rendered, witness;
  int line = 0, column = 0, end_line = 0, end_column = 0;
  std::vector<std::shared_ptr<ErrorObject>> parts;  ///< one a fault; empty: this is the only one
};

struct BuilderObject;
struct ExprObject;
struct KernelObject;
struct SpaceObject;

template <> struct Behind<tileopt_session> { using Object = Session; static constexpr Kind kind = Kind::session; };
template <> struct Behind<tileopt_machine> { using Object = MachineObject; static constexpr Kind kind = Kind::machine; };
template <> struct Behind<tileopt_builder> { using Object = BuilderObject; static constexpr Kind kind = Kind::builder; };
template <> struct Behind<tileopt_expr> { using Object = ExprObject; static constexpr Kind kind = Kind::expr; };
template <> struct Behind<tileopt_program> { using Object = ProgramObject; static constexpr Kind kind = Kind::program; };
template <> struct Behind<tileopt_options> { using Object = OptionsObject; static constexpr Kind kind = Kind::options; };
template <> struct Behind<tileopt_module> { using Object = ModuleObject; static constexpr Kind kind = Kind::module; };
template <> struct Behind<tileopt_kernel> { using Object = KernelObject; static constexpr Kind kind = Kind::kernel; };
template <> struct Behind<tileopt_error> { using Object = ErrorObject; static constexpr Kind kind = Kind::error; };
template <> struct Behind<tileopt_space> { using Object = SpaceObject; static constexpr Kind kind = Kind::space; };

}  // namespace tileopt::capi
