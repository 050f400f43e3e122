#include "backends/c_common/storage.h"

#include "support/error.h"

namespace tileopt {

std::vector<AstExprPtr> constant_strides(const std::vector<long>& extents) {
  std::vector<AstExprPtr> strides(extents.size());
  long product = 1;
  for (std::size_t d = extents.size(); d-- > 0;) {
    strides[d] = ast_integer(product);
    product *= extents[d];
  }
  return strides;
}

std::vector<AstExprPtr> array_strides(const Array& array) {
  if (array.strides.empty()) return constant_strides({array.extents.begin() + array.agent_dims, array.extents.end()});
  std::vector<AstExprPtr> strides;
  for (const long stride : array.strides) strides.push_back(ast_integer(stride));
  return strides;
}

AstExprPtr StorageTable::stride_variable(const TensorArgument& argument, std::size_t dimension, const AstExprPtr& value) {
  if (value->kind == AstExpr::Kind::integer) return value;
  const std::string key = "stride of " + argument.tensor + " " + std::to_string(dimension);
  names_.declare_value_as(key, argument.name + "_s" + std::to_string(dimension));
  strides_.push_back({key, value});
  return ast_name(key);
}

void StorageTable::add_tensor(const TensorArgument& argument) {
  Storage storage;
  storage.array = argument.tensor;
  storage.name = argument.name;
  storage.element = argument.element;
  storage.kind = argument.by_value ? Storage::Kind::value : Storage::Kind::memory;
  const std::size_t rank = argument.shape.size();
  storage.packed = argument.packed;
  storage.strides.assign(rank, ast_integer(1));
  // Each stride is a variable of its own, so that the next slower one is a product with it.
  for (std::size_t place = rank; place-- > 0;) {
    const std::size_t d = argument.order[place];
    if (!argument.strides.empty()) {
      storage.strides[d] = stride_variable(argument, d, fold(argument.strides[d]));
      continue;
    }
    if (place + 1 == rank) continue;
    const std::size_t faster = argument.order[place + 1];
    const AstExprPtr run = place + 2 == rank && argument.packed ? element_strides(argument)[d] : product_of(storage.strides[faster], fold(argument.shape[faster]));
    storage.strides[d] = stride_variable(argument, d, run);
  }
  storage.dense = is_dense_row_major(argument);
  if (storage.dense && rank > 1) storage.run = argument.shape.back();
  if (rank > 0) {
    storage.unit_dim = argument.order.back();
    storage.scattered = argument.packed || !is_constant(storage.strides[argument.order.back()], 1);
  }
  table_.emplace(argument.tensor, std::move(storage));
}

void StorageTable::add(Storage storage) {
  const std::string key = storage.array;
  table_.insert_or_assign(key, std::move(storage));
}

const Storage& StorageTable::find(const std::string& array) const {
  const auto found = table_.find(array);
  TILEOPT_CHECK(found != table_.end(), "array " + array + " has no storage");
  return found->second;
}

namespace {
/// The subscript whose digits two neighbouring dimensions are: x / c and x mod c, where a step of the first is c steps of the second.
std::optional<AstExprPtr> joined(const AstExprPtr& high, const AstExprPtr& low, const AstExprPtr& high_stride, const AstExprPtr& low_stride) {
  const bool divides = high->kind == AstExpr::Kind::exact_div || high->kind == AstExpr::Kind::floor_div;
  if (!divides || low->kind != AstExpr::Kind::modulo) return std::nullopt;
  const auto radix = constant_value(high->arguments[1]), same = constant_value(low->arguments[1]);
  const auto big = constant_value(high_stride), small = constant_value(low_stride);
  if (!radix || radix != same || !big || !small || *big != *small * *radix) return std::nullopt;
  if (ast_expr_text(high->arguments[0]) != ast_expr_text(low->arguments[0])) return std::nullopt;
  return high->arguments[0];
}
}  // namespace

namespace {
/// `expr` * factor as a sum: every term a constant times what is no sum.
void add_terms(const AstExprPtr& expr, std::int64_t factor, std::vector<std::pair<AstExprPtr, std::int64_t>>& terms) {
  const auto& arguments = expr->arguments;
  std::int64_t scaled = 0;
  switch (expr->kind) {
    case AstExpr::Kind::add:
    case AstExpr::Kind::sub:
      add_terms(arguments[0], factor, terms);
      return add_terms(arguments[1], expr->kind == AstExpr::Kind::sub ? -factor : factor, terms);
    case AstExpr::Kind::negate: return add_terms(arguments[0], -factor, terms);
    case AstExpr::Kind::integer:
      if (__builtin_mul_overflow(expr->value, factor, &scaled)) break;
      if (scaled != 0) terms.emplace_back(ast_integer(1), scaled);
      return;
    case AstExpr::Kind::mul:
      for (const std::size_t constant : {std::size_t{0}, std::size_t{1}}) {
        const auto value = constant_value(arguments[constant]);
        if (value && !__builtin_mul_overflow(*value, factor, &scaled)) return add_terms(arguments[1 - constant], scaled, terms);
      }
      break;
    default: break;
  }
  terms.emplace_back(expr, factor);
}
}  // namespace

std::string StorageTable::flat_offset_c(const Storage& storage, const Subscripts& subscripts) {
  std::string text;
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    const AstExprPtr& stride = storage.strides[d];
    std::set<std::string> names;
    collect_names(stride, names);
    used_strides_.insert(names.begin(), names.end());
    std::vector<std::pair<AstExprPtr, std::int64_t>> terms;
    add_terms(fold(subscripts[d]), 1, terms);
    for (const auto& [term, factor] : terms)
      text += (text.empty() ? "" : " + ") + integer_c(product_of(product_of(ast_integer(factor), term), stride), names_, helpers_, 5);
  }
  return text.empty() ? "0" : text;
}

