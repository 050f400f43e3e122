/// The copies of a promotion as leaf statements of the root domain, and the tree around them.
#include <algorithm>
#include <set>

#include "passes/collective.h"
#include "passes/passes.h"
#include "passes/promotion_builder.h"
#include "support/text.h"

namespace tileopt {

namespace {
constexpr long largest_copy_box = 64;    // elements the printer unrolls in one copy leaf
constexpr long largest_word = 4;         // elements side by side that one word may hold
constexpr long largest_zero_box = 1024;  // a zero leaf only loops at run time

/// Rebuilds `tree` with `change` applied to the child of the band `after` whose active statements are `wanted`;
/// the sequences above learn the names `added`.
template <class Change>
Tree change_scope(const Tree& tree, const std::vector<std::string>& active, const std::string& after, const std::vector<std::string>& wanted,
                  const std::vector<std::string>& added, const Change& change, bool& changed) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: return tree;
    case Tree::Kind::band:
      if (tree.dim() == after && active == wanted) {
        changed = true;
        return Tree::band(tree.dim(), change(tree.child()));
      }
      return Tree::band(tree.dim(), change_scope(tree.child(), active, after, wanted, added, change, changed));
    case Tree::Kind::allocate: return Tree::allocate(tree.arrays(), change_scope(tree.child(), active, after, wanted, added, change, changed));
    case Tree::Kind::nested: return Tree::nested(change_scope(tree.child(), active, after, wanted, added, change, changed));
    case Tree::Kind::sequence: {
      std::vector<Tree::Branch> branches;
      for (const Tree::Branch& b : tree.branches()) {
        bool here = false;
        Tree child = change_scope(b.tree, b.statements, after, wanted, added, change, here);
        Tree::Branch branch{b.statements, std::move(child)};
        if (here) branch.statements.insert(branch.statements.end(), added.begin(), added.end());
        changed = changed || here;
        branches.push_back(std::move(branch));
      }
      return Tree::sequence(std::move(branches));
    }
  }
  return tree;
}

/// Dimensions of the layout in the order of the copy's loops.
std::vector<std::size_t> loop_order(const Promotion& promotion) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < promotion.layout.size(); ++i) order.push_back(i);
  const auto place = [&](std::size_t i) { return std::find(promotion.copy_order.begin(), promotion.copy_order.end(), promotion.layout[i].name); };
  if (!promotion.copy_order.empty()) std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  return order;
}

isl::space tuple_space(isl::ctx ctx, const std::string& name, std::size_t dims) {
  isl_space* space = isl_space_set_alloc(ctx.get(), 0, static_cast<unsigned>(dims));
  return isl::manage(isl_space_set_tuple_name(space, isl_dim_set, name.c_str()));
}
}  // namespace

