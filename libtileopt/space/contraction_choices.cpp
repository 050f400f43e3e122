/// Choices of a packed register tile:
///   jc > kc > ic > jr > ir > (C_init ; C: kk)      atom ii x jj
/// the atom's extents, the radices of jr, ir and kk (how many tiles make a block), the order of the blocks with the places of
/// the packed operands, the order of jr and ir, and the loop that threads share.
#include <algorithm>
#include <memory>

#include "space/contraction_model.h"
#include "support/text.h"

namespace tileopt {
namespace {

constexpr long kShortLoop = 16;         ///< the planner never cuts summation loops up to this length
constexpr std::size_t kMostBlocks = 4;  ///< loops over blocks whose orders are all tried

std::string spelled(const TileModel& tile, const TileMember& member) { return tile.statement + "." + member.iterator; }

const std::vector<Digit>* digits_of(const KernelPlan& plan, const std::string& member) {
  const auto found =
      std::find_if(plan.digits.begin(), plan.digits.end(), [&](const auto& entry) { return entry.first == member; });
  return found == plan.digits.end() ? nullptr : &found->second;
}

TileMember find_member(const KernelPlan& planned, const KernelPlan& shaped, const StatementView& view, const std::string& name,
                       bool in_atom) {
  TileMember member;
  member.member = name;
  const std::size_t m = view.member_index(name);
  member.iterator = view.iterators[m];
  member.extent = view.ranges[m].typical;
  member.constant = view.ranges[m].constant.has_value();
  const std::vector<Digit>& digits = *digits_of(shaped, name);
  std::size_t count = digits.size();
  if (in_atom) member.inner = digits[--count].name;
  if (count > 0) member.middle = digits[--count].name;
  if (count > 0) member.block = digits[--count].name;
  const std::vector<Digit>* own = digits_of(planned, name);
  const std::size_t at = in_atom ? 2 : 1;
  if (own != nullptr && own->size() > at) member.planned = (*own)[1].radix;
  return member;
}

/// The summation loop that the planner cuts, or would cut: the longest, of equals the last one.
std::string cut_summation(const KernelPlan& plan, const StatementView& view) {
  std::string longest;
  double most = 0;
  for (std::size_t m = 0; m < view.members.size(); ++m) {
    if (view.accesses[0].moves_with(m)) continue;
    const std::vector<Digit>* digits = digits_of(plan, view.members[m]);
    if (digits != nullptr && digits->size() > 1) return view.members[m];
    const auto constant = view.ranges[m].constant;
    if ((constant && *constant <= kShortLoop) || view.guarded[m] || view.ranges[m].typical < most) continue;
    most = view.ranges[m].typical;
    longest = view.members[m];
  }
  return longest;
}

bool given_tile(const VariantContext& context, const TileModel& tile, const TileMember& member, const std::string& level) {
  return context.given.tile(level, tile.statement, member.iterator).has_value();
}

std::vector<long> radices(const TileMember& member, double unit, const std::vector<long>& candidates) {
  std::vector<long> numbers;
  for (const long number : candidates) {
    if (double(number - 1) * unit < member.extent) numbers.push_back(number);
  }
  return numbers;
}

class TileChoices {
 public:
  TileChoices(const KernelPart& part, const std::string& statement) : part_(part), tile_(std::make_shared<TileModel>()) {
    const StatementView view =
        view_statement(part.context.program, statement, part.shaped.members.at(statement), part.context.sizes);
    tile_->statement = statement;
    tile_->view = view;
    tile_->bytes = view.accesses[0].element_bytes;
  }

