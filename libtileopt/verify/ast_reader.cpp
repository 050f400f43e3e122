/// Ast -> Execution: loops become iteration sets, leaves become points with their accesses and their place in time.
#include <algorithm>

#include "verify/ast_expr_reader.h"
#include "verify/execution.h"
#include "verify/spaces.h"

namespace tileopt::proof {

SourceLocation Leaf::where() const { return program != nullptr ? program->where : SourceLocation{}; }

namespace {

/// Deeper trees are refused before they can exhaust the stack.
constexpr int kMaxDepth = 400;

class Walker {
 public:
  Walker(const Program& program, const std::vector<Ast>& kernels, const Machine& machine)
      : program_(program), kernels_(kernels), machine_(machine) {
    execution_.program = &program;
    execution_.kernels = &kernels;
    execution_.context = program.context();
    for (const Tensor& tensor : program.tensors()) add_tensor(tensor);
  }

  Execution run() {
    for (kernel_ = 0; kernel_ < kernels_.size(); ++kernel_) {
      const Ast& ast = kernels_[kernel_];
      check_arrays(ast);
      scopes_.clear();
      role_.reset();
      time_.assign(1, TimeEntry{false, static_cast<long>(kernel_), 0});
      execution_.sizes.push_back(tested_sizes(ast));
      open_whole_kernel(ast);
      walk(ast.root, 0);
      open_.clear();
      open_rings_.clear();
    }
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      execution_.apart_.emplace_back();
      for (std::size_t other = 0; other < kernels_.size(); ++other) execution_.apart_.back().push_back(k != other && execution_.sizes[k].is_disjoint(execution_.sizes[other]));
    }
    return std::move(execution_);
  }

 private:
  /// One loop or condition between the root and the current node.
  struct Scope {
    const AstFor* loop = nullptr;  ///< null: a condition
    std::size_t loop_id = 0;
    isl::set runs;  ///< { [v0..vk] : all loops and conditions up to this one hold }
  };

  [[noreturn]] void fail(const std::string& message) const {
    throw Unreadable("kernel " + kernels_[kernel_].kernel + ": " + message);
  }

  /// [params] -> { : .. }: of the context, for which the test around a version's body holds.
  isl::set tested_sizes(const Ast& ast) const {
    const auto* test = ast.when.empty() || ast.root == nullptr ? nullptr : std::get_if<AstIf>(&ast.root->node);
    if (test == nullptr || test->else_body != nullptr) return execution_.context;
    const isl::set all = runs_so_far();
    return all.intersect(AstExprReader(all.space(), {}).holds(test->condition, all)).params();
  }

  void add_tensor(const Tensor& tensor) {
    ArrayUse use;
    use.key = use.name = tensor.name;
    use.tensor = &tensor;
    use.elements = tensor.elements(program_.ctx());
    use.rank = tensor.shape.size();
    execution_.arrays.push_back(std::move(use));
  }

  void check_arrays(const Ast& ast) const {
    std::vector<std::string> seen;
    for (const Array& array : ast.arrays) {
      if (program_.has_tensor(array.name)) fail("promoted array " + array.name + " has the name of a tensor");
      if (std::count(seen.begin(), seen.end(), array.name) != 0) fail("promoted array " + array.name + " is declared twice");
      for (const long extent : array.extents)
        if (extent < 1) fail("promoted array " + array.name + " has an extent below 1");
      seen.push_back(array.name);
    }
  }

  const Array& declared(const std::string& name) const {
    for (const Array& array : kernels_[kernel_].arrays)
      if (array.name == name) return array;
    fail("array " + name + " is not declared");
  }

  std::size_t loop_count() const {
    return static_cast<std::size_t>(std::count_if(scopes_.begin(), scopes_.end(), [](const Scope& s) { return s.loop != nullptr; }));
  }

  std::string unique_key(const std::string& wanted) const {
    std::string key = wanted;
    for (int n = 2; key_taken(key); ++n) key = wanted + "_" + std::to_string(n);
    return key;
  }
  bool key_taken(const std::string& key) const {
    return program_.has_tensor(key) || program_.has_statement(key) ||
           std::any_of(execution_.arrays.begin(), execution_.arrays.end(), [&](const ArrayUse& a) { return a.key == key; }) ||
           std::any_of(execution_.leaves.begin(), execution_.leaves.end(), [&](const Leaf& l) { return l.key == key; }) ||
           std::any_of(execution_.syncs.begin(), execution_.syncs.end(), [&](const Sync& s) { return s.key == key; });
  }

