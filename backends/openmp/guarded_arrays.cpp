#include "backends/openmp/guarded_arrays.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace tileopt {

namespace {
constexpr unsigned char guard_byte = 0xa5;
constexpr int poison_byte = 0xff;  // NaN in every float type

bool all_equal(const unsigned char* bytes, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    if (bytes[i] != guard_byte) return false;
  return true;
}
}  // namespace

void GuardedBuffer::Free::operator()(void* block) const { std::free(block); }

GuardedBuffer::GuardedBuffer(std::int64_t bytes) : bytes_(bytes) {
  const std::int64_t total = (bytes + 2 * guard_bytes + 255) / 256 * 256;
  block_.reset(std::aligned_alloc(256, static_cast<std::size_t>(total)));
  if (block_ == nullptr) throw std::bad_alloc();
  data_ = static_cast<unsigned char*>(block_.get()) + guard_bytes;
  std::memset(block_.get(), guard_byte, static_cast<std::size_t>(guard_bytes));
  std::memset(data_ + bytes_, guard_byte, static_cast<std::size_t>(guard_bytes));
  poison();
}

void GuardedBuffer::poison() {
  if (bytes_ > 0) std::memset(data_, poison_byte, static_cast<std::size_t>(bytes_));
}

bool GuardedBuffer::intact() const { return all_equal(data_ - guard_bytes, guard_bytes) && all_equal(data_ + bytes_, guard_bytes); }

}  // namespace tileopt
