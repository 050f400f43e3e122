#include "frontends/tile_text/loops.h"

#include "frontends/tile_text/printer.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;

namespace {

/// A loop's bounds as written; null `lower` means 0.
struct Bounds {
  ExpressionPtr lower, upper;
  long step = 1;
};

std::vector<Bounds> reject_iterable(Scope& scope, const ExpressionPtr& iterable) {
  const auto* call = syntax::as<syntax::Call>(iterable);
  const auto* callee = call ? syntax::as<syntax::Name>(call->callee) : nullptr;
  const std::string hint = "write `range(N)`, `range(a, b)`, `range(a, b, step)` or `grid(M, N)`";
  if (callee != nullptr) {
    const std::string nearest = nearest_name(callee->name, {"range", "grid"});
    scope.diagnostics().add(ErrorCode::unknown_name, iterable->where, "`" + callee->name + "` is no range to loop over",
                            nearest.empty() ? hint : "did you mean `" + nearest + "`?");
  } else {
    scope.diagnostics().add(ErrorCode::type_mismatch, iterable->where, "a loop runs over a `range` or a `grid`", hint);
  }
  return {};
}

/// The step of `range(a, b, step)`; nullopt: reported.
std::optional<long> read_step(Scope& scope, const ExpressionPtr& step) {
  const std::optional<long> value = fold_constant(step);
  if (!value)
    scope.diagnostics().add(ErrorCode::not_affine, step->where, "the step `" + print(step) + "` is no whole number that is known at compile time (up to 10^12)",
                            "write a number, or the name of a `const` parameter");
  else if (*value == 0)
    scope.diagnostics().add(ErrorCode::type_mismatch, step->where, "a range cannot have the step 0",
                            "write `range(a, b)` for steps of 1, `range(a, b, -1)` to count down");
  else
    return value;
  return std::nullopt;
}

std::vector<Bounds> read_bounds(Scope& scope, const std::vector<syntax::Target>& targets, const ExpressionPtr& iterable) {
  const auto* call = syntax::as<syntax::Call>(iterable);
  const auto* callee = call ? syntax::as<syntax::Name>(call->callee) : nullptr;
  if (callee == nullptr || (callee->name != "range" && callee->name != "grid")) return reject_iterable(scope, iterable);
  Diagnostics& diagnostics = scope.diagnostics();
  if (!call->keywords.empty()) {
    diagnostics.add(ErrorCode::type_mismatch, call->keywords.front().where, "`" + callee->name + "` takes no keyword arguments",
                    "write `range(a, b)`");
    return {};
  }
  const std::vector<ExpressionPtr>& arguments = call->arguments;
  if (callee->name == "range" && (arguments.empty() || arguments.size() > 3)) {
    diagnostics.add(ErrorCode::type_mismatch, iterable->where,
                    "`range` takes one or two bounds and a step, not " + std::to_string(arguments.size()) + " values",
                    "write `range(N)`, `range(a, b)` or `range(a, b, step)`");
    return {};
  }
  const std::size_t values = callee->name == "range" ? 1 : arguments.size();
  if (targets.size() != values || arguments.empty()) {
    diagnostics.add(ErrorCode::shape_mismatch, targets.front().where,
                    std::to_string(targets.size()) + (targets.size() == 1 ? " iterator" : " iterators") + " for the " +
                        (values == 1 ? "one range" : std::to_string(values) + " ranges") + " of `" + print(iterable) + "`",
                    callee->name == "range" ? "use grid(M, N) for several iterators" : "give `grid` one extent per iterator");
    return {};
  }
  if (callee->name == "range" && arguments.size() == 3) {
    const std::optional<long> step = read_step(scope, arguments[2]);
    return step ? std::vector<Bounds>{{arguments[0], arguments[1], *step}} : std::vector<Bounds>();
  }
  if (callee->name == "range")
    return {arguments.size() == 1 ? Bounds{nullptr, arguments[0]} : Bounds{arguments[0], arguments[1]}};
  std::vector<Bounds> bounds;
  for (const ExpressionPtr& argument : arguments) bounds.push_back({nullptr, argument});
  return bounds;
}

std::set<std::string> used_names(const Nest& nest) {
  std::set<std::string> used;
  for (const Iterator& iterator : nest.iterators) used.insert(iterator.name);
  return used;
}

isl::pw_aff coordinate(const isl::space& space, std::size_t position) {
  isl_local_space* local = isl_local_space_from_space(space.copy());
  return isl::manage(isl_pw_aff_from_aff(isl_aff_var_on_domain(local, isl_dim_set, static_cast<unsigned>(position))));
}

/// `set` with unbounded dimensions appended, so that there is one per iterator.
isl::set add_dimensions(const isl::set& set, const std::vector<Iterator>& iterators) {
  const auto present = static_cast<std::size_t>(isl_set_dim(set.get(), isl_dim_set));
  isl_set* wider = isl_set_add_dims(set.copy(), isl_dim_set, static_cast<unsigned>(iterators.size() - present));
  for (std::size_t i = present; i < iterators.size(); ++i)
    wider = isl_set_set_dim_name(wider, isl_dim_set, static_cast<unsigned>(i), iterators[i].name.c_str());
  return isl::manage(wider);
}

/// Appends dimensions for the targets, unbounded.
void add_iterators(Scope& scope, Nest& nest, const std::vector<syntax::Target>& targets) {
  for (const syntax::Target& target : targets) {
    Iterator iterator;
    iterator.source_name = target.name;
    iterator.name = scope.names().iterator(target.name, used_names(nest));
    iterator.where = target.where;
    iterator.loop = scope.new_loop();
    nest.iterators.push_back(std::move(iterator));
  }
  nest.domain = add_dimensions(nest.domain, nest.iterators);
  nest.ranges = add_dimensions(nest.ranges, nest.iterators);
}

bool claim_targets(Scope& scope, const std::vector<syntax::Target>& targets) {
  bool fine = true;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    fine = scope.claim_iterator(targets[i]) && fine;
    for (std::size_t j = 0; j < i; ++j) {
      if (targets[i].name != targets[j].name) continue;
      scope.diagnostics().add(ErrorCode::duplicate_name, targets[i].where,
                              "two iterators of one loop are called `" + targets[i].name + "`",
                              "choose another name for one of them");
      fine = false;
    }
  }
  return fine;
}

}  // namespace

