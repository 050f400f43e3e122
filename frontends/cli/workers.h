/// Processes that run one task each and give back its text: what ends one of them does not end the others.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tileopt::cli {

class Workers {
 public:
  struct Finished {
    std::size_t task = 0;
    std::string text;      ///< what the task gave; "" where it failed
    std::string failure;   ///< how its process ended before the text was whole; "" where it did not fail
  };

  /// At most `jobs` processes at a time. The caller's process has one thread.
  explicit Workers(int jobs) : jobs_(static_cast<std::size_t>(jobs)) {}
  /// Ends what still runs.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  bool full() const { return running_.size() >= jobs_; }
  bool idle() const { return running_.empty(); }

  /// Forks; `work` runs in the child, which shares what the caller has read so far, and may not throw. It ends with this process.
  /// @throws Errors(file_access) where no process can be made.
  void start(std::size_t task, const std::function<std::string()>& work);

  /// The next one that ends; none where nothing ends within half a second or a signal comes.
  std::optional<Finished> wait();

 private:
  struct Running {
    std::size_t task = 0;
    pid_t process = 0;
    int pipe = -1;
    std::string text;
  };
  std::size_t jobs_;
  std::vector<Running> running_;
};

}  // namespace tileopt::cli
