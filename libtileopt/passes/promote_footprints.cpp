/// Keeps tensor tiles in nearer arrays. Copies are statements of the same tree, never extension nodes:
///   kc > (C: ...)  ->  kc > allocate(B_packed) > (copy_in_B_packed: jr > kk ; C: ...)
/// Copied in is what the tile reads before it writes it; copied out exactly what it writes.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "passes/pass_limit.h"
#include "passes/passes.h"
#include "passes/promotion_builder.h"
#include "support/text.h"
#include "support/units.h"

namespace tileopt {

namespace {
constexpr int kSwizzleAlignment = 1024;  ///< bytes: instructions take the row of an element from the bits of its address
}

PromotionBuilder::PromotionBuilder(FittedSchedule fitted, const Machine& machine) : result_(std::move(fitted)), machine_(machine) {
  result_.tree_ = result_.plan().tree;
}

Infeasible PromotionBuilder::refuse(const std::string& code, const std::string& entry, const std::string& reason) const {
  return Infeasible{code, "promote_footprints", result_.plan().name, "kernels[" + result_.plan().name + "]." + entry, reason};
}

DigitStatement* PromotionBuilder::find(const std::string& name) {
  for (DigitStatement& s : statements_)
    if (s.statement->name == name) return &s;
  return nullptr;
}

const Array* PromotionBuilder::find_array(const std::string& name) const {
  for (const Array& a : result_.arrays_)
    if (a.name == name) return &a;
  return nullptr;
}

std::optional<Infeasible> PromotionBuilder::prepare_statements() {
  const Program& program = result_.program();
  for (const std::string& name : result_.plan().statements) {
    DigitStatement s;
    s.statement = &program.statement(name);
    s.digits = &result_.fitted().digits().statement(name);
    s.leaf = &result_.fitted().leaf(name);
    s.executed = s.leaf->padded ? fill_box(s.digits->domain, s.digits->dims, s.leaf->filled()) : s.digits->domain;
    s.instance = instance_function(*s.digits);
    if (s.leaf->padded) {
      const auto extended = extend_function(s.instance);
      if (!extended) return refuse("atom", "atoms[" + name + "]", "the instance of a padded leaf must be one affine function of its digits");
      s.instance = *extended;
    }
    bool extendable = true;
    const auto access = [&](const Access& a) {
      DigitAccess result{a.tensor, isl::pw_multi_aff(a.index).pullback(s.instance), a.index.as_map()};
      result.exact = s.digits->to_program.apply_range(a.index.as_map());
      if (s.leaf->padded) {
        const auto extended = extend_function(result.function);
        if (extended) result.function = *extended;
        else extendable = false;
      }
      return result;
    };
    s.write = access(s.statement->write);
    for (const Access& read : s.statement->reads) s.reads.push_back(access(read));
    if (!extendable) return refuse("atom", "atoms[" + name + "]", "an access of a padded leaf is not one affine function of its digits");
    statements_.push_back(std::move(s));
  }
  return std::nullopt;
}

namespace {
void collect_scopes(const Tree& tree, const std::vector<std::string>& active, const std::string& after, std::vector<std::string> prefix,
                    std::vector<Scope>& scopes) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: return;
    case Tree::Kind::band:
      prefix.push_back(tree.dim());
      if (tree.dim() == after) scopes.push_back({prefix, active});
      return collect_scopes(tree.child(), active, after, prefix, scopes);
    case Tree::Kind::allocate:
    case Tree::Kind::nested: return collect_scopes(tree.child(), active, after, prefix, scopes);
    case Tree::Kind::sequence:
      for (const Tree::Branch& b : tree.branches()) collect_scopes(b.tree, b.statements, after, prefix, scopes);
  }
}

bool all_in(const std::vector<std::string>& names, const std::vector<std::string>& where) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& n) { return contains(where, n); });
}
}  // namespace

std::vector<Scope> PromotionBuilder::find_scopes(const Promotion& promotion) const {
  std::vector<std::string> all = result_.plan().statements;
  for (const LeafStatement& copy : result_.statements_) all.push_back(copy.name);
  std::vector<Scope> found;
  if (promotion.after.empty()) return {{{}, all}};
  collect_scopes(result_.tree_, all, promotion.after, {}, found);
  std::vector<Scope> matching;
  for (const Scope& scope : found)
    if (all_in(promotion.statements, scope.statements)) matching.push_back(scope);
  return matching;
}

