#include "backends/c_common/pack_functions.h"

#include <set>

#include "backends/c_common/integer_c.h"
#include "backends/c_common/launcher.h"
#include "support/text.h"

namespace tileopt {

namespace {
/// The sizes that the argument's shape mentions, in the order of the launcher: weights are packed before other sizes are known.
std::vector<std::string> sizes_of(const TensorArgument& argument, const Signature& signature) {
  std::set<std::string> mentioned;
  for (const AstExprPtr& extent : argument.shape) collect_names(extent, mentioned);
  std::vector<std::string> sizes;
  for (const std::string& size : signature.sizes)
    if (mentioned.count(size) != 0) sizes.push_back(signature.names.value(size));
  return sizes;
}

std::string size_parameters(const TensorArgument& argument, const Signature& signature) {
  std::vector<std::string> parts;
  for (const std::string& size : sizes_of(argument, signature)) parts.push_back("int64_t " + size);
  return join(parts, ", ");
}

std::string function_name(const std::string& verb, const TensorArgument& argument, const Signature& signature) {
  return signature.function + "_" + verb + "_" + argument.name;
}

std::string bytes_prototype(const TensorArgument& argument, const Signature& signature) {
  const std::string sizes = size_parameters(argument, signature);
  return "int64_t " + function_name("packed_bytes", argument, signature) + "(" + (sizes.empty() ? "void" : sizes) + ")";
}

std::string pack_prototype(const TensorArgument& argument, const Signature& signature) {
  const std::string sizes = size_parameters(argument, signature), plain = storage_type_c(argument.element);
  return "int32_t " + function_name("pack", argument, signature) + "(" + sizes + (sizes.empty() ? "" : ", ") + "const " + plain + "* plain, uint8_t* packed)";
}

std::string unpack_prototype(const TensorArgument& argument, const Signature& signature) {
  const std::string sizes = size_parameters(argument, signature), plain = storage_type_c(argument.element);
  return "int32_t " + function_name("unpack", argument, signature) + "(" + sizes + (sizes.empty() ? "" : ", ") + "const uint8_t* packed, " + plain + "* plain)";
}

/// Extents with the last one in bytes.
std::vector<AstExprPtr> byte_shape(const TensorArgument& argument) {
  std::vector<AstExprPtr> shape = argument.shape;
  // Floor division: a negative extent stays one.
  shape.back() = fold(ast_operation(AstExpr::Kind::floor_div, {plus(shape.back(), 1), ast_integer(2)}));
  return shape;
}

/// For readers of C, who know no negative extents.
std::string bytes_text(const TensorArgument& argument) {
  std::vector<AstExprPtr> shape = argument.shape;
  shape.back() = fold(ast_operation(AstExpr::Kind::exact_div, {plus(shape.back(), 1), ast_integer(2)}));
  std::string text;
  for (const AstExprPtr& extent : shape) {
    const std::string factor = ast_expr_text(extent);
    text += (text.empty() ? "" : " * ") + (extent->arguments.empty() ? factor : "(" + factor + ")");
  }
  return text;
}

std::string integer_list(const std::vector<AstExprPtr>& values, const Signature& signature, Helpers& helpers) {
  std::vector<std::string> parts;
  for (const AstExprPtr& value : values) parts.push_back(integer_c(value, signature.names, helpers));
  return "(const int64_t[]){" + join(parts, ", ") + "}";
}

/// Sizes beyond the launcher's limit are refused here too, then what the byte count refuses.
std::string print_bytes(const TensorArgument& argument, const Signature& signature, Helpers& helpers) {
  std::string text = bytes_prototype(argument, signature) + " {\n";
  for (const std::string& size : sizes_of(argument, signature))
    text += "  if (" + size + " < 0 || " + size + " > INT64_C(" + std::to_string(kLargestSize) + ")) return -1;\n";
  return text + "  return " + packed_bytes_c(argument, signature, helpers) + ";\n}\n\n";
}

std::string print_body(const TensorArgument& argument, const Signature& signature, Helpers& helpers, const std::string& prototype,
                       const std::string& row) {
  const std::string type = storage_type_c(argument.element);
  std::string text = prototype + " {\n  const int64_t bytes = " + function_name("packed_bytes", argument, signature) + "(" +
                     join(sizes_of(argument, signature), ", ") + ");\n";
  text += "  if (bytes < 0) return 1;\n  if (bytes > 0 && (plain == NULL || packed == NULL)) return 2;\n";
  text += "  const int64_t n = " + integer_c(argument.shape.back(), signature.names, helpers) + ", row_bytes = n / 2 + n % 2;\n";
  text += "  for (int64_t at = 0; at < bytes; at += row_bytes, plain += n, packed += row_bytes)\n";
  return text + "    for (int64_t i = 0; i < n; ++i) " + row + "\n  return 0;\n}\n";
}
}  // namespace

std::vector<std::string> pack_prototypes(const Signature& signature) {
  std::vector<std::string> prototypes;
  for (const TensorArgument& argument : signature.arguments) {
    if (!argument.packed) continue;
    prototypes.push_back(bytes_prototype(argument, signature));
    prototypes.push_back(pack_prototype(argument, signature));
    prototypes.push_back(unpack_prototype(argument, signature));
  }
  return prototypes;
}

std::string print_pack_functions(const Signature& signature, Helpers& helpers) {
  std::string text;
  for (const TensorArgument& argument : signature.arguments) {
    if (!argument.packed) continue;
    text += "\n" + print_bytes(argument, signature, helpers);
    // The even element comes first and clears the byte, so the rest of an odd row is zero.
    text += print_body(argument, signature, helpers, pack_prototype(argument, signature),
                       "packed[i >> 1] = (uint8_t)(i % 2 == 0 ? plain[i] & 15 : packed[i >> 1] | (plain[i] & 15) << 4);") + "\n";
    const std::string load = "tileopt_packed_" + type_name(argument.element);
    helpers.use(load);
    text += print_body(argument, signature, helpers, unpack_prototype(argument, signature), "plain[i] = " + load + "(packed, i);");
  }
  return text;
}

std::string pack_functions_comment(const Signature& signature) {
  std::string text;
  for (const TensorArgument& argument : signature.arguments) {
    if (!argument.packed) continue;
    const std::string range = argument.element == ElementType::i4 ? "-8 to 7" : "0 to 15";
    text += " *\n * " + function_name("pack", argument, signature) + " packs " + argument.name + " from a dense row-major array of one byte an element (" + range +
            "; of\n *   other values the low four bits are taken), " + function_name("unpack", argument, signature) + " unpacks it. They return 0, 1 where\n" +
            " *   the sizes are refused, 2 where an array with elements is NULL. The arrays may not overlap.\n" +
            " * " + function_name("packed_bytes", argument, signature) + ": bytes of the packed array, -1 where the sizes are refused.\n";
  }
  return text;
}

std::string packed_layout_text(const TensorArgument& argument) {
  return "packed: two a byte along the last dimension, the one with the\n *     even subscript in the low four bits, rows padded to whole bytes; " + bytes_text(argument) + " bytes";
}

std::string packed_bytes_c(const TensorArgument& argument, const Signature& signature, Helpers& helpers) {
  return "tileopt_array_bytes(" + std::to_string(argument.shape.size()) + ", " + integer_list(byte_shape(argument), signature, helpers) + ", 1)";
}

}  // namespace tileopt
