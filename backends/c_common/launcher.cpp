#include "backends/c_common/launcher.h"

#include <algorithm>

#include "backends/c_common/integer_c.h"
#include "backends/c_common/pack_functions.h"
#include "support/text.h"

namespace tileopt {

namespace {
std::string size_parameters(const Signature& signature) {
  std::vector<std::string> parts;
  for (const std::string& size : signature.sizes) parts.push_back("int64_t " + signature.names.value(size));
  return parts.empty() ? "void" : join(parts, ", ");
}

std::string size_arguments(const Signature& signature) {
  std::vector<std::string> parts;
  for (const std::string& size : signature.sizes) parts.push_back(signature.names.value(size));
  return join(parts, ", ");
}

std::string argument_declaration(const TensorArgument& argument) {
  const std::string type = memory_type_c(argument);
  if (argument.by_value) return type + " " + argument.name;
  return (argument.role == TensorRole::in ? "const " : "") + type + "* " + argument.name;
}

std::vector<const TensorArgument*> pointers_of(const Signature& signature) {
  std::vector<const TensorArgument*> pointers;
  for (const TensorArgument& argument : signature.arguments)
    if (!argument.by_value) pointers.push_back(&argument);
  return pointers;
}

std::string measure_function(const Signature& signature) { return "tileopt_measure_" + signature.function; }

std::string integer_list(const std::vector<AstExprPtr>& values, const Signature& signature, Helpers& helpers) {
  std::vector<std::string> parts;
  for (const AstExprPtr& value : values) parts.push_back(integer_c(value, signature.names, helpers));
  return parts.empty() ? "NULL" : "(const int64_t[]){" + join(parts, ", ") + "}";
}

/// The call that gives an array's bytes: from the extents, and where there are any from the strides, slowest dimension first.
std::string array_bytes_call(const TensorArgument& argument, const Signature& signature, Helpers& helpers) {
  std::vector<AstExprPtr> shape, strides;
  for (const std::size_t d : argument.order) {
    shape.push_back(argument.shape[d]);
    if (!argument.strides.empty()) strides.push_back(argument.strides[d]);
  }
  if (argument.packed) return packed_bytes_c(argument, signature, helpers);
  const std::string rank = std::to_string(shape.size()), element = std::to_string(size_bytes(argument.element));
  const std::string extents = integer_list(shape, signature, helpers);
  if (strides.empty()) return "tileopt_array_bytes(" + rank + ", " + extents + ", " + element + ")";
  return "tileopt_strided_bytes(" + rank + ", " + extents + ", " + integer_list(strides, signature, helpers) + ", " + element + ")";
}

const char* const strided_bytes_text = R"(/* Bytes from the first to the last element, slowest dimension first; -1 for a negative extent, a stride below 1, or one that
   lets elements overlap, and for sums beyond 64 bits. */
static int64_t tileopt_strided_bytes(int rank, const int64_t* shape, const int64_t* strides, int64_t element) {
  int64_t last = 0, least = 1;
  int empty = 0;
  for (int d = rank - 1; d >= 0; --d) {
    if (shape[d] < 0 || strides[d] < least) return -1;
    if (shape[d] > 0 && strides[d] > INT64_MAX / shape[d]) return -1;
    least = shape[d] > 0 ? strides[d] * shape[d] : 1;
    if (shape[d] == 0) empty = 1;
    else if (strides[d] * (shape[d] - 1) > INT64_MAX / element - 1 - last) return -1;
    else last += strides[d] * (shape[d] - 1);
  }
  return empty ? 0 : (last + 1) * element;
}

)";

const char* const array_bytes_text = R"(/* Bytes of a dense array; -1 for a negative extent or a product beyond 64 bits. */
static int64_t tileopt_array_bytes(int rank, const int64_t* shape, int64_t element) {
  int64_t product = element;
  int empty = 0;
  for (int d = rank - 1; d >= 0; --d) {
    if (shape[d] < 0) return -1;
    if (shape[d] == 0) empty = 1;
    else if (product > INT64_MAX / shape[d]) return -1;
    else product *= shape[d];
  }
  return empty ? 0 : product;
}

)";