std::optional<Infeasible> PromotionBuilder::check_request(const Promotion& promotion) const {
  const Program& program = result_.program();
  const std::string entry = promotion_entry(promotion);
  if (!program.has_tensor(promotion.tensor)) return refuse("pin", entry, "the program has no tensor " + promotion.tensor);
  if (promotion.array.empty() || program.has_tensor(promotion.array) || find_array(promotion.array) != nullptr)
    return refuse("pin", entry, "array name `" + promotion.array + "` is taken or empty");
  if (machine_.find_space(promotion.space) == nullptr) return refuse("pin", entry, "machine " + machine_.name + " has no space " + promotion.space);
  const Tensor& tensor = program.tensor(promotion.tensor);
  const auto element = parse_type(promotion.element);
  if (!element) return refuse("pin", entry, "unknown element type " + promotion.element);
  if (!widens_exactly(tensor.type, *element))
    return refuse("numerics", entry, type_name(tensor.type) + " does not widen exactly to " + promotion.element);
  const Space* held = machine_.find_space(promotion.space);
  const Level* holder = held->level.empty() ? nullptr : machine_.find_level(held->level);
  if (promotion.pad > 0 && (promotion.layout.empty() || holder == nullptr || holder->kind != LevelKind::independent))
    return refuse("pin", entry, "rows are padded in a space that agents of a block share, and `" + promotion.space + "` is none");
  if (!promotion.swizzle_along.empty() && (holder == nullptr || holder->kind != LevelKind::independent || promotion.pad > 0))
    return refuse("pin", entry, "rows are swizzled, without padding, in a space that agents of a block share");
  std::set<std::string> names;
  for (const BufferDim& dim : promotion.layout) {
    if (dim.tensor_dim < 0 || dim.tensor_dim >= static_cast<int>(tensor.shape.size()))
      return refuse("pin", entry, "layout dimension " + dim.name + " names dimension " + std::to_string(dim.tensor_dim) + " of " + tensor.name);
    if (dim.radix < 0) return refuse("pin", entry, "negative radix of " + dim.name);
    if (!names.insert(dim.name).second || dim.name.empty()) return refuse("pin", entry, "layout dimension `" + dim.name + "` is empty or named twice");
    if (result_.plan().find_digit(dim.name) != nullptr) return refuse("pin", entry, "layout dimension " + dim.name + " has the name of a digit");
    const Level* level = dim.level.empty() ? nullptr : machine_.find_level(dim.level);
    if (!dim.level.empty() && (level == nullptr || (level->kind != LevelKind::barrier && level->kind != LevelKind::sequential && level->kind != LevelKind::unrolled)))
      return refuse("pin", entry, "layout dimension " + dim.name + " is on level `" + dim.level + "`: copies run on sequential levels and on those of agents");
    if (spread_over_agents(dim) && dim.radix == 0) return refuse("pin", entry, "layout dimension " + dim.name + " is spread over agents and has no radix that would say over how many");
    if (result_.copy_levels_.count(dim.name)) return refuse("pin", entry, "layout dimension " + dim.name + " has the name of another array's");
  }
  return std::nullopt;
}

namespace {
/// { S[digits] -> [iterator] } of a statement's iterator number `iterator`.
isl::map iterator_of(const StatementSpace& digits, std::size_t iterator) {
  isl_map* value = digits.to_program.copy();
  const auto count = static_cast<unsigned>(isl_map_dim(value, isl_dim_out)), at = static_cast<unsigned>(iterator);
  value = isl_map_project_out(value, isl_dim_out, at + 1, count - at - 1);
  return isl::manage(isl_map_project_out(value, isl_dim_out, 0, at));
}
}  // namespace

