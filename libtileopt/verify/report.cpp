#include "verify/report.h"

#include <algorithm>

namespace tileopt::proof {

Watchdog::Watchdog(isl::ctx context) : context_(context.get()), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    finished_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::start(std::chrono::milliseconds limit) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    armed_ = true;
    fired_ = false;
    clock_ = ThreadClock();
    end_ = clock_.now() + limit;
    deadline_ = std::chrono::steady_clock::now() + 10 * limit;
  }
  changed_.notify_one();
}

bool Watchdog::stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  armed_ = false;
  if (fired_) isl_ctx_resume(context_);
  return fired_;
}

void Watchdog::watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!finished_) {
    if (!armed_) {
      changed_.wait(lock);
    } else if (const auto left = end_ - clock_.now(); left.count() > 0 && std::chrono::steady_clock::now() < deadline_) {
      changed_.wait_for(lock, std::max(left, std::chrono::duration<double, std::milli>(1)));  // at the earliest
    } else {
      armed_ = false;
      fired_ = true;
      isl_ctx_abort(context_);
    }
  }
}

void Report::skip(Obligation obligation, std::string reason) {
  obligation.verdict = Verdict::not_attempted;
  obligation.reason = std::move(reason);
  obligations_.push_back(std::move(obligation));
}

std::string Report::explain(const std::exception& error) {
  const std::string text = error.what();
  const char* detail = isl_ctx_last_error_msg(context_.get());
  return detail != nullptr && dynamic_cast<const isl::exception*>(&error) != nullptr ? text + " (" + detail + ")" : text;
}

void Report::settle(Obligation& obligation, const Outcome& outcome) {
  obligation.verdict = outcome ? Verdict::refuted : Verdict::proved;
  if (!outcome) return;
  obligation.reason = outcome->reason;
  obligation.witness = outcome->witness;
  if (!outcome->where.file.empty() || outcome->where.line != 0) obligation.where = outcome->where;
}

}  // namespace tileopt::proof
