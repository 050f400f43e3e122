#include "interpreter/tree_interpreter.h"

#include <algorithm>

#include "interpreter/ast_walk.h"
#include "interpreter/interpreter.h"
#include "interpreter/stage_guards.h"
#include "interpreter/stage_leaf.h"
#include "interpreter/stage_steps.h"
#include "support/error.h"
#include "support/text.h"

namespace tileopt {

std::string TreePoint::text() const {
  std::vector<std::string> parts;
  for (const auto& [name, value] : digits) parts.push_back(name + "=" + std::to_string(value));
  return statement + "[" + join(parts, ", ") + "]";
}

std::string TreeFault::text() const {
  std::vector<std::string> subscripts;
  for (const std::int64_t i : index) subscripts.push_back(std::to_string(i));
  const std::string element = array + "[" + join(subscripts, ", ") + "]";
  switch (kind) {
    case Kind::uninitialised: return where.text() + " uses " + element + ", which holds no value";
    case Kind::out_of_bounds: return where.text() + " accesses " + element + ", outside the array";
    case Kind::race: return where.text() + " touches " + element + ", as another iteration of the same parallel band does; one of them writes";
    case Kind::undefined: return where.text() + " has no operand " + array + " at this point";
  }
  return where.text();
}

StageCode StageCode::of(const PromotedSchedule& promoted) {
  StageCode code{promoted.tree(), promoted.statements(), promoted.arrays(), {}};
  for (const LeafStatement& s : code.statements)
    for (const std::string& dim : s.dims) code.levels[dim] = promoted.level(dim);
  return code;
}

namespace {
constexpr long largest_box = 1L << 20;  ///< of an Ast's leaf; the passes make boxes of at most 4096 points

[[noreturn]] void reject_ast(const std::string& statement, const std::string& kernel, const std::string& message) {
  throw Errors(Diagnostic{ErrorCode::invalid_dump, {}, "statement `" + statement + "` of the Ast of kernel `" + kernel + "` " + message,
                          "compare the entry with a freshly written dump (docs/dumps.md)", ""});
}

/// A leaf's operands must fit its statement: an edited Ast may say anything.
void check_leaf(const AstLeaf& leaf, const std::map<std::string, LeafShape>& shapes, const std::string& kernel) {
  const auto found = shapes.find(leaf.statement);
  if (found == shapes.end()) reject_ast(leaf.statement, kernel, "is not among its statements");
  const LeafShape& shape = found->second;
  const auto check = [&](std::size_t given, std::size_t wanted, const std::string& what) {
    if (given != wanted)
      reject_ast(leaf.statement, kernel, "gives " + std::to_string(given) + " " + what + ", " + std::to_string(wanted) + " are needed");
  };
  check(leaf.write.size(), shape.write.array->shape().size(), "subscripts of its write");
  check(leaf.reads.size(), shape.reads.size(), "reads");
  for (std::size_t r = 0; r < shape.reads.size(); ++r)
    check(leaf.reads[r].size(), shape.reads[r].array->shape().size(), "subscripts of a read");
  if (!leaf.extents.empty()) check(leaf.extents.size(), shape.radices.size(), "extents");
  if (shape.statement == nullptr) return;
  check(leaf.instance.size(), shape.statement->iterators.size(), "iterators");
  if (leaf.indices.size() < shape.statement->indices.size()) reject_ast(leaf.statement, kernel, "lacks index values");
}

/// What a bound loop reads must be what its guard reads.
void check_binding(const AstBinding& binding, const std::map<std::string, LeafShape>& shapes, const std::string& kernel) {
  const auto found = shapes.find(binding.leaf);
  if (found == shapes.end() || found->second.statement == nullptr) reject_ast(binding.leaf, kernel, "binds a loop, but computes nothing");
  const LeafShape& shape = found->second;
  if (binding.guard >= shape.statement->guards.size()) reject_ast(binding.leaf, kernel, "has no guard number " + std::to_string(binding.guard));
  const bool known = (binding.reads.empty() || binding.reads.rbegin()->first < shape.reads.size()) &&
                     (binding.indices.empty() || binding.indices.rbegin()->first < shape.statement->indices.size());
  if (!known) reject_ast(binding.leaf, kernel, "binds a loop by reads that it does not have");
  walk_expr(shape.statement->guards[binding.guard].value, [&](const Expr& e) {
    if (const auto* read = std::get_if<Read>(&e.node)) {
      const auto given = binding.reads.find(read->access);
      if (given == binding.reads.end() || given->second.size() != shape.reads.at(read->access).array->shape().size())
        reject_ast(binding.leaf, kernel, "binds a loop without the subscripts of what its guard reads");
    }
    if (const auto* index = std::get_if<IndexValue>(&e.node); index != nullptr && binding.indices.count(index->index) == 0)
      reject_ast(binding.leaf, kernel, "binds a loop without an index value of its guard");
  });
}
}  // namespace

/// Runs a walk, turning what stops it into a fault at the current point.
class TreeInterpreter::State {
 public:
  State(const Program& program, const Machine& machine, const Sizes& sizes, const Arrays& arguments, const TreeOptions& options)
      : program_(program), machine_(machine), sizes_(sizes), arguments_(arguments), options_(options),
        model_(ErrorModel::of(program.numerics())), run_{&model_, &agents_, options.find_races} {
    check_sizes(program, sizes);
    for (const Tensor& tensor : program.tensors()) {
      const auto found = arguments.find(tensor.name);
      TILEOPT_CHECK(tensor.role == TensorRole::local || found != arguments.end(), "argument " + tensor.name + " is missing");
      const bool readable = tensor.role == TensorRole::in || tensor.role == TensorRole::inout;
      tensors_.emplace(tensor.name, std::make_unique<StageArray>(tensor.name, tensor.type, evaluate_shape(tensor, sizes),
                                                                 readable ? &found->second : nullptr, readable));
    }
  }