std::string PromotionBuilder::parallel_index(const DigitStatement& s, const Scope& scope) const {
  for (const Guard& guard : s.statement->guards) {
    const isl::map value = iterator_of(*s.digits, guard.iterator);
    for (std::size_t d = 0; d < s.digits->dims.size(); ++d) {
      const std::string& dim = s.digits->dims[d];
      if (!contains(scope.prefix, dim) || machine_.find_level(result_.plan().find_digit(dim)->level)->kind != LevelKind::independent) continue;
      const isl::map others = isl::manage(isl_map_project_out(value.copy(), isl_dim_in, static_cast<unsigned>(d), 1));
      if (!others.is_single_valued()) return dim;
    }
  }
  return "";
}

bool PromotionBuilder::copies_every_value(const DigitStatement& s, const Scope& scope) const {
  return std::any_of(s.statement->guards.begin(), s.statement->guards.end(), [&](const Guard& guard) {
    const isl::map value = iterator_of(*s.digits, guard.iterator);
    std::vector<std::string> movers;
    for (std::size_t d = 0; d < s.digits->dims.size(); ++d)
      if (!isl::manage(isl_map_project_out(value.copy(), isl_dim_in, static_cast<unsigned>(d), 1)).is_single_valued()) movers.push_back(s.digits->dims[d]);
    return movers.size() != 1 || !contains(scope.prefix, movers.front());
  });
}

bool PromotionBuilder::is_settled(const DigitStatement& s, const Scope& scope) const {
  if (s.statement->predicate != nullptr) return false;
  const auto writes = [&](const std::string& tensor) {
    const auto& names = result_.plan().statements;
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return result_.program().statement(name).write.tensor == tensor; });
  };
  for (const Guard& guard : s.statement->guards) {
    bool known = true;
    walk_expr(guard.value, [&](const Expr& e) {
      if (const auto* read = std::get_if<Read>(&e.node)) known = known && !writes(s.statement->reads[read->access].tensor);
    });
    // The iterator is a function of the digits above the scope.
    const isl::map prefix = keep_dims(s.digits->domain.space(), s.digits->dims, scope.prefix, "tile");
    if (!known || !iterator_of(*s.digits, guard.iterator).apply_domain(prefix).is_single_valued()) return false;
  }
  return true;
}

isl::map PromotionBuilder::exposed_reads(const std::vector<DigitStatement*>& group, const std::string& tensor, const Scope& scope, bool settled,
                                         bool& crosses) const {
  const isl::ctx ctx = result_.program().ctx();
  const auto updates = [&](const DigitStatement& s) {
    return s.statement->combine != Combine::assign || (s.statement->conditional() && !(settled && is_settled(s, scope)));
  };
  std::vector<StatementSpace> spaces;
  isl::union_map assigns = poly::empty_union_map(ctx);
  bool has_assign = false;
  for (const DigitStatement* s : group) {
    spaces.push_back(*s->digits);
    if (s->write.array == tensor && !updates(*s)) {
      assigns = assigns.unite(isl::union_map(s->write.exact));
      has_assign = true;
    }
  }
  const isl::union_map order = order_map(result_.plan().tree, spaces);
  const auto prefix_of = [&](const DigitStatement& s) { return keep_dims(s.digits->domain.space(), s.digits->dims, scope.prefix, "tile"); };
  isl::map exposed;
  const auto add = [&](const DigitStatement& s, const isl::map& read) {
    isl::map outside = read;
    if (has_assign) {
      const poly::Flow flow = poly::compute_flow(isl::union_map(read), assigns, isl::union_map(), isl::union_map(), order);
      isl::union_map inside = poly::empty_union_map(ctx);
      for (const isl::map& m : poly::sorted_maps(flow.must)) {
        const auto writer = std::find_if(group.begin(), group.end(), [&](const DigitStatement* w) { return w->statement->name == poly::input_name(m); });
        inside = inside.unite(isl::union_map(m.intersect(prefix_of(**writer).apply_range(prefix_of(s).reverse()))));
      }
      const isl::union_set covered = inside.range();
      outside = isl::manage(isl_map_subtract_domain(read.copy(), isl_union_set_extract_set(covered.get(), isl_set_get_space(s.digits->domain.get()))));
    }
    const isl::map tile_elements = outside.apply_domain(prefix_of(s));
    exposed = exposed.is_null() ? tile_elements : exposed.unite(tile_elements);
  };
  for (const DigitStatement* s : group) {
    for (const DigitAccess& read : s->reads)
      if (read.array == tensor) add(*s, read.exact);
    if (s->write.array == tensor && updates(*s)) add(*s, s->write.exact);
  }
  if (!exposed.is_null()) exposed = exposed.coalesce();
  crosses = !exposed.is_null() && !exposed.is_empty();
  return exposed;
}

