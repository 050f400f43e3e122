#include "backends/openmp/guarded_arrays.h"

#include <unistd.h>

#include <cstdint>
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

namespace {
/// Memory that is promised and then not there ends the process, so what cannot fit is not asked for.
std::int64_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? static_cast<std::int64_t>(pages) * size : INT64_MAX;
}
}  // namespace

GuardedBuffer::GuardedBuffer(std::int64_t bytes) : bytes_(bytes) {
  if (bytes > physical_memory()) throw std::bad_alloc();
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
