#include "interpreter/provenance_loops.h"

#include <algorithm>

#include "interpreter/number.h"
#include "interpreter/provenance.h"
#include "support/error.h"
#include "support/text.h"

namespace tileopt {

std::int64_t SlotExpr::evaluate(const std::vector<std::int64_t>& slots) const {
  const auto a = [&](std::size_t i) { return arguments[i].evaluate(slots); };
  std::int64_t r = 0;
  const auto checked = [&](bool overflow) {
    if (overflow) throw ProvenanceFault{"bounds", "an expression leaves 64 bits"};
    return r;
  };
  const auto divisor = [&] {
    const std::int64_t by = a(1);
    if (by < 1) throw ProvenanceFault{"bounds", "an expression divides by " + std::to_string(by)};
    return by;
  };
  using Kind = AstExpr::Kind;
  switch (kind) {
    case Kind::integer: return value;
    case Kind::name: return slots[static_cast<std::size_t>(value)];
    case Kind::negate: return checked(__builtin_sub_overflow(std::int64_t(0), a(0), &r));
    case Kind::add: return checked(__builtin_add_overflow(a(0), a(1), &r));
    case Kind::sub: return checked(__builtin_sub_overflow(a(0), a(1), &r));
    case Kind::mul: return checked(__builtin_mul_overflow(a(0), a(1), &r));
    case Kind::floor_div: return floor_quotient(a(0), divisor());
    case Kind::exact_div: return a(0) / divisor();
    case Kind::modulo: {
      const std::int64_t by = divisor(), dividend = a(0);
      return dividend - by * floor_quotient(dividend, by);
    }
    case Kind::min: return std::min(a(0), a(1));
    case Kind::max: return std::max(a(0), a(1));
    case Kind::select: return a(0) != 0 ? a(1) : a(2);
    case Kind::eq: return a(0) == a(1);
    case Kind::ne: return a(0) != a(1);
    case Kind::lt: return a(0) < a(1);
    case Kind::le: return a(0) <= a(1);
    case Kind::gt: return a(0) > a(1);
    case Kind::ge: return a(0) >= a(1);
    case Kind::logical_and: return a(0) != 0 && a(1) != 0;
    case Kind::logical_or: return a(0) != 0 || a(1) != 0;
  }
  return r;
}

namespace {

[[noreturn]] void fail_text(const std::string& message) { throw ProvenanceFault{"text", message}; }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class Lowering {
 public:
  Lowering(const Program& program, const Ast& ast, const PrintFacts* facts, const Machine& machine, const Sizes& sizes,
           std::vector<std::int64_t>& values)
      : program_(program), ast_(ast), facts_(facts), machine_(machine), values_(values) {
    for (const auto& [name, size] : sizes) declare(name, size);
  }

  PrintedLoops run() {
    PrintedLoops result;
    result.root = node(ast_.root, 0);
    if (facts_ != nullptr && (loop_ != facts_->loops.size() || condition_ != facts_->conditions.size() || leaf_ != facts_->leaves.size()))
      fail_text("more was printed than the loops of kernel " + ast_.kernel);
    result.slots = values_.size();
    result.parallel_depth = deepest_ + 1;
    return result;
  }

 private:
  std::size_t declare(const std::string& name, std::int64_t value) {
    slots_[name] = values_.size();
    values_.push_back(value);
    return values_.size() - 1;
  }

  SlotExpr expr(const AstExprPtr& source) const {
    SlotExpr result{source->kind, source->value, {}};
    if (source->kind == AstExpr::Kind::name) {
      const auto found = slots_.find(source->name);
      if (found == slots_.end()) throw ProvenanceFault{"bounds", "`" + source->name + "` has no value where it is used"};
      result.value = static_cast<std::int64_t>(found->second);
    }
    for (const AstExprPtr& argument : source->arguments) result.arguments.push_back(expr(argument));
    return result;
  }
  SlotExprs exprs(const std::vector<AstExprPtr>& sources) const {
    SlotExprs result;
    for (const AstExprPtr& source : sources) result.push_back(expr(source));
    return result;
  }
  static AstExprPtr parsed(const std::string& text) { return parse_ast_expr(text, "print facts"); }

  PrintedNode node(const AstNodePtr& source, std::size_t depth) {
    PrintedNode result;
    if (source == nullptr) return result;
    if (std::holds_alternative<AstRoles>(source->node) || std::holds_alternative<AstSync>(source->node))
      throw ProvenanceUnsupported("roles and synchronisation");
    if (const auto* loop = std::get_if<AstFor>(&source->node)) return lower_loop(*loop, depth);
    if (const auto* leaf = std::get_if<AstLeaf>(&source->node)) return lower_leaf(*leaf);
    if (const auto* block = std::get_if<AstBlock>(&source->node))
      for (const AstNodePtr& child : block->children) result.children.push_back(node(child, depth));
    if (const auto* branch = std::get_if<AstIf>(&source->node)) {
      result.kind = PrintedNode::Kind::branch;
      result.condition = expr(condition_of(*branch));
      result.children.push_back(node(branch->then_body, depth));
      result.children.push_back(node(branch->else_body, depth));
    }
    if (const auto* allocate = std::get_if<AstAllocate>(&source->node)) {
      result.kind = PrintedNode::Kind::allocate;
      result.arrays = allocate->arrays;
      result.children.push_back(node(allocate->body, depth));
    }
    return result;
  }

  AstExprPtr condition_of(const AstIf& branch) {
    if (facts_ == nullptr) return branch.condition;
    if (condition_ >= facts_->conditions.size()) fail_text("a condition was not printed");
    return parsed(facts_->conditions[condition_++]);
  }

  const PrintFacts::Loop* printed_loop(const AstFor& loop) {
    if (facts_ == nullptr) return nullptr;
    if (loop_ >= facts_->loops.size()) fail_text("loop " + loop.variable + " was not printed");
    const PrintFacts::Loop* printed = &facts_->loops[loop_++];
    if (printed->variable != loop.variable) fail_text("loop " + loop.variable + " was printed as " + printed->variable);
    return printed;
  }

  PrintedNode lower_loop(const AstFor& loop, std::size_t depth) {
    const PrintFacts::Loop* printed = printed_loop(loop);
    PrintedNode result;
    result.kind = PrintedNode::Kind::loop;
    result.variable = loop.variable;
    result.lower = expr(printed != nullptr ? parsed(printed->lower) : loop.lower);
    result.upper = expr(printed != nullptr ? parsed(printed->upper) : loop.upper);
    result.step = printed != nullptr ? printed->step : loop.step;
    if (result.step < 1) throw ProvenanceFault{"coverage", "loop " + loop.variable + " has a step below 1"};
    result.pragma = printed != nullptr ? printed->pragma : "";
    const std::string level = printed != nullptr ? printed->level : loop.level;
    const Level* kind = machine_.find_level(level);
    if (kind == nullptr) throw ProvenanceUnsupported("the machine has no level " + level);
    result.independent = kind->kind == LevelKind::independent || kind->kind == LevelKind::barrier || has(result.pragma, "omp parallel") || collapsed_;
    result.lanes = !result.independent && (kind->kind == LevelKind::lockstep || has(result.pragma, "simd"));
    collapsed_ = has(result.pragma, "collapse(");
    if (facts_ == nullptr ? loop.binding.has_value() : result.pragma == "bound") bind(result, loop, printed);
    const std::size_t below = depth + (result.independent || result.lanes ? 1 : 0);
    deepest_ = std::max(deepest_, below);
    const auto outer = slots_;
    result.slot = declare(loop.variable, 0);
    if (printed != nullptr && !printed->accumulator.array.empty()) {
      result.held = printed->accumulator.array;
      for (const std::string& subscript : printed->accumulator.subscripts) result.held_element.push_back(expr(parsed(subscript)));
      result.held_tested = printed->accumulator.tested;
    }
    if (result.binding != nullptr) settled_.push_back(loop.variable);
    const std::size_t leaves = leaves_;
    result.children.push_back(node(loop.body, below));
    result.single_leaf = leaves_ == leaves + 1;
    if (result.binding != nullptr) settled_.pop_back();
    slots_ = outer;
    return result;
  }

  void bind(PrintedNode& result, const AstFor& loop, const PrintFacts::Loop* printed) {
    if (!loop.binding) fail_text("loop " + loop.variable + " was printed for one value only");
    result.binding = &*loop.binding;
    std::size_t position = 0;
    for (const auto& [access, subscripts] : loop.binding->reads) {
      std::vector<AstExprPtr> list = subscripts;
      for (AstExprPtr& subscript : list) {
        if (printed != nullptr && position >= printed->subscripts.size()) fail_text("the value of loop " + loop.variable + " lacks a subscript");
        if (printed != nullptr) subscript = parsed(printed->subscripts[position++]);
      }
      result.bound_reads[access] = exprs(list);
    }
    for (const auto& [index, value] : loop.binding->indices) result.bound_indices.emplace(index, expr(value));
  }

  PrintedNode lower_leaf(const AstLeaf& leaf) {
    ++leaves_;
    const auto found = ast_.statements.find(leaf.statement);
    if (found == ast_.statements.end()) throw ProvenanceFault{"coverage", "leaf of an unknown statement " + leaf.statement};
    PrintedNode result;
    result.kind = PrintedNode::Kind::leaf;
    result.statement = &found->second;
    result.instance = exprs(leaf.instance);
    result.indices = exprs(leaf.indices);
    if (facts_ == nullptr) {
      result.write = exprs(leaf.write);
      for (const auto& read : leaf.reads) result.reads.push_back(exprs(read));
      result.extents = exprs(leaf.extents);
      set_tests(result, leaf, nullptr);
    } else {
      lower_printed_leaf(result, leaf);
    }
    return result;
  }

  void lower_printed_leaf(PrintedNode& result, const AstLeaf& leaf) {
    if (leaf_ >= facts_->leaves.size()) fail_text("leaf " + leaf.statement + " was not printed");
    const PrintFacts::Leaf& printed = facts_->leaves[leaf_++];
    if (printed.statement != leaf.statement) fail_text("leaf " + leaf.statement + " was printed as " + printed.statement);
    std::size_t position = 0;
    const auto take = [&](std::size_t count) {
      SlotExprs list;
      for (std::size_t i = 0; i < count; ++i) {
        if (position >= printed.subscripts.size()) fail_text("a subscript of " + leaf.statement + " was not printed");
        list.push_back(expr(parsed(printed.subscripts[position++])));
      }
      return list;
    };
    result.write = take(leaf.write.size());
    for (const auto& read : leaf.reads) result.reads.push_back(take(read.size()));
    for (const std::string& extent : printed.extents) result.extents.push_back(expr(parsed(extent)));
    result.printed_points = printed.points;
    set_tests(result, leaf, &printed.tested);
  }

  /// Guards that a bound loop around settles need no test.
  void set_tests(PrintedNode& result, const AstLeaf& leaf, const std::vector<std::string>* tested) const {
    if (!program_.has_statement(result.statement->statement) || result.statement->kind != "compute") return;
    const Statement& source = program_.statement(result.statement->statement);
    for (std::size_t g = 0; g < source.guards.size(); ++g) {
      const std::size_t iterator = source.guards[g].iterator;
      const bool settled = iterator < leaf.instance.size() && leaf.instance[iterator]->kind == AstExpr::Kind::name &&
                           contains(settled_, leaf.instance[iterator]->name);
      const bool test = tested == nullptr ? !settled : contains(*tested, "guard " + std::to_string(g));
      if (test) result.tested_guards |= std::uint32_t(1) << g;
    }
    result.tests_predicate = tested == nullptr ? source.predicate != nullptr : contains(*tested, "predicate");
    const Atom* atom = machine_.find_atom(result.statement->atom);
    result.atomic = tested == nullptr ? atom != nullptr && atom->body == "atomic_update" : contains(*tested, "atomic");
  }

  const Program& program_;
  const Ast& ast_;
  const PrintFacts* facts_;
  const Machine& machine_;
  std::vector<std::int64_t>& values_;
  std::map<std::string, std::size_t> slots_;
  std::vector<std::string> settled_;
  std::size_t loop_ = 0, condition_ = 0, leaf_ = 0, leaves_ = 0, deepest_ = 0;
  bool collapsed_ = false;
};

}  // namespace

PrintedLoops lower_printed(const Program& program, const Ast& ast, const PrintFacts* facts, const Machine& machine, const Sizes& sizes,
                           std::vector<std::int64_t>& values) {
  return Lowering(program, ast, facts, machine, sizes, values).run();
}

}  // namespace tileopt