namespace {
/// Strided reads leave holes. In a tensor that nothing writes, what lies in them may be copied too, and the loops of the copy, and
/// the proof about them, need not tell the one from the other.
isl::map without_holes(const isl::map& elements, const Tensor& tensor) {
  const isl::map filled = isl::manage(isl_map_remove_divs(elements.copy()));
  return filled.intersect_range(tensor.elements(elements.ctx())).coalesce();
}
}  // namespace

std::optional<Infeasible> PromotionBuilder::measure(const Promotion& promotion, const Scope& scope, Tile& tile) {
  const std::string entry = promotion_entry(promotion);
  const Tensor& tensor = result_.program().tensor(promotion.tensor);
  std::vector<DigitStatement*> group;
  isl::map hull, written;
  for (const std::string& name : scope.statements) {
    DigitStatement* s = find(name);
    if (s == nullptr) {
      for (const LeafStatement& copy : result_.statements_)
        if (copy.name == name && (copy.write.array == promotion.tensor || copy.reads[0].array == promotion.tensor))
          return refuse("pin", entry, "tensor " + promotion.tensor + " is promoted inside this scope already; list the outer promotion first");
      continue;
    }
    const isl::map prefix = keep_dims(s->digits->domain.space(), s->digits->dims, scope.prefix, "tile");
    bool touches = false;
    const auto add = [&](const DigitAccess& access) {
      if (access.array != promotion.tensor) return;
      touches = true;
      const isl::map reach = access.function.as_map().intersect_domain(s->executed).apply_domain(prefix);
      hull = hull.is_null() ? reach : hull.unite(reach);
    };
    for (const DigitAccess& read : s->reads) add(read);
    add(s->write);
    if (s->write.array == promotion.tensor) {
      const isl::map elements = s->write.exact.apply_domain(prefix);
      written = written.is_null() ? elements : written.unite(elements);
    }
    if (touches) group.push_back(s);
  }
  if (group.empty()) return refuse("pin", entry, "no statement below `" + promotion.after + "` accesses " + promotion.tensor);
  const isl::fixed_box box = hull.coalesce().range_simple_fixed_box_hull();
  if (!box.is_valid())
    return refuse("promotion", entry, "the footprint of " + promotion.tensor + " below `" + promotion.after + "` has no constant-size box: an unbounded digit inside it moves the access");
  tile.corner = box.offset();
  const isl::multi_val size = box.size();
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    const isl::val extent = isl::manage(isl_multi_val_get_val(size.get(), static_cast<int>(d)));
    if (!extent.is_int() || isl_val_cmp_si(extent.get(), 1L << 31) > 0) return refuse("capacity", entry, "the box is " + poly::to_text(size) + " elements");
    tile.size.push_back(extent.num_si());
  }
  // A digit that steps over elements starts at the first one that is touched.
  for (std::size_t d = 0; d < tensor.shape.size(); ++d)
    if (steps_over(promotion, d) > 1) tighten(promotion.tensor, group, scope, d, tile);
  // Below loops that settle all guards, a local that leaves nothing behind has no old content to keep: a guarded assignment there
  // is one like any other. Where something is copied out, what the guards leave alone must have been copied in.
  bool crosses = false;
  isl::map exposed = exposed_reads(group, promotion.tensor, scope, true, crosses);
  bool read_elsewhere = tensor.role != TensorRole::local || crosses;
  for (const Statement& s : result_.program().statements()) {
    const bool inside = std::any_of(group.begin(), group.end(), [&](const DigitStatement* g) { return g->statement == &s; });
    if (inside) continue;
    for (const Access& read : s.reads) read_elsewhere = read_elsewhere || read.tensor == promotion.tensor;
    if (s.updates()) read_elsewhere = read_elsewhere || s.write.tensor == promotion.tensor;
  }
  const bool guarded = std::any_of(group.begin(), group.end(), [](const DigitStatement* s) { return s->statement->conditional(); });
  if (read_elsewhere && guarded) exposed = exposed_reads(group, promotion.tensor, scope, false, crosses);
  tile.copy_in = crosses;
  if (crosses) tile.needed = tensor.role == TensorRole::in ? without_holes(exposed, tensor) : exposed;
  tile.copy_out = !written.is_null() && read_elsewhere;
  if (tile.copy_out) tile.written = written.coalesce();
  if (tile.copy_out)
    for (const DigitStatement* s : group)
      if (const std::string dim = s->write.array == promotion.tensor ? parallel_index(*s, scope) : ""; !dim.empty())
        return refuse("promotion", entry, "digit " + dim + " runs values of an index at once: one of them writes " + promotion.tensor + ", and all would copy it");
  // Beside threads that write the tensor, a copy may touch the elements of its own iteration alone.
  const bool written_here = std::any_of(result_.plan().statements.begin(), result_.plan().statements.end(), [&](const std::string& name) {
    return result_.program().statement(name).write.tensor == promotion.tensor;
  });
  for (const DigitStatement* s : group) {
    if (!written_here || !(tile.copy_in || tile.copy_out) || !copies_every_value(*s, scope)) continue;
    for (const std::string& dim : scope.prefix)
      if (machine_.find_level(result_.plan().find_digit(dim)->level)->kind == LevelKind::independent)
        return refuse("promotion", entry, "digit " + dim + " runs at once what writes " + promotion.tensor + ", and copies would run for every value of an index");
  }
  if (!written.is_null() && !read_elsewhere) result_.remarks_.push_back(promotion.array + ": local to its tile, nothing is copied out");
  if (!tile.copy_in) result_.remarks_.push_back(promotion.array + ": written before it is read in every tile, nothing is copied in");
  const auto element = *parse_type(promotion.element);
  if (element != tensor.type && !written.is_null()) return refuse("numerics", entry, "a tensor that is written keeps its element type");
  return std::nullopt;
}

