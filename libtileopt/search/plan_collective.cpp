#include "search/plan_collective.h"

#include <algorithm>
#include <memory>

#include "passes/bulk_copy.h"
#include "search/collective_planner.h"
#include "support/text.h"

namespace tileopt {
namespace {

constexpr long kGroups = 2;            ///< of agents that run an atom together, in a block: one issues while the other waits
constexpr double kFewRows = 128;       ///< up to which the columns are the tile's rows: few rows are its lanes, and blocks are many
constexpr double kLeastFew = 1;        ///< of those: one row alone still reads the large factor once, by blocks enough
constexpr long kGroupRows = 8;         ///< that a swizzled matrix repeats after
constexpr long kMostFilled = 4;         ///< that threads fill: a power of two is cheap to number
constexpr long kMostBoxes = 8;         ///< that an engine fills
constexpr double kOtherBytes = 512;    ///< barriers of the slots, and gaps between arrays
constexpr long kBand = 16;             ///< blocks along the rows that run beside each other, so that they share what they read
constexpr double kLeastSum = 64;       ///< terms from which tiles pay
constexpr double kLeastSide = 64;
constexpr double kStartCycles = 4000;  ///< of a block: first copies, last stores

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

CollectivePlanner::CollectivePlanner(const PlanRequest& request, const Contraction& contraction, std::string epilogue, const Atom& atom, const Atom& box, const Atom& store, long groups, long lanes, double least_lanes)
    : request_(request),
      c_(contraction),
      epilogue_(std::move(epilogue)),
      last_(view_statement(request.program(), epilogue_, iterator_members(request.program().statement(epilogue_)), request.sizes)),
      atom_(atom),
      box_(box),
      store_(store),
      groups_(groups),
      lanes_(lanes),
      least_lanes_(least_lanes) {
  together_ = 1;
  for (const long radix : atom.agents) together_ *= radix;
  for (std::size_t d = 0; d < atom.steps.rows.size(); ++d) group_rows_ += atom.steps.rows[d] * (radix_of(d) - 1);
  ++group_rows_;
  depth_ = atom.find_operand("left")->swizzle / element_bytes();
  for (const Atom& copy : request.machine.atoms) {
    const Pipe* pipe = request.machine.pipe_of(copy.name);
    if (copy.body != "copy" || pipe == nullptr) continue;
    if (pipe->completion == Completion::counted && copy.find_operand("result")->swizzle == atom.find_operand("left")->swizzle) boxes_ = &copy;
    if (pipe->completion == Completion::group && copy.widest_access(true) >= kPieceBytes && pieces_ == nullptr) pieces_ = &copy;
  }
  // One agent copies whole boxes where the engine takes both factors as they lie.
  for (const std::size_t read : {c_.left, c_.right})
    if (boxes_ != nullptr && no_boxes_.empty()) no_boxes_ = why_not_boxes(request.program(), request.program().tensor(c_.view.accesses[1 + read].tensor), boxes_->widest_access(false));
  if (!no_boxes_.empty()) boxes_ = nullptr;
}

bool CollectivePlanner::find_factor(std::size_t read, std::size_t across, long extent, Factor& factor, std::string& why_not) const {
  const AccessView& access = c_.view.accesses[1 + read];
  factor.access = &access;
  factor.extent = extent;
  const bool tile = access.affine && moves_alone(access, across) && moves_alone(access, sum());
  if (tile) {
    factor.across = access.dims_of(across).front();
    factor.along = access.dims_of(sum()).front();
    factor.along_is_fast = access.contiguous == factor.along;
  }
  if (tile && (factor.along_is_fast || access.contiguous == factor.across)) return true;
  why_not = access.tensor + " is no matrix along " + iterator(across) + " and " + iterator(sum());
  return false;
}

bool CollectivePlanner::shape(std::string& why_not) {
  const auto& names = request_.kernel.statements();
  const auto written = [&](std::size_t read) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return request_.program().statement(name).write.tensor == c_.view.accesses[1 + read].tensor; });
  };
  const MemberRange& terms = range(sum());
  if (!c_.fixed.empty()) why_not = "indices from memory stand around it";
  else if (c_.reduction.size() != 1) why_not = "a block runs the loop of the innermost sum several times";
  else if (terms.typical < kLeastSum || range(c_.rows).typical < kLeastSide || range(c_.lanes).typical < least_lanes_) why_not = "the problem is too small for tiles of " + atom_.name;
  else if (terms.constant && *terms.constant <= depth_) why_not = "the sum is one tile deep";
  else if (written(c_.left) || written(c_.right)) why_not = "the kernel writes a factor";
  else if (!moves_alone(c_.view.accesses[0], c_.rows) || !moves_alone(c_.view.accesses[0], c_.lanes)) why_not = "the result is no tile along " + iterator(c_.rows) + " and " + iterator(c_.lanes);
  else if (!find_factor(c_.left, c_.rows, rows(), left_, why_not) || !find_factor(c_.right, c_.lanes, lanes_, right_, why_not)) return false;
  else if (lanes_ < depth_ && !right_.along_is_fast) why_not = c_.view.accesses[1 + c_.right].tensor + " lies along few lanes, and rows of its matrix have " + std::to_string(depth_) + " elements";
  else if (!find_operands(why_not)) return false;
  else if (slots() < 2) why_not = "two slots of both factors do not fit in the memory of a block";
  else return true;
  return false;
}

