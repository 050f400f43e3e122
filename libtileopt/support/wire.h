/// Values as bytes between two processes of one program on one machine.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace tileopt {

class WireWriter {
 public:
  void put(std::int64_t value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void put(double value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void put(const void* bytes, std::size_t count) {
    put(static_cast<std::int64_t>(count));
    text_.append(static_cast<const char*>(bytes), count);
  }
  void put(const std::string& value) { put(value.data(), value.size()); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Reads what a WireWriter wrote. Where the text ends too early, values are 0 and empty, and good() is false.
class WireReader {
 public:
  explicit WireReader(const std::string& text) : text_(text) {}
  bool good() const { return good_; }
  bool at_end() const { return good_ && place_ == text_.size(); }

  std::int64_t integer() { return value<std::int64_t>(); }
  double number() { return value<double>(); }
  std::string string() {
    const std::int64_t count = integer();
    if (!good_ || count < 0 || text_.size() - place_ < static_cast<std::size_t>(count)) return good_ = false, "";
    place_ += static_cast<std::size_t>(count);
    return text_.substr(place_ - static_cast<std::size_t>(count), static_cast<std::size_t>(count));
  }

 private:
  template <class T>
  T value() {
    T result{};
    if (!good_ || text_.size() - place_ < sizeof result) return good_ = false, T{};
    std::memcpy(&result, text_.data() + place_, sizeof result);
    place_ += sizeof result;
    return result;
  }
  const std::string& text_;
  std::size_t place_ = 0;
  bool good_ = true;
};

}  // namespace tileopt