std::optional<Infeasible> PromotionBuilder::redirect(const Promotion& promotion, const Scope& scope, const Tile& tile) {
  isl::ctx ctx = result_.program().ctx();
  const Tensor& tensor = result_.program().tensor(promotion.tensor);
  const ElementType element = *parse_type(promotion.element);
  // { coordinates -> array digits }
  std::vector<std::string> outs, bounds, coordinates(tile.size.size()), ins;
  for (std::size_t d = 0; d < tile.size.size(); ++d) ins.push_back("c" + std::to_string(d));
  for (std::size_t i = 0; i < promotion.layout.size(); ++i) {
    const std::string b = "b" + std::to_string(i);
    outs.push_back(b);
    bounds.push_back("0 <= " + b + " < " + std::to_string(tile.extents[i]));
    std::string& sum = coordinates[static_cast<std::size_t>(promotion.layout[i].tensor_dim)];
    sum += (sum.empty() ? "" : " + ") + std::to_string(tile.weights[i]) + b;
  }
  if (outs.empty()) {  // one element: a rank-0 value still has one place
    outs.push_back("b0");
    bounds.push_back("b0 = 0");
  }
  for (std::size_t d = 0; d < ins.size(); ++d) bounds.push_back(ins[d] + " = " + (coordinates[d].empty() ? "0" : coordinates[d]));
  isl_map* layout_map = isl_map_read_from_str(ctx.get(), ("{ [" + join(ins, ",") + "] -> [" + join(outs, ",") + "]" + (bounds.empty() ? "" : " : " + join(bounds, " and ")) + " }").c_str());
  layout_map = isl_map_set_tuple_name(layout_map, isl_dim_out, promotion.array.c_str());
  const isl::map layout = isl::manage(layout_map);
  bool strided = false;  // elements between its steps have no place
  for (std::size_t d = 0; d < tile.size.size(); ++d) strided = strided || steps_over(promotion, d) > 1;

  for (const std::string& name : scope.statements) {
    DigitStatement* s = find(name);
    if (s == nullptr) continue;
    const isl::pw_multi_aff prefix = poly::as_function(keep_dims(s->digits->domain.space(), s->digits->dims, scope.prefix, "tile"));
    const auto rewrite = [&](DigitAccess& access) -> bool {
      if (access.array != promotion.tensor) return true;
      const isl::pw_multi_aff corner = isl::manage(isl_pw_multi_aff_from_multi_aff(tile.corner.copy())).pullback(prefix);
      isl::pw_multi_aff relative = access.function.sub(corner);
      relative = isl::manage(isl_pw_multi_aff_reset_tuple_id(relative.release(), isl_dim_out));
      const isl::map digits = relative.as_map().intersect_domain(s->executed).apply_range(layout);
      if (strided && !s->executed.is_subset(digits.domain())) return false;
      access.function = poly::as_function(digits);
      access.array = promotion.array;
      if (s->leaf->padded) {
        const auto extended = extend_function(access.function);
        if (!extended) return false;
        access.function = *extended;
      }
      return true;
    };
    bool affine = true;
    for (DigitAccess& read : s->reads) affine = rewrite(read) && affine;
    affine = rewrite(s->write) && affine;
    if (!affine) return refuse("atom", promotion_entry(promotion), "an access of padded statement " + name + " is not affine in this layout" + (strided ? ", or falls between its steps" : ""));
    if (element == tensor.type) continue;
    bool widened = true;
    std::size_t casts = 0, reads = 0;
    walk_expr(s->statement->body, [&](const Expr& e) {
      if (const Read* r = std::get_if<Read>(&e.node)) reads += s->reads[r->access].array == promotion.array;
      if (const Cast* c = std::get_if<Cast>(&e.node))
        if (const Read* r = std::get_if<Read>(&c->operand->node); r != nullptr && s->reads[r->access].array == promotion.array) casts += e.type == element || widens_exactly(element, e.type);
    });
    widened = casts == reads;
    if (!widened) return refuse("numerics", promotion_entry(promotion), "statement " + name + " reads " + promotion.tensor + " without a cast to " + promotion.element + " or to a type that holds it");
  }
  return std::nullopt;
}

