/// Choices of a window: results that stay in registers while a short reduction runs.
///   wr > cr > (O_init ; O: r > s)      box ww x cc
#include <algorithm>
#include <cmath>

#include "space/variant_builder.h"

namespace tileopt {
namespace {

/// A digit of the box, as pins name its loop.
struct BoxSide {
  std::string digit, spelled, iterator;
  long planned = 0;
  double extent = 1;
};

std::vector<BoxSide> sides_of(const KernelPart& part, const std::string& statement) {
  const StatementView view =
      view_statement(part.context.program, statement, part.shaped.members.at(statement), part.context.sizes);
  std::vector<BoxSide> sides;
  for (const std::string& digit : part.shaped.atoms.at(statement).box) {
    const std::string member = part.shaped.owner(digit);
    const std::size_t m = view.member_index(member);
    if (m >= view.members.size() || view.iterators[m].empty()) return {};
    sides.push_back({digit, statement + "." + view.iterators[m], view.iterators[m], part.planned.find_digit(digit)->radix,
                     view.ranges[m].typical});
  }
  return sides;
}

}  // namespace

std::vector<std::string> windows(const VariantContext& context, const KernelPlan& plan) {
  std::vector<std::string> found;
  for (const std::string& statement : plan.statements) {
    const auto choice = plan.atoms.find(statement);
    if (choice == plan.atoms.end() || choice->second.box.size() != 2) continue;
    const Atom* atom = context.machine.find_atom(choice->second.atom);
    const bool reduces = context.program.statement(statement).combine != Combine::assign;
    if (atom && atom->body == "elementwise" && reduces) found.push_back(statement);
  }
  return found;
}

void add_window_choices(const KernelPart& part) {
  const std::string atom = part.context.level(LevelKind::atom);
  const Machine& machine = part.context.machine;
  for (const std::string& statement : windows(part.context, part.shaped)) {
    const std::vector<BoxSide> sides = sides_of(part, statement);
    if (sides.size() != 2) continue;
    const int bytes = size_bytes(part.context.program.tensor(part.context.program.statement(statement).write.tensor).type);
    const long vector_lanes = std::max(1L, long(machine.vector_bytes / bytes));
    std::vector<long> rows, lanes;
    for (long n = 1; n <= 16 && double(n - 1) < sides[0].extent; ++n) rows.push_back(n);
    for (long n = 1; n <= 4 && double((n - 1) * vector_lanes) < sides[1].extent; ++n) lanes.push_back(n * vector_lanes);
    const auto frozen = [&](const BoxSide& side) {
      return part.context.given.tile(atom, statement, side.iterator).has_value();
    };
    const auto add = [&](const BoxSide& side, const std::vector<long>& numbers) {
      return part.add_tile(side.spelled + " in " + atom, side.digit, numbers, side.planned, frozen(side));
    };
    const std::size_t first = add(sides[0], rows), second = add(sides[1], lanes);
    const auto number = [values_of_rows = part.variant.choices[first].values,
                         values_of_lanes = part.variant.choices[second].values, first,
                         second](const std::vector<std::size_t>& values, bool row) {
      return row ? values_of_rows[values[first]].number : values_of_lanes[values[second]].number;
    };
    const long registers = std::max(16, machine.vector_registers);
    part.variant.constraints.push_back(
        {ConstraintKind::machine,
         statement + ": window tile",
         "the results, a row of operands and two more fit " + std::to_string(registers) + " vector registers",
         {first, second},
         [number, vector_lanes, registers](const std::vector<std::size_t>& values) {
           const double vectors = std::ceil(double(number(values, false)) / double(vector_lanes));
           return double(number(values, true)) * vectors + vectors + 2 <= double(registers);
         }});
    part.variant.pin_writers.push_back([=, rows_frozen = frozen(sides[0]), lanes_frozen = frozen(sides[1])](
                                           const std::vector<std::size_t>& values, std::vector<Pin>& pins) {
      if (!rows_frozen) pins.push_back(tile_pin(atom, sides[0].spelled, number(values, true)));
      if (!lanes_frozen) pins.push_back(tile_pin(atom, sides[1].spelled, number(values, false)));
    });
  }
}

}  // namespace tileopt
