#include <algorithm>
#include <cmath>

#include "cost_models/cpu_blocking.h"
#include "space/contraction_model.h"

namespace tileopt {

void add_contraction_constraints(const KernelPart& part, const std::shared_ptr<const TileModel>& tile) {
  const Machine& machine = part.context.machine;
  std::vector<Constraint>& constraints = part.variant.constraints;
  const auto extent_of = [tile](const std::vector<std::size_t>& values, const TileMember& member,
                                const std::vector<long>& radices, const std::vector<long>& atoms) {
    const long radix = radices[values[member.choice]];
    return radix == 0 ? member.extent : double(radix) * double(atoms[values[member.atom]]);
  };
  const auto depth_of = [tile](const std::vector<std::size_t>& values) {
    if (!tile->has_depth) return tile->fixed;
    const long radix = tile->depth_radices[values[tile->depth.choice]];
    return tile->fixed * (radix == 0 ? tile->depth.extent : double(radix * tile->depth_unit));
  };
  const std::vector<std::size_t> planned = part.variant.planned_values();
  // What the planner takes itself is always allowed.
  const auto limit = [&](ConstraintKind kind, const std::string& name, const std::string& reason,
                         std::vector<std::size_t> choices, double most,
                         const std::function<double(const std::vector<std::size_t>&)>& used) {
    const double own = used(planned);
    const std::string limit_text = own > most ? reason + " (or what the planner's own tile takes of it: " +
                                                    std::to_string(static_cast<long>(100 * own / most)) + " %)"
                                              : reason;
    most = std::max(most, own);
    std::sort(choices.begin(), choices.end());
    constraints.push_back({kind, tile->statement + ": " + name, limit_text, std::move(choices),
                           [used, most](const std::vector<std::size_t>& values) { return used(values) <= most; }});
  };
  const auto with_depth = [&](std::vector<std::size_t> choices) {
    if (tile->has_depth) choices.push_back(tile->depth.choice);
    return choices;
  };
  const long vector_lanes = std::max(1L, long(machine.vector_bytes / tile->bytes));
  const long registers = machine.vector_bytes >= tile->bytes ? machine.vector_registers : 21;
  limit(ConstraintKind::machine, "register tile",
        "the tile, its right vectors and one broadcast element fit " + std::to_string(registers) + " vector registers",
        {tile->rows.atom, tile->lanes.atom}, double(registers), [tile, vector_lanes](const std::vector<std::size_t>& values) {
          const double vectors = std::ceil(double(tile->lane_numbers[values[tile->lanes.atom]]) / double(vector_lanes));
          return double(tile->row_numbers[values[tile->rows.atom]]) * vectors + vectors + 1;
        });
  const auto kib = [](double bytes) { return std::to_string(static_cast<long>(bytes / 1024)) + " KiB"; };
  const double l1 = cache_bytes(machine, 1), l2 = cache_bytes(machine, 2), l3 = cache_bytes(machine, 3);
  const bool streams = streams_from_l2(machine, tile->bytes, tile->row_numbers[planned[tile->rows.atom]], tile->lane_numbers[planned[tile->lanes.atom]], tile->depth_unit);
  const double panel = streams ? std::max(l1, l2 / 8) : l1;
  limit(ConstraintKind::capacity, streams ? "right panel in L2" : "right panel in L1",
        "a panel of " + tile->right.tensor + " as wide as the tile fits " + kib(panel) + (streams ? ", an eighth of L2, from where it streams" : ""),
        with_depth({tile->lanes.atom}), panel,
        [tile, depth_of](const std::vector<std::size_t>& values) {
          return double(tile->lane_numbers[values[tile->lanes.atom]]) * depth_of(values) * tile->bytes;
        });
  limit(ConstraintKind::capacity, "left block in L2", tile->left.tensor + "'s block fits " + kib(l2),
        with_depth({tile->rows.atom, tile->rows.choice}), l2,
        [tile, depth_of, extent_of](const std::vector<std::size_t>& values) {
          return extent_of(values, tile->rows, tile->row_radices, tile->row_numbers) * depth_of(values) * tile->bytes;
        });
  limit(ConstraintKind::capacity, "right block in L3", tile->right.tensor + "'s block fits " + kib(l3),
        with_depth({tile->lanes.atom, tile->lanes.choice}), l3,
        [tile, depth_of, extent_of](const std::vector<std::size_t>& values) {
          return extent_of(values, tile->lanes, tile->lane_radices, tile->lane_numbers) * depth_of(values) * tile->bytes;
        });
  const auto whole_block = [&](const TileMember& member, const std::vector<long>& radices, const std::vector<long>& atoms,
                               const std::string& name) {
    const bool may_be_whole = std::find(radices.begin(), radices.end(), 0) != radices.end();
    const std::vector<long> own_radices = radices, own_atoms = atoms;
    const TileMember own = member;
    const double slack = own_radices[planned[own.choice]] == 0
                             ? 0
                             : double(own_radices[planned[own.choice]] - 1) * double(own_atoms[planned[own.atom]]);
    constraints.push_back(
        {ConstraintKind::size,
         tile->statement + ": " + name,
         "a block starts inside the loop (" + std::to_string(static_cast<long>(own.extent)) + " at the given sizes)",
         {std::min(own.atom, own.choice), std::max(own.atom, own.choice)},
         [=](const std::vector<std::size_t>& values) {
           const long radix = own_radices[values[own.choice]], atom = own_atoms[values[own.atom]];
           if (radix == 0) return true;
           const double begin = double(may_be_whole ? radix : radix - 1) * double(atom);
           return begin < own.extent || double(radix - 1) * double(atom) <= slack;
         }});
  };
  whole_block(tile->rows, tile->row_radices, tile->row_numbers, "rows of a block");
  whole_block(tile->lanes, tile->lane_radices, tile->lane_numbers, "lanes of a block");
  if (!tile->has_parallel) return;
  const auto stack = machine.find_space("stack");
  const double private_bytes = stack == nullptr || stack->capacity <= 0 ? 1 << 20 : stack->capacity;
  limit(ConstraintKind::capacity, "private right block",
        tile->right.tensor + "'s block of one thread fits half of its stack (" + kib(private_bytes) + ")",
        with_depth({tile->lanes.atom, tile->lanes.choice, tile->parallel_choice}), private_bytes / 2,
        [tile, depth_of, extent_of](const std::vector<std::size_t>& values) {
          const std::size_t m = tile->view.member_index(tile->parallel[values[tile->parallel_choice]]);
          if (!tile->view.accesses[tile->right.access].moves_with(m)) return 0.0;
          return extent_of(values, tile->lanes, tile->lane_radices, tile->lane_numbers) * depth_of(values) * tile->bytes;
        });
}

}  // namespace tileopt