std::optional<Infeasible> PromotionBuilder::add_copies(const Promotion& promotion, const Scope& scope, const Tile& tile) {
  // Buffer elements that padded leaves read beyond the data: they must hold zeros.
  isl::set reached;
  if (promotion.zero_fill) {
    for (const std::string& name : scope.statements) {
      DigitStatement* s = find(name);
      if (s == nullptr || !s->leaf->padded) continue;
      for (const DigitAccess& read : s->reads) {
        if (read.array != promotion.array) continue;
        std::vector<isl::pw_aff> values;
        const isl::pw_multi_aff prefix = poly::as_function(keep_dims(s->digits->domain.space(), s->digits->dims, scope.prefix, "tile"));
        for (std::size_t i = 0; i < scope.prefix.size(); ++i) values.push_back(isl::manage(isl_pw_multi_aff_get_pw_aff(prefix.get(), static_cast<int>(i))));
        for (const std::size_t i : loop_order(promotion)) values.push_back(isl::manage(isl_pw_multi_aff_get_pw_aff(read.function.get(), static_cast<int>(i))));
        // Zeros beyond what is read do no harm: existentials, eliminated over the rationals, stay out of the loops.
        isl::set image = isl::manage(isl_set_remove_divs(s->executed.apply(tuple_of(s->digits->domain.space(), "buffer", values).as_map()).release()));
        // Not beyond the tiles that there are: no block runs for zeros alone.
        std::vector<std::string> dims = scope.prefix;
        for (const std::size_t d : loop_order(promotion)) dims.push_back(promotion.layout[d].name);
        const isl::set tiles = s->executed.apply(keep_dims(s->digits->domain.space(), s->digits->dims, scope.prefix, "tile"));
        image = image.intersect(tiles.apply(keep_dims(image.space(), dims, scope.prefix, "tile").reverse())).coalesce();
        reached = reached.is_null() ? image : reached.unite(image);
      }
    }
  }
  const std::size_t before = result_.statements_.size();
  std::vector<Tree::Branch> in, out;
  if (tile.copy_in)
    if (auto problem = add_copy(promotion, scope, tile, LeafKind::copy_in, tile.needed, reached, in)) return problem;
  if (tile.copy_out)
    if (auto problem = add_copy(promotion, scope, tile, LeafKind::copy_out, tile.written, isl::set(), out)) return problem;
  std::vector<std::string> added;
  for (std::size_t i = before; i < result_.statements_.size(); ++i) added.push_back(result_.statements_[i].name);
  const auto change = [&](const Tree& child) {
    if (in.empty() && out.empty()) return Tree::allocate({promotion.array}, child);
    std::vector<Tree::Branch> branches = in;
    branches.push_back({scope.statements, child});
    branches.insert(branches.end(), out.begin(), out.end());
    return Tree::allocate({promotion.array}, Tree::sequence(std::move(branches)));
  };
  if (promotion.after.empty()) {
    result_.tree_ = change(result_.tree_);
    return std::nullopt;
  }
  std::vector<std::string> all = result_.plan().statements;
  for (std::size_t i = 0; i < before; ++i) all.push_back(result_.statements_[i].name);
  bool changed = false;
  result_.tree_ = change_scope(result_.tree_, all, promotion.after, scope.statements, added, change, changed);
  TILEOPT_CHECK(changed, "the scope of " + promotion.array + " vanished");
  return std::nullopt;
}

