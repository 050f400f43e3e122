/// How an argument lies in memory, as it is written around its type: `packed[i4[N, K]]`, `permuted[f32[M, K], 1, 0]`,
/// `strided[f32[M, K], lda, 1]`, `strided[permuted[f32[B, M, K], 1, 0, 2], sb, lda, 1]`.
#pragma once

#include <optional>
#include <vector>

#include "frontends/tile_text/scope.h"

namespace tileopt::tile_text {

/// The words around a type, taken apart; what they mean is not checked yet.
struct WrittenLayout {
  syntax::ExpressionPtr type;                     ///< what is inside
  syntax::ExpressionPtr packed;                   ///< the whole `packed[...]`, or null; the next two likewise
  syntax::ExpressionPtr permuted, strided;
  std::vector<syntax::ExpressionPtr> order;       ///< of `permuted`
  std::vector<syntax::ExpressionPtr> strides;     ///< of `strided`
  bool plain() const { return !packed && !permuted && !strided; }
};

/// True for `packed`, `permuted` and `strided`.
bool is_layout_word(const std::string& name);

/// Takes the words off that stand in their order: `strided` around `permuted` around the type, or `packed` around it.
WrittenLayout take_layout(const syntax::ExpressionPtr& type);

/// The layout of `tensor`, whose type, role and shape are known; facts about its strides that are affine narrow `context`.
/// nullopt: reported.
std::optional<Layout> read_layout(Scope& scope, const WrittenLayout& written, const syntax::Parameter& parameter, const Tensor& tensor,
                                  isl::set& context);

}  // namespace tileopt::tile_text
