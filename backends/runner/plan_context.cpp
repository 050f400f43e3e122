#include "backends/runner/plan_context.h"

#include <cctype>
#include <cstdlib>
#include <set>

namespace tileopt {

namespace {
const std::string prefix = "tileopt_kernel_";

bool in_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The identifier that is assigned to, without its kind: "C_value += …" and "C[…] = …" give "C".
std::string assigned(const std::string& line) {
  std::size_t end = 0;
  while (end < line.size() && in_identifier(line[end])) ++end;
  std::string name = line.substr(0, end);
  for (const char* kind : {"_value", "_reg"})
    if (name.size() > std::string(kind).size() && name.ends_with(kind)) name.resize(name.size() - std::string(kind).size());
  return line.find('=') == std::string::npos ? "" : name;
}
}  // namespace

std::string plan_context(const std::string& kernel, const std::string& line, const std::vector<PrintFacts>& facts) {
  if (kernel.rfind(prefix, 0) != 0) return "";
  char* end = nullptr;
  const unsigned long position = std::strtoul(kernel.c_str() + prefix.size(), &end, 10);
  if (end == kernel.c_str() + prefix.size() || position >= facts.size()) return "";
  const std::string where = "kernels[" + std::to_string(position) + "] of the Plan";
  const std::string name = assigned(line);
  std::set<std::string> statements;
  for (const PrintFacts::Leaf& leaf : facts[position].leaves)
    if (!name.empty() && (leaf.statement == name || leaf.statement.rfind(name + "_", 0) == 0)) statements.insert(leaf.statement);
  if (statements.empty()) return where;
  std::string text = where + ", statement ";
  for (const std::string& statement : statements) text += (statement == *statements.begin() ? "" : " or ") + statement;
  return text;
}

}  // namespace tileopt
