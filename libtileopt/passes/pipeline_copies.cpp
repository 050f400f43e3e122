/// Says which copies run ahead of their use, and how: asynchronously, or by ordinary loads whose values a thread holds in registers while it
/// computes.
///   kb > allocate(A_shared) > (copy_in_A_shared ; C)
///   -> kb > allocate(A_shared) > (allocate(A_shared_held) > (fetch_A_shared ; copy_in_A_shared) ; C),  A_shared on ring kb_ring
/// The copies are shifted along the loop when the loops are built (shift_copies).
#include <algorithm>
#include <cmath>

#include "passes/bulk_copy.h"
#include "passes/collective.h"
#include "passes/leaf_functions.h"
#include "passes/pass_limit.h"
#include "passes/passes.h"
#include "support/text.h"
#include "support/units.h"

namespace tileopt {

namespace {
constexpr long kMostHeld = 64;  ///< elements of one array that a thread holds in registers meanwhile

/// The branch that only `copy` runs becomes the load and the store of what is held; the sequences above learn of the load.
Tree hold_copy(const Tree& tree, const std::string& copy, const std::string& fetch, const std::string& held) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: return tree;
    case Tree::Kind::band: return Tree::band(tree.dim(), hold_copy(tree.child(), copy, fetch, held));
    case Tree::Kind::allocate: return Tree::allocate(tree.arrays(), hold_copy(tree.child(), copy, fetch, held));
    case Tree::Kind::nested: return Tree::nested(hold_copy(tree.child(), copy, fetch, held));
    case Tree::Kind::sequence: {
      std::vector<Tree::Branch> branches;
      for (const Tree::Branch& branch : tree.branches()) {
        Tree::Branch changed = branch;
        if (contains(branch.statements, copy)) {
          changed.statements.insert(std::find(changed.statements.begin(), changed.statements.end(), copy), fetch);
          const bool alone = branch.statements.size() == 1;
          changed.tree = alone ? Tree::allocate({held}, Tree::sequence({{{fetch}, branch.tree}, {{copy}, branch.tree}})) : hold_copy(branch.tree, copy, fetch, held);
        }
        branches.push_back(std::move(changed));
      }
      return Tree::sequence(std::move(branches));
    }
  }
  return tree;
}

/// It moves nothing, but sets to zero what the copy beside it leaves out.
bool only_fills(const LeafStatement& leaf) {
  if (!leaf.zero_fill || leaf.extents.empty()) return false;
  return std::any_of(leaf.extents.begin(), leaf.extents.end(), [](const isl::pw_aff& extent) {
    return isl::manage(isl_pw_aff_pos_set(extent.copy())).is_empty();
  });
}
}  // namespace

class CopyPipeliner {
 public:
  CopyPipeliner(PromotedSchedule promoted, const Machine& machine) : result_(std::move(promoted)), machine_(machine) {}

  Candidate<PipelinedSchedule> run() {
    for (const Pipelining& pipelining : plan().pipelines)
      if (auto problem = add(pipelining)) return *problem;
    if (auto problem = check_capacity()) return *problem;
    return std::move(result_);
  }

 private:
  const KernelPlan& plan() const { return result_.promoted_.plan(); }
  PromotedSchedule& promoted() { return result_.promoted_; }
  LevelKind kind_of(const std::string& dim) const { return machine_.find_level(result_.promoted_.level(dim))->kind; }
  Infeasible refuse(const std::string& code, const std::string& after, const std::string& reason, const std::string& hint = "") const {
    return Infeasible{code, "pipeline_copies", plan().name, "kernels[" + plan().name + "].pipelines[" + after + "]", reason, {}, "", hint};
  }
  Array* find_array(const std::string& name) {
    for (Array& array : promoted().arrays_)
      if (array.name == name) return &array;
    return nullptr;
  }