  void add() {
    if (!find_loops()) return;
    add_tiles();
    add_block_orders();
    add_tile_orders();
    add_parallel();
    add_contraction_constraints(part_, tile_);
    const auto tile = tile_;
    const std::string thread = part_.context.level(LevelKind::independent), serial = part_.context.level(LevelKind::sequential),
                      atom = part_.context.level(LevelKind::atom);
    const VariantContext given = part_.context;
    const bool frozen_rows = is_given(tile->rows), frozen_lanes = is_given(tile->lanes),
               frozen_depth = tile->has_depth && is_given(tile->depth);
    const bool frozen_atom_rows = given_tile(given, *tile, tile->rows, atom),
               frozen_atom_lanes = given_tile(given, *tile, tile->lanes, atom);
    part_.variant.pin_writers.push_back([=](const std::vector<std::size_t>& values, std::vector<Pin>& pins) {
      const long rows = tile->row_numbers[values[tile->rows.atom]], lanes = tile->lane_numbers[values[tile->lanes.atom]];
      if (!frozen_atom_rows) pins.push_back(tile_pin(atom, spelled(*tile, tile->rows), rows));
      if (!frozen_atom_lanes) pins.push_back(tile_pin(atom, spelled(*tile, tile->lanes), lanes));
      const std::string shared = tile->has_parallel ? tile->parallel[values[tile->parallel_choice]] : tile->planned_parallel;
      const auto block = [&](const TileMember& member, long extent, bool frozen) {
        if (!frozen)
          pins.push_back(tile_pin(shared == member.member && extent > 0 ? thread : serial, spelled(*tile, member), extent));
      };
      block(tile->rows, tile->row_radices[values[tile->rows.choice]] * rows, frozen_rows);
      block(tile->lanes, tile->lane_radices[values[tile->lanes.choice]] * lanes, frozen_lanes);
      if (tile->has_depth) block(tile->depth, tile->depth_radices[values[tile->depth.choice]] * tile->depth_unit, frozen_depth);
      if (tile->has_parallel) pins.push_back(simple_pin("parallel", {tile->statement + "." + iterator(*tile, shared)}));
      write_orders(*tile, values, pins);
    });
  }

 private:
  static std::string iterator(const TileModel& tile, const std::string& member) {
    return tile.view.iterators[tile.view.member_index(member)];
  }
  bool is_given(const TileMember& member) const {
    return given_tile(part_.context, *tile_, member, part_.context.level(LevelKind::sequential)) ||
           given_tile(part_.context, *tile_, member, part_.context.level(LevelKind::independent));
  }
  std::string title(const TileMember& member, LevelKind kind) const {
    return spelled(*tile_, member) + " in " + part_.context.level(kind);
  }

  int outermost_digit(const std::string& member) const {
    const KernelShape& shape = part_.shape();
    const auto m =
        static_cast<std::size_t>(std::find(shape.members.begin(), shape.members.end(), member) - shape.members.begin());
    return shape.digits_of[m].front();
  }

  bool find_loops();
  void add_tiles();
  void add_block_orders();
  void add_tile_orders();
  void add_parallel();
  static void write_orders(const TileModel& tile, const std::vector<std::size_t>& values, std::vector<Pin>& pins);
  static bool is_cut(const TileModel& tile, const std::string& member, const std::vector<std::size_t>& values);
  static std::vector<std::string> outer_order(const TileModel& tile, const std::vector<int>& permutation);
  static std::string deepest_mover(const TileModel& tile, const Operand& operand, const std::vector<std::string>& order);

