/// A small generator, the same everywhere: orders of the emulator are a function of the seed.
#pragma once

#include <cstdint>

namespace tileopt::emulator {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x2545f4914f6cdd1dull) {}
  /// Less than `limit`, which is positive. splitmix64 (Steele, Lea, Flood 2014).
  std::uint32_t below(std::uint32_t limit) {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return static_cast<std::uint32_t>((z >> 32) * limit >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace tileopt::emulator