  void open_array(const std::string& name) {
    const Array& array = declared(name);
    ArrayUse use;
    use.key = unique_key(name);
    use.name = name;
    use.promoted = &array;
    use.tensor = program_.has_tensor(array.tensor) ? &program_.tensor(array.tensor) : nullptr;
    use.kernel = kernel_;
    use.outer_loops = loop_count();
    use.live_with = open_;
    use.live_with.insert(use.live_with.end(), beside_.begin(), beside_.end());
    if (!array.ring.empty()) use.ring = ring_index(array.ring);
    const std::size_t position = use.ring ? 1 : 0;
    use.elements = promoted_elements(program_, use.key, use.outer_loops + position, array.extents);
    use.rank = array.extents.size() + position;
    open_.push_back(execution_.arrays.size());
    execution_.arrays.push_back(std::move(use));
  }

  void open_ring(const std::string& name) {
    const Ring* ring = kernels_[kernel_].find_ring(name);
    if (ring == nullptr) fail("ring " + name + " is not declared");
    if (ring->slots < 1) fail("ring " + name + " has no slots");
    RingUse use;
    use.declared = ring;
    use.kernel = kernel_;
    for (const Scope& scope : scopes_)
      if (scope.loop != nullptr) {
        use.loop_ids.push_back(scope.loop_id);
        if (execution_.loops[scope.loop_id].is_agent()) fail("ring " + name + " inside loop " + scope.loop->variable + " over agents");
        use.goes_on = use.goes_on || scope.loop->persistent || execution_.loops[scope.loop_id].kind != LevelKind::independent;
      }
    open_rings_.push_back(execution_.rings.size());
    execution_.rings.push_back(use);
  }

  std::size_t ring_index(const std::string& name) const {
    for (auto open = open_rings_.rbegin(); open != open_rings_.rend(); ++open)
      if (execution_.rings[*open].declared->name == name) return *open;
    fail("ring " + name + " is used outside its scope, or unknown");
  }

  /// Arrays and rings that no node opens live as long as the kernel runs.
  void open_whole_kernel(const Ast& ast) {
    std::vector<std::string> allocated;
    collect_allocated(ast.root, allocated, 0);
    for (const Ring& ring : ast.rings)
      if (std::count(allocated.begin(), allocated.end(), ring.name) == 0) open_ring(ring.name);
    for (const Array& array : ast.arrays)
      if (std::count(allocated.begin(), allocated.end(), array.name) == 0) open_array(array.name);
  }

  void collect_allocated(const AstNodePtr& node, std::vector<std::string>& names, int depth) const {
    if (node == nullptr) return;
    if (depth > kMaxDepth) fail("the loops are nested too deeply");
    if (const auto* block = std::get_if<AstBlock>(&node->node))
      for (const AstNodePtr& child : block->children) collect_allocated(child, names, depth + 1);
    if (const auto* loop = std::get_if<AstFor>(&node->node)) collect_allocated(loop->body, names, depth + 1);
    if (const auto* branch = std::get_if<AstIf>(&node->node)) {
      collect_allocated(branch->then_body, names, depth + 1);
      collect_allocated(branch->else_body, names, depth + 1);
    }
    if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) {
      names.insert(names.end(), allocate->arrays.begin(), allocate->arrays.end());
      names.insert(names.end(), allocate->rings.begin(), allocate->rings.end());
      collect_allocated(allocate->body, names, depth + 1);
    }
    if (const auto* roles = std::get_if<AstRoles>(&node->node))
      for (const AstRole& role : roles->roles) collect_allocated(role.body, names, depth + 1);
  }

  void walk(const AstNodePtr& node, int depth) {
    if (node == nullptr) fail("a node is missing");
    if (depth > kMaxDepth) fail("the loops are nested too deeply");
    struct Visit {
      Walker& walker;
      int depth;
      void operator()(const AstBlock& n) const { walker.block(n, depth); }
      void operator()(const AstFor& n) const { walker.loop(n, depth); }
      void operator()(const AstIf& n) const { walker.branch(n, depth); }
      void operator()(const AstAllocate& n) const { walker.allocate(n, depth); }
      void operator()(const AstLeaf& n) const { walker.leaf(n); }
      void operator()(const AstRoles& n) const { walker.roles(n, depth); }
      void operator()(const AstSync& n) const { walker.sync(n); }
    };
    std::visit(Visit{*this, depth}, node->node);
  }

