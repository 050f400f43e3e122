#include "interpreter/stage_array.h"

#include <algorithm>

#include "interpreter/number.h"
#include "support/error.h"

namespace tileopt {

namespace {
/// A stage whose arrays need more than this is refused rather than left to exhaust memory.
constexpr std::int64_t largest_array = std::int64_t(1) << 27;  // elements
}  // namespace

StageValue convert(StageValue value, ElementType from, ElementType to) {
  if (from == to) return value;
  StageValue result;
  if (is_float(to)) result.real = is_float(from) ? round_to_type(value.real, to) : integer_to_float(value.integer, from, to);
  else result.integer = is_float(from) ? saturate_to_integer(value.real, to) : wrap_integer(value.integer, to);
  return result;
}

StageArray::StageArray(std::string name, ElementType type, std::vector<std::int64_t> shape, const HostArray* argument, bool readable)
    : name_(std::move(name)), type_(type), shape_(std::move(shape)), width_(tuple_components(type).size()) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape_)
    if (__builtin_mul_overflow(count, extent, &count)) count = largest_array + 1;
  if (count > largest_array)
    throw Errors(Diagnostic{ErrorCode::invalid_size, {}, "array `" + name_ + "` has more than 2^27 elements at these sizes",
                            "choose smaller sizes for the stages", ""});
  values_ = std::make_unique<StageValue[]>(static_cast<std::size_t>(count) * width_);
  stamps_.assign(static_cast<std::size_t>(count), readable ? passed_in : 0);
  if (argument == nullptr) return;
  for (std::int64_t i = 0; i < count; ++i) {
    StageValue& value = values_[static_cast<std::size_t>(i)];
    if (is_float(type_)) value.real = argument->get(i);
    else value.integer = argument->get_integer(i);
  }
}

void StageArray::open(const Agents& agents) {
  lifetime_ = ++latest_;
  opened_by_ = agents.current();
}

void StageArray::carry(std::int64_t offset, const StageArray& from, std::int64_t at) {
  spoil(offset);
  if (from.is_tensor()) {
    origins_.resize(stamps_.size());
    origins_[static_cast<std::size_t>(offset)] = {&from, at, lifetime_};
  } else if (!from.origins_.empty()) {
    Origin origin = from.origins_[static_cast<std::size_t>(at)];
    if (origin.array == nullptr || origin.lifetime != from.lifetime_) return;
    origin.lifetime = lifetime_;
    origins_.resize(stamps_.size());
    origins_[static_cast<std::size_t>(offset)] = origin;
  }
}

bool StageArray::returns_to(const StageArray& target, std::int64_t at, std::int64_t offset) const {
  if (origins_.empty() || target.holds_value(at)) return false;
  const Origin& origin = origins_[static_cast<std::size_t>(offset)];
  return origin.array == &target && origin.at == at && origin.lifetime == lifetime_;
}

bool StageArray::note_read(std::int64_t offset, const Agents& agents) {
  if (touches_.empty()) touches_.resize(stamps_.size());
  Touch& touch = touches_[static_cast<std::size_t>(offset)];
  const std::int64_t since = std::max(agents.first(), opened_by_), current = agents.current();
  if (touch.reader < since) touch.several_readers = false;
  else if (touch.reader != current) touch.several_readers = true;
  touch.reader = current;
  return touch.writer < since || touch.writer == current;
}

bool StageArray::note_write(std::int64_t offset, const Agents& agents) {
  if (touches_.empty()) touches_.resize(stamps_.size());
  Touch& touch = touches_[static_cast<std::size_t>(offset)];
  const std::int64_t since = std::max(agents.first(), opened_by_), current = agents.current();
  const bool alone = (touch.writer < since || touch.writer == current) &&
                     (touch.reader < since || (touch.reader == current && !touch.several_readers));
  touch.writer = current;
  return alone;
}

void StageArray::copy_written(HostArray& array) const {
  for (std::size_t i = 0; i < stamps_.size(); ++i) {
    const auto offset = static_cast<std::int64_t>(i);
    if (!written(offset)) continue;
    if (is_float(type_)) array.set(offset, values_[i].real);
    else array.set_integer(offset, values_[i].integer);
  }
}

}  // namespace tileopt