  const KernelPart& part_;
  std::shared_ptr<TileModel> tile_;
};

bool TileChoices::find_loops() {
  TileModel& tile = *tile_;
  const AtomChoice& atom = part_.shaped.atoms.at(tile.statement);
  const std::string rows = part_.shaped.owner(atom.box[0]), lanes = part_.shaped.owner(atom.box.back());
  tile.rows = find_member(part_.planned, part_.shaped, tile.view, rows, true);
  tile.lanes = find_member(part_.planned, part_.shaped, tile.view, lanes, true);
  if (tile.rows.middle.empty() || tile.lanes.middle.empty()) return false;
  const std::string depth = cut_summation(part_.shaped, tile.view);
  // A dot atom takes the last digit of the summation.
  const bool in_atom = !depth.empty() && contains(atom.box, digits_of(part_.shaped, depth)->back().name);
  if (in_atom) tile.depth_unit = digits_of(part_.shaped, depth)->back().radix;
  tile.has_depth = !depth.empty() && digits_of(part_.shaped, depth)->size() > (in_atom ? 2 : 1);
  if (tile.has_depth) tile.depth = find_member(part_.planned, part_.shaped, tile.view, depth, in_atom);
  for (std::size_t m = 0; m < tile.view.members.size(); ++m) {
    if (!tile.view.accesses[0].moves_with(m) && tile.view.members[m] != depth) tile.fixed *= tile.view.ranges[m].typical;
  }
  const std::size_t r = tile.view.member_index(rows), l = tile.view.member_index(lanes);
  for (std::size_t a = 1; a < tile.view.accesses.size(); ++a) {
    const AccessView& access = tile.view.accesses[a];
    Operand& operand = access.moves_with(r) && !access.moves_with(l) ? tile.left : tile.right;
    const auto packed = std::find_if(part_.shaped.promotions.begin(), part_.shaped.promotions.end(),
                                     [&](const Promotion& p) { return p.tensor == access.tensor; });
    operand = {access.tensor, a, packed == part_.shaped.promotions.end() ? "" : packed->space};
  }
  for (const std::string& digit : path_dims(part_.shaped.tree, tile.statement)) {
    if (digit == tile.lanes.middle || digit == tile.rows.middle) break;
    tile.outer.push_back(part_.shaped.owner(digit));
  }
  for (const std::string& member : tile.outer) {
    const bool block = (member == rows && !tile.rows.block.empty()) || (member == lanes && !tile.lanes.block.empty()) ||
                       (tile.has_depth && member == depth);
    if (!block) continue;
    tile.places.push_back(static_cast<std::size_t>(&member - tile.outer.data()));
    tile.blocks.push_back(member);
  }
  return true;
}

void TileChoices::add_tiles() {
  TileModel& tile = *tile_;
  const Machine& machine = part_.context.machine;
  const bool vectors = machine.vector_bytes >= tile.bytes;
  const long vector_lanes = vectors ? machine.vector_bytes / tile.bytes : 1;
  const long registers = vectors ? machine.vector_registers : 21;
  std::vector<long> rows, lanes;
  for (long n = 1; n <= registers - 2 && double(n - 1) < tile.rows.extent; ++n) rows.push_back(n);
  for (const long n : vectors ? std::vector<long>{1, 2, 3, 4} : std::vector<long>{1, 2, 3, 4, 6, 8}) {
    if (double((n - 1) * vector_lanes) < tile.lanes.extent) lanes.push_back(n * vector_lanes);
  }
  const auto own_atom = [&](const TileMember& member) { return digits_of(part_.planned, member.member)->back().radix; };
  const std::string atom = part_.context.level(LevelKind::atom);
  const auto numbers = [&](std::size_t choice) {
    std::vector<long> list;
    for (const ChoiceValue& value : part_.variant.choices[choice].values) list.push_back(value.number);
    return list;
  };
  tile.rows.atom = part_.add_tile(title(tile.rows, LevelKind::atom), tile.rows.inner, rows, own_atom(tile.rows),
                                  given_tile(part_.context, tile, tile.rows, atom));
  tile.lanes.atom = part_.add_tile(title(tile.lanes, LevelKind::atom), tile.lanes.inner, lanes, own_atom(tile.lanes),
                                   given_tile(part_.context, tile, tile.lanes, atom));
  tile.row_numbers = numbers(tile.rows.atom);
  tile.lane_numbers = numbers(tile.lanes.atom);

  const auto add_radix = [&](TileMember& member, const std::string& digit, double unit, const std::vector<long>& candidates) {
    std::vector<long> list;
    if (member.block.empty()) {
      if (member.planned == 0)
        part_.exclude(ConstraintKind::legality, title(member, LevelKind::sequential), "the planner could not cut the loop");
    } else {
      list = radices(member, unit, candidates);
      if (member.constant)
        list.push_back(0);
      else
        part_.exclude(ConstraintKind::legality, title(member, LevelKind::sequential) + " = whole",
                      "its extent is not constant: what is packed below it would have no constant size");
    }
    member.choice = part_.add_tile(title(member, LevelKind::sequential), digit, list, member.planned, is_given(member));
    return numbers(member.choice);
  };
  tile.row_radices = add_radix(tile.rows, tile.rows.middle, 1, {1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128});
  tile.lane_radices =
      add_radix(tile.lanes, tile.lanes.middle, double(vector_lanes), {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128});
  // A summation has no tiles of its own inside a block: its point loop is the micro-kernel's.
  if (tile.has_depth)
    tile.depth_radices = add_radix(tile.depth, tile.depth.middle, double(tile.depth_unit),
                                   {4, 8, 16, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 448, 512, 640, 768, 1024});
}

/// The loops outside the tile loops with the blocks permuted among their places.
std::vector<std::string> TileChoices::outer_order(const TileModel& tile, const std::vector<int>& permutation) {
  std::vector<std::string> order = tile.outer;
  for (std::size_t i = 0; i < permutation.size(); ++i)
    order[tile.places[i]] = tile.blocks[static_cast<std::size_t>(permutation[i])];
  return order;
}

/// The innermost member of `order` that moves the operand: its copy stands just inside.
std::string TileChoices::deepest_mover(const TileModel& tile, const Operand& operand, const std::vector<std::string>& order) {
  std::string deepest;
  for (const std::string& member : order) {
    if (tile.view.accesses[operand.access].moves_with(tile.view.member_index(member))) deepest = member;
  }
  return deepest;
}

void TileChoices::add_block_orders() {
  TileModel& tile = *tile_;
  if (tile.blocks.size() < 2 || tile.blocks.size() > kMostBlocks || tile.left.space.empty() || tile.right.space.empty()) return;
  if (!part_.context.given.orders.empty() || part_.context.given.promote(tile.left.tensor) ||
      part_.context.given.promote(tile.right.tensor)) {
    part_.exclude(ConstraintKind::pin, tile.statement + " order of blocks", "a pin decides it");
    return;
  }
  std::vector<std::string> names;
  for (const std::string& member : tile.blocks) names.push_back(iterator(tile, member));
  Choice choice{part_.planned.name + ": " + tile.statement + " order of blocks", ChoiceKind::order,
                order_values(names, [](const auto&) { return true; }), 0};
  std::vector<std::vector<ShapeEdit>> edits;
  for (const ChoiceValue& value : choice.values) {
    const std::vector<std::string> order = outer_order(tile, value.permutation);
    std::vector<ShapeEdit> list;
    for (const ShapeStatement& s : part_.shape().statements) {
      // The initialisation lies below the same blocks.
      const std::vector<std::string> path = path_dims(part_.shaped.tree, s.name);
      std::vector<std::string> above;
      for (const std::string& digit : path) {
        if (above.size() < tile.outer.size()) above.push_back(part_.shaped.owner(digit));
      }
      if (above != tile.outer) continue;
      ShapeEdit edit;
      edit.kind = ShapeEdit::Kind::path;
      edit.kernel = part_.kernel;
      edit.at = part_.statement(s.name);
      for (const std::size_t place : tile.places) {
        edit.positions.push_back(place);
        edit.digits.push_back(outermost_digit(order[place]));
      }
      list.push_back(std::move(edit));
      if (s.name != tile.statement) continue;
      for (const Operand* operand : {&tile.left, &tile.right}) {
        ShapeEdit scope;
        scope.kind = ShapeEdit::Kind::scope;
        scope.kernel = part_.kernel;
        scope.at = part_.statement(s.name);
        const auto deepest = std::find(order.begin(), order.end(), deepest_mover(tile, *operand, order));
        scope.radix = deepest == order.end() ? 0 : static_cast<long>(deepest - order.begin()) + 1;
        for (std::size_t i = 0; i < s.streams.size(); ++i) {
          if (s.streams[i].tensor == operand->tensor) scope.positions.push_back(i);
        }
        list.push_back(std::move(scope));
      }
    }
    edits.push_back(std::move(list));
  }
  tile.block_values = choice.values;
  tile.blocks_choice = part_.add(std::move(choice), std::move(edits));
  tile.has_blocks = true;

  const auto shared = tile_;
  Constraint constraint{ConstraintKind::size,
                        tile.statement + ": order of blocks",
                        "a loop that is not cut has no blocks whose order could change",
                        {tile.rows.choice, tile.lanes.choice, tile.blocks_choice},
                        {}};
  if (tile.has_depth) constraint.choices.insert(constraint.choices.begin() + 2, tile.depth.choice);
  constraint.allows = [shared](const std::vector<std::size_t>& values) {
    if (values[shared->blocks_choice] == 0) return true;
    return std::all_of(shared->blocks.begin(), shared->blocks.end(),
                       [&](const std::string& member) { return is_cut(*shared, member, values); });
  };
  part_.variant.constraints.push_back(std::move(constraint));
}

void TileChoices::add_tile_orders() {
  TileModel& tile = *tile_;
  if (!part_.context.given.orders.empty()) return;
  const std::vector<std::string> path = path_dims(part_.shaped.tree, tile.statement);
  const std::size_t at = tile.outer.size();
  if (at + 1 >= path.size() || path[at] != tile.lanes.middle || path[at + 1] != tile.rows.middle) return;
  Choice choice{part_.planned.name + ": " + tile.statement + " order of tiles", ChoiceKind::order,
                order_values({tile.lanes.iterator, tile.rows.iterator}, [](const auto&) { return true; }), 0};
  std::vector<std::vector<ShapeEdit>> edits;
  const int lanes = part_.digit(tile.lanes.middle), rows = part_.digit(tile.rows.middle);
  for (const ChoiceValue& value : choice.values) {
    std::vector<ShapeEdit> list;
    for (const ShapeStatement& s : part_.shape().statements) {
      const bool inside = at + 1 < s.path.size() && s.path[at] == lanes && s.path[at + 1] == rows;
      if (!inside) continue;
      ShapeEdit edit;
      edit.kind = ShapeEdit::Kind::path;
      edit.kernel = part_.kernel;
      edit.at = part_.statement(s.name);
      edit.positions = {at, at + 1};
      edit.digits = value.permutation.front() == 0 ? std::vector<int>{lanes, rows} : std::vector<int>{rows, lanes};
      list.push_back(std::move(edit));
    }
    edits.push_back(std::move(list));
  }
  tile.tile_values = choice.values;
  tile.tiles_choice = part_.add(std::move(choice), std::move(edits));
  tile.has_tiles = true;
}

void TileChoices::add_parallel() {
  TileModel& tile = *tile_;
  const std::string thread = part_.context.level(LevelKind::independent);
  std::vector<std::string> candidates;
  for (const std::string& digit : path_dims(part_.shaped.tree, tile.statement)) {
    const std::string member = part_.shaped.owner(digit);
    const std::size_t m = tile.view.member_index(member);
    if (part_.planned.find_digit(digits_of(part_.planned, member)->front().name)->level == thread)
      tile.planned_parallel = member;
    const bool result = tile.view.accesses[0].moves_with(m) && !tile.view.guarded[m];
    if (result && !contains(candidates, member) && tile.view.ranges[m].typical >= 2) candidates.push_back(member);
  }
  if (part_.context.threads <= 1) return;
  if (!part_.context.given.parallels.empty()) {
    part_.exclude(ConstraintKind::pin, tile.statement + " loop of the threads", "a pin decides it");
    return;
  }
  if (tile.planned_parallel.empty() || candidates.size() < 2 || !contains(candidates, tile.planned_parallel)) return;
  Choice choice{part_.planned.name + ": " + tile.statement + " loop of the threads", ChoiceKind::parallel, {}, 0};
  std::vector<std::vector<ShapeEdit>> edits;
  for (const std::string& member : candidates) {
    if (member == tile.planned_parallel) choice.planned = choice.values.size();
    choice.values.push_back({iterator(tile, member), 0, {}});
    std::vector<ShapeEdit> list;
    for (const std::string& other : candidates) {
      ShapeEdit edit;
      edit.kind = ShapeEdit::Kind::level;
      edit.kernel = part_.kernel;
      edit.at = static_cast<std::size_t>(outermost_digit(other));
      edit.level = other == member ? LevelKind::independent : LevelKind::sequential;
      list.push_back(std::move(edit));
    }
    edits.push_back(std::move(list));
    tile.parallel.push_back(member);
  }
  tile.parallel_choice = part_.add(std::move(choice), std::move(edits));
  tile.has_parallel = true;
}

bool TileChoices::is_cut(const TileModel& tile, const std::string& member, const std::vector<std::size_t>& values) {
  if (member == tile.rows.member) return tile.row_radices[values[tile.rows.choice]] > 0;
  if (member == tile.lanes.member) return tile.lane_radices[values[tile.lanes.choice]] > 0;
  return !tile.has_depth || member != tile.depth.member || tile.depth_radices[values[tile.depth.choice]] > 0;
}

void TileChoices::write_orders(const TileModel& tile, const std::vector<std::size_t>& values, std::vector<Pin>& pins) {
  const bool blocks = tile.has_blocks && values[tile.blocks_choice] != 0,
             tiles = tile.has_tiles && values[tile.tiles_choice] != 0;
  if (!blocks && !tiles) return;
  std::vector<std::string> names;
  const std::vector<std::string> order =
      blocks ? outer_order(tile, tile.block_values[values[tile.blocks_choice]].permutation) : tile.outer;
  for (const std::string& member : order) {
    if (contains(tile.blocks, member) && is_cut(tile, member, values))
      names.push_back(tile.statement + "." + iterator(tile, member));
  }
  names.push_back(spelled(tile, tiles ? tile.rows : tile.lanes));
  names.push_back(spelled(tile, tiles ? tile.lanes : tile.rows));
  pins.push_back(simple_pin("order", names));
  if (!blocks) return;
  for (const Operand* operand : {&tile.left, &tile.right}) {
    const std::string deepest = deepest_mover(tile, *operand, order);
    pins.push_back(promote_pin(operand->tensor, operand->space, tile.statement + "." + iterator(tile, deepest)));
  }
}

}  // namespace

std::vector<Pin> contraction_shape_pins(const VariantContext& context, const KernelPlan& planned) {
  std::vector<Pin> pins;
  const std::string serial = context.level(LevelKind::sequential);
  for (const std::string& statement : register_tiles(context.machine, planned)) {
    const StatementView view = view_statement(context.program, statement, planned.members.at(statement), context.sizes);
    const AtomChoice& atom = planned.atoms.at(statement);
    for (const std::string& digit : atom.box) {
      const std::string member = planned.owner(digit);
      const std::vector<Digit>& digits = *digits_of(planned, member);
      const std::string& iterator = view.iterators[view.member_index(member)];
      if (digits.size() != 2 || iterator.empty() || context.given.tile(serial, statement, iterator)) continue;
      pins.push_back(tile_pin(serial, statement + "." + iterator, 2 * digits.back().radix));
    }
    const std::string depth = cut_summation(planned, view);
    if (depth.empty() || digits_of(planned, depth)->size() > 1) continue;
    const std::string& iterator = view.iterators[view.member_index(depth)];
    if (!iterator.empty() && !context.given.tile(serial, statement, iterator))
      pins.push_back(tile_pin(serial, statement + "." + iterator, 16));
  }
  return pins;
}

void add_contraction_choices(const KernelPart& part) {
  for (const std::string& statement : register_tiles(part.context.machine, part.shaped)) TileChoices(part, statement).add();
}

}  // namespace tileopt
