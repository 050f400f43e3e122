/// Runs Asts of a module on host arrays, element by element, with the reference number semantics: what printed code must equal.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "interpreter/host_array.h"
#include "interpreter/number.h"
#include "ir/ast.h"
#include "ir/program.h"

namespace tileopt::test {

class AstOracle {
 public:
  AstOracle(const Program& program, const Sizes& sizes, Arrays arguments) : program_(program), sizes_(sizes), arrays_(std::move(arguments)) {}

  /// `locals`: shapes of the local tensors.
  void run(const Ast& ast, const std::map<std::string, std::vector<std::int64_t>>& locals = {}) {
    ast_ = &ast;
    for (const auto& [name, shape] : locals)
      if (arrays_.count(name) == 0) arrays_[name] = HostArray(program_.tensor(name).type, shape);
    std::map<std::string, std::int64_t> values(sizes_.begin(), sizes_.end());
    node(ast.root, values);
  }
  Arrays& arrays() { return arrays_; }

 private:
  using Values = std::map<std::string, std::int64_t>;
  struct Number {
    double real = 0;
    std::int64_t integer = 0;
  };

  static std::int64_t value(const AstExprPtr& e, const Values& values) {
    using Kind = AstExpr::Kind;
    const auto arg = [&](std::size_t i) { return value(e->arguments[i], values); };
    switch (e->kind) {
      case Kind::integer: return e->value;
      case Kind::name: return values.at(e->name);
      case Kind::negate: return -arg(0);
      case Kind::add: return arg(0) + arg(1);
      case Kind::sub: return arg(0) - arg(1);
      case Kind::mul: return arg(0) * arg(1);
      case Kind::floor_div: return floor_quotient(arg(0), arg(1));
      case Kind::exact_div: return arg(0) / arg(1);
      case Kind::modulo: return arg(0) - floor_quotient(arg(0), arg(1)) * arg(1);
      case Kind::min: return std::min(arg(0), arg(1));
      case Kind::max: return std::max(arg(0), arg(1));
      case Kind::select: return arg(0) != 0 ? arg(1) : arg(2);
      case Kind::eq: return arg(0) == arg(1);
      case Kind::ne: return arg(0) != arg(1);
      case Kind::lt: return arg(0) < arg(1);
      case Kind::le: return arg(0) <= arg(1);
      case Kind::gt: return arg(0) > arg(1);
      case Kind::ge: return arg(0) >= arg(1);
      case Kind::logical_and: return arg(0) != 0 && arg(1) != 0;
      case Kind::logical_or: return arg(0) != 0 || arg(1) != 0;
    }
    return 0;
  }

  void node(const AstNodePtr& n, Values& values) {
    if (n == nullptr) return;
    if (const auto* block = std::get_if<AstBlock>(&n->node)) {
      for (const AstNodePtr& child : block->children) node(child, values);
    } else if (const auto* loop = std::get_if<AstFor>(&n->node)) {
      const std::int64_t upper = value(loop->upper, values);
      for (std::int64_t i = value(loop->lower, values); i <= upper; i += loop->step) {
        values[loop->variable] = i;
        node(loop->body, values);
      }
      values.erase(loop->variable);
    } else if (const auto* branch = std::get_if<AstIf>(&n->node)) {
      node(value(branch->condition, values) != 0 ? branch->then_body : branch->else_body, values);
    } else if (const auto* allocate = std::get_if<AstAllocate>(&n->node)) {
      for (const Array& array : ast_->arrays)
        if (std::find(allocate->arrays.begin(), allocate->arrays.end(), array.name) != allocate->arrays.end())
          arrays_[array.name] = HostArray(array.element, {array.extents.begin(), array.extents.end()});
      node(allocate->body, values);
    } else {
      leaf(std::get<AstLeaf>(n->node), values);
    }
  }

  void leaf(const AstLeaf& l, const Values& values) {
    const AstStatement& s = ast_->statements.at(l.statement);
    std::vector<std::int64_t> point(s.box.size(), 0), extents;
    for (const AstExprPtr& extent : l.extents) extents.push_back(value(extent, values));
    while (true) {
      bool inside = true;
      for (std::size_t b = 0; b < extents.size(); ++b) inside = inside && point[b] < extents[b];
      if (inside) run_point(l, s, point, values);
      else if (s.zero_fill) store(s.write_array, offset(s.write_array, l.write, s.write_steps, point, values), {}, element(s.write_array));
      std::size_t d = point.size();
      while (d > 0 && ++point[d - 1] == s.box[d - 1].radix) point[--d] = 0;
      if (d == 0) return;
    }
  }

  ElementType element(const std::string& array) const { return arrays_.at(array).type; }

  std::int64_t offset(const std::string& array, const std::vector<AstExprPtr>& corner, const std::vector<std::vector<long>>& steps,
                      const std::vector<std::int64_t>& point, const Values& values) const {
    const HostArray& target = arrays_.at(array);
    std::int64_t result = 0;
    for (std::size_t d = 0; d < corner.size(); ++d) {
      std::int64_t at = value(corner[d], values);
      for (std::size_t b = 0; b < point.size(); ++b) at += steps[d][b] * point[b];
      if (at < 0 || at >= target.shape[d]) throw std::runtime_error("oracle: subscript outside " + array);
      result = result * target.shape[d] + at;
    }
    return result;
  }

