/// Small builders for hand-written Programs and Asts: texts in isl's and in ast_expr_text's syntax.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/ast.h"
#include "ir/certificate.h"
#include "ir/machine.h"
#include "ir/module.h"
#include "ir/program.h"
#include "verify/verify.h"

namespace tileopt::test {

// ---- Programs

struct ProgramWriter {
  isl::ctx ctx;
  std::string sizes;  ///< "M, N"
  ProgramBuilder builder;
  ElementType type = ElementType::f32;     ///< of the bodies that follow
  BinaryOp joins = BinaryOp::add;          ///< the reads of a body; mul: of two

  ProgramWriter(isl::ctx context, const std::string& name, const std::vector<std::string>& parameters, const std::string& assumed)
      : ctx(context), builder(context, name) {
    for (const std::string& parameter : parameters) {
      sizes += (sizes.empty() ? "" : ", ") + parameter;
      builder.parameter(parameter);
    }
    builder.file(name + ".tile").text("def " + name);
    builder.context(isl::set(ctx, "[" + sizes + "] -> { : " + assumed + " }"));
  }

  void tensor(const std::string& name, TensorRole role, const std::vector<std::string>& shape, ElementType type = ElementType::f32) {
    Tensor tensor{name, type, {}, role, {"test.tile", 1, static_cast<int>(name.size())}};
    for (const std::string& extent : shape) tensor.shape.push_back(isl::pw_aff(ctx, "[" + sizes + "] -> { [(" + extent + ")] }"));
    builder.tensor(std::move(tensor));
  }

  /// `write`, `reads`: "C[i, j]". `domain`: constraints on the iterators.
  void statement(const std::string& name, const std::vector<std::string>& iterators, const std::string& domain,
                 const std::string& write, Combine combine, const std::vector<std::string>& reads, int line) {
    std::string tuple = name + "[";
    for (std::size_t i = 0; i < iterators.size(); ++i) tuple += (i ? ", " : "") + iterators[i];
    tuple += "]";
    Statement statement;
    statement.name = name;
    statement.iterators = iterators;
    statement.domain = isl::set(ctx, "[" + sizes + "] -> { " + tuple + (domain.empty() ? "" : " : " + domain) + " }");
    statement.where = {"test.tile", line, 1};
    const auto access = [&](const std::string& text, int column) {
      Access result;
      result.tensor = text.substr(0, text.find('['));
      result.index = isl::pw_multi_aff(ctx, "[" + sizes + "] -> { " + tuple + " -> " + text + (domain.empty() ? "" : " : " + domain) + " }");
      result.where = {"test.tile", line, column};
      return result;
    };
    statement.write = access(write, 2);
    statement.combine = combine;
    ExprPtr body = make_expr(type, Literal{0, 0});
    for (std::size_t r = 0; r < reads.size(); ++r) {
      statement.reads.push_back(access(reads[r], 10 + static_cast<int>(r)));
      const ExprPtr read = make_expr(type, Read{r});
      body = r == 0 && joins == BinaryOp::mul ? read : make_expr(type, Binary{joins, body, read});
    }
    statement.body = body;
    builder.statement(std::move(statement));
  }

