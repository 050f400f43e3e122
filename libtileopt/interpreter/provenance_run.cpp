#include <algorithm>

#include "interpreter/provenance_loops.h"
#include "interpreter/provenance_reference.h"
#include "interpreter/scalar_code.h"
#include "support/text.h"

namespace tileopt {

namespace {

[[noreturn]] void fail(const std::string& obligation, const std::string& text) { throw ProvenanceFault{obligation, text}; }

std::string element_text(const ContentArray& array, const std::vector<std::int64_t>& subscripts) {
  std::vector<std::string> parts;
  for (const std::int64_t s : subscripts) parts.push_back(std::to_string(s));
  return array.name + "[" + join(parts, ", ") + "]";
}

/// The operator that a reduction clause merges a combine with.
std::string clause_operator(Combine combine) {
  switch (combine) {
    case Combine::sum: return "+";
    case Combine::prod: return "*";
    case Combine::min: return "min";
    case Combine::max: return "max";
    case Combine::any: return "||";
    case Combine::all: return "&&";
    case Combine::bit_and: return "&";
    case Combine::bit_or: return "|";
    case Combine::bit_xor: return "^";
    case Combine::assign:
    case Combine::monoid: break;
  }
  return "";
}

/// Reads of a bound loop's value, from what the caller passed in.
class BoundOperands : public OperandSource {
 public:
  std::map<std::size_t, TracedValue> reads;
  std::map<std::size_t, std::int64_t> indices;
  TracedValue read(std::size_t access, std::size_t, bool) override { return reads.at(access); }
  std::int64_t index_value(std::size_t index, bool) override { return indices.at(index); }
};

/// Whole-box leaves may run points outside of the domain.
bool runs_whole_box(const PrintedNode& leaf) { return leaf.extents.empty() && !leaf.statement->box.empty(); }

/// Small sizes fill whole boxes and panels; a runaway loop does more than that.
constexpr std::int64_t most_points = 30'000'000;

class Run {
 public:
  Run(const ProvenanceReference::Data& reference, const Machine& machine)
      : reference_(reference), program_(*reference.program), machine_(machine), runs_of_(reference.statements.size()),
        most_points_(most_points + 64 * reference.visited) {
    for (const Tensor& tensor : program_.tensors()) {
      ContentArray array;
      array.name = tensor.name;
      array.type = tensor.type;
      array.shape = reference.shapes.at(tensor.name);
      array.contents = reference.initial.at(tensor.name);
      array.most_elements = static_cast<std::int64_t>(array.contents.size());
      tensors_.emplace(tensor.name, std::move(array));
    }
  }

  void kernel(const Ast& ast, const PrintFacts* facts) {
    values_.clear();
    statements_ = &ast.statements;
    const PrintedLoops loops = lower_printed(program_, ast, facts, machine_, reference_.sizes, values_);
    depth_ = loops.parallel_depth;
    for (auto& [name, tensor] : tensors_) tensor.touches.clear();
    open_promoted(ast, facts);
    parallel_.clear();
    run(loops.root);
  }

  void finish() const {
    for (std::size_t s = 0; s < reference_.statements.size(); ++s)
      for (const auto& [key, instance] : reference_.statements[s].instances)
        if (instance.has_effect() && runs_of_[s].count(key) == 0)
          fail("coverage", "an instance of " + reference_.statements[s].source->name + " never runs");
    for (const Tensor& tensor : program_.tensors()) {
      if (tensor.role == TensorRole::local) continue;
      const std::vector<Content>& found = tensors_.at(tensor.name).contents;
      const std::vector<Content>& wanted = reference_.last.at(tensor.name);
      for (std::size_t i = 0; i < wanted.size(); ++i)
        if (found[i].digest() != wanted[i].digest()) fail("values", tensor.name + " holds something else at the end (element " + std::to_string(i) + ")");
    }
  }

 private:
  /// A write that adds to what stands there.
  struct Update {
    const ProvenanceStatement* statement = nullptr;
    bool atomic = false;
  };

  // ---- arrays

