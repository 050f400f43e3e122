#include "frontends/tile_text/printer.h"

#include <charconv>
#include <cmath>

namespace tileopt::tile_text {

using syntax::ExpressionPtr;

namespace {

/// How tightly an expression binds; brackets are needed where a place demands a tighter one.
enum Level {
  conditional = 0,
  disjunction,
  conjunction,
  negation,
  comparison,
  bit_or,
  bit_xor,
  bit_and,
  shift,
  sum,
  product,
  sign,
  postfix
};

Level level_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::logical_or:
      return disjunction;
    case BinaryOp::logical_and:
      return conjunction;
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
    case BinaryOp::eq:
    case BinaryOp::ne:
      return comparison;
    case BinaryOp::bit_or:
      return bit_or;
    case BinaryOp::bit_xor:
      return bit_xor;
    case BinaryOp::bit_and:
      return bit_and;
    case BinaryOp::shift_left:
    case BinaryOp::shift_right:
      return shift;
    case BinaryOp::add:
    case BinaryOp::sub:
      return sum;
    case BinaryOp::mul:
    case BinaryOp::divide:
    case BinaryOp::floor_div:
    case BinaryOp::modulo:
      return product;
    case BinaryOp::min:
    case BinaryOp::max:
      return postfix;
  }
  return postfix;
}

std::string expression_text(const ExpressionPtr& expression, Level demanded);

std::string targets_text(const std::vector<syntax::Target>& targets) {
  std::string text;
  for (std::size_t i = 0; i < targets.size(); ++i) text += (i ? ", " : "") + targets[i].name;
  return text;
}

/// Shortest text that reads back as the same number, always with a point or an exponent.
std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return "inf";
  char buffer[40];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, result.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

struct ExpressionPrinter {
  Level& level;

  std::string operator()(const syntax::IntegerLiteral& n) { return n.name.empty() ? std::to_string(n.value) : n.name; }
  std::string operator()(const syntax::RealLiteral& n) { return real_text(n.value); }
  std::string operator()(const syntax::BoolLiteral& n) { return n.value ? "True" : "False"; }
  std::string operator()(const syntax::NoneLiteral&) { return "None"; }
  std::string operator()(const syntax::StringLiteral& n) {
    const char quote = n.value.find('"') == std::string::npos ? '"' : '\'';
    return quote + n.value + quote;
  }
  std::string operator()(const syntax::Name& n) { return n.name; }
  std::string operator()(const syntax::Attribute& n) {
    const bool number = syntax::as<syntax::IntegerLiteral>(n.base) != nullptr;
    return (number ? "(" : "") + expression_text(n.base, postfix) + (number ? ")" : "") + "." + n.name;
  }
  std::string operator()(const syntax::Slice& n) {
    return (n.lower ? expression_text(n.lower, conditional) : "") + ":" +
           (n.upper ? expression_text(n.upper, conditional) : "");
  }
  std::string operator()(const syntax::Subscript& n) {
    std::string text = expression_text(n.base, postfix) + "[";
    for (std::size_t i = 0; i < n.indices.size(); ++i) text += (i ? ", " : "") + expression_text(n.indices[i], conditional);
    return text + "]";
  }
  std::string operator()(const syntax::Call& n) {
    std::string text = expression_text(n.callee, postfix) + "(";
    const char* separator = "";
    for (const ExpressionPtr& argument : n.arguments) {
      text += separator + expression_text(argument, conditional);
      separator = ", ";
    }
    for (const syntax::Keyword& keyword : n.keywords) {
      text += separator + keyword.name + "=" + expression_text(keyword.value, conditional);
      separator = ", ";
    }
    return text + ")";
  }
  std::string operator()(const syntax::Generator& n) {
    std::string text = expression_text(n.element, conditional);
    for (const syntax::Clause& clause : n.clauses) {
      text += " for " + targets_text(clause.targets) + " in " + expression_text(clause.iterable, disjunction);
      for (const ExpressionPtr& condition : clause.conditions) text += " if " + expression_text(condition, disjunction);
    }
    return text;
  }
  std::string operator()(const syntax::Tuple& n) {
    std::string text;
    for (const ExpressionPtr& element : n.elements) text += (text.empty() ? "(" : ", ") + expression_text(element, conditional);
    return text + ")";
  }
  std::string operator()(const syntax::Unary& n) {
    if (n.op == UnaryOp::logical_not) {
      level = negation;
      return "not " + expression_text(n.operand, negation);
    }
    level = sign;
    return op_name(n.op) + expression_text(n.operand, sign);
  }
  std::string operator()(const syntax::Binary& n) {
    level = level_of(n.op);
    return expression_text(n.left, level) + " " + op_name(n.op) + " " + expression_text(n.right, static_cast<Level>(level + 1));
  }
  std::string operator()(const syntax::Comparison& n) {
    level = comparison;
    std::string text = expression_text(n.first, bit_or);
    for (const syntax::ComparisonLink& link : n.links)
      text += " " + op_name(link.op) + " " + expression_text(link.operand, bit_or);
    return text;
  }
  std::string operator()(const syntax::Conditional& n) {
    level = conditional;
    return expression_text(n.then_value, disjunction) + " if " + expression_text(n.condition, disjunction) + " else " +
           expression_text(n.else_value, conditional);
  }
};