  std::optional<Infeasible> add(const Pipelining& asked) {
    if (!machine_.has_agents())
      return refuse("pin", asked.after, "machine " + machine_.name + " has no threads that a block shares memory among: nothing would run ahead", "drop the pipeline on this machine");
    PipelinedSchedule::Pipeline pipeline;
    pipeline.digit = asked.after;
    pipeline.ring = asked.after + "_ring";
    pipeline.slots = asked.slots;
    pipeline.distance = asked.ahead();
    if (kind_of(asked.after) != LevelKind::sequential)
      return refuse("pin", asked.after, "copies run ahead along sequential loops, and digit " + asked.after + " is on level " + promoted().level(asked.after));
    for (const Pipelining::Copy& copy : asked.copies)
      if (auto problem = add_copy(asked, copy, pipeline)) return problem;
    result_.pipelines_.push_back(std::move(pipeline));
    return std::nullopt;
  }

  std::optional<Infeasible> add_copy(const Pipelining& asked, const Pipelining::Copy& copy, PipelinedSchedule::Pipeline& pipeline) {
    Array& array = *find_array(copy.array);
    if (array.scope != asked.after)
      return refuse("pin", asked.after, "array " + array.name + " lives below `" + array.scope + "`, not below the loop whose copies run ahead");
    if (!machine_.is_of_block(array.space)) return refuse("pin", asked.after, "array " + array.name + " of space " + array.space + " belongs to no block");
    std::vector<std::string> copies;
    for (const LeafStatement& leaf : promoted().statements_) {
      const bool writes = leaf.write.array == array.name;
      const bool reads = std::any_of(leaf.reads.begin(), leaf.reads.end(), [&](const LeafAccess& read) { return read.array == array.name; });
      if (!writes && !reads) continue;
      if ((writes && leaf.kind != LeafKind::copy_in) || leaf.kind == LeafKind::copy_out)
        return refuse("legality", asked.after, "array " + array.name + " is written by " + leaf.name + ": only what is copied in may run ahead");
      if (!writes) continue;
      copies.push_back(leaf.name);
      if (auto problem = check_copy(asked, leaf, pipeline)) return problem;
    }
    if (copies.empty()) return refuse("legality", asked.after, "nothing is copied into " + array.name);
    pipeline.arrays.push_back(array.name);
    if (auto problem = copy.atom.empty() ? hold(asked, array, copies, pipeline) : fly(asked, copy.atom, copies, pipeline)) return problem;
    Array& ringed = *find_array(copy.array);
    ringed.ring = pipeline.ring;
    ringed.slots = pipeline.slots;
    return std::nullopt;
  }

  /// What is copied does not change in the kernel, and below the blocks stands a nest of sequential loops that ends in its loop: one line of
  /// positions, which starts at 0.
  std::optional<Infeasible> check_copy(const Pipelining& asked, const LeafStatement& copy, PipelinedSchedule::Pipeline& pipeline) const {
    const std::string& source = copy.reads.front().array;
    for (const LeafStatement& leaf : result_.promoted_.statements_)
      if (leaf.write.array == source) return refuse("legality", asked.after, leaf.name + " writes " + source + ", of which copies would run ahead");
    pipeline.around.clear();
    for (const std::string& dim : copy.dims) {
      if (dim == asked.after) break;
      const LevelKind kind = kind_of(dim);
      if (kind == LevelKind::sequential) pipeline.around.push_back(dim);
      if (kind == LevelKind::independent ? !pipeline.around.empty() : kind != LevelKind::sequential)
        return refuse("legality", asked.after, "a block runs loop " + asked.after + " once for every value of " + dim + ": positions of its ring would have to go on",
                      "pipeline the loop directly below the blocks");
    }
    return std::nullopt;
  }