namespace {
/// Rows are what the last dimensions hold that are cut from one dimension of the tensor: those before them step over the padding too.
std::vector<long> padded_strides(const Promotion& promotion, const std::vector<long>& extents) {
  std::vector<long> strides(extents.size(), 1);
  long room = 1;
  for (std::size_t d = extents.size(); d-- > 0;) {
    if (d + 1 < extents.size() && promotion.layout[d].tensor_dim != promotion.layout.back().tensor_dim && promotion.layout[d + 1].tensor_dim == promotion.layout.back().tensor_dim)
      room += promotion.pad;
    strides[d] = room;
    room *= extents[d];
  }
  return strides;
}
}  // namespace

std::optional<Infeasible> PromotionBuilder::apply(const Promotion& promotion) {
  if (auto problem = check_request(promotion)) return problem;
  const std::vector<Scope> scopes = find_scopes(promotion);
  if (scopes.size() != 1)
    return refuse("pin", promotion_entry(promotion), scopes.empty() ? "the tree has no band `" + promotion.after + "` above these statements"
                                                                   : "band `" + promotion.after + "` occurs in several branches: name the statements");
  Tile tile;
  if (auto problem = measure(promotion, scopes.front(), tile)) return problem;
  if (auto problem = lay_out(promotion, tile)) return problem;
  if (auto problem = redirect(promotion, scopes.front(), tile)) return problem;
  Array array;
  array.name = promotion.array;
  array.element = *parse_type(promotion.element);
  array.space = promotion.space;
  array.tensor = promotion.tensor;
  array.extents = tile.extents.empty() ? std::vector<long>{1} : tile.extents;
  array.scope = promotion.after;
  if (promotion.pad > 0) array.strides = padded_strides(promotion, array.extents);
  if (!promotion.swizzle_along.empty()) {
    const auto place = [&](const std::string& name) {
      return static_cast<int>(std::find_if(promotion.layout.begin(), promotion.layout.end(), [&](const BufferDim& dim) { return dim.name == name; }) - promotion.layout.begin());
    };
    array.swizzle = {place(promotion.swizzle_along), place(promotion.swizzle_by)};
    array.alignment = kSwizzleAlignment;
    const long pieces = array.extents[static_cast<std::size_t>(array.swizzle.along)];
    if ((pieces & (pieces - 1)) != 0) return refuse("pin", promotion_entry(promotion), "dimension " + promotion.swizzle_along + " has extent " + std::to_string(pieces) + ", and swizzled ones have powers of two");
  }
  const Space* space = machine_.find_space(promotion.space);
  const Level* owner = space == nullptr || space->level.empty() ? nullptr : machine_.find_level(space->level);
  for (const BufferDim& dim : promotion.layout)
    if (owner != nullptr && owner->kind == LevelKind::barrier && spread_over_agents(dim)) ++array.agent_dims;
  for (int d = 0; d < array.agent_dims; ++d)
    if (!spread_over_agents(promotion.layout[static_cast<std::size_t>(d)]))
      return refuse("pin", promotion_entry(promotion), "the coordinates of agents must be the first dimensions of the layout");
  result_.arrays_.push_back(array);
  return add_copies(promotion, scopes.front(), tile);
}

