#include "cost_models/operand_counter.h"

#include <cmath>

#include "cost_models/lane_access.h"

namespace tileopt {
namespace {

constexpr double kAddressInstructions = 2;  ///< of a leaf and array in memory: 64-bit sums
constexpr long kLineBytes = 128;            ///< that the nearest cache looks up at a time

}  // namespace

WalkState::WalkState(const Program& source, const Ast& tree, const PrintFacts& facts, const Machine& target, const Sizes& sizes)
    : program_(source), ast_(tree), facts_(tree, facts), machine_(target), rates_(target.multiprocessor->rates.value_or(Rates())), places_(place_arrays(source, tree, sizes)),
      scope_(sizes), lanes_(std::min<std::size_t>(kMostLanes, std::size_t(target.multiprocessor->warp))), independent_(target.level_name(LevelKind::independent)) {
  for (const auto& [name, statement] : tree.statements)
    if (statement.kind == "compute" && source.has_statement(statement.statement)) mixes_[name] = count_instructions(source, source.statement(statement.statement));
}

void OperandCounter::issue_integer(double count, double times) {
  counts_.integer += count * warp_weight_ * times;
  issue(count, times);
}

long OperandCounter::piece_of(const AstLeaf& leaf, std::size_t number, const std::string& array) {
  const auto place = places_.find(array);
  return place == places_.end() ? 1 : facts_.piece(leaf, number, place->second.element_bytes, scope_);
}

std::vector<Lanes> OperandCounter::evaluate(const std::vector<AstExprPtr>& exprs) {
  std::vector<Lanes> values;
  for (const AstExprPtr& expr : exprs) values.push_back(scope_.evaluate(expr));
  return values;
}

Chain OperandCounter::touch(const Operand& operand, const std::vector<long>& box, double times) {
  const auto known = places_.find(operand.array);
  if (known == places_.end()) return {};
  const ArrayPlace& place = known->second;
  if (!place.in_memory() && place.space != "shared") return {};
  const std::vector<std::vector<long>>& steps = operand.steps;
  const std::vector<Lanes> corner = evaluate(operand.corner);
  const bool written = operand.written, engine = operand.engine;
  const long piece = operand.piece;
  // Offsets of the box points, those that are one access with a neighbour left out.
  std::vector<std::vector<long>> offsets = {std::vector<long>(corner.size(), 0)};
  for (std::size_t d = 0; d < box.size(); ++d) {
    bool moves = false;
    for (const std::vector<long>& row : steps) moves = moves || (d < row.size() && row[d] != 0);
    if (!moves || box[d] <= 1) continue;
    std::vector<std::vector<long>> more;
    for (const std::vector<long>& offset : offsets) {
      for (long v = 0; v < box[d]; ++v) {
        std::vector<long> next = offset;
        for (std::size_t s = 0; s < next.size() && s < steps.size(); ++s)
          if (d < steps[s].size()) next[s] += steps[s][d] * v;
        more.push_back(std::move(next));
      }
    }
    offsets = std::move(more);
  }
  if (place.in_memory()) {
    record(place, operand.array, corner, offsets, written);
    tensors_[operand.array].by_engine = tensors_[operand.array].by_engine || engine;
  }
  const std::vector<std::vector<long>> places = addresses(place, corner, offsets);
  // Pieces of neighbours: each starts where one would be aligned.
  const long bytes = std::max(piece, 1L) * place.element_bytes;
  const double accesses = std::ceil(double(offsets.size()) / double(std::max(1L, piece)));
  const Multiprocessor& m = *machine_.multiprocessor;
  double rounds = 0, lines = 0;
  std::set<long> sectors;
  double lane_bytes = 0;
  for (std::size_t o = 0; o < places.size(); ++o) {
    for (const long at : places[o]) {
      sectors.insert(at >= 0 ? at / kSectorBytes : (at - kSectorBytes + 1) / kSectorBytes);
      sectors.insert((at + place.element_bytes - 1) / kSectorBytes);
    }
    lane_bytes += double(places[o].size()) * double(place.element_bytes);
    if (o % std::size_t(std::max(1L, piece)) != 0 || engine) continue;
    if (place.space == "shared") {
      std::vector<long> aligned;
      for (const long at : places[o]) aligned.push_back(at / bytes * bytes);
      rounds += double(operand.atomic ? count_bank_turns(aligned, m) : count_bank_rounds(aligned, bytes, m));
    } else {
      lines += double(count_pieces(places[o], bytes, kLineBytes));
    }
  }
  const double share = warp_weight_ * times;
  if (!engine) {
    counts_.accesses += accesses * share;
    counts_.instructions += accesses * share;
    issue_integer(kAddressInstructions, times);
  }
  Chain chain{engine ? 0 : accesses + kAddressInstructions};
  if (place.space == "shared") {
    counts_.shared_rounds += rounds * share;
    counts_.shared_accesses += std::max(accesses, lane_bytes / double(m.banks * m.bank_bytes)) * share;
    chain.cycles += rounds - accesses + (written ? 0 : rates_.shared_latency / kUnrolled);
    return chain;
  }
  counts_.cache_lines += lines * share;
  if (operand.atomic) counts_.updates += double(sectors.size()) * share;
  const double fresh = fresh_part(place, operand.corner, sectors);
  const double asked = double(sectors.size()) * kSectorBytes * fresh * share;
  counts_.asked_bytes += lane_bytes * fresh * share;
  if (recording_ != Recording::moved) tensors_[operand.array].asked_bytes += asked;
  if (recording_ == Recording::typical && !written) in_flight_ += asked / std::max(1e-9, block_weight_);
  chain.cycles += std::max(0.0, lines - accesses);
  if (!written && !engine) chain.waits += std::min(1.0, fresh * double(kSectorBytes) / 8);
  return chain;
}

std::vector<std::vector<long>> OperandCounter::addresses(const ArrayPlace& place, const std::vector<Lanes>& corner, const std::vector<std::vector<long>>& offsets) const {
  std::vector<std::vector<long>> result;
  std::vector<long> subscripts(corner.size());
  for (const std::vector<long>& offset : offsets) {
    result.emplace_back();
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      if (!active_[lane]) continue;
      for (std::size_t d = 0; d < corner.size(); ++d) subscripts[d] = corner[d][lane] + offset[d];
      result.back().push_back(place.address(subscripts));
    }
  }
  return result;
}