const char* const reserve_text = R"(/* End of `bytes` more bytes of workspace, rounded up to the alignment; -1 beyond 64 bits. */
static int64_t tileopt_reserve(int64_t end, int64_t bytes) {
  return end < 0 || bytes > INT64_MAX - 255 - end ? -1 : (end + bytes + 255) / 256 * 256;
}

)";

const char* const overlap_text = R"(static int tileopt_overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) {
  const uintptr_t first = (uintptr_t)a;
  const uintptr_t second = (uintptr_t)b;
  if (a_bytes == 0 || b_bytes == 0) return 0;
  return first < second ? second - first < (uintptr_t)a_bytes : first - second < (uintptr_t)b_bytes;
}

)";

const char* const check_arrays_text = R"(/* 0, or the launcher's code for null, misaligned or overlapping arrays. */
static int32_t tileopt_check_arrays(int count, const void* const* arrays, const int64_t* bytes, const unsigned char* elements,
                                    const unsigned char* written) {
  for (int i = 0; i < count; ++i)
    if (bytes[i] > 0 && arrays[i] == NULL) return 2;
  for (int i = 0; i < count; ++i)
    if ((uintptr_t)arrays[i] % elements[i] != 0) return 3;
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < i; ++j)
      if ((written[i] || written[j]) && tileopt_overlap(arrays[i], bytes[i], arrays[j], bytes[j])) return 4;
  return 0;
}

)";

long promoted_bytes(const std::vector<KernelCall>& kernels) {
  long bytes = 0;
  for (const KernelCall& kernel : kernels) bytes = std::max(bytes, kernel.workspace_bytes);
  return bytes;
}

/// Checks the sizes; fills the bytes of every pointer argument and the offsets of locals and promoted arrays.
std::string print_measure(const Signature& signature, const std::vector<KernelCall>& kernels, Helpers& helpers) {
  std::string parameters = size_parameters(signature);
  if (parameters == "void") parameters.clear();
  else parameters += ", ";
  std::string text = "/* Bytes of workspace; -1 where a size is refused. bytes: of each pointer argument; offsets: of each local array,\n"
                     "   then of the kernels' own arrays. */\n";
  text += "static int64_t " + measure_function(signature) + "(" + parameters + "int64_t* tileopt_bytes, int64_t* tileopt_offsets) {\n";
  for (const std::string& size : signature.sizes) {
    const std::string& name = signature.names.value(size);
    text += "  if (" + name + " < -INT64_C(" + std::to_string(kLargestSize) + ") || " + name + " > INT64_C(" + std::to_string(kLargestSize) +
            ")) return -1;\n";
  }
  if (!is_constant(fold(signature.context), 1)) text += "  if (!(" + integer_c(signature.context, signature.names, helpers) + ")) return -1;\n";
  int position = 0;
  for (const TensorArgument* pointer : pointers_of(signature)) {
    const std::string slot = "tileopt_bytes[" + std::to_string(position++) + "]";
    text += "  " + slot + " = " + array_bytes_call(*pointer, signature, helpers) + ";\n  if (" + slot + " < 0) return -1;\n";
  }
  text += "  int64_t tileopt_end = 0;\n";
  position = 0;
  if (!signature.locals.empty()) text += "  int64_t tileopt_size;\n";
  for (const TensorArgument& local : signature.locals) {
    text += "  tileopt_offsets[" + std::to_string(position++) + "] = tileopt_end;\n";
    text += "  tileopt_size = " + array_bytes_call(local, signature, helpers) + ";\n  if (tileopt_size < 0) return -1;\n";
    text += "  tileopt_end = tileopt_reserve(tileopt_end, tileopt_size);\n  if (tileopt_end < 0) return -1;\n";
  }
  text += "  tileopt_offsets[" + std::to_string(position) + "] = tileopt_end;\n";
  text += "  tileopt_end = tileopt_reserve(tileopt_end, " + std::to_string(promoted_bytes(kernels)) + ");\n";
  if (pointers_of(signature).empty()) text += "  (void)tileopt_bytes;\n";
  text += "  return tileopt_end;\n}\n\n";
  return text;
}