  void open_promoted(const Ast& ast, const PrintFacts* facts) {
    promoted_.clear();
    for (const Array& source : ast.arrays) {
      ContentArray array;
      array.name = source.name;
      array.type = source.element;
      array.shape.assign(source.extents.begin(), source.extents.end());
      array.tensor = false;
      array.one_register = source.space == "register" && source.elements() == 1;
      array.shared = source.space == "workspace";
      array.contents.resize(static_cast<std::size_t>(std::max(0L, source.elements())));
      array.most_elements = printed_elements(source, facts);
      array.open = true;
      promoted_[source.name] = std::move(array);
    }
    std::vector<std::string> allocated;
    collect_allocated(ast.root, allocated);
    for (const std::string& name : allocated)
      if (const auto found = promoted_.find(name); found != promoted_.end()) found->second.open = false;
  }
  static void collect_allocated(const AstNodePtr& node, std::vector<std::string>& names) {
    if (node == nullptr) return;
    if (const auto* block = std::get_if<AstBlock>(&node->node))
      for (const AstNodePtr& child : block->children) collect_allocated(child, names);
    if (const auto* loop = std::get_if<AstFor>(&node->node)) collect_allocated(loop->body, names);
    if (const auto* branch = std::get_if<AstIf>(&node->node)) {
      collect_allocated(branch->then_body, names);
      collect_allocated(branch->else_body, names);
    }
    if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) {
      names.insert(names.end(), allocate->arrays.begin(), allocate->arrays.end());
      collect_allocated(allocate->body, names);
    }
  }
  static std::int64_t printed_elements(const Array& source, const PrintFacts* facts) {
    if (facts == nullptr) return source.elements();
    for (const PrintFacts::Buffer& buffer : facts->buffers)
      if (buffer.array == source.name) return buffer.bytes / size_bytes(source.element);
    fail("text", "no storage was printed for " + source.name);
  }
  ContentArray& array(const std::string& name) {
    const auto found = promoted_.find(name);
    if (found != promoted_.end()) {
      if (!found->second.open) fail("bounds", name + " is used outside of its lifetime");
      return found->second;
    }
    const auto tensor = tensors_.find(name);
    if (tensor == tensors_.end()) fail("bounds", "unknown array " + name);
    return tensor->second;
  }

  std::size_t locate(const ContentArray& array, const std::vector<std::int64_t>& subscripts) const {
    const std::int64_t at = row_major(array.shape, subscripts.data());
    if (at < 0) fail("bounds", element_text(array, subscripts) + " is outside of the array");
    if (at >= array.most_elements) fail("text", element_text(array, subscripts) + " is outside of the printed storage");
    return static_cast<std::size_t>(at);
  }

  /// Notes the access for all parallel loops around whose iterations share the array.
  void touch(ContentArray& array, std::size_t at, bool write, const Update* update) {
    if (parallel_.size() <= array.outermost) return;
    if (array.touches.empty()) array.touches.resize(array.contents.size() * depth_);
    for (std::size_t p = array.outermost; p < parallel_.size(); ++p) {
      const ParallelIteration& loop = parallel_[p];
      Touch& touch = array.touches[at * depth_ + p];
      if (touch.run != loop.run) {
        touch = Touch();
        touch.run = loop.run;
      }
      const bool merged = update != nullptr && merges(loop, array, *update);
      const bool fine = write ? touch.write(loop.iteration, merged ? update->statement->reduction : 0) : touch.read(loop.iteration);
      if (!fine) fail("races", "two iterations meet at element " + std::to_string(at) + " of " + array.name);
    }
  }
  /// Over lanes by the loop's clause; over threads where the update itself keeps the others out.
  static bool merges(const ParallelIteration& loop, const ContentArray& array, const Update& made) {
    const ProvenanceStatement& update = *made.statement;
    if (update.reduction == 0 || update.source->combine == Combine::monoid) return false;
    const Combine how = update.source->combine;
    if (loop.joins == "dot") return how == Combine::sum;
    if (loop.joins == "reduce") return how == Combine::sum || how == Combine::prod || how == Combine::min || how == Combine::max;
    if (!loop.lanes) return made.atomic && array.tensor;
    if (!array.one_register && !loop.single_leaf) return false;
    if (loop.pragma.find("simd") == std::string::npos) return true;
    const std::size_t at = loop.pragma.find("reduction(");
    if (at == std::string::npos) return false;
    const Combine combine = update.source->combine;
    const bool named = combine == Combine::min || combine == Combine::max;
    return loop.pragma.find(named ? clause_operator(combine) : "reduction(" + clause_operator(combine) + " :", at) != std::string::npos;
  }

  // ---- loops