std::optional<Infeasible> PromotionBuilder::add_copy(const Promotion& promotion, const Scope& scope, const Tile& tile, LeafKind kind,
                                                     const isl::map& elements, const isl::set& reached, std::vector<Tree::Branch>& branches) {
  isl::ctx ctx = result_.program().ctx();
  const std::string verb = kind == LeafKind::copy_in ? "copy_in_" : "copy_out_";
  std::vector<std::string> dims = scope.prefix;
  const std::size_t first = scope.prefix.size();
  std::vector<std::size_t> position(promotion.layout.size());  // of the layout's dimensions among `dims`
  for (const std::size_t i : loop_order(promotion)) {
    position[i] = dims.size();
    dims.push_back(promotion.layout[i].name);
  }
  const isl::space full = tuple_space(ctx, "buffer", dims.size());

  // { buffer[prefix, digits] -> tensor[element] }
  const isl::map to_tile = keep_dims(full, dims, scope.prefix, "tile");
  const isl::pw_multi_aff corner = isl::manage(isl_pw_multi_aff_from_multi_aff(tile.corner.copy())).pullback(poly::as_function(to_tile));
  std::vector<isl::pw_aff> element;
  for (std::size_t d = 0; d < tile.size.size(); ++d) {
    isl::pw_aff value = isl::manage(isl_pw_multi_aff_get_pw_aff(corner.get(), static_cast<int>(d)));
    for (std::size_t i = 0; i < promotion.layout.size(); ++i)
      if (promotion.layout[i].tensor_dim == static_cast<int>(d))
        value = value.add(dimension_function(full, position[i]).scale(isl::val(ctx, tile.weights[i])));
    element.push_back(value);
  }
  const isl::pw_multi_aff source = tuple_of(full, promotion.tensor, element);
  isl::set box_bounds = isl::set::universe(full);
  for (std::size_t i = 0; i < promotion.layout.size(); ++i) {
    const auto at = static_cast<unsigned>(position[i]);
    box_bounds = isl::manage(isl_set_upper_bound_si(isl_set_lower_bound_si(box_bounds.release(), isl_dim_set, at, 0), isl_dim_set, at, static_cast<int>(tile.extents[i] - 1)));
  }
  // Implied by the elements, but only over the integers: said again, isl drops the mixed constraints of every later set.
  for (std::size_t i = 0; i < first; ++i)
    if (const std::optional<long> least = least_value(scope, scope.prefix[i]))
      box_bounds = isl::manage(isl_set_lower_bound_si(box_bounds.release(), isl_dim_set, static_cast<unsigned>(i), static_cast<int>(*least)));
  const auto in_box = [&](const isl::map& copied) { return source.as_map().intersect(to_tile.apply_range(copied)).domain().intersect(box_bounds).coalesce().intersect(box_bounds); };
  const Atom* whole_boxes = kind == LeafKind::copy_in ? box_copier(promotion) : nullptr;
  isl::set valid = in_box(elements);
  if (whole_boxes != nullptr) {
    // The engine brings what there is of a box, needed or not: of a tensor that nothing writes that does no harm.
    const Tensor& tensor = result_.program().tensor(promotion.tensor);
    const isl::set from = elements.domain(), to = tensor.elements(ctx);
    const isl::map all = isl::manage(isl_map_from_domain_and_range(from.copy(), to.copy()));
    const isl::set there = in_box(all);
    if (tensor.role == TensorRole::in && !there.is_equal(valid)) valid = there;
  }
  isl::set executed = valid;
  if (!reached.is_null()) {
    // What runs ahead fills its whole slot: all threads copy, as often as there are rows, without a test of any of them.
    const isl::set wanted = runs_ahead(promotion) ? reached.apply(to_tile).apply(to_tile.reverse()) : reached;
    const isl::set filled = wanted.intersect(box_bounds).coalesce();
    executed = valid.is_subset(filled) ? filled : valid.unite(filled).coalesce();
  }

  std::vector<FittedSchedule::BoxDigit> box;
  const bool in_registers = promotion.space == "register";
  // Coordinates of agents are loops: a box is what one of them copies.
  const auto is_agent_dim = [&](std::size_t i) { return spread_over_agents(promotion.layout[i]); };
  const long elements_kept = [&] {
    long n = 1;
    for (std::size_t i = 0; i < promotion.layout.size(); ++i) n *= is_agent_dim(i) ? 1 : tile.extents[i];
    return n;
  }();
  if (whole_boxes != nullptr) {
    for (std::size_t i = 0; i < promotion.layout.size(); ++i)
      if (promotion.layout[i].level.empty()) box.push_back({promotion.layout[i].name, tile.extents[i]});
    if (box.size() < static_cast<std::size_t>(whole_boxes->rank))
      return refuse("atom", promotion_entry(promotion), "atom " + whole_boxes->name + " copies boxes of " + std::to_string(whole_boxes->rank) + " dimensions or more, and " + promotion.array + " has " + std::to_string(box.size()) + " that no level runs");
  } else if (in_registers && elements_kept > 1) {
    if (elements_kept > 4096) return refuse("capacity", promotion_entry(promotion), "a register tile of " + std::to_string(elements_kept) + " elements");
    for (std::size_t i = 0; i < promotion.layout.size(); ++i)
      if (tile.extents[i] > 1 && !is_agent_dim(i)) box.push_back({promotion.layout[i].name, tile.extents[i]});
  } else if (const auto side = side_by_side(promotion, tile); side) {
    box.push_back({promotion.layout[*side].name, tile.extents[*side]});
  } else if (!promotion.layout.empty() && !is_agent_dim(promotion.layout.size() - 1) && tile.extents.back() > 1 && tile.extents.back() <= largest_copy_box) {
    box.push_back({promotion.layout.back().name, tile.extents.back()});
    // Elements that lie side by side in the buffer only: with the dimension before, they are read side by side too.
    const auto moves_last = [&](std::size_t i) { return promotion.layout[i].tensor_dim + 1 == static_cast<int>(tile.size.size()) && tile.weights[i] == 1; };
    const std::size_t last = promotion.layout.size() - 1;
    const bool paired = last > 0 && !moves_last(last) && moves_last(last - 1) && tile.extents[last] <= largest_word && tile.extents[last - 1] <= largest_copy_box;
    if (paired && tile.extents[last - 1] > 1) box.insert(box.begin(), {promotion.layout[last - 1].name, tile.extents[last - 1]});
  }
  const auto box_names = [](const std::vector<FittedSchedule::BoxDigit>& b) {
    std::vector<std::string> names;
    for (const FittedSchedule::BoxDigit& digit : b) names.push_back(digit.name);
    return names;
  };
  const auto emit = [&](const std::string& name, const std::vector<FittedSchedule::BoxDigit>& leaf_box, const isl::set& points,
                        std::vector<isl::pw_aff> extents, bool zero_fill) {
    LeafStatement leaf;
    leaf.name = name;
    leaf.kind = kind;
    leaf.atom = leaf_box.empty() ? "" : "vector_box";
    leaf.box = leaf_box;
    leaf.zero_fill = zero_fill;
    for (const std::string& dim : dims)
      if (!contains(box_names(leaf_box), dim)) leaf.dims.push_back(dim);
    const isl::map to_leaf = keep_dims(full, dims, leaf.dims, name);
    leaf.domain = with_dim_names(points.apply(to_leaf).coalesce(), leaf.dims);
    const isl::space leaf_space = leaf.domain.space();
    std::vector<isl::pw_aff> embedding;
    for (const std::string& dim : dims) {
      const auto at = std::find(leaf.dims.begin(), leaf.dims.end(), dim);
      embedding.push_back(at == leaf.dims.end() ? constant_function(leaf_space, 0) : dimension_function(leaf_space, static_cast<std::size_t>(at - leaf.dims.begin())));
    }
    const isl::pw_multi_aff embed = tuple_of(leaf_space, "buffer", embedding);
    std::vector<isl::pw_aff> place;
    for (const std::size_t at : position) place.push_back(embedding[at]);
    LeafAccess buffer{promotion.array, tuple_of(leaf_space, promotion.array, place.empty() ? std::vector<isl::pw_aff>{constant_function(leaf_space, 0)} : place), {}};
    if (place.empty()) buffer.steps.push_back({});
    LeafAccess tensor{promotion.tensor, source.pullback(embed), {}};
    for (std::size_t i = 0; i < promotion.layout.size(); ++i) {
      std::vector<long> row;
      for (const FittedSchedule::BoxDigit& digit : leaf_box) row.push_back(digit.name == promotion.layout[i].name ? 1 : 0);
      buffer.steps.push_back(row);
    }
    for (std::size_t d = 0; d < tile.size.size(); ++d) {
      std::vector<long> row;
      for (const FittedSchedule::BoxDigit& digit : leaf_box) {
        const auto at = std::find_if(promotion.layout.begin(), promotion.layout.end(), [&](const BufferDim& b) { return b.name == digit.name; });
        row.push_back(at->tensor_dim == static_cast<int>(d) ? tile.weights[static_cast<std::size_t>(at - promotion.layout.begin())] : 0);
      }
      tensor.steps.push_back(row);
    }
    leaf.write = kind == LeafKind::copy_in ? buffer : tensor;
    leaf.reads = {kind == LeafKind::copy_in ? tensor : buffer};
    leaf.extents = std::move(extents);
    leaf.instance = isl::manage(isl_pw_multi_aff_from_domain(leaf.domain.copy()));
    std::vector<std::string> loops;
    for (const std::string& dim : leaf.dims)
      if (!contains(scope.prefix, dim)) loops.push_back(dim);
    std::string lockstep = "serial";
    for (const Level& level : machine_.levels)
      if (level.kind == LevelKind::lockstep) lockstep = level.name;
    for (std::size_t i = 0; i < promotion.layout.size(); ++i) {
      const BufferDim& d = promotion.layout[i];
      result_.copy_levels_.emplace(d.name, d.level.empty() ? "serial" : d.level);
      result_.copy_radices_.emplace(d.name, tile.extents[i]);
    }
    if (leaf_box.empty() && !loops.empty() && loops.back() == promotion.layout.back().name && promotion.layout.back().level.empty()) result_.copy_levels_[loops.back()] = lockstep;
    const bool split = runs_ahead(promotion) && !loops.empty() && kind == LeafKind::copy_in && whole_boxes == nullptr;
    branches.push_back({{name}, split ? Tree::nested(Tree::bands(loops, Tree())) : Tree::bands(loops, Tree())});
    result_.statements_.push_back(std::move(leaf));
  };

  const std::string name = verb + promotion.array;
  if (!box.empty()) {
    const bool whole = executed.is_equal(fill_box(valid, dims, box)) && executed.is_equal(valid);
    std::optional<std::vector<isl::pw_aff>> extents;
    // That rows are whole pieces is known of the sizes alone.
    if (!whole) extents = box_extents(whole_boxes == nullptr ? valid : valid.intersect_params(result_.program().context()), dims, box, name);
    if (whole || extents) {
      std::vector<isl::pw_aff> limits;
      if (extents) {
        const std::vector<std::string> outer = [&] { std::vector<std::string> o; for (const std::string& d : dims) if (!contains(box_names(box), d)) o.push_back(d); return o; }();
        const isl::set filled_rows = valid.apply(keep_dims(full, dims, outer, name));
        const isl::set empty_rows = executed.apply(keep_dims(full, dims, outer, name)).subtract(filled_rows).coalesce();
        const bool all_filled = empty_rows.is_empty();
        for (const isl::pw_aff& e : *extents) {
          const isl::pw_aff none = isl::manage(isl_pw_aff_intersect_domain(constant_function(empty_rows.space(), 0).release(), empty_rows.copy()));
          limits.push_back(all_filled ? e : e.intersect_domain(filled_rows).union_add(none).coalesce());
        }
      }
      emit(name, box, executed, std::move(limits), kind == LeafKind::copy_in && (promotion.zero_fill || in_registers));
      return std::nullopt;
    }
    if (in_registers) return refuse("atom", promotion_entry(promotion), "the register tile is cut to a shape that is no box at its corner");
    if (whole_boxes != nullptr) return refuse("atom", promotion_entry(promotion), "what is copied into " + promotion.array + " is cut to a shape that is no box at its corner");
  }
  if (in_registers && elements_kept > 1) return refuse("atom", promotion_entry(promotion), "the register tile has no box");
  if (!reached.is_null() && !reached.is_subset(valid)) {
    if (promotion.layout.empty() || tile.extents.back() > largest_zero_box)
      return refuse("capacity", promotion_entry(promotion), "zero filling wants a last layout dimension of at most " + std::to_string(largest_zero_box) + " elements");
    const std::vector<FittedSchedule::BoxDigit> row = {{promotion.layout.back().name, tile.extents.back()}};
    std::vector<std::string> outer = dims;
    outer.erase(outer.begin() + static_cast<long>(position.back()));
    const isl::set rows = reached.apply(keep_dims(full, dims, outer, "zero_" + promotion.array));
    const isl::pw_aff none = isl::manage(isl_pw_aff_intersect_domain(constant_function(rows.space(), 0).release(), rows.copy()));
    emit("zero_" + promotion.array, row, fill_box(reached, dims, row), {none}, true);
  }
  emit(name, {}, valid, {}, false);
  return std::nullopt;
}

