#include "frontends/cli/crash_handler.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TILEOPT_UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TILEOPT_UNDER_SANITIZER 1
#endif
#endif

namespace tileopt::cli {

namespace {

constexpr const char* variable = "TILEOPT_CRASHED";
constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// What the handler may reach: plain storage, made before anything goes wrong.
char handler_stack[1 << 16];
char crash_entry[] = "TILEOPT_CRASHED=00";
std::vector<char*> arguments, environment;

/// Only what may be called in a signal handler: exec. The new process has this one's command line.
extern "C" void start_reporter(int signal_number) {
  crash_entry[sizeof crash_entry - 3] = static_cast<char>('0' + signal_number / 10 % 10);
  crash_entry[sizeof crash_entry - 2] = static_cast<char>('0' + signal_number % 10);
  execve("/proc/self/exe", arguments.data(), environment.data());
  _exit(70);
}

}  // namespace

void install_crash_handler(int argc, const char* const* argv) {
#ifndef TILEOPT_UNDER_SANITIZER
  if (getenv(variable) != nullptr || getenv("TILEOPT_CORE_DUMP") != nullptr) return;
  for (int i = 0; i < argc; ++i) arguments.push_back(const_cast<char*>(argv[i]));
  arguments.push_back(nullptr);
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(strdup(*entry));
  environment.push_back(crash_entry);
  environment.push_back(nullptr);
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = start_reporter;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
  for (const int number : signals) sigaction(number, &action, nullptr);
#else
  (void)argc;
  (void)argv;
#endif
}

std::string crash_of_parent() {
  const char* text = getenv(variable);
  if (text == nullptr) return "";
  const int number = atoi(text);
  return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
}

}  // namespace tileopt::cli