  void at_position(long position, const AstNodePtr& node, int depth) {
    time_.push_back(TimeEntry{false, position, 0});
    walk(node, depth + 1);
    time_.pop_back();
  }

  void block(const AstBlock& block, int depth) {
    if (block.children.size() == 1) return walk(block.children.front(), depth + 1);
    for (std::size_t i = 0; i < block.children.size(); ++i) at_position(static_cast<long>(i), block.children[i], depth);
  }

  void loop(const AstFor& loop, int depth) {
    if (loop.step < 1) fail("loop " + loop.variable + " has a step below 1");
    for (const Scope& scope : scopes_)
      if (scope.loop != nullptr && scope.loop->variable == loop.variable) fail("loop variable " + loop.variable + " hides another");
    const auto& parameters = program_.parameters();
    if (std::count(parameters.begin(), parameters.end(), loop.variable) != 0)
      fail("loop variable " + loop.variable + " hides a size parameter");
    LoopUse use;
    use.node = &loop;
    use.kernel = kernel_;
    use.depth = loop_count();
    use.reached = runs_so_far();
    use.iterations = iterations(loop);
    if (const Level* level = machine_.find_level(loop.level)) use.kind = level->kind;
    for (const Scope& scope : scopes_)
      if (scope.loop != nullptr) use.enclosing.push_back(scope.loop_id);
    const std::size_t id = execution_.loops.size();
    execution_.loops.push_back(std::move(use));
    time_.push_back(TimeEntry{true, 0, execution_.loops[id].depth});
    scopes_.push_back(Scope{&loop, id, execution_.loops[id].iterations});
    walk(loop.body, depth + 1);
    scopes_.pop_back();
    time_.pop_back();
  }

  /// The two branches never run together; their positions only keep their loops apart.
  void branch(const AstIf& branch, int depth) {
    const isl::set around = runs_so_far();
    const isl::set taken = AstExprReader(around.space(), positions()).holds(branch.condition, around);
    const isl::set rest = around.subtract(taken);
    scopes_.push_back(Scope{nullptr, 0, rest.is_empty() ? around : around.intersect(taken).coalesce()});
    at_position(0, branch.then_body, depth);
    scopes_.back().runs = rest.coalesce();
    if (branch.else_body != nullptr) at_position(1, branch.else_body, depth);
    scopes_.pop_back();
  }

  void allocate(const AstAllocate& allocate, int depth) {
    const std::vector<std::size_t> before = open_, rings_before = open_rings_;
    for (const std::string& name : allocate.rings) open_ring(name);
    for (const std::string& name : allocate.arrays) open_array(name);
    walk(allocate.body, depth + 1);
    open_ = before;
    open_rings_ = rings_before;
  }

  /// One role after the other: `races` proves it of all that meet.
  void roles(const AstRoles& roles, int depth) {
    if (role_) fail("roles inside role " + execution_.roles[*role_].name);
    for (std::size_t i = 0; i < roles.roles.size(); ++i) {
      const AstRole& role = roles.roles[i];
      role_ = role_index(role);
      const std::size_t first = execution_.arrays.size();
      at_position(static_cast<long>(i), role.body, depth);
      // What one role has is there while the others run; registers are each thread's own.
      for (std::size_t a = first; a < execution_.arrays.size(); ++a)
        if (execution_.arrays[a].promoted->space != "register") beside_.push_back(a);
    }
    beside_.clear();
    role_.reset();
  }

  /// A role that goes on in a second place is the same agent.
  std::size_t role_index(const AstRole& role) {
    if (role.threads < 1) fail("role " + role.name + " has no threads");
    for (std::size_t i = 0; i < execution_.roles.size(); ++i) {
      const RoleUse& known = execution_.roles[i];
      if (known.kernel != kernel_ || known.name != role.name) continue;
      if (known.threads != role.threads) fail("role " + role.name + " has two numbers of threads");
      return i;
    }
    execution_.roles.push_back({role.name, kernel_, role.threads});
    return execution_.roles.size() - 1;
  }