/// Both subscripts are not negative.
std::string StorageTable::swizzled_c(const Storage& storage, const AstExprPtr& along, const AstExprPtr& by) {
  const std::string last = std::to_string(storage.extents[static_cast<std::size_t>(storage.swizzle.along) + (storage.slots > 0 ? 1 : 0)] - 1);
  return "((" + integer_c(along, names_, helpers_) + ") ^ ((" + integer_c(by, names_, helpers_) + ") & " + last + "))";
}

std::string StorageTable::plain_offset_c(const Storage& storage, const Subscripts& subscripts) {
  Storage plain = storage;
  plain.swizzle = {};
  return offset_c(plain, subscripts);
}

std::string StorageTable::offset_c(const Storage& storage, const Subscripts& subscripts) {
  std::string text;
  const std::size_t first = storage.agent_dims + (storage.slots > 0 ? 1 : 0);
  if (storage.slots > 0)  // positions are not negative
    text = "(int64_t)((uint64_t)(" + integer_c(fold(subscripts[storage.agent_dims]), names_, helpers_) + ") % " + std::to_string(storage.slots) + ") * " +
           integer_c(storage.strides.front(), names_, helpers_, 6);
  const auto swizzled = [&](std::size_t d) { return !storage.swizzle.empty() && d == first + static_cast<std::size_t>(storage.swizzle.along); };
  for (std::size_t d = first; d < subscripts.size(); ++d) {
    if (swizzled(d)) {
      text += (text.empty() ? "" : " + ") + swizzled_c(storage, fold(subscripts[d]), fold(subscripts[first + static_cast<std::size_t>(storage.swizzle.by)])) + " * " +
              integer_c(storage.strides[d - storage.agent_dims], names_, helpers_, 6);
      continue;
    }
    const AstExprPtr* place = &storage.strides[d - storage.agent_dims];
    AstExprPtr subscript = fold(subscripts[d]);
    if (d + 1 < subscripts.size() && !swizzled(d + 1))
      if (const auto whole = joined(subscript, fold(subscripts[d + 1]), place[0], place[1])) {
        subscript = *whole;
        ++place;
        ++d;
      }
    const AstExprPtr& stride = *place;
    const AstExprPtr term = product_of(subscript, stride);
    if (is_constant(term, 0)) continue;
    std::set<std::string> names;
    collect_names(stride, names);
    used_strides_.insert(names.begin(), names.end());
    text += (text.empty() ? "" : " + ") + integer_c(term, names_, helpers_, 5);
  }
  return text.empty() ? "0" : text;
}