  std::optional<TreeFault> run_schedule(const Schedule& schedule);
  std::optional<TreeFault> run_digits(const DigitSchedule& digits, const FittedSchedule* fitted);
  std::optional<TreeFault> run_code(const StageCode& code);
  std::optional<TreeFault> run_ast(const Ast& ast);

  void watch(const std::string& tensor, std::int64_t offset) {
    run_.watched = tensors_.at(tensor).get();
    run_.watched_offset = offset;
    last_writer_.reset();
  }
  const std::optional<TreePoint>& last_writer() const { return last_writer_; }
  std::int64_t points() const { return points_; }

  Arrays results() const {
    Arrays results;
    for (const Tensor& tensor : program_.tensors()) {
      if (tensor.role != TensorRole::out && tensor.role != TensorRole::inout) continue;
      HostArray values = arguments_.at(tensor.name);
      tensors_.at(tensor.name)->copy_written(values);
      results.emplace(tensor.name, std::move(values));
    }
    return results;
  }

 private:
  using Promoted = std::map<std::string, std::unique_ptr<StageArray>>;

  const isl::set& domain_of(const std::string& statement) {
    const auto found = domains_.find(statement);
    if (found != domains_.end()) return found->second;
    return domains_.emplace(statement, fix_parameters(program_.statement(statement).domain, sizes_)).first->second;
  }
  const FlatSet& flat_domain_of(const std::string& statement) {
    const auto found = flat_domains_.find(statement);
    if (found != flat_domains_.end()) return found->second;
    return flat_domains_.emplace(statement, flatten_set(domain_of(statement))).first->second;
  }
  StageArray* find_array(const std::string& name, const Promoted& promoted) const {
    if (const auto found = promoted.find(name); found != promoted.end()) return found->second.get();
    const auto tensor = tensors_.find(name);
    return tensor == tensors_.end() ? nullptr : tensor->second.get();
  }
  bool is_atomic(const std::string& atom) const {
    const Atom* found = machine_.find_atom(atom);
    return found != nullptr && found->body == "atomic_update";
  }
  LevelKind level_kind(const std::string& level) const {
    const Level* found = machine_.find_level(level);
    return found == nullptr ? LevelKind::sequential : found->kind;
  }
  WalkOrder walk_order(std::function<LevelKind(const std::string&)> level) const {
    return {std::move(level), options_.order, options_.seed};
  }
  Promoted make_promoted(const std::vector<Array>& arrays) const {
    Promoted promoted;
    for (const Array& array : arrays)
      promoted.emplace(array.name, std::make_unique<StageArray>(array.name, array.element,
                                                                std::vector<std::int64_t>(array.extents.begin(), array.extents.end())));
    return promoted;
  }
  /// Types of the values that a program statement reads and writes, and how it merges them.
  void set_types(LeafShape& shape) const {
    shape.write.type = program_.tensor(shape.statement->write.tensor).type;
    if (shape.statement->combine == Combine::monoid) shape.merge = program_.monoid(shape.statement->monoid).combine;
    for (std::size_t r = 0; r < shape.reads.size(); ++r)
      shape.reads[r].type = program_.tensor(shape.statement->reads[r].tensor).type;
  }
  LeafShape program_shape(const Statement& statement, bool atomic = false) {
    LeafShape shape;
    shape.name = statement.name;
    shape.atomic = atomic;
    shape.statement = &statement;
    shape.domain = &flat_domain_of(statement.name);
    shape.write.array = tensors_.at(statement.write.tensor).get();
    for (const Access& read : statement.reads) shape.reads.push_back({tensors_.at(read.tensor).get(), ElementType::f32, {}});
    set_types(shape);
    return shape;
  }
  LeafShape leaf_shape(const LeafStatement& leaf, const Promoted& promoted);
  LeafShape ast_shape(const AstStatement& statement, const Ast& ast, const Promoted& promoted);