  /// The statements become runs of the asynchronous atom.
  std::optional<Infeasible> fly(const Pipelining& asked, const std::string& name, const std::vector<std::string>& copies, PipelinedSchedule::Pipeline& pipeline) {
    const Atom* atom = machine_.find_atom(name);
    const Pipe* pipe = machine_.pipe_of(name);
    if (atom == nullptr || atom->body != "copy" || pipe == nullptr || (pipe->completion != Completion::group && pipe->completion != Completion::counted))
      return refuse("atom", asked.after, "machine " + machine_.name + " has no atom `" + name + "` that copies asynchronously, in groups or counted by bytes", "an empty atom copies by ordinary loads");
    if (!pipeline.pipe.empty() && pipeline.pipe != pipe->name) return refuse("atom", asked.after, "copies of one loop run on pipes " + pipeline.pipe + " and " + pipe->name);
    if (pipe->completion == Completion::counted) return fly_counted(asked, *atom, copies, pipeline);
    for (LeafStatement& leaf : promoted().statements_) {
      if (!contains(copies, leaf.name)) continue;
      pipeline.issued.push_back(leaf.name);
      if (only_fills(leaf)) continue;
      if (find_array(leaf.write.array)->element != promoted().program().tensor(leaf.reads.front().array).type)
        return refuse("atom", asked.after, leaf.name + " widens what it copies, and atom " + name + " moves bytes", "an empty atom copies by ordinary loads");
      const auto side_by_side = [&](const LeafAccess& access, std::size_t digit) {
        for (std::size_t d = 0; d < access.steps.size(); ++d)
          if (access.steps[d][digit] != (d + 1 == access.steps.size() ? 1 : 0)) return false;
        return true;
      };
      bool fits = false;
      for (std::size_t digit = 0; digit < leaf.box.size(); ++digit) fits = fits || (side_by_side(leaf.write, digit) && side_by_side(leaf.reads.front(), digit));
      if (!fits || leaf.box.size() != static_cast<std::size_t>(atom->rank))
        return refuse("atom", asked.after, "what " + leaf.name + " moves does not lie side by side on both sides, as atom " + name + " wants it", "an empty atom copies by ordinary loads");
      leaf.atom = name;
      pipeline.pipe = pipe->name;
    }
    if (pipeline.pipe.empty()) return refuse("atom", asked.after, "nothing is left for atom " + name + " to copy");
    return std::nullopt;
  }

  /// One agent issues boxes, whose bytes a barrier counts. What a box leaves out of the tensor is zero.
  std::optional<Infeasible> fly_counted(const Pipelining& asked, const Atom& atom, const std::vector<std::string>& copies, PipelinedSchedule::Pipeline& pipeline) {
    const std::string loads = "an empty atom copies by ordinary loads";
    for (LeafStatement& leaf : promoted().statements_) {
      if (!contains(copies, leaf.name)) continue;
      const Array& array = *find_array(leaf.write.array);
      const Tensor& tensor = promoted().program().tensor(leaf.reads.front().array);
      const auto no = [&](const std::string& reason) { return refuse("atom", asked.after, leaf.name + ": " + reason, loads); };
      if (array.element != tensor.type) return no("it widens what it copies, and atom " + atom.name + " moves bytes");
      // Digits before those of the atom are rows of rows: a box has as many dimensions as its tensor.
      const auto rank = static_cast<std::size_t>(atom.rank);
      if (leaf.box.size() < rank) return no("atom " + atom.name + " copies boxes of " + std::to_string(atom.rank) + " digits or more, and this one has " + std::to_string(leaf.box.size()));
      for (std::size_t d = 0; d < rank; ++d) {
        const FittedSchedule::BoxDigit& digit = leaf.box[leaf.box.size() - rank + d];
        if (atom.extents[d] != 0 && atom.extents[d] != digit.radix) return no("digit " + digit.name + " of its box has another radix than that of atom " + atom.name);
      }
      if (!leaf.extents.empty() && !leaf.zero_fill) return no("it copies a part of its box, and atom " + atom.name + " fills the rest with zeros");
      for (const std::string& dim : leaf.dims)
        if (kind_of(dim) == LevelKind::barrier) return no("digit " + dim + " spreads it over agents, and one of them issues atom " + atom.name);
      if (const std::string reason = why_not_matrix(array, atom.find_operand("result")->swizzle, atom.name); !reason.empty()) return no(reason);
      if (const auto obstacle = find_box_obstacle(promoted().program(), tensor, atom.widest_access(false))) return no(obstacle->reason);
      long bytes = size_bytes(array.element);  // of one position
      for (const FittedSchedule::BoxDigit& digit : leaf.box) bytes *= digit.radix;
      for (std::size_t d = std::find(leaf.dims.begin(), leaf.dims.end(), asked.after) - leaf.dims.begin() + 1; d < leaf.dims.size(); ++d) bytes *= promoted().radix(leaf.dims[d]);
      pipeline.bytes += bytes;
      pipeline.issued.push_back(leaf.name);
      leaf.atom = atom.name;
    }
    pipeline.pipe = atom.pipe;
    pipeline.counted = asked.after + "_full";
    return std::nullopt;
  }