/// Where neighbours in the array are copied by different agents: the digit along which one of them copies neighbours of the tensor.
std::optional<std::size_t> PromotionBuilder::side_by_side(const Promotion& promotion, const Tile& tile) const {
  if (promotion.layout.empty() || !spread_over_agents(promotion.layout.back())) return std::nullopt;
  const auto fast = result_.program().tensor(promotion.tensor).contiguous_dim();
  for (std::size_t i = 0; i < promotion.layout.size(); ++i) {
    const BufferDim& dim = promotion.layout[i];
    const bool along = fast && dim.tensor_dim == static_cast<int>(*fast) && tile.weights[i] == 1;
    if (along && !spread_over_agents(dim) && tile.extents[i] > 1 && tile.extents[i] <= largest_copy_box) return i;
  }
  return std::nullopt;
}

bool PromotionBuilder::runs_ahead(const Promotion& promotion) const {
  const auto& pipelines = result_.plan().pipelines;
  return std::any_of(pipelines.begin(), pipelines.end(), [&](const Pipelining& pipelining) {
    return std::any_of(pipelining.copies.begin(), pipelining.copies.end(), [&](const Pipelining::Copy& copy) { return copy.array == promotion.array; });
  });
}

const Atom* PromotionBuilder::box_copier(const Promotion& promotion) const {
  for (const Pipelining& pipelining : result_.plan().pipelines)
    for (const Pipelining::Copy& copy : pipelining.copies) {
      const Pipe* pipe = copy.array == promotion.array ? machine_.pipe_of(copy.atom) : nullptr;
      if (pipe != nullptr && pipe->completion == Completion::counted) return machine_.find_atom(copy.atom);
    }
  return nullptr;
}