  void count(std::int64_t points) {
    points_ += points;
    if (points_ > options_.max_points)
      throw Errors(Diagnostic{ErrorCode::invalid_size, {program_.file(), 0, 0},
                              "more than " + std::to_string(options_.max_points) + " points at these sizes",
                              "choose smaller sizes for the stages", ""});
  }
  /// Runs a leaf; `where` says where, on demand.
  template <class Where>
  void execute(StageLeaf& leaf, LeafCorner& corner, const Where& where) {
    run_.watched_written = false;
    try {
      count(leaf.execute(corner));
    } catch (FaultSignal& signal) {
      fault_ = TreeFault{signal.kind, where(), std::move(signal.array), std::move(signal.index)};
      throw;
    }
    if (run_.watched_written) last_writer_ = where();
  }
  /// What a guard demands, known where the band of its iterator starts.
  template <class Where>
  std::int64_t guard_value(StageLeaf& leaf, std::size_t guard, LeafCorner& corner, const Where& where) {
    try {
      return leaf.guard_value(guard, corner);
    } catch (FaultSignal& signal) {
      fault_ = TreeFault{signal.kind, where(), std::move(signal.array), std::move(signal.index)};
      throw;
    }
  }
  /// The guards of a statement that bands of a stage can run one value for: what they read does not change meanwhile.
  /// `leaf`: reads where the stage keeps what the program reads; an index that is kept nearer is there only inside the band.
  std::vector<std::unique_ptr<StageGuard>> guards_of(const Statement& s, WalkStatement& walked, const Tree& tree, const isl::map& to_program,
                                                     const LeafStatement* leaf = nullptr) const {
    if (s.guards.empty() || reads_written(s) || (leaf != nullptr && reads_kept(s, *leaf))) return {};
    const isl::map instances = to_program.intersect_domain(walked.domain);
    auto guards = known_guards(s, walked.dims, path_dims(tree, walked.name), instances, sizes_);
    if (!guards.empty()) walked.guarded.resize(walked.dims.size());
    for (const auto& guard : guards) walked.guarded[guard->dimension] = 1;
    return guards;
  }
  static bool reads_kept(const Statement& s, const LeafStatement& leaf) {
    bool found = false;
    for (const Guard& guard : s.guards)
      walk_expr(guard.value, [&](const Expr& e) {
        const auto* read = std::get_if<Read>(&e.node);
        found = found || (read != nullptr && leaf.reads[read->access].array != s.reads[read->access].tensor);
      });
    return found;
  }
  bool reads_written(const Statement& s) const {
    bool found = false;
    for (const Guard& guard : s.guards)
      walk_expr(guard.value, [&](const Expr& e) {
        const auto* read = std::get_if<Read>(&e.node);
        for (const Statement& writer : program_.statements())
          found = found || (read != nullptr && writer.write.tensor == s.reads[read->access].tensor);
      });
    return found;
  }
  /// Nothing where the walk ran to its end.
  template <class Walk>
  std::optional<TreeFault> guard(const Walk& walk) {
    fault_.reset();
    agents_.launch();
    try {
      walk();
    } catch (const FaultSignal&) {
      return fault_;
    }
    return std::nullopt;
  }