namespace {

/// Narrows `inner` to the iterations of dimension `position`. A step other than 1 is divided out: the dimension counts iterations.
void bound_iterator(AffineReader& reader, Nest& inner, std::size_t position, const isl::pw_aff& lower, const isl::pw_aff& upper, const Bounds& bounds) {
  Iterator& iterator = inner.iterators[position];
  const isl::pw_aff at = coordinate(inner.domain.space(), position);
  isl::set range;
  if (bounds.step == 1) {
    iterator.upper = upper;
    range = at.ge_set(lower).intersect(at.lt_set(upper));
  } else {
    iterator.value = lower.add(at.scale(isl::val(at.ctx(), bounds.step)));
    if (!reader.check_numbers(*iterator.value, bounds.lower->where)) inner.known = false;
    range = at.ge_set(at.sub(at)).intersect(bounds.step > 0 ? iterator.value->lt_set(upper) : iterator.value->gt_set(upper));
  }
  inner.domain = inner.domain.intersect(range);
  inner.ranges = inner.ranges.intersect(range);
}

}  // namespace

Nest enter_loop(Scope& scope, const Nest& outer, const std::vector<syntax::Target>& targets, const ExpressionPtr& iterable) {
  Nest inner = outer;
  const std::vector<Bounds> bounds = read_bounds(scope, targets, iterable);
  inner.known = claim_targets(scope, targets) && outer.known && !bounds.empty();
  if (outer.iterators.size() + targets.size() > most_loops) {
    scope.diagnostics().add(ErrorCode::unsupported, targets.front().where,
                            "more than " + std::to_string(most_loops) + " loops around one statement",
                            "use fewer nested loops");
    inner.known = false;
  }
  const std::size_t first = inner.iterators.size();
  add_iterators(scope, inner, targets);
  const isl::space space = inner.domain.space();
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    AffineReader reader(scope, outer.iterators, space, AffineRole::loop_bound);
    const std::optional<isl::pw_aff> lower = bounds[i].lower ? reader.value(bounds[i].lower) : reader.constant(0);
    const std::optional<isl::pw_aff> upper = reader.value(bounds[i].upper);
    if (!lower || !upper) inner.known = false;
    if (inner.known) bound_iterator(reader, inner, first + i, *lower, *upper, bounds[i]);
  }
  return inner;
}

