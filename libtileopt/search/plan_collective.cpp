#include "search/plan_collective.h"

#include <algorithm>
#include <memory>

#include "search/collective_planner.h"
#include "support/text.h"

namespace tileopt {
namespace {

constexpr long kMostGroups = 3;        ///< the same where the problem's sizes or its lines want it: less is fetched for a product
constexpr double kLeastFew = 1;        ///< of those: one row alone still reads the large factor once, by blocks enough
constexpr long kGroupRows = 8;         ///< that a swizzled matrix repeats after
constexpr long kBand = 16;             ///< blocks along the rows that run beside each other, so that they share what they read
constexpr double kNarrowSide = 128;     ///< up to which the columns are a tile's rows: lanes are what a factor is read once for
constexpr double kNarrow = 64;         ///< lanes of a tile for results that have no more

/// The elementwise atom with the narrowest, or the widest, accesses: what sets registers, and what stores them.
const Atom* elementwise(const Machine& machine, bool wide) {
  const Atom* found = nullptr;
  for (const Atom& atom : machine.atoms) {
    if (atom.body != "elementwise" || !atom.pipe.empty()) continue;
    const bool better = found == nullptr || (wide ? atom.widest_access(true) > found->widest_access(true) : atom.widest_access(true) < found->widest_access(true));
    if (better) found = &atom;
  }
  return found;
}

}  // namespace

Promotion CollectivePlanner::promote_factor(const Factor& factor, bool right, const std::string& after, NameTable& digits) const {
  const std::string agent = level(LevelKind::barrier), repeated = level(LevelKind::unrolled);
  Promotion promotion;
  promotion.tensor = factor.access->tensor;
  promotion.array = fresh(promotion.tensor + "_shared");
  promotion.after = after;
  promotion.statements = factor.statements;
  promotion.space = "shared";
  promotion.element = type_name(request_.program().tensor(promotion.tensor).type);
  promotion.zero_fill = true;
  const auto name = [&](const std::string& part) { return digits.unique(promotion.array + "_" + part); };
  const int across = static_cast<int>(factor.across.back()), along = static_cast<int>(factor.along);
  const int fast = factor.along_is_fast ? along : across, slow = factor.along_is_fast ? across : along;
  const long piece = kPieceBytes / element_bytes(), pieces = depth_ / piece;  // of a row
  const long slow_extent = factor.along_is_fast ? factor.extent() : depth_, groups = std::min(threads() / (pieces * kGroupRows), factor.along_is_fast ? factor.extent() / reach(right) : slow_extent),
             repeats = slow_extent / (groups * kGroupRows);
  const std::string y = name("y"), r = name("r"), x = name("x"), v = name("v");
  // Across a matrix that lies the other way, slabs as wide as a row follow each other.
  if (boxes_ != nullptr) {
    if (!factor.along_is_fast && factor.extent() > depth_) promotion.layout.push_back({fast, name("c"), factor.extent() / depth_, repeated, depth_});
    // Rows of the nearest loop follow each other; so do runs of them, in the order of the loops around.
    for (std::size_t i = 0; i + 1 < factor.across.size(); ++i) promotion.layout.push_back({static_cast<int>(factor.across[i]), name("o"), factor.extents[i], "", factor.apart[i]});
    promotion.layout.push_back({slow, name("r"), factor.along_is_fast ? factor.extents.back() : slow_extent, "", factor.along_is_fast ? factor.apart.back() : 1});
    promotion.layout.push_back({fast, name("x"), pieces, "", piece});
    promotion.layout.push_back({fast, name("v"), piece, "", 1});
    promotion.swizzle_along = promotion.layout.rbegin()[1].name;
    promotion.swizzle_by = promotion.layout.rbegin()[2].name;
    return promotion;
  }
  if (!factor.along_is_fast && factor.extent() > depth_) promotion.layout.push_back({fast, name("c"), factor.extent() / depth_, repeated, depth_});
  // Rows in groups of eight, which the instruction counts in; threads are far apart, so that its digits stay inside of what one of them copies.
  promotion.layout.push_back({slow, y, groups, agent, kGroupRows * repeats});
  if (repeats > 1) promotion.layout.push_back({slow, name("s"), repeats, repeated, kGroupRows});
  promotion.layout.push_back({slow, r, kGroupRows, agent, 1});
  promotion.layout.push_back({fast, x, pieces, agent, piece});
  promotion.layout.push_back({fast, v, piece, "", 1});
  promotion.swizzle_along = x;
  promotion.swizzle_by = r;
  promotion.copy_order = {y, r, x};
  for (const BufferDim& dim : promotion.layout)
    if (!contains({y, r, x}, dim.name)) promotion.copy_order.push_back(dim.name);
  return promotion;
}

/// The tile of a result in registers of the agents, from `after` on.
Promotion CollectivePlanner::keep_result(const Contraction& product, const std::string& after, NameTable& digits) const {
  const std::string agent = level(LevelKind::barrier);
  const AccessView& result = product.view.accesses[0];
  Promotion kept;
  kept.tensor = result.tensor;
  kept.array = fresh(result.tensor + "_tile");
  kept.after = after;
  kept.statements = {product.init, product.statement, epilogue_};
  kept.space = "register";
  kept.element = type_name(request_.program().tensor(result.tensor).type);
  const auto name = [&](const std::string& of) { return digits.unique(kept.array + "_" + of); };
  const auto dim_of = [&](std::size_t m) { return static_cast<int>(result.dims_of(m).front()); };
  const auto add_rows = [&](const std::string& named, long radix, long weight, const std::string& on) {
    const DigitPart part_of_rows = row_digit(radix, weight);
    kept.layout.push_back({dim_of(rows_[part_of_rows.loop].member), named, radix, on, part_of_rows.weight});
  };
  if (groups_ > 1) add_rows(name("w"), groups_, group_rows_, agent);
  const std::size_t box_digits = atom_.extents.size();
  const auto add_dim = [&](std::size_t d, const std::string& on) {
    const std::string named = name(d < box_digits ? "b" + std::to_string(d) : "a" + std::to_string(d - box_digits));
    if (atom_.steps.rows[d] > 0) add_rows(named, radix_of(d), atom_.steps.rows[d], on);
    else kept.layout.push_back({dim_of(c_.lanes), named, radix_of(d), on, std::min(lanes_, atom_.steps.lanes[d])});
  };
  for (std::size_t d = box_digits; d < box_digits + atom_.agents.size(); ++d) add_dim(d, agent);
  std::vector<std::size_t> registers;
  for (std::size_t d = 0; d < box_digits; ++d)
    if (atom_.steps.depth[d] == 0) registers.push_back(d);
  std::stable_sort(registers.begin(), registers.end(), [&](std::size_t a, std::size_t b) { return atom_.steps.registers[a] > atom_.steps.registers[b]; });
  for (const std::size_t d : registers) add_dim(d, "");
  return kept;
}

PlanPart CollectivePlanner::build(NameTable& names) const {
  const Program& program = request_.program();
  const std::string block = level(LevelKind::independent), agent = level(LevelKind::barrier), serial = level(LevelKind::sequential), unrolled = level(LevelKind::unrolled),
                    atom = level(LevelKind::atom);
  PlanPart part;
  const std::string subject = "kernel " + request_.kernel.name() + ": " + names_of_products() + ": ";
  part.reasons.push_back(subject + "a block computes " + std::to_string(rows()) + "x" + std::to_string(lanes_) + " of " + names_of_results() + " along " + names_of_rows() + ", " +
                         iterator(c_.lanes) + " by " + atom_.name + ", " + std::to_string(depth_) + " terms of the factors in shared memory at a time, " + std::to_string(slots()) +
                         " slots; " + std::to_string(together_) + " threads together; to change: atom(" + c_.statement + ", \"scalar\")");
  std::map<std::size_t, std::string> member;
  for (std::size_t m = 0; m < c_.view.members.size(); ++m) member[m] = names.unique(iterator(m));
  NameTable digits = names;
  for (const auto& [m, name] : member) digits.reserve(name);
  const auto digit = [&](std::size_t m, char role) { return digits.unique(digit_name(member.at(m), role)); };
  const auto is_summed = [&](std::size_t m) { return std::count(c_.reduction.begin(), c_.reduction.end(), m) > 0; };

  // A member's digits are those of the atom that move it, the farthest first: what remains above is the block's.
  const std::size_t box_digits = atom_.extents.size();
  std::vector<std::string> boxes(box_digits), agents(atom_.agents.size());
  const auto cut = [&](std::size_t m, const std::vector<long>& steps, std::vector<Digit> above) {
    std::vector<std::size_t> order;
    for (std::size_t d = 0; d < steps.size(); ++d)
      if (steps[d] > 0 && (!is_row(m) || m == rows_[row_digit(radix_of(d), steps[d]).loop].member)) order.push_back(d);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return steps[a] > steps[b]; });
    char role = 'n';
    for (const std::size_t d : order) {
      const bool boxed = d < box_digits;
      const std::string name = digit(m, role++);
      above.push_back({name, radix_of(d), !boxed ? agent : d == chunk() && in_chunks() ? unrolled : atom});
      (boxed ? boxes[d] : agents[d - box_digits]) = name;
    }
    return above;
  };
  std::vector<std::string> above;
  std::string group, step;
  std::map<std::size_t, std::vector<Digit>> table;
  for (std::size_t m = 0; m < c_.view.members.size(); ++m) {
    if (is_row(m)) {
      std::vector<Digit> outside = {{digit(m, 'b'), 0, block}};
      if (rows_.size() == 1) outside.push_back({digit(m, 'a'), kBand, block});
      if (groups_ > 1 && m == rows_[row_digit(groups_, group_rows_).loop].member) outside.push_back({group = digit(m, 'w'), groups_, agent});
      table[m] = cut(m, atom_.steps.rows, outside);
    } else if (m == c_.lanes) {
      table[m] = cut(m, atom_.steps.lanes, {{digit(m, 'b'), 0, block}});
    } else if (m == sum_) {
      const std::string tiles = digit(m, 'b');
      step = digit(m, 'k');
      long atom_depth = 1;
      for (std::size_t d = 0; d < box_digits; ++d) atom_depth += atom_.steps.depth[d] * (radix_of(d) - 1);
      table[m] = cut(m, atom_.steps.depth, {{tiles, 0, serial}, {step, depth_ / atom_depth, unrolled}});
    } else table[m] = {{member.at(m), 0, is_summed(m) ? serial : block}};
    part.digits.emplace_back(member.at(m), table[m]);
  }
  for (std::size_t m = 0; m < c_.view.members.size(); ++m)
    if (!is_summed(m) && !is_row(m) && m != c_.lanes) above.push_back(table.at(m).front().name);
  // Blocks along the nearest rows run beside each other, so that they share the right factor: a band of them, or all of the nearest loop.
  const std::vector<Digit>& nearest = table.at(rows_.back().member);
  for (std::size_t i = 0; i + 1 < rows_.size(); ++i) above.push_back(table.at(rows_[i].member).front().name);
  if (rows_.size() == 1) above.push_back(nearest[0].name);
  above.push_back(table.at(c_.lanes)[0].name);
  above.push_back(nearest[rows_.size() == 1 ? 1 : 0].name);
  std::vector<std::string> line;
  for (const std::size_t m : sums_) line.push_back(table.at(m).front().name);
  const std::string& tiles = line.back();
  if (groups_ > 1) agents.insert(agents.begin(), group);
  std::vector<std::string> inner = {step}, whole = agents, stored;
  if (in_chunks()) stored.push_back(boxes[chunk()]);
  stored.insert(stored.end(), agents.begin(), agents.end());
  inner.insert(inner.end(), agents.begin(), agents.end());

  // The results and what is made of them have no terms.
  const auto member_map = [&](const Statement& statement, bool summed, const std::function<std::string(std::size_t)>& value) {
    StatementMembers mapped;
    std::vector<std::string> values;
    for (std::size_t m = 0; m < c_.view.members.size(); ++m) {
      if (!summed && is_summed(m)) continue;
      mapped.members.push_back(member.at(m));
      values.push_back("(" + value(m) + ")");
    }
    mapped.map = "{ " + statement.name + "[" + join(statement.iterators, ", ") + "] -> [" + join(values, ", ") + "] }";
    return mapped;
  };
  const Statement& last = program.statement(epilogue_);
  const auto of_last = [&](std::size_t m) {
    const std::size_t i = iterator_of(m);
    return i < last_.members.size() ? last_.members[i] : std::string("0");
  };
  std::vector<std::string> multiplied;
  for (const Contraction& product : products_) {
    const auto own = [&](std::size_t m) { return product.view.members[m]; };
    part.statements.insert(part.statements.end(), {product.init, product.statement});
    part.members[product.init] = member_map(program.statement(product.init), false, own);
    part.members[product.statement] = member_map(program.statement(product.statement), true, own);
    multiplied.push_back(product.statement);
  }
  part.statements.push_back(epilogue_);
  part.members[epilogue_] = member_map(last, false, of_last);
  std::vector<std::string> result_box;
  for (std::size_t d = 0; d < box_digits; ++d)
    if (atom_.steps.depth[d] == 0) result_box.push_back(boxes[d]);
  for (const Contraction& product : products_) part.atoms[product.init] = {box_.name, result_box, "padded", false, "", whole};
  std::vector<std::string> stored_box = result_box;
  if (in_chunks()) stored_box.erase(std::find(stored_box.begin(), stored_box.end(), boxes[chunk()]));
  const std::string stored_after = in_chunks() ? boxes[chunk()] : above.back();
  part.atoms[epilogue_] = {store_.name, stored_box, "padded", false, "", stored};
  whole.push_back(step);
  std::vector<Tree::Branch> steps, parts;
  for (const Contraction& product : products_) {
    part.atoms[product.statement] = {atom_.name, boxes, "padded", false, "", whole};
    steps.push_back({{product.init}, Tree::bands(agents, Tree())});
    parts.push_back({{product.statement}, Tree::bands(inner, Tree())});
  }
  const Tree tile = parts.size() == 1 ? parts.front().tree : Tree::sequence(parts);
  steps.push_back({multiplied, Tree::bands(line, tile)});
  steps.push_back({{epilogue_}, Tree::bands(stored, Tree())});
  part.tree = Tree::bands(above, Tree::sequence(std::move(steps)));

  for (const Contraction& product : products_) part.promotions.push_back(keep_result(product, above.back(), digits));
  for (const Operand& operand : operands_) part.promotions.push_back(promote_operand(operand, stored_after, digits));
  part.promotions.push_back(stage_result(stored_after, digits));
  const std::size_t copied = part.promotions.size();
  for (const Factor& factor : lefts_) part.promotions.push_back(promote_factor(factor, false, tiles, digits));
  for (const Factor& factor : rights_) part.promotions.push_back(promote_factor(factor, true, tiles, digits));
  Pipelining pipelining;
  pipelining.after = tiles;
  pipelining.slots = slots();
  const Atom* copies = boxes_ != nullptr ? boxes_ : pieces_;
  const std::string copy = copies == nullptr ? "" : copies->name;
  for (std::size_t p = copied; p < part.promotions.size(); ++p) pipelining.copies.push_back({part.promotions[p].array, copy});
  if (!obstacles_.empty()) part.reasons.push_back(subject + "threads copy pieces of the factors, no engine whole boxes: " + obstacles_.front().reason);
  part.excess = facts_for_boxes();
  part.reasons.push_back(subject + "the factors are copied " + std::to_string(pipelining.ahead()) + " tiles ahead, into " + std::to_string(pipelining.slots) + " slots; to change: pipeline(\"" +
                         iterator(sums_.back()) + "\", slots=2)");
  part.pipelines.push_back(std::move(pipelining));
  names = digits;
  return part;
}

