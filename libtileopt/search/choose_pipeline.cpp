#include "search/choose_pipeline.h"

#include <algorithm>
#include <cmath>

namespace tileopt {

namespace {
constexpr long kResident = 2;      ///< blocks that the slots leave room for on one multiprocessor: one computes while the other waits
constexpr long kAsyncSlots = 4;    ///< a power of two, so that slots are cheap to number; groups on their way cost nothing but room
constexpr long kHeldSlots = 2;     ///< what registers hold is there when one tile is done
constexpr long kLeastBytes = 4;    ///< of an asynchronous copy

/// The atom that copies the array asynchronously, or "".
std::string copy_atom(const Program& program, const Machine& machine, const Promotion& promotion) {
  const Tensor& tensor = program.tensor(promotion.tensor);
  if (promotion.layout.empty() || promotion.element != type_name(tensor.type)) return "";
  const BufferDim& last = promotion.layout.back();
  const Level* level = last.level.empty() ? nullptr : machine.find_level(last.level);
  const auto fast = tensor.contiguous_dim();
  const bool side_by_side = fast && last.tensor_dim == static_cast<int>(*fast) && last.weight <= 1 && (level == nullptr || level->kind != LevelKind::barrier);
  if (!side_by_side || last.radix * size_bytes(tensor.type) < kLeastBytes || (last.radix & (last.radix - 1)) != 0) return "";
  for (const Atom& atom : machine.atoms) {
    const Pipe* pipe = machine.pipe_of(atom.name);
    if (atom.body == "copy" && atom.rank == 1 && pipe != nullptr && pipe->completion == Completion::group) return atom.name;
  }
  return "";
}

/// Of one slot; nothing where the layout leaves a radix open.
std::optional<double> bytes_of(const Program& program, const Promotion& promotion) {
  double elements = 1;
  for (const BufferDim& dim : promotion.layout) {
    if (dim.radix == 0) return std::nullopt;
    elements *= static_cast<double>(dim.radix);
  }
  const double rows = promotion.layout.empty() ? 1 : elements / static_cast<double>(promotion.layout.back().radix);
  return (elements + rows * static_cast<double>(promotion.pad)) * size_bytes(program.tensor(promotion.tensor).type);
}
}  // namespace

std::optional<Pipelining> propose_pipeline(const Program& program, const Machine& machine, const std::vector<std::string>& statements,
                                           const std::vector<Promotion>& promotions, const std::string& after) {
  Pipelining pipelining;
  pipelining.after = after;
  bool flies = false, known = true;
  double slot = 0;
  for (const Promotion& promotion : promotions) {
    if (promotion.after != after || !machine.is_of_block(promotion.space)) continue;
    const bool written = std::any_of(statements.begin(), statements.end(), [&](const std::string& name) { return program.statement(name).write.tensor == promotion.tensor; });
    if (written) continue;
    pipelining.copies.push_back({promotion.array, copy_atom(program, machine, promotion)});
    flies = flies || !pipelining.copies.back().atom.empty();
    const auto bytes = bytes_of(program, promotion);
    known = known && bytes.has_value();
    slot += std::ceil(bytes.value_or(0) / kBlockAlignment) * kBlockAlignment;
  }
  if (pipelining.copies.empty()) return std::nullopt;
  pipelining.slots = flies ? kAsyncSlots : kHeldSlots;
  if (known && machine.multiprocessor)
    while (pipelining.slots > 2 && kResident * static_cast<double>(pipelining.slots) * slot > static_cast<double>(machine.multiprocessor->shared_bytes)) pipelining.slots /= 2;
  return pipelining;
}

std::optional<Pipelining> propose_pipeline(const Program& program, const Machine& machine, const KernelPlan& plan, const std::string& after) {
  return propose_pipeline(program, machine, plan.statements, plan.promotions, after);
}

bool set_pipeline(const Program& program, const Machine& machine, KernelPlan& plan, const std::string& after, std::optional<long> slots, std::optional<long> distance) {
  const auto existing = std::find_if(plan.pipelines.begin(), plan.pipelines.end(), [&](const Pipelining& p) { return p.after == after; });
  auto pipelining = existing != plan.pipelines.end() ? std::optional(*existing) : propose_pipeline(program, machine, plan, after);
  if (existing != plan.pipelines.end()) plan.pipelines.erase(existing);
  if (slots == 1L) return true;
  if (!pipelining) return false;
  if (slots) pipelining->slots = *slots;
  pipelining->distance = distance.value_or(0);
  pipelining->slots = std::max(pipelining->slots, pipelining->distance + 1);
  plan.pipelines.push_back(std::move(*pipelining));
  return true;
}

void drop_stale_pipelines(KernelPlan& plan) {
  for (Pipelining& pipelining : plan.pipelines)
    std::erase_if(pipelining.copies, [&](const Pipelining::Copy& copy) {
      return std::none_of(plan.promotions.begin(), plan.promotions.end(), [&](const Promotion& p) { return p.array == copy.array && p.after == pipelining.after; });
    });
  std::erase_if(plan.pipelines, [](const Pipelining& pipelining) { return pipelining.copies.empty(); });
}

}  // namespace tileopt
