/// Reference execution of a Program in its original order, in the declared types, with a double shadow and a running error bound.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interpreter/host_array.h"
#include "ir/program.h"

namespace tileopt {

/// Checks that `sizes` names every parameter, satisfies the context, and that no extent is negative or overflows.
/// @throws Errors(invalid_size) naming the assume or extent that fails.
void check_sizes(const Program& program, const Sizes& sizes);

/// Shape of `tensor` at `sizes`.
std::vector<std::int64_t> evaluate_shape(const Tensor& tensor, const Sizes& sizes);

/// Statement instances that a run executes (saturating at int64 max). Where they cannot be counted in 2^26 steps, the size of
/// the domain's bounding box, an upper bound.
std::int64_t count_instances(const Program& program, const Sizes& sizes);

enum class Fill {
  uniform,   ///< floats in [-1, 1), integers in [-8, 8] (unsigned [0, 8])
  integers,  ///< small integers in every type, so that float results are exact in any order
};
/// Arguments for a run: `in` and `inout` filled from `seed`, `out` poisoned (NaN, or a fixed pattern in integer types).
Arrays make_arguments(const Program& program, const Sizes& sizes, std::uint64_t seed, Fill fill);

/// How far the running sums and products of a float tensor came to lie from exact arithmetic.
struct AccumulatorError {
  std::string tensor;
  ElementType type;
  double ulps;  ///< largest |value - shadow| of an element, in units in the last place of the tensor's largest element
};

struct InterpreterResult {
  Arrays values;                                    ///< out and inout tensors after the run, declared types
  std::map<std::string, std::vector<double>> shadow; ///< the same in double arithmetic
  std::map<std::string, std::vector<double>> bound;  ///< first-order bound on |any legal evaluation - shadow|, >= 0
  std::map<std::string, std::vector<bool>> written;  ///< elements the program wrote
  std::vector<AccumulatorError> accumulators;       ///< of float tensors, locals too, that a sum or product reduces into
  std::int64_t instances = 0;
};
/// Sees every instance that the guards let through, in the order of the run.
class InstanceObserver {
 public:
  virtual ~InstanceObserver() = default;
  /// `statement`: its number in the program. `predicate_holds`: the instance has an effect.
  virtual void visit(std::size_t statement, const std::int64_t* iterators, bool predicate_holds) = 0;
};
/// Runs the program. `arguments` holds in, inout and out tensors and is not changed.
///
/// The bound covers: rounding of every operation in its declared type, any order of reductions where reassociation is
/// granted (n * eps * sum |terms|), contraction, `operand_rounding` on the products of sums, and math functions off by
/// 4 + `approx_ulp` units in the last place. It is 0 where every legal evaluation gives the same value, so integer-valued data
/// in float types compare exactly as long as no result needs rounding. Where rounding decides a branch (`x if a < b else y`), the
/// bound covers both branches; where it decides an overflow or a division by zero, the bound is infinite. It is first order:
/// an order of a product whose partial products overflow or underflow while the sequential ones do not is not covered.
/// Integer elements have a nonzero bound only where a float decided them.
///
/// @throws Errors(invalid_size) where `sizes` do not fit, more than `max_instances` would run, or the tensors would need more
///   than 8 GiB here; Errors(out_of_bounds) or Errors(uninitialised_read) with the instance as witness where the program does
///   what its frontend should have refused.
InterpreterResult interpret(const Program& program, const Sizes& sizes, const Arrays& arguments,
                            std::int64_t max_instances = std::int64_t(1) << 26, InstanceObserver* observer = nullptr);

/// One element that deviates.
struct Deviation {
  std::string tensor;
  std::vector<std::int64_t> index;
  double got, expected, allowed;  ///< |got - expected| > allowed; a mismatch for integers (allowed = 0 as a rule)
  std::string text() const;
};
/// Compares `got` (after a kernel's run) with the reference. Integers exactly (but see their bound above); floats against shadow +- bound (NaN equals
/// NaN, infinities equal themselves); elements not written must keep the bytes that they have in `arguments`.
/// At most `limit` deviations, in element order; `count` gets their true number.
std::vector<Deviation> compare(const Program& program, const InterpreterResult& reference, const Arrays& arguments,
                               const Arrays& got, std::size_t limit, std::int64_t* count);

}  // namespace tileopt
