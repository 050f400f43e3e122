#include "kernel.h"

#include <cstdio>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "backends/openmp/runner.h"
#include "backends/openmp/toolchain.h"
#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "support/document.h"
#include "support/error.h"

namespace tileopt::table {

namespace {

// What CompiledKernel puts beside every kernel.
using Call = std::int32_t (*)(const std::int64_t* sizes, void** arguments, void* workspace);
using WorkspaceBytes = std::int64_t (*)(const std::int64_t* sizes);
using Loop = void (*)(const std::int64_t* sizes, void* const* arguments);

struct Library {
  explicit Library(const std::string& path) : handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) throw std::runtime_error(dlerror());
  }
  ~Library() { dlclose(handle); }
  void* symbol(const char* name) const {
    void* found = dlsym(handle, name);
    if (found == nullptr) throw std::runtime_error(std::string("no symbol ") + name);
    return found;
  }
  void* handle;
};

}  // namespace

struct Kernel::State {
  CompiledKernel compiled;
  Library library;
  explicit State(CompiledKernel kernel) : compiled(std::move(kernel)), library(compiled.object()) {}
};

Kernel Kernel::compile(const std::string& tile_text, const KernelOptions& options) {
  poly::Context context;
  const auto program = std::make_shared<const Program>(parse_tile_file(context.get(), tile_text, "row.tile").programs.at(0));
  Request request;
  request.machine = find_machine("host");
  request.resolve.threads = options.threads;
  for (std::size_t p = 0; p < options.sizes.size() && p < program->parameters().size(); ++p)
    request.resolve.typical_sizes[program->parameters()[p]] = options.sizes[p];
  if (!options.pins.empty()) request.pins = parse_pins(options.pins, "pins");
  Trace trace;
  Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
  if (const auto* refused = std::get_if<Infeasible>(&outcome)) throw std::runtime_error(to_string(*refused));
  const Module& module = std::get<Outcome>(outcome).module;
  if (const std::string lacking = unproved_text(module.certificate); !lacking.empty()) throw std::runtime_error(lacking);
  Kernel kernel;
  kernel.state_ = std::make_shared<State>(CompiledKernel::compile(*program, module.text, request.machine, {options.compiler, options.flags}));
  return kernel;
}

Kernel Kernel::load(const std::string& name, const KernelOptions& options) {
  return compile(read_file(std::string(TILEOPT_SOURCE_DIR) + "/benchmarks/kernels/" + name + ".tile"), options);
}

std::function<void()> Kernel::bind(const std::vector<std::int64_t>& sizes, const std::vector<void*>& arguments) const {
  const auto call = reinterpret_cast<Call>(state_->library.symbol("tileopt_call"));
  const std::int64_t bytes = reinterpret_cast<WorkspaceBytes>(state_->library.symbol("tileopt_workspace"))(sizes.data());
  if (bytes < 0) throw std::runtime_error("the launcher refuses these sizes");
  const std::size_t rounded = (static_cast<std::size_t>(bytes) + 255) / 256 * 256;
  const std::shared_ptr<void> workspace(rounded > 0 ? std::aligned_alloc(256, rounded) : nullptr, std::free);
  return [state = state_, call, sizes, arguments = std::vector<void*>(arguments), workspace]() mutable {
    if (const std::int32_t code = call(sizes.data(), arguments.data(), workspace.get()); code != 0)
      throw std::runtime_error("the launcher returned " + std::to_string(code));
  };
}

const char* const stream_copy_text = R"(
#include <stdint.h>
#ifdef __AVX__
#include <immintrin.h>
#endif
void stream_copy(const int64_t* s, void* const* a) {
  const float* restrict x = a[0];
  float* restrict y = a[1];
#if defined(__AVX512F__)
  for (int64_t i = 0; i < s[0]; i += 16) _mm512_stream_ps(y + i, _mm512_load_ps(x + i));
#elif defined(__AVX__)
  for (int64_t i = 0; i < s[0]; i += 8) _mm256_stream_ps(y + i, _mm256_load_ps(x + i));
#else
  for (int64_t i = 0; i < s[0]; ++i) y[i] = x[i];
#endif
}
)";

std::function<void()> plain_loop(const std::string& c_text, const std::string& function, const std::vector<std::string>& flags,
                                 const std::vector<std::int64_t>& sizes, const std::vector<void*>& arguments) {
  struct Loaded {
    TemporaryDirectory folder;
    std::unique_ptr<Library> library;
  };
  auto loaded = std::make_shared<Loaded>();
  const std::string base = loaded->folder.path() + "/loop";
  write_file(base + ".c", c_text);
  std::vector<std::string> words = {find_c_compiler(), "-O3", "-std=gnu11", "-shared", "-fPIC", "-march=native"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {base + ".c", "-o", base + ".so", "-lm"});
  const ProcessResult result = run_process(words, 120);
  if (result.code != 0) throw std::runtime_error(result.output);
  loaded->library = std::make_unique<Library>(base + ".so");
  const auto loop = reinterpret_cast<Loop>(loaded->library->symbol(function.c_str()));
  return [loaded, loop, sizes, arguments] { loop(sizes.data(), arguments.data()); };
}

std::string find_clang() {
  for (const char* path : {"/usr/bin/clang-19", "/usr/lib/llvm-19/bin/clang"}) {
    if (access(path, X_OK) != 0) continue;
    // The compiler is one package, the runtime of its OpenMP another.
    if (run_process({path, "-fopenmp", "-shared", "-x", "c", "/dev/null", "-o", "/dev/null"}, 60).code == 0) return path;
    std::fprintf(stderr, "%s is left out: it does not link with OpenMP (libomp-19-dev)\n", path);
  }
  return "";
}

}  // namespace tileopt::table
