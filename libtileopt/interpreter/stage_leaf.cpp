#include "interpreter/stage_leaf.h"

#include <algorithm>
#include <optional>

#include "interpreter/number.h"
#include "support/error.h"

namespace tileopt {

namespace {
TracedValue traced(StageValue value, ElementType type) {
  return is_float(type) ? TracedValue::exact_real(value.real) : TracedValue::exact_integer(value.integer);
}
StageValue plain(const TracedValue& value, ElementType type) {
  StageValue result;
  if (is_float(type)) result.real = value.real;
  else result.integer = value.integer;
  return result;
}

TracedValue combined(Combine combine, const TracedValue& old, const TracedValue& value, ElementType type) {
  const std::optional<BinaryOp> op = combine_operator(combine);
  TILEOPT_CHECK(op.has_value(), "combine " + combine_name(combine) + " has no operator");
  if (is_float(type)) return TracedValue::exact_real(float_binary(*op, old.real, value.real, type));
  return TracedValue::exact_integer(integer_binary(*op, old.integer, value.integer, type));
}
}  // namespace

StageLeaf::StageLeaf(LeafShape shape, LeafRun& run)
    : shape_(std::move(shape)), run_(run), point_(shape_.radices.size()), extents_(shape_.radices.size()) {
  const auto place = [](const StageOperand& operand) {
    const std::size_t rank = operand.array->shape().size();
    return Place{std::vector<std::int64_t>(rank + 1), std::vector<std::int64_t>(rank), false};
  };
  write_ = place(shape_.write);
  for (const StageOperand& operand : shape_.reads) reads_.push_back(place(operand));
  if (shape_.statement == nullptr) return;
  code_.emplace_back(shape_.statement->body, *run_.model, shape_.statement->combine == Combine::sum);
  for (const Guard& guard : shape_.statement->guards) guards_.emplace_back(guard.iterator, ScalarCode(guard.value, *run_.model, false));
  if (shape_.statement->predicate) predicate_.emplace_back(shape_.statement->predicate, *run_.model, false);
  if (shape_.merge != nullptr) code_.emplace_back(shape_.merge, *run_.model, false);
  // Room for the floor terms of the domain, which are evaluated behind the iterators.
  std::size_t divs = shape_.domain == nullptr ? 0 : count_divs(*shape_.domain);
  iterators_.resize(shape_.statement->iterators.size() + divs + 1);
}

void StageLeaf::begin(LeafCorner& corner) {
  corner_ = &corner;
  write_.known = false;
  for (Place& place : reads_) place.known = false;
}

std::int64_t StageLeaf::guard_value(std::size_t guard, LeafCorner& corner) {
  begin(corner);
  std::fill(point_.begin(), point_.end(), 0);
  return guards_.at(guard).second.evaluate(*this)->integer;
}

std::int64_t StageLeaf::execute(LeafCorner& corner) {
  begin(corner);
  if (shape_.radices.empty()) {
    run_point();
    return 1;
  }
  for (std::size_t b = 0; b < extents_.size(); ++b) {
    extents_[b] = shape_.radices[b];
    if (corner.limited() && !corner.extent(b, &extents_[b])) throw FaultSignal{TreeFault::Kind::undefined, shape_.write.array->name(), {}};
  }
  std::int64_t points = 0;
  std::fill(point_.begin(), point_.end(), 0);
  for (;;) {
    bool inside = true, lost = shape_.kind == LeafKind::compute;
    for (std::size_t b = 0; b < point_.size(); ++b) {
      inside = inside && point_[b] < extents_[b];
      lost = lost && (point_[b] < extents_[b] || shape_.whole[b]);
    }
    if (inside) run_point();
    else if (shape_.zero_fill) store_zero();
    else if (lost) shape_.write.array->spoil(write_offset());
    points += inside || shape_.zero_fill;
    std::size_t b = point_.size();
    while (b > 0 && ++point_[b - 1] == shape_.radices[b - 1]) point_[--b] = 0;
    if (b == 0) break;
  }
  return points;
}

void StageLeaf::run_point() {
  if (shape_.kind == LeafKind::compute) compute();
  else copy();
}

void StageLeaf::store_zero() {
  values_.clear();
  for (const ElementType type : tuple_components(shape_.write.array->type()))
    values_.push_back(plain(is_float(type) ? TracedValue::exact_real(0) : TracedValue::exact_integer(0), type));
  store(write_offset(), values_);
}

/// A copy may carry elements that hold no value into a promoted array: whoever uses one fails there. Into a tensor it may not, but
/// back to where they came from: where data decides what is written, whole tiles go in and out.
void StageLeaf::copy() {
  const StageOperand& source = shape_.reads.front();
  const std::int64_t from = read_offset(0);
  const std::int64_t to = write_offset();
  touch(source, from, reads_.front());
  if (source.array->holds_value(from)) {
    values_.clear();
    for (std::size_t c = 0; c < source.array->width(); ++c)
      values_.push_back(convert(source.array->load(from, c), source.array->type(), shape_.write.array->type()));
    return store(to, values_);
  }
  StageArray& target = *shape_.write.array;
  if (!target.is_tensor()) return target.carry(to, *source.array, from);
  if (!source.array->returns_to(target, to, from)) fail(TreeFault::Kind::uninitialised, source, reads_.front());
  touch_write(to);
}

bool StageLeaf::has_effect() {
  if (!guards_.empty() && !corner_->instance(iterators_.data())) throw FaultSignal{TreeFault::Kind::undefined, shape_.write.array->name(), {}};
  for (auto& [iterator, value] : guards_)
    if (value.evaluate(*this)->integer != iterators_[iterator]) return false;
  return predicate_.empty() || predicate_.front().evaluate(*this)->integer != 0;
}

void StageLeaf::compute() {
  unusable_ = false;
  if (shape_.statement->conditional() && !has_effect()) return;
  const TracedValue* result = code_.front().evaluate(*this);
  const std::int64_t to = write_offset();
  StageArray& target = *shape_.write.array;
  if (shape_.statement->combine != Combine::assign) {
    touch(shape_.write, to, write_);
    if (!target.holds_value(to)) {
      if (!is_padding()) fail(TreeFault::Kind::uninitialised, shape_.write, write_);
      unusable_ = true;
    }
    if (!unusable_) result = combine(result, to);
  }
  if (unusable_) return target.spoil(to);
  const std::vector<ElementType> types = tuple_components(shape_.write.type);
  values_.clear();
  for (std::size_t c = 0; c < types.size(); ++c) {
    const StageValue value = plain(result[c], types[c]);
    values_.push_back(types.size() > 1 ? value : convert(value, types[c], target.type()));
  }
  store(to, values_);
}

const TracedValue* StageLeaf::combine(const TracedValue* value, std::int64_t at) {
  states_.left.clear();
  for (std::size_t c = 0; c < shape_.write.array->width(); ++c) states_.left.push_back(component_of(shape_.write, at, c));
  if (shape_.merge == nullptr) {
    states_.right.assign(1, combined(shape_.statement->combine, states_.left.front(), *value, shape_.write.type));
    return states_.right.data();
  }
  states_.right.assign(value, value + states_.left.size());
  return code_.back().evaluate(states_);
}

TracedValue StageLeaf::component_of(const StageOperand& operand, std::int64_t at, std::size_t component) {
  const StageValue value = operand.array->load(at, component);
  if (is_tuple(operand.type)) return traced(value, tuple_components(operand.type)[component]);
  return traced(convert(value, operand.array->type(), operand.type), operand.type);
}

TracedValue StageLeaf::read(std::size_t access, std::size_t component, bool speculative) {
  const StageOperand& operand = shape_.reads[access];
  const auto unknown = [&] { return TracedValue::unknown(tuple_components(operand.type)[component]); };
  Place& place = reads_[access];
  if (!place.known && !corner_->read(access, place.corner.data())) {
    if (speculative) return unknown();
    throw FaultSignal{TreeFault::Kind::undefined, operand.array->name(), {}};
  }
  place.known = true;
  if (speculative) {
    // The branch is not taken: nothing is known to be inside the array.
    const std::int64_t at = offset(operand, place);
    return at < 0 || !operand.array->holds_value(at) ? unknown() : component_of(operand, at, component);
  }
  const std::int64_t at = locate(operand, place);
  touch(operand, at, place);
  if (!operand.array->holds_value(at)) {
    if (!is_padding()) fail(TreeFault::Kind::uninitialised, operand, place);
    unusable_ = true;
    return unknown();
  }
  return component_of(operand, at, component);
}

std::int64_t StageLeaf::index_value(std::size_t index, bool speculative) {
  std::int64_t value = 0;
  if (!corner_->index(index, &value)) {
    if (speculative) return 0;
    throw FaultSignal{TreeFault::Kind::undefined, shape_.write.array->name(), {}};
  }
  if (index < shape_.index_steps.size())
    for (std::size_t b = 0; b < point_.size(); ++b) value += shape_.index_steps[index][b] * point_[b];
  return value;
}

/// Whether the current point lies outside the program's domain: what it computes may not be used.
bool StageLeaf::is_padding() {
  if (shape_.radices.empty() || shape_.domain == nullptr || !corner_->instance(iterators_.data())) return false;
  const std::size_t count = shape_.statement->iterators.size();
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t b = 0; b < point_.size(); ++b) iterators_[i] += shape_.instance_steps[i][b] * point_[b];
  return !shape_.domain->contains(iterators_.data(), count);
}

