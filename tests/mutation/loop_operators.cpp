// Which iterations run: bounds, steps, tiles, tails, conditions.
#include "tree_edit.h"

namespace tileopt::mutation {

namespace {

using Kind = AstExpr::Kind;
const std::vector<std::string> fewer = {"coverage", "values", "padding"};
const std::vector<std::string> more = {"coverage", "values", "bounds", "padding"};

Operator bound(const std::string& name, const std::string& what, bool upper, std::int64_t by) {
  return {name, what, upper == (by > 0) ? more : fewer, false, [=](const Subject& subject) {
            return at_every<AstFor>(subject, [=](const AstFor& loop, const Place&) -> NodeEdits {
              if (loop.binding) return {};
              return {{loop.variable, edited(loop, [&](AstFor& l) { (upper ? l.upper : l.lower) = plus(upper ? l.upper : l.lower, by); })}};
            });
          }};
}

NodeEdits unclipped(const AstFor& loop, const Place&) {
  NodeEdits edits;
  for (const bool upper : {false, true}) {
    const AstExprPtr& expr = upper ? loop.upper : loop.lower;
    if (expr->kind != Kind::min && expr->kind != Kind::max) continue;
    for (const AstExprPtr& argument : expr->arguments)
      edits.emplace_back(loop.variable + " without its clip, " + ast_expr_text(argument),
                         edited(loop, [&](AstFor& l) { (upper ? l.upper : l.lower) = argument; }));
  }
  return edits;
}

// floord(e, c) -> floord(e - (c - 1), c): whole tiles only.
AstExprPtr whole_tiles(const AstExprPtr& expr) {
  if (expr->kind == Kind::floor_div && expr->arguments[1]->value > 1)
    return ast_operation(Kind::floor_div, {plus(expr->arguments[0], 1 - expr->arguments[1]->value), expr->arguments[1]});
  for (std::size_t i = 0; i < expr->arguments.size(); ++i)
    if (const AstExprPtr changed = whole_tiles(expr->arguments[i])) {
      AstExpr copy = *expr;
      copy.arguments[i] = changed;
      return std::make_shared<const AstExpr>(std::move(copy));
    }
  return nullptr;
}

NodeEdits without_tail(const AstFor& loop, const Place&) {
  const AstExprPtr upper = whole_tiles(loop.upper);
  if (upper == nullptr) return {};
  return {{loop.variable + " up to " + ast_expr_text(upper), edited(loop, [&](AstFor& l) { l.upper = upper; })}};
}

NodeEdits wrong_tile(const AstFor& loop, const Place&) {
  NodeEdits edits;
  for (const bool upper : {false, true})
    for (const std::int64_t by : {1, -1})
      for (const AstExprPtr& changed : with_constant_changed(upper ? loop.upper : loop.lower, 3, by))
        edits.emplace_back(loop.variable + ": " + ast_expr_text(changed), edited(loop, [&](AstFor& l) { (upper ? l.upper : l.lower) = changed; }));
  return edits;
}

NodeEdits wrong_condition(const AstIf& branch, const Place&) {
  NodeEdits edits;
  const AstExprPtr& c = branch.condition;
  const auto side = [&](const AstExprPtr& comparison, std::int64_t by) {
    AstExpr copy = *comparison;
    copy.arguments[1] = plus(copy.arguments[1], by);
    return std::make_shared<const AstExpr>(std::move(copy));
  };
  const auto is_comparison = [](const AstExprPtr& e) { return e->kind == Kind::le || e->kind == Kind::ge || e->kind == Kind::lt || e->kind == Kind::gt; };
  if (is_comparison(c))
    for (const std::int64_t by : {1, -1}) edits.emplace_back("condition " + ast_expr_text(side(c, by)), edited(branch, [&](AstIf& b) { b.condition = side(c, by); }));
  if (c->kind == Kind::logical_and)
    for (const AstExprPtr& part : c->arguments) edits.emplace_back("condition only " + ast_expr_text(part), edited(branch, [&](AstIf& b) { b.condition = part; }));
  return edits;
}

}  // namespace

void add_loop_operators(std::vector<Operator>& operators) {
  operators.push_back(bound("upper-bound-plus-one", "a loop runs one iteration too many", true, 1));
  operators.push_back(bound("upper-bound-minus-one", "a loop ends one iteration early", true, -1));
  operators.push_back(bound("lower-bound-plus-one", "a loop starts one iteration late", false, 1));
  operators.push_back(bound("lower-bound-minus-one", "a loop starts one iteration early", false, -1));
  operators.push_back({"drop-clip", "one side of a min or max in a bound is forgotten", {"coverage", "values", "bounds", "padding", "races"}, false, [](const Subject& s) { return at_every<AstFor>(s, unclipped); }});
  operators.push_back({"double-step", "every second iteration is skipped", fewer, false, [](const Subject& s) {
                         return at_every<AstFor>(s, [](const AstFor& loop, const Place&) -> NodeEdits {
                           if (loop.binding) return {};
                           return {{loop.variable, edited(loop, [](AstFor& l) { l.step *= 2; })}};
                         });
                       }});
  operators.push_back({"skip-tail", "the last, partial tile is skipped", fewer, false, [](const Subject& s) { return at_every<AstFor>(s, without_tail); }});
  operators.push_back({"tile-off-by-one", "a constant of a loop's bound is off by one", {"coverage", "values", "bounds", "padding", "races"}, false,
                       [](const Subject& s) { return at_every<AstFor>(s, wrong_tile); }});
  operators.push_back({"drop-condition", "what an `if` keeps out runs", {"coverage", "values", "bounds", "padding", "order"}, false, [](const Subject& s) {
                         return at_every<AstIf>(s, [](const AstIf& branch, const Place&) -> NodeEdits {
                           return {{"without if (" + ast_expr_text(branch.condition) + ")", branch.then_body}};
                         });
                       }});
  operators.push_back({"wrong-condition", "an `if` is off by one, or lacks a part", {"coverage", "values", "bounds", "padding"}, false,
                       [](const Subject& s) { return at_every<AstIf>(s, wrong_condition); }});
}

}  // namespace tileopt::mutation