  class StageVisitor;
  class LoopVisitor;

  const Program& program_;
  const Machine& machine_;
  Sizes sizes_;
  const Arrays& arguments_;
  TreeOptions options_;
  ErrorModel model_;
  Agents agents_;
  LeafRun run_;
  std::map<std::string, std::unique_ptr<StageArray>> tensors_;
  std::map<std::string, isl::set> domains_;         ///< { S[iterators] } at the sizes
  std::map<std::string, FlatSet> flat_domains_;
  std::optional<TreeFault> fault_;
  std::optional<TreePoint> last_writer_;
  std::int64_t points_ = 0;
};

/// Visits of a TreeWalk: statement number s runs leaf s with corner s.
class TreeInterpreter::State::StageVisitor : public TreeVisitor {
 public:
  StageVisitor(State& state, const Promoted& promoted) : state_(state), promoted_(promoted) {}
  void add(LeafShape shape, std::unique_ptr<StageStep> step, std::vector<std::unique_ptr<StageGuard>> guards = {}) {
    leaves_.emplace_back(std::move(shape), state_.run_);
    steps_.push_back(std::move(step));
    guards_.push_back(std::move(guards));
  }
  std::optional<TreeFault> run(TreeWalk& walk) {
    walk_ = &walk;
    for (std::size_t s = 0; s < steps_.size(); ++s) walk.reserve_slots(s, steps_[s]->slots());
    return state_.guard([&] { walk.run(*this); });
  }

  void visit(std::size_t s) override {
    std::int64_t* point = walk_->point(s);
    for (bool more = steps_[s]->begin(point); more; more = steps_[s]->next()) state_.execute(leaves_[s], *steps_[s], [&] { return where(s); });
  }
  std::int64_t guarded_value(std::size_t s, std::size_t dimension) override {
    for (const auto& guard : guards_[s])
      if (guard->dimension == dimension) return state_.guard_value(leaves_[s], guard->guard, guard->at(walk_->point(s)), [&] { return where(s); });
    TILEOPT_CHECK(false, "dimension " + std::to_string(dimension) + " of " + walk_->statement(s).name + " has no guard");
    return 0;
  }
  void open(const std::vector<std::string>& arrays) override {
    for (const std::string& name : arrays)
      if (StageArray* array = state_.find_array(name, promoted_); array != nullptr && !array->is_tensor()) array->open(state_.agents_);
  }
  void begin_parallel() override { state_.agents_.fork(); }
  void next_agent() override { state_.agents_.next(); }
  void end_parallel() override { state_.agents_.join(); }

 private:
  TreePoint where(std::size_t s) const {
    const WalkStatement& statement = walk_->statement(s);
    TreePoint here{statement.name, {}};
    for (std::size_t d = 0; d < statement.dims.size(); ++d) here.digits.emplace_back(statement.dims[d], walk_->point(s)[d]);
    return here;
  }

