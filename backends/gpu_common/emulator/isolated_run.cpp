#include "backends/gpu_common/emulator/isolated_run.h"

#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <dlfcn.h>

#include "backends/gpu_common/emulator/answer.h"
#include "backends/gpu_common/emulator/machine.h"
#include "support/error.h"

namespace tileopt::emulator {

namespace {
constexpr std::int64_t gap_bytes = 64 << 10;        // between arrays, so that an address past one is not in the next
constexpr std::uint64_t memory_limit = std::uint64_t(8) << 30;
constexpr double grace_seconds = 10;

/// Memory of both processes.
class SharedMapping {
 public:
  explicit SharedMapping(std::size_t bytes) : bytes_(bytes) {
    void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) throw ToolchainError("no memory for the kernel's arrays: " + std::to_string(bytes) + " bytes");
    start_ = static_cast<std::byte*>(start);
  }
  ~SharedMapping() { munmap(start_, bytes_); }
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;
  std::byte* start() const { return start_; }

 private:
  std::byte* start_;
  std::size_t bytes_;
};

/// What a signal handler leaves for the parent.
struct LastWords {
  int signal;
  std::uint64_t site;
  char place[160], kernel[160];
};

struct Layout {
  std::vector<std::int64_t> offsets;
  std::int64_t bytes = 0;
};

/// The last words come first; each array begins at a multiple of 256.
Layout lay_out(const std::vector<Array>& arguments) {
  Layout layout;
  std::int64_t end = (static_cast<std::int64_t>(sizeof(LastWords)) + 4095) / 4096 * 4096;
  for (const Array& array : arguments) {
    end += gap_bytes;
    layout.offsets.push_back(end);
    end += (static_cast<std::int64_t>(array.bytes.size()) + 255) / 256 * 256;
  }
  layout.bytes = end + gap_bytes;
  return layout;
}

struct Image {
  const std::byte* base = nullptr;
  std::vector<std::pair<const std::byte*, std::uint64_t>> segments;
};

Image image_of(const LoadedObject& object) {
  Image image;
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(object.call), &info) == 0) return image;
  image.base = static_cast<const std::byte*>(info.dli_fbase);
  dl_iterate_phdr(
      [](dl_phdr_info* loaded, std::size_t, void* result) {
        Image& wanted = *static_cast<Image*>(result);
        const auto* base = reinterpret_cast<const std::byte*>(loaded->dlpi_addr);
        if (base != wanted.base) return 0;
        for (int i = 0; i < loaded->dlpi_phnum; ++i) {
          const auto& segment = loaded->dlpi_phdr[i];
          if (segment.p_type == PT_LOAD) wanted.segments.emplace_back(base + segment.p_vaddr, segment.p_memsz);
        }
        return 1;
      },
      &image);
  return image;
}

LastWords* last_words = nullptr;
const Image* running_image = nullptr;

std::uint64_t program_counter(const void* context) {
#if defined(__x86_64__)
  return static_cast<std::uint64_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.pc;
#else
  (void)context;
  return 0;
#endif
}

void on_signal(int signal, siginfo_t*, void* context) {
  last_words->signal = signal;
  const auto* address = reinterpret_cast<const std::byte*>(program_counter(context));
  for (const auto& [begin, bytes] : running_image->segments)
    if (address >= begin && address < begin + bytes) last_words->site = static_cast<std::uint64_t>(address - running_image->base) + 1;
  if (Machine::current != nullptr) {
    if (last_words->site == 0) last_words->site = Machine::current->last_site();
    Machine::current->describe_place(last_words->place, sizeof last_words->place);
    std::strncpy(last_words->kernel, Machine::current->kernel().c_str(), sizeof last_words->kernel - 1);
  }
  _exit(1);
}

