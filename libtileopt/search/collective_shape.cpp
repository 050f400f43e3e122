/// What a tile of a product reads, how much of the block's memory it takes, whether it can be planned at all, and what it would cost.
#include <algorithm>
#include <cmath>
#include <set>

#include "search/collective_planner.h"
#include "support/text.h"

namespace tileopt {
namespace {

constexpr long kMostFilled = 4;         ///< that threads fill: a power of two is cheap to number
constexpr long kMostBoxes = 8;         ///< that an engine fills
constexpr double kOtherBytes = 512;    ///< barriers of the slots, and gaps between arrays
constexpr long kMostLanes = 256;       ///< of all tiles of a block: half of the registers that a thread has
constexpr long kMostCutRuns = 9;       ///< of tiles that end as the sizes say, of one sum: their proof grows faster than they do
constexpr double kLeastSum = 64;       ///< terms from which tiles pay
constexpr long kNarrowLanes = 64;       ///< of a tile whose blocks run beside each other (H200, 3 x 3 convolution of 64 by 64 channels, 224^2, of cuDNN: one block .68, two .79, three .84)
constexpr double kNarrowBlocks = 3;
constexpr double kLowBlocks = 2;        ///< the same of tiles whose rows one group of agents computes
constexpr double kReservedBytes = 1024; ///< of a block's memory, by the machine itself
constexpr double kFetched = 64;         ///< bytes a cycle that a multiprocessor takes from the second cache (H200: tiles that want 48 run free, those that want 72 lose a tenth)
constexpr double kStartCycles = 4000;  ///< of a block: first copies, last stores

}  // namespace

/// Rows of a tile that so many groups of agents compute.
long rows_of(const Atom& atom, long groups) {
  long last = 0;
  for (std::size_t d = 0; d < atom.steps.rows.size(); ++d) {
    const std::size_t box = atom.extents.size();
    last += atom.steps.rows[d] * ((d < box ? atom.extents[d] : atom.agents[d - box]) - 1);
  }
  return groups * (last + 1);
}

CollectivePlanner::CollectivePlanner(const PlanRequest& request, std::vector<Contraction> products, std::string epilogue, const Atom& atom, const Atom& box, const Atom& store, std::vector<SideLoop> rows, long groups, long lanes, double least_lanes)
    : request_(request),
      products_(std::move(products)),
      epilogue_(std::move(epilogue)),
      last_(view_statement(request.program(), epilogue_, iterator_members(request.program().statement(epilogue_)), request.sizes)),
      atom_(atom),
      box_(box),
      store_(store),
      rows_(std::move(rows)),
      groups_(groups),
      lanes_(lanes),
      least_lanes_(least_lanes) {
  together_ = 1;
  for (const long radix : atom.agents) together_ *= radix;
  group_rows_ = rows_of(atom, 1);
  depth_ = atom.find_operand("left")->swizzle / element_bytes();
  for (const Atom& copy : request.machine.atoms) {
    const Pipe* pipe = request.machine.pipe_of(copy.name);
    if (copy.body != "copy" || pipe == nullptr) continue;
    if (pipe->completion == Completion::counted && copy.find_operand("result")->swizzle == atom.find_operand("left")->swizzle) engine_ = &copy;
    if (pipe->completion == Completion::group && copy.widest_access(true) >= kPieceBytes && pieces_ == nullptr) pieces_ = &copy;
  }
  // One agent copies whole boxes where the engine takes all factors as they lie.
  std::set<std::string> asked;
  for (const Contraction& product : products_)
    for (const std::size_t read : {product.left, product.right}) {
      const std::string& tensor = product.view.accesses[1 + read].tensor;
      if (engine_ == nullptr || !asked.insert(tensor).second) continue;
      if (auto obstacle = find_box_obstacle(request.program(), request.program().tensor(tensor), engine_->widest_access(false))) obstacles_.push_back(std::move(*obstacle));
    }
  if (obstacles_.empty()) boxes_ = engine_;
}

std::vector<isl::pw_aff> CollectivePlanner::facts_for_boxes() const {
  std::vector<isl::pw_aff> facts;
  for (const BoxObstacle& obstacle : obstacles_) {
    if (!obstacle.excess) return {};
    facts.push_back(*obstacle.excess);
  }
  return facts;
}

/// One step along the loop is one step along one subscript, or a few where boxes are copied, and what else moves that subscript stands still while a tile is copied.
bool CollectivePlanner::moves_across(const AccessView& access, std::size_t m, std::string& why_not) const {
  const std::vector<std::size_t> dims = access.dims_of(m);
  if (dims.size() != 1) return false;
  const std::vector<long>& steps = access.coefficients[dims[0]];
  for (std::size_t other = 0; other < steps.size(); ++other)
    if (other != m && steps[other] != 0 && (other == sum_ || other == c_.lanes || is_row(other))) return false;
  if (steps[m] == 1) return true;
  const bool box = boxes_ != nullptr && dims[0] != access.contiguous && steps[m] > 1 && steps[m] <= kMostMapApart;
  if (!box) why_not = access.tensor + " is read in steps of " + std::to_string(steps[m]) + " along " + iterator(m) + ", and what copies its tiles takes neighbours";
  return box;
}

bool CollectivePlanner::find_factor(const AccessView& access, const std::vector<SideLoop>& across, Factor& factor, std::string& why_not) const {
  factor = Factor();
  factor.access = &access;
  std::string reason;
  bool tile = access.affine && moves_alone(access, sum_);
  if (tile) factor.along = access.dims_of(sum_).front();
  if (tile) factor.along_is_fast = access.contiguous == factor.along;
  std::string names;
  for (const SideLoop& loop : across) {
    tile = tile && moves_across(access, loop.member, reason);
    if (!tile) break;
    factor.across.push_back(access.dims_of(loop.member).front());
    factor.apart.push_back(access.coefficients[factor.across.back()][loop.member]);
    if (factor.apart.back() > 1 && factor.apart.back() * loop.extent > kMostMapSide) {
      reason = access.tensor + " is read in steps of " + std::to_string(factor.apart.back()) + " along " + iterator(loop.member) + ", and a box has at most " + std::to_string(kMostMapSide) + " elements along a side";
      tile = false;
    }
    factor.extents.push_back(loop.extent);
  }
  for (const SideLoop& loop : across) names += iterator(loop.member) + (loop.member == across.back().member ? "" : ", ");
  // Rows of several loops follow each other in a box as they do in the tensor.
  const bool in_order = std::adjacent_find(factor.across.begin(), factor.across.end(), [](std::size_t a, std::size_t b) { return a >= b; }) == factor.across.end();
  if (tile && across.size() > 1 && !(factor.along_is_fast && in_order)) tile = false;
  if (tile && (factor.along_is_fast || access.contiguous == factor.across.back())) return true;
  why_not = reason.empty() ? access.tensor + " is no matrix along " + names + " and " + iterator(sum_) : reason;
  return false;
}

/// Both factors of one product, where they are not those of an earlier one.
bool CollectivePlanner::add_factors(const Contraction& product, std::string& why_not) {
  for (const bool right : {false, true}) {
    const AccessView& access = product.view.accesses[1 + (right ? product.right : product.left)];
    std::vector<Factor>&same = right ? rights_ : lefts_, &other = right ? lefts_ : rights_;
    const auto reads = [&](const Factor& factor) { return factor.access->tensor == access.tensor; };
    const auto known = std::find_if(same.begin(), same.end(), reads);
    const auto index = [&](const std::string& statement, const AccessView& of) -> const Access& {
      const std::vector<Access>& all = request_.program().statement(statement).reads;
      return *std::find_if(all.begin(), all.end(), [&](const Access& read) { return read.tensor == of.tensor; });
    };
    if (std::any_of(other.begin(), other.end(), reads) || (known != same.end() && !same_place(index(known->statements.front(), access), index(product.statement, access)))) {
      why_not = access.tensor + " is a factor in two ways, and is kept in one only";
      return false;
    }
    if (known != same.end()) {
      known->statements.push_back(product.statement);
      continue;
    }
    Factor factor;
    if (!find_factor(access, right ? std::vector<SideLoop>{{c_.lanes, lanes_}} : rows_, factor, why_not)) return false;
    factor.statements = {product.statement};
    same.push_back(std::move(factor));
  }
  return true;
}

/// The sum whose terms lie in tiles: the innermost one along which all factors are matrices.
bool CollectivePlanner::find_factors(std::string& why_not) {
  std::string first;
  for (std::size_t i = c_.reduction.size(); i-- > 0;) {
    sum_ = c_.reduction[i];
    lefts_.clear();
    rights_.clear();
    std::string reason;
    if (std::all_of(products_.begin(), products_.end(), [&](const Contraction& product) { return add_factors(product, reason); })) return true;
    if (first.empty()) first = reason;
  }
  why_not = first;
  return false;
}

/// Iterations of a sum's loop, whatever the sizes are: of tiles, or of terms.
std::optional<long> CollectivePlanner::iterations(std::size_t m) const {
  const std::optional<long> constant = range(m).constant;
  return m == sum_ && constant ? std::optional((*constant + depth_ - 1) / depth_) : constant;
}

/// All loops of the sum are one line of tiles: those inside of another one have a constant number of iterations.
bool CollectivePlanner::order_sums(std::string& why_not) {
  const auto place = [&](std::size_t m) {
    const std::optional<long> count = iterations(m);
    return count && *count <= 1 ? 0 : !count ? 1 : m == sum_ ? 2 : 3;
  };
  sums_ = c_.reduction;
  std::stable_sort(sums_.begin(), sums_.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  const auto open = [&](std::size_t m) { return place(m) == 1; };
  if (std::count_if(sums_.begin(), sums_.end(), open) > 1) {
    const auto first = std::find_if(sums_.begin(), sums_.end(), open);
    why_not = "a block runs loop " + iterator(*(first + 1)) + " once for every value of " + iterator(*first) + ", and both have as many iterations as the sizes say: where one of them is a number, the two are one line of tiles";
  } else if (place(sums_.back()) == 0) why_not = "the sum is one tile deep";
  else return true;
  return false;
}

/// What a block sums up, in whole tiles where these are several sums.
double CollectivePlanner::terms() const {
  if (c_.reduction.size() == 1) return range(sum_).typical;
  double product = 1;
  for (const std::size_t m : c_.reduction) product *= m == sum_ ? double(long((range(m).typical + double(depth_ - 1)) / double(depth_))) * double(depth_) : range(m).typical;
  return product;
}

/// How often the sum whose terms lie in tiles runs for one result, as far as that is known.
long CollectivePlanner::runs() const {
  long product = 1;
  for (const std::size_t m : c_.reduction) product *= m == sum_ ? 1 : range(m).constant.value_or(1);
  return product;
}

std::string CollectivePlanner::names_of_rows() const {
  std::vector<std::string> names;
  for (const SideLoop& loop : rows_) names.push_back(iterator(loop.member));
  return join(names, ", ");
}

std::string CollectivePlanner::names_of_products() const {
  std::vector<std::string> names;
  for (const Contraction& product : products_) names.push_back(product.statement);
  return join(names, ", ");
}

std::string CollectivePlanner::names_of_results() const {
  std::vector<std::string> names;
  for (const Contraction& product : products_) names.push_back(product.view.accesses[0].tensor);
  return join(names, ", ");
}

bool CollectivePlanner::is_small() const {
  double terms = 1, rows = 1;
  for (const std::size_t m : c_.reduction) terms *= range(m).typical;
  for (const SideLoop& loop : rows_) rows *= range(loop.member).typical;
  return terms < kLeastSum || rows < kLeastSide || range(c_.lanes).typical < least_lanes_;
}

bool CollectivePlanner::shape(std::string& why_not) {
  const auto& names = request_.kernel.statements();
  const auto writes_factor = [&](const Contraction& product) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      const std::string& tensor = request_.program().statement(name).write.tensor;
      return tensor == product.view.accesses[1 + product.left].tensor || tensor == product.view.accesses[1 + product.right].tensor;
    });
  };
  const auto alone = [&](const SideLoop& loop) { return moves_alone(c_.view.accesses[0], loop.member); };
  if (!c_.fixed.empty()) why_not = "indices from memory stand around it";
  else if (is_small()) why_not = "the problem is too small for tiles of " + atom_.name;
  else if (long(products_.size()) * lanes_ > kMostLanes) why_not = "the registers of a thread hold no tiles of " + std::to_string(products_.size()) + " products of " + std::to_string(lanes_) + " lanes";
  else if (std::any_of(products_.begin(), products_.end(), writes_factor)) why_not = "the kernel writes a factor";
  else if (!std::all_of(rows_.begin(), rows_.end(), alone) || !moves_alone(c_.view.accesses[0], c_.lanes)) why_not = "the result is no tile along " + names_of_rows() + " and " + iterator(c_.lanes);
  else if (!find_factors(why_not) || !order_sums(why_not)) return false;
  // Of pieces it is not proved within the limits where the last tile of each run is cut as the sizes say.
  else if (c_.reduction.size() > 1 && !range(sum_).constant && boxes_ == nullptr) why_not = "tiles of several sums are copied as boxes where one has as many terms as the sizes say: " + why_no_boxes();
  else if (!range(sum_).constant && runs() > kMostCutRuns) why_not = "the last tile of each of " + std::to_string(runs()) + " runs of " + iterator(sum_) + " is cut as the sizes say, which is proved within the limits for " +
           std::to_string(kMostCutRuns) + " of them; where the number of terms is written into the program, for any";
  else if (rows_.size() > 1 && boxes_ == nullptr) why_not = "rows of several loops are copied as boxes: " + why_no_boxes();
  else if (rows_.size() > 1 && !stores_lanes()) why_not = "rows of several loops lie side by side in the result";
  else if (const auto across = std::find_if(rights_.begin(), rights_.end(), [](const Factor& f) { return !f.along_is_fast; }); lanes_ < depth_ && across != rights_.end()) why_not = across->access->tensor + " lies along few lanes, and rows of its matrix have " + std::to_string(depth_) + " elements";
  else if (!find_operands(why_not)) return false;
  else if (groups_ > kGroups && boxes_ == nullptr) why_not = "three groups of threads copy no pieces";
  else if (slots() < 2) why_not = "two slots of both factors do not fit in the memory of a block";
  else return true;
  return false;
}

