#include "backends/runner/argument_bytes.h"

#include <cstring>

#include "backends/c_common/integer_c.h"
#include "support/error.h"

namespace tileopt {

namespace {
constexpr std::byte gap{0xa5};

/// Calls `visit` with the place of every element in memory, in row-major order of the subscripts; places count elements.
class Places {
 public:
  Places(const TensorArgument& argument, const HostArray& array, const Sizes& sizes) : shape_(array.shape) {
    for (const AstExprPtr& stride : element_strides(argument)) strides_.push_back(evaluate(stride, sizes));
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      empty_ = empty_ || shape_[d] == 0;
      last_ += strides_[d] * (shape_[d] - 1);
    }
  }

  /// Elements from the first to the last one.
  std::int64_t reach() const { return empty_ ? 0 : last_ + 1; }

  template <class Visit>
  void for_each(Visit&& visit) const {
    if (empty_) return;
    std::vector<std::int64_t> index(shape_.size(), 0);
    for (std::int64_t place = 0;;) {
      visit(place);
      std::size_t d = shape_.size();
      for (; d > 0; --d) {
        place += strides_[d - 1];
        if (++index[d - 1] < shape_[d - 1]) break;
        place -= strides_[d - 1] * shape_[d - 1];
        index[d - 1] = 0;
      }
      if (d == 0) return;
    }
  }

 private:
  std::vector<std::int64_t> shape_, strides_;
  std::int64_t last_ = 0;
  bool empty_ = false;
};

/// Two elements a byte. Rows fill whole bytes, so that the reach, which ends at the last element, is rounded up.
std::vector<std::byte> pack(const Places& places, const HostArray& array) {
  std::vector<std::byte> bytes(static_cast<std::size_t>((places.reach() + 1) / 2), std::byte{0});
  std::int64_t offset = 0;
  places.for_each([&](std::int64_t place) {
    const auto bits = static_cast<unsigned>(array.get_integer(offset++)) & 15u;
    bytes[static_cast<std::size_t>(place / 2)] |= static_cast<std::byte>(place % 2 == 0 ? bits : bits << 4);
  });
  return bytes;
}
}  // namespace

std::vector<std::byte> lay_out(const TensorArgument& argument, const HostArray& array, const Sizes& sizes) {
  if (is_dense_row_major(argument)) return array.bytes;
  const Places places(argument, array, sizes);
  if (argument.packed) return pack(places, array);
  const auto width = static_cast<std::size_t>(size_bytes(argument.element));
  std::vector<std::byte> bytes(static_cast<std::size_t>(places.reach()) * width, gap);
  std::size_t offset = 0;
  places.for_each([&](std::int64_t place) {
    std::memcpy(bytes.data() + static_cast<std::size_t>(place) * width, array.bytes.data() + offset, width);
    offset += width;
  });
  return bytes;
}

void unpack(const TensorArgument& argument, const std::byte* bytes, const Sizes& sizes, HostArray& array) {
  std::int64_t offset = 0;
  Places(argument, array, sizes).for_each([&](std::int64_t place) {
    const int bits = std::to_integer<int>(bytes[place / 2]) >> (place % 2 == 0 ? 0 : 4) & 15;
    array.set_integer(offset++, argument.element == ElementType::i4 && bits > 7 ? bits - 16 : bits);
  });
}

bool take_back(const TensorArgument& argument, const std::vector<std::byte>& bytes, const Sizes& sizes, HostArray& array) {
  TILEOPT_CHECK(!argument.packed, "packed argument " + argument.tensor + " was written");
  if (is_dense_row_major(argument)) {
    array.bytes = bytes;
    return true;
  }
  const Places places(argument, array, sizes);
  const auto width = static_cast<std::size_t>(size_bytes(argument.element));
  std::size_t offset = 0;
  places.for_each([&](std::int64_t place) {
    std::memcpy(array.bytes.data() + offset, bytes.data() + static_cast<std::size_t>(place) * width, width);
    offset += width;
  });
  return lay_out(argument, array, sizes) == bytes;
}

}  // namespace tileopt