  Number load(const std::string& array, std::int64_t at, ElementType as) const {
    const HostArray& source = arrays_.at(array);
    if (is_float(source.type)) return is_float(as) ? Number{source.get(at), 0} : Number{0, static_cast<std::int64_t>(source.get(at))};
    const std::int64_t integer = source.get_integer(at);
    return is_float(as) ? Number{integer_to_float(integer, source.type, as), 0} : Number{0, integer};
  }
  void store(const std::string& array, std::int64_t at, Number number, ElementType from) {
    HostArray& target = arrays_.at(array);
    if (is_float(target.type)) target.set(at, is_float(from) ? number.real : integer_to_float(number.integer, from, target.type));
    else target.set_integer(at, is_float(from) ? static_cast<std::int64_t>(number.real) : number.integer);
  }

  void run_point(const AstLeaf& l, const AstStatement& s, const std::vector<std::int64_t>& point, const Values& values) {
    const std::int64_t at = offset(s.write_array, l.write, s.write_steps, point, values);
    const auto read_offset = [&](std::size_t r) { return offset(s.read_arrays[r], l.reads[r], s.read_steps[r], point, values); };
    if (s.kind != "compute") {
      const ElementType type = widens_exactly(element(s.read_arrays[0]), element(s.write_array)) ? element(s.read_arrays[0]) : element(s.write_array);
      return store(s.write_array, at, load(s.read_arrays[0], read_offset(0), type), type);
    }
    const Statement& source = program_.statement(s.statement);
    const ElementType type = source.body->type;
    Environment environment{[&](std::size_t r) { return load(s.read_arrays[r], read_offset(r), program_.tensor(source.reads[r].tensor).type); },
                            [&](std::size_t i) {
                              std::int64_t index = value(l.indices[i], values);
                              for (std::size_t b = 0; b < point.size(); ++b) index += s.index_steps[i][b] * point[b];
                              return index;
                            }};
    Number result = evaluate(source.body, environment);
    if (source.combine != Combine::assign) result = apply(combine_operator(source.combine).value(), load(s.write_array, at, type), result, type);
    store(s.write_array, at, result, type);
  }

  static Number apply(BinaryOp op, Number a, Number b, ElementType type) {
    if (is_float(type)) return {float_binary(op, a.real, b.real, type), 0};
    return {0, integer_binary(op, a.integer, b.integer, type)};
  }

 public:
  struct Environment {
    std::function<Number(std::size_t)> read;
    std::function<std::int64_t(std::size_t)> index;
  };
  static Number evaluate(const ExprPtr& e, const Environment& environment) {
    struct Visit {
      const ExprPtr& e;
      const Environment& environment;
      Number operator()(const Literal& n) const {
        return is_float(e->type) ? Number{round_to_type(n.real, e->type), 0} : Number{0, n.integer};
      }
      Number operator()(const Read& n) const { return environment.read(n.access); }
      Number operator()(const IndexValue& n) const { return {0, wrap_integer(environment.index(n.index), e->type)}; }
      Number operator()(const Unary& n) const {
        const Number v = evaluate(n.operand, environment);
        return is_float(e->type) ? Number{-v.real, 0} : Number{0, integer_unary(n.op, v.integer, e->type)};
      }
      Number operator()(const Binary& n) const {
        const ElementType type = n.left->type;
        const Number a = evaluate(n.left, environment), b = evaluate(n.right, environment);
        if (e->type == ElementType::boolean && type != ElementType::boolean)
          return {0, is_float(type) ? float_compare(n.op, a.real, b.real) : integer_compare(n.op, a.integer, b.integer, type)};
        return apply(n.op, a, b, type);
      }
      Number operator()(const Select& n) const {
        return evaluate(evaluate(n.condition, environment).integer != 0 ? n.then_value : n.else_value, environment);
      }
      Number operator()(const Cast& n) const {
        const Number v = evaluate(n.operand, environment);
        const ElementType from = n.operand->type;
        if (is_float(from)) return is_float(e->type) ? Number{round_to_type(v.real, e->type), 0} : Number{0, saturate_to_integer(v.real, e->type)};
        return is_float(e->type) ? Number{integer_to_float(v.integer, from, e->type), 0} : Number{0, wrap_integer(v.integer, e->type)};
      }
      Number operator()(const Call& n) const {
        const Number v = evaluate(n.arguments[0], environment);
        if (is_float(e->type)) return {float_function(n.function, v.real, e->type), 0};
        return {0, integer_function(n.function, v.integer, e->type)};
      }
      Number operator()(const MakeTuple&) const { throw std::logic_error("the oracle has no tuples"); }
      Number operator()(const Component&) const { throw std::logic_error("the oracle has no tuples"); }
    };
    return std::visit(Visit{e, environment}, e->node);
  }

 private:
  const Program& program_;
  Sizes sizes_;
  Arrays arrays_;
  const Ast* ast_ = nullptr;
};

}  // namespace tileopt::test
