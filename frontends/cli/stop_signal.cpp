#include "frontends/cli/stop_signal.h"

#include <signal.h>

namespace tileopt::cli {

namespace {

volatile sig_atomic_t noted_signal = 0;
struct sigaction previous_interrupt, previous_terminate;

extern "C" void note_signal(int signal_number) {
  noted_signal = signal_number;
  sigaction(SIGINT, &previous_interrupt, nullptr);
  sigaction(SIGTERM, &previous_terminate, nullptr);
}

}  // namespace

StopSignal::StopSignal() {
  noted_signal = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &previous_interrupt);
  sigaction(SIGTERM, &action, &previous_terminate);
}

StopSignal::~StopSignal() {
  sigaction(SIGINT, &previous_interrupt, nullptr);
  sigaction(SIGTERM, &previous_terminate, nullptr);
}

int StopSignal::noted() { return noted_signal; }

}  // namespace tileopt::cli
