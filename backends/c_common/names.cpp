#include "backends/c_common/names.h"

#include <cctype>

#include "support/error.h"

namespace tileopt {

namespace {
const std::set<std::string>& reserved_words() {
  static const std::set<std::string> words = {
      // C11 and GNU C
      "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float", "for",
      "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct",
      "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "asm", "typeof",
      // C++ (the header is for both)
      "alignas", "alignof", "and", "and_eq", "bitand", "bitor", "bool", "catch", "char8_t", "char16_t", "char32_t", "class",
      "co_await", "co_return", "co_yield", "compl", "concept", "consteval", "constexpr", "constinit", "const_cast", "decltype",
      "delete", "dynamic_cast", "explicit", "export", "false", "friend", "mutable", "namespace", "new", "noexcept", "not",
      "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "reinterpret_cast", "requires",
      "static_assert", "static_cast", "template", "this", "thread_local", "throw", "true", "try", "typeid", "typename", "using",
      "virtual", "wchar_t", "xor", "xor_eq",
      // macros and types of <stdint.h>, <stddef.h>, <math.h>, <string.h>, and what GNU C predefines
      "NULL", "INFINITY", "NAN", "HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "offsetof", "isnan", "isinf", "isfinite", "isnormal",
      "signbit", "fpclassify", "isless", "isgreater", "isunordered", "math_errhandling", "linux", "unix", "i386", "size_t",
      "ptrdiff_t", "max_align_t", "memcpy", "memset", "workspace", "main"};
  return words;
}

bool ends_with(const std::string& text, const std::string& tail) {
  return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

bool is_helper_name(const std::string& name) {
  if (name.rfind("tileopt_", 0) == 0 || name.rfind("TILEOPT_", 0) == 0) return true;
  const std::size_t x = name.find('x');  // f32x8, i64x4_u: vector types
  if (x != std::string::npos && x >= 2 && std::isdigit(static_cast<unsigned char>(name[x - 1])) && x + 1 < name.size() &&
      std::isdigit(static_cast<unsigned char>(name[x + 1])) && std::string("fiu").find(name[0]) != std::string::npos)
    return true;
  return false;
}
}  // namespace

bool is_reserved_in_c(const std::string& name) {
  if (name.empty() || reserved_words().count(name) != 0 || is_helper_name(name)) return true;
  if (name[0] == '_') return true;
  // <stdint.h> and <math.h> own these families.
  const bool standard_integer = (name.rfind("int", 0) == 0 || name.rfind("uint", 0) == 0) && ends_with(name, "_t");
  const bool standard_limit = (name.rfind("INT", 0) == 0 || name.rfind("UINT", 0) == 0) &&
                              (ends_with(name, "_MAX") || ends_with(name, "_MIN") || ends_with(name, "_C"));
  const bool math_macro = name.rfind("M_", 0) == 0 || name.rfind("FP_", 0) == 0 || name.rfind("SIZE_", 0) == 0;
  return standard_integer || standard_limit || math_macro;
}

std::string CNames::fresh(const std::string& base) {
  std::string stem;
  for (const char c : base) stem += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  if (stem.empty() || std::isdigit(static_cast<unsigned char>(stem[0])) || stem[0] == '_') stem = "v" + stem;
  std::string name = is_reserved_in_c(stem) && !is_helper_name(stem) ? stem + "_" : is_helper_name(stem) ? "v_" + stem : stem;
  if (is_reserved_in_c(name)) name = stem = "v_" + stem;
  for (int count = 2; used_.count(name) != 0 || is_reserved_in_c(name); ++count) name = stem + "_" + std::to_string(count);
  used_.insert(name);
  return name;
}

std::string CNames::declare_value_as(const std::string& key, const std::string& base) {
  const auto found = values_.find(key);
  return found != values_.end() ? found->second : values_.emplace(key, fresh(base)).first->second;
}

std::string CNames::fresh_value(const std::string& base) {
  const std::string name = fresh(base);
  const std::string key = "variable " + name;
  values_.emplace(key, name);
  return key;
}

std::string CNames::declare(std::map<std::string, std::string>& table, const std::string& name) {
  const auto found = table.find(name);
  if (found != table.end()) return found->second;
  return table.emplace(name, fresh(name)).first->second;
}

const std::string& CNames::value(const std::string& name) const {
  const auto found = values_.find(name);
  TILEOPT_CHECK(found != values_.end(), "no C name for " + name);
  return found->second;
}

const std::string& CNames::array(const std::string& name) const {
  const auto found = arrays_.find(name);
  TILEOPT_CHECK(found != arrays_.end(), "no C name for array " + name);
  return found->second;
}

}  // namespace tileopt
