#include "frontends/tile_text/names.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "ir/types.h"

namespace tileopt::tile_text {

namespace {

constexpr std::array<std::string_view, 59> c_words = {
    "auto",     "break",    "case",     "char",     "const",    "continue", "default", "do",        "double",   "else",
    "enum",     "extern",   "float",    "for",      "goto",     "if",       "inline",  "int",       "long",     "register",
    "restrict", "return",   "short",    "signed",   "sizeof",   "static",   "struct",  "switch",    "typedef",  "typeof",
    "union",    "unsigned", "void",     "volatile", "while",    "asm",      "true",    "false",     "int8_t",   "int16_t",
    "int32_t",  "int64_t",  "uint8_t",  "uint16_t", "uint32_t", "uint64_t", "size_t",  "ptrdiff_t", "intptr_t", "uintptr_t",
    "NULL",     "NAN",      "INFINITY", "EOF",      "errno",    "assert",   "alignas", "alignof",   "main"};
constexpr std::array<std::string_view, 14> isl_words = {"and", "or",      "not",    "exists", "mod", "infty",  "infinity",
                                                        "NaN", "implies", "floord", "ceild",  "rat", "nested", "allocate"};
constexpr std::array<std::string_view, 27> language_words = {
    "sum", "prod", "min",   "max",  "any", "all", "argmax", "argmin", "topk",  "scan",  "exp",  "exp2",
    "log", "sqrt", "rsqrt", "tanh", "erf", "abs", "floor",  "ceil",   "round", "range", "grid", "assume",
    "inf", "nan",   "tuple"};
constexpr std::array<std::string_view, 50> linked_functions = {
    "abort",  "exit",   "atexit", "malloc",  "calloc", "realloc", "free",  "memcpy", "memmove", "memset",
    "memcmp", "strlen", "printf", "fprintf", "puts",   "fopen",   "read",  "write",  "open",    "close",
    "time",   "clock",  "signal", "system",  "div",    "labs",    "pow",   "sin",    "cos",     "tan",
    "fma",    "fabs",   "fmin",   "fmax",    "rint",   "trunc",   "hypot", "index",  "remove",  "rename",
    "exp",    "exp2",   "log",    "sqrt",    "tanh",   "erf",     "abs",   "floor",  "ceil",    "round"};

template <std::size_t size>
bool holds(const std::array<std::string_view, size>& words, const std::string& name) {
  return std::find(words.begin(), words.end(), name) != words.end();
}

void collect_names(const syntax::ExpressionPtr& expression, std::set<std::string>& names) {
  if (!expression) return;
  if (const auto* name = syntax::as<syntax::Name>(expression)) names.insert(name->name);
  if (const auto* generator = syntax::as<syntax::Generator>(expression))
    for (const syntax::Clause& clause : generator->clauses)
      for (const syntax::Target& target : clause.targets) names.insert(target.name);
  for (const syntax::ExpressionPtr& child : syntax::children(*expression)) collect_names(child, names);
}

void collect_names(const syntax::Block& block, std::set<std::string>& names) {
  struct Visitor {
    std::set<std::string>& names;
    void operator()(const syntax::For& n) const {
      for (const syntax::Target& target : n.targets) names.insert(target.name);
      collect_names(n.iterable, names);
      collect_names(n.body, names);
    }
    void operator()(const syntax::If& n) const {
      for (const syntax::If::Arm& arm : n.arms) {
        collect_names(arm.condition, names);
        collect_names(arm.body, names);
      }
      if (n.otherwise) collect_names(*n.otherwise, names);
    }
    void operator()(const syntax::Assign& n) const {
      collect_names(n.target, names);
      collect_names(n.value, names);
    }
    void operator()(const syntax::Declare& n) const {
      names.insert(n.name);
      collect_names(n.type, names);
      collect_names(n.value, names);
    }
    void operator()(const syntax::Evaluate& n) const { collect_names(n.expression, names); }
    void operator()(const syntax::Return& n) const { collect_names(n.value, names); }
    void operator()(const syntax::Pass&) const {}
  };
  for (const syntax::StatementPtr& statement : block) std::visit(Visitor{names}, statement->node);
}

}  // namespace

namespace {

std::string foreign_reason(const std::string& name) {
  if (parse_type(name)) return "is a type of the tile language";
  if (holds(c_words, name)) return "is reserved in C, into which programs are translated";
  if (name == "workspace") return "is the name of the kernel's workspace argument";
  if (name.size() > 1 && name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z')))
    return "begins like a name reserved in C";
  if (name.starts_with("tileopt")) return "begins like the names that the tool makes up";
  return "";
}

}  // namespace

std::string reserved_reason(const std::string& name) {
  if (holds(language_words, name)) return "is a word of the tile language";
  return holds(isl_words, name) ? "is reserved in schedules and integer sets" : foreign_reason(name);
}

std::string reserved_function_reason(const std::string& name) {
  const std::string reason = foreign_reason(name);
  if (!reason.empty()) return reason;
  if (name[0] == '_') return "begins like a name reserved in C";
  return holds(linked_functions, name) ? "is a function of the C library" : "";
}

NameAllocator::NameAllocator(const syntax::Function& function) {
  taken_.insert(function.name);
  for (const syntax::Parameter& parameter : function.parameters) {
    taken_.insert(parameter.name);
    collect_names(parameter.type, taken_);
  }
  collect_names(function.body, taken_);
}

std::string NameAllocator::take_numbered(const std::string& base, int first, const std::string& separator) {
  for (int number = first;; ++number) {
    const std::string candidate = base + separator + std::to_string(number);
    if (taken_.insert(candidate).second) return candidate;
  }
}

std::string NameAllocator::statement(const std::string& tensor) {
  if (statements_.insert(tensor).second) return tensor;
  const std::string name = take_numbered(tensor, 2, "_");
  statements_.insert(name);
  return name;
}

std::string NameAllocator::init_statement(const std::string& base) {
  const std::string plain = base + "_init";
  const std::string name = taken_.insert(plain).second ? plain : take_numbered(plain, 2, "_");
  statements_.insert(name);
  return name;
}

std::string NameAllocator::tensor(const std::string& declared) {
  if (tensors_.insert(declared).second) return declared;
  const std::string name = take_numbered(declared, 2, "_");
  tensors_.insert(name);
  return name;
}

std::string NameAllocator::reduction_tensor(const std::string& target, const std::string& op) {
  const std::string name = take_numbered(target + "_" + op, 1, "");
  tensors_.insert(name);
  return name;
}

std::string NameAllocator::iterator(const std::string& iterator, const std::set<std::string>& used) const {
  if (used.count(iterator) == 0) return iterator;
  for (int number = 2;; ++number) {
    const std::string candidate = iterator + "_" + std::to_string(number);
    if (used.count(candidate) == 0 && taken_.count(candidate) == 0) return candidate;
  }
}

}  // namespace tileopt::tile_text