  void sync(const AstSync& node) {
    const Ast& ast = kernels_[kernel_];
    const auto found = ast.synchronizations.find(node.statement);
    if (found == ast.synchronizations.end()) fail("undeclared synchronisation " + node.statement);
    Sync sync;
    sync.declared = &found->second;
    sync.node = &node;
    place(sync, found->first, execution_.syncs);
    sync.points = runs(sync);
    const SyncKind kind = sync.declared->kind;
    if (targets_barrier(kind)) sync.barrier = ast.find_barrier(sync.declared->target);
    const bool whole = sync.barrier != nullptr && (sync.barrier->scope != BarrierScope::mbarrier || !sync.barrier->ring.empty());
    if (targets_barrier(kind) && !whole) fail("barrier " + sync.declared->target + " is not declared, or has no ring");
    if (targets_pipe(kind) && machine_.find_pipe(sync.declared->target) == nullptr)
      fail("machine " + machine_.name + " has no pipe " + sync.declared->target);
    const bool phased = sync.barrier != nullptr && !sync.barrier->ring.empty();
    const std::string ring = kind == SyncKind::advance ? sync.declared->target : phased ? sync.barrier->ring : sync.declared->ring;
    if (!ring.empty()) sync.ring = ring_index(ring);
    if (sync.ring && node.position == nullptr) fail("statement " + sync.label + " has no position on ring " + ring);
    if (sync.ring) sync.position = AstExprReader(sync.points.space(), positions()).value(node.position, sync.points);
    execution_.syncs.push_back(std::move(sync));
  }

  std::size_t array_index(const std::string& name) const {
    for (auto open = open_.rbegin(); open != open_.rend(); ++open)
      if (execution_.arrays[*open].name == name) return *open;
    for (std::size_t i = 0; i < program_.tensors().size(); ++i)
      if (execution_.arrays[i].name == name) return i;
    fail("array " + name + " is used outside its lifetime, or unknown");
  }

  /// Positions of the loop variables in scope.
  std::map<std::string, unsigned> positions() const {
    std::map<std::string, unsigned> dims;
    for (const Scope& scope : scopes_)
      if (scope.loop != nullptr) dims.emplace(scope.loop->variable, static_cast<unsigned>(dims.size()));
    return dims;
  }

  isl::set runs_so_far() const {
    if (!scopes_.empty()) return scopes_.back().runs;
    isl_space* space = named_space(program_, "", 0).release();
    return isl::set::universe(isl::manage(isl_space_reset_tuple_id(space, isl_dim_set))).intersect_params(execution_.context);
  }

  /// { [v0..vk] } with the loop's variable as the last dimension.
  isl::set iterations(const AstFor& loop) const {
    isl::set points = isl::manage(isl_set_add_dims(runs_so_far().release(), isl_dim_set, 1));
    const AstExprReader reader(points.space(), positions());
    const isl::pw_aff variable = reader.dim(static_cast<unsigned>(loop_count()));
    const isl::set above = reader.at_least(variable, loop.lower, points);
    const isl::set below = reader.at_most(variable, loop.upper, points);
    if (loop.step > 1) {
      const isl::pw_aff offset = variable.sub(reader.value(loop.lower, points));
      points = points.intersect(offset.mod(static_cast<long>(loop.step)).eq_set(reader.constant(0)));
    }
    return points.intersect(above).intersect(below).coalesce();
  }

  /// { L[v, b] : loops and conditions hold }
  isl::set runs(const Occurrence& occurrence) const {
    isl_set* points = isl_set_add_dims(runs_so_far().release(), isl_dim_set, static_cast<unsigned>(occurrence.box.size()));
    return isl::manage(isl_set_set_tuple_name(points, occurrence.key.c_str()));
  }

  /// corner + sum_d steps_d * b_d
  static isl::pw_aff at_box_point(const AstExprReader& reader, isl::pw_aff corner, const std::vector<long>& steps, std::size_t loops) {
    for (std::size_t d = 0; d < steps.size(); ++d) {
      if (steps[d] == 0) continue;
      corner = corner.add(reader.dim(static_cast<unsigned>(loops + d)).mul(reader.constant(steps[d])));
    }
    return corner;
  }

