#include "backends/c_common/vector_leaf.h"

#include <algorithm>
#include <set>

#include "backends/c_common/scalar_c.h"
#include "backends/c_common/leaf_printer.h"
#include "support/text.h"

namespace tileopt {

bool lines_up(const LeafOperand& operand, int lanes) {
  if (!operand.storage->named() || operand.storage->lanes != lanes) return false;
  const std::size_t digits = operand.steps.back().size();
  if (!operand.contiguous(digits - 1)) return false;
  const auto corner = constant_value(fold(operand.corner.back()));
  if (!corner || *corner % lanes != 0) return false;
  for (std::size_t b = 0; b + 1 < digits; ++b)
    if (operand.steps.back()[b] % lanes != 0) return false;
  return true;
}

namespace {
long largest_power_of_two_dividing(long value, long limit) {
  long power = 1;
  while (power * 2 <= limit && value % (power * 2) == 0) power *= 2;
  return power;
}
}  // namespace

VectorLeaf::VectorLeaf(const LeafView& leaf, CWriter& out, StorageTable& storage, const CNames& names, Helpers& helpers, int vector_bytes)
    : leaf_(leaf), out_(out), storage_(storage), names_(names), helpers_(helpers) {
  raw_copy_ = leaf.copy && in_memory(leaf.write) && in_memory(leaf.reads[0]) && leaf.write.storage->element == leaf.reads[0].storage->element;
  folded_ = !leaf_.radices.empty() && leaf_.write.still(leaf_.radices.size() - 1);
  lanes_ = choose_lanes(vector_bytes);
  keeps_ = leaf_.radices.empty() || !leaf_.statement->box.back().whole;
}

/// Lanes may be combined in any order, and the element is known to the accumulation alone.
bool VectorLeaf::folds(ElementType element) const {
  const bool exact = !is_float(element);
  const bool alone = std::none_of(leaf_.reads.begin(), leaf_.reads.end(), [&](const LeafOperand& read) { return read.storage == leaf_.write.storage; });
  return (leaf_.reassociate || exact) && alone && leaf_.type == element && has_fold(leaf_.combine, element) && !leaf_.write.storage->packed;
}

int VectorLeaf::choose_lanes(int vector_bytes) const {
  if (vector_bytes == 0 || leaf_.radices.empty() || leaf_.order_matters() || leaf_.type == ElementType::boolean) return 1;
  if (leaf_.combine == Combine::monoid || is_tuple(leaf_.write.storage->element)) return 1;
  const std::size_t last = leaf_.radices.size() - 1;
  if (folded_ && !folds(leaf_.write.storage->element)) return 1;
  if (!raw_copy_ && !has_vector_form(leaf_.body)) return 1;
  int bytes = raw_copy_ ? size_bytes(leaf_.write.storage->element) : widest_element(leaf_.body);
  if (!raw_copy_) bytes = std::max(bytes, size_bytes(compute_type(leaf_.write.storage->element)));
  long lanes = largest_power_of_two_dividing(leaf_.radices[last], vector_bytes / bytes);
  for (const LeafOperand* operand : {&leaf_.write, leaf_.reads.empty() ? &leaf_.write : &leaf_.reads[0]})
    if (!(folded_ && operand == &leaf_.write) && operand->storage->named() && operand->storage->lanes > 1 && leaf_.radices[last] % operand->storage->lanes == 0)
      lanes = operand->storage->lanes;
  if (lanes * bytes < 16) return 1;
  // A strided copy moves element by element: building vectors of gathered elements gains nothing.
  const bool square = !leaf_.reads.empty() && leaf_.radices.size() == 2 && leaf_.radices[0] == lanes && leaf_.radices[1] == lanes && moves_as_is(leaf_.reads[0], 0);
  if (leaf_.copy && !(leaf_.write.contiguous(last) && (square || leaf_.reads[0].contiguous(last)))) return 1;
  if (leaf_.points() / lanes > kLargestUnroll) return 1;
  return static_cast<int>(lanes);
}

std::vector<long> VectorLeaf::lane_point(std::vector<long> point, long lane) const {
  point.back() += lane;
  return point;
}

std::set<std::size_t> VectorLeaf::used_reads() const {
  std::set<std::size_t> used;
  walk_expr(leaf_.body, [&](const Expr& e) {
    if (const auto* read = std::get_if<Read>(&e.node)) used.insert(read->access);
  });
  return used;
}

void VectorLeaf::print_pointers(const std::set<std::size_t>& used) {
  const auto pointer = [&](const LeafOperand& operand, bool written) {
    if (!in_memory(operand)) return std::string();
    const std::string name = names_.fresh("p" + std::to_string(pointers_.size()));
    const std::string type = storage_type_c(operand.storage->element);
    out_.line((written ? "" : "const ") + type + "* const " + name + " = " + operand.storage->name + " + (" +
              storage_.offset_c(*operand.storage, operand.corner) + ");");
    return name;
  };
  pointers_.push_back(pointer(leaf_.write, true));
  for (std::size_t r = 0; r < leaf_.reads.size(); ++r) pointers_.push_back(used.count(r) != 0 ? pointer(leaf_.reads[r], false) : "");
}

void VectorLeaf::print_fetch_addresses(const std::set<std::size_t>& used) {
  for (std::size_t r = 0; r < leaf_.ahead.size(); ++r) {
    const LeafOperand& read = leaf_.reads[r];
    if (leaf_.ahead[r].empty() || used.count(r) == 0 || !in_memory(read) || !(read.contiguous(leaf_.radices.size() - 1) || turns(read))) continue;
    ahead_[r] = names_.fresh("q" + std::to_string(r));
    out_.line("const uintptr_t " + ahead_[r] + " = (uintptr_t)" + read.storage->name + " + " + std::to_string(size_bytes(read.storage->element)) +
              " * (uintptr_t)(" + storage_.offset_c(*read.storage, leaf_.ahead[r]) + ");");
  }
}

bool VectorLeaf::declares() const { return folded_ || !leaf_.reads.empty() || !lines_up(leaf_.write, lanes_); }

void VectorLeaf::for_each_row(const std::function<void(std::vector<long>&)>& visit) {
  const std::size_t last = leaf_.radices.size() - 1;
  std::vector<long> point(leaf_.radices.size(), 0);
  while (true) {
    point[last] = 0;
    visit(point);
    std::size_t d = last;
    while (d > 0 && ++point[d - 1] >= leaf_.radices[d - 1]) point[--d] = 0;
    if (d == 0) return;
  }
}

bool VectorLeaf::turns(const LeafOperand& operand) const {
  return leaf_.radices.size() == 2 && leaf_.radices[0] == lanes_ && leaf_.radices[1] == lanes_ && operand.storage != leaf_.write.storage &&
         !operand.still(1) && !operand.contiguous(1) && moves_as_is(operand, 0);
}

void VectorLeaf::print_turned_loads(const std::vector<AstExprPtr>& extents) {
  for (std::size_t r = 0; r < leaf_.reads.size(); ++r) {
    const LeafOperand& read = leaf_.reads[r];
    if (pointers_[r + 1].empty() || !turns(read)) continue;
    const ElementType element = read.storage->element;
    const std::string suffix = type_name(element) + "x@", vector = helpers_.vector_type(element, lanes_);
    std::vector<std::string> lines;
    for (long line = 0; line < lanes_; ++line) {
      const std::string address = "&" + memory_element(read, r + 1, {0, line});
      std::string text = "*(const " + vector + "_u*)" + address;
      if (!extents.empty()) {
        text = helpers_.use("tileopt_load_part_" + suffix, lanes_) + "(" + address + ", " + integer_c(extents[0], names_, helpers_) + ")";
        text = integer_c(extents[1], names_, helpers_, 3) + " > " + std::to_string(line) + " ? " + text + " : (" + vector + "){0}";
      } else if (ahead_.count(r) != 0) {
        Subscripts delta;
        for (const long step : read.delta({0, line})) delta.push_back(ast_integer(step));
        out_.line("__builtin_prefetch((const void*)(" + ahead_.at(r) + " + " + std::to_string(size_bytes(element)) + " * (uintptr_t)(" +
                  storage_.offset_c(*read.storage, delta) + ")));");
      }
      lines.push_back(names_.fresh("t"));
      out_.line("const " + vector + " " + lines.back() + " = " + text + ";");
    }
    const std::string low = helpers_.use("tileopt_low_" + suffix, lanes_), high = helpers_.use("tileopt_high_" + suffix, lanes_);
    for (long step = 1; step < lanes_; step *= 2) {
      std::vector<std::string> next;
      for (long pair = 0; pair < lanes_ / 2; ++pair)
        for (const std::string* half : {&low, &high}) {
          next.push_back(names_.fresh("t"));
          out_.line("const " + vector + " " + next.back() + " = " + *half + "(" + lines[static_cast<std::size_t>(pair)] + ", " +
                    lines[static_cast<std::size_t>(pair + lanes_ / 2)] + ");");
        }
      lines = std::move(next);
    }
    turned_[r + 1] = std::move(lines);
    ahead_.erase(r);
  }
}

void VectorLeaf::print() {
  const std::set<std::size_t> used = used_reads();
  print_fetch_addresses(used);
  print_pointers(used);
  print_turned_loads({});
  for_each_row([&](std::vector<long>& point) {
    if (folded_) return print_folded_row(point);
    for (; point.back() < leaf_.radices.back(); point.back() += lanes_) {
      print_fetches(point);
      print_statement(point);
    }
  });
}

/// Addresses beyond the data are harmless: a fetch never faults.
void VectorLeaf::print_fetches(const std::vector<long>& point) {
  constexpr long kLine = 64;
  std::set<std::string> fetched;
  for (const auto& [r, corner] : ahead_) {
    const LeafOperand& read = leaf_.reads[r];
    Subscripts delta;
    for (const long step : read.delta(point)) delta.push_back(ast_integer(step));
    const long bytes = size_bytes(read.storage->element);
    if (point.back() * bytes % kLine != 0 && point.back() * bytes / kLine == (point.back() + lanes_ - 1) * bytes / kLine) continue;
    const std::string line = "__builtin_prefetch((const void*)(" + corner + " + " + std::to_string(bytes) + " * (uintptr_t)(" + storage_.offset_c(*read.storage, delta) + ")));";
    if (fetched.insert(line).second) out_.line(line);
  }
}

/// Four chains, so that one combination need not wait for the one before it.
void VectorLeaf::print_folded_row(std::vector<long> point) {
  constexpr std::size_t kChains = 4;
  const VectorContext context = context_at(point);
  const std::string type = helpers_.vector_type(leaf_.type, lanes_);
  std::vector<std::string> chains;
  std::size_t chunk = 0;
  for (; point.back() < leaf_.radices.back(); point.back() += lanes_, ++chunk) {
    print_fetches(point);
    const VectorValue value = vector_c(leaf_.body, context_at(point));
    if (chains.size() < kChains) {
      chains.push_back(names_.fresh("a"));
      out_.line(type + " " + chains.back() + " = " + without_parentheses(as_vector_c(value, leaf_.type, context)) + ";");
      continue;
    }
    const std::string& chain = chains[chunk % kChains];
    out_.line(chain + " = " + without_parentheses(combine_vector_c(leaf_.combine, leaf_.type, chain, value, context)) + ";");
  }
  for (; chains.size() > 1; chains.resize((chains.size() + 1) / 2)) {
    const std::size_t half = (chains.size() + 1) / 2;
    for (std::size_t c = 0; c + half < chains.size(); ++c)
      out_.line(chains[c] + " = " + without_parentheses(combine_vector_c(leaf_.combine, leaf_.type, chains[c], {chains[c + half], false}, context)) + ";");
  }
  point.back() = 0;
  store_folded(chains.front(), point);
}

void VectorLeaf::store_folded(const std::string& accumulator, const std::vector<long>& point) {
  const std::string element = in_memory(leaf_.write) ? memory_element(leaf_.write, 0, point) : storage_.element_c(*leaf_.write.storage, leaf_.write.at(point));
  out_.line(store_statement(leaf_, element, fold_vector_c(leaf_.combine, leaf_.type, accumulator, context_at(point)), helpers_));
}

/// Some statement of the box reads the value that another one has read.
bool VectorLeaf::reused(const LeafOperand& operand) const {
  const std::size_t last = leaf_.radices.size() - 1;
  if (operand.still(last) && leaf_.radices[last] > lanes_) return true;
  for (std::size_t b = 0; b < last; ++b)
    if (operand.still(b) && leaf_.radices[b] > 1) return true;
  return false;
}

std::string VectorLeaf::memory_element(const LeafOperand& operand, std::size_t slot, const std::vector<long>& point) {
  Subscripts delta;
  for (const long step : operand.delta(point)) delta.push_back(ast_integer(step));
  const std::string offset = storage_.offset_c(*operand.storage, delta);
  if (chunk_.empty() || operand.still(leaf_.radices.size() - 1)) return pointers_[slot] + "[" + offset + "]";
  return pointers_[slot] + "[" + (offset == "0" ? "" : offset + " + ") + chunk_ + "]";
}

std::string named_vector(const LeafOperand& operand, const std::vector<long>& point) {
  std::vector<long> subscripts;
  for (const AstExprPtr& subscript : operand.at(point)) subscripts.push_back(*constant_value(fold(subscript)));
  long lane = 0;
  return StorageTable::vector_name(*operand.storage, subscripts, &lane);
}

std::string VectorLeaf::widen(const LeafOperand& operand, const std::string& stored) {
  const ElementType element = operand.storage->element;
  if (element == ElementType::bf16) {
    return helpers_.use("tileopt_load_bf16x@", lanes_) + "(" + stored + ")";
  }
  if (element == ElementType::f16) {
    return helpers_.use("tileopt_load_f16x@", lanes_) + "(" + stored + ")";
  }
  return stored;
}

std::string VectorLeaf::load_text(const LeafOperand& operand, std::size_t slot, const std::vector<long>& point, bool* uniform) {
  const std::size_t last = leaf_.radices.size() - 1;
  const ElementType element = operand.storage->element;
  *uniform = operand.still(last);
  if (const auto turned = turned_.find(slot); turned != turned_.end())
    return convert_vector_exactly(element, operand.type, turned->second[static_cast<std::size_t>(point[0])], lanes_, helpers_);
  if (*uniform) {
    const std::string text = in_memory(operand) ? memory_element(operand, slot, point) : storage_.element_c(*operand.storage, operand.at(point));
    return stored_value(operand, text, helpers_);
  }
  if (in_memory(operand) && operand.contiguous(last)) {
    const std::string type = helpers_.vector_type(element, lanes_);
    const std::string address = "&" + memory_element(operand, slot, point);
    const std::string stored = part_.empty() ? "*(const " + type + "_u*)" + address
                                             : helpers_.use("tileopt_load_part_" + type_name(element) + "x@", lanes_) + "(" + address + ", " + part_ + ")";
    return convert_vector_exactly(element, operand.type, widen(operand, stored), lanes_, helpers_);
  }
  if (lines_up(operand, lanes_)) return convert_vector_exactly(element, operand.type, named_vector(operand, point), lanes_, helpers_);
  std::vector<std::string> parts;
  for (long lane = 0; lane < lanes_; ++lane) {
    const std::vector<long> at = lane_point(point, lane);
    const std::string text = in_memory(operand) ? memory_element(operand, slot, at) : storage_.element_c(*operand.storage, operand.at(at));
    parts.push_back(stored_value(operand, text, helpers_));
  }
  return "(" + helpers_.vector_type(compute_type(operand.type), lanes_) + "){" + join(parts, ", ") + "}";
}

VectorValue VectorLeaf::load(std::size_t access, const std::vector<long>& point) {
  const LeafOperand& operand = leaf_.reads[access];
  bool uniform = false;
  if (raw_copy_ && part_.empty() && turned_.empty()) {
    return {"*(const " + helpers_.vector_type(operand.storage->element, lanes_) + "_u*)&" + memory_element(operand, access + 1, point), false};
  }
  if (operand.storage == leaf_.write.storage || !reused(operand)) {
    std::string text = load_text(operand, access + 1, point, &uniform);
    const bool bare = text.find_first_of(" *&") == std::string::npos;
    return {bare ? text : "(" + text + ")", uniform};
  }
  std::string key = std::to_string(access) + ":";
  for (const long step : operand.delta(point)) key += std::to_string(step) + ",";
  const auto found = loaded_.find(key);
  if (found != loaded_.end()) return found->second;
  const std::string text = load_text(operand, access + 1, point, &uniform);
  if (!in_memory(operand) && text.find_first_of("({[") == std::string::npos) return loaded_.emplace(key, VectorValue{text, uniform}).first->second;
  const std::string name = names_.fresh((uniform ? "s" : "v") + std::to_string(access));
  const std::string type = uniform ? compute_type_c(operand.type) : helpers_.vector_type(compute_type(operand.type), lanes_);
  out_.line("const " + type + " " + name + " = " + text + ";");
  return loaded_.emplace(key, VectorValue{name, uniform}).first->second;
}

std::string VectorLeaf::index_value(std::size_t index, ElementType type, const std::vector<long>& point, bool* uniform) {
  std::vector<AstExprPtr> at;
  for (const long coordinate : point) at.push_back(ast_integer(coordinate));
  const long step = leaf_.statement->index_steps[index].back();
  const std::string corner = "(" + compute_type_c(type) + ")(" + integer_c(fold(leaf_.index_at(index, at)), names_, helpers_) +
                             (chunk_.empty() || step == 0 ? "" : " + " + std::to_string(step) + " * " + chunk_) + ")";
  *uniform = step == 0;
  if (*uniform) return corner;
  std::vector<std::string> ramp;
  for (long lane = 0; lane < lanes_; ++lane) ramp.push_back(std::to_string(lane * step));
  const std::string vector = helpers_.vector_type(type, lanes_);
  return "(" + helpers_.use("tileopt_splat_" + type_name(type) + "x@", lanes_) + "(" + corner + ") + (" + vector + "){" + join(ramp, ", ") + "})";
}

VectorContext VectorLeaf::context_at(const std::vector<long>& point) {
  return {lanes_, [this, point](std::size_t access) { return load(access, point); },
          [this, point](std::size_t index, ElementType type) {
            bool uniform = false;
            std::string text = index_value(index, type, point, &uniform);
            return VectorValue{std::move(text), uniform};
          },
          helpers_};
}

void VectorLeaf::print_statement(const std::vector<long>& point) {
  const VectorContext context = context_at(point);
  if (raw_copy_ && part_.empty() && turned_.empty() && leaf_.streams())
    return out_.line(helpers_.use("tileopt_stream_" + storage_name(leaf_.write.storage->element) + "x@", lanes_) + "(&" + memory_element(leaf_.write, 0, point) +
                     ", " + load(0, point).text + ");");
  if (raw_copy_ && part_.empty() && turned_.empty()) return out_.line("*(" + helpers_.vector_type(leaf_.write.storage->element, lanes_) + "_u*)&" +
                                  memory_element(leaf_.write, 0, point) + " = " + load(0, point).text + ";");
  const VectorValue value = vector_c(leaf_.body, context);
  const ElementType element = leaf_.write.storage->element;
  const bool plain = element == leaf_.type && (element == ElementType::f32 || element == ElementType::f64);
  const bool compound = plain && (leaf_.combine == Combine::sum || leaf_.combine == Combine::prod);
  const std::size_t last = leaf_.radices.size() - 1;
  const bool vector_target = lines_up(leaf_.write, lanes_) || (part_.empty() && in_memory(leaf_.write) && leaf_.write.contiguous(last));
  if (compound && vector_target && !part_.empty() && keeps_) {
    const std::string target = named_vector(leaf_.write, point);
    return assign(target, element, target + (leaf_.combine == Combine::sum ? " + " : " * ") + value.text);
  }
  if (compound && vector_target) {
    const std::string target = in_memory(leaf_.write) ? "*(" + helpers_.vector_type(element, lanes_) + "_u*)&" + memory_element(leaf_.write, 0, point)
                                                      : named_vector(leaf_.write, point);
    return out_.line(target + (leaf_.combine == Combine::sum ? " += " : " *= ") + without_parentheses(value.text) + ";");
  }
  std::string result;
  if (leaf_.combine == Combine::assign) {
    result = as_vector_c(value, leaf_.type, context);
  } else {
    bool uniform = false;
    const std::string old = load_text(leaf_.write, 0, point, &uniform);
    result = combine_vector_c(leaf_.combine, leaf_.type, "(" + old + ")", value, context);
  }
  store(result, point);
}

void VectorLeaf::assign(const std::string& vector, ElementType element, const std::string& value) {
  if (part_.empty() || !keeps_) return out_.line(vector + " = " + value + ";");
  out_.line(vector + " = " + helpers_.use("tileopt_keep_part_" + type_name(element) + "x@", lanes_) + "(" + vector + ", " + value + ", " + part_ + ");");
}

void VectorLeaf::store(const std::string& value, const std::vector<long>& point) {
  const LeafOperand& write = leaf_.write;
  const ElementType element = write.storage->element;
  const std::size_t last = leaf_.radices.size() - 1;
  const std::string kept = convert_vector_exactly(leaf_.type, element, value, lanes_, helpers_);
  if (lines_up(write, lanes_)) return assign(named_vector(write, point), compute_type(element), without_parentheses(kept));
  if (in_memory(write) && write.contiguous(last)) {
    std::string stored = kept;
    for (const auto& [type, stem] : {std::pair(ElementType::bf16, "tileopt_store_bf16x@"), std::pair(ElementType::f16, "tileopt_store_f16x@")}) {
      if (element != type) continue;
      stored = helpers_.use(stem, lanes_) + "(" + without_parentheses(kept) + ")";
    }
    if (!part_.empty())
      return out_.line(helpers_.use("tileopt_store_part_" + type_name(element) + "x@", lanes_) + "(&" + memory_element(write, 0, point) + ", " +
                       without_parentheses(stored) + ", " + part_ + ");");
    if (leaf_.streams())
      return out_.line(helpers_.use("tileopt_stream_" + storage_name(element) + "x@", lanes_) + "(&" + memory_element(write, 0, point) + ", " +
                       without_parentheses(stored) + ");");
    return out_.line("*(" + helpers_.vector_type(element, lanes_) + "_u*)&" + memory_element(write, 0, point) + " = " + without_parentheses(stored) + ";");
  }
  const std::string name = names_.fresh("r");
  out_.line("const " + helpers_.vector_type(compute_type(element), lanes_) + " " + name + " = " + without_parentheses(kept) + ";");
  for (long lane = 0; lane < lanes_; ++lane) {
    const std::vector<long> at = lane_point(point, lane);
    const std::string target = in_memory(write) ? memory_element(write, 0, at) : storage_.element_c(*write.storage, write.at(at));
    const std::string one = name + "[" + std::to_string(lane) + "]";
    out_.line(target + " = " + (in_memory(write) ? store_c(element, one, helpers_) : one) + ";");
  }
}

}  // namespace tileopt
