/// Writes band members as mixed-radix digits, ordered by the Plan's tree.
///   members (i, j, k)  ->  jc > kc > ic > jr > ir > (C_init ; C: kk)
///   i = 280 ic + 14 ir + ii,  j = 1024 jc + 32 jr + jj,  k = 256 kc + kk
/// The order is free: any tree over the digits is accepted that keeps every dependence going forward.
#include <algorithm>
#include <set>

#include "passes/digit_map.h"
#include "passes/order_check.h"
#include "passes/pass_limit.h"
#include "passes/passes.h"
#include "support/text.h"

namespace tileopt {

// Variables are numbered, so that any digit name will do.
isl::map digits_to_members(isl::ctx ctx, const std::string& statement, const std::vector<std::string>& members,
                           const std::vector<std::pair<std::string, std::vector<Digit>>>& table, std::vector<std::string>& dims) {
  std::vector<std::string> tuple, values, bounds;
  for (const std::string& member : members) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const auto& d) { return d.first == member; });
    const std::vector<Digit>& digits = found->second;
    long weight = 1;
    std::vector<long> weights(digits.size());
    for (std::size_t i = digits.size(); i-- > 0;) {
      weights[i] = weight;
      weight *= std::max(digits[i].radix, 1L);
    }
    std::string value;
    for (std::size_t i = 0; i < digits.size(); ++i) {
      const std::string variable = "x" + std::to_string(tuple.size());
      tuple.push_back(variable);
      dims.push_back(digits[i].name);
      value += (i ? " + " : "") + std::to_string(weights[i]) + variable;
      if (digits[i].radix > 0) bounds.push_back("0 <= " + variable + " < " + std::to_string(digits[i].radix));
    }
    values.push_back(value);
  }
  const std::string text = "{ [" + join(tuple, ", ") + "] -> [" + join(values, ", ") + "]" +
                           (bounds.empty() ? "" : " : " + join(bounds, " and ")) + " }";
  isl_map* map = isl_map_set_tuple_name(isl_map_read_from_str(ctx.get(), text.c_str()), isl_dim_in, statement.c_str());
  for (std::size_t i = 0; i < dims.size(); ++i) map = isl_map_set_dim_name(map, isl_dim_in, static_cast<unsigned>(i), dims[i].c_str());
  return isl::manage(map);
}