std::string measure_call(const Signature& signature) {
  const std::string sizes = size_arguments(signature);
  return measure_function(signature) + "(" + sizes + (sizes.empty() ? "" : ", ") + "tileopt_bytes, tileopt_offsets)";
}

std::string measure_storage(const Signature& signature) {
  const std::size_t pointers = std::max<std::size_t>(1, pointers_of(signature).size());
  return "  int64_t tileopt_bytes[" + std::to_string(pointers) + "];\n  int64_t tileopt_offsets[" + std::to_string(signature.locals.size() + 1) + "];\n";
}

/// A list of one entry for each pointer argument.
template <class Entry>
std::string pointer_table(const Signature& signature, Entry&& entry) {
  std::vector<std::string> parts;
  for (const TensorArgument* pointer : pointers_of(signature)) parts.push_back(entry(*pointer));
  return "{" + join(parts, ", ") + "}";
}

/// Bytes that the start of an argument must be a multiple of.
std::string alignment_text(const TensorArgument& argument, const Signature& signature, Helpers& helpers) {
  const long element = size_bytes(argument.element), whole = std::max<long>(element, argument.alignment);
  if (argument.aligned_when == nullptr || whole == element) return std::to_string(whole);
  return "(unsigned char)(" + integer_c(argument.aligned_when, signature.names, helpers) + " ? " + std::to_string(whole) + " : " + std::to_string(element) + ")";
}

std::string print_pointer_checks(const Signature& signature, Helpers& helpers) {
  const std::vector<const TensorArgument*> pointers = pointers_of(signature);
  const std::string count = std::to_string(pointers.size());
  if (count == "0") return "";
  const bool of_sizes = std::any_of(pointers.begin(), pointers.end(), [](const TensorArgument* a) { return a->aligned_when != nullptr; });
  std::string text;
  text += "  const void* const tileopt_arrays[" + count + "] = " + pointer_table(signature, [](const TensorArgument& a) { return a.name; }) + ";\n";
  text += std::string("  ") + (of_sizes ? "" : "static ") + "const unsigned char tileopt_elements[" + count + "] = " +
          pointer_table(signature, [&](const TensorArgument& a) { return alignment_text(a, signature, helpers); }) + ";\n";
  text += "  static const unsigned char tileopt_written[" + count + "] = " +
          pointer_table(signature, [](const TensorArgument& a) { return std::string(a.written() ? "1" : "0"); }) + ";\n";
  text += "  const int32_t tileopt_refused = tileopt_check_arrays(" + count + ", tileopt_arrays, tileopt_bytes, tileopt_elements, tileopt_written);\n";
  return text + "  if (tileopt_refused != 0) return tileopt_refused;\n";
}

std::string print_workspace_checks(const Signature& signature) {
  std::string text = "  if (tileopt_total > 0 && (workspace == NULL || (uintptr_t)workspace % " + std::to_string(kWorkspaceAlignment) + " != 0)) return 5;\n";
  const std::string count = std::to_string(pointers_of(signature).size());
  if (count != "0")
    text += "  for (int i = 0; i < " + count + "; ++i)\n"
            "    if (tileopt_overlap(tileopt_arrays[i], tileopt_bytes[i], workspace, tileopt_total)) return 4;\n";
  return text;
}

}  // namespace