bool descends(const ExpressionPtr& iterable) {
  const auto* call = syntax::as<syntax::Call>(iterable);
  return call != nullptr && call->arguments.size() == 3 && fold_constant(call->arguments[2]).value_or(1) < 0;
}

Nest restrict(Scope& scope, const Nest& nest, const ExpressionPtr& condition) {
  Nest result = nest;
  AffineReader reader(scope, nest.iterators, nest.domain.space(), AffineRole::condition);
  const std::optional<isl::set> holds = reader.condition(condition);
  if (!holds)
    result.known = false;
  else if (nest.known)
    result.domain = nest.domain.intersect(*holds).coalesce();
  return result;
}

void append_iterator(Nest& nest, const Iterator& iterator) {
  nest.iterators.push_back(iterator);
  nest.domain = add_dimensions(nest.domain, nest.iterators);
  nest.ranges = add_dimensions(nest.ranges, nest.iterators);
}

namespace {

isl::pw_aff zero_on(const isl::space& space) {
  return isl::manage(isl_pw_aff_zero_on_domain(isl_local_space_from_space(space.copy())));
}

/// The only affine function of a one-piece value, on all parameters; else null.
isl::pw_aff as_total(const isl::pw_aff& value) {
  if (isl_pw_aff_n_piece(value.get()) != 1) return isl::pw_aff();
  isl_aff* affine = nullptr;
  isl_pw_aff_foreach_piece(
      value.get(),
      [](isl_set* domain, isl_aff* piece, void* user) {
        isl_set_free(domain);
        *static_cast<isl_aff**>(user) = piece;
        return isl_stat_ok;
      },
      &affine);
  return isl::manage(isl_pw_aff_from_aff(affine));
}

isl::pw_aff union_max(const isl::pw_aff& a, const isl::pw_aff& b) {
  return isl::manage(isl_pw_aff_union_max(a.copy(), b.copy()));
}

bool not_negative(const Scope& scope, const isl::pw_aff& value) {
  return scope.context().is_subset(value.ge_set(zero_on(scope.params_space())));
}

}  // namespace

LeadingDimension expand_dimension(const Scope& scope, const Nest& nest, std::size_t position) {
  const isl::space params = scope.params_space();
  const isl::pw_aff zero = zero_on(params);
  const isl::set domain = nest.ranges.intersect_params(scope.context());
  if (domain.is_empty()) return {zero, zero};
  const auto dim = static_cast<int>(position);
  const isl::pw_aff least = isl::manage(isl_set_dim_min(domain.copy(), dim));
  const isl::pw_aff most = isl::manage(isl_set_dim_max(domain.copy(), dim));
  const isl::set negative = least.lt_set(zero.intersect_domain(least.domain()));
  isl::pw_aff shift = zero;
  if (!negative.is_empty()) {
    const isl::pw_aff total = as_total(least);
    shift = total.is_null() ? union_max(least, zero.intersect_domain(least.domain().complement())) : total;
  }
  const isl::pw_aff one = isl::manage(isl_pw_aff_add_constant_val(zero.copy(), isl_val_one(isl_pw_aff_get_ctx(zero.get()))));
  const isl::pw_aff total = as_total(most);
  if (!total.is_null()) {
    const isl::pw_aff count = total.sub(shift).add(one);
    if (not_negative(scope, count)) return {count, shift};
  }
  return {union_max(most.sub(shift).add(one), zero).coalesce(), shift};
}

}  // namespace tileopt::tile_text