namespace {
/// Pairs of instances that threads may not run at once: two atomic updates of one reduction may.
isl::union_map without_atomic_pairs(const Kernel& kernel, const Machine& machine) {
  const auto atomic_class = [&](const std::string& name) {
    const auto choice = kernel.plan().atoms.find(name);
    const Atom* atom = choice == kernel.plan().atoms.end() ? nullptr : machine.find_atom(choice->second.atom);
    return atom != nullptr && atom->body == "atomic_update" ? update_class(kernel.program().statement(name)) : std::string();
  };
  isl::union_map pairs = kernel.racing();
  for (const isl::map& relaxed : poly::sorted_maps(kernel.dependences().relaxed)) {
    const std::string source = atomic_class(poly::input_name(relaxed));
    if (source.empty() || source != atomic_class(poly::output_name(relaxed))) continue;
    const isl::union_map ordered = kernel.validity().intersect(relaxed.to_union_map());
    pairs = pairs.subtract(relaxed.to_union_map().subtract(ordered));
  }
  return pairs;
}

/// Where a member has a constant least value, says so of its most significant digit too: isl does not tighten
/// 1024 jc + 16 jr + jj >= 0 to jc >= 0 by itself, and every later set would carry the mixed constraint.
isl::map bound_leading_digits(const isl::map& digits_to_members, const isl::set& values, const std::vector<std::string>& members,
                              const KernelPlan& plan) {
  isl::map bounded = digits_to_members;
  unsigned position = 0;
  for (std::size_t m = 0; m < members.size(); ++m) {
    const auto found = std::find_if(plan.digits.begin(), plan.digits.end(), [&](const auto& d) { return d.first == members[m]; });
    long weight = 1;
    for (const Digit& d : found->second) weight *= std::max(d.radix, 1L);
    const isl::val least = isl::manage(isl_set_dim_min_val(values.copy(), static_cast<int>(m)));
    if (least.is_int()) {
      const isl::val digit = isl::manage(isl_val_floor(isl_val_div(least.copy(), isl_val_int_from_si(values.ctx().get(), weight))));
      bounded = isl::manage(isl_map_lower_bound_val(bounded.release(), isl_dim_in, position, digit.copy()));
    }
    position += static_cast<unsigned>(found->second.size());
  }
  return bounded;
}

/// Table-wide checks; "" when sound.
std::string check_digit_table(const KernelPlan& plan, const Machine& machine) {
  std::set<std::string> names;
  for (const auto& [member, digits] : plan.digits) {
    if (digits.empty()) return "member " + member + " has no digits";
    for (std::size_t i = 0; i < digits.size(); ++i) {
      const Digit& d = digits[i];
      if (!names.insert(d.name).second) return "two digits are called " + d.name;
      if (machine.find_level(d.level) == nullptr) return "machine " + machine.name + " has no level `" + d.level + "` (digit " + d.name + ")";
      if (d.radix < 0 || d.radix > (1L << 40)) return "radix " + std::to_string(d.radix) + " of digit " + d.name + " is out of range";
      if (d.radix == 0 && i > 0) return "digit " + d.name + " is unbounded but not the most significant of " + member;
      if (d.radix != 0 && i == 0) return "the most significant digit " + d.name + " of " + member + " must be unbounded (radix 0)";
    }
  }
  return "";
}

/// Digits name loop variables: none may hide a size or a tensor.
std::string check_digit_names(const KernelPlan& plan, const Program& program) {
  for (const auto& [member, digits] : plan.digits)
    for (const Digit& d : digits) {
      if (contains(program.parameters(), d.name)) return "digit " + d.name + " has the name of a size";
      if (program.has_tensor(d.name)) return "digit " + d.name + " has the name of a tensor";
    }
  return "";
}

/// Sequences of the tree must hold each active statement exactly once, bands only digits that exist.
std::string check_tree(const Tree& tree, const std::vector<std::string>& active, const KernelPlan& plan, std::vector<std::string> above) {
  switch (tree.kind()) {
    case Tree::Kind::leaf:
      return active.size() == 1 ? "" : "statements " + join(active, ", ") + " share a leaf: order them with a sequence";
    case Tree::Kind::nested: return check_tree(tree.child(), active, plan, above);
    case Tree::Kind::allocate: return "the Plan's tree allocates arrays: promotions do that";
    case Tree::Kind::band:
      if (plan.find_digit(tree.dim()) == nullptr) return "the tree names an unknown digit " + tree.dim();
      if (contains(above, tree.dim())) return "digit " + tree.dim() + " occurs twice on one path of the tree";
      above.push_back(tree.dim());
      return check_tree(tree.child(), active, plan, above);
    case Tree::Kind::sequence: {
      std::vector<std::string> seen;
      for (const Tree::Branch& branch : tree.branches()) {
        for (const std::string& name : branch.statements) {
          if (!contains(active, name)) return "the tree orders " + name + ", which is not a statement there";
          if (contains(seen, name)) return "the tree orders " + name + " twice";
          seen.push_back(name);
        }
        const std::string problem = check_tree(branch.tree, branch.statements, plan, above);
        if (!problem.empty()) return problem;
      }
      for (const std::string& name : active)
        if (!contains(seen, name)) return "the tree leaves out statement " + name;
      return "";
    }
  }
  return "";
}
}  // namespace