void catch_signals(double timeout_seconds) {
  static char stack[64 << 10];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) sigaction(signal, &action, nullptr);
  const auto seconds = static_cast<time_t>(timeout_seconds);
  const itimerval timer = {{0, 0}, {seconds, static_cast<suseconds_t>((timeout_seconds - static_cast<double>(seconds)) * 1e6) + 1}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

/// The child: never returns.
[[noreturn]] void run_here(const LoadedObject& object, const std::vector<std::int64_t>& sizes, const std::vector<Array>& arguments, const Layout& layout,
                           std::byte* memory, const Settings& settings, int answer_to) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit limit = {memory_limit + std::uint64_t(layout.bytes), memory_limit + std::uint64_t(layout.bytes)};
  setrlimit(RLIMIT_DATA, &limit);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  last_words = reinterpret_cast<LastWords*>(memory);
  const Image image = image_of(object);
  running_image = &image;
  Outcome outcome;
  try {
    Machine machine(settings, Symbolizer(object.path, object.source), image.segments, image.base);
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      std::byte* data = memory + layout.offsets[i];
      machine.add_array(arguments[i], data);
      pointers.push_back(data);
    }
    object.attach(&Machine::calls);
    catch_signals(settings.timeout_seconds);
    const std::int64_t workspace_bytes = object.workspace(sizes.data());
    if (workspace_bytes < 0) {
      outcome.end = Outcome::End::refused;
      outcome.code = 1;
    } else {
      std::vector<std::byte> room(static_cast<std::size_t>(workspace_bytes) + 255, std::byte{0xff});
      const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(room.data()) % 256;
      std::byte* workspace = room.data() + (past == 0 ? 0 : 256 - past);
      Array description{"the workspace", Array::Role::workspace, 1, std::vector<std::byte>(static_cast<std::size_t>(workspace_bytes))};
      machine.add_array(description, workspace);
      outcome.code = object.call(sizes.data(), pointers.data(), workspace);
      if (outcome.code != 0) outcome.end = Outcome::End::refused;
    }
    outcome.reports = machine.reports();
    outcome.accesses = machine.accesses();
    outcome.switches = machine.switches();
    outcome.blocks = machine.blocks();
  } catch (const std::exception& error) {
    outcome.reports.push_back({"limit", std::string("the emulator could not run the kernel: ") + error.what(), "", {}});
  }
  if (!outcome.reports.empty()) outcome.end = Outcome::End::faulty;
  const std::string text = write_answer(outcome);
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = write(answer_to, text.data() + sent, text.size() - sent);
    if (count <= 0) _exit(2);
    sent += static_cast<std::size_t>(count);
  }
  _exit(0);
}

/// Reads until the child closes its end; false where the time is up.
bool read_all(int from, double timeout_seconds, std::string& text) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(timeout_seconds);
  char buffer[4096];
  while (true) {
    const double left = std::chrono::duration<double>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd entry{from, POLLIN, 0};
    const int ready = poll(&entry, 1, static_cast<int>(left * 1000) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t count = read(from, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

/// A report about a signal or about a process that had to be killed.
Outcome ended_badly(const LoadedObject& object, const LastWords& words, const Settings& settings, bool killed, int signal) {
  Outcome outcome;
  Symbolizer symbolizer(object.path, object.source);
  Report report;
  report.kernel = words.kernel;
  const bool late = killed || words.signal == SIGALRM;
  outcome.end = late ? Outcome::End::hung : Outcome::End::crashed;
  outcome.code = words.signal != 0 ? words.signal : signal;
  const auto site = static_cast<Site>(words.site);
  report.lines = symbolizer.lines(site);
  const std::string where = site == 0 ? "" : symbolizer.text(site) + ": ";
  const std::string who = words.place[0] == 0 ? "" : ", in " + std::string(words.place);
  report.kind = late ? "time" : "crash";
  report.text = late ? where + "the run did not end in " + std::to_string(static_cast<int>(settings.timeout_seconds)) + " s" + who
                     : where + "signal " + std::to_string(outcome.code) + " (" + strsignal(outcome.code) + ")" + who;
  for (const int line : report.lines) report.text += "\n    " + std::to_string(line) + " | " + symbolizer.source_line(line);
  outcome.reports.push_back(std::move(report));
  return outcome;
}
}  // namespace

Outcome run_isolated(const LoadedObject& object, const std::vector<std::int64_t>& sizes, std::vector<Array>& arguments, const Settings& settings) {
  const Layout layout = lay_out(arguments);
  const SharedMapping memory(static_cast<std::size_t>(layout.bytes));
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i].bytes.empty()) std::memcpy(memory.start() + layout.offsets[i], arguments[i].bytes.data(), arguments[i].bytes.size());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw ToolchainError(std::string("cannot open a pipe: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    throw ToolchainError(std::string("cannot start a process: ") + std::strerror(errno));
  }
  if (child == 0) run_here(object, sizes, arguments, layout, memory.start(), settings, ends[1]);
  close(ends[1]);
  std::string answer;
  const bool finished = read_all(ends[0], settings.timeout_seconds + grace_seconds, answer);
  close(ends[0]);
  if (!finished) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  Outcome outcome;
  const auto& words = *reinterpret_cast<const LastWords*>(memory.start());
  if (!finished || words.signal != 0 || !read_answer(answer, outcome))
    return ended_badly(object, words, settings, !finished, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  if (outcome.end != Outcome::End::done) return outcome;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].role == Array::Role::in || arguments[i].bytes.empty()) continue;
    std::memcpy(arguments[i].bytes.data(), memory.start() + layout.offsets[i], arguments[i].bytes.size());
  }
  return outcome;
}

}  // namespace tileopt::emulator
