#include "backends/openmp/kernel_printer.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "backends/openmp/check_ast.h"
#include "backends/openmp/refusal.h"
#include "support/text.h"

namespace tileopt {

namespace {
/// Without a limit of the machine's: what a thread may put on its stack.
constexpr double default_stack_bytes = 1 << 20;
constexpr long max_hinted_unroll = 64;

/// Whether `identifier` stands in C text as a whole word.
bool mentions(const std::string& text, const std::string& identifier) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(identifier); at != std::string::npos; at = text.find(identifier, at + 1)) {
    const std::size_t end = at + identifier.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

/// Types in which a C variable accumulates what memory would: not the floats that storage rounds, nor what wraps inside a byte.
bool accumulates_in(ElementType type) { return !is_narrow_float(type) && type != ElementType::i4 && type != ElementType::u4; }
}  // namespace

KernelPrinter::KernelPrinter(const Program& program, const Signature& signature, const Ast& ast, const Machine& machine, Helpers& helpers)
    : program_(program), signature_(signature), ast_(ast), machine_(machine), helpers_(helpers), names_(signature.names),
      storage_(signature, names_, helpers), out_(1) {}

PrintedKernel KernelPrinter::print(int position) {
  check_ast(ast_, program_, signature_);
  registers_ = classify_register_arrays(ast_, machine_.vector_bytes);
  std::set<std::string> arrays;
  for (const auto& [name, statement] : ast_.statements) {
    arrays.insert(statement.write_array);
    arrays.insert(statement.read_arrays.begin(), statement.read_arrays.end());
  }
  const auto for_each_tensor = [&](const auto& visit) {
    for (const std::vector<TensorArgument>* list : {&signature_.arguments, &signature_.locals})
      for (const TensorArgument& argument : *list)
        if (arrays.count(argument.tensor) != 0) visit(argument);
  };
  for_each_tensor([&](const TensorArgument& argument) {
    storage_.add_tensor(argument);
    if (is_dense_row_major(argument)) return;
    PrintFacts::Layout layout{argument.tensor, argument.order, {}, argument.packed};
    for (const AstExprPtr& stride : argument.strides) layout.strides.push_back(ast_expr_text(stride));
    facts_.layouts.push_back(std::move(layout));
  });
  print_node(ast_.root);

  PrintedKernel result;
  std::vector<std::string> parameters;
  for_each_tensor([&](const TensorArgument& argument) {
    if (!mentions(out_.text(), argument.name)) return;
    result.call.tensors.push_back(argument.tensor);
    const bool constant = argument.role == TensorRole::in;
    const std::string type = (constant ? "const " : "") + memory_type_c(argument);
    parameters.push_back(argument.by_value ? type + " " + argument.name : type + "* restrict " + argument.name);
  });
  std::string strides;
  for (const std::string& line : storage_.stride_definitions()) strides += "  " + line + "\n";
  std::vector<std::string> sizes;
  for (const std::string& size : signature_.sizes) {
    if (!mentions(out_.text() + strides, names_.value(size))) continue;
    result.call.sizes.push_back(size);
    sizes.push_back("const int64_t " + names_.value(size));
  }
  sizes.insert(sizes.end(), parameters.begin(), parameters.end());
  if (workspace_bytes_ > 0) sizes.push_back("unsigned char* restrict workspace");
  result.call.function = "tileopt_kernel_" + std::to_string(position) + "_" + ast_.kernel;
  result.call.workspace_bytes = workspace_bytes_;
  result.text = "static __attribute__((noinline)) void " + result.call.function + "(" + (sizes.empty() ? "void" : join(sizes, ", ")) + ") {\n";
  result.text += strides + out_.text() + "}\n";
  result.facts = std::move(facts_);
  return result;
}

std::vector<AstExprPtr> KernelPrinter::resolve(const std::vector<AstExprPtr>& exprs) const {
  std::vector<AstExprPtr> resolved;
  for (const AstExprPtr& expr : exprs) resolved.push_back(resolve(expr));
  return resolved;
}

void KernelPrinter::record_loop(const AstFor& loop, const std::string& header, const std::string& pragma) {
  if (muted_ > 0) return;
  facts_.loops.push_back({loop.variable, header, pragma, ast_expr_text(loop.lower), ast_expr_text(loop.upper), loop.step, loop.level});
}

void KernelPrinter::print_body(const AstNodePtr& node) {
  for (const AstNodePtr& child : flat_children(node)) print_node(child);
}

void KernelPrinter::print_braced(const AstNodePtr& node) {
  braced_ = flat_children(node).size() == 1;
  print_body(node);
  braced_ = false;
}

bool KernelPrinter::take_braces() { return std::exchange(braced_, false); }

void KernelPrinter::print_node(const AstNodePtr& node) {
  if (node == nullptr) return;
  struct Visitor {
    KernelPrinter& printer;
    const AstNodePtr& node;
    void operator()(const AstBlock&) const { printer.print_body(node); }
    void operator()(const AstFor& loop) const { printer.print_for(loop); }
    void operator()(const AstIf& branch) const { printer.print_if(branch); }
    void operator()(const AstAllocate& allocate) const { printer.print_allocate(allocate); }
    void operator()(const AstLeaf& leaf) const { printer.print_leaf(leaf); }
    void operator()(const AstRoles&) const { TILEOPT_CHECK(false, "check_ast refuses roles"); }
    void operator()(const AstSync&) const { TILEOPT_CHECK(false, "check_ast refuses synchronisation"); }
  };
  std::visit(Visitor{*this, node}, node->node);
}

std::string KernelPrinter::loop_header(const AstFor& loop) {
  const std::string name = names_.declare_value(loop.variable);
  return "for (int64_t " + name + " = " + integer_c(resolve(loop.lower), names_, helpers_) + "; " + name +
         " <= " + integer_c(resolve(loop.upper), names_, helpers_) + "; " + name + " += " + std::to_string(loop.step) + ")";
}

std::string KernelPrinter::thread_pragma(const AstFor& loop) const {
  std::string pragma = std::string("#pragma omp parallel for schedule(") + (uneven_work(loop) ? "dynamic, 1" : work_from_memory(loop) ? "guided" : "static") + ")";
  const std::vector<AstNodePtr> children = flat_children(loop.body);
  const auto* inner = children.size() == 1 ? std::get_if<AstFor>(&children[0]->node) : nullptr;
  if (inner == nullptr || inner->level != "thread") return pragma;
  std::set<std::string> names;
  collect_names(inner->lower, names);
  collect_names(inner->upper, names);
  return names.count(loop.variable) != 0 ? pragma : pragma + " collapse(2)";
}

std::string KernelPrinter::unroll_pragma(const AstFor& loop) const {
  const auto lower = constant_value(fold(resolve(loop.lower)));
  const auto upper = constant_value(fold(resolve(loop.upper)));
  long count = 4;
  if (lower && upper) count = (*upper - *lower) / loop.step + 1;
  return count < 2 || count > max_hinted_unroll ? "" : "#pragma GCC unroll " + std::to_string(count);
}

bool KernelPrinter::replaceable(const Accumulation& accumulation) const {
  const Storage& storage = storage_.find(accumulation.statement->write_array);
  const ElementType type = program_.statement(accumulation.statement->statement).body->type;
  return storage.kind == Storage::Kind::memory && storage.element == type && accumulates_in(type);
}

std::string KernelPrinter::reduction_clause(const Accumulation& accumulation, const std::string& variable) {
  const ElementType type = program_.statement(accumulation.statement->statement).body->type;
  const auto extremum = [&](const std::string& name) {
    return is_float(type) ? helpers_.reduction("tileopt_" + name + "_" + type_name(type)) : name;
  };
  switch (accumulation.combine) {
    case Combine::sum: return " reduction(+ : " + variable + ")";
    case Combine::prod: return " reduction(* : " + variable + ")";
    case Combine::min: return " reduction(" + extremum("min") + " : " + variable + ")";
    case Combine::max: return " reduction(" + extremum("max") + " : " + variable + ")";
    case Combine::any: return " reduction(|| : " + variable + ")";
    case Combine::all: return " reduction(&& : " + variable + ")";
    case Combine::bit_and: return " reduction(& : " + variable + ")";
    case Combine::bit_or: return " reduction(| : " + variable + ")";
    case Combine::bit_xor: return " reduction(^ : " + variable + ")";
    case Combine::assign:
    case Combine::monoid: break;
  }
  return "";
}

std::string KernelPrinter::simd_pragma(const AstFor& loop, const SimdLoop& simd, bool* replace) {
  (void)loop;
  *replace = false;
  if (!simd.allowed) return "";
  std::string pragma = "#pragma omp simd";
  for (const Accumulation& accumulation : simd.accumulations) {
    if (!program_.numerics().reassociate || accumulation.combine == Combine::monoid) return "";
    const Storage& storage = storage_.find(accumulation.statement->write_array);
    const ElementType type = program_.statement(accumulation.statement->statement).body->type;
    if (storage.kind == Storage::Kind::scalar && storage.element == type && accumulates_in(type)) {
      pragma += reduction_clause(accumulation, storage.name);
    } else if (simd.single_leaf && replaceable(accumulation)) {
      *replace = true;
    } else {
      return "";
    }
  }
  return pragma;
}

void KernelPrinter::print_for(const AstFor& loop) {
  take_braces();
  if (loop.binding) return print_bound(loop);
  const std::vector<std::int64_t> values = registers_.unrolled.count(loop.variable) != 0 ? unrolled_values(loop, constants_) : std::vector<std::int64_t>{};
  if (!values.empty()) return print_unrolled(loop, values);
  if (loop.level == "thread") {
    const bool inside = threads_ > 0;
    const std::string pragma = inside ? "" : thread_pragma(loop);
    ++threads_;
    print_loop_lines(loop, pragma);
    --threads_;
    return;
  }
  const SimdLoop simd = analyze_simd_loop(loop, ast_, program_);
  if (loop.level == "simd") {
    bool replace = false;
    const std::string pragma = simd_pragma(loop, simd, &replace);
    return replace ? print_replaced(loop, simd.accumulations.at(0), pragma) : print_loop_lines(loop, pragma);
  }
  const std::string pragma = loop.level == "unroll" ? unroll_pragma(loop) : "";
  const bool accumulates = simd.allowed && simd.single_leaf && simd.accumulations.size() == 1;
  if (accumulates && replaceable(simd.accumulations[0])) return print_replaced(loop, simd.accumulations[0], pragma);
  print_loop_lines(loop, pragma);
}

void KernelPrinter::print_loop_lines(const AstFor& loop, const std::string& pragma) {
  const std::string header = loop_header(loop);
  record_loop(loop, header, pragma);
  if (!pragma.empty()) out_.line(pragma);
  out_.open(header);
  print_braced(loop.body);
  out_.close();
}

/// The accumulated element lives in a C variable during the loop: no store in every trip, and lanes may share it.
void KernelPrinter::print_replaced(const AstFor& loop, const Accumulation& accumulation, const std::string& pragma_head) {
  const Storage original = storage_.find(accumulation.statement->write_array);
  const std::string element = storage_.element_c(original, resolve(accumulation.leaf->write));
  out_.open("if (" + integer_c(resolve(loop.lower), names_, helpers_, 5) + " <= " + integer_c(resolve(loop.upper), names_, helpers_, 5) + ")");
  Storage variable = original;
  variable.kind = Storage::Kind::scalar;
  variable.name = names_.fresh(original.name + "_acc");
  variable.strides.clear();
  out_.line(storage_type_c(original.element) + " " + variable.name + " = " + element + ";");
  storage_.add(variable);
  const std::string clause = loop.level == "simd" ? reduction_clause(accumulation, variable.name) : "";
  print_loop_lines(loop, pragma_head + clause);
  storage_.add(original);
  out_.line(element + " = " + variable.name + ";");
  out_.close();
}

void KernelPrinter::print_bound(const AstFor& loop) {
  const AstBinding& binding = *loop.binding;
  const AstStatement& statement = ast_.statements.at(binding.leaf);
  const Statement& source = program_.statement(statement.statement);
  const ScalarContext context{
      [&](std::size_t access) {
        const Storage& storage = storage_.find(statement.read_arrays[access]);
        LeafOperand operand;
        operand.storage = &storage;
        operand.type = program_.tensor(source.reads[access].tensor).type;
        return stored_value(operand, storage_.element_c(storage, resolve(binding.reads.at(access))), helpers_);
      },
      [&](std::size_t index, ElementType type) {
        return "(" + compute_type_c(type) + ")(" + integer_c(fold(resolve(binding.indices.at(index))), names_, helpers_) + ")";
      },
      helpers_};
  const std::string value = scalar_c(source.guards.at(binding.guard).value, context);
  const std::string lower = integer_c(resolve(loop.lower), names_, helpers_, 5), upper = integer_c(resolve(loop.upper), names_, helpers_, 5);
  out_.open("");
  const std::string name = names_.declare_value(loop.variable);
  const std::string definition = "const int64_t " + name + " = " + value + ";";
  record_loop(loop, definition, "bound");
  if (muted_ == 0)
    for (const auto& [access, subscripts] : binding.reads)
      for (const AstExprPtr& subscript : subscripts) facts_.loops.back().subscripts.push_back(ast_expr_text(subscript));
  out_.line(definition);
  out_.open("if (" + lower + " <= " + name + " && " + name + " <= " + upper + ")");
  settled_.insert(loop.variable);
  print_braced(loop.body);
  settled_.erase(loop.variable);
  out_.close();
  out_.close();
}

void KernelPrinter::print_unrolled(const AstFor& loop, const std::vector<std::int64_t>& values) {
  record_loop(loop, "", "unrolled");
  for (std::size_t i = 0; i < values.size(); ++i) {
    constants_[loop.variable] = ast_integer(values[i]);
    muted_ += i > 0 ? 1 : 0;
    print_body(loop.body);
    muted_ -= i > 0 ? 1 : 0;
  }
  constants_.erase(loop.variable);
}

void KernelPrinter::print_if(const AstIf& branch) {
  take_braces();
  if (muted_ == 0) facts_.conditions.push_back(ast_expr_text(branch.condition));
  out_.open("if (" + integer_c(resolve(branch.condition), names_, helpers_) + ")");
  print_braced(branch.then_body);
  if (!flat_children(branch.else_body).empty()) {
    out_.reopen("else");
    print_braced(branch.else_body);
  }
  out_.close();
}

const Array& KernelPrinter::promoted(const std::string& name) const {
  for (const Array& array : ast_.arrays)
    if (array.name == name) return array;
  TILEOPT_CHECK(false, "promoted array " + name);
  return ast_.arrays.front();
}

void KernelPrinter::print_allocate(const AstAllocate& allocate) {
  const double stack = stack_bytes_;
  const bool braces = !take_braces();
  if (braces) out_.open("");
  for (const std::string& name : allocate.arrays) declare_array(promoted(name));
  print_body(allocate.body);
  if (braces) out_.close();
  stack_bytes_ = stack;
}

void KernelPrinter::declare_vectors(const Storage& storage) {
  const std::string type = storage.lanes == 1 ? compute_type_c(storage.element) : helpers_.vector_type(compute_type(storage.element), storage.lanes);
  std::vector<long> counts = storage.extents;
  counts.back() /= storage.lanes;
  std::vector<std::string> row;
  std::vector<long> point(counts.size(), 0);
  long declared = 0;
  while (true) {
    std::vector<long> element = point;
    element.back() *= storage.lanes;
    long lane = 0;
    row.push_back(StorageTable::vector_name(storage, element, &lane) + (storage.lanes == 1 && !is_tuple(storage.element) ? " = 0" : " = {0}"));
    ++declared;
    std::size_t d = counts.size();
    while (d > 0 && ++point[d - 1] == counts[d - 1]) point[--d] = 0;
    if (d != counts.size() || row.size() == 8) {
      out_.line(type + " " + join(row, ", ") + ";");
      row.clear();
    }
    if (d == 0) break;
  }
  facts_.registers = std::max(facts_.registers, declared);
}

void KernelPrinter::declare_array(const Array& array) {
  Storage storage;
  storage.array = array.name;
  storage.name = names_.declare_array(array.name);
  storage.element = array.element;
  storage.extents = array.extents;
  storage.strides = constant_strides(array.extents);
  const long bytes = array.elements() * size_bytes(array.element);
  PrintFacts::Buffer printed{array.name, array.space, bytes};
  const std::string type = storage_type_c(array.element);
  if (array.space == "workspace") {
    if (threads_ > 0)
      refuse("capacity", "promotions[" + array.name + "]", "workspace array " + array.name + " inside a thread loop would be shared by the threads: put it on the stack");
    const auto [slot, fresh] = workspace_offsets_.emplace(array.name, workspace_bytes_);
    if (fresh) workspace_bytes_ += (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
    printed.region = "workspace";
    printed.offset = slot->second;
    if (muted_ == 0) facts_.buffers.push_back(printed);
    out_.line(type + "* restrict const " + storage.name + " = (" + type + "*)(void*)(workspace + " + std::to_string(slot->second) + ");");
    return storage_.add(storage);
  }
  if (muted_ == 0) facts_.buffers.push_back(printed);
  if (array.space == "register") storage.kind = registers_.kinds.at(array.name);
  switch (storage.kind) {
    case Storage::Kind::scalar:
      out_.line(compute_type_c(array.element) + " " + storage.name + (is_tuple(array.element) ? " = {0};" : " = 0;"));
      break;
    case Storage::Kind::vectors:
      storage.lanes = registers_.lanes.at(array.name);
      declare_vectors(storage);
      break;
    case Storage::Kind::memory:
    case Storage::Kind::value: {
      const Space* space = machine_.find_space("stack");
      const double limit = space != nullptr && space->capacity > 0 ? space->capacity : default_stack_bytes;
      stack_bytes_ += static_cast<double>(bytes);
      if (stack_bytes_ > limit)
        refuse("capacity", "promotions[" + array.name + "]", "stack arrays need " + std::to_string(static_cast<long>(stack_bytes_)) + " bytes, " +
                                                                 std::to_string(static_cast<long>(limit)) + " are allowed");
      out_.line("_Alignas(" + std::to_string(std::max(array.alignment, alignment_bytes(array.element))) + ") " + type + " " + storage.name + "[" +
                std::to_string(array.elements()) + "];");
      break;
    }
  }
  storage_.add(storage);
}

void KernelPrinter::print_leaf(const AstLeaf& leaf) {
  const AstStatement& statement = ast_.statements.at(leaf.statement);
  if (muted_ == 0) {
    PrintFacts::Leaf fact;
    fact.statement = leaf.statement;
    for (const AstExprPtr& subscript : leaf.write) fact.subscripts.push_back(ast_expr_text(subscript));
    for (const auto& read : leaf.reads)
      for (const AstExprPtr& subscript : read) fact.subscripts.push_back(ast_expr_text(subscript));
    for (const AstExprPtr& extent : leaf.extents) fact.extents.push_back(ast_expr_text(extent));
    for (const AstStatement::BoxDigit& digit : statement.box) fact.points *= digit.radix;
    if (statement.kind == "compute") {
      const LeafView view = make_leaf_view(leaf, ast_, program_, storage_, settled_);
      for (const LeafView::Guarded& guard : view.guards) fact.tested.push_back("guard " + std::to_string(guard.number));
      if (view.predicate != nullptr) fact.tested.push_back("predicate");
      if (view.atomic) fact.tested.push_back("atomic");
    }
    facts_.leaves.push_back(std::move(fact));
  }
  AstLeaf resolved = leaf;
  resolved.write = resolve(leaf.write);
  resolved.indices = resolve(leaf.indices);
  resolved.extents = resolve(leaf.extents);
  resolved.instance = resolve(leaf.instance);
  for (auto& read : resolved.reads) read = resolve(read);
  LeafPrinter(out_, storage_, names_, helpers_, machine_.vector_bytes).print(make_leaf_view(resolved, ast_, program_, storage_, settled_), take_braces());
}

}  // namespace tileopt