bool PromotionBuilder::spread_over_agents(const BufferDim& dim) const {
  const Level* level = dim.level.empty() ? nullptr : machine_.find_level(dim.level);
  return level != nullptr && level->kind == LevelKind::barrier;
}

std::optional<long> PromotionBuilder::least_value(const Scope& scope, const std::string& dim) {
  std::optional<long> least;
  for (const std::string& name : scope.statements) {
    const DigitStatement* s = find(name);
    if (s == nullptr) continue;
    const auto at = std::find(s->digits->dims.begin(), s->digits->dims.end(), dim) - s->digits->dims.begin();
    const isl::val value = isl::manage(isl_set_dim_min_val(s->digits->domain.copy(), static_cast<int>(at)));
    if (!value.is_int() || value.abs().gt(isl::val(value.ctx(), 1L << 30))) return std::nullopt;
    least = least ? std::min(*least, value.num_si()) : value.num_si();
  }
  return least;
}

LeafAccess PromotionBuilder::leaf_access(const DigitAccess& access, const DigitStatement& statement, const isl::pw_multi_aff& embed,
                                         bool& constant_steps_found) const {
  std::vector<std::string> box;
  for (const FittedSchedule::BoxDigit& digit : statement.leaf->box) box.push_back(digit.name);
  auto steps = constant_steps(access.function, statement.digits->dims, box);
  if (!steps) steps = constant_steps_inside(access.function, statement.executed, statement.digits->dims, box);
  constant_steps_found = constant_steps_found && steps.has_value();
  return {access.array, access.function.pullback(embed), steps.value_or(std::vector<std::vector<long>>{})};
}