  /// One load before the computation, one store after it.
  std::optional<Infeasible> hold(const Pipelining& asked, const Array& array, const std::vector<std::string>& copies, PipelinedSchedule::Pipeline& pipeline) {
    if (copies.size() != 1)
      return refuse("legality", asked.after, "array " + array.name + " is filled by " + join(copies, " and ") + ": what is held in registers comes by one copy");
    const auto found = std::find_if(promoted().statements_.begin(), promoted().statements_.end(), [&](const LeafStatement& s) { return s.name == copies.front(); });
    LeafStatement fetch = *found;
    Array held;
    held.name = fresh_array(array.name + "_held");
    held.tensor = array.tensor;
    held.element = promoted().program().tensor(array.tensor).type;
    held.space = "register";
    held.scope = asked.after;
    std::vector<std::size_t> places;
    const auto inside = static_cast<std::size_t>(std::find(fetch.dims.begin(), fetch.dims.end(), asked.after) - fetch.dims.begin()) + 1;
    for (const bool agents : {true, false})
      for (std::size_t d = inside; d < fetch.dims.size(); ++d) {
        if ((kind_of(fetch.dims[d]) == LevelKind::barrier) != agents) continue;
        const long radix = promoted().radix(fetch.dims[d]);
        if (radix == 0) return refuse("legality", asked.after, "loop " + fetch.dims[d] + " of " + fetch.name + " has no radix: registers would have no number");
        held.extents.push_back(radix);
        held.agent_dims += agents ? 1 : 0;
        places.push_back(d);
      }
    LeafAccess access{held.name, {}, std::vector<std::vector<long>>(places.size(), std::vector<long>(fetch.box.size(), 0))};
    std::vector<isl::pw_aff> values;
    for (const std::size_t d : places) values.push_back(dimension_function(fetch.domain.space(), d));
    for (std::size_t b = 0; b < fetch.box.size(); ++b) {
      held.extents.push_back(fetch.box[b].radix);
      access.steps.emplace_back(fetch.box.size(), 0);
      access.steps.back()[b] = 1;
      values.push_back(constant_function(fetch.domain.space(), 0));
    }
    if (static_cast<std::size_t>(held.agent_dims) == held.extents.size()) {  // one element: it has a place all the same
      held.extents.push_back(1);
      access.steps.emplace_back(fetch.box.size(), 0);
      values.push_back(constant_function(fetch.domain.space(), 0));
    }
    access.index = tuple_of(fetch.domain.space(), held.name, values);
    if (held.agent_elements() > kMostHeld)
      return refuse("capacity", asked.after, "a thread would hold " + std::to_string(held.agent_elements()) + " elements of " + array.name + " in registers, at most " + std::to_string(kMostHeld));
    LeafStatement store = *found;
    fetch.name = fresh_statement("fetch_" + array.name);
    isl_set* domain = isl_set_set_tuple_name(fetch.domain.release(), fetch.name.c_str());
    fetch.domain = isl::manage(domain);
    isl_ctx* ctx = promoted().program().ctx().get();
    const auto renamed = [&](const isl::pw_multi_aff& function) {
      return isl::manage(isl_pw_multi_aff_set_tuple_id(function.copy(), isl_dim_in, isl_id_alloc(ctx, fetch.name.c_str(), nullptr)));
    };
    const isl::pw_multi_aff index = access.index;
    fetch.write = access;
    fetch.write.index = renamed(index);
    fetch.reads.front().index = renamed(fetch.reads.front().index);
    fetch.instance = renamed(fetch.instance);
    for (isl::pw_aff& extent : fetch.extents) extent = isl::manage(isl_pw_aff_set_tuple_id(extent.release(), isl_dim_in, isl_id_alloc(ctx, fetch.name.c_str(), nullptr)));
    store.reads.front() = access;
    if (store.zero_fill) store.extents.clear();
    store.zero_fill = false;
    promoted().tree_ = hold_copy(promoted().tree_, store.name, fetch.name, held.name);
    pipeline.held.push_back(held.name);
    pipeline.issued.push_back(fetch.name);
    pipeline.stored.push_back(store.name);
    *found = std::move(store);
    promoted().statements_.insert(found, std::move(fetch));
    promoted().arrays_.push_back(std::move(held));
    return std::nullopt;
  }