std::optional<Infeasible> PromotionBuilder::check_capacity() const {
  double stack = 0, registers = 0;
  std::map<std::string, double> block;  // by space: arrays of one block lie side by side
  for (const Array& a : result_.arrays_) {
    const double bytes = static_cast<double>(a.stored_elements()) * size_bytes(a.element);
    if (a.space == "stack") stack += bytes;
    if (a.space == "register" && a.agent_elements() > 1) registers += bytes;
    const Space* owned = machine_.find_space(a.space);
    const Level* owner = owned->level.empty() ? nullptr : machine_.find_level(owned->level);
    if (owner != nullptr && owner->kind == LevelKind::independent) {
      double& total = block[a.space];
      total += std::ceil(bytes / 128) * 128;
      if (owned->capacity > 0 && total > owned->capacity)
        return refuse("capacity", "promotions", "the arrays together need " + bytes_text(total) + " of \"" + a.space + "\" beside " + bytes_text(owned->capacity) + " available");
    }
    const Space* space = machine_.find_space(a.space);
    if (space->capacity > 0 && bytes > space->capacity)
      return refuse("capacity", "promotions[" + a.name + "]", "array " + a.name + " needs " + bytes_text(bytes) + " of \"" + a.space + "\" beside " + bytes_text(space->capacity) + " available");
  }
  const Space* stack_space = machine_.find_space("stack");
  if (stack_space != nullptr && stack_space->capacity > 0 && stack > stack_space->capacity)
    return refuse("capacity", "promotions", "the arrays together need " + bytes_text(stack) + " of \"stack\" beside " + bytes_text(stack_space->capacity) + " available");
  const Space* register_space = machine_.find_space("register");
  if (register_space != nullptr && register_space->capacity > 0 && registers > register_space->capacity)
    return refuse("capacity", "promotions", "the arrays together need " + bytes_text(registers) + " of \"register\" beside " + bytes_text(register_space->capacity) + " available");
  return std::nullopt;
}

Candidate<PromotedSchedule> PromotionBuilder::build() {
  if (auto problem = prepare_statements()) return *problem;
  for (const Promotion& promotion : result_.plan().promotions)
    if (auto problem = apply(promotion)) return *problem;
  if (auto problem = finish_statements()) return *problem;
  if (auto problem = check_capacity()) return *problem;
  return std::move(result_);
}

Candidate<PromotedSchedule> PromotedSchedule::create(FittedSchedule fitted, const Machine& machine) {
  return PromotionBuilder(std::move(fitted), machine).build();
}

Candidate<PromotedSchedule> promote_footprints(const FittedSchedule& fitted, const Machine& machine) {
  return within_limit(fitted.digits().kernel().program().ctx(), "promote_footprints", fitted.plan().name, [&] { return PromotedSchedule::create(fitted, machine); });
}

}  // namespace tileopt