long CollectivePlanner::slots() const {
  const Space* space = request_.machine.find_space("shared");
  if (space == nullptr) return 0;
  const auto fit = [&](double bytes) { return long((bytes - double(stage_bytes()) - kOtherBytes) / double(slot_bytes())); };
  // A narrow tile is soon done: blocks beside each other hide what each of them waits for at its start and its end.
  const bool low = groups_ == 1 && lanes_ > kFewRows;
  if (boxes_ != nullptr && ((groups_ > 1 && lanes_ <= kNarrowLanes) || low) && request_.machine.multiprocessor) {
    const long beside = fit(double(request_.machine.multiprocessor->shared_bytes) / (low ? kLowBlocks : kNarrowBlocks) - kReservedBytes);
    if (beside >= 2) return beside;
  }
  const double room = space->capacity - double(stage_bytes()) - kOtherBytes;
  return std::min(boxes_ == nullptr ? kMostFilled : kMostBoxes, long(room / double(slot_bytes())));
}

double CollectivePlanner::seconds() const {
  double blocks = 1;
  std::vector<SideLoop> sides = rows_;
  sides.push_back({c_.lanes, lanes_});
  for (const SideLoop& side : sides) blocks *= std::max(1.0, double(long((range(side.member).typical + double(side.extent) - 1) / double(side.extent))));
  for (std::size_t m = 0; m < c_.view.members.size(); ++m)
    if (m != c_.lanes && !is_row(m) && std::count(c_.reduction.begin(), c_.reduction.end(), m) == 0) blocks *= range(m).typical;
  const Machine& machine = request_.machine;
  const double waves = double(long((blocks + machine.cores - 1) / machine.cores));
  return waves * (terms() / double(depth_) * step_cycles() + kStartCycles) / machine.frequency;
}

/// Of one tile of the sum: products; what the instructions read of the block's memory and what copies write there; what copies fetch, of
/// which rows that do not start with a line touch half a line more.
double CollectivePlanner::step_cycles() const {
  const double row_bytes = double(depth_) * element_bytes(), products = double(products_.size()) * double(rows()) * double(lanes_) * double(depth_) / atom_.throughput;
  const double read = double(products_.size()) * double(groups_) * double(group_rows_ + lanes_) * row_bytes;
  const auto lines = [&](const Factor& factor, std::size_t across) {
    const double pitch = range(factor.along_is_fast ? sum_ : across).typical * element_bytes();
    return std::fmod(pitch, row_bytes) == 0 ? 1.0 : 1.5;
  };
  double fetched = 0;
  for (const Factor& factor : lefts_) fetched += double(factor.extent()) * row_bytes * lines(factor, rows_.back().member);
  for (const Factor& factor : rights_) fetched += double(factor.extent()) * row_bytes * lines(factor, c_.lanes);
  const auto& sm = request_.machine.multiprocessor;
  const double shared = sm ? double(sm->banks * sm->bank_bytes) : kFetched;
  return std::max({products, (read + double(slot_bytes())) / shared, fetched / kFetched});
}

}  // namespace tileopt