  std::string fresh_array(std::string name) {
    while (find_array(name) != nullptr || promoted().program().has_tensor(name)) name += "_";
    return name;
  }
  std::string fresh_statement(std::string name) const {
    const auto& statements = result_.promoted_.statements_;
    while (std::any_of(statements.begin(), statements.end(), [&](const LeafStatement& s) { return s.name == name; })) name += "_";
    return name;
  }

  /// Arrays of a block lie side by side, all slots of each.
  std::optional<Infeasible> check_capacity() const {
    if (result_.pipelines_.empty()) return std::nullopt;
    std::map<std::string, double> total;
    for (const Array& array : result_.promoted_.arrays_) {
      if (!machine_.is_of_block(array.space)) continue;
      const double bytes = static_cast<double>(array.slots * array.stored_elements()) * size_bytes(array.element);
      total[array.space] += std::ceil(bytes / kBlockAlignment) * kBlockAlignment;
    }
    for (const auto& [name, bytes] : total)
      if (const Space* space = machine_.find_space(name); space->capacity > 0 && bytes > space->capacity)
        return refuse("capacity", result_.pipelines_.front().digit, "the arrays with all their slots need " + bytes_text(bytes) + " of \"" + name + "\" beside " + bytes_text(space->capacity) + " available",
                      "give fewer slots");
    return std::nullopt;
  }

  PipelinedSchedule result_;
  const Machine& machine_;
};

Candidate<PipelinedSchedule> PipelinedSchedule::create(PromotedSchedule promoted, const Machine& machine) { return CopyPipeliner(std::move(promoted), machine).run(); }

Document PipelinedSchedule::write() const {
  Document d;
  d["kernel"] = promoted_.plan().name;
  d["slots"] = Document::object();
  d["tree"] = promoted_.tree().write();
  for (const Pipeline& pipeline : pipelines_) {
    for (const std::string& array : pipeline.arrays) d["slots"][array] = pipeline.slots;
    Document entry = {{"loop", pipeline.digit}, {"ring", pipeline.ring}, {"ahead", pipeline.distance}};
    if (!pipeline.around.empty()) entry["around"] = pipeline.around;
    const std::string later = pipeline.digit + " + " + std::to_string(pipeline.distance);
    std::vector<std::string> steps;
    if (!pipeline.counted.empty()) {
      steps = {"wait " + pipeline.digit, "compute " + pipeline.digit, "await " + pipeline.digit + " - " + std::to_string(pipeline.in_flight()), "meet", "expect " + std::to_string(pipeline.bytes) + " bytes of " + later};
      for (const std::string& name : pipeline.issued) steps.push_back(name + " of " + later);
    } else {
      if (!pipeline.pipe.empty()) steps.push_back("await " + pipeline.digit);
      steps.push_back("meet");
      for (const std::string& name : pipeline.issued) steps.push_back(name + " of " + later);
      if (!pipeline.pipe.empty()) steps.push_back("commit");
      steps.push_back("compute " + pipeline.digit);
    }
    for (const std::string& name : pipeline.stored) steps.push_back(name + " of " + later);
    entry["iteration"] = steps;
    d["pipelines"].push_back(entry);
  }
  if (pipelines_.empty()) return d;
  d["arrays"] = Document::array();
  for (const Array& array : promoted_.arrays()) d["arrays"].push_back(array.write());
  return d;
}

Candidate<PipelinedSchedule> pipeline_copies(const PromotedSchedule& promoted, const Machine& machine) {
  return within_limit(promoted.program().ctx(), "pipeline_copies", promoted.plan().name, [&] { return PipelinedSchedule::create(promoted, machine); });
}

}  // namespace tileopt