double OperandCounter::fresh_part(const ArrayPlace& place, const std::vector<AstExprPtr>& corner, const std::set<long>& sectors) {
  if (loops_.empty() || sectors.empty()) return 1;
  Lanes* value = scope_.find(loops_.back().variable);
  if (value == nullptr) return 1;
  std::size_t lane = 0;
  while (lane < lanes_ && !active_[lane]) ++lane;
  const auto address = [&] {
    std::vector<long> at;
    for (const AstExprPtr& expr : corner) at.push_back(scope_.evaluate(expr)[lane]);
    return place.address(at);
  };
  const Lanes kept = *value;
  const long before = address();
  for (long& v : *value) v += loops_.back().step;
  const long moved = std::abs(address() - before);
  *value = kept;
  if (moved == 0) return 1 / loops_.back().trips;
  double runs = 0;
  long last = 0;
  for (const long sector : sectors) {
    if (runs == 0 || sector != last + 1) runs += 1;
    last = sector;
  }
  return std::min(1.0, runs * double(moved) / kSectorBytes / double(sectors.size()));
}

void OperandCounter::record(const ArrayPlace& place, const std::string& name, const std::vector<Lanes>& corner, const std::vector<std::vector<long>>& offsets, bool written) {
  TensorFootprint& tensor = tensors_[name];
  tensor.element_bytes = place.element_bytes;
  if (tensor.extents.empty())
    for (const std::size_t d : place.order) tensor.extents.push_back(double(std::max(1L, place.extents[d])));
  tensor.read = tensor.read || !written;
  tensor.written = tensor.written || written;
  tensor.scattered = tensor.scattered || bound_ > 0;
  if (recording_ == Recording::none || corner.size() != place.order.size()) return;
  std::vector<long> low, high;
  for (const std::size_t d : place.order) {
    long first = corner[d][0], last = corner[d][0];
    bool any = false;
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      if (!active_[lane]) continue;
      first = any ? std::min(first, corner[d][lane]) : corner[d][lane];
      last = any ? std::max(last, corner[d][lane]) : corner[d][lane];
      any = true;
    }
    long below = 0, above = 0;
    for (const std::vector<long>& offset : offsets) {
      below = std::min(below, offset[d]);
      above = std::max(above, offset[d]);
    }
    low.push_back(first + below);
    high.push_back(std::min(last + above, std::max(0L, place.extents[d] - 1)));
  }
  if (recording_ == Recording::typical) tensor.block.add(low, high);
  else if (moved_loop_ < tensor.moved.size()) tensor.moved[moved_loop_].add(low, high);
}

}  // namespace tileopt