  void run(const PrintedNode& node) {
    switch (node.kind) {
      case PrintedNode::Kind::loop: return loop(node);
      case PrintedNode::Kind::leaf: return leaf(node);
      case PrintedNode::Kind::branch: return run(node.children[node.condition.evaluate(values_) != 0 ? 0 : 1]);
      case PrintedNode::Kind::allocate: return allocate(node);
      case PrintedNode::Kind::block:
        for (const PrintedNode& child : node.children) run(child);
    }
  }

  void allocate(const PrintedNode& node) {
    std::vector<ContentArray*> opened;
    for (const std::string& name : node.arrays) {
      const auto found = promoted_.find(name);
      if (found == promoted_.end()) fail("bounds", "unknown array " + name + " is allocated");
      ContentArray& array = found->second;
      array.open = true;
      array.outermost = array.shared ? 0 : parallel_.size();
      if (!array.shared) array.touches.clear();
      array.contents.assign(array.contents.size(), Content());
      opened.push_back(&array);
    }
    run(node.children.front());
    for (ContentArray* array : opened) array->open = false;
  }

  void count() {
    if (++points_ > most_points_) fail("coverage", "the loops run far more often than the Program has instances");
  }

  void loop(const PrintedNode& node) {
    std::int64_t low = node.lower.evaluate(values_), high = node.upper.evaluate(values_);
    if (node.binding != nullptr) {
      const std::int64_t value = bound_value(node);
      if (value < low || value > high) return;
      low = high = value;
    }
    if (!node.held.empty() && (low <= high || !node.held_tested)) {
      values_[node.slot] = low;
      hold(node);
    }
    const bool parallel = node.independent || node.lanes;
    if (parallel) parallel_.push_back({++runs_, 0, node.lanes, node.single_leaf, node.pragma});
    for (std::int64_t x = low; x <= high; x += node.step) {
      count();
      if (parallel) parallel_.back().iteration = x;
      values_[node.slot] = x;
      run(node.children.front());
    }
    if (parallel) parallel_.pop_back();
    if (!node.held.empty()) array(node.held).held.reset();
  }

  /// The element is loaded before the loop and stored after it, whatever the leaf does: until then the variable stands for it.
  void hold(const PrintedNode& node) {
    ContentArray& target = array(node.held);
    const std::vector<std::int64_t> element = corner(node.held_element);
    if (element.size() != target.shape.size()) fail("text", "an element of " + node.held + " is held that has another number of subscripts");
    target.held = locate(target, element);
    touch(target, *target.held, true, nullptr);
  }

  std::int64_t bound_value(const PrintedNode& node) {
    const AstBinding& binding = *node.binding;
    const AstStatement* leaf = nullptr;
    if (const auto found = statements_->find(binding.leaf); found != statements_->end()) leaf = &found->second;
    if (leaf == nullptr || !program_.has_statement(leaf->statement)) fail("coverage", "loop " + node.variable + " is bound by an unknown statement");
    const Statement& source = program_.statement(leaf->statement);
    if (binding.guard >= source.guards.size()) fail("coverage", "loop " + node.variable + " is bound by a guard that does not exist");
    BoundOperands operands;
    for (const auto& [access, subscripts] : node.bound_reads) operands.reads[access] = passed_in(leaf->read_arrays.at(access), subscripts);
    for (const auto& [index, value] : node.bound_indices) operands.indices[index] = value.evaluate(values_);
    const ErrorModel model = ErrorModel::of(program_.numerics());
    try {
      return ScalarCode(source.guards[binding.guard].value, model, false).evaluate(operands)->integer;
    } catch (const std::out_of_range&) {
      fail("coverage", "the value of loop " + node.variable + " lacks an operand");
    }
  }
  TracedValue passed_in(const std::string& name, const SlotExprs& subscripts) {
    const ContentArray& read = array(name);
    const std::vector<std::int64_t> element = corner(subscripts);
    if (element.size() != read.shape.size()) fail("bounds", name + " has another number of subscripts");
    const std::size_t at = locate(read, element);
    const auto argument = reference_.arguments.find(name);
    if (argument == reference_.arguments.end() || read.contents[at].digest() != reference_.initial.at(name)[at].digest())
      throw ProvenanceUnsupported("a loop is bound by a value that the kernels compute");
    if (is_float(read.type)) return TracedValue::exact_real(argument->second.get(static_cast<std::int64_t>(at)));
    return TracedValue::exact_integer(argument->second.get_integer(static_cast<std::int64_t>(at)));
  }

