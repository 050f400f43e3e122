#include "search/blame_pin.h"

#include <algorithm>

#include "rewrites/apply_rewrites.h"
#include "search/pin_binding.h"
#include "support/text.h"

namespace tileopt {

namespace {

/// "kernels[f].digits[i]" -> {"digits", "i"}; the name is empty for a whole table.
struct PlanEntry {
  std::string table, name;
};
PlanEntry read_entry(const std::string& path) {
  const std::size_t dot = path.find("].");
  const std::string entry = dot == std::string::npos ? path : path.substr(dot + 2);
  const std::size_t open = entry.find('[');
  if (open == std::string::npos || !entry.ends_with("]")) return {entry, ""};
  return {entry.substr(0, open), entry.substr(open + 1, entry.size() - open - 2)};
}

class Blame {
 public:
  Blame(const Program& program, const PinTable& pins, const KernelPlan& plan) : program_(program), pins_(pins), plan_(plan) {}

  const Pin* find(const PlanEntry& entry) const {
    if (entry.table == "promotions") return promotion_pin(entry.name);
    if (entry.table == "atoms") return atom_pin(entry.name);
    if (entry.table == "tree") return tree_pin();
    if (entry.table == "digits") return digits_pin(entry.name);
    return nullptr;
  }

 private:
  /// The pin of the array; for a whole space the last one, which is what made it too small.
  const Pin* promotion_pin(const std::string& array) const {
    for (const Promotion& promotion : plan_.promotions)
      if (promotion.array == array)
        if (const PromotePin* pin = pins_.promote(promotion.tensor)) return pin->pin;
    return array.empty() && !pins_.promotes.empty() ? pins_.promotes.back().pin : nullptr;
  }

  const Pin* atom_pin(const std::string& statement) const {
    const AtomPin* pin = pins_.atom(statement);
    return pin == nullptr ? nullptr : pin->pin;
  }

  const Pin* tree_pin() const {
    for (const OrderPin& pin : pins_.orders)
      for (const LoopName& loop : pin.loops)
        if (!bind_loop(program_, plan_, loop).empty() || plan_.find_digit(loop.name) != nullptr) return pin.pin;
    return pins_.fuses.empty() ? nullptr : pins_.fuses.back().pin;
  }

  const Pin* digits_pin(const std::string& member) const {
    const auto means = [&](const LoopName& loop) {
      const std::vector<BoundMember> bound = bind_loop(program_, plan_, loop);
      return std::any_of(bound.begin(), bound.end(), [&](const BoundMember& each) { return each.member == member; });
    };
    for (const auto* list : {&pins_.parallels, &pins_.vectorizes, &pins_.unrolls})
      for (const LoopPin& pin : *list)
        if (means(pin.loop)) return pin.pin;
    for (const TilePin& pin : pins_.tiles)
      if (means(pin.loop)) return pin.pin;
    return nullptr;
  }

  const Program& program_;
  const PinTable& pins_;
  const KernelPlan& plan_;
};

std::string hint_for(const std::string& code, const PlanEntry& entry, const Pin* pin) {
  if (code == "capacity")
    return entry.table == "promotions" ? "pin smaller tiles for the loops inside its scope, promote below a deeper loop (after=\"...\"), or use another space"
                                       : "pin smaller tiles";
  if (code == "promotion") return "promote below a deeper loop (after=\"...\"), or pin a tile for the loop that is named, so that the box has a constant size";
  if (code == "numerics") return "keep the tensor's own element type, or cast every read in the program";
  if (code == "legality" && entry.table == "tree") return "give the loops another order, or leave it open";
  if (code == "legality" && entry.table == "digits")
    return pin != nullptr && pin->primitive == "vectorize" ? "vectorize a loop whose iterations do not need each other"
                                                            : "run another loop in parallel, one whose iterations do not need each other";
  if (code == "atom") return "leave the atom open, or give the statement the form that the atom computes";
  return "change or drop the pin";
}

}  // namespace

Infeasible blame_pin(const Program& program, const PinTable& pins, const KernelPlan& plan, Infeasible refused) {
  const PlanEntry entry = read_entry(refused.plan_entry);
  const Pin* pin = Blame(program, pins, plan).find(entry);
  if (pin != nullptr && refused.where.file.empty()) refused.where = pin->where;
  if (pin != nullptr) refused.reason = pin_text(*pin) + ": " + refused.reason;
  if (refused.hint.empty()) refused.hint = hint_for(refused.code, entry, pin);
  return refused;
}

Infeasible blame_pin(const Program& source, const Pins& pins, const Machine& machine, const Plan& plan, Infeasible refused) {
  const auto rewritten = apply_rewrites(std::shared_ptr<const Program>(std::shared_ptr<void>(), &source), plan.rewrites);
  if (!feasible(rewritten)) return refused;
  const Program& program = *std::get<RewrittenProgram>(rewritten).program;
  const PinTable table = read_pins(program, pins, machine);
  for (const KernelPlan& kernel : plan.kernels)
    if (refused.kernel.empty() || kernel.name == refused.kernel) return blame_pin(program, table, kernel, std::move(refused));
  return refused;
}

}  // namespace tileopt
