/// Runs obligations under an operation quota and a time limit, and records their verdicts.
#pragma once

#include <pthread.h>
#include <time.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ir/certificate.h"
#include "poly/isl.h"

namespace tileopt::proof {

/// Why an obligation does not hold.
struct Refutation {
  std::string reason;
  std::string witness;
  SourceLocation where;  ///< more precise than the obligation's, where known
};
/// Empty: proved.
using Outcome = std::optional<Refutation>;

/// Thrown where an obligation cannot be decided.
class Undecided : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a thread has computed for; on a machine that does other work too, less than has passed.
class ThreadClock {
 public:
  ThreadClock() {
    if (pthread_getcpuclockid(pthread_self(), &clock_) != 0) clock_ = CLOCK_MONOTONIC;
  }
  std::chrono::duration<double, std::milli> now() const {
    timespec time{};
    clock_gettime(clock_, &time);
    return std::chrono::duration<double, std::milli>(double(time.tv_sec) * 1e3 + double(time.tv_nsec) * 1e-6);
  }

 private:
  clockid_t clock_ = CLOCK_MONOTONIC;
};

/// Aborts isl's running computation when its thread has computed for too long: isl's quota counts operations, not time. Time of the thread, so that
/// what is proved does not hang on what else the machine does; but no longer than ten times the limit by the clock on the wall.
class Watchdog {
 public:
  explicit Watchdog(isl::ctx context);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  void start(std::chrono::milliseconds limit);
  /// True where the deadline had passed; isl works again afterwards.
  bool stop();

 private:
  void watch();

  isl_ctx* context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;
  bool armed_ = false;
  bool fired_ = false;
  ThreadClock clock_;  ///< of the thread that computes
  std::chrono::duration<double, std::milli> end_{0};  ///< of the limit, by that clock
  std::chrono::steady_clock::time_point deadline_;
  std::thread thread_;  // last: starts when all else is initialised
};

struct Limits {
  unsigned long operations;               ///< isl operations an obligation
  std::chrono::milliseconds each;         ///< an obligation
  std::chrono::milliseconds total;        ///< all together
};

class Report {
 public:
  Report(isl::ctx context, Limits limits) : context_(context), limits_(limits), watchdog_(context) {}

  /// `check()` returns an Outcome; what it throws becomes `not_attempted`. Returns whether it was proved.
  template <class Check>
  bool prove(Obligation obligation, Check&& check) {
    const ThreadClock clock;
    const auto start = clock.now();
    decide(obligation, std::forward<Check>(check));
    const std::chrono::duration<double, std::milli> spent = clock.now() - start;
    obligation.milliseconds = spent.count();
    spent_ += spent;
    obligations_.push_back(std::move(obligation));
    return obligations_.back().verdict == Verdict::proved;
  }
  void skip(Obligation obligation, std::string reason);

  std::vector<Obligation> take() { return std::move(obligations_); }

 private:
  template <class Check>
  void decide(Obligation& obligation, Check&& check) {
    if (spent_ > limits_.total) {
      obligation.reason = "time limit of the whole proof";
      return;
    }
    std::string failure;
    {
      const poly::QuotaGuard quota(context_, limits_.operations);
      watchdog_.start(limits_.each);
      try {
        settle(obligation, check());
      } catch (const std::exception& error) {
        failure = explain(error);
        if (poly::quota_exceeded(context_) || dynamic_cast<const isl::exception_quota*>(&error) != nullptr)
          failure = "isl operation quota (" + std::to_string(limits_.operations) + ")";
      }
      if (watchdog_.stop() && !failure.empty()) failure = "time limit (" + std::to_string(limits_.each.count()) + " ms)";
    }
    if (failure.empty()) return;
    obligation.verdict = Verdict::not_attempted;
    obligation.reason = failure;
  }
  /// What was thrown, with isl's own message where a C function of isl failed.
  std::string explain(const std::exception& error);
  static void settle(Obligation& obligation, const Outcome& outcome);

  isl::ctx context_;
  Limits limits_;
  Watchdog watchdog_;
  std::chrono::duration<double, std::milli> spent_{0};
  std::vector<Obligation> obligations_;
};

}  // namespace tileopt::proof
