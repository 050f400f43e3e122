/// Literals take the type of their context: checked to fit, floats rounded to the type once, here.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/expr.h"

namespace tileopt::tile_text {

/// `value` rounded to nearest even in `type`; nullopt where it overflows.
std::optional<double> round_real(double value, ElementType type);

/// The literal `value` (negated where asked) of `type`; nullopt where it does not fit. Integers beyond i64 (type u64) are
/// kept as the two's complement bit pattern.
std::optional<Literal> integer_literal(std::uint64_t value, bool negative, ElementType type);

}  // namespace tileopt::tile_text
