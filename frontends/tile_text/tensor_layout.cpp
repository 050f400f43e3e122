#include "frontends/tile_text/tensor_layout.h"

#include <algorithm>
#include <numeric>

#include "frontends/tile_text/affine.h"
#include "frontends/tile_text/printer.h"
#include "support/text.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;

namespace {

std::string head_of(const ExpressionPtr& type) {
  const auto* subscript = syntax::as<syntax::Subscript>(type);
  const auto* name = subscript ? syntax::as<syntax::Name>(subscript->base) : nullptr;
  return name ? name->name : "";
}

/// What stands in the brackets beside the type.
std::vector<ExpressionPtr> take_word(ExpressionPtr& type, ExpressionPtr& word) {
  const auto* subscript = syntax::as<syntax::Subscript>(type);
  std::vector<ExpressionPtr> rest(subscript->indices.begin() + 1, subscript->indices.end());
  word = type;
  type = subscript->indices.front();
  return rest;
}

class LayoutReader {
 public:
  LayoutReader(Scope& scope, const WrittenLayout& written, const syntax::Parameter& parameter, const Tensor& tensor, isl::set& context)
      : scope_(scope), written_(written), parameter_(parameter), tensor_(tensor), context_(context) {}

  std::optional<Layout> read() {
    if (written_.packed) return read_packed();
    if (is_four_bit())
      return reject(ErrorCode::type_mismatch, written_.type->where, "a parameter of " + type_name(tensor_.type) + " has to be packed",
                    rank() == 0 ? "pass it as " + byte_type() + " and cast it" : "write `" + parameter_.name + ": packed[" + print(written_.type) + "]`");
    if (rank() == 0 && !written_.plain())
      return reject(ErrorCode::type_mismatch, (written_.strided ? written_.strided : written_.permuted)->where, "a scalar has no layout",
                    "write `" + parameter_.name + ": " + print(written_.type) + "`");
    Layout layout;
    if (written_.permuted && !read_order(layout)) return std::nullopt;
    if (written_.strided && !read_strides(layout)) return std::nullopt;
    return layout;
  }

 private:
  std::size_t rank() const { return tensor_.shape.size(); }
  bool is_four_bit() const { return tensor_.type == ElementType::i4 || tensor_.type == ElementType::u4; }

  std::string byte_type() const { return tensor_.type == ElementType::i4 ? "i8" : "u8"; }

  std::nullopt_t reject(ErrorCode code, syntax::Position where, const std::string& message, const std::string& hint) {
    scope_.diagnostics().add(code, where, message, hint);
    return std::nullopt;
  }

  std::optional<Layout> read_packed() {
    const syntax::Position where = written_.packed->where;
    const std::string plain = print(written_.type);
    if (syntax::as<syntax::Subscript>(written_.packed)->indices.size() != 1)
      return reject(ErrorCode::type_mismatch, where, "`packed` takes a type and nothing else", "write `packed[" + plain + "]`");
    if (!is_four_bit())
      return reject(ErrorCode::type_mismatch, where, "`packed` is for i4 and u4, not for " + type_name(tensor_.type),
                    "write `" + plain + "`: elements of a byte or more lie side by side anyway");
    if (rank() == 0)
      return reject(ErrorCode::type_mismatch, where, "a scalar cannot be packed", "pass it as " + byte_type() + " and cast it, or give `" + parameter_.name + "` an extent");
    if (tensor_.role != TensorRole::in)
      return reject(ErrorCode::unsupported, where, "a packed tensor cannot be written: two elements share a byte, and two threads may own them",
                    "write a tensor of " + byte_type() + " and pack it afterwards");
    Layout layout;
    layout.packed = true;
    return layout;
  }

  bool read_order(Layout& layout) {
    const std::string example = "`permuted[" + print(written_.type) + ", " + reversed_dims() + "]`";
    std::vector<bool> named(rank(), false);
    for (const ExpressionPtr& place : written_.order) {
      const auto* number = syntax::as<syntax::IntegerLiteral>(place);
      if (number == nullptr || number->value >= rank()) {
        reject(ErrorCode::shape_mismatch, place->where, "`" + print(place) + "` is no dimension of `" + print(written_.type) + "`",
               "number the dimensions from 0, slowest first: " + example);
        return false;
      }
      const auto d = static_cast<std::size_t>(number->value);
      if (named[d]) {
        reject(ErrorCode::shape_mismatch, place->where, "dimension " + std::to_string(d) + " is named twice", "name every dimension once: " + example);
        return false;
      }
      named[d] = true;
      layout.order.push_back(d);
    }
    if (layout.order.size() == rank()) return true;
    reject(ErrorCode::shape_mismatch, written_.permuted->where,
           "`permuted` names " + std::to_string(layout.order.size()) + " of " + std::to_string(rank()) + " dimensions", "name all, slowest first: " + example);
    return false;
  }