std::optional<Infeasible> PromotionBuilder::finish_statements() {
  std::vector<LeafStatement> copies = std::move(result_.statements_);
  result_.statements_.clear();
  for (DigitStatement& s : statements_)
    if (auto problem = finish(s)) return problem;
  for (LeafStatement& copy : copies) result_.statements_.push_back(std::move(copy));
  return std::nullopt;
}

std::optional<Infeasible> PromotionBuilder::finish(DigitStatement& s) {
  const std::string& name = s.statement->name;
  const std::string entry = "atoms[" + name + "]";
  LeafStatement leaf;
  leaf.name = name;
  leaf.kind = LeafKind::compute;
  leaf.statement = name;
  leaf.atom = s.leaf->atom;
  leaf.box = s.leaf->box;
  leaf.dims = path_dims(result_.tree_, name);
  std::vector<std::string> box;
  for (const FittedSchedule::BoxDigit& digit : leaf.box) box.push_back(digit.name);
  const isl::map to_leaf = keep_dims(s.digits->domain.space(), s.digits->dims, leaf.dims, name);
  leaf.domain = with_dim_names(s.executed.apply(to_leaf).coalesce(), leaf.dims);

  // { leaf[dims] -> S[digits] } at the corner of the box
  isl::set corner = s.executed;
  for (const std::string& digit : box) {
    const auto at = std::find(s.digits->dims.begin(), s.digits->dims.end(), digit);
    corner = isl::manage(isl_set_fix_si(corner.release(), isl_dim_set, static_cast<unsigned>(at - s.digits->dims.begin()), 0));
  }
  const bool all_placed = leaf.dims.size() + box.size() == s.digits->dims.size();
  isl::pw_multi_aff embed;
  if (all_placed) {
    std::vector<isl::pw_aff> values;
    for (const std::string& dim : s.digits->dims) {
      const auto at = std::find(leaf.dims.begin(), leaf.dims.end(), dim);
      values.push_back(at == leaf.dims.end() ? constant_function(leaf.domain.space(), 0) : dimension_function(leaf.domain.space(), static_cast<std::size_t>(at - leaf.dims.begin())));
    }
    embed = tuple_of(leaf.domain.space(), name, values);
  } else {
    embed = poly::as_function(to_leaf.intersect_domain(corner).reverse());
  }
  bool constant_found = true;
  leaf.instance = s.instance.pullback(embed);
  const auto instance_steps = constant_steps(s.instance, s.digits->dims, box);
  if (!instance_steps) return refuse("atom", entry, "the instance does not move by a constant along the box");
  leaf.instance_steps = *instance_steps;
  leaf.write = leaf_access(s.write, s, embed, constant_found);
  for (const DigitAccess& read : s.reads) leaf.reads.push_back(leaf_access(read, s, embed, constant_found));
  if (!constant_found) return refuse("atom", entry, "an access does not move by a constant along the box");
  for (const isl::pw_aff& index : s.statement->indices) {
    const isl::pw_multi_aff as_tuple = isl::manage(isl_pw_multi_aff_from_pw_aff(index.copy())).pullback(s.instance);
    const auto steps = constant_steps(as_tuple, s.digits->dims, box);
    if (!steps) return refuse("atom", entry, "an index value does not move by a constant along the box");
    leaf.index_steps.push_back(steps->front());
    const isl::pw_multi_aff here = as_tuple.pullback(embed);
    leaf.indices.push_back(isl::manage(isl_pw_multi_aff_get_pw_aff(here.get(), 0)));
  }
  if (!box.empty() && !s.leaf->padded && !s.executed.is_equal(fill_box(s.executed, s.digits->dims, leaf.box))) {
    auto extents = box_extents(s.executed.apply(keep_dims(s.digits->domain.space(), s.digits->dims, [&] { std::vector<std::string> kept = leaf.dims; kept.insert(kept.end(), box.begin(), box.end()); return kept; }(), name)),
                               [&] { std::vector<std::string> kept = leaf.dims; kept.insert(kept.end(), box.begin(), box.end()); return kept; }(), leaf.box, name);
    if (!extents) return refuse("atom", entry, "the box is cut to a shape that is no box at its corner");
    leaf.extents = std::move(*extents);
  }
  const Atom* atom = machine_.find_atom(leaf.atom);
  if (const Array* copy = find_array(leaf.write.array); atom != nullptr && atom->body == "atomic_update" && copy != nullptr) {
    if (!machine_.is_of_block(copy->space)) return refuse("atom", entry, "an atomic update must reach memory, and " + leaf.write.array + " is a copy in space " + copy->space);
    if (copy->element != s.statement->body->type) return refuse("atom", entry, "an atomic update must round as the tensor does, and " + leaf.write.array + " keeps another type");
  }
  const auto space_of = [&](const std::string& array) { const Array* a = find_array(array); return a == nullptr ? std::string("global") : a->space; };
  const bool loses = std::any_of(leaf.box.begin(), leaf.box.end(), [](const FittedSchedule::BoxDigit& digit) { return digit.whole; });
  if (loses && space_of(leaf.write.array) != "register") return refuse("atom", entry, "a digit that runs whole writes beyond the data: the result must be promoted to registers");
  if (s.leaf->padded) {
    if (space_of(leaf.write.array) == "global") return refuse("atom", entry, "a padded leaf writes beyond the data: its result must be promoted to registers, or to memory of the block");
    // What guards alone read does not move along the box: it is read where their loops start.
    std::set<std::size_t> operands;
    walk_expr(s.statement->body, [&](const Expr& e) {
      if (const auto* read = std::get_if<Read>(&e.node)) operands.insert(read->access);
    });
    for (const std::size_t r : operands)
      if (const LeafAccess& read = leaf.reads[r]; space_of(read.array) == "global" && !read.steps.empty()) return refuse("atom", entry, "a padded leaf reads beyond the data: " + read.array + " must be promoted");
  }
  if (atom != nullptr && atom->is_collective())
    for (const auto& [role, access] : collective_operands(*atom, leaf))
      if (const Array* array = find_array(access->array); role->swizzle > 0 || role->space == "register") {
        if (role->space == "register" ? space_of(access->array) != "register" : array == nullptr) return refuse("atom", entry, "atom " + atom->name + " wants its " + role->role + " in " + (role->space == "register" ? "registers" : "memory that a block shares"));
        if (role->swizzle == 0) continue;
        if (const std::string reason = why_not_matrix(*array, role->swizzle, atom->name); !reason.empty()) return refuse("atom", entry, reason);
      }
  const auto check_register = [&](const LeafAccess& access) {
    const Array* a = find_array(access.array);
    if (a == nullptr || a->space != "register" || a->elements() == 1) return true;
    const auto steps = constant_steps(access.index, leaf.dims, leaf.dims);
    // Loops that are unrolled have one value at a time: every copy of the leaf names its registers.
    return steps.has_value() && std::all_of(steps->begin() + a->agent_dims, steps->end(), [&](const std::vector<long>& row) {
             for (std::size_t d = 0; d < row.size(); ++d)
               if (row[d] != 0 && machine_.find_level(result_.level(leaf.dims[d]))->kind != LevelKind::unrolled) return false;
             return true;
           });
  };
  bool registers_constant = check_register(leaf.write);
  for (const LeafAccess& read : leaf.reads) registers_constant = registers_constant && check_register(read);
  if (!registers_constant) return refuse("atom", entry, "a register array is accessed at a place that the loops move: registers have no address");
  result_.statements_.push_back(std::move(leaf));
  return std::nullopt;
}

