#include "backends/runner/call_arguments.h"

#include "backends/c_common/integer_c.h"
#include "support/error.h"
#include "support/text.h"

namespace tileopt {

namespace {
[[noreturn]] void fail_arguments(const std::string& message) {
  throw Errors(Diagnostic{ErrorCode::invalid_size, {}, message, "arguments are built by make_arguments for the same sizes", ""});
}
}  // namespace

std::vector<std::int64_t> size_values(const Signature& signature, const Sizes& sizes) {
  std::vector<std::int64_t> values;
  for (const std::string& size : signature.sizes) {
    const auto found = sizes.find(size);
    if (found == sizes.end()) fail_arguments("no value for size " + size);
    values.push_back(found->second);
  }
  return values;
}

const HostArray& array_for(const TensorArgument& argument, const Arrays& arrays, const Sizes& sizes) {
  const auto found = arrays.find(argument.tensor);
  if (found == arrays.end()) fail_arguments("no array for " + argument.tensor);
  const HostArray& array = found->second;
  std::int64_t bytes = size_bytes(argument.element);
  bool fits = array.type == argument.element && array.shape.size() == argument.shape.size();
  for (std::size_t d = 0; fits && d < argument.shape.size(); ++d) {
    fits = evaluate(argument.shape[d], sizes) == array.shape[d];
    bytes *= array.shape[d];
  }
  if (!fits || static_cast<std::int64_t>(array.bytes.size()) != bytes) fail_arguments("array " + argument.tensor + " has another type or shape");
  return array;
}

std::string call_functions(const Signature& signature, const std::string& before, const std::vector<std::string>& last) {
  std::vector<std::string> sizes, arguments;
  for (std::size_t i = 0; i < signature.sizes.size(); ++i) sizes.push_back("sizes[" + std::to_string(i) + "]");
  for (std::size_t i = 0; i < signature.arguments.size(); ++i) {
    const TensorArgument& argument = signature.arguments[i];
    const std::string type = std::string(argument.role == TensorRole::in ? "const " : "") + memory_type_c(argument) + "*";
    const std::string pointer = "(" + type + ")arguments[" + std::to_string(i) + "]";
    arguments.push_back(argument.by_value ? "*" + pointer : pointer);
  }
  std::vector<std::string> all = sizes;
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.push_back("workspace");
  all.insert(all.end(), last.begin(), last.end());
  std::string text = before + "int32_t tileopt_call(const int64_t* sizes, void** arguments, void* workspace) {\n  (void)sizes;\n  (void)arguments;\n  return " +
                     signature.function + "(" + join(all, ", ") + ");\n}\n";
  text += before + "int64_t tileopt_workspace(const int64_t* sizes) {\n  (void)sizes;\n  return " + signature.function + "_workspace_bytes(" + join(sizes, ", ") +
          ");\n}\n";
  return text;
}

}  // namespace tileopt