  // ---- leaves

  /// An operand of the leaf that runs: its array, and the element at the corner of the box.
  struct Operand {
    ContentArray* array = nullptr;
    std::optional<std::size_t> held = {};  ///< it stands for this element
    const std::vector<std::vector<long>>* steps = nullptr;
    std::vector<std::int64_t> corner;
  };
  /// A leaf at the values of the loops around.
  struct RunningLeaf {
    const PrintedNode* node = nullptr;
    const AstStatement* statement = nullptr;
    const ProvenanceStatement* source = nullptr;  ///< compute
    std::size_t number = 0;                       ///< of the source
    Operand write;
    std::vector<Operand> reads;
    std::vector<std::int64_t> instance, indices;
  };

  std::vector<std::int64_t> corner(const SlotExprs& exprs) const {
    std::vector<std::int64_t> result;
    for (const SlotExpr& expr : exprs) result.push_back(expr.evaluate(values_));
    return result;
  }
  Operand operand(const std::string& name, const SlotExprs& subscripts, const std::vector<std::vector<long>>& steps) {
    Operand result{&array(name), {}, &steps, corner(subscripts)};
    if (result.corner.size() != result.array->shape.size()) fail("bounds", name + " has another number of subscripts");
    return result;
  }
  std::int64_t moved(std::int64_t corner, const std::vector<long>& steps) const {
    for (std::size_t b = 0; b < point_.size() && b < steps.size(); ++b) corner += steps[b] * point_[b];
    return corner;
  }
  std::size_t place(const Operand& operand) {
    element_.resize(operand.corner.size());
    for (std::size_t d = 0; d < element_.size(); ++d) element_[d] = d < operand.steps->size() ? moved(operand.corner[d], (*operand.steps)[d]) : operand.corner[d];
    return operand.held ? *operand.held : locate(*operand.array, element_);
  }

  RunningLeaf start(const PrintedNode& node) {
    RunningLeaf leaf;
    leaf.node = &node;
    leaf.statement = node.statement;
    const AstStatement& statement = *node.statement;
    if (statement.kind == "compute") {
      const auto number = reference_.numbers.find(statement.statement);
      if (number == reference_.numbers.end()) fail("coverage", "leaf of an unknown statement " + statement.statement);
      leaf.number = number->second;
      leaf.source = &reference_.statements[leaf.number];
      if (node.instance.size() != leaf.source->source->iterators.size() || node.reads.size() != leaf.source->reads.size())
        fail("coverage", "a leaf of " + leaf.source->source->name + " names no instance");
    } else if (node.reads.size() != 1) {
      fail("values", "copy " + statement.name + " does not read one array");
    }
    if (statement.read_arrays.size() != node.reads.size() || statement.read_steps.size() != node.reads.size())
      fail("values", "a leaf of " + statement.name + " lacks operands");
    leaf.write = operand(statement.write_array, node.write, statement.write_steps);
    leaf.write.held = leaf.write.array->held;
    for (std::size_t r = 0; r < node.reads.size(); ++r) leaf.reads.push_back(operand(statement.read_arrays[r], node.reads[r], statement.read_steps[r]));
    leaf.instance = corner(node.instance);
    leaf.indices = corner(node.indices);
    return leaf;
  }

  void leaf(const PrintedNode& node) {
    const AstStatement& statement = *node.statement;
    const RunningLeaf running = start(node);
    const std::vector<std::int64_t> extents = corner(node.extents);
    point_.assign(statement.box.size(), 0);
    const bool box = !statement.box.empty();
    if (box) {
      const Atom* atom = machine_.find_atom(statement.atom);
      const bool joins = atom != nullptr && (atom->body == "dot" || atom->body == "reduce");
      parallel_.push_back({++runs_, 0, false, false, "", joins ? atom->body : ""});
    }
    for (long number = 0; node.printed_points == 0 || number < node.printed_points; ++number) {
      count();
      if (box) parallel_.back().iteration = number;
      bool within = true, lost = true;
      for (std::size_t b = 0; b < extents.size() && b < point_.size(); ++b) {
        within = within && point_[b] < extents[b];
        lost = lost && (point_[b] < extents[b] || statement.box[b].whole);
      }
      if (!within && lost && running.source != nullptr) {
        lose(running);
      } else if (!within) {
        if (statement.kind == "copy_in" && statement.zero_fill) store(running.write, Content::term(zero_term), nullptr);
      } else if (running.source != nullptr) {
        compute(running);
      } else {
        copy(running);
      }
      std::size_t b = point_.size();
      while (b > 0 && ++point_[b - 1] >= statement.box[b - 1].radix) point_[--b] = 0;
      if (b == 0) break;
    }
    if (box) parallel_.pop_back();
  }

