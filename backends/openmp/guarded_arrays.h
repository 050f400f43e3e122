/// Copies of arguments with guard bytes before and after, as a launcher is called on them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tileopt {

/// `bytes` bytes at an address that is a multiple of 256, between guards; content poisoned.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::int64_t bytes);
  void* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  void poison();
  bool intact() const;   ///< guards unchanged

 private:
  static constexpr std::int64_t guard_bytes = 4096;
  struct Free {
    void operator()(void* block) const;
  };
  std::int64_t bytes_;
  std::unique_ptr<void, Free> block_;
  unsigned char* data_;
};

}  // namespace tileopt
