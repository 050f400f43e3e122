/// Programs from isl text, without a frontend.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "interpreter/interpreter.h"
#include "ir/program.h"

namespace tileopt::testing {

/// Expressions, short.
inline ExprPtr read(ElementType type, std::size_t access) { return make_expr(type, Read{access}); }
inline ExprPtr real(ElementType type, double value) { return make_expr(type, Literal{value, 0}); }
inline ExprPtr whole(ElementType type, std::int64_t value) { return make_expr(type, Literal{0, value}); }
inline ExprPtr index(ElementType type, std::size_t number) { return make_expr(type, IndexValue{number}); }
inline ExprPtr cast(ElementType type, ExprPtr operand) { return make_expr(type, Cast{std::move(operand)}); }
inline ExprPtr binary(BinaryOp op, ExprPtr left, ExprPtr right) {
  const ElementType type = left->type;
  return make_expr(type, Binary{op, std::move(left), std::move(right)});
}
inline ExprPtr compare(BinaryOp op, ExprPtr left, ExprPtr right) {
  return make_expr(ElementType::boolean, Binary{op, std::move(left), std::move(right)});
}
inline ExprPtr call(Function function, ExprPtr argument) {
  const ElementType type = argument->type;
  return make_expr(type, Call{function, {std::move(argument)}});
}
inline ExprPtr select(ExprPtr condition, ExprPtr then_value, ExprPtr else_value) {
  const ElementType type = then_value->type;
  return make_expr(type, Select{std::move(condition), std::move(then_value), std::move(else_value)});
}

/// Collects a Program; `parameters` is the isl prefix "[M, N] -> ".
class ProgramText {
 public:
  ProgramText(isl::ctx ctx, std::vector<std::string> parameters) : ctx_(ctx), builder_(ctx, "test") {
    std::string list;
    for (const std::string& p : parameters) {
      list += (list.empty() ? "" : ", ") + p;
      builder_.parameter(p);
    }
    prefix_ = "[" + list + "] -> ";
    builder_.file("test.tile").text("test");
  }
  ProgramText& tensor(const std::string& name, ElementType type, std::vector<std::string> extents, TensorRole role) {
    Tensor t{name, type, {}, role, {"test.tile", 1, 1}};
    for (const std::string& extent : extents) t.shape.emplace_back(ctx_, prefix_ + "{ [(" + extent + ")] }");
    builder_.tensor(std::move(t));
    return *this;
  }
  ProgramText& context(const std::string& constraints) {
    builder_.context(isl::set(ctx_, prefix_ + "{ : " + constraints + " }"));
    return *this;
  }
  ProgramText& numerics(Numerics numerics) {
    builder_.numerics(numerics);
    return *this;
  }
  /// `domain`: "S[i, j] : 0 <= i < M"; `write`, `reads`: "A[i, j]" or with a condition, "A[i] : i > 0"; `indices`: "i + 1".
  ProgramText& statement(const std::string& name, std::vector<std::string> iterators, const std::string& constraints,
                         const std::string& write, Combine combine, ExprPtr body, std::vector<std::string> reads = {},
                         std::vector<std::string> indices = {}) {
    std::string tuple = name + "[";
    for (std::size_t i = 0; i < iterators.size(); ++i) tuple += (i ? ", " : "") + iterators[i];
    tuple += "]";
    Statement s;
    s.name = name;
    s.iterators = std::move(iterators);
    s.domain = isl::set(ctx_, prefix_ + "{ " + tuple + (constraints.empty() ? "" : " : " + constraints) + " }");
    s.write = access(tuple, write);
    s.combine = combine;
    s.body = std::move(body);
    for (const std::string& r : reads) s.reads.push_back(access(tuple, r));
    for (const std::string& x : indices) s.indices.emplace_back(ctx_, prefix_ + "{ " + tuple + " -> [(" + x + ")] }");
    s.where = {"test.tile", 2, 1};
    builder_.statement(std::move(s));
    return *this;
  }
  Program build(const std::string& tree) {
    builder_.order(Tree::read(tree, "test.tile"));
    return builder_.build();
  }

 private:
  Access access(const std::string& tuple, const std::string& target) {
    return {target.substr(0, target.find('[')), isl::pw_multi_aff(ctx_, prefix_ + "{ " + tuple + " -> " + target + " }"), {"test.tile", 2, 5}};
  }
  isl::ctx ctx_;
  ProgramBuilder builder_;
  std::string prefix_;
};

inline HostArray integers(ElementType type, std::vector<std::int64_t> shape, const std::vector<std::int64_t>& values) {
  HostArray array(type, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) array.set_integer(static_cast<std::int64_t>(i), values[i]);
  return array;
}
inline std::vector<std::int64_t> integers_of(const HostArray& array) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < array.elements(); ++i) values.push_back(array.get_integer(i));
  return values;
}
inline std::vector<double> reals_of(const HostArray& array) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < array.elements(); ++i) values.push_back(array.get(i));
  return values;
}

}  // namespace tileopt::testing
