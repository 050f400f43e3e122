#include "backends/c_common/signature.h"

#include <set>

#include "backends/c_common/integer_c.h"
#include "backends/c_common/parameter_expr.h"

namespace tileopt {

namespace {
/// Functions of the C library, which a global of the same name would replace at link time (or that compilers know by heart).
const std::set<std::string>& library_functions() {
  static const std::set<std::string> names = {
      "abs", "abort", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "atexit", "bcmp", "bcopy", "bind", "bsearch",
      "bzero", "calloc", "cbrt", "ceil", "clock", "close", "connect", "copysign", "cos", "cosh", "div", "drem", "environ", "erf",
      "erfc", "exit", "exp", "exp10", "exp2", "expm1", "fabs", "fdim", "ffs", "floor", "fma", "fmax", "fmin", "fmod", "fork",
      "free", "frexp", "gamma", "getenv", "hypot", "ilogb", "index", "j0", "j1", "jn", "kill", "labs", "ldexp", "ldiv", "lgamma",
      "link", "listen", "log", "log10", "log1p", "log2", "logb", "lrint", "lround", "malloc", "memchr", "memcmp", "memcpy",
      "memmove", "memset", "modf", "nan", "nearbyint", "nextafter", "open", "optarg", "pause", "perror", "pipe", "pow", "printf",
      "putc", "puts", "qsort", "raise", "rand", "random", "read", "realloc", "remainder", "remove", "remquo", "rename", "rindex",
      "rint", "round", "scalb", "scalbln", "scalbn", "scanf", "select", "send", "setjmp", "signal", "significand", "sin", "sinh",
      "sleep", "socket", "sqrt", "srand", "stat", "stderr", "stdin", "stdout", "strcmp", "strlen", "sync", "system", "tan", "tanh",
      "tgamma", "time", "times", "trunc", "wait", "write", "y0", "y1", "yn"};
  return names;
}

TensorArgument make_argument(const Tensor& tensor, CNames& names) {
  TensorArgument argument;
  argument.tensor = tensor.name;
  argument.name = names.declare_array(tensor.name);
  argument.element = tensor.type;
  argument.role = tensor.role;
  for (const isl::pw_aff& extent : tensor.shape) argument.shape.push_back(expr_of(extent));
  argument.order = tensor.storage_order();
  for (const isl::pw_aff& stride : tensor.layout.strides) argument.strides.push_back(expr_of(stride));
  argument.packed = tensor.layout.packed;
  argument.by_value = tensor.role == TensorRole::in && tensor.shape.empty();
  return argument;
}

/// Elements from one row of packed ones to the next: an even number.
AstExprPtr packed_row(const TensorArgument& argument) {
  const AstExprPtr bytes = ast_operation(AstExpr::Kind::exact_div, {plus(argument.shape.back(), 1), ast_integer(2)});
  return fold(ast_operation(AstExpr::Kind::mul, {ast_integer(2), bytes}));
}

std::set<std::string> used_arrays(const std::vector<Ast>& kernels) {
  std::set<std::string> used;
  for (const Ast& kernel : kernels) {
    for (const auto& [name, statement] : kernel.statements) {
      used.insert(statement.write_array);
      used.insert(statement.read_arrays.begin(), statement.read_arrays.end());
    }
  }
  return used;
}
}  // namespace

std::vector<AstExprPtr> element_strides(const TensorArgument& argument) {
  if (!argument.strides.empty()) return argument.strides;
  std::vector<AstExprPtr> strides(argument.shape.size());
  AstExprPtr run = ast_integer(1);
  for (std::size_t place = argument.order.size(); place-- > 0;) {
    const std::size_t d = argument.order[place];
    strides[d] = run;
    const bool row = argument.packed && place + 1 == argument.order.size();
    run = product_of(run, row ? packed_row(argument) : fold(argument.shape[d]));
  }
  return strides;
}

bool is_dense_row_major(const TensorArgument& argument) {
  for (std::size_t d = 0; d < argument.order.size(); ++d)
    if (argument.order[d] != d) return false;
  return argument.strides.empty() && !argument.packed;
}

std::string memory_type_c(const TensorArgument& argument) { return argument.packed ? "uint8_t" : storage_type_c(argument.element); }

const TensorArgument* Signature::find(const std::string& tensor) const {
  for (const TensorArgument& argument : arguments)
    if (argument.tensor == tensor) return &argument;
  for (const TensorArgument& local : locals)
    if (local.tensor == tensor) return &local;
  return nullptr;
}

std::string function_name_of(const Program& program) {
  const std::string& name = program.name();
  return is_reserved_in_c(name) || library_functions().count(name) != 0 ? "tile_" + name : name;
}

namespace {

bool copies_boxes_of(const Ast& ast, const std::string& tensor) {
  return std::any_of(ast.statements.begin(), ast.statements.end(), [&](const auto& entry) {
    const AstStatement& statement = entry.second;
    return statement.kind == "copy_in" && !statement.signal.empty() && statement.read_arrays.front() == tensor;
  });
}

/// For the sizes of the kernels that want it.
void align(TensorArgument& argument, const std::vector<Ast>& kernels) {
  bool always = false;
  for (const Ast& ast : kernels) {
    if (!copies_boxes_of(ast, argument.tensor)) continue;
    argument.alignment = kBoxAlignment;
    const auto* test = ast.when.empty() || ast.root == nullptr ? nullptr : std::get_if<AstIf>(&ast.root->node);
    always = always || test == nullptr;
    if (!always) argument.aligned_when = argument.aligned_when == nullptr ? test->condition : ast_operation(AstExpr::Kind::logical_or, {argument.aligned_when, test->condition});
  }
  if (always) argument.aligned_when = nullptr;
}

}  // namespace

Signature make_signature(const Program& program, const std::vector<Ast>& kernels) {
  Signature signature;
  signature.function = function_name_of(program);
  signature.sizes = program.parameters();
  for (const std::string& size : signature.sizes) signature.names.declare_value(size);
  signature.context = condition_of(program.context());
  for (const Tensor& tensor : program.tensors())
    if (tensor.role != TensorRole::local) signature.arguments.push_back(make_argument(tensor, signature.names));
  const std::set<std::string> used = used_arrays(kernels);
  for (const Tensor& tensor : program.tensors())
    if (tensor.role == TensorRole::local && used.count(tensor.name) != 0)
      signature.locals.push_back(make_argument(tensor, signature.names));
  // Engines that copy boxes want tensors to start at whole pieces.
  for (TensorArgument& argument : signature.arguments) align(argument, kernels);
  return signature;
}

}  // namespace tileopt
