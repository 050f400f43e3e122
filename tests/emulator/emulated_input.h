// Texts of tests/emulator/inputs, as they are or with a fault planted, in the emulator.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "backends/gpu_common/emulator/module.h"

namespace tileopt::emulator {

inline std::string read_input(const std::string& name) {
  std::ifstream file(std::string(TILEOPT_SOURCE_DIR) + "/tests/emulator/inputs/" + name + ".cu");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// `text` with the one occurrence of `from` replaced.
inline std::string planted(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  EXPECT_EQ(text.find(from, place + 1), std::string::npos) << from << " occurs twice";
  if (place == std::string::npos) return text;
  return text.replace(place, from.size(), to);
}

template <class T>
Array array(const std::string& name, Array::Role role, const std::vector<T>& values) {
  Array result{name, role, sizeof(T), std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

template <class T>
std::vector<T> values_of(const Array& array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

/// Small integers, so that sums are exact in any order.
inline std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>((i * 2654435761u + seed * 40503u) >> 7 & 15) - 7.0f;
  return values;
}

/// Every order with every way of completion that matters to it.
inline std::vector<Settings> all_settings(unsigned warp_size = 32) {
  std::vector<Settings> all;
  const auto add = [&](Order order, Completion completion, std::uint64_t seed) {
    Settings settings;
    settings.order = order;
    settings.completion = completion;
    settings.seed = seed;
    settings.warp_size = warp_size;
    settings.timeout_seconds = 20;
    all.push_back(settings);
  };
  add(Order::forward, Completion::early, 1);
  add(Order::forward, Completion::late, 1);
  add(Order::reverse, Completion::late, 1);
  add(Order::reverse, Completion::early, 1);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) add(Order::random, Completion::random, seed);
  return all;
}

inline std::string reports_text(const Outcome& outcome) {
  std::string text;
  for (const Report& report : outcome.reports) text += report.kind + ": " + report.text + "\n";
  return text;
}

/// Number of the line of `text` that contains `piece`; 0 where none does.
inline int line_with(const std::string& text, const std::string& piece) {
  const std::size_t place = text.find(piece);
  if (place == std::string::npos) return 0;
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
}

}  // namespace tileopt::emulator