  void store(const Operand& target, const Content& content, const Update* update) {
    const std::size_t at = place(target);
    touch(*target.array, at, true, update);
    target.array->contents[at] = content;
  }

  void copy(const RunningLeaf& leaf) {
    const Operand& source = leaf.reads.front();
    const std::size_t from = place(source);
    touch(*source.array, from, false, nullptr);
    Content content = source.array->contents[from];
    if (!leaf.write.array->tensor && !widens_exactly(source.array->type, leaf.write.array->type))
      content = Content::term(mix(content.digest(), narrowed));
    store(leaf.write, content, nullptr);
  }

  void compute(const RunningLeaf& leaf) {
    const ProvenanceStatement& source = *leaf.source;
    const std::size_t rank = leaf.instance.size();
    iterators_.resize(rank + source.slots + 1);
    for (std::size_t i = 0; i < rank; ++i)
      iterators_[i] = i < leaf.statement->instance_steps.size() ? moved(leaf.instance[i], leaf.statement->instance_steps[i]) : leaf.instance[i];
    const bool inside = source.domain.contains(iterators_.data(), rank);
    if (!inside && !runs_whole_box(*leaf.node)) fail("coverage", "a point outside of the domain of " + source.source->name + " runs");
    const Digest key = instance_key(iterators_.data(), rank);
    const auto found = source.instances.find(key);
    if (inside && found == source.instances.end()) fail("coverage", "an instance of " + source.source->name + " that the Program does not run");
    Digest contribution = contribution_start(leaf.number, key);
    for (std::size_t r = 0; r < source.reads.size(); ++r) contribution = mix(contribution, read(leaf, r, inside));
    for (std::size_t x = 0; x < source.indices.size(); ++x) contribution = mix(contribution, index_value(leaf, x));
    if (!inside) return pad(leaf, contribution);
    const ProvenanceStatement::Instance& instance = found->second;
    if (contribution != instance.contribution) fail("values", "an instance of " + source.source->name + " reads something else");
    if (has_effect(*leaf.node, source, instance)) effect(leaf, key, contribution);
  }

  /// Whether the printed tests let it have one; a test that is missing must not have been needed.
  static bool has_effect(const PrintedNode& node, const ProvenanceStatement& source, const ProvenanceStatement::Instance& instance) {
    if (instance.failing != 0) {
      if ((instance.failing & node.tested_guards) != 0) return false;
      fail("coverage", "an instance of " + source.source->name + " has an effect though its guard does not hold");
    }
    if (instance.predicate_holds) return true;
    if (node.tests_predicate) return false;
    fail("coverage", "an instance of " + source.source->name + " has an effect though its predicate does not hold");
  }

  void effect(const RunningLeaf& leaf, Digest key, Digest contribution) {
    const ProvenanceStatement& source = *leaf.source;
    const ContentArray& target = *leaf.write.array;
    const std::size_t at = place(leaf.write);
    int& runs = runs_of_[leaf.number][key];
    if (++runs > 1 && source.source->updates()) fail("coverage", "a contribution to " + source.source->name + " is made twice");
    const Content& old = target.contents[at];
    const bool update = source.source->combine != Combine::assign;
    if (update && old.state != Content::State::value) fail("values", source.source->name + " updates an element that holds no value");
    Content content = after_effect(old, source, contribution);
    if (!widens_exactly(program_.tensor(source.source->write.tensor).type, target.type)) content = Content::term(mix(content.digest(), narrowed));
    const Update made{&source, leaf.node->atomic};
    store(leaf.write, content, update ? &made : nullptr);
  }

  void pad(const RunningLeaf& leaf, Digest contribution) {
    const ContentArray& target = *leaf.write.array;
    if (target.tensor) fail("padding", "a padding point stores to " + target.name);
    Content content = Content::term(contribution);
    content.state = Content::State::padding;
    if (adds_zero(leaf)) content = target.contents[place(leaf.write)];
    const Update made{leaf.source, false};
    store(leaf.write, content, leaf.source->source->combine == Combine::assign ? nullptr : &made);
  }