  std::string reversed_dims() const {
    std::vector<std::string> dims;
    for (std::size_t d = rank(); d-- > 0;) dims.push_back(std::to_string(d));
    return join(dims, ", ");
  }

  bool read_strides(Layout& layout) {
    if (written_.strides.size() != rank()) {
      reject(ErrorCode::shape_mismatch, written_.strided->where,
             "`" + print(written_.type) + "` has " + std::to_string(rank()) + (rank() == 1 ? " dimension" : " dimensions") + ", but " +
                 std::to_string(written_.strides.size()) + (written_.strides.size() == 1 ? " stride is given" : " strides are given"),
             "give the stride of every dimension, in elements: `strided[f32[M, K], lda, 1]`");
      return false;
    }
    for (const ExpressionPtr& stride : written_.strides) {
      AffineReader reader(scope_, AffineRole::stride);
      const std::optional<isl::pw_aff> value = reader.value(stride);
      if (!value) return false;
      const std::optional<long> constant = poly::constant_of(*value);
      if (constant && *constant < 1) {
        reject(ErrorCode::shape_mismatch, stride->where, "the stride " + print(stride) + " is less than 1", "strides count elements and are at least 1");
        return false;
      }
      layout.strides.push_back(*value);
    }
    return choose_order(layout) && bound_sizes(layout);
  }

  bool has_unit_stride(const Layout& layout, std::size_t d) const { return poly::constant_of(layout.strides[d]) == 1; }

  /// Without `permuted` a dimension of stride 1 is the fastest, the others are as declared.
  bool choose_order(Layout& layout) {
    for (std::size_t d = 0; d < rank(); ++d)
      for (std::size_t other = 0; other < d; ++other)
        if (layout.strides[d].sub(layout.strides[other]).ne_set(layout.strides[d].sub(layout.strides[d])).is_empty()) {
          reject(ErrorCode::shape_mismatch, written_.strides[d]->where,
                 "dimensions " + std::to_string(other) + " and " + std::to_string(d) + " have the same stride, so their elements overlap",
                 "give each dimension a stride of its own: `strided[f32[M, K], lda, 1]`");
          return false;
        }
    if (layout.order.empty()) {
      layout.order.resize(rank());
      std::iota(layout.order.begin(), layout.order.end(), std::size_t{0});
      std::stable_partition(layout.order.begin(), layout.order.end(), [&](std::size_t d) { return !has_unit_stride(layout, d); });
      return true;
    }
    for (const std::size_t d : layout.order) {
      if (d == layout.order.back() || !has_unit_stride(layout, d)) continue;
      reject(ErrorCode::shape_mismatch, written_.strides[d]->where,
             "dimension " + std::to_string(d) + " has stride 1, but `permuted` makes dimension " + std::to_string(layout.order.back()) + " the fastest",
             "let both say the same; dimensions are named from the slowest to the fastest");
      return false;
    }
    return true;
  }

  /// Strides are positive, and elements do not overlap. What is not affine is left to those who know the sizes.
  bool bound_sizes(const Layout& layout) {
    for (std::size_t place = rank(); place-- > 0;) {
      const std::size_t d = layout.order[place];
      const isl::pw_aff& stride = layout.strides[d];
      const isl::pw_aff zero = stride.sub(stride);
      isl::set allowed = context_.intersect(stride.gt_set(zero));
      if (place + 1 < rank()) {
        const std::size_t faster = layout.order[place + 1];
        const bool affine = poly::constant_of(layout.strides[faster]) || poly::constant_of(tensor_.shape[faster]);
        if (affine) allowed = allowed.intersect(stride.ge_set(layout.strides[faster].mul(tensor_.shape[faster])));
      }
      if (allowed.is_empty()) {
        reject(ErrorCode::shape_mismatch, written_.strides[d]->where,
               "the stride " + print(written_.strides[d]) + " of dimension " + std::to_string(d) + " is too small: its elements overlap",
               "use at least the stride times the extent of the next faster dimension");
        return false;
      }
      context_ = allowed;
    }
    return true;
  }

  Scope& scope_;
  const WrittenLayout& written_;
  const syntax::Parameter& parameter_;
  const Tensor& tensor_;
  isl::set& context_;
};

}  // namespace

bool is_layout_word(const std::string& name) { return name == "packed" || name == "permuted" || name == "strided"; }

WrittenLayout take_layout(const ExpressionPtr& type) {
  WrittenLayout written;
  written.type = type;
  if (head_of(written.type) == "packed") {
    take_word(written.type, written.packed);
    return written;
  }
  if (head_of(written.type) == "strided") written.strides = take_word(written.type, written.strided);
  if (head_of(written.type) == "permuted") written.order = take_word(written.type, written.permuted);
  return written;
}

std::optional<Layout> read_layout(Scope& scope, const WrittenLayout& written, const syntax::Parameter& parameter, const Tensor& tensor,
                                  isl::set& context) {
  return LayoutReader(scope, written, parameter, tensor, context).read();
}

}  // namespace tileopt::tile_text
