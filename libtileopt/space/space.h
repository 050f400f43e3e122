/// The space of Plans as an object: named choices with their values, constraints with their reasons, and what can be asked of
/// it: how many points, which ones, a random one, the neighbours of one (docs/search.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cost_models/kernel_shape.h"
#include "ir/plan.h"

namespace tileopt {

/// Changes with every change of the choices, of their values or of the constraints; in every record's key.
inline constexpr int space_version = 2;

enum class ChoiceKind { tile, order, parallel, promotion };
std::string choice_kind_name(ChoiceKind kind);

/// One value that a choice may take.
struct ChoiceValue {
  std::string text;              ///< "64", "whole", "j k i", "on"
  long number = 0;               ///< of tiles: radix; 0: not cut
  std::vector<int> permutation;  ///< of orders
};

/// One open decision of a variant.
struct Choice {
  std::string name;  ///< "gemm: C.i in serial", unique in the variant
  ChoiceKind kind = ChoiceKind::tile;
  std::vector<ChoiceValue> values;  ///< tiles: ascending, "whole" last
  std::size_t planned = 0;          ///< the planner's own value
};

enum class ConstraintKind { capacity, legality, pin, machine, size };
std::string constraint_kind_name(ConstraintKind kind);

/// What values of some choices must satisfy together.
struct Constraint {
  ConstraintKind kind = ConstraintKind::capacity;
  std::string name;                  ///< "gemm: C: register tile"
  std::string reason;                ///< "a tile with its right vectors and a broadcast fits 32 vector registers"
  std::vector<std::size_t> choices;  ///< that it looks at, ascending
  std::function<bool(const std::vector<std::size_t>& values)> allows;  ///< given the value of every choice of the variant
};

/// A value, or a whole decision, that the space leaves out, and why.
struct Excluded {
  ConstraintKind kind = ConstraintKind::legality;
  std::string what, reason;
};

/// A point: for every choice of one variant the number of its value.
struct Point {
  std::size_t variant = 0;
  std::vector<std::size_t> values;
  friend bool operator==(const Point&, const Point&) = default;
  friend auto operator<=>(const Point&, const Point&) = default;
};

/// How one value of a choice changes the shapes of its variant. Edits set, they never add: applying those of all choices gives
/// the shapes of a point whatever was there before.
struct ShapeEdit {
  enum class Kind { radix, path, level, stream, scope } kind = Kind::radix;
  std::size_t kernel = 0;
  std::size_t at = 0;                  ///< radix, level: digit; path, stream, scope: statement
  std::vector<std::size_t> positions;  ///< path: places; stream, scope: streams
  std::vector<int> digits;             ///< path: what stands there
  long radix = 0;                      ///< radix; scope: depth of the promotion that the streams belong to
  LevelKind level = LevelKind::sequential;
  bool active = true;  ///< stream
};

/// Points that share their structure: rewrites, kernels, atoms, the source of the loops. Its choices are independent but for
/// the constraints.
struct Variant {
  std::string name;       ///< "as planned", "scalar loops", "fuse x, y", ...
  std::vector<Pin> pins;  ///< that make the structure, the given pins among them
  Plan planned;           ///< the planner's own Plan of this structure
  std::vector<Choice> choices;
  std::vector<Constraint> constraints;
  std::vector<Excluded> excluded;
  std::vector<KernelShape> shapes;  ///< of the planned point, with every loop that may be cut written as two
  std::vector<std::vector<std::vector<ShapeEdit>>> edits;  ///< choice -> value -> edits
  std::vector<std::function<void(const std::vector<std::size_t>& values, std::vector<Pin>& pins)>> pin_writers;

  double raw_points() const;  ///< product of the numbers of values
  std::vector<std::size_t> planned_values() const;
};

/// A structure that was looked for and refused, with the refusal.
struct RefusedVariant {
  std::string name;
  Infeasible refused;
};

struct SpaceCount {
  double points = 0;  ///< that satisfy all constraints; an upper bound where not exact
  bool exact = true;
  double raw = 0;  ///< without the constraints
  std::map<std::string, double>
      pruned;  ///< constraint (its kind and name) -> points that it was the first to rule out; where exact
};

class PlanSpace {
 public:
  PlanSpace(std::string program, std::vector<Variant> variants, std::vector<RefusedVariant> refused);

  const std::string& program() const { return program_; }
  const std::vector<Variant>& variants() const { return variants_; }
  const std::vector<RefusedVariant>& refused() const { return refused_; }

  /// Exact as long as no more than `most_steps` partial points have to be looked at for one variant.
  SpaceCount count(double most_steps = 2e7) const;

  /// The first constraint that a point violates; null: it satisfies all.
  const Constraint* violated(const Point& point) const;

  /// Points that satisfy all constraints, in a fixed order: variants as listed, the last choice fastest. Nothing after the last
  /// one.
  std::optional<Point> first() const;
  std::optional<Point> next(Point point) const;

  /// Every point that satisfies the constraints is equally likely: drawn from all value combinations of all variants, and again
  /// where a constraint is violated. Nothing where that happens a million times in a row.
  std::optional<Point> sample(std::mt19937_64& random) const;

  /// Points that differ in one choice: tiles by one step, orders by one exchange of neighbouring loops, others in any way. A
  /// point is a neighbour of its neighbours.
  std::vector<Point> neighbours(const Point& point) const;

  /// The planner's own point of each variant. The first one is what `resolve_plan` decides without being asked.
  std::vector<Point> planned_points() const;

  /// What a resolve_plan with these pins decides is the Plan of the point.
  Pins pins(const Point& point) const;

  /// "as planned; gemm: C.i in serial = 15; ..."
  std::string text(const Point& point) const;
  /// Short, and the same for the same decisions as long as the version of the space is.
  std::string key(const Point& point) const;

 private:
  bool search_from(std::size_t variant, std::vector<std::size_t> values, bool exclusive, Point& found) const;

  std::string program_;
  std::vector<Variant> variants_;
  std::vector<RefusedVariant> refused_;
};

/// Values of a choice that are one step from `value`, ascending. Symmetric.
std::vector<std::size_t> near_values(const Choice& choice, std::size_t value);

}  // namespace tileopt