Candidate<DigitSchedule> DigitSchedule::create(Schedule schedule, const Machine& machine) {
  DigitSchedule result(std::move(schedule));
  const KernelPlan& plan = result.plan();
  const Kernel& kernel = result.kernel();
  const isl::ctx ctx = kernel.program().ctx();
  const auto refuse = [&](const std::string& code, const std::string& entry, const std::string& reason) {
    return Infeasible{code, "digitize", plan.name, "kernels[" + plan.name + "]." + entry, reason};
  };
  if (std::string problem = check_digit_names(plan, kernel.program()); !problem.empty()) return refuse("pin", "digits", problem);
  if (std::string problem = check_digit_table(plan, machine); !problem.empty()) return refuse("pin", "digits", problem);
  if (std::string problem = check_tree(plan.tree, plan.statements, plan, {}); !problem.empty()) return refuse("pin", "tree", problem);

  for (const std::string& name : plan.statements) {
    const std::vector<std::string>& members = result.schedule_.members().at(name).members;
    for (const std::string& member : members)
      if (std::none_of(plan.digits.begin(), plan.digits.end(), [&](const auto& d) { return d.first == member; }))
        return refuse("pin", "digits", "member " + member + " of statement " + name + " has no digits");
    StatementSpace space;
    space.name = name;
    const isl::map to_members = digits_to_members(ctx, name, members, plan.digits, space.dims);
    const isl::set domain = kernel.program().statement(name).domain.intersect_params(kernel.program().context());
    const isl::set values = domain.apply(result.schedule_.member_map(name));
    const isl::map bounded = bound_leading_digits(to_members, values, members, plan);
    space.to_program = bounded.apply_range(result.schedule_.member_map(name).reverse()).intersect_range(domain);
    space.domain = space.to_program.domain();
    for (const std::string& dim : path_dims(plan.tree, name))
      if (!contains(space.dims, dim)) return refuse("pin", "tree", "digit " + dim + " is above statement " + name + ", none of whose members has it");
    result.statements_.push_back(std::move(space));
  }

  const OrderChecker checker(plan.tree, result.statements_);
  for (const StatementSpace& s : result.statements_) {
    std::vector<std::string> placed = path_dims(plan.tree, s.name);
    if (const auto atom = plan.atoms.find(s.name); atom != plan.atoms.end())
      placed.insert(placed.end(), atom->second.box.begin(), atom->second.box.end());
    for (const std::string& dim : placed)
      if (!contains(s.dims, dim)) return refuse("pin", "atoms[" + s.name + "]", "statement " + s.name + " has no digit " + dim);
    if (std::string free = undetermined_dims(s, placed); !free.empty())
      return refuse("pin", "tree", "the tree does not place digit " + free + " of statement " + s.name);
  }
  const isl::union_map racing = without_atomic_pairs(kernel, machine);
  const auto illegal = [&](const std::string& entry, const std::string& what, const DependencePair& pair) {
    Infeasible infeasible = refuse("legality", entry, what + " a dependence: " + dependence_text(kernel.program(), kernel.dependences(), pair));
    infeasible.witness = witness_text(pair);
    return infeasible;
  };
  if (const DependencePair pair = checker.reversed_pair(kernel.validity())) return illegal("tree", "the order reverses", pair);
  for (const auto& [member, digits] : plan.digits)
    for (const Digit& d : digits) {
      const LevelKind kind = machine.find_level(d.level)->kind;
      // Agents go on by themselves: nothing orders two of them inside the band of their digit.
      if (kind == LevelKind::independent || kind == LevelKind::barrier)
        if (const DependencePair pair = checker.carried_pair(racing, d.name))
          return illegal("digits[" + member + "]", "digit " + d.name + " on level " + d.level + " carries", pair);
      if (kind == LevelKind::lockstep)
        if (const DependencePair pair = checker.carried_pair(kernel.validity(), d.name))
          return illegal("digits[" + member + "]", "digit " + d.name + " on level " + d.level + " carries", pair);
    }
  return result;
}

const StatementSpace& DigitSchedule::statement(const std::string& name) const {
  for (const StatementSpace& s : statements_)
    if (s.name == name) return s;
  TILEOPT_CHECK(false, "no statement " + name + " in kernel " + plan().name);
  return statements_.front();
}

Document DigitSchedule::write() const {
  Document d;
  d["kernel"] = plan().name;
  d["tree"] = tree().write();
  for (const StatementSpace& s : statements_) d["domains"][s.name] = poly::to_text(s.domain);
  return d;
}

Candidate<DigitSchedule> digitize(const Schedule& schedule, const Machine& machine) {
  const Kernel& kernel = schedule.kernel();
  return within_limit(kernel.program().ctx(), "digitize", kernel.name(), [&] { return DigitSchedule::create(schedule, machine); });
}

}  // namespace tileopt
