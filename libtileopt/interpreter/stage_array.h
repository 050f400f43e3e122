/// Storage of one array while a stage runs: values in the element type that the stage declares, which elements hold one, and
/// who touched them last.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "interpreter/host_array.h"

namespace tileopt {

/// A number of some element type, held as number.h says.
union StageValue {
  double real;
  std::int64_t integer;
};

/// `value` of type `from` in type `to`; exact where `to` is wider.
StageValue convert(StageValue value, ElementType from, ElementType to);

/// Who runs, for the detection of races: iterations of a band on an independent level are different agents. Only the outermost
/// such band counts.
class Agents {
 public:
  /// Another kernel starts: all that ran before is ordered before it.
  void launch() {
    depth_ = 0;
    ++current_;
  }
  void fork() {
    if (depth_++ == 0) first_ = current_ + 1;
  }
  void next() {
    if (depth_ == 1) ++current_;
  }
  void join() {
    if (--depth_ == 0) ++current_;
  }
  bool parallel() const { return depth_ > 0; }
  std::int64_t current() const { return current_; }
  std::int64_t first() const { return first_; }  ///< the first agent of the band that runs

 private:
  std::int64_t current_ = 0, first_ = 0;
  int depth_ = 0;
};

class StageArray {
 public:
  /// A tensor of the program. `argument`: what the caller passes in, or null; its elements hold values where `readable`.
  StageArray(std::string name, ElementType type, std::vector<std::int64_t> shape, const HostArray* argument, bool readable);
  /// A promoted array; no element holds a value before `open`.
  StageArray(std::string name, ElementType type, std::vector<std::int64_t> shape)
      : StageArray(std::move(name), type, std::move(shape), nullptr, false) { tensor_ = false; }

  const std::string& name() const { return name_; }
  ElementType type() const { return type_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  bool is_tensor() const { return tensor_; }
  std::size_t width() const { return width_; }  ///< values of one element: the components of a tuple

  /// A new lifetime: all values are gone. Storage that opens inside a parallel band belongs to the agent that opens it.
  void open(const Agents& agents);
  bool holds_value(std::int64_t offset) const { return stamps_[static_cast<std::size_t>(offset)] >= lifetime_; }
  bool written(std::int64_t offset) const { return stamps_[static_cast<std::size_t>(offset)] > passed_in; }
  StageValue load(std::int64_t offset, std::size_t component = 0) const {
    return values_[static_cast<std::size_t>(offset) * width_ + component];
  }
  /// `values`: of all components.
  void store(std::int64_t offset, const StageValue* values) {
    for (std::size_t c = 0; c < width_; ++c) values_[static_cast<std::size_t>(offset) * width_ + c] = values[c];
    stamps_[static_cast<std::size_t>(offset)] = latest_;
  }
  /// The element is written with something that must not be used: what a padded leaf computes beyond the data.
  void spoil(std::int64_t offset) {
    stamps_[static_cast<std::size_t>(offset)] = 0;
    if (!origins_.empty()) origins_[static_cast<std::size_t>(offset)].array = nullptr;
  }
  /// The element holds no value, but what lies in an element of a tensor: that of `from`, or the one whose content that carries.
  void carry(std::int64_t offset, const StageArray& from, std::int64_t at);
  /// Whether writing the element to `target` would change nothing: it came from there, and both hold no value.
  bool returns_to(const StageArray& target, std::int64_t at, std::int64_t offset) const;

  /// False where another agent of the same parallel band touched the element and one of the two writes.
  bool note_read(std::int64_t offset, const Agents& agents);
  bool note_write(std::int64_t offset, const Agents& agents);

  /// Writes the values of the elements that the run wrote into `array`.
  void copy_written(HostArray& array) const;

 private:
  static constexpr std::uint32_t passed_in = 1;  ///< stamp of a caller's value; a run's are larger
  struct Touch {
    std::int64_t writer = -1;
    std::int64_t reader = -1;
    bool several_readers = false;
  };
  struct Origin {
    const StageArray* array = nullptr;
    std::int64_t at = 0;
    std::uint32_t lifetime = 0;  ///< of the array that carries it
  };

  std::string name_;
  ElementType type_;
  std::vector<std::int64_t> shape_;
  std::size_t width_;
  bool tensor_ = true;
  std::unique_ptr<StageValue[]> values_;
  std::vector<std::uint32_t> stamps_;  ///< lifetime in which the element got its value; 0: it holds none
  std::uint32_t lifetime_ = passed_in, latest_ = passed_in + 1;
  std::vector<Origin> origins_;        ///< empty until an element without a value is copied in
  std::vector<Touch> touches_;         ///< empty until a parallel band touches the array
  std::int64_t opened_by_ = 0;
};

}  // namespace tileopt
