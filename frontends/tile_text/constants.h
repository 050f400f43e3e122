/// `const` parameters: sizes that are fixed before anything is checked.
#pragma once

#include <optional>

#include "frontends/tile_text/diagnostics.h"
#include "frontends/tile_text/tile_text.h"

namespace tileopt::tile_text {

/// `GROUP: const`, `GROUP: const = 64`
bool is_constant(const syntax::Parameter& parameter);

/// The function with a value for each of its `const` parameters: the one that is given, else its default. The names become literals
/// that are still printed as names, and the value becomes the default, so that the text of the result needs none. What is missing
/// or no size is reported (nullopt).
///   def f(A: f32[2 * G], G: const): ...    G = 64 ->    def f(A: f32[2 * 64], G: const = 64): ...
std::optional<syntax::Function> bind_constants(const syntax::Function& function, const ConstantValues& given, Diagnostics& diagnostics);

}  // namespace tileopt::tile_text
