#include "backends/c_common/body_printer.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "backends/c_common/refusal.h"
#include "support/text.h"

namespace tileopt {

namespace {
constexpr long max_hinted_unroll = 64;
constexpr long max_unroll_around_tiles = 16;  ///< of loops on devices, whose bodies may be tiles: their code has to stay in a cache
}  // namespace

bool mentions(const std::string& text, const std::string& identifier) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(identifier); at != std::string::npos; at = text.find(identifier, at + 1)) {
    const std::size_t end = at + identifier.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

bool accumulates_in(ElementType type) { return !is_narrow_float(type) && type != ElementType::i4 && type != ElementType::u4; }

BodyPrinter::BodyPrinter(const Program& program, const Signature& signature, const Ast& ast, const Machine& machine, Helpers& helpers, Language language)
    : program_(program), signature_(signature), ast_(ast), machine_(machine), helpers_(helpers), language_(language), names_(signature.names),
      storage_(signature, names_, helpers), out_(1) {}

std::vector<const TensorArgument*> BodyPrinter::add_tensors() {
  std::set<std::string> arrays;
  for (const auto& [name, statement] : ast_.statements) {
    arrays.insert(statement.write_array);
    arrays.insert(statement.read_arrays.begin(), statement.read_arrays.end());
  }
  std::vector<const TensorArgument*> used;
  for (const std::vector<TensorArgument>* list : {&signature_.arguments, &signature_.locals})
    for (const TensorArgument& argument : *list)
      if (arrays.count(argument.tensor) != 0) used.push_back(&argument);
  for (const TensorArgument* argument : used) {
    storage_.add_tensor(*argument);
    if (is_dense_row_major(*argument)) continue;
    PrintFacts::Layout layout{argument->tensor, argument->order, {}, argument->packed};
    for (const AstExprPtr& stride : argument->strides) layout.strides.push_back(ast_expr_text(stride));
    facts_.layouts.push_back(std::move(layout));
  }
  return used;
}

std::vector<AstExprPtr> BodyPrinter::resolve(const std::vector<AstExprPtr>& exprs) const {
  std::vector<AstExprPtr> resolved;
  for (const AstExprPtr& expr : exprs) resolved.push_back(resolve(expr));
  return resolved;
}

void BodyPrinter::record_loop(const AstFor& loop, const std::string& header, const std::string& pragma) {
  if (muted_ > 0) return;
  facts_.loops.push_back({loop.variable, header, pragma, ast_expr_text(loop.lower), ast_expr_text(loop.upper), loop.step, loop.level});
}

void BodyPrinter::print_body(const AstNodePtr& node) {
  for (const AstNodePtr& child : flat_children(node)) print_node(child);
}

void BodyPrinter::print_braced(const AstNodePtr& node) {
  braced_ = flat_children(node).size() == 1;
  print_body(node);
  braced_ = false;
}

bool BodyPrinter::take_braces() { return std::exchange(braced_, false); }

void BodyPrinter::print_node(const AstNodePtr& node) {
  if (node == nullptr) return;
  struct Visitor {
    BodyPrinter& printer;
    const AstNodePtr& node;
    void operator()(const AstBlock&) const { printer.print_body(node); }
    void operator()(const AstFor& loop) const { printer.print_for(loop); }
    void operator()(const AstIf& branch) const { printer.print_if(branch); }
    void operator()(const AstAllocate& allocate) const { printer.print_allocate(allocate); }
    void operator()(const AstLeaf& leaf) const { printer.print_leaf(leaf); }
    void operator()(const AstRoles&) const { TILEOPT_CHECK(false, "check_ast refuses roles"); }
    void operator()(const AstSync& sync) const { printer.print_sync(sync); }
  };
  std::visit(Visitor{*this, node}, node->node);
}

std::string BodyPrinter::loop_header(const AstFor& loop) {
  const std::string name = names_.declare_value(loop.variable);
  return "for (int64_t " + name + " = " + integer_c(resolve(loop.lower), names_, helpers_) + "; " + name +
         " <= " + integer_c(resolve(loop.upper), names_, helpers_) + "; " + name + " += " + std::to_string(loop.step) + ")";
}

bool BodyPrinter::replaceable(const Accumulation& accumulation) const {
  // Where no iteration of the loop has an effect, another thread's may: storing what was loaded would undo it.
  if (!make_leaf_view(*accumulation.leaf, ast_, program_, storage_, settled_).guards.empty()) return false;
  const Storage& storage = storage_.find(accumulation.statement->write_array);
  const ElementType type = program_.statement(accumulation.statement->statement).body->type;
  return storage.kind == Storage::Kind::memory && storage.element == type && accumulates_in(type);
}

bool BodyPrinter::streams_below(const AstNodePtr& node) const {
  for (const AstNodePtr& child : flat_children(node)) {
    if (const auto* leaf = std::get_if<AstLeaf>(&child->node); leaf != nullptr && ast_.statements.at(leaf->statement).stream) return true;
    if (const auto* loop = std::get_if<AstFor>(&child->node); loop != nullptr && streams_below(loop->body)) return true;
    if (const auto* allocate = std::get_if<AstAllocate>(&child->node); allocate != nullptr && streams_below(allocate->body)) return true;
    const auto* branch = std::get_if<AstIf>(&child->node);
    if (branch != nullptr && (streams_below(branch->then_body) || streams_below(branch->else_body))) return true;
  }
  return false;
}

void BodyPrinter::print_fence() {
  helpers_.use("tileopt_stream_fence");
  out_.line("tileopt_stream_fence();");
}

bool BodyPrinter::print_split_loop(const AstFor& loop, const std::string& pragma, const PrintFacts::Accumulator& accumulator) {
  using Kind = AstExpr::Kind;
  const std::vector<AstNodePtr> children = flat_children(loop.body);
  if (language_ != Language::device_cpp || loop.step != 1 || children.size() != 1 || !std::holds_alternative<AstLeaf>(children[0]->node)) return false;
  const auto& leaf = std::get<AstLeaf>(children[0]->node);
  const AstStatement& statement = ast_.statements.at(leaf.statement);
  if (machine_.pipe_of(statement.atom) != nullptr) return false;
  const std::string name = names_.declare_value(loop.variable);
  const std::vector<Fragment> fragments = choose_fragments(make_leaf_view(leaf, ast_, program_, storage_, settled_), machine_.find_atom(statement.atom), storage_);
  if (fragments.empty() || (leaf.extents.empty() && std::all_of(fragments.begin(), fragments.end(), [](const Fragment& f) { return f.flag.empty(); }))) return false;
  // Loops of a few iterations are not worth two bodies.
  if (const AstExprPtr most = fold(resolve(loop.upper)); constant_value(most) || most->kind == Kind::min) return false;
  AstExprPtr last = loop.upper;
  std::vector<std::string> tests;
  for (std::size_t b = 0; b < leaf.extents.size(); ++b) {
    const AstExprPtr extent = fold(leaf.extents[b]);
    const auto step = constant_step(extent, loop.variable);
    if (!step || *step > 0) return false;
    const AstExprPtr room = fold(ast_operation(Kind::sub, {substitute(extent, {{loop.variable, ast_integer(0)}}), ast_integer(statement.box[b].radix)}));
    if (const auto constant = constant_value(room); constant && *step == 0 && *constant >= 0) continue;
    const AstExprPtr none = ast_operation(Kind::sub, {loop.lower, ast_integer(1)});
    const AstExprPtr limit = *step == 0 ? ast_operation(Kind::select, {ast_operation(Kind::ge, {room, ast_integer(0)}), loop.upper, none})
                                        : ast_operation(Kind::floor_div, {room, ast_integer(-*step)});
    last = last == loop.upper && *step != 0 ? ast_operation(Kind::min, {loop.upper, limit}) : last == loop.upper ? limit : ast_operation(Kind::min, {last, limit});
  }
  for (const Fragment& fragment : fragments)
    if (!fragment.flag.empty() && !contains(tests, fragment.flag)) tests.push_back(fragment.flag);
  const std::string lower = integer_c(resolve(loop.lower), names_, helpers_), upper = integer_c(resolve(loop.upper), names_, helpers_);
  const std::string whole = names_.fresh(name + "_whole"), last_c = integer_c(resolve(last), names_, helpers_, tests.empty() ? 0 : 1);
  out_.line("const int64_t " + whole + " = " + (tests.empty() ? last_c : join(tests, " && ") + " ? " + last_c + " : " + lower + " - 1") + ";");
  const std::string head = "for (int64_t " + name + " = ", header = head + lower + "; " + name + " <= " + whole + "; ++" + name + ")";
  record_loop(loop, header, pragma);
  if (muted_ == 0) {
    facts_.loops.back().whole = ast_expr_text(last);
    facts_.loops.back().accumulator = accumulator;
  }
  out_.line(pragma.empty() ? "#pragma unroll 4" : pragma);
  out_.open(header);
  boxes_ = Boxes::whole;
  print_braced(loop.body);
  out_.close();
  helpers_.use("tileopt_max");
  ++muted_;
  out_.open(head + "tileopt_max(" + lower + ", " + whole + " + 1); " + name + " <= " + upper + "; ++" + name + ")");
  boxes_ = Boxes::cut;
  print_braced(loop.body);
  out_.close();
  --muted_;
  return true;
}

void BodyPrinter::print_loop_lines(const AstFor& loop, const std::string& pragma, bool fenced, PrintFacts::Accumulator accumulator) {
  if (!fenced && print_split_loop(loop, pragma, accumulator)) return;
  const std::string header = loop_header(loop);
  record_loop(loop, header, pragma);
  if (muted_ == 0) {
    facts_.loops.back().fenced = fenced;
    facts_.loops.back().accumulator = std::move(accumulator);
  }
  around_[loop.digit] = &loop;
  if (!pragma.empty()) out_.line(pragma);
  out_.open(header);
  print_braced(loop.body);
  if (fenced) print_fence();
  out_.close();
  around_.erase(loop.digit);
}

std::vector<Subscripts> BodyPrinter::reads_ahead(const AstLeaf& leaf) const {
  const auto loop = around_.find(ast_.statements.at(leaf.statement).prefetch);
  if (loop == around_.end()) return {};
  const std::string& variable = loop->second->variable;
  const AstExprPtr next = ast_operation(AstExpr::Kind::add, {ast_name(variable), ast_integer(loop->second->step)});
  std::vector<Subscripts> ahead;
  for (const std::vector<AstExprPtr>& read : leaf.reads) {
    std::set<std::string> names;
    for (const AstExprPtr& subscript : read) collect_names(subscript, names);
    ahead.emplace_back();
    if (names.count(variable) == 0) continue;
    for (const AstExprPtr& subscript : read) ahead.back().push_back(resolve(substitute(subscript, {{variable, next}})));
  }
  return ahead;
}

void BodyPrinter::print_bound(const AstFor& loop) {
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

void BodyPrinter::print_unrolled(const AstFor& loop, const std::vector<std::int64_t>& values) {
  record_loop(loop, "", "unrolled");
  for (std::size_t i = 0; i < values.size(); ++i) {
    constants_[loop.variable] = ast_integer(values[i]);
    muted_ += i > 0 ? 1 : 0;
    print_body(loop.body);
    muted_ -= i > 0 ? 1 : 0;
  }
  constants_.erase(loop.variable);
}

void BodyPrinter::print_if(const AstIf& branch) {
  take_braces();
  if (muted_ == 0) facts_.conditions.push_back(ast_expr_text(branch.condition));
  out_.open("if (" + tested(branch, integer_c(resolve(branch.condition), names_, helpers_)) + ")");
  print_braced(branch.then_body);
  if (!flat_children(branch.else_body).empty()) {
    out_.reopen("else");
    print_braced(branch.else_body);
  }
  out_.close();
}

const Array& BodyPrinter::promoted(const std::string& name) const {
  for (const Array& array : ast_.arrays)
    if (array.name == name) return array;
  TILEOPT_CHECK(false, "promoted array " + name);
  return ast_.arrays.front();
}

void BodyPrinter::declare_vectors(const Storage& storage) {
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

void BodyPrinter::print_leaf(const AstLeaf& leaf) {
  const AstStatement& statement = ast_.statements.at(leaf.statement);
  std::vector<Fragment> fragments;
  if (language_ == Language::device_cpp)
    fragments = choose_fragments(make_leaf_view(leaf, ast_, program_, storage_, settled_), machine_.find_atom(statement.atom), storage_);
  // What no access of the atom fits is copied element by element, and done at once.
  const Pipe* pipe = machine_.pipe_of(statement.atom);
  const bool flies = pipe != nullptr;
  const bool boxed = flies && pipe->completion == Completion::counted;
  const Atom* atom = machine_.find_atom(statement.atom);
  const bool together = atom != nullptr && atom->is_collective();
  if (flies && !moves_alike(fragments)) fragments.clear();
  if (std::any_of(fragments.begin(), fragments.end(), [&](const Fragment& fragment) { return false_flags_.count(fragment.flag) != 0; })) fragments.clear();
  PrintFacts::Leaf fact;
  if (muted_ == 0 || together || boxed) {
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
    fact.streamed = statement.stream;
    for (const Fragment& fragment : fragments) fact.wide.push_back(fragment.access);
    if (flies && !fragments.empty()) fact.pipe = machine_.pipe_of(statement.atom)->name;
  }
  if (together) return print_together(leaf, std::move(fact));
  if (boxed) return print_box_copy(leaf, std::move(fact));
  if (muted_ == 0) facts_.leaves.push_back(std::move(fact));
  for (Fragment& fragment : fragments)
    if (true_flags_.count(fragment.flag) != 0) fragment.flag.clear();
  AstLeaf resolved = leaf;
  resolved.write = resolve(leaf.write);
  resolved.indices = resolve(leaf.indices);
  resolved.extents = resolve(leaf.extents);
  resolved.instance = resolve(leaf.instance);
  for (auto& read : resolved.reads) read = resolve(read);
  LeafView view = make_leaf_view(resolved, ast_, program_, storage_, settled_);
  view.ahead = reads_ahead(leaf);
  LeafPrinter printer(out_, storage_, names_, helpers_, machine_, machine_.vector_bytes, language_);
  const Boxes boxes = std::exchange(boxes_, Boxes::any);
  const bool braced = take_braces();
  if (flies && !fragments.empty()) return printer.print_async(view, fragments, braced, !true_flags_.empty());
  if (boxes == Boxes::whole) return printer.print_wide(view, fragments);
  printer.print(view, braced, boxes == Boxes::any ? fragments : std::vector<Fragment>{});
}

void BodyPrinter::print_together(const AstLeaf& leaf, PrintFacts::Leaf) {
  refuse("atom", leaf.statement, "atom " + ast_.statements.at(leaf.statement).atom + " is run by several agents together, and this language has none");
}

void BodyPrinter::print_box_copy(const AstLeaf& leaf, PrintFacts::Leaf) {
  refuse("atom", leaf.statement, "atom " + ast_.statements.at(leaf.statement).atom + " copies boxes by an engine that this language has no words for");
}

void BodyPrinter::print_for(const AstFor& loop) {
  take_braces();
  if (loop.binding) return print_bound(loop);
  const std::vector<std::int64_t> values = registers_.unrolled.count(loop.variable) != 0 ? unrolled_values(loop, constants_) : std::vector<std::int64_t>{};
  return values.empty() ? print_loop(loop) : print_unrolled(loop, values);
}

std::string BodyPrinter::unroll_count(const AstFor& loop) const {
  const auto lower = constant_value(fold(resolve(loop.lower)));
  const auto upper = constant_value(fold(resolve(loop.upper)));
  long count = 4;
  // A last iteration that comes early leaves the loop's length open, not the most that it may be.
  const AstExprPtr last = fold(resolve(loop.upper));
  if (language_ == Language::device_cpp && lower && last->kind == AstExpr::Kind::min)
    for (const AstExprPtr& most : last->arguments)
      if (const auto constant = constant_value(most)) count = std::min<long>(max_unroll_around_tiles, (*constant - *lower) / loop.step + 1);
  if (lower && upper) count = (*upper - *lower) / loop.step + 1;
  return count < 2 || count > max_hinted_unroll ? "" : std::to_string(count);
}

void BodyPrinter::print_counting(const AstFor& loop, const std::string& pragma) {
  const SimdLoop lanes = analyze_simd_loop(loop, ast_, program_, language_ == Language::device_cpp);
  const bool accumulates = lanes.allowed && lanes.single_leaf && lanes.accumulations.size() == 1;
  if (!accumulates || !replaceable(lanes.accumulations[0])) return print_loop_lines(loop, pragma);
  print_replaced(loop, lanes.accumulations[0], pragma, [](const std::string&) { return std::string(); });
}

void BodyPrinter::print_replaced(const AstFor& loop, const Accumulation& accumulation, const std::string& pragma_head,
                                 const std::function<std::string(const std::string&)>& clause) {
  const Storage original = storage_.find(accumulation.statement->write_array);
  const std::string element = storage_.element_c(original, resolve(accumulation.leaf->write));
  out_.open("if (" + integer_c(resolve(loop.lower), names_, helpers_, 5) + " <= " + integer_c(resolve(loop.upper), names_, helpers_, 5) + ")");
  Storage variable = original;
  variable.kind = Storage::Kind::scalar;
  variable.name = names_.fresh(original.name + "_acc");
  variable.strides.clear();
  out_.line(storage_type_c(original.element) + " " + variable.name + " = " + element + ";");
  storage_.add(variable);
  PrintFacts::Accumulator held{accumulation.statement->write_array, {}, type_name(original.element)};
  for (const AstExprPtr& subscript : accumulation.leaf->write) held.subscripts.push_back(ast_expr_text(subscript));
  print_loop_lines(loop, pragma_head + clause(variable.name), false, std::move(held));
  storage_.add(original);
  out_.line(element + " = " + variable.name + ";");
  out_.close();
}

void BodyPrinter::print_allocate(const AstAllocate& allocate) {
  begin_allocation();
  const bool braces = !take_braces();
  if (braces) out_.open("");
  for (const std::string& name : allocate.arrays) declare_array(promoted(name));
  declare_rings(allocate);
  print_body(allocate.body);
  if (braces) out_.close();
  end_allocation();
}

}  // namespace tileopt
