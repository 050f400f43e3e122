#include "backends/openmp/runner.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>

#include "backends/openmp/guarded_arrays.h"
#include "backends/openmp/isolated_loader.h"
#include "backends/openmp/toolchain.h"
#include "backends/runner/argument_bytes.h"
#include "backends/runner/call_arguments.h"
#include "support/document.h"
#include "support/text.h"

namespace tileopt {

namespace {
using CallFunction = std::int32_t (*)(const std::int64_t* sizes, void** arguments, void* workspace);
using WorkspaceFunction = std::int64_t (*)(const std::int64_t* sizes);

/// The OpenMP runtime's threads outlive the kernel that started them: unloading it with the kernel would pull their code away.
void keep_openmp_runtime(void* kernel) {
  void* symbol = dlsym(kernel, "omp_get_max_threads");
  Dl_info info{};
  if (symbol != nullptr && dladdr(symbol, &info) != 0 && info.dli_fname != nullptr) dlopen(info.dli_fname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}
}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct CompiledKernel::State {
  TemporaryDirectory folder;
  std::string compiler, object;
  Signature signature;
  void* handle = nullptr;
  CallFunction call = nullptr;
  WorkspaceFunction workspace = nullptr;
  ~State() {
    if (handle != nullptr) dlclose(handle);
  }

  /// What runs in this process. @throws ToolchainError where the kernel is another processor's.
  CallFunction loaded_call() const {
    if (call == nullptr) throw ToolchainError("kernels that TILEOPT_RUN_WITH runs are checked in processes of their own; they are not timed here");
    return call;
  }
  WorkspaceFunction loaded_workspace() const {
    loaded_call();
    return workspace;
  }

  std::vector<std::int64_t> size_vector(const Sizes& sizes) const { return size_values(signature, sizes); }

  /// The bytes of all arguments, in order, laid out as the kernel wants them.
  std::vector<std::vector<std::byte>> images(const Arrays& arrays, const Sizes& sizes) const {
    std::vector<std::vector<std::byte>> result;
    for (const TensorArgument& expected : signature.arguments) result.push_back(lay_out(expected, array_for(expected, arrays, sizes), sizes));
    return result;
  }
};

namespace {
/// One set of guarded arguments and workspace.
struct PreparedCall {
  std::vector<GuardedBuffer> buffers;
  std::vector<void*> pointers;
  std::unique_ptr<GuardedBuffer> workspace;
};
}  // namespace

static PreparedCall prepare(const std::vector<std::vector<std::byte>>& images, std::int64_t workspace_bytes) {
  PreparedCall call;
  for (const std::vector<std::byte>& image : images) {
    call.buffers.emplace_back(static_cast<std::int64_t>(image.size()));
    if (!image.empty()) std::memcpy(call.buffers.back().data(), image.data(), image.size());
  }
  for (const GuardedBuffer& buffer : call.buffers) call.pointers.push_back(buffer.data());
  call.workspace = std::make_unique<GuardedBuffer>(std::max<std::int64_t>(workspace_bytes, 0));
  return call;
}

CompiledKernel::Pending CompiledKernel::start(const Program& program, const SourceText& text, const Machine& machine, const CompileOptions& options) {
  require_features(machine);
  Pending pending;
  pending.state_ = std::make_shared<State>();
  State& state = *pending.state_;
  state.compiler = options.compiler.empty() ? find_c_compiler() : options.compiler;
  state.signature = make_signature(program, {});
  const std::string folder = state.folder.path();
  state.object = folder + "/kernel.so";
  write_file(folder + "/kernel.c", text.source);
  write_file(folder + "/kernel.h", text.header);
  write_file(folder + "/call.c", "#include \"kernel.h\"\n" + call_functions(state.signature));
  // Values only: what belongs to isl must not be touched by two threads.
  pending.done_ = std::async(std::launch::async, [compiler = state.compiler, folder, object = state.object, numerics = program.numerics(), machine,
                                                  flags = options.extra_flags] {
    compile_shared_object(compiler, {folder + "/kernel.c", folder + "/call.c"}, object, numerics, machine, flags);
  });
  return pending;
}

CompiledKernel CompiledKernel::Pending::finish() {
  done_.get();
  State& state = *state_;
  if (!run_with().empty()) return CompiledKernel(state_);
  state.handle = dlopen(state.object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (state.handle == nullptr) throw ToolchainError(std::string("cannot load the compiled kernel: ") + dlerror());
  keep_openmp_runtime(state.handle);
  state.call = reinterpret_cast<CallFunction>(dlsym(state.handle, "tileopt_call"));
  state.workspace = reinterpret_cast<WorkspaceFunction>(dlsym(state.handle, "tileopt_workspace"));
  TILEOPT_CHECK(state.call != nullptr && state.workspace != nullptr, "the wrapper exports its functions");
  return CompiledKernel(state_);
}

CompiledKernel CompiledKernel::compile(const Program& program, const SourceText& text, const Machine& machine, const CompileOptions& options) {
  return start(program, text, machine, options).finish();
}

const std::string& CompiledKernel::compiler() const { return state_->compiler; }
const std::string& CompiledKernel::object() const { return state_->object; }

std::int64_t CompiledKernel::workspace_bytes(const Sizes& sizes) const { return state_->loaded_workspace()(state_->size_vector(sizes).data()); }

int CompiledKernel::call(const Sizes& sizes, void* const* arguments, void* workspace) const {
  std::vector<void*> pointers(arguments, arguments + state_->signature.arguments.size());  // the wrapper takes them as variables
  return state_->loaded_call()(state_->size_vector(sizes).data(), pointers.data(), workspace);
}

int CompiledKernel::run(const Sizes& sizes, Arrays& arguments) const {
  const std::vector<std::int64_t> values = state_->size_vector(sizes);
  const std::int64_t bytes = state_->loaded_workspace()(values.data());
  if (bytes < 0) return 1;
  const std::vector<std::vector<std::byte>> images = state_->images(arguments, sizes);
  PreparedCall call = prepare(images, bytes);
  const int code = state_->loaded_call()(values.data(), call.pointers.data(), call.workspace->data());
  if (!call.workspace->intact()) throw KernelFault("the kernel wrote outside its workspace");
  for (std::size_t i = 0; i < images.size(); ++i) {
    const TensorArgument& argument = state_->signature.arguments[i];
    if (!call.buffers[i].intact()) throw KernelFault("the kernel wrote outside array " + argument.tensor);
    const bool changed = !images[i].empty() && std::memcmp(images[i].data(), call.buffers[i].data(), images[i].size()) != 0;
    if (changed && (!argument.written() || code != 0)) throw KernelFault("the kernel changed array " + argument.tensor + (code != 0 ? " though it refused to run" : ", an input"));
  }
  if (code != 0) return code;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const TensorArgument& argument = state_->signature.arguments[i];
    if (!argument.written()) continue;
    const auto* first = reinterpret_cast<const std::byte*>(call.buffers[i].data());
    if (!take_back(argument, {first, first + images[i].size()}, sizes, arguments.at(argument.tensor)))
      throw KernelFault("the kernel wrote between the elements of array " + argument.tensor);
  }
  return 0;
}

IsolatedRun CompiledKernel::run_isolated(const Sizes& sizes, Arrays& arguments, double timeout_seconds) const {
  Timing none;
  none.seconds = 0;
  return run_timed(sizes, arguments, timeout_seconds, none);
}

IsolatedRun CompiledKernel::run_timed(const Sizes& sizes, Arrays& arguments, double timeout_seconds, Timing& timing) const {
  IsolatedJob job;
  job.object = state_->object;
  job.sizes = state_->size_vector(sizes);
  for (const TensorArgument& argument : state_->signature.arguments)
    job.arrays.push_back({argument.tensor, argument.written(), lay_out(argument, array_for(argument, arguments, sizes), sizes), {}});
  job.timing.seconds = timing.seconds;
  job.timing.least = timing.least;
  const auto start = std::chrono::steady_clock::now();
  IsolatedRun result = run_in_own_process(job, state_->compiler, timeout_seconds);
  timing.elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  timing.samples = job.timing.samples;
  timing.growth_bytes = job.timing.growth_bytes;
  if (result.end != IsolatedRun::End::done) return result;
  for (std::size_t i = 0; i < job.arrays.size(); ++i) {
    const TensorArgument& argument = state_->signature.arguments[i];
    if (!argument.written()) continue;
    HostArray& array = arguments.at(argument.tensor);
    bool intact = take_back(argument, job.arrays[i].bytes, sizes, array);
    if (timing.seconds > 0) {
      HostArray last = array;
      intact = take_back(argument, job.arrays[i].last, sizes, last) && intact;
      timing.last[argument.tensor] = std::move(last);
    }
    if (intact) continue;
    result.end = IsolatedRun::End::overrun;
    result.detail = "between the elements of array " + argument.tensor;
  }
  return result;
}

double CompiledKernel::bench(const Sizes& sizes, const Arrays& arguments, double seconds) const {
  return bench_interleaved({this}, sizes, arguments, seconds).at(0);
}

std::vector<double> CompiledKernel::bench_interleaved(const std::vector<const CompiledKernel*>& kernels, const Sizes& sizes,
                                                      const Arrays& arguments, double seconds) {
  using Clock = std::chrono::steady_clock;
  std::vector<PreparedCall> calls;
  std::vector<std::vector<double>> times(kernels.size());
  const auto call_once = [&](std::size_t k) {
    const State& state = *kernels[k]->state_;
    const std::vector<std::int64_t> values = state.size_vector(sizes);
    const auto start = Clock::now();
    const int code = state.loaded_call()(values.data(), calls[k].pointers.data(), calls[k].workspace->data());
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    if (code != 0) throw KernelFault("the kernel refused its arguments with code " + std::to_string(code));
    return elapsed;
  };
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const State& state = *kernels[k]->state_;
    calls.push_back(prepare(state.images(arguments, sizes), kernels[k]->workspace_bytes(sizes)));
    call_once(k);
  }
  double total = 0;
  for (int round = 0; round < 3 || total < seconds; ++round) {
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      times[k].push_back(call_once(k));
      total += times[k].back();
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& values : times) medians.push_back(median(std::move(values)));
  return medians;
}

}  // namespace tileopt
