/// Random typed expressions over tensors and loops, with every subscript proved in bounds for all sizes >= 0.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/types.h"
#include "random_program.h"

namespace tileopt::testing {

/// splitmix64: no distribution of the standard library, whose results differ between platforms.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  int below(int count);            ///< [0, count)
  int between(int low, int high);  ///< [low, high]
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }

 private:
  std::uint64_t state_;
};

/// The sizes a program may name, and the largest values that random_sizes gives them.
inline constexpr std::array<const char*, 4> size_names = {"N", "M", "K", "T"};
inline constexpr std::array<int, 4> largest_sizes = {40, 40, 10, 3};
enum SizeIndex { size_n, size_m, size_k, size_t_steps };

/// coefficient . sizes + constant.
struct SizeExpression {
  std::array<int, 4> coefficients{};
  int constant = 0;

  static SizeExpression of(int size, int constant = 0);
  static SizeExpression fixed(int constant) { return {{}, constant}; }
  SizeExpression plus(const SizeExpression& other, int factor = 1) const;
  SizeExpression plus(int value) const { return plus(fixed(value)); }
  bool never_negative() const;  ///< for all sizes >= 0, by its coefficients
  bool is_fixed() const;
  std::int64_t at_largest() const;
  std::string text() const;
};

/// `name` takes values from `low` to `high`, both included: each of them, or every `step`th of them, or down from `high`.
struct Loop {
  std::string name;
  SizeExpression low, high;
  int step = 1;
  std::string range() const;  ///< "range(...)"
};
/// Loops around a place, outermost first; pairs (a, b) where loop a's value never exceeds loop b's.
struct Loops {
  std::vector<Loop> loops;
  std::vector<std::pair<std::size_t, std::size_t>> ordered;
};

enum class TensorUse { in, inout, out, local };
struct TensorPlan {
  std::string name;
  ElementType type;
  std::vector<SizeExpression> extents;
  TensorUse use;
  bool readable;  ///< all elements hold values
  std::optional<SizeExpression> below = {};  ///< an index tensor: its values are assumed to be in [0, below)
};

/// What one program is made of so far.
struct ProgramPlan {
  std::vector<TensorPlan> tensors;
  ElementType main_type = ElementType::i32;
  ProgramFeatures features;
  int next_input = 0;
  std::vector<std::string> assumptions;  ///< lines of the program's head
  std::set<std::string> functions;       ///< monoids that it calls
};

class ExpressionMaker {
 public:
  ExpressionMaker(Random& random, ProgramPlan& plan) : random_(random), plan_(plan) {}

  /// An expression of `type` in brackets where needed; `depth` bounds its height. Reductions only where `reductions`.
  std::string value(const Loops& loops, ElementType type, int depth, bool reductions);
  /// `sum(... for k in range(K))`, of `type`, over one or two new iterators.
  std::string reduction(const Loops& loops, ElementType type, int depth);
  /// A product of two or three tensors summed over one iterator.
  std::string contraction(const Loops& loops, ElementType type);
  /// An affine condition on iterators.
  std::string affine_condition(const Loops& loops);

  /// Subscripts of `extents` for some element per instance, or nothing.
  std::optional<std::string> subscripts(const Loops& loops, const std::vector<SizeExpression>& extents);
  /// A read of a tensor of `type`: an existing one, or a new input that fits the loops.
  std::string read(const Loops& loops, ElementType type);
  std::string literal(ElementType type);
  /// A new argument with one dimension for each of some loops.
  const TensorPlan& add_input(const Loops& loops, ElementType type, TensorUse use);
  /// An element of a table at an index that is read from memory, always one of its own: "A3[I2[i]]". Nothing where there are
  /// too many arguments.
  std::optional<std::string> indexed(const Loops& loops, ElementType type, TensorUse use);
  /// A condition on data.
  std::string data_condition(const Loops& loops);
  /// An index tensor over `extents`, of values in [0, below); `monotone` along its last dimension.
  std::string add_index_tensor(std::vector<SizeExpression> extents, const SizeExpression& below, bool monotone);
  /// Some other step than 1, rarely.
  int step();

 private:
  std::optional<std::string> subscript(const Loops& loops, const SizeExpression& extent, std::vector<std::size_t>& unused);
  std::optional<std::string> iterator_subscript(const Loops& loops, std::size_t number, const SizeExpression& extent);
  std::string operation(const Loops& loops, ElementType type, int depth, bool reductions);
  std::string ternary(const Loops& loops, ElementType type, int depth, bool reductions);
  std::string guarded_read(const Loops& loops, ElementType type);
  std::string converted(const Loops& loops, ElementType type);
  Loops with_reduction_loop(const Loops& loops, std::string* clause);
  std::string product_factor(const Loops& loops, ElementType type);

  Random& random_;
  ProgramPlan& plan_;
};

}  // namespace tileopt::testing