std::vector<PartOption> plan_collective(const PlanRequest& request, const std::vector<Contraction>& products, const std::string& epilogue, std::string& why_not, std::vector<isl::pw_aff>& wanted) {
  const Contraction& contraction = products.front();
  const Atom *box = elementwise(request.machine, false), *store = elementwise(request.machine, true);
  const auto element = [&](const Contraction& product, std::size_t access) { return type_name(request.program().tensor(product.view.accesses[access].tensor).type); };
  const auto fits = [&](const Atom& atom) {
    return atom.is_collective() && std::all_of(products.begin(), products.end(), [&](const Contraction& product) {
             const AtomPin* pin = request.pins.atom(product.statement);
             return atom.find_operand("left")->element == element(product, 1 + product.left) && atom.find_operand("right")->element == element(product, 1 + product.right) &&
                    atom.find_operand("result")->element == element(product, 0) && (!pin || pin->atom == atom.name);
           });
  };
  const auto is_square = [](const Contraction& product) { return product.view.accesses[1 + product.left].tensor == product.view.accesses[1 + product.right].tensor; };
  const auto atom = std::find_if(request.machine.atoms.begin(), request.machine.atoms.end(), fits);
  if (atom == request.machine.atoms.end() || box == nullptr) why_not = "the machine has no atom that threads run together on " + element(contraction, 1 + contraction.left);
  else if (std::any_of(products.begin(), products.end(), is_square)) why_not = "both factors are parts of one tensor, which can be kept in one way only";
  else if (std::any_of(products.begin(), products.end(), [](const Contraction& product) { return product.init.empty(); })) why_not = "it does not start from zero in this kernel";
  else if (epilogue.empty()) why_not = "no statement alone takes its result element by element, in rows of its own that only another product reads";
  else {
    std::vector<PartOption> options;
    const auto planner_of = [&](const std::vector<Contraction>& all, const std::vector<SideLoop>& rows, long groups, long lanes, double least_lanes) {
      const auto planner = std::make_shared<CollectivePlanner>(request, all, epilogue, *atom, *box, *store, rows, groups, lanes, least_lanes);
      std::string reason, still;
      if (planner->shape(reason)) return planner;
      if (why_not.empty() || !planner->is_small()) why_not = reason;
      std::vector<isl::pw_aff> facts = planner->facts_for_boxes();
      planner->suppose_boxes();
      if (wanted.empty() && !facts.empty() && planner->shape(still)) wanted = std::move(facts);
      return std::shared_ptr<CollectivePlanner>();
    };
    const auto add = [&](const std::shared_ptr<CollectivePlanner>& planner) {
      if (planner != nullptr) options.push_back({planner->label(), planner->seconds(), [planner](NameTable& names) { return planner->build(names); }});
    };
    const auto one_loop = [&](const Contraction& product, long groups) { return std::vector<SideLoop>{{product.rows, rows_of(*atom, groups)}}; };
    std::vector<long> widths = {256, 128};
    if (contraction.view.ranges[contraction.lanes].typical <= kNarrow || products.size() > 2) widths.push_back(long(kNarrow));
    double all_rows = contraction.view.ranges[contraction.rows].typical;
    for (const std::size_t m : contraction.outer_left) all_rows *= contraction.view.ranges[m].typical;
    for (long groups = kGroups; groups <= kMostGroups; ++groups) {
      const std::vector<std::vector<SideLoop>> shared = share_rows(request, contraction, *atom, groups);
      for (const long lanes : widths) {
        add(planner_of(products, one_loop(contraction, groups), groups, lanes, kLeastSide));
        std::shared_ptr<CollectivePlanner> best;
        for (const std::vector<SideLoop>& rows : shared)
          if (const auto planner = planner_of(products, rows, groups, lanes, kLeastSide); planner != nullptr && (best == nullptr || planner->seconds() < best->seconds())) best = planner;
        add(best);
      }
    }
    const bool narrow = contraction.view.ranges[contraction.lanes].typical <= kNarrowSide;
    if ((all_rows <= kFewRows || narrow) && atom->find_operand("left")->element == atom->find_operand("right")->element) {
      std::vector<Contraction> turned = products;
      for (Contraction& product : turned) {
        std::swap(product.left, product.right);
        std::swap(product.rows, product.lanes);
      }
      const long groups = narrow && contraction.view.ranges[contraction.lanes].typical > kLeastSide ? kGroups : 1;
      if (all_rows <= kFewRows)
        for (const long lanes : {16L, 32L, 64L, 128L}) add(planner_of(turned, one_loop(turned.front(), 1), 1, lanes, kLeastFew));
      else add(planner_of(turned, one_loop(turned.front(), groups), groups, widths.front(), kLeastSide));
    }
    std::stable_sort(options.begin(), options.end(), [](const PartOption& a, const PartOption& b) { return a.seconds < b.seconds; });
    if (!options.empty()) wanted.clear();
    return options;
  }
  return {};
}

}  // namespace tileopt