  PointAccess access(const AstExprReader& reader, const Leaf& leaf, const isl::space& space, const std::string& array,
                     const std::vector<AstExprPtr>& subscripts, const std::vector<std::vector<long>>& steps, const isl::set& performed) {
    PointAccess result;
    result.array = array_index(array);
    const ArrayUse& use = execution_.arrays[result.array];
    if (subscripts.size() != use.rank || steps.size() != use.rank)
      fail("leaf " + leaf.label + " gives " + std::to_string(subscripts.size()) + " subscripts to " + array);
    std::vector<isl::pw_aff> element;
    for (std::size_t i = 0; i < use.outer_loops; ++i) element.push_back(reader.dim(static_cast<unsigned>(i)));
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      if (steps[d].size() != leaf.box.size()) fail("leaf " + leaf.label + " has a malformed step for " + array);
      result.corner.push_back(reader.value(subscripts[d], performed));
      element.push_back(at_box_point(reader, result.corner.back(), steps[d], leaf.loops.size()));
    }
    result.element = tuple_function(space, use.key, element).as_map().intersect_domain(performed);
    return result;
  }

  LeafKind leaf_kind(const AstStatement& statement) const {
    if (statement.kind == "compute") return LeafKind::compute;
    if (statement.kind == "copy_in") return LeafKind::copy_in;
    if (statement.kind == "copy_out") return LeafKind::copy_out;
    fail("statement " + statement.name + " is of unknown kind `" + statement.kind + "`");
  }

  /// Name, place in time and loops of an occurrence; `all` holds the occurrences of its sort.
  template <class Occurrences>
  void place(Occurrence& occurrence, const std::string& name, const Occurrences& all) const {
    const auto earlier = std::count_if(all.begin(), all.end(), [&](const Occurrence& o) { return o.kernel == kernel_ && o.name == name; });
    occurrence.name = name;
    occurrence.label = name + (earlier == 0 ? "" : "#" + std::to_string(earlier + 1));
    occurrence.key = unique_key("run" + std::to_string(execution_.leaves.size() + execution_.syncs.size()) + "_" + name);
    occurrence.kernel = kernel_;
    occurrence.role = role_;
    occurrence.time = time_;
    for (const Scope& scope : scopes_)
      if (scope.loop != nullptr) {
        occurrence.loops.push_back(scope.loop->variable);
        occurrence.loop_ids.push_back(scope.loop_id);
      }
  }

  void leaf(const AstLeaf& node) {
    const auto found = kernels_[kernel_].statements.find(node.statement);
    if (found == kernels_[kernel_].statements.end()) fail("leaf of undeclared statement " + node.statement);
    const AstStatement& statement = found->second;
    Leaf leaf;
    leaf.kind = leaf_kind(statement);
    leaf.statement = &statement;
    leaf.node = &node;
    leaf.pipe = machine_.pipe_of(statement.atom);
    place(leaf, statement.name, execution_.leaves);
    for (const AstStatement::BoxDigit& digit : statement.box) leaf.box.push_back(digit.name);
    const isl::space space = named_space(program_, leaf.key, static_cast<unsigned>(leaf.loops.size() + leaf.box.size()));
    const AstExprReader reader(space, positions());
    find_points(leaf, reader, space);
    if (leaf.is_copy()) copy_accesses(leaf, reader, space);
    else compute_accesses(leaf, reader, space);
    if (node.signal_position != nullptr) leaf.signal = reader.value(node.signal_position, leaf.points);
    for (const std::size_t id : leaf.loop_ids) execution_.loops[id].leaves.push_back(execution_.leaves.size());
    execution_.leaves.push_back(std::move(leaf));
  }

  void find_points(Leaf& leaf, const AstExprReader& reader, const isl::space& space) const {
    isl::set box = runs(leaf);
    for (std::size_t d = 0; d < leaf.box.size(); ++d) {
      const long radix = leaf.statement->box[d].radix;
      if (radix < 1) fail("leaf " + leaf.label + " has a box digit of radix below 1");
      const auto position = static_cast<unsigned>(leaf.loops.size() + d);
      box = isl::manage(isl_set_lower_bound_si(box.release(), isl_dim_set, position, 0));
      isl_val* last = isl_val_int_from_si(program_.ctx().get(), radix - 1);
      box = isl::manage(isl_set_upper_bound_val(box.release(), isl_dim_set, position, last));
    }
    leaf.moved = box;
    isl::set kept = box;
    const auto& extents = leaf.node->extents;
    if (!extents.empty() && extents.size() != leaf.box.size()) fail("leaf " + leaf.label + " has a malformed extent");
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const isl::set below = reader.less_than(reader.dim(static_cast<unsigned>(leaf.loops.size() + d)), extents[d], box);
      leaf.moved = leaf.moved.intersect(below);
      if (!leaf.statement->box[d].whole) kept = kept.intersect(below);
    }
    const bool fills = leaf.kind == LeafKind::copy_in && leaf.statement->zero_fill;
    leaf.points = fills ? box : leaf.is_copy() ? leaf.moved : kept;
    leaf.zeroed = fills ? box.subtract(leaf.moved) : isl::set::empty(space);
  }

  void copy_accesses(Leaf& leaf, const AstExprReader& reader, const isl::space& space) {
    const AstStatement& statement = *leaf.statement;
    if (statement.read_arrays.size() != 1 || statement.read_steps.size() != 1 || leaf.node->reads.size() != 1)
      fail("copy " + leaf.label + " does not read exactly one array");
    leaf.write = access(reader, leaf, space, statement.write_array, leaf.node->write, statement.write_steps, leaf.points);
    leaf.reads.push_back(
        access(reader, leaf, space, statement.read_arrays[0], leaf.node->reads[0], statement.read_steps[0], leaf.moved));
    leaf.inside = leaf.moved;
    leaf.padding = isl::set::empty(space);
    leaf.instance = isl::map::empty(equal_prefix(space, space, 0).space());
  }

  void compute_accesses(Leaf& leaf, const AstExprReader& reader, const isl::space& space) {
    const AstStatement& statement = *leaf.statement;
    if (!program_.has_statement(statement.statement)) fail("leaf " + leaf.label + " runs unknown statement " + statement.statement);
    leaf.program = &program_.statement(statement.statement);
    const std::size_t rank = leaf.program->iterators.size();
    const std::size_t reads = leaf.program->reads.size();
    if (leaf.node->instance.size() != rank || statement.instance_steps.size() != rank)
      fail("leaf " + leaf.label + " does not name an instance of " + leaf.program->name);
    if (leaf.node->reads.size() != reads || statement.read_arrays.size() != reads || statement.read_steps.size() != reads)
      fail("leaf " + leaf.label + " has another number of reads than " + leaf.program->name);
    if (leaf.node->indices.size() != leaf.program->indices.size() || statement.index_steps.size() != leaf.program->indices.size())
      fail("leaf " + leaf.label + " has another number of index values than " + leaf.program->name);
    find_instances(leaf, reader, space);
    leaf.write = access(reader, leaf, space, statement.write_array, leaf.node->write, statement.write_steps, leaf.points);
    for (std::size_t r = 0; r < reads; ++r)
      leaf.reads.push_back(access(reader, leaf, space, statement.read_arrays[r], leaf.node->reads[r], statement.read_steps[r],
                                  performing(leaf, leaf.program->reads[r])));
    for (std::size_t x = 0; x < leaf.node->indices.size(); ++x) {
      if (statement.index_steps[x].size() != leaf.box.size()) fail("leaf " + leaf.label + " has a malformed index step");
      leaf.indices.push_back(at_box_point(reader, reader.value(leaf.node->indices[x], leaf.points), statement.index_steps[x],
                                          leaf.loops.size()));
    }
  }

  void find_instances(Leaf& leaf, const AstExprReader& reader, const isl::space& space) const {
    std::vector<isl::pw_aff> iterators;
    for (std::size_t i = 0; i < leaf.node->instance.size(); ++i) {
      const std::vector<long>& steps = leaf.statement->instance_steps[i];
      if (steps.size() != leaf.box.size()) fail("leaf " + leaf.label + " has a malformed instance step");
      iterators.push_back(at_box_point(reader, reader.value(leaf.node->instance[i], leaf.points), steps, leaf.loops.size()));
    }
    const isl::pw_multi_aff function = tuple_function(space, leaf.program->name, iterators);
    leaf.instance = function.as_map().intersect_domain(leaf.points);
    leaf.inside = leaf.points.intersect(leaf.program->domain.preimage(function)).coalesce();
    leaf.padding = leaf.points.subtract(leaf.inside).coalesce();
  }

  /// Scalar code evaluates only the taken branch of a choice; vector code reads all operands at every point.
  isl::set performing(const Leaf& leaf, const Access& read) const {
    if (!leaf.statement->atom.empty()) return leaf.moved;
    const isl::set idle = leaf.program->domain.intersect_params(execution_.context).subtract(read.index.domain());
    if (idle.is_empty()) return leaf.moved;
    return leaf.moved.subtract(leaf.instance.intersect_range(idle).domain());
  }

  const Program& program_;
  const std::vector<Ast>& kernels_;
  const Machine& machine_;
  Execution execution_;
  std::size_t kernel_ = 0;
  std::vector<Scope> scopes_;
  std::vector<TimeEntry> time_;
  std::vector<std::size_t> open_, open_rings_, beside_;
  std::optional<std::size_t> role_;
};

}  // namespace

Execution read_execution(const Program& program, const std::vector<Ast>& kernels, const Machine& machine) {
  return Walker(program, kernels, machine).run();
}

}  // namespace tileopt::proof
