#include "backends/c_common/leaf_printer.h"

#include <algorithm>

#include "backends/c_common/dot_leaf.h"
#include "backends/c_common/refusal.h"
#include "backends/c_common/shared_c.h"
#include "backends/c_common/vector_leaf.h"
#include "backends/c_common/word_leaf.h"
#include "support/text.h"

namespace tileopt {

namespace {
constexpr long kFewPoints = 16;

bool is_memory(const Storage& storage) { return storage.kind == Storage::Kind::memory || storage.kind == Storage::Kind::value; }

/// Values that are equal in both compute types.
std::string exact_cast(ElementType from, ElementType to, const std::string& value) {
  if (compute_type(from) == compute_type(to)) return value;
  return "(" + compute_type_c(to) + ")" + value;
}

std::vector<AstExprPtr> constants(const std::vector<long>& values) {
  std::vector<AstExprPtr> exprs;
  for (const long value : values) exprs.push_back(ast_integer(value));
  return exprs;
}

enum class Coverage { whole, part, unknown };

Coverage coverage_of(const LeafView& leaf) {
  Coverage result = Coverage::whole;
  for (std::size_t b = 0; b < leaf.extents.size(); ++b) {
    const auto extent = constant_value(fold(leaf.extents[b]));
    if (!extent) {
      if (result == Coverage::whole) result = Coverage::unknown;
    } else if (*extent < leaf.radices[b]) {
      return Coverage::part;
    }
  }
  return result;
}

/// Calls `visit` on every point of the box, in order.
template <class Visit>
void for_each_point(const std::vector<long>& radices, Visit&& visit) {
  std::vector<long> point(radices.size(), 0);
  while (true) {
    visit(point);
    std::size_t d = radices.size();
    while (d > 0 && ++point[d - 1] == radices[d - 1]) point[--d] = 0;
    if (d == 0) return;
  }
}
}  // namespace

std::string stored_value(const LeafOperand& operand, const std::string& element, Helpers& helpers) {
  const Storage& storage = *operand.storage;
  const std::string value = is_memory(storage) ? load_c(storage.element, element, helpers) : element;
  return exact_cast(storage.element, operand.type, value);
}

std::string store_statement(const LeafView& leaf, const std::string& element, const std::string& value, Helpers& helpers) {
  const LeafOperand& write = leaf.write;
  const Combine combine = leaf.combine;
  const Storage& storage = *write.storage;
  const bool plain = storage.element == write.type && (write.type == ElementType::f32 || write.type == ElementType::f64);
  if (plain && combine == Combine::sum) return element + " += " + without_parentheses(value) + ";";
  if (plain && combine == Combine::prod) return element + " *= " + value + ";";
  const std::string old = combine == Combine::assign ? "" : stored_value(write, element, helpers);
  const std::string combined = combine == Combine::monoid ? monoid_c(*leaf.monoid, old, value, helpers)
                                                          : combine_c(combine, write.type, old, value, helpers);
  std::string result = exact_cast(write.type, storage.element, combined);
  if (is_memory(storage)) result = store_c(storage.element, result, helpers);
  return element + " = " + without_parentheses(result) + ";";
}

/// `element op= value`, of integers without a sign: they wrap.
std::string atomic_statement(const LeafView& leaf, const std::string& element, const std::string& value) {
  const ElementType type = leaf.write.storage->element;
  if (!is_memory(*leaf.write.storage) || type != leaf.write.type) refuse("atom", leaf.statement->name, "an atomic update needs its element in memory");
  const std::string op = leaf.combine == Combine::bit_and ? "&" : leaf.combine == Combine::bit_or ? "|" : leaf.combine == Combine::bit_xor ? "^" : "+";
  if (is_float(type)) return element + " " + op + "= " + without_parentheses(value) + ";";
  const std::string word = "uint" + std::to_string(8 * size_bytes(type)) + "_t";
  return "*(" + word + "*)&" + element + " " + op + "= (" + word + ")(" + without_parentheses(value) + ");";
}

/// `tileopt_atomic_add_f32(&element, value)`. Devices have atomic operations on 4 and 8 bytes.
std::string atomic_call(const LeafView& leaf, const std::string& element, const std::string& value, Helpers& helpers) {
  const ElementType type = leaf.write.storage->element;
  if (!is_memory(*leaf.write.storage) || type != leaf.write.type) refuse("atom", leaf.statement->name, "an atomic update needs its element in memory");
  if (size_bytes(type) < 4) refuse("atom", leaf.statement->name, "no atomic operation of a device updates an element of type " + type_name(type));
  const std::string op = leaf.combine == Combine::bit_and ? "and" : leaf.combine == Combine::bit_or ? "or" : leaf.combine == Combine::bit_xor ? "xor" : "add";
  const std::string name = "tileopt_atomic_" + op + "_" + (is_float(type) ? type_name(type) : "u" + std::to_string(8 * size_bytes(type)));
  helpers.request(name);
  return name + "(&" + element + ", " + without_parentheses(value) + ");";
}

bool touches_named(const LeafView& leaf) {
  const auto has_no_address = [](const LeafOperand& operand) { return operand.storage->named() || operand.storage->in_registers; };
  return has_no_address(leaf.write) || std::any_of(leaf.reads.begin(), leaf.reads.end(), has_no_address);
}

void LeafPrinter::print(const LeafView& leaf, bool braced, const std::vector<Fragment>& fragments) {
  if (leaf.radices.empty()) return print_point(leaf, {});
  const std::vector<AstStatement::BoxDigit>& box = leaf.statement->box;
  const bool free = leaf.reads.empty() && std::all_of(box.begin(), box.end(), [](const AstStatement::BoxDigit& digit) { return digit.whole; });
  const Coverage coverage = leaf.extents.empty() || free ? Coverage::whole : coverage_of(leaf);
  std::vector<std::string> flags;
  for (const Fragment& fragment : fragments)
    if (!fragment.flag.empty() && !contains(flags, fragment.flag)) flags.push_back(fragment.flag);
  if (coverage == Coverage::whole && fragments.empty()) return print_full(leaf, braced);
  if (coverage == Coverage::whole) {
    out_.open(flags.empty() ? "" : "if (" + join(flags, " && ") + ")");
    print_wide(leaf, fragments);
    if (!flags.empty()) {
      out_.reopen("else");
      print_full(leaf, true);
    }
    return out_.close();
  }
  if (coverage == Coverage::part) return print_edge(leaf, leaf.extents, braced);
  std::vector<AstExprPtr> extents;
  std::vector<std::string> conditions;
  if (!braced) out_.open("");
  for (std::size_t b = 0; b < leaf.extents.size(); ++b) {
    const AstExprPtr extent = fold(leaf.extents[b]);
    if (constant_value(extent)) {
      extents.push_back(extent);
      continue;
    }
    const std::string key = names_.fresh_value(leaf.statement->box[b].name + "_n");
    out_.line("const int64_t " + names_.value(key) + " = " + integer_c(extent, names_, helpers_) + ";");
    extents.push_back(ast_name(key));
    conditions.push_back(names_.value(key) + " >= " + std::to_string(leaf.radices[b]));
  }
  conditions.insert(conditions.end(), flags.begin(), flags.end());
  out_.open("if (" + join(conditions, " && ") + ")");
  if (fragments.empty()) print_full(leaf, true);
  else print_wide(leaf, fragments);
  print_whole_rows(leaf, extents);
  out_.reopen("else");
  print_edge(leaf, extents, true);
  out_.close();
  if (!braced) out_.close();
}

/// Between the whole box and any part of it, for updates of registers: every row runs, up to the same lane.
void LeafPrinter::print_whole_rows(const LeafView& leaf, std::vector<AstExprPtr> extents) {
  if (leaf.combine == Combine::assign || !leaf.write.storage->named() || constant_value(extents.back())) return;
  std::vector<std::string> conditions;
  for (std::size_t b = 0; b + 1 < extents.size(); ++b) {
    if (constant_value(extents[b])) continue;
    conditions.push_back(integer_c(extents[b], names_, helpers_, 3) + " >= " + std::to_string(leaf.radices[b]));
    extents[b] = ast_integer(leaf.radices[b]);
  }
  if (conditions.empty() || !VectorLeaf(leaf, out_, storage_, names_, helpers_, vector_bytes_).possible_in_part()) return;
  out_.reopen("else if (" + join(conditions, " && ") + ")");
  print_edge(leaf, extents, true);
}

void LeafPrinter::print_full(const LeafView& leaf, bool scoped) {
  DotLeaf products(leaf, machine_.find_atom(leaf.statement->atom), out_, storage_, names_, helpers_, vector_bytes_);
  if (products.possible()) {
    if (!scoped) out_.open("");
    products.print();
    if (!scoped) out_.close();
    return;
  }
  WordLeaf words(leaf, out_, storage_, names_, helpers_, vector_bytes_);
  if (words.possible()) {
    if (!scoped) out_.open("");
    words.print();
    if (!scoped) out_.close();
    return;
  }
  VectorLeaf vectors(leaf, out_, storage_, names_, helpers_, vector_bytes_);
  if (vectors.possible()) {
    const bool block = !scoped && vectors.declares();
    if (block) out_.open("");
    vectors.print();
    if (block) out_.close();
    return;
  }
  if (leaf.points() <= 64 || touches_named(leaf)) return print_unrolled(leaf);
  print_loops(leaf, constants(leaf.radices));
}

void LeafPrinter::print_wide(const LeafView& leaf, const std::vector<Fragment>& fragments) {
  FragmentedLeaf fragmented(leaf, fragments, out_, storage_, names_, helpers_);
  const LeafView& local = fragmented.open();
  if (local.points() <= 64 || touches_named(local)) print_unrolled(local);
  else print_loops(local, constants(local.radices));
  fragmented.close();
}

void LeafPrinter::print_async(const LeafView& leaf, const std::vector<Fragment>& fragments, bool braced, bool several) {
  const long bytes = fragments[0].access.bytes, element = size_bytes(leaf.write.storage->element), step = bytes / element;
  const std::size_t digit = fragments[0].access.digit;
  const AstExprPtr left = leaf.extents.empty() ? ast_integer(leaf.radices[digit]) : fold(leaf.extents[digit]);
  const auto known = constant_value(left);
  const bool whole = known && *known >= leaf.radices[digit];
  if (!braced) out_.open("");
  std::string remaining;
  AstExprPtr left_name = left;
  if (!whole) {
    const std::string key = names_.fresh_value(leaf.statement->box[digit].name + "_n");
    remaining = names_.value(key);
    left_name = ast_name(key);
    out_.line("const int64_t " + remaining + " = " + integer_c(left, names_, helpers_) + ";");
  }
  std::vector<std::string> tests;
  if (!whole && !leaf.zero_fill()) tests.push_back(remaining + " >= " + std::to_string(leaf.radices[digit]));
  for (const Fragment& fragment : fragments)
    if (!fragment.flag.empty() && !contains(tests, fragment.flag)) tests.push_back(fragment.flag);
  if (!tests.empty()) out_.open("if (" + join(tests, " && ") + ")");
  const std::string word = "tileopt_async_copy_or_zero" + std::to_string(bytes);
  helpers_.request(word);
  std::vector<long> point(leaf.radices.size(), 0);
  for (; point[digit] < leaf.radices[digit]; point[digit] += step) {
    std::string amount = std::to_string(bytes);
    if (!whole && leaf.zero_fill()) {
      helpers_.use("tileopt_min");
      helpers_.use("tileopt_max");
      const std::string here = point[digit] == 0 ? remaining : remaining + " - " + std::to_string(point[digit]);
      amount = "(unsigned)(" + std::to_string(element) + " * tileopt_max(0, tileopt_min(" + here + ", " + std::to_string(step) + ")))";
    }
    const Storage &to = *leaf.write.storage, &from = *leaf.reads[0].storage;
    const std::string place = several ? to.name + ", (unsigned)(" + storage_.offset_c(to, leaf.write.at(point)) + ") * " + std::to_string(element)
                                      : "&" + storage_.element_c(to, leaf.write.at(point)) + ", 0";
    const std::string source = several ? from.name + "[" + storage_.flat_offset_c(from, leaf.reads[0].at(point)) + "]" : storage_.element_c(from, leaf.reads[0].at(point));
    out_.line(word + "(" + place + ", &" + source + ", " + amount + ");");
  }
  if (!tests.empty()) {
    out_.reopen("else");
    print_edge(leaf, whole ? constants(leaf.radices) : std::vector<AstExprPtr>{left_name}, true);
    out_.close();
  }
  if (!braced) out_.close();
}

void LeafPrinter::print_unrolled(const LeafView& leaf) {
  if (leaf.points() > kLargestUnroll)
    refuse("capacity", leaf.statement->name, "the box of " + leaf.statement->name + " unrolls to " + std::to_string(leaf.points()) +
                                                 " statements, at most " + std::to_string(kLargestUnroll) + " are printed");
  for_each_point(leaf.radices, [&](const std::vector<long>& point) { print_point(leaf, constants(point)); });
}

void LeafPrinter::print_loops(const LeafView& leaf, const std::vector<AstExprPtr>& bounds) {
  Point point;
  std::vector<AstExprPtr> inside;
  for (std::size_t b = 0; b < leaf.radices.size(); ++b) {
    const std::string key = names_.fresh_value(leaf.statement->box[b].name);
    point.push_back(ast_name(key));
    const auto bound = constant_value(bounds[b]);
    const bool limited = !bound || *bound < leaf.radices[b];
    const bool fills = leaf.zero_fill();
    std::string limit = std::to_string(leaf.radices[b]);
    if (limited && !fills && bound) limit = std::to_string(std::max<std::int64_t>(*bound, 0));
    if (limited && !fills && !bound) {
      helpers_.use("tileopt_min");
      limit = "tileopt_min(" + integer_c(bounds[b], names_, helpers_) + ", " + limit + ")";
    }
    if (limited && fills) inside.push_back(ast_operation(AstExpr::Kind::lt, {point.back(), bounds[b]}));
    const std::string name = names_.value(key);
    out_.open("for (int64_t " + name + " = 0; " + name + " < " + limit + "; ++" + name + ")");
  }
  if (inside.empty()) {
    print_point(leaf, point);
  } else {
    std::vector<std::string> conditions;
    for (const AstExprPtr& condition : inside) conditions.push_back(integer_c(condition, names_, helpers_, 3));
    out_.open("if (" + join(conditions, " && ") + ")");
    print_point(leaf, point);
    out_.reopen("else");
    print_zero(leaf, point);
    out_.close();
  }
  for (std::size_t b = 0; b < leaf.radices.size(); ++b) out_.close();
}

void LeafPrinter::print_edge(const LeafView& leaf, const std::vector<AstExprPtr>& extents, bool scoped) {
  VectorLeaf vectors(leaf, out_, storage_, names_, helpers_, vector_bytes_);
  const bool in_part = vectors.possible_in_part();
  const bool block = !scoped && (in_part || touches_named(leaf));
  if (in_part) {
    if (block) out_.open("");
    vectors.print_part(extents);
    if (block) out_.close();
    return;
  }
  // A few registers are told apart by name, so that they need no address.
  if (language_ == Language::device_cpp && leaf.copy && leaf.write.storage->named() && leaf.points() <= kFewPoints) return print_guarded_points(leaf, extents);
  LeafView spilled = leaf;
  if (block) out_.open("");
  const std::vector<Spill> spills = make_spills(spilled);
  for (const Spill& spill : spills) store_spill(spill);
  print_loops(spilled, extents);
  for (const Spill& spill : spills)
    if (spill.written) load_spill(spill);
  if (block) out_.close();
}

void LeafPrinter::print_guarded_points(const LeafView& leaf, const std::vector<AstExprPtr>& extents) {
  for_each_point(leaf.radices, [&](const std::vector<long>& point) {
    std::vector<std::string> conditions;
    for (std::size_t b = 0; b < point.size(); ++b)
      if (const auto known = constant_value(fold(extents[b])); !known || *known < leaf.radices[b]) conditions.push_back(std::to_string(point[b]) + " < " + integer_c(extents[b], names_, helpers_, 4));
    out_.open(conditions.empty() ? "" : "if (" + join(conditions, " && ") + ")");
    print_point(leaf, constants(point));
    if (!conditions.empty() && leaf.zero_fill()) {
      out_.reopen("else");
      print_zero(leaf, constants(point));
    }
    out_.close();
  });
}

std::string LeafPrinter::operand_value(const LeafOperand& operand, const Subscripts& subscripts) {
  return stored_value(operand, storage_.element_c(*operand.storage, subscripts), helpers_);
}

std::string LeafPrinter::condition(const LeafView& leaf, const Point& point) {
  const ScalarContext context = point_context(leaf, point);
  std::vector<std::string> conditions;
  for (const LeafView::Guarded& guard : leaf.guards)
    conditions.push_back("(" + scalar_c(guard.value, context) + ") == " + integer_c(fold(guard.iterator), names_, helpers_, 4));
  if (leaf.predicate != nullptr) {
    const std::string text = scalar_c(leaf.predicate, context);
    conditions.push_back(conditions.empty() ? text : "(" + text + ")");
  }
  return join(conditions, " && ");
}

ScalarContext LeafPrinter::point_context(const LeafView& leaf, const Point& point) {
  return {
      [&](std::size_t access) { return operand_value(leaf.reads[access], leaf.reads[access].at(point)); },
      [&](std::size_t index, ElementType type) {
        return "(" + compute_type_c(type) + ")(" + integer_c(fold(leaf.index_at(index, point)), names_, helpers_) + ")";
      },
      helpers_};
}

void LeafPrinter::print_point(const LeafView& leaf, const Point& point) {
  const std::string target = storage_.element_c(*leaf.write.storage, leaf.write.at(point));
  const Storage& to = *leaf.write.storage;
  if (leaf.copy && is_memory(to) && is_memory(*leaf.reads[0].storage) && to.element == leaf.reads[0].storage->element)
    return out_.line(target + " = " + storage_.element_c(*leaf.reads[0].storage, leaf.reads[0].at(point)) + ";");
  const std::string when = condition(leaf, point);
  if (!when.empty()) out_.open("if (" + without_parentheses(when) + ")");
  ScalarContext context = point_context(leaf, point);
  const std::vector<ExprPtr> shared = shared_subexpressions(leaf.body, true);
  const bool block = when.empty() && !shared.empty();
  if (block) out_.open("");
  const auto bound = bind_shared(shared, context, [&](const std::string& type, const std::string& text) {
    const std::string name = names_.fresh("t");
    out_.line("const " + type + " " + name + " = " + text + ";");
    return name;
  });
  context.bound = &bound;
  const std::string value = scalar_c(leaf.body, context);
  if (leaf.atomic && language_ == Language::device_cpp) {
    out_.line(atomic_call(leaf, target, value, helpers_));
  } else if (leaf.atomic) {
    out_.line("#pragma omp atomic");
    out_.line(atomic_statement(leaf, target, value));
  } else {
    out_.line(store_statement(leaf, target, value, helpers_));
  }
  if (block || !when.empty()) out_.close();
}

void LeafPrinter::print_zero(const LeafView& leaf, const Point& point) {
  const ElementType element = leaf.write.storage->element;
  const std::string zero = is_tuple(element) ? "(" + storage_type_c(element) + "){0}" : "0";
  out_.line(storage_.element_c(*leaf.write.storage, leaf.write.at(point)) + " = " + zero + ";");
}

std::vector<LeafPrinter::Spill> LeafPrinter::make_spills(LeafView& leaf) {
  std::vector<Spill> spills;
  const auto spill = [&](LeafOperand& operand, bool written) {
    if (!operand.storage->named()) return;
    for (Spill& known : spills) {
      if (known.named != operand.storage) continue;
      known.written = known.written || written;
      operand.storage = known.temporary;
      return;
    }
    Storage temporary;
    temporary.array = "spill of " + operand.storage->array;
    temporary.name = names_.declare_array(operand.storage->name + "_spill");
    temporary.element = compute_type(operand.storage->element);
    temporary.extents = operand.storage->extents;
    temporary.strides = constant_strides(temporary.extents);
    temporary.agent_dims = operand.storage->agent_dims;
    long elements = 1;
    for (const long extent : temporary.extents) elements *= extent;
    out_.line((language_ == Language::c_openmp ? "_Alignas(64) " : "alignas(64) ") + storage_type_c(temporary.element) + " " + temporary.name + "[" + std::to_string(elements) + "];");
    storage_.add(temporary);
    spills.push_back({operand.storage, &storage_.find(temporary.array), written});
    operand.storage = spills.back().temporary;
  };
  spill(leaf.write, true);
  for (LeafOperand& read : leaf.reads) spill(read, false);
  return spills;
}

void LeafPrinter::for_each_vector(const Spill& spill, const std::function<void(const std::string&, const std::string&)>& visit) {
  std::vector<long> counts = spill.named->extents;
  counts.back() /= spill.named->lanes;
  long position = 0;
  for_each_point(counts, [&](std::vector<long> point) {
    point.back() *= spill.named->lanes;
    long lane = 0;
    const std::string vector = StorageTable::vector_name(*spill.named, point, &lane);
    const std::string element = spill.temporary->name + "[" + std::to_string(position) + "]";
    position += spill.named->lanes;
    if (spill.named->lanes == 1) return visit(vector, element);
    const std::string type = helpers_.vector_type(compute_type(spill.named->element), spill.named->lanes);
    visit(vector, "*(" + type + "_u*)&" + element);
  });
}

void LeafPrinter::store_spill(const Spill& spill) {
  for_each_vector(spill, [&](const std::string& vector, const std::string& memory) { out_.line(memory + " = " + vector + ";"); });
}

void LeafPrinter::load_spill(const Spill& spill) {
  for_each_vector(spill, [&](const std::string& vector, const std::string& memory) { out_.line(vector + " = " + memory + ";"); });
}

}  // namespace tileopt
