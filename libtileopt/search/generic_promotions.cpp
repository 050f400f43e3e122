#include "search/generic_promotions.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "support/text.h"

namespace tileopt {
namespace {

constexpr double kStackBytes = 16 << 10;  ///< promoted locals up to half of a small L1 stay near

bool find_steps(const Tree& tree, const std::string& statement, std::vector<std::string>& steps) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: return true;
    case Tree::Kind::allocate:
    case Tree::Kind::nested: return find_steps(tree.child(), statement, steps);
    case Tree::Kind::band:
      steps.push_back(tree.dim());
      return find_steps(tree.child(), statement, steps);
    case Tree::Kind::sequence:
      for (std::size_t b = 0; b < tree.branches().size(); ++b) {
        if (!contains(tree.branches()[b].statements, statement)) continue;
        steps.push_back("#" + std::to_string(b));
        return find_steps(tree.branches()[b].tree, statement, steps);
      }
  }
  return false;
}

std::vector<std::string> bands_only(const std::vector<std::string>& steps) {
  std::vector<std::string> bands;
  for (const std::string& step : steps) {
    if (step[0] != '#') bands.push_back(step);
  }
  return bands;
}

bool starts_with(const std::vector<std::string>& steps, const std::vector<std::string>& prefix) {
  return steps.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), steps.begin());
}

/// One tensor's accesses inside the part.
struct TensorUse {
  std::string statement;
  const AccessView* access = nullptr;
};

class PromotionFinder {
 public:
  PromotionFinder(const PlanRequest& request, const std::map<std::string, StatementView>& views, PlanPart& part, NameTable& names)
      : request_(request), views_(views), part_(part), names_(names) {
    for (const std::string& statement : part.statements) steps_[statement] = path_steps(part.tree, statement);
  }