/// Row-major offset of the current point's element, or -1 where it is outside the array.
std::int64_t StageLeaf::offset(const StageOperand& operand, Place& place) {
  const std::vector<std::int64_t>& shape = operand.array->shape();
  std::int64_t at = 0;
  bool inside = true;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::int64_t subscript = place.corner[d];
    if (!point_.empty())
      for (std::size_t b = 0; b < point_.size(); ++b) subscript += operand.steps[d][b] * point_[b];
    place.element[d] = subscript;
    inside = inside && subscript >= 0 && subscript < shape[d];
    at = at * shape[d] + subscript;
  }
  return inside ? at : -1;
}

std::int64_t StageLeaf::locate(const StageOperand& operand, Place& place) {
  const std::int64_t at = offset(operand, place);
  if (at < 0) [[unlikely]] fail(TreeFault::Kind::out_of_bounds, operand, place);
  return at;
}

std::int64_t StageLeaf::write_offset() {
  if (!write_.known && !corner_->write(write_.corner.data())) throw FaultSignal{TreeFault::Kind::undefined, shape_.write.array->name(), {}};
  write_.known = true;
  return locate(shape_.write, write_);
}

std::int64_t StageLeaf::read_offset(std::size_t access) {
  Place& place = reads_[access];
  if (!place.known && !corner_->read(access, place.corner.data()))
    throw FaultSignal{TreeFault::Kind::undefined, shape_.reads[access].array->name(), {}};
  place.known = true;
  return locate(shape_.reads[access], place);
}

void StageLeaf::touch(const StageOperand& operand, std::int64_t at, const Place& place) {
  if (run_.find_races && run_.agents->parallel() && !operand.array->note_read(at, *run_.agents)) [[unlikely]]
    fail(TreeFault::Kind::race, operand, place);
}

void StageLeaf::touch_write(std::int64_t at) {
  if (run_.find_races && run_.agents->parallel() && !shape_.write.array->note_write(at, *run_.agents)) [[unlikely]]
    fail(TreeFault::Kind::race, shape_.write, write_);
}

void StageLeaf::store(std::int64_t at, const std::vector<StageValue>& values) {
  StageArray& target = *shape_.write.array;
  // Atomic updates of one element may meet; the read that each makes keeps out everybody who writes otherwise.
  if (!shape_.atomic) touch_write(at);
  target.store(at, values.data());
  if (run_.watched == &target && run_.watched_offset == at) run_.watched_written = true;
}

void StageLeaf::fail(TreeFault::Kind kind, const StageOperand& operand, const Place& place) const {
  throw FaultSignal{kind, operand.array->name(), place.element};
}

}  // namespace tileopt