std::vector<std::string> kernel_arguments(const KernelCall& kernel, const Signature& signature) {
  std::vector<std::string> parts;
  for (const std::string& size : kernel.sizes) parts.push_back(signature.names.value(size));
  for (const std::string& tensor : kernel.tensors) {
    std::string text = signature.names.array(tensor);
    for (std::size_t i = 0; i < signature.locals.size(); ++i)
      if (signature.locals[i].tensor == tensor)
        text = "(" + storage_type_c(signature.locals[i].element) + "*)(void*)((unsigned char*)workspace + tileopt_offsets[" + std::to_string(i) + "])";
    parts.push_back(text);
  }
  if (kernel.workspace_bytes > 0)
    parts.push_back("(unsigned char*)workspace + tileopt_offsets[" + std::to_string(signature.locals.size()) + "]");
  return parts;
}

namespace {

std::string shape_text(const TensorArgument& argument) {
  if (argument.shape.empty()) return argument.by_value ? "a value" : "one element";
  std::string text;
  for (const AstExprPtr& extent : argument.shape) text += "[" + ast_expr_text(extent) + "]";
  return text;
}

/// Elements between neighbours along each dimension: products of the extents of faster ones, or what the layout says.
std::string strides_text(const TensorArgument& argument) {
  std::vector<std::string> texts(argument.shape.size());
  for (std::size_t d = 0; d < argument.strides.size(); ++d) texts[d] = ast_expr_text(argument.strides[d]);
  std::string product;
  for (std::size_t place = argument.order.size(); place-- > 0 && argument.strides.empty();) {
    const std::size_t d = argument.order[place];
    texts[d] = product.empty() ? "1" : product;
    std::string factor = ast_expr_text(argument.shape[d]);
    if (!argument.shape[d]->arguments.empty()) factor = "(" + factor + ")";
    product = product.empty() ? factor : factor + " * " + product;
  }
  return join(texts, ", ");
}

std::string layout_text(const TensorArgument& argument) {
  if (argument.shape.empty()) return "";
  if (argument.packed) return ", " + packed_layout_text(argument);
  return ", strides " + strides_text(argument);
}

std::string role_text(TensorRole role) {
  switch (role) {
    case TensorRole::in: return "read";
    case TensorRole::out: return "written; elements that the program does not write keep their values";
    case TensorRole::inout: return "read and written";
    case TensorRole::local: return "local";
  }
  return "";
}

std::string element_text(ElementType type) {
  if (type == ElementType::tf32) return "tf32 (a float; others are rounded to it when read)";
  return type_name(type) + (is_narrow_float(type) ? " (its " + std::to_string(8 * size_bytes(type)) + " bits)" : "");
}
}  // namespace

std::string launcher_prototype(const Signature& signature, const std::string& last) {
  std::vector<std::string> parts;
  for (const std::string& size : signature.sizes) parts.push_back("int64_t " + signature.names.value(size));
  for (const TensorArgument& argument : signature.arguments) parts.push_back(argument_declaration(argument));
  parts.push_back("void* workspace");
  if (!last.empty()) parts.push_back(last);
  return "int32_t " + signature.function + "(" + join(parts, ", ") + ")";
}

std::string workspace_prototype(const Signature& signature) {
  return "int64_t " + signature.function + "_workspace_bytes(" + size_parameters(signature) + ")";
}

std::string print_launch_checks(const Signature& signature, const std::vector<KernelCall>& kernels, Helpers& helpers, const std::string& linkage) {
  std::string text = std::string(array_bytes_text) + reserve_text;
  const auto& arguments = signature.arguments;
  if (std::any_of(arguments.begin(), arguments.end(), [](const TensorArgument& a) { return !a.strides.empty(); })) text += strided_bytes_text;
  if (!pointers_of(signature).empty()) text += std::string(overlap_text) + check_arrays_text;
  text += print_measure(signature, kernels, helpers);
  return text + linkage + workspace_prototype(signature) + " {\n" + measure_storage(signature) + "  return " + measure_call(signature) + ";\n}\n\n";
}