std::string StorageTable::vector_name(const Storage& storage, const std::vector<long>& subscripts, long* lane) {
  std::string name = storage.name;
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    const bool last = d + 1 == subscripts.size();
    name += "_" + std::to_string(last ? subscripts[d] / storage.lanes : subscripts[d]);
    if (last) *lane = subscripts[d] % storage.lanes;
  }
  return name;
}

std::string StorageTable::element_c(const Storage& storage, const Subscripts& subscripts) {
  switch (storage.kind) {
    case Storage::Kind::value:
    case Storage::Kind::scalar: return storage.name;
    case Storage::Kind::memory:
      if (storage.packed) {
        const std::string load = "tileopt_packed_" + type_name(storage.element);
        helpers_.use(load);
        return load + "(" + storage.name + ", " + offset_c(storage, subscripts) + ")";
      }
      if (storage.in_registers) {
        long place = 0;
        for (std::size_t d = storage.agent_dims; d < subscripts.size(); ++d) {
          const auto subscript = constant_value(fold(subscripts[d])), stride = constant_value(storage.strides[d - storage.agent_dims]);
          TILEOPT_CHECK(subscript && stride, "subscript of registers " + storage.array);
          place += static_cast<long>(*subscript * *stride);
        }
        return storage.name + "[" + std::to_string(place) + "]";
      }
      return storage.name + "[" + offset_c(storage, subscripts) + "]";
    case Storage::Kind::vectors: break;
  }
  std::vector<long> constants;
  for (std::size_t d = storage.agent_dims; d < subscripts.size(); ++d) {
    const auto value = constant_value(fold(subscripts[d]));
    TILEOPT_CHECK(value.has_value(), "subscript of named vectors " + storage.array);
    constants.push_back(*value);
  }
  long lane = 0;
  const std::string name = vector_name(storage, constants, &lane);
  return storage.lanes == 1 ? name : name + "[" + std::to_string(lane) + "]";
}

bool StorageTable::may_align(const Storage& storage, long bytes, std::string& flag) {
  flag.clear();
  const long elements = bytes / size_bytes(storage.element);
  const bool argument = storage.extents.empty();
  if (storage.kind != Storage::Kind::memory || storage.packed || (argument ? !storage.dense : storage.alignment % bytes != 0 || storage.alignment == 0)) return false;
  std::string test;
  for (std::size_t d = 0; d + 1 < storage.strides.size(); ++d) {
    const AstExprPtr stride = fold(storage.strides[d]);
    if (const auto constant = constant_value(stride)) {
      if (*constant % elements != 0) return false;
      continue;
    }
    // Slower strides are multiples of the fastest one.
    if (d + 2 != storage.strides.size()) continue;
    std::set<std::string> names;
    collect_names(stride, names);
    used_strides_.insert(names.begin(), names.end());
    test = " && " + integer_c(stride, names_, helpers_, 6) + " % " + std::to_string(elements) + " == 0";
  }
  if (!argument) return true;
  const std::string key = storage.array + " aligned to " + std::to_string(bytes);
  flag = names_.declare_value_as(key, storage.name + "_aligned" + std::to_string(bytes));
  alignment_flags_[flag] = "const bool " + flag + " = (uint64_t)" + storage.name + " % " + std::to_string(bytes) + " == 0" + test + ";";
  return true;
}

std::vector<std::string> StorageTable::stride_definitions() {
  // A stride may be a multiple of a faster one: using it uses that too.
  for (const Stride& stride : strides_) {
    (void)stride;
    for (const Stride& user : strides_) {
      if (used_strides_.count(user.key) == 0) continue;
      std::set<std::string> names;
      collect_names(user.value, names);
      used_strides_.insert(names.begin(), names.end());
    }
  }
  std::vector<std::string> lines;
  for (const Stride& stride : strides_)
    if (used_strides_.count(stride.key) != 0)
      lines.push_back("const int64_t " + names_.value(stride.key) + " = " + integer_c(stride.value, names_, helpers_) + ";");
  return lines;
}

}  // namespace tileopt