long CollectivePlanner::slots() const {
  const Space* space = request_.machine.find_space("shared");
  const double room = space == nullptr ? 0 : space->capacity - double(stage_bytes()) - kOtherBytes;
  return std::min(boxes_ == nullptr ? kMostFilled : kMostBoxes, long(room / double(slot_bytes())));
}

double CollectivePlanner::seconds() const {
  double blocks = 1;
  for (const std::size_t m : {c_.rows, c_.lanes}) {
    const double side = double(m == c_.rows ? rows() : lanes_);
    blocks *= std::max(1.0, double(long((range(m).typical + side - 1) / side)));
  }
  for (const auto* outer : {&c_.outer_left, &c_.outer_right})
    for (const std::size_t m : *outer) blocks *= range(m).typical;
  const Machine& machine = request_.machine;
  const double waves = double(long((blocks + machine.cores - 1) / machine.cores));
  // The factors of a tile come through the block's memory: a narrow tile reads more for a product.
  const double products = double(rows()) * double(lanes_) / atom_.throughput * (1 + 24.0 / double(lanes_));
  return waves * (range(sum()).typical * products + kStartCycles) / machine.frequency;
}

Promotion CollectivePlanner::promote_factor(const Factor& factor, const std::string& after, NameTable& digits) const {
  const std::string agent = level(LevelKind::barrier), repeated = level(LevelKind::unrolled);
  Promotion promotion;
  promotion.tensor = factor.access->tensor;
  promotion.array = fresh(promotion.tensor + "_shared");
  promotion.after = after;
  promotion.statements = {c_.statement};
  promotion.space = "shared";
  promotion.element = type_name(request_.program().tensor(promotion.tensor).type);
  promotion.zero_fill = true;
  const auto name = [&](const std::string& part) { return digits.unique(promotion.array + "_" + part); };
  const int across = static_cast<int>(factor.across), along = static_cast<int>(factor.along);
  const int fast = factor.along_is_fast ? along : across, slow = factor.along_is_fast ? across : along;
  const long piece = kPieceBytes / element_bytes(), pieces = depth_ / piece;  // of a row
  const long slow_extent = factor.along_is_fast ? factor.extent : depth_, groups = std::min(threads() / (pieces * kGroupRows), factor.along_is_fast ? factor.extent / reach(&factor == &right_) : slow_extent),
             repeats = slow_extent / (groups * kGroupRows);
  const std::string y = name("y"), r = name("r"), x = name("x"), v = name("v");
  // Across a matrix that lies the other way, slabs as wide as a row follow each other.
  if (boxes_ != nullptr) {
    if (!factor.along_is_fast && factor.extent > depth_) promotion.layout.push_back({fast, name("c"), factor.extent / depth_, repeated, depth_});
    promotion.layout.push_back({slow, name("r"), slow_extent, "", 1});
    promotion.layout.push_back({fast, name("x"), pieces, "", piece});
    promotion.layout.push_back({fast, name("v"), piece, "", 1});
    promotion.swizzle_along = promotion.layout.rbegin()[1].name;
    promotion.swizzle_by = promotion.layout.rbegin()[2].name;
    return promotion;
  }
  if (!factor.along_is_fast && factor.extent > depth_) promotion.layout.push_back({fast, name("c"), factor.extent / depth_, repeated, depth_});
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

PlanPart CollectivePlanner::build(NameTable& names) const {
  const Program& program = request_.program();
  const std::string block = level(LevelKind::independent), agent = level(LevelKind::barrier), serial = level(LevelKind::sequential), unrolled = level(LevelKind::unrolled),
                    atom = level(LevelKind::atom);
  PlanPart part;
  const std::string subject = "kernel " + request_.kernel.name() + ": " + c_.statement + ": ";
  part.reasons.push_back(subject + "a block computes " + std::to_string(rows()) + "x" + std::to_string(lanes_) + " of " + c_.view.accesses[0].tensor + " along " + iterator(c_.rows) + ", " +
                         iterator(c_.lanes) + " by " + atom_.name + ", " + std::to_string(depth_) + " terms of both factors in shared memory at a time, " + std::to_string(slots()) +
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
      if (steps[d] > 0) order.push_back(d);
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
  std::string group, step, tiles;
  std::map<std::size_t, std::vector<Digit>> table;
  for (std::size_t m = 0; m < c_.view.members.size(); ++m) {
    if (m == c_.rows) {
      std::vector<Digit> outside = {{digit(m, 'b'), 0, block}, {digit(m, 'a'), kBand, block}};
      if (groups_ > 1) outside.push_back({group = digit(m, 'w'), groups_, agent});
      table[m] = cut(m, atom_.steps.rows, outside);
    } else if (m == c_.lanes) {
      table[m] = cut(m, atom_.steps.lanes, {{digit(m, 'b'), 0, block}});
    } else if (m == sum()) {
      tiles = digit(m, 'b');
      step = digit(m, 'k');
      long atom_depth = 1;
      for (std::size_t d = 0; d < box_digits; ++d) atom_depth += atom_.steps.depth[d] * (radix_of(d) - 1);
      table[m] = cut(m, atom_.steps.depth, {{tiles, 0, serial}, {step, depth_ / atom_depth, unrolled}});
    } else table[m] = {{member.at(m), 0, block}};
    part.digits.emplace_back(member.at(m), table[m]);
  }
  for (std::size_t m = 0; m < c_.view.members.size(); ++m)
    if (!is_summed(m) && m != c_.rows && m != c_.lanes) above.push_back(table.at(m).front().name);
  above.push_back(table.at(c_.rows)[0].name);
  above.push_back(table.at(c_.lanes)[0].name);
  above.push_back(table.at(c_.rows)[1].name);
  if (groups_ > 1) agents.insert(agents.begin(), group);
  std::vector<std::string> inner = {step}, whole = agents, stored;
  if (in_chunks()) stored.push_back(boxes[chunk()]);
  stored.insert(stored.end(), agents.begin(), agents.end());
  inner.insert(inner.end(), agents.begin(), agents.end());

  // The result and what is made of it have no terms.
  const AccessView& result = c_.view.accesses[0];
  const auto member_map = [&](const Statement& statement, const std::function<std::string(std::size_t)>& value) {
    StatementMembers mapped;
    std::vector<std::string> values;
    for (std::size_t m = 0; m < c_.view.members.size(); ++m) {
      if (statement.name != c_.statement && is_summed(m)) continue;
      mapped.members.push_back(member.at(m));
      values.push_back("(" + value(m) + ")");
    }
    mapped.map = "{ " + statement.name + "[" + join(statement.iterators, ", ") + "] -> [" + join(values, ", ") + "] }";
    return mapped;
  };
  const Statement& last = program.statement(epilogue_);
  const auto own = [&](std::size_t m) { return iterator(m); };
  const auto of_last = [&](std::size_t m) {
    const std::size_t i = iterator_of(m);
    return i < last_.members.size() ? last_.members[i] : std::string("0");
  };
  part.statements = {c_.init, c_.statement, epilogue_};
  part.members[c_.init] = member_map(program.statement(c_.init), own);
  part.members[c_.statement] = member_map(program.statement(c_.statement), own);
  part.members[epilogue_] = member_map(last, of_last);
  std::vector<std::string> result_box;
  for (std::size_t d = 0; d < box_digits; ++d)
    if (atom_.steps.depth[d] == 0) result_box.push_back(boxes[d]);
  part.atoms[c_.init] = {box_.name, result_box, "padded", false, "", whole};
  std::vector<std::string> stored_box = result_box;
  if (in_chunks()) stored_box.erase(std::find(stored_box.begin(), stored_box.end(), boxes[chunk()]));
  const std::string stored_after = in_chunks() ? boxes[chunk()] : above.back();
  part.atoms[epilogue_] = {store_.name, stored_box, "padded", false, "", stored};
  whole.push_back(step);
  part.atoms[c_.statement] = {atom_.name, boxes, "padded", false, "", whole};
  part.tree = Tree::bands(above, Tree::sequence({{{c_.init}, Tree::bands(agents, Tree())}, {{c_.statement}, Tree::band(tiles, Tree::bands(inner, Tree()))}, {{epilogue_}, Tree::bands(stored, Tree())}}));

  Promotion kept_result;
  kept_result.tensor = result.tensor;
  kept_result.array = fresh(result.tensor + "_tile");
  kept_result.after = above.back();
  kept_result.statements = part.statements;
  kept_result.space = "register";
  kept_result.element = type_name(program.tensor(result.tensor).type);
  const auto name = [&](const std::string& of) { return digits.unique(kept_result.array + "_" + of); };
  const auto rows_dim = static_cast<int>(result.dims_of(c_.rows).front()), lanes_dim = static_cast<int>(result.dims_of(c_.lanes).front());
  if (groups_ > 1) kept_result.layout.push_back({rows_dim, name("w"), groups_, agent, group_rows_});
  const auto add_dim = [&](std::size_t d, const std::string& on) {
    const bool of_rows = atom_.steps.rows[d] > 0;
    kept_result.layout.push_back({of_rows ? rows_dim : lanes_dim, name(d < box_digits ? "b" + std::to_string(d) : "a" + std::to_string(d - box_digits)), radix_of(d), on,
                                  of_rows ? atom_.steps.rows[d] : std::min(lanes_, atom_.steps.lanes[d])});
  };
  for (std::size_t d = box_digits; d < box_digits + atom_.agents.size(); ++d) add_dim(d, agent);
  std::vector<std::size_t> registers;
  for (std::size_t d = 0; d < box_digits; ++d)
    if (atom_.steps.depth[d] == 0) registers.push_back(d);
  std::stable_sort(registers.begin(), registers.end(), [&](std::size_t a, std::size_t b) { return atom_.steps.registers[a] > atom_.steps.registers[b]; });
  for (const std::size_t d : registers) add_dim(d, "");
  part.promotions.push_back(std::move(kept_result));
  for (const Operand& operand : operands_) part.promotions.push_back(promote_operand(operand, stored_after, digits));
  part.promotions.push_back(stage_result(stored_after, digits));
  part.promotions.push_back(promote_factor(left_, tiles, digits));
  part.promotions.push_back(promote_factor(right_, tiles, digits));
  Pipelining pipelining;
  pipelining.after = tiles;
  pipelining.slots = slots();
  const Atom* copies = boxes_ != nullptr ? boxes_ : pieces_;
  const std::string copy = copies == nullptr ? "" : copies->name;
  for (std::size_t p = part.promotions.size() - 2; p < part.promotions.size(); ++p) pipelining.copies.push_back({part.promotions[p].array, copy});
  if (!no_boxes_.empty()) part.reasons.push_back(subject + "threads copy pieces of both factors, no engine whole boxes: " + no_boxes_);
  part.reasons.push_back(subject + "both factors are copied " + std::to_string(pipelining.ahead()) + " tiles ahead, into " + std::to_string(pipelining.slots) + " slots; to change: pipeline(\"" +
                         iterator(sum()) + "\", slots=2)");
  part.pipelines.push_back(std::move(pipelining));
  names = digits;
  return part;
}

std::vector<PartOption> plan_collective(const PlanRequest& request, const Contraction& contraction, const std::string& epilogue, std::string& why_not) {
  const Atom *box = elementwise(request.machine, false), *store = elementwise(request.machine, true);
  const AtomPin* pin = request.pins.atom(contraction.statement);
  const auto& accesses = contraction.view.accesses;
  const auto element = [&](std::size_t read) { return type_name(request.program().tensor(accesses[1 + read].tensor).type); };
  const auto fits = [&](const Atom& atom) {
    return atom.is_collective() && atom.find_operand("left")->element == element(contraction.left) && atom.find_operand("right")->element == element(contraction.right) &&
           atom.find_operand("result")->element == type_name(request.program().tensor(accesses[0].tensor).type) && (!pin || pin->atom == atom.name);
  };
  const auto atom = std::find_if(request.machine.atoms.begin(), request.machine.atoms.end(), fits);
  if (atom == request.machine.atoms.end() || box == nullptr) why_not = "the machine has no atom that threads run together on " + element(contraction.left);
  else if (accesses[1 + contraction.left].tensor == accesses[1 + contraction.right].tensor) why_not = "both factors are parts of one tensor, which can be kept in one way only";
  else if (contraction.init.empty()) why_not = "it does not start from zero in this kernel";
  else if (epilogue.empty()) why_not = "no statement alone takes its result element by element, in rows of its own that only another product reads";
  else {
    std::vector<PartOption> options;
    const auto add = [&](const Contraction& product, long groups, long lanes, double least_lanes) {
      const auto planner = std::make_shared<CollectivePlanner>(request, product, epilogue, *atom, *box, *store, groups, lanes, least_lanes);
      if (planner->shape(why_not)) options.push_back({planner->label(), planner->seconds(), [planner](NameTable& names) { return planner->build(names); }});
    };
    for (const long lanes : {256L, 128L}) add(contraction, kGroups, lanes, kLeastSide);
    if (contraction.view.ranges[contraction.rows].typical <= kFewRows && atom->find_operand("left")->element == atom->find_operand("right")->element) {
      Contraction turned = contraction;
      std::swap(turned.left, turned.right);
      std::swap(turned.rows, turned.lanes);
      for (const long lanes : {16L, 32L, 64L, 128L}) add(turned, 1, lanes, kLeastFew);
    }
    std::stable_sort(options.begin(), options.end(), [](const PartOption& a, const PartOption& b) { return a.seconds < b.seconds; });
    return options;
  }
  return {};
}

}  // namespace tileopt