std::string print_refusals(const Signature& signature, Helpers& helpers) {
  std::string text = measure_storage(signature);
  text += "  const int64_t tileopt_total = " + measure_call(signature) + ";\n  if (tileopt_total < 0) return 1;\n";
  return text + print_pointer_checks(signature, helpers) + print_workspace_checks(signature);
}

std::string print_launcher(const Signature& signature, const std::vector<KernelCall>& kernels, Helpers& helpers) {
  std::string text = print_launch_checks(signature, kernels, helpers) + launcher_prototype(signature) + " {\n" + print_refusals(signature, helpers);
  for (const KernelCall& kernel : kernels) text += "  " + kernel.function + "(" + join(kernel_arguments(kernel, signature), ", ") + ");\n";
  return text + "  return 0;\n}\n" + print_pack_functions(signature, helpers);
}

std::string print_header(const Signature& signature, const std::string& title, const HeaderForm& form) {
  std::string guard = "TILEOPT_GENERATED_" + signature.function + "_H";
  std::string text = "/* " + title + "\n *\n";
  const std::string condition = ast_expr_text(signature.context);
  if (condition != "1") text += " * Sizes: " + condition + "\n *\n";
  const bool dense = std::all_of(signature.arguments.begin(), signature.arguments.end(), is_dense_row_major);
  text += dense ? " * Arrays are dense and row-major. Shapes, and strides in elements:\n"
                : " * Shapes of the arrays, and where their elements lie (strides are counted in elements):\n";
  for (const TensorArgument& argument : signature.arguments) {
    text += " *   " + argument.name + ": " + element_text(argument.element) + " " + shape_text(argument);
    text += layout_text(argument) + ", " + role_text(argument.role) + (argument.alignment == 0 ? "" : "; starts at a multiple of " + std::to_string(argument.alignment) + " bytes" + (argument.aligned_when == nullptr ? "" : " where " + ast_expr_text(argument.aligned_when))) + "\n";
  }
  const bool has_strides = std::any_of(signature.arguments.begin(), signature.arguments.end(), [](const TensorArgument& a) { return !a.strides.empty(); });
  const std::string strided = has_strides ? ",\n *      or a stride is less than 1 or lets elements overlap" : "";
  const bool has_alignment = std::any_of(signature.arguments.begin(), signature.arguments.end(), [](const TensorArgument& a) { return a.alignment > 0; });
  const std::string aligned = has_alignment ? ", or not to the bytes above" : "";
  if (has_strides) text += " * Strides are at least 1, and at least the stride times the extent of the next faster dimension.\n";
  text += " * Alignment: every array to its element, the workspace to " + std::to_string(kWorkspaceAlignment) + " bytes.\n"
          " * Written arrays may not overlap any other argument. Arrays without elements may be NULL.\n *\n"
          " * " + signature.function + "_workspace_bytes: bytes that `workspace` must hold (0: it may be NULL); -1 where " +
          "the sizes are refused.\n *\n"
          " * " + signature.function + " returns\n"
          " *   0  done\n"
          " *   1  a size violates the program's constraints, an extent is negative or a byte count exceeds 64 bits" + strided + "\n"
          " *   2  an array with elements is NULL\n"
          " *   3  an array is not aligned to its element" + aligned + "\n"
          " *   4  a written array or the workspace overlaps another argument\n"
          " *   5  the workspace is NULL or misaligned while bytes are needed\n" + form.notes +
          " * and touches no array unless it returns 0. Integer division and remainder by zero give 0.\n" + pack_functions_comment(signature) + " */\n";
  text += "#ifndef " + guard + "\n#define " + guard + "\n\n" + form.prelude + "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  text += workspace_prototype(signature) + ";\n\n" + launcher_prototype(signature, form.last) + ";\n\n";
  for (const std::string& prototype : pack_prototypes(signature)) text += prototype + ";\n\n";
  text += "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return text;
}

}  // namespace tileopt