std::string expression_text(const ExpressionPtr& expression, Level demanded) {
  Level level = postfix;
  const std::string text = std::visit(ExpressionPrinter{level}, expression->node);
  return level < demanded ? "(" + text + ")" : text;
}

std::string block_text(const syntax::Block& block, const std::string& indent);

struct StatementPrinter {
  const std::string& indent;

  std::string body(const syntax::Block& block) const { return block_text(block, indent + "    "); }

  std::string operator()(const syntax::For& n) const {
    return "for " + targets_text(n.targets) + " in " + expression_text(n.iterable, conditional) + ":\n" + body(n.body);
  }
  std::string operator()(const syntax::If& n) const {
    std::string text;
    for (const syntax::If::Arm& arm : n.arms)
      text += (text.empty() ? "if " : indent + "elif ") + expression_text(arm.condition, conditional) + ":\n" + body(arm.body);
    if (n.otherwise) text += indent + "else:\n" + body(*n.otherwise);
    return text;
  }
  std::string operator()(const syntax::Assign& n) const {
    return expression_text(n.target, postfix) + " " + (n.op ? op_name(*n.op) : "") + "= " +
           expression_text(n.value, conditional) + "\n";
  }
  std::string operator()(const syntax::Declare& n) const {
    return n.name + ": " + expression_text(n.type, conditional) +
           (n.value ? " = " + expression_text(n.value, conditional) : "") + "\n";
  }
  std::string operator()(const syntax::Evaluate& n) const { return expression_text(n.expression, conditional) + "\n"; }
  std::string operator()(const syntax::Return& n) const { return "return " + expression_text(n.value, conditional) + "\n"; }
  std::string operator()(const syntax::Pass&) const { return "pass\n"; }
};

std::string block_text(const syntax::Block& block, const std::string& indent) {
  std::string text;
  for (const syntax::StatementPtr& statement : block) text += indent + std::visit(StatementPrinter{indent}, statement->node);
  return text;
}

}  // namespace

std::string print(const ExpressionPtr& expression) { return expression_text(expression, conditional); }
std::string print(const syntax::Block& block) { return block_text(block, ""); }

std::string print(const syntax::Function& function) {
  std::string text;
  for (const syntax::Decorator& decorator : function.decorators) text += "@" + print(decorator.expression) + "\n";
  text += "def " + function.name + "(";
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const syntax::Parameter& parameter = function.parameters[i];
    text += (i ? ", " : "") + parameter.name + ": " + print(parameter.type) + (parameter.value ? " = " + print(parameter.value) : "");
  }
  return text + ")" + (function.returns ? " -> " + print(function.returns) : "") + ":\n" + block_text(function.body, "    ");
}

std::string print(const syntax::Module& module) {
  std::string text;
  for (const syntax::Function& function : module.functions) text += (text.empty() ? "" : "\n\n") + print(function);
  return text;
}

}  // namespace tileopt::tile_text
