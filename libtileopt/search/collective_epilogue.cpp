/// What is made of a product at once: which statement, what else it reads, and how that and its result go by way of the block's memory.
#include <algorithm>

#include "ir/body.h"
#include "search/collective_planner.h"
#include "search/plan_collective.h"
#include "support/text.h"

namespace tileopt {

namespace {
isl::set nameless(const isl::set& set) { return isl::manage(isl_set_reset_tuple_id(set.copy())); }
isl::map nameless(isl::map map) { return isl::manage(isl_map_reset_tuple_id(isl_map_reset_tuple_id(map.release(), isl_dim_in), isl_dim_out)); }

/// Of one statement, whose accesses lie in its domain.
bool same_element(const Access& first, const Access& second) {
  const isl::map a = first.index.as_map(), b = second.index.as_map();
  return a.intersect_domain(b.domain()).is_equal(b.intersect_domain(a.domain()));
}

/// What an elementwise atom computes.
bool computes_elements(const ExprPtr& body) {
  bool numbers = true;
  walk_expr(body, [&](const Expr& e) { numbers = numbers && !is_tuple(e.type) && e.type != ElementType::boolean; });
  return numbers && is_arithmetic(body);
}

/// { E[..] -> X[x] } takes every element once.
bool reads_each_once(const Program& program, const Statement& reader, const Access& read, const isl::set& written) {
  const isl::map map = read.index.as_map().intersect_domain(reader.domain).intersect_params(program.context());
  return map.is_injective() && map.range().is_equal(written.intersect_params(program.context()));
}

}  // namespace

bool same_place(const Access& first, const Access& second) {
  const isl::map a = nameless(first.index.as_map()), b = nameless(second.index.as_map());
  return isl_map_has_equal_space(a.get(), b.get()) == isl_bool_true && a.intersect_domain(b.domain()).is_equal(b.intersect_domain(a.domain()));
}

bool run_alike(const Program& program, const Contraction& first, const Contraction& second) {
  const Statement &a = program.statement(first.statement), &b = program.statement(second.statement);
  const isl::set here = nameless(a.domain), there = nameless(b.domain);
  return isl_set_has_equal_space(here.get(), there.get()) == isl_bool_true && here.is_equal(there) && same_place(a.write, b.write) && first.rows == second.rows && first.lanes == second.lanes &&
         first.reduction == second.reduction && first.outer_left == second.outer_left && first.outer_right == second.outer_right && first.fixed.empty() && second.fixed.empty();
}

/// The epilogue's read of the result.
std::size_t CollectivePlanner::result_read() const {
  const Statement& last = request_.program().statement(epilogue_);
  std::size_t r = 0;
  while (last.reads[r].tensor != c_.view.accesses[0].tensor) ++r;
  return r;
}

/// The iterator of the epilogue that moves the same subscript of the result as the member does.
std::size_t CollectivePlanner::iterator_of(std::size_t m) const {
  const AccessView& source = last_.accesses[1 + result_read()];
  for (std::size_t i = 0; i < last_.members.size(); ++i)
    if (source.dims_of(i) == c_.view.accesses[0].dims_of(m)) return i;
  return last_.members.size();
}

bool CollectivePlanner::find_operands(std::string& why_not) {
  const Statement& last = request_.program().statement(epilogue_);
  operands_.clear();
  for (std::size_t r = 0; r < last.reads.size(); ++r) {
    const std::string& tensor = last.reads[r].tensor;
    const AccessView& access = last_.accesses[1 + r];
    if (is_result(tensor)) {
      if (same_place(last.reads[result_read()], last.reads[r])) continue;
      why_not = epilogue_ + " reads " + tensor + " at other places than " + c_.view.accesses[0].tensor;
      return false;
    }
    if (request_.program().tensor(tensor).shape.empty()) continue;
    Operand operand;
    operand.tensor = tensor;
    operand.read = r;
    operand.element_bytes = access.element_bytes;
    bool tile = access.affine;
    const auto dim_of = [&](std::size_t m) {
      const std::size_t i = iterator_of(m);
      tile = tile && (!access.moves_with(i) || moves_alone(access, i));
      return tile && access.moves_with(i) ? static_cast<int>(access.dims_of(i).front()) : -1;
    };
    for (const SideLoop& loop : rows_) operand.row_dims.push_back(dim_of(loop.member));
    operand.lane_dim = dim_of(c_.lanes);
    if (!tile) {
      why_not = epilogue_ + " reads no tile of " + tensor;
      return false;
    }
    const bool moves_rows = rows_side(operand.row_dims).moves();
    const auto earlier = std::find_if(operands_.begin(), operands_.end(), [&](const Operand& other) { return other.tensor == tensor; });
    const bool again = earlier != operands_.end();
    if (again && same_element(last.reads[earlier->read], last.reads[r])) continue;
    const auto is_factor_of = [&](const Contraction& p) { return tensor == p.view.accesses[1 + p.left].tensor || tensor == p.view.accesses[1 + p.right].tensor; };
    if (std::any_of(products_.begin(), products_.end(), is_factor_of)) {
      why_not = epilogue_ + " reads " + tensor + ", which is a factor: it is kept in one way only";
      return false;
    }
    const bool written = std::any_of(request_.kernel.statements().begin(), request_.kernel.statements().end(), [&](const std::string& name) { return request_.program().statement(name).write.tensor == tensor; });
    if (again || written || (!moves_rows && operand.lane_dim < 0)) {
      why_not = epilogue_ + " reads " + tensor + (again ? " in two places" : written ? ", which the kernel writes" : " in one place for a whole tile");
      return false;
    }
    const auto is_contiguous = [&](int dim) { return access.contiguous && static_cast<int>(*access.contiguous) == dim; };
    operand.lanes_are_fast = operand.lane_dim >= 0 && std::none_of(operand.row_dims.begin(), operand.row_dims.end(), is_contiguous);
    if (rows_.size() > 1 && !operand.lanes_are_fast) {
      why_not = epilogue_ + " reads " + tensor + " side by side along rows, which are several loops";
      return false;
    }
    operands_.push_back(operand);
  }
  return true;
}

long CollectivePlanner::operand_elements(const Operand& operand) const {
  const long fast = operand.lanes_are_fast ? chunk_lanes() : rows(), pad = kPieceBytes / operand.element_bytes;
  if (!rows_side(operand.row_dims).moves() || operand.lane_dim < 0) return fast;
  return (operand.lanes_are_fast ? rows() : chunk_lanes()) * (fast + pad);
}

/// How many of `extent` rows (or lanes) are taken at a time, by as many agents or by one: at most `most`, and so that digits that the atom runs at
/// once lie on one side of the cut: their steps are multiples of it, or stay inside of it.
long CollectivePlanner::agents_across(long extent, long most, const std::vector<long>& steps) const {
  const auto cuts_none = [&](long agents) {
    for (std::size_t d = 0; d < atom_.extents.size(); ++d)
      if (steps[d] > 0 && d != chunk() && steps[d] % agents != 0 && agents % (steps[d] * radix_of(d)) != 0) return false;
    return true;
  };
  long agents = std::min(extent, most);
  while (agents > 1 && !cuts_none(agents)) agents /= 2;
  return agents;
}

bool CollectivePlanner::stores_lanes() const {
  const AccessView& target = last_.accesses[0];
  return std::none_of(rows_.begin(), rows_.end(), [&](const SideLoop& loop) { return target.contiguous && target.dims_of(iterator_of(loop.member)).front() == *target.contiguous; });
}

/// A tile of a tensor in the block's memory, by whose elements threads pass to the tensor or from it: each has a piece of neighbours, threads
/// beside each other have pieces that lie side by side.
Promotion CollectivePlanner::promote_tile(const std::string& tensor, const TileSide& fast, const TileSide& slow, const std::string& after, NameTable& digits) const {
  Promotion promotion;
  promotion.tensor = tensor;
  promotion.array = fresh(tensor + "_shared");
  promotion.after = after;
  promotion.statements = {epilogue_};
  promotion.space = "shared";
  promotion.element = type_name(request_.program().tensor(tensor).type);
  const auto name = [&](const std::string& part) { return digits.unique(promotion.array + "_" + part); };
  const std::string agent = level(LevelKind::barrier), serial = level(LevelKind::sequential);
  const long piece = agents_across(fast.extent(), kPieceBytes / size_bytes(request_.program().tensor(tensor).type), *fast.steps), x_agents = std::min(threads(), fast.extent() / piece);
  const long y_agents = agents_across(slow.extent(), threads() / x_agents, *slow.steps);
  // A digit of a side that is several loops is one digit of each.
  const auto add = [&](const TileSide& side, const std::string& part, long radix, long weight, const std::string& on) {
    for (const DigitPart& digit : digit_parts(side.extents, radix, weight)) {
      if (side.dims[digit.loop] < 0) continue;
      promotion.layout.push_back({side.dims[digit.loop], name(part), digit.radix, on, digit.weight});
      if (on == agent) promotion.copy_order.push_back(promotion.layout.back().name);
    }
  };
  if (slow.moves()) {
    promotion.pad = piece;
    if (slow.extent() > y_agents) add(slow, "s", slow.extent() / y_agents, y_agents, serial);
    add(slow, "y", y_agents, 1, agent);
  }
  if (fast.extent() / piece > x_agents) add(fast, "c", fast.extent() / piece / x_agents, piece * x_agents, serial);
  add(fast, "x", x_agents, piece, agent);
  add(fast, "v", piece, 1, "");
  for (const BufferDim& dim : promotion.layout)
    if (!contains(promotion.copy_order, dim.name)) promotion.copy_order.push_back(dim.name);
  return promotion;
}

Promotion CollectivePlanner::promote_operand(const Operand& operand, const std::string& after, NameTable& digits) const {
  const TileSide lanes = lanes_side(operand.lane_dim), rows = rows_side(operand.row_dims);
  Promotion promotion = promote_tile(operand.tensor, operand.lanes_are_fast ? lanes : rows, operand.lanes_are_fast ? rows : lanes, after, digits);
  promotion.zero_fill = true;
  return promotion;
}

/// What is made of the result waits in the block's memory until whole rows of it are stored.
Promotion CollectivePlanner::stage_result(const std::string& after, NameTable& digits) const {
  const auto dim_of = [&](std::size_t m) { return static_cast<int>(last_.accesses[0].dims_of(iterator_of(m)).front()); };
  std::vector<int> row_dims;
  for (const SideLoop& loop : rows_) row_dims.push_back(dim_of(loop.member));
  const TileSide lanes = lanes_side(dim_of(c_.lanes)), rows = rows_side(row_dims);
  Promotion promotion = promote_tile(request_.program().statement(epilogue_).write.tensor, stores_lanes() ? lanes : rows, stores_lanes() ? rows : lanes, after, digits);
  promotion.pad = stage_pad();
  return promotion;
}

std::string find_epilogue(const PlanRequest& request, const Contraction& contraction) {
  const Program& program = request.program();
  const std::string& tensor = contraction.view.accesses[0].tensor;
  if (contraction.init.empty() || program.tensor(tensor).role != TensorRole::local) return "";
  std::string found;
  for (const Statement& statement : program.statements()) {
    if (statement.name == contraction.statement || statement.name == contraction.init) continue;
    if (statement.write.tensor == tensor) return "";
    const bool reads = std::any_of(statement.reads.begin(), statement.reads.end(), [&](const Access& read) { return read.tensor == tensor; });
    if (!reads) continue;
    if (!found.empty()) return "";
    found = statement.name;
  }
  if (found.empty() || !contains(request.kernel.statements(), found)) return "";
  const Statement& statement = program.statement(found);
  if (statement.combine != Combine::assign || statement.conditional() || !computes_elements(statement.body)) return "";
  std::size_t read = statement.reads.size();  // of the result, always of one element
  for (std::size_t r = 0; r < statement.reads.size(); ++r) {
    if (statement.reads[r].tensor != tensor) continue;
    if (read < statement.reads.size() && !same_element(statement.reads[read], statement.reads[r])) return "";
    read = r;
  }
  const Statement& init = program.statement(contraction.init);  // where there are no terms too
  const isl::set written = init.write.index.as_map().intersect_domain(init.domain).range();
  if (!reads_each_once(program, statement, statement.reads[read], written)) return "";
  // Who reads the stored result, but for another product that copies tiles of it, is not proved within the limits.
  for (const Statement& other : program.statements())
    if (other.combine != Combine::sum || !std::holds_alternative<Binary>(other.body->node))
      for (const Access& later : other.reads)
        if (later.tensor == statement.write.tensor) return "";
  const StatementView view = view_statement(program, found, iterator_members(statement), request.sizes);
  const AccessView &target = view.accesses[0], &source = view.accesses[1 + read], &result = contraction.view.accesses[0];
  if (!target.affine || !source.affine) return "";
  for (std::size_t m = 0; m < contraction.view.members.size(); ++m) {
    if (!result.moves_with(m)) continue;
    const auto at = [&] {
      for (std::size_t i = 0; i < view.members.size(); ++i)
        if (source.dims_of(i) == result.dims_of(m) && moves_alone(source, i) && moves_alone(target, i)) return i;
      return view.members.size();
    }();
    if (at == view.members.size()) return "";
    if (m == contraction.lanes && (!target.contiguous || target.dims_of(at).front() != *target.contiguous)) return "";
  }
  return found;
}

}  // namespace tileopt
