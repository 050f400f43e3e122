#include "space/variant_builder.h"

#include <algorithm>
#include <numeric>

#include "search/plan_parts.h"
#include "support/text.h"

namespace tileopt {

std::string VariantContext::level(LevelKind kind) const { return level_of_kind(machine, kind); }

Pin tile_pin(const std::string& level, const std::string& loop, long extent) {
  return {"tile", {"\"" + level + "\"", "\"" + loop + "\"", std::to_string(extent)}, {}, {}};
}

Pin simple_pin(const std::string& primitive, std::vector<std::string> arguments) {
  const bool bare = primitive == "fuse";
  if (!bare) {
    for (std::string& argument : arguments) argument = "\"" + argument + "\"";
  }
  return {primitive, std::move(arguments), {}, {}};
}

Pin promote_pin(const std::string& tensor, const std::string& space, const std::string& after) {
  Pin pin{"promote", {tensor, "\"" + space + "\""}, {}, {}};
  if (!after.empty()) pin.keywords.emplace_back("after", "\"" + after + "\"");
  return pin;
}

std::vector<ChoiceValue> tile_values(std::vector<long> numbers) {
  std::sort(numbers.begin(), numbers.end(), [](long a, long b) { return b == 0 ? a != 0 : a != 0 && a < b; });
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::vector<ChoiceValue> values;
  for (const long number : numbers) values.push_back({number == 0 ? "whole" : std::to_string(number), number, {}});
  return values;
}

std::vector<ChoiceValue> order_values(const std::vector<std::string>& names,
                                      const std::function<bool(const std::vector<int>&)>& allowed) {
  std::vector<int> permutation(names.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::vector<ChoiceValue> values;
  do {
    if (!allowed(permutation)) continue;
    std::vector<std::string> ordered;
    for (const int p : permutation) ordered.push_back(names[static_cast<std::size_t>(p)]);
    values.push_back({join(ordered, " "), 0, permutation});
  } while (std::next_permutation(permutation.begin(), permutation.end()));
  return values;
}

std::size_t index_of_number(const std::vector<ChoiceValue>& values, long number) {
  const auto found = std::find_if(values.begin(), values.end(), [&](const ChoiceValue& v) { return v.number == number; });
  TILEOPT_CHECK(found != values.end(), "the planned value is one of the choice");
  return static_cast<std::size_t>(found - values.begin());
}

std::size_t KernelPart::add(Choice choice, std::vector<std::vector<ShapeEdit>> edits) const {
  variant.choices.push_back(std::move(choice));
  variant.edits.push_back(std::move(edits));
  return variant.choices.size() - 1;
}

int KernelPart::digit(const std::string& name) const {
  const auto& digits = shape().digits;
  const auto found = std::find_if(digits.begin(), digits.end(), [&](const ShapeDigit& d) { return d.name == name; });
  return found == digits.end() ? -1 : static_cast<int>(found - digits.begin());
}

std::size_t KernelPart::statement(const std::string& name) const {
  const auto& statements = shape().statements;
  const auto found =
      std::find_if(statements.begin(), statements.end(), [&](const ShapeStatement& s) { return s.name == name; });
  TILEOPT_CHECK(found != statements.end(), "statement " + name + " has a shape");
  return static_cast<std::size_t>(found - statements.begin());
}

ShapeEdit KernelPart::radix_edit(const std::string& name, long radix) const {
  const int number = digit(name);
  TILEOPT_CHECK(number >= 0, "digit " + name + " has a shape");
  ShapeEdit edit;
  edit.kernel = kernel;
  edit.at = static_cast<std::size_t>(number);
  edit.radix = radix;
  return edit;
}

std::size_t KernelPart::add_tile(const std::string& name, const std::string& digit_name, std::vector<long> numbers, long own,
                                 bool frozen) const {
  if (frozen) {
    exclude(ConstraintKind::pin, name, "a pin decides it");
    numbers.clear();
  }
  numbers.push_back(own);
  Choice choice{planned.name + ": " + name, ChoiceKind::tile, tile_values(std::move(numbers)), 0};
  choice.planned = index_of_number(choice.values, own);
  std::vector<std::vector<ShapeEdit>> edits;
  for (const ChoiceValue& value : choice.values) edits.push_back({radix_edit(digit_name, value.number)});
  return add(std::move(choice), std::move(edits));
}

std::vector<std::string> register_tiles(const Machine& machine, const KernelPlan& plan) {
  std::vector<std::string> found;
  for (const std::string& statement : plan.statements) {
    const auto choice = plan.atoms.find(statement);
    if (choice == plan.atoms.end() || choice->second.box.size() < 2) continue;
    const Atom* atom = machine.find_atom(choice->second.atom);
    if (atom && (atom->body == "dot" || (atom->body == "multiply_add" && choice->second.box.size() == 2))) found.push_back(statement);
  }
  return found;
}

}  // namespace tileopt