  void run() {
    for (const Tensor& tensor : request_.program().tensors()) {
      const bool placed = std::any_of(part_.promotions.begin(), part_.promotions.end(), [&](const Promotion& p) { return p.tensor == tensor.name; });
      if (placed || request_.pins.promote(tensor.name)) continue;
      const std::vector<TensorUse> uses = uses_of(tensor.name);
      if (uses.empty()) continue;
      const bool contracted = is_local_here(tensor) && contract(tensor, uses);
      if (!contracted) accumulate(tensor, uses);
    }
    std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [depth, promotion] : found_) part_.promotions.push_back(std::move(promotion));
  }

 private:
  std::vector<TensorUse> uses_of(const std::string& tensor) const {
    std::vector<TensorUse> uses;
    for (const std::string& statement : part_.statements) {
      for (const AccessView& access : views_.at(statement).accesses) {
        if (access.tensor == tensor) uses.push_back({statement, &access});
      }
    }
    return uses;
  }

  bool is_local_here(const Tensor& tensor) const {
    if (tensor.role != TensorRole::local) return false;
    for (const Statement& statement : request_.program().statements()) {
      if (contains(part_.statements, statement.name)) continue;
      if (statement.write.tensor == tensor.name) return false;
      for (const Access& read : statement.reads) {
        if (read.tensor == tensor.name) return false;
      }
    }
    return true;
  }

  const std::vector<Digit>& digits_of(const std::string& member) const {
    const auto found = std::find_if(part_.digits.begin(), part_.digits.end(), [&](const auto& entry) { return entry.first == member; });
    return found->second;
  }

  /// The access moves with the member that owns `digit`.
  bool moves(const TensorUse& use, const std::string& digit) const {
    const StatementMembers& members = part_.members.at(use.statement);
    for (std::size_t m = 0; m < members.members.size(); ++m) {
      for (const Digit& candidate : digits_of(members.members[m])) {
        if (candidate.name == digit) return use.access->moves_with(m);
      }
    }
    return false;
  }

  /// Values that member `m` of the statement runs over inside a scope; nothing where that has no constant bound.
  std::optional<double> inside_extent(const std::string& statement, std::size_t m, const std::vector<std::string>& scope) const {
    const std::vector<Digit>& digits = digits_of(part_.members.at(statement).members[m]);
    if (!contains(scope, digits.front().name)) {
      const auto constant = views_.at(statement).ranges[m].constant;
      return constant ? std::optional<double>(double(*constant)) : std::nullopt;
    }
    double extent = 1;
    for (const Digit& digit : digits) {
      if (!contains(scope, digit.name)) extent *= double(std::max(digit.radix, 1L));
    }
    return extent;
  }

  /// Elements of the box that the uses touch inside a scope (offsets aside), or nothing where it has no constant size.
  std::optional<double> box_elements(const std::vector<TensorUse>& uses, const std::vector<std::string>& scope) const {
    std::vector<double> extents;
    for (const TensorUse& use : uses) {
      if (!use.access->affine) return std::nullopt;
      extents.resize(use.access->coefficients.size(), 1);
      for (std::size_t d = 0; d < extents.size(); ++d) {
        double extent = 1;
        for (std::size_t m = 0; m < use.access->coefficients[d].size(); ++m) {
          const long step = std::abs(use.access->coefficients[d][m]);
          if (step == 0) continue;
          const auto inside = inside_extent(use.statement, m, scope);
          if (!inside) return std::nullopt;
          extent += double(step) * (*inside - 1);
        }
        extents[d] = std::max(extents[d], extent);
      }
    }
    double elements = 1;
    for (const double extent : extents) elements *= extent;
    return elements;
  }

  /// A local that is written and read inside one iteration of the common loops needs one iteration's storage only.
  bool contract(const Tensor& tensor, const std::vector<TensorUse>& uses) {
    std::vector<std::string> common = steps_.at(uses.front().statement);
    for (const TensorUse& use : uses) {
      const std::vector<std::string>& steps = steps_.at(use.statement);
      std::size_t same = 0;
      while (same < common.size() && same < steps.size() && common[same] == steps[same]) ++same;
      common.resize(same);
    }
    while (!common.empty() && common.back()[0] == '#') common.pop_back();
    while (!common.empty() && one_statement_inside(common, uses)) drop_band(common);
    const std::vector<std::string> scope = bands_only(common);
    if (scope.empty()) return false;
    if (!lives_inside(uses, scope)) return false;
    const auto elements = box_elements(uses, scope);
    const double bytes = elements.value_or(0) * size_bytes(tensor.type);
    if (!elements || bytes > kStackBytes) {
      part_.reasons.push_back("kernel " + request_.kernel.name() + ": local " + tensor.name + " stays in the workspace: below " + scope.back() +
                              (elements ? " it takes " + std::to_string(static_cast<long>(bytes)) + " bytes" : " its extent is not constant") +
                              "; to change: promote(" + tensor.name + ", \"stack\", after=...)");
      return false;
    }
    add(tensor, uses, scope, *elements);
    return true;
  }

  /// Every value is read in the same iteration of the scope's loops that wrote it.
  bool lives_inside(const std::vector<TensorUse>& uses, const std::vector<std::string>& scope) const {
    std::vector<std::string> writers, readers;
    for (const TensorUse& use : uses) (use.access->write ? writers : readers).push_back(use.statement);
    for (const isl::map& flow : poly::sorted_maps(request_.kernel.dependences().flow)) {
      const std::string from = poly::input_name(flow), to = poly::output_name(flow);
      if (!contains(writers, from) || !(contains(readers, to) || contains(writers, to))) continue;
      for (const std::string& digit : scope) {
        const auto source = member_value(from, digit), sink = member_value(to, digit);
        if (!source || !sink) return false;
        const isl::map values = flow.apply_domain(*source).apply_range(*sink);  // { [v] -> [v'] }
        const isl::map equal = isl::manage(isl_map_identity(isl_map_get_space(values.get())));
        if (!values.is_subset(equal)) return false;
      }
    }
    return true;
  }

  /// { S[i] -> [v] }: the member that owns `digit`; nothing where the statement lacks it.
  std::optional<isl::map> member_value(const std::string& statement, const std::string& digit) const {
    const StatementMembers& members = part_.members.at(statement);
    for (std::size_t m = 0; m < members.members.size(); ++m) {
      const std::vector<Digit>& digits = digits_of(members.members[m]);
      if (std::none_of(digits.begin(), digits.end(), [&](const Digit& d) { return d.name == digit; })) continue;
      isl_map* map = isl::map(request_.program().ctx(), members.map).release();
      const auto count = static_cast<unsigned>(members.members.size());
      map = isl_map_project_out(map, isl_dim_out, static_cast<unsigned>(m) + 1, count - static_cast<unsigned>(m) - 1);
      return isl::manage(isl_map_project_out(map, isl_dim_out, 0, static_cast<unsigned>(m)));
    }
    return std::nullopt;
  }

  /// The scope's innermost band belongs to one statement only, which then reads what it wrote in other iterations: no scope.
  bool one_statement_inside(const std::vector<std::string>& common, const std::vector<TensorUse>& uses) const {
    const bool same = std::all_of(uses.begin(), uses.end(), [&](const TensorUse& u) { return u.statement == uses.front().statement; });
    return same && steps_.at(uses.front().statement).size() == common.size();
  }
  static void drop_band(std::vector<std::string>& steps) {
    steps.pop_back();
    while (!steps.empty() && steps.back()[0] == '#') steps.pop_back();
  }

  /// The element that a reduction's innermost loops do not move is kept in a register while they run.
  void accumulate(const Tensor& tensor, const std::vector<TensorUse>& uses) {
    for (const TensorUse& use : uses) {
      const Statement& statement = request_.program().statement(use.statement);
      if (!use.access->write || statement.combine == Combine::assign || !use.access->affine) continue;
      std::vector<std::string> steps = steps_.at(use.statement);
      const std::size_t whole = bands_only(steps).size();
      while (!steps.empty() && (steps.back()[0] == '#' || !moves(use, steps.back()))) steps.pop_back();
      // Without a loop that moves it, the element is one for the whole kernel.
      const bool whole_kernel = steps.empty() && part_.statements == request_.kernel.statements();
      if ((steps.empty() && !whole_kernel) || bands_only(steps).size() == whole) continue;
      std::vector<TensorUse> inside;
      for (const TensorUse& other : uses) {
        if (starts_with(steps_.at(other.statement), steps)) inside.push_back(other);
      }
      const std::vector<std::string> scope = bands_only(steps);
      if (box_elements(inside, scope) != 1.0) continue;
      add(tensor, inside, scope, 1);
      return;
    }
  }

  /// Guards read it: an index is read once for its whole loop, from where it lies.
  bool decides_effects(const std::string& tensor) const {
    bool found = false;
    for (const std::string& name : part_.statements) {
      const Statement& statement = request_.program().statement(name);
      for (const Guard& guard : statement.guards)
        walk_expr(guard.value, [&](const Expr& e) {
          if (const auto* read = std::get_if<Read>(&e.node)) found = found || statement.reads[read->access].tensor == tensor;
        });
    }
    return found;
  }
  /// Copies inside a loop over an index from memory run once where that loop runs one value: everything below it is guarded by its
  /// member, by what this kernel does not write. Elsewhere they would run for every value that the index may have.
  bool runs_every_value(const std::string& digit) const {
    for (const auto& [member, digits] : part_.digits) {
      if (std::none_of(digits.begin(), digits.end(), [&](const Digit& d) { return d.name == digit; })) continue;
      bool guarded = false, bound = digits.size() == 1;
      for (const std::string& name : part_.statements) {
        const StatementMembers& members = part_.members.at(name);
        const auto at = std::find(members.members.begin(), members.members.end(), member);
        if (at == members.members.end()) continue;
        const bool here = views_.at(name).guarded[static_cast<std::size_t>(at - members.members.begin())];
        guarded = guarded || here;
        bound = bound && here && !writes_index(name);
      }
      return guarded && !bound;
    }
    return false;
  }
  /// Some guard of the statement reads what the kernel writes.
  bool writes_index(const std::string& name) const {
    const Statement& statement = request_.program().statement(name);
    bool found = false;
    for (const Guard& guard : statement.guards)
      walk_expr(guard.value, [&](const Expr& e) {
        const auto* read = std::get_if<Read>(&e.node);
        for (const std::string& writer : part_.statements)
          found = found || (read != nullptr && request_.program().statement(writer).write.tensor == statement.reads[read->access].tensor);
      });
    return found;
  }

  void add(const Tensor& tensor, const std::vector<TensorUse>& uses, const std::vector<std::string>& scope, double elements) {
    if (decides_effects(tensor.name) || std::any_of(scope.begin(), scope.end(), [&](const std::string& digit) { return runs_every_value(digit); })) return;
    Promotion promotion;
    promotion.tensor = tensor.name;
    promotion.array = tensor.name + (elements == 1 ? "_value" : "_tile");
    while (request_.program().has_tensor(promotion.array)) promotion.array += "_";
    promotion.after = scope.empty() ? "" : scope.back();
    for (const TensorUse& use : uses) {
      if (scope.empty()) break;
      if (!contains(promotion.statements, use.statement)) promotion.statements.push_back(use.statement);
    }
    promotion.space = elements == 1 ? "register" : "stack";
    promotion.element = type_name(tensor.type);
    const std::size_t rank = uses.front().access->coefficients.size();
    for (std::size_t d = 0; d < rank && elements > 1; ++d) {
      promotion.layout.push_back({static_cast<int>(d), names_.unique(promotion.array + "_" + std::to_string(d)), 0});
    }
    part_.reasons.push_back("kernel " + request_.kernel.name() + ": " + tensor.name + " kept in " + promotion.space + (scope.empty() ? "" : " below " + promotion.after) +
                            "; to change: promote(" + tensor.name + ", ...)");
    found_.emplace_back(scope.size(), std::move(promotion));
  }

  const PlanRequest& request_;
  const std::map<std::string, StatementView>& views_;
  PlanPart& part_;
  NameTable& names_;
  std::map<std::string, std::vector<std::string>> steps_;
  std::vector<std::pair<std::size_t, Promotion>> found_;
};

}  // namespace