const LeafStatement& PromotedSchedule::statement(const std::string& name) const {
  for (const LeafStatement& s : statements_)
    if (s.name == name) return s;
  TILEOPT_CHECK(false, "no leaf statement " + name);
  return statements_.front();
}

std::string PromotedSchedule::level(const std::string& dim) const {
  if (const Digit* digit = plan().find_digit(dim)) return digit->level;
  const auto found = copy_levels_.find(dim);
  return found == copy_levels_.end() ? "serial" : found->second;
}

long PromotedSchedule::radix(const std::string& dim) const {
  if (const Digit* digit = plan().find_digit(dim)) return digit->radix;
  const auto found = copy_radices_.find(dim);
  return found == copy_radices_.end() ? 0 : found->second;
}

Document PromotedSchedule::write() const {
  Document d;
  d["kernel"] = plan().name;
  d["tree"] = tree_.write();
  d["arrays"] = Document::array();
  for (const Array& a : arrays_) d["arrays"].push_back(a.write());
  for (const LeafStatement& s : statements_) {
    Document leaf;
    leaf["kind"] = s.kind == LeafKind::compute ? "compute" : s.kind == LeafKind::copy_in ? "copy_in" : "copy_out";
    leaf["domain"] = poly::to_text(s.domain);
    leaf["write"] = poly::to_text(s.write.index);
    leaf["reads"] = Document::array();
    for (const LeafAccess& r : s.reads) leaf["reads"].push_back(poly::to_text(r.index));
    leaf["extents"] = Document::array();
    for (const isl::pw_aff& e : s.extents) leaf["extents"].push_back(poly::to_text(e));
    d["statements"][s.name] = leaf;
  }
  d["remarks"] = remarks_;
  return d;
}

}  // namespace tileopt