  State& state_;
  const Promoted& promoted_;
  std::vector<StageLeaf> leaves_;
  std::vector<std::unique_ptr<StageStep>> steps_;
  std::vector<std::vector<std::unique_ptr<StageGuard>>> guards_;
  TreeWalk* walk_ = nullptr;
};

/// Visits of an AstWalk.
class TreeInterpreter::State::LoopVisitor : public AstVisitor {
 public:
  LoopVisitor(State& state, const Promoted& promoted, const AstWalk& walk) : state_(state), promoted_(promoted), walk_(walk) {}
  void add(LeafShape shape) {
    const std::string name = shape.name;
    leaves_.emplace(name, StageLeaf(std::move(shape), state_.run_));
  }
  void visit_leaf(const std::string& leaf, LeafCorner& corner) override {
    state_.execute(leaves_.at(leaf), corner, [&] { return TreePoint{leaf, walk_.loops()}; });
  }
  std::int64_t bound_value(const std::string& leaf, std::size_t guard, LeafCorner& corner) override {
    return state_.guard_value(leaves_.at(leaf), guard, corner, [&] { return TreePoint{leaf, walk_.loops()}; });
  }
  void open(const std::vector<std::string>& arrays) override {
    for (const std::string& name : arrays)
      if (StageArray* array = state_.find_array(name, promoted_); array != nullptr && !array->is_tensor()) array->open(state_.agents_);
  }
  void begin_parallel() override { state_.agents_.fork(); }
  void next_agent() override { state_.agents_.next(); }
  void end_parallel() override { state_.agents_.join(); }

