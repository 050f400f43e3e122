#include "backends/openmp/isolated_loader.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>

#include "backends/openmp/toolchain.h"
#include "support/document.h"
#include "support/error.h"

namespace tileopt {

namespace {
// The job file: int64 counts of sizes and arrays, least and most calls and nanoseconds of timing, the sizes, then per array int64
// bytes, int64 whether it is written, and its content. The loader answers in a second file: int64 outcome (0 done, 1 refused,
// 2 overrun), int64 code or array number (arrays: the workspace), int64 growth in bytes, int64 number of samples, the samples in
// nanoseconds, contents after the first call and, where there was timing, after the last one.
const char* const loader_text = R"(#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
enum { guard = 4096 };
static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static int64_t resident(void) {
  long pages = 0, all = 0;
  FILE* f = fopen("/proc/self/statm", "r");
  if (f == NULL) return 0;
  if (fscanf(f, "%ld %ld", &all, &pages) != 2) pages = 0;
  fclose(f);
  return pages * sysconf(_SC_PAGESIZE);
}
static void* get(FILE* f, size_t n) {
  void* p = malloc(n + 1);
  if (p == NULL || fread(p, 1, n, f) != n) exit(101);
  return p;
}
static unsigned char* guarded(int64_t bytes) {
  unsigned char* p = aligned_alloc(256, ((size_t)bytes + 2 * guard + 255) / 256 * 256);
  if (p == NULL) exit(102);
  memset(p, 0xa5, guard);
  memset(p + guard, 0xff, (size_t)bytes);
  memset(p + guard + bytes, 0xa5, guard);
  return p + guard;
}
static int intact(const unsigned char* p, int64_t bytes) {
  for (int i = 0; i < guard; ++i)
    if (p[i - guard] != 0xa5 || p[bytes + i] != 0xa5) return 0;
  return 1;
}
int main(int argc, char** argv) {
  if (argc != 4) return 100;
  FILE* in = fopen(argv[2], "rb");
  if (in == NULL) return 101;
  const int64_t* counts = get(in, 40);
  const int64_t* sizes = get(in, 8 * (size_t)counts[0]);
  const int64_t n = counts[1], least = counts[2], most = counts[3], budget = counts[4];
  void** arrays = calloc((size_t)n + 1, sizeof *arrays);
  void** pristine = calloc((size_t)n + 1, sizeof *pristine);
  void** first = calloc((size_t)n + 1, sizeof *first);
  int64_t* bytes = calloc((size_t)n + 1, sizeof *bytes);
  int64_t* written = calloc((size_t)n + 1, sizeof *written);
  int64_t all = 0;
  for (int64_t i = 0; i < n; ++i) {
    bytes[i] = *(int64_t*)get(in, 8);
    written[i] = *(int64_t*)get(in, 8);
    arrays[i] = guarded(bytes[i]);
    if (fread(arrays[i], 1, (size_t)bytes[i], in) != (size_t)bytes[i]) return 101;
    if (!written[i]) continue;
    pristine[i] = malloc((size_t)bytes[i] + 1);
    first[i] = malloc((size_t)bytes[i] + 1);
    if (pristine[i] == NULL || first[i] == NULL) return 102;
    memcpy(pristine[i], arrays[i], (size_t)bytes[i]);
    all += 3 * bytes[i];
  }
  void* object = dlopen(argv[1], RTLD_NOW);
  if (object == NULL) { fprintf(stderr, "%s\n", dlerror()); return 103; }
  int32_t (*call)(const int64_t*, void**, void*) = (int32_t (*)(const int64_t*, void**, void*))dlsym(object, "tileopt_call");
  int64_t (*measure)(const int64_t*) = (int64_t (*)(const int64_t*))dlsym(object, "tileopt_workspace");
  int64_t answer[4] = {1, 1, 0, 0};
  int64_t* samples = calloc((size_t)most + 1, sizeof *samples);
  const int64_t workspace_bytes = measure(sizes);
  if (workspace_bytes >= 0) {
    unsigned char* workspace = guarded(workspace_bytes);
    answer[1] = call(sizes, arrays, workspace);
    answer[0] = answer[1] != 0;
    for (int64_t i = 0; i < n; ++i)
      if (written[i]) memcpy(first[i], arrays[i], (size_t)bytes[i]);
    if (budget > 0 && answer[0] == 0) {
      /* A kernel that takes more and more memory must not take the machine's. */
      const struct rlimit limit = {(rlim_t)(4 * all + workspace_bytes) + (4ll << 30), (rlim_t)(4 * all + workspace_bytes) + (4ll << 30)};
      setrlimit(RLIMIT_DATA, &limit);
      const int64_t before = resident();
      int64_t total = 0;
      /* One call more than is counted: the last one, with what it finds as the first one found it. */
      for (int last = 0; !last && answer[0] == 0;) {
        last = answer[3] >= most || (answer[3] >= least && total >= budget);
        for (int64_t i = 0; i < n; ++i)
          if (written[i]) memcpy(arrays[i], pristine[i], (size_t)bytes[i]);
        if (last) memset(workspace, 0xff, (size_t)workspace_bytes);
        const int64_t start = now();
        answer[1] = call(sizes, arrays, workspace);
        const int64_t taken = now() - start;
        answer[0] = answer[1] != 0;
        if (last) break;
        samples[answer[3]++] = taken;
        total += taken;
      }
      answer[2] = resident() - before;
    }
    if (!intact(workspace, workspace_bytes)) { answer[0] = 2; answer[1] = n; }
    for (int64_t i = 0; i < n; ++i)
      if (!intact(arrays[i], bytes[i])) { answer[0] = 2; answer[1] = i; }
  }
  FILE* out = fopen(argv[3], "wb");
  if (out == NULL || fwrite(answer, 8, 4, out) != 4) return 104;
  if (fwrite(samples, 8, (size_t)answer[3], out) != (size_t)answer[3]) return 104;
  for (int64_t i = 0; i < n; ++i)
    if (fwrite(written[i] ? first[i] : arrays[i], 1, (size_t)bytes[i], out) != (size_t)bytes[i]) return 104;
  for (int64_t i = 0; i < n && budget > 0; ++i)
    if (written[i] && fwrite(arrays[i], 1, (size_t)bytes[i], out) != (size_t)bytes[i]) return 104;
  return fclose(out) != 0 ? 104 : 0;
}
)";

struct Loader {
  TemporaryDirectory folder;
  std::string path;
};

/// Built on first use, kept for the life of this process.
const std::string& loader_path(const std::string& compiler) {
  static std::mutex mutex;
  static Loader loader;
  const std::lock_guard<std::mutex> lock(mutex);
  if (!loader.path.empty()) return loader.path;
  const std::string source = loader.folder.path() + "/loader.c";
  const std::string program = loader.folder.path() + "/loader";
  write_file(source, loader_text);
  const ProcessResult result = run_process({compiler, "-O1", "-std=gnu11", "-w", "-o", program, source, "-ldl"}, 60);
  if (result.end != ProcessResult::End::exited || result.code != 0) throw ToolchainError(compiler + " cannot build the loader\n" + result.output);
  return loader.path = program;
}

void append(std::ofstream& file, std::int64_t value) { file.write(reinterpret_cast<const char*>(&value), sizeof value); }

void write_job(const IsolatedJob& job, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  append(file, static_cast<std::int64_t>(job.sizes.size()));
  append(file, static_cast<std::int64_t>(job.arrays.size()));
  append(file, job.timing.least);
  append(file, job.timing.seconds > 0 ? job.timing.most : 0);
  append(file, static_cast<std::int64_t>(job.timing.seconds * 1e9));
  for (const std::int64_t size : job.sizes) append(file, size);
  for (const IsolatedJob::Argument& argument : job.arrays) {
    append(file, static_cast<std::int64_t>(argument.bytes.size()));
    append(file, argument.written);
    file.write(reinterpret_cast<const char*>(argument.bytes.data()), static_cast<std::streamsize>(argument.bytes.size()));
  }
  if (!file.flush()) throw ToolchainError("cannot write " + path);
}

IsolatedRun read_answer(IsolatedJob& job, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::int64_t answer[4] = {0, 0, 0, 0};
  file.read(reinterpret_cast<char*>(answer), sizeof answer);
  if (!file) return {IsolatedRun::End::crashed, 0, "the kernel's process left no result"};
  if (answer[0] == 1) return {IsolatedRun::End::refused, static_cast<int>(answer[1]), "the kernel returned code " + std::to_string(answer[1])};
  if (answer[0] == 2) {
    const bool in_workspace = answer[1] >= static_cast<std::int64_t>(job.arrays.size());
    const std::string where = in_workspace ? "its workspace" : "array " + job.arrays[static_cast<std::size_t>(answer[1])].name;
    return {IsolatedRun::End::overrun, static_cast<int>(answer[1]), "the kernel wrote outside " + where};
  }
  std::vector<std::int64_t> nanoseconds(static_cast<std::size_t>(std::clamp<std::int64_t>(answer[3], 0, job.timing.most)));
  file.read(reinterpret_cast<char*>(nanoseconds.data()), static_cast<std::streamsize>(nanoseconds.size() * sizeof(std::int64_t)));
  for (const std::int64_t sample : nanoseconds) job.timing.samples.push_back(static_cast<double>(sample) * 1e-9);
  job.timing.growth_bytes = answer[2];
  for (IsolatedJob::Argument& argument : job.arrays) {
    std::vector<std::byte> content(argument.bytes.size());
    file.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(content.size()));
    if (!file) return {IsolatedRun::End::crashed, 0, "the kernel's process left half a result"};
    if (!argument.written && content != argument.bytes)
      return {IsolatedRun::End::overrun, 0, "the kernel changed array " + argument.name + ", an input"};
    argument.bytes = std::move(content);
  }
  for (IsolatedJob::Argument& argument : job.arrays) {
    if (!argument.written || job.timing.seconds <= 0) continue;
    argument.last.resize(argument.bytes.size());
    file.read(reinterpret_cast<char*>(argument.last.data()), static_cast<std::streamsize>(argument.last.size()));
    if (!file) return {IsolatedRun::End::crashed, 0, "the kernel's process left half a result"};
  }
  return {IsolatedRun::End::done, 0, ""};
}
}  // namespace

IsolatedRun run_in_own_process(IsolatedJob& job, const std::string& compiler, double timeout_seconds) {
  const std::string& loader = loader_path(compiler);
  const TemporaryDirectory folder;
  const std::string input = folder.path() + "/job";
  const std::string output = folder.path() + "/result";
  write_job(job, input);
  std::vector<std::string> command = run_with();
  command.insert(command.end(), {loader, job.object, input, output});
  const ProcessResult result = run_process(command, timeout_seconds);
  switch (result.end) {
    case ProcessResult::End::timed_out:
      return {IsolatedRun::End::hung, 0, "the kernel did not finish in " + std::to_string(timeout_seconds) + " s"};
    case ProcessResult::End::signalled:
      return {IsolatedRun::End::crashed, result.code, std::string("the kernel crashed: ") + strsignal(result.code)};
    case ProcessResult::End::exited: break;
  }
  if (result.code == 102) return {IsolatedRun::End::crashed, 0, "no memory for the kernel's arrays"};
  if (result.code != 0) throw ToolchainError("the loader failed with status " + std::to_string(result.code) + ": " + result.output);
  return read_answer(job, output);
}

}  // namespace tileopt