  Program build(const std::string& order) { return builder.order(Tree::read(order, "test")).build(); }
};

// ---- Asts

inline AstExprPtr expr(const std::string& text) { return parse_ast_expr(text, "test"); }
inline std::vector<AstExprPtr> exprs(const std::vector<std::string>& texts) {
  std::vector<AstExprPtr> result;
  for (const std::string& text : texts) result.push_back(expr(text));
  return result;
}

inline AstNodePtr block(std::vector<AstNodePtr> children) { return make_node(AstBlock{std::move(children)}); }
inline AstNodePtr loop(const std::string& variable, const std::string& lower, const std::string& upper, AstNodePtr body,
                       const std::string& level = "serial", std::int64_t step = 1) {
  return make_node(AstFor{variable, variable, level, expr(lower), expr(upper), step, std::move(body)});
}
inline AstNodePtr branch(const std::string& condition, AstNodePtr then_body, AstNodePtr else_body = nullptr) {
  return make_node(AstIf{expr(condition), std::move(then_body), std::move(else_body)});
}
inline AstNodePtr allocate(std::vector<std::string> arrays, AstNodePtr body) {
  return make_node(AstAllocate{std::move(arrays), std::move(body)});
}
inline AstNodePtr ring_scope(std::vector<std::string> rings, std::vector<std::string> arrays, AstNodePtr body) {
  return make_node(AstAllocate{std::move(arrays), std::move(body), std::move(rings)});
}
inline AstNodePtr persistent(const std::string& variable, const std::string& lower, const std::string& upper, AstNodePtr body,
                             const std::string& level = "grid") {
  return make_node(AstFor{variable, variable, level, expr(lower), expr(upper), 1, std::move(body), std::nullopt, true});
}
inline AstNodePtr roles(std::vector<AstRole> parts) { return make_node(AstRoles{std::move(parts)}); }
inline AstNodePtr sync(const std::string& statement, const std::string& position = "", long pending = 0) {
  return make_node(AstSync{statement, position.empty() ? nullptr : expr(position), pending});
}
/// `leaf` with the position of the phase that it signals.
inline AstNodePtr signalling(const AstNodePtr& leaf, const std::string& position) {
  AstLeaf copy = std::get<AstLeaf>(leaf->node);
  copy.signal_position = expr(position);
  return make_node(std::move(copy));
}
/// `reads`: one list of subscripts each.
inline AstNodePtr leaf(const std::string& statement, const std::vector<std::string>& instance, const std::vector<std::string>& write,
                       const std::vector<std::vector<std::string>>& reads, const std::vector<std::string>& extents = {}) {
  AstLeaf leaf;
  leaf.statement = statement;
  leaf.instance = exprs(instance);
  leaf.write = exprs(write);
  for (const auto& read : reads) leaf.reads.push_back(exprs(read));
  leaf.extents = exprs(extents);
  return make_node(std::move(leaf));
}

using Steps = std::vector<std::vector<long>>;

inline AstStatement compute(const std::string& statement, const std::string& write_array, const std::vector<std::string>& read_arrays,
                            std::vector<AstStatement::BoxDigit> box = {}, Steps instance = {}, Steps write = {},
                            std::vector<Steps> reads = {}, const std::string& atom = "") {
  AstStatement result;
  result.name = statement;
  result.kind = "compute";
  result.statement = statement;
  result.atom = atom;
  result.box = std::move(box);
  result.instance_steps = std::move(instance);
  result.write_array = write_array;
  result.write_steps = std::move(write);
  result.read_arrays = read_arrays;
  result.read_steps = std::move(reads);
  return result;
}

inline AstStatement copy(const std::string& name, const std::string& kind, const std::string& to, const std::string& from,
                         std::vector<AstStatement::BoxDigit> box, Steps write, Steps read, bool zero_fill = false) {
  AstStatement result;
  result.name = name;
  result.kind = kind;
  result.box = std::move(box);
  result.write_array = to;
  result.write_steps = std::move(write);
  result.read_arrays = {from};
  result.read_steps = {std::move(read)};
  result.zero_fill = zero_fill;
  return result;
}

/// A scalar leaf: no box, so steps are empty rows.
inline AstStatement scalar(const std::string& statement, std::size_t rank, const std::string& write_array, std::size_t write_rank,
                           const std::vector<std::pair<std::string, std::size_t>>& reads) {
  std::vector<std::string> arrays;
  std::vector<Steps> steps;
  for (const auto& [array, read_rank] : reads) {
    arrays.push_back(array);
    steps.push_back(Steps(read_rank));
  }
  return compute(statement, write_array, arrays, {}, Steps(rank), Steps(write_rank), steps);
}

inline Array promoted(const std::string& name, const std::string& tensor, const std::string& space, std::vector<long> extents,
                      ElementType element = ElementType::f32) {
  Array array;
  array.name = name;
  array.tensor = tensor;
  array.space = space;
  array.extents = std::move(extents);
  array.element = element;
  return array;
}

inline Ast kernel(const std::string& name, std::vector<Array> arrays, const std::vector<AstStatement>& statements, AstNodePtr root) {
  Ast ast;
  ast.kernel = name;
  ast.arrays = std::move(arrays);
  for (const AstStatement& statement : statements) ast.statements.emplace(statement.name, statement);
  ast.root = std::move(root);
  return ast;
}

// ---- machine, facts, verdicts

inline Machine machine() {
  Machine machine;
  machine.name = "test";
  machine.backend = "openmp";
  machine.vector_bytes = 32;
  machine.vector_registers = 16;
  machine.levels = {{"thread", LevelKind::independent, 0}, {"simd", LevelKind::lockstep, 0}, {"serial", LevelKind::sequential, 0},
                    {"unroll", LevelKind::unrolled, 0},    {"atom", LevelKind::atom, 0}};
  machine.spaces = {{"workspace", 0}, {"stack", 1 << 20}, {"register", 512}};
  return machine;
}

/// Agents that meet at barriers, and three engines: `mma` and `cp_async` by groups, `bulk` by bytes.
inline Machine asynchronous_machine() {
  Machine machine;
  machine.name = "asynchronous";
  machine.backend = "gpu";
  machine.levels = {{"grid", LevelKind::independent, 0}, {"warpgroup", LevelKind::barrier, 8}, {"thread", LevelKind::barrier, 1024},
                    {"serial", LevelKind::sequential, 0}, {"unroll", LevelKind::unrolled, 0},  {"atom", LevelKind::atom, 0}};
  machine.spaces = {{"workspace", 0}, {"stack", 0}, {"register", 0}, {"shared", 1 << 16}};
  machine.pipes = {{"mma", Completion::group, true}, {"cp_async", Completion::group, false}, {"bulk", Completion::counted, false},
                   {"dma", Completion::tagged, false}};
  for (const Pipe& pipe : machine.pipes) {
    Atom atom;
    atom.name = pipe.name;
    atom.body = pipe.name == "mma" ? "multiply_add" : "copy";
    atom.operands = {{"result", "any", "**"}, {"left", "any", "**"}, {"right", "any", "**"}};
    atom.throughput = 1;
    atom.pipe = pipe.name;
    machine.atoms.push_back(atom);
  }
  return machine;
}

/// What a faithful printer would report.
PrintFacts faithful_facts(const Program& program, const Ast& ast);

/// Verdicts, not times: on a loaded machine the usual budgets would end proofs early.
inline ProofOptions patient() {
  ProofOptions options;
  options.each = std::chrono::minutes(8);
  options.total = std::chrono::minutes(9);
  return options;
}

inline Certificate check(const Program& program, const std::vector<Ast>& kernels, const Machine& on = machine()) {
  std::vector<PrintFacts> facts;
  for (const Ast& ast : kernels) facts.push_back(faithful_facts(program, ast));
  return verify(program, kernels, facts, on, "test", patient());
}

/// Every obligation proved; prints what is not.
void expect_proved(const Certificate& certificate);
/// At least one obligation `name` refuted, with a witness, whose `subject: reason` contains `reason`; returns the first such.
Obligation expect_refuted(const Certificate& certificate, const std::string& name, const std::string& reason);
double milliseconds(const Certificate& certificate, const std::string& name = "");
void print(const Certificate& certificate);

}  // namespace tileopt::test