 private:
  State& state_;
  const Promoted& promoted_;
  const AstWalk& walk_;
  std::map<std::string, StageLeaf> leaves_;
};

std::optional<TreeFault> TreeInterpreter::State::run_schedule(const Schedule& schedule) {
  const Promoted none;
  StageVisitor visitor(*this, none);
  std::vector<WalkStatement> statements;
  for (const std::string& name : schedule.kernel().statements()) {
    const Statement& s = program_.statement(name);
    const isl::set& domain = domain_of(name);
    statements.push_back({name, s.iterators, domain});
    auto guards = guards_of(s, statements.back(), program_.order(), isl::manage(isl_set_identity(domain.copy())));
    visitor.add(program_shape(s), members_step(s, schedule.member_map(name), domain, sizes_), std::move(guards));
  }
  TreeWalk walk(program_.order(), std::move(statements));
  return visitor.run(walk);
}

std::optional<TreeFault> TreeInterpreter::State::run_digits(const DigitSchedule& digits, const FittedSchedule* fitted) {
  const Promoted none;
  StageVisitor visitor(*this, none);
  std::vector<WalkStatement> statements;
  for (const StatementSpace& space : digits.statements()) {
    const Statement& s = program_.statement(space.name);
    const auto choice = digits.plan().atoms.find(space.name);
    const bool atomic = choice != digits.plan().atoms.end() && is_atomic(choice->second.atom);
    const isl::set domain = fix_parameters(space.domain, sizes_);
    if (fitted == nullptr || fitted->leaf(space.name).box.empty()) {
      statements.push_back({space.name, space.dims, domain});
      auto guards = guards_of(s, statements.back(), digits.tree(), space.to_program);
      visitor.add(program_shape(s, atomic), digits_step(s, space, domain, domain_of(space.name), sizes_), std::move(guards));
    } else {
      BoxSpace outer = without_box(space, domain, fitted->leaf(space.name).box);
      statements.push_back({space.name, outer.dims, outer.domain});
      isl_map* runs = space.to_program.copy();
      for (std::size_t d = space.dims.size(); d-- > 0;)
        if (!contains(outer.dims, space.dims[d])) runs = isl_map_project_out(runs, isl_dim_in, static_cast<unsigned>(d), 1);
      runs = isl_map_set_tuple_name(runs, isl_dim_in, space.name.c_str());
      auto guards = guards_of(s, statements.back(), digits.tree(), isl::manage(runs));
      visitor.add(program_shape(s), boxed_step(s, space, domain, domain_of(space.name), outer, sizes_), std::move(guards));
    }
  }
  const KernelPlan& plan = digits.plan();
  TreeWalk walk(digits.tree(), std::move(statements), walk_order([&](const std::string& dim) {
    const Digit* digit = plan.find_digit(dim);
    return digit == nullptr ? LevelKind::sequential : level_kind(digit->level);
  }));
  return visitor.run(walk);
}

LeafShape TreeInterpreter::State::leaf_shape(const LeafStatement& leaf, const Promoted& promoted) {
  const auto operand = [&](const LeafAccess& access) {
    StageArray* array = find_array(access.array, promoted);
    TILEOPT_CHECK(array != nullptr, "leaf " + leaf.name + " accesses an unknown array " + access.array);
    return StageOperand{array, array->type(), access.steps};
  };
  LeafShape shape;
  shape.name = leaf.name;
  shape.kind = leaf.kind;
  for (const FittedSchedule::BoxDigit& digit : leaf.box) {
    shape.radices.push_back(digit.radix);
    shape.whole.push_back(digit.whole);
  }
  shape.zero_fill = leaf.zero_fill && leaf.kind == LeafKind::copy_in;
  shape.write = operand(leaf.write);
  for (const LeafAccess& read : leaf.reads) shape.reads.push_back(operand(read));
  if (leaf.kind != LeafKind::compute) return shape;
  shape.atomic = is_atomic(leaf.atom);
  shape.index_steps = leaf.index_steps;
  shape.instance_steps = leaf.instance_steps;
  shape.statement = &program_.statement(leaf.statement);
  shape.domain = &flat_domain_of(leaf.statement);
  set_types(shape);
  return shape;
}

std::optional<TreeFault> TreeInterpreter::State::run_code(const StageCode& code) {
  const Promoted promoted = make_promoted(code.arrays);
  StageVisitor visitor(*this, promoted);
  std::vector<WalkStatement> statements;
  for (const LeafStatement& leaf : code.statements) {
    const isl::set domain = fix_parameters(leaf.domain, sizes_);
    statements.push_back({leaf.name, leaf.dims, domain});
    statements.back().follows = leaf.kind != LeafKind::compute;
    std::vector<std::unique_ptr<StageGuard>> guards;
    if (leaf.kind == LeafKind::compute) guards = guards_of(program_.statement(leaf.statement), statements.back(), code.tree, leaf.instance.as_map(), &leaf);
    visitor.add(leaf_shape(leaf, promoted), leaf_step(leaf, domain, sizes_), std::move(guards));
  }
  TreeWalk walk(code.tree, std::move(statements), walk_order([&](const std::string& dim) {
    const auto found = code.levels.find(dim);
    return found == code.levels.end() ? LevelKind::sequential : level_kind(found->second);
  }));
  return visitor.run(walk);
}

LeafShape TreeInterpreter::State::ast_shape(const AstStatement& statement, const Ast& ast, const Promoted& promoted) {
  const auto reject = [&](const std::string& message) { reject_ast(statement.name, ast.kernel, message); };
  const auto operand = [&](const std::string& name, const std::vector<std::vector<long>>& steps) {
    StageArray* array = find_array(name, promoted);
    if (array == nullptr) reject("accesses an unknown array `" + name + "`");
    if (steps.size() != array->shape().size()) reject("has steps for another number of dimensions than `" + name + "` has");
    for (const std::vector<long>& row : steps)
      if (row.size() != statement.box.size()) reject("has steps for another number of box digits than its box has");
    return StageOperand{array, array->type(), steps};
  };
  LeafShape shape;
  shape.name = statement.name;
  shape.kind = statement.kind == "compute" ? LeafKind::compute : statement.kind == "copy_in" ? LeafKind::copy_in : LeafKind::copy_out;
  long points = 1;
  for (const AstStatement::BoxDigit& digit : statement.box) {
    if (digit.radix < 1) reject("has a box digit of radix " + std::to_string(digit.radix));
    if (__builtin_mul_overflow(points, digit.radix, &points) || points > largest_box) reject("has a box of more than 2^20 points");
    shape.radices.push_back(digit.radix);
    shape.whole.push_back(digit.whole);
  }
  shape.zero_fill = statement.zero_fill && shape.kind == LeafKind::copy_in;
  shape.write = operand(statement.write_array, statement.write_steps);
  for (std::size_t r = 0; r < statement.read_arrays.size(); ++r) {
    if (r >= statement.read_steps.size()) reject("lacks the steps of a read");
    shape.reads.push_back(operand(statement.read_arrays[r], statement.read_steps[r]));
  }
  if (shape.kind != LeafKind::compute) {
    if (shape.reads.size() != 1) reject("copies from " + std::to_string(shape.reads.size()) + " arrays");
    return shape;
  }
  if (!program_.has_statement(statement.statement)) reject("computes an unknown statement `" + statement.statement + "`");
  shape.statement = &program_.statement(statement.statement);
  shape.domain = &flat_domain_of(statement.statement);
  if (shape.reads.size() != shape.statement->reads.size()) reject("has another number of reads than its program statement");
  shape.atomic = is_atomic(statement.atom);
  shape.index_steps = statement.index_steps;
  shape.instance_steps = statement.instance_steps;
  if (shape.instance_steps.size() != shape.statement->iterators.size()) reject("has another number of iterators than its program statement");
  for (const auto* rows : {&shape.index_steps, &shape.instance_steps})
    for (const std::vector<long>& row : *rows)
      if (row.size() != statement.box.size()) reject("has steps for another number of box digits than its box has");
  set_types(shape);
  return shape;
}

std::optional<TreeFault> TreeInterpreter::State::run_ast(const Ast& ast) {
  if (synchronizes(ast.root))
    throw Errors(Diagnostic{ErrorCode::invalid_dump, {}, "the Ast of kernel `" + ast.kernel + "` runs roles side by side or synchronizes, which is not interpreted",
                            "run it in the emulator: `check --emulate`", ""});
  const Promoted promoted = make_promoted(ast.arrays);
  std::map<std::string, LeafShape> shapes;
  for (const auto& [name, statement] : ast.statements) {
    LeafShape shape = ast_shape(statement, ast, promoted);
    shape.name = name;
    shapes.emplace(name, std::move(shape));
  }
  AstWalk walk(ast, sizes_, walk_order([&](const std::string& level) { return level_kind(level); }), options_.max_points,
               [&](const AstLeaf& leaf) { check_leaf(leaf, shapes, ast.kernel); },
               [&](const AstBinding& binding) { check_binding(binding, shapes, ast.kernel); });
  LoopVisitor visitor(*this, promoted, walk);
  for (auto& [name, shape] : shapes) visitor.add(std::move(shape));
  return guard([&] { walk.run(visitor); });
}

TreeInterpreter::TreeInterpreter(const Program& program, const Machine& machine, const Sizes& sizes, const Arrays& arguments,
                                 const TreeOptions& options)
    : state_(std::make_unique<State>(program, machine, sizes, arguments, options)) {}
TreeInterpreter::~TreeInterpreter() = default;

std::optional<TreeFault> TreeInterpreter::run(const Schedule& schedule) { return state_->run_schedule(schedule); }
std::optional<TreeFault> TreeInterpreter::run(const DigitSchedule& digits) { return state_->run_digits(digits, nullptr); }
std::optional<TreeFault> TreeInterpreter::run(const FittedSchedule& fitted) { return state_->run_digits(fitted.digits(), &fitted); }
std::optional<TreeFault> TreeInterpreter::run(const StageCode& code) { return state_->run_code(code); }
std::optional<TreeFault> TreeInterpreter::run(const Ast& ast) { return state_->run_ast(ast); }
void TreeInterpreter::watch(const std::string& tensor, std::int64_t offset) { state_->watch(tensor, offset); }
const std::optional<TreePoint>& TreeInterpreter::last_writer() const { return state_->last_writer(); }
Arrays TreeInterpreter::results() const { return state_->results(); }
std::int64_t TreeInterpreter::points() const { return state_->points(); }

}  // namespace tileopt
