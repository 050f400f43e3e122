/// The head of a function: parameters, sizes, context, numerics.
#pragma once

#include <optional>

#include "frontends/tile_text/scope.h"

namespace tileopt::tile_text {

/// A written type: `f32[M, N]` is {f32, [M, N]}.
struct WrittenType {
  ElementType element;
  std::vector<syntax::ExpressionPtr> extents;
};
/// A type without extents, `f32` or `tuple[f32, i64]`; nullopt: it is none, nothing is reported.
std::optional<ElementType> read_element_type(const syntax::ExpressionPtr& expression);
/// Reports what is no tensor type.
std::optional<WrittenType> read_type(Scope& scope, const syntax::ExpressionPtr& expression);

/// Extents as functions of the sizes; a negative constant is reported. nullopt: reported.
std::optional<std::vector<isl::pw_aff>> read_extents(Scope& scope, const WrittenType& type);

/// Declares all parameters, then builds the context: sizes and extents are not negative, and every top-level
/// `assume(...)` of the body holds. Contradictions are reported.
void read_signature(Scope& scope, const syntax::Function& function);

/// `@numerics(...)`; other decorators are reported.
Numerics read_numerics(const syntax::Function& function, Diagnostics& diagnostics);

/// True for `assume(...)`.
bool is_assume(const syntax::ExpressionPtr& expression);

}  // namespace tileopt::tile_text