  /// Beyond the extent of a digit that runs whole nothing is read, and what is written may be anything.
  void lose(const RunningLeaf& leaf) {
    if (leaf.write.array->tensor) fail("padding", "a point beyond the extents of " + leaf.source->source->name + " stores to " + leaf.write.array->name);
    Content content = Content::term(0);
    content.state = Content::State::padding;
    store(leaf.write, content, nullptr);
  }

  /// A sum of products stays what it is where the factors are zeros that a copy filled in: one for integers; both for floats, which may
  /// then have a zero added anywhere.
  bool adds_zero(const RunningLeaf& leaf) {
    const Statement& source = *leaf.source->source;
    const auto* product = std::get_if<Binary>(&source.body->node);
    if (source.combine != Combine::sum || product == nullptr || product->op != BinaryOp::mul) return false;
    const auto is_zero = [&](const ExprPtr& factor) {
      const Expr* at = factor.get();
      while (const auto* cast = std::get_if<Cast>(&at->node)) at = cast->operand.get();
      const auto* read = std::get_if<Read>(&at->node);
      if (read == nullptr || leaf.reads[read->access].array->tensor) return false;
      const Operand& operand = leaf.reads[read->access];
      return operand.array->contents[place(operand)].digest() == Content::term(zero_term).digest();
    };
    const bool left = is_zero(product->left), right = is_zero(product->right);
    return is_float(source.body->type) ? left && right && program_.numerics().reassociate : left || right;
  }

  /// Digest of what access `r` sees.
  Digest read(const RunningLeaf& leaf, std::size_t r, bool inside) {
    const ProvenanceStatement& source = *leaf.source;
    const bool performed = !inside || source.reads[r].find(iterators_.data(), leaf.instance.size()) != nullptr;
    if (!performed && leaf.statement->atom.empty()) return not_performed;
    ContentArray& from = *leaf.reads[r].array;
    const std::size_t at = place(leaf.reads[r]);
    touch(from, at, false, nullptr);
    const Content& content = from.contents[at];
    if (!performed) return not_performed;
    if (!inside) {
      if (!from.tensor && content.state == Content::State::none) fail("padding", "a padding point reads an element of " + from.name + " that was never set");
      return content.digest();
    }
    if (content.state == Content::State::none) fail("values", source.source->name + " reads an element of " + from.name + " that nobody wrote");
    if (content.state == Content::State::padding) fail("padding", source.source->name + " uses what a padding point computed");
    return content.digest();
  }

  Digest index_value(const RunningLeaf& leaf, std::size_t x) {
    if (leaf.source->indices[x].find(iterators_.data(), leaf.instance.size()) == nullptr) return not_performed;
    if (x >= leaf.indices.size()) fail("values", "an index value of " + leaf.source->source->name + " is missing");
    const auto& steps = leaf.statement->index_steps;
    return static_cast<Digest>(x < steps.size() ? moved(leaf.indices[x], steps[x]) : leaf.indices[x]);
  }

  static constexpr Digest zero_term = 0x2e40, narrowed = 0x9a77;

  const ProvenanceReference::Data& reference_;
  const Program& program_;
  const Machine& machine_;
  std::map<std::string, ContentArray> tensors_, promoted_;
  std::vector<std::int64_t> values_, point_, element_, iterators_;
  std::vector<ParallelIteration> parallel_;
  std::vector<std::unordered_map<Digest, int>> runs_of_;
  std::uint64_t runs_ = 0;
  std::size_t depth_ = 1;
  std::int64_t points_ = 0, most_points_;
  const std::map<std::string, AstStatement>* statements_ = nullptr;  ///< of the kernel that runs
};

}  // namespace

std::optional<ProvenanceFault> enumerate_kernels(const ProvenanceReference& reference, const std::vector<Ast>& kernels,
                                                 const std::vector<PrintFacts>& facts, const Machine& machine) {
  Run run(reference.data(), machine);
  try {
    for (std::size_t k = 0; k < kernels.size(); ++k) run.kernel(kernels[k], k < facts.size() ? &facts[k] : nullptr);
    run.finish();
  } catch (const ProvenanceFault& fault) {
    return fault;
  } catch (const Errors& error) {
    return ProvenanceFault{"text", error.what()};
  }
  return std::nullopt;
}

}  // namespace tileopt