std::vector<std::string> path_steps(const Tree& tree, const std::string& statement) {
  std::vector<std::string> steps;
  find_steps(tree, statement, steps);
  return steps;
}

void add_staged_result(const PlanRequest& request, const std::string& statement, const std::string& after, PlanPart& part, NameTable& names) {
  const Tensor& tensor = request.program().tensor(request.program().statement(statement).write.tensor);
  if (request.pins.promote(tensor.name)) return;
  Promotion promotion;
  promotion.tensor = tensor.name;
  promotion.array = tensor.name + "_tile";
  while (request.program().has_tensor(promotion.array)) promotion.array += "_";
  promotion.after = after;
  promotion.statements = {statement};
  promotion.space = "stack";
  promotion.element = type_name(tensor.type);
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    promotion.layout.push_back({static_cast<int>(d), names.unique(promotion.array + "_" + std::to_string(d)), 0});
  }
  part.reasons.push_back("kernel " + request.kernel.name() + ": " + tensor.name + " gathered in a stack tile below " + after +
                         ", so that loads and stores both run along rows; to change: promote(" + tensor.name + ", \"none\")");
  part.promotions.push_back(std::move(promotion));
}

void add_generic_promotions(const PlanRequest& request, const std::map<std::string, StatementView>& views, PlanPart& part, NameTable& names) {
  PromotionFinder(request, views, part, names).run();
}

}  // namespace tileopt
