// Tile text -> a function to call, by the library as its users get it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tileopt::table {

// Aligned to 64 bytes, touched, filled with numbers between -1 and 1.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count, unsigned seed = 1) : count_(count), data_(static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 63) / 64 * 64)), std::free) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (std::size_t i = 0; i < count; ++i) data_.get()[i] = make(uniform(random));
  }
  T* data() const { return data_.get(); }
  std::size_t size() const { return count_; }
  std::shared_ptr<const void> keep() const { return data_; }
  T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  static T make(float x) {
    if constexpr (std::is_same_v<T, std::int8_t>) return static_cast<std::int8_t>(x * 100);
    if constexpr (std::is_same_v<T, std::uint16_t>) {  // bf16, cut off
      std::uint32_t bits;
      std::memcpy(&bits, &x, 4);
      return static_cast<std::uint16_t>(bits >> 16);
    }
    return static_cast<T>(x);
  }
  std::size_t count_;
  std::shared_ptr<T> data_;
};

struct KernelOptions {
  int threads = 1;
  std::string pins = {};                 // schedule primitives, one a line
  std::string compiler = {};             // "": the one that the library finds
  std::vector<std::string> flags = {};   // after the library's own
  std::vector<std::int64_t> sizes = {};  // that the planner may assume, in the order of the program's parameters; empty: its own
};

class Kernel {
 public:
  // @throws std::runtime_error with the library's own message.
  static Kernel compile(const std::string& tile_text, const KernelOptions& options);
  // The program of benchmarks/kernels/`name`.tile.
  static Kernel load(const std::string& name, const KernelOptions& options);

  // `sizes` in the order of the program's parameters; `arguments` in that of its tensors (of scalars, a pointer to the value).
  // Returns a closure that owns a workspace. @throws std::runtime_error where the launcher refuses.
  std::function<void()> bind(const std::vector<std::int64_t>& sizes, const std::vector<void*>& arguments) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// C text with functions of type void(const std::int64_t* sizes, void* const* arguments), by $CC or cc with `flags`.
std::function<void()> plain_loop(const std::string& c_text, const std::string& function, const std::vector<std::string>& flags,
                                 const std::vector<std::int64_t>& sizes, const std::vector<void*>& arguments);

// clang of the version that the table names; "" where it, or its OpenMP, is not installed.
std::string find_clang();

template <class T>
std::vector<float> as_floats(const Buffer<T>& buffer) {
  return {buffer.data(), buffer.data() + buffer.size()};
}

// void stream_copy(sizes, {from, to}): sizes[0] floats, a multiple of 16, by streaming stores where there are any.
extern const char* const stream_copy_text;

}  // namespace tileopt::table
