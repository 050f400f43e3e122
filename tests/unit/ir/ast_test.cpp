#include "ir/ast.h"

#include <gtest/gtest.h>

#include <random>

#include "support/document.h"
#include "support/error.h"

namespace tileopt {
namespace {

using Kind = AstExpr::Kind;

AstExprPtr parse(const std::string& text) { return parse_ast_expr(text, "test.yaml"); }

bool equal(const AstExprPtr& a, const AstExprPtr& b) {
  if (a->kind != b->kind || a->value != b->value || a->name != b->name || a->arguments.size() != b->arguments.size()) return false;
  for (std::size_t i = 0; i < a->arguments.size(); ++i)
    if (!equal(a->arguments[i], b->arguments[i])) return false;
  return true;
}

AstExprPtr random_expr(std::mt19937& random, int depth) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  if (depth == 0 || pick(5) == 0) {
    if (pick(2) == 0) return ast_name(std::vector<std::string>{"i", "j", "min", "N_2", "_x"}[static_cast<std::size_t>(pick(5))]);
    if (pick(20) == 0) return ast_integer(pick(2) == 0 ? INT64_MIN : INT64_MAX);
    return ast_integer(pick(40) - 20);
  }
  const std::vector<Kind> kinds = {Kind::negate, Kind::add, Kind::sub, Kind::mul, Kind::floor_div, Kind::exact_div, Kind::modulo,
                                   Kind::min, Kind::max, Kind::select, Kind::eq, Kind::ne, Kind::lt, Kind::le, Kind::gt,
                                   Kind::ge, Kind::logical_and, Kind::logical_or};
  const Kind kind = kinds[static_cast<std::size_t>(pick(static_cast<int>(kinds.size())))];
  std::vector<AstExprPtr> arguments;
  const int arity = kind == Kind::negate ? 1 : kind == Kind::select ? 3 : 2;
  for (int i = 0; i < arity; ++i) arguments.push_back(random_expr(random, depth - 1));
  if (kind == Kind::floor_div || kind == Kind::modulo) arguments[1] = ast_integer(1 + pick(64));
  return ast_operation(kind, arguments);
}

TEST(AstText, IsTheInverseOfTheParserOnRandomExpressions) {
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    const AstExprPtr expr = random_expr(random, 5);
    const std::string text = ast_expr_text(expr);
    const AstExprPtr again = parse(text);
    ASSERT_TRUE(equal(expr, again)) << text << " became " << ast_expr_text(again);
    ASSERT_EQ(ast_expr_text(again), text);
  }
}

TEST(AstText, UsesTheFewestParentheses) {
  for (const char* text : {"a + b - c", "a - (b + c)", "(a + b) * c", "a * b / c", "a * (b / c)", "-a + b", "-(a + b)", "-5 + a",
                           "-(5)", "a - -5", "floord(N - 1, 32)", "mod(i + j, 4)", "min(a, max(b, c)) - 1",
                           "(a < b ? a : b) + 1", "a <= b && (b < c || c == 0)", "(a || b) && c"})
    EXPECT_EQ(ast_expr_text(parse(text)), text);
}

void expect_bad(const std::string& text, const std::string& part) {
  try {
    parse(text);
    FAIL() << "accepted: " << text;
  } catch (const Errors& error) {
    EXPECT_EQ(error.diagnostics().at(0).code, ErrorCode::invalid_dump);
    EXPECT_NE(error.diagnostics().at(0).message.find(part), std::string::npos) << error.what();
    EXPECT_FALSE(error.diagnostics().at(0).hint.empty());
  }
}

TEST(AstExpr, GrowsByAConstantStepOrByNone) {
  const auto step = [](const std::string& text) { return constant_step(parse(text), "i"); };
  EXPECT_EQ(step("i"), 1);
  EXPECT_EQ(step("N"), 0);
  EXPECT_EQ(step("floord(N, 4)"), 0);
  EXPECT_EQ(step("N - 8 * i + j"), -8);
  EXPECT_EQ(step("-(2 * (i - 3) * 5)"), -10);
  EXPECT_EQ(step("i - i"), 0);
  for (const std::string text : {"N * i", "i * i", "floord(i, 4)", "mod(i, 4)", "min(i, 3)", "i < 3", "(i < 3 ? 1 : 2)", "i + mod(i, 2)", "N - floord(i, 2)"})
    EXPECT_EQ(step(text), std::nullopt) << text;
}

TEST(AstText, RefusesMalformedText) {
  expect_bad("", "column 1: expected an expression");
  expect_bad("a +", "column 4: expected an expression");
  expect_bad("a b", "unexpected `b`");
  expect_bad("(a", "expected `)`");
  expect_bad("floord(a, 0)", "positive integer");
  expect_bad("mod(a, n)", "positive integer");
  expect_bad("pow(a, 2)", "unknown function `pow`");
  expect_bad("9223372036854775808", "beyond 64 bits");
  expect_bad("(a ? b)", "expected `:`");
  expect_bad(std::string(100000, '('), "nested too deeply");
  std::string chain = "a";
  for (int i = 0; i < 50000; ++i) chain += " + a";
  expect_bad(chain, "too long");
}

const char* const gemm_text = R"(kernel: gemm
arrays:
  - name: C_r
    element: f32
    space: register
    tensor: C
    extents: [2, 8]
    scope: ir
    alignment: 64
statements:
  - name: fma
    kind: compute
    statement: C
    atom: fma
    box:
      - {name: ii, radix: 2}
      - {name: jj, radix: 8}
    instance_steps: [[1, 0], [0, 1], [0, 0]]
    write_array: C_r
    write_steps: [[1, 0], [0, 1]]
    read_arrays: [A, B]
    read_steps: [[[1, 0], [0, 0]], [[0, 0], [0, 1]]]
    index_steps: []
    zero_fill: false
body:
  - for: ir
    digit: ir
    level: serial
    lower: "0"
    upper: floord(M - 1, 2)
    step: 1
    body:
      - allocate: [C_r]
        body:
          - if: 2 * ir + 1 < M
            then:
              - leaf: fma
                instance: [2 * ir, "0", k]
                write: ["0", "0"]
                reads: [[2 * ir, k], [k, "0"]]
                indices: []
                extents: []
            else: []
)";

TEST(AstDocument, WriteReadWriteGivesTheSameBytes) {
  const Ast ast = Ast::read(parse_yaml(gemm_text, "ast.yaml"), "ast.yaml");
  const std::string first = to_yaml(ast.write());
  const std::string second = to_yaml(Ast::read(parse_yaml(first, "ast.yaml"), "ast.yaml").write());
  EXPECT_EQ(first, second);
  ASSERT_EQ(ast.arrays.size(), 1u);
  EXPECT_EQ(ast.arrays[0].elements(), 16);
  const auto& loop = std::get<AstFor>(ast.root->node);
  EXPECT_EQ(loop.variable, "ir");
  EXPECT_EQ(ast_expr_text(loop.upper), "floord(M - 1, 2)");
  const auto& allocate = std::get<AstAllocate>(loop.body->node);
  const auto& branch = std::get<AstIf>(allocate.body->node);
  ASSERT_NE(branch.else_body, nullptr);
  const auto& leaf = std::get<AstLeaf>(branch.then_body->node);
  EXPECT_EQ(ast_expr_text(leaf.reads[0][0]), "2 * ir");
}

TEST(AstDocument, NestedBlocksLeaveNoTrace) {
  Ast ast = Ast::read(parse_yaml(gemm_text, "ast.yaml"), "ast.yaml");
  const std::string plain = to_yaml(ast.write());
  ast.root = make_node(AstBlock{{make_node(AstBlock{{ast.root}}), make_node(AstBlock{})}});
  EXPECT_EQ(to_yaml(ast.write()), plain);
}

void expect_bad_document(const std::string& from, const std::string& to, const std::string& path) {
  std::string text = gemm_text;
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  try {
    Ast::read(parse_yaml(text, "ast.yaml"), "ast.yaml");
    FAIL() << "accepted " << to;
  } catch (const Errors& error) {
    EXPECT_EQ(error.diagnostics().at(0).code, ErrorCode::invalid_dump);
    EXPECT_EQ(error.diagnostics().at(0).where.file, "ast.yaml");
    EXPECT_NE(error.diagnostics().at(0).message.find("`" + path + "`"), std::string::npos) << error.what();
  }
}

TEST(AstDocument, RefusesMalformedEntriesWithTheirPath) {
  expect_bad_document("kernel: gemm", "kernel: 3", "kernel");
  expect_bad_document("element: f32", "element: f31", "arrays[0].element");
  expect_bad_document("extents: [2, 8]", "extents: [2, -8]", "arrays[0].extents");
  expect_bad_document("extents: [2, 8]", "extents: [4000000000, 4000000000]", "arrays[0].extents");
  expect_bad_document("alignment: 64", "alignment: 63", "arrays[0].alignment");
  expect_bad_document("kind: compute", "kind: comput", "statements[0].kind");
  expect_bad_document("{name: jj, radix: 8}", "{name: jj, radix: 0}", "statements[0].box[1].radix");
  expect_bad_document("write_steps: [[1, 0], [0, 1]]", "write_steps: [[1, 0], [0]]", "statements[0].write_steps");
  expect_bad_document("read_arrays: [A, B]", "read_arrays: [A]", "statements[0].read_steps");
  expect_bad_document("zero_fill: false", "zero_fil: false", "statements[0]");
  expect_bad_document("step: 1", "step: 0", "body[0].step");
  expect_bad_document("upper: floord(M - 1, 2)", "upper: floord(M - 1, )", "body[0].upper");
  expect_bad_document("allocate: [C_r]", "allocate: [C_x]", "body[0].body[0].allocate");
  expect_bad_document("- leaf: fma", "- leaf: fms", "body[0].body[0].body[0].then[0].leaf");
  expect_bad_document("write: [\"0\", \"0\"]", "write: [\"0\"]", "body[0].body[0].body[0].then[0].write");
  expect_bad_document("extents: []", "extents: [\"1\"]", "body[0].body[0].body[0].then[0].extents");
  expect_bad_document("- if: 2 * ir + 1 < M", "- when: 2 * ir + 1 < M", "body[0].body[0].body[0]");
}

// ---- rings, barriers, roles

const char* const ring_text = R"(
kernel: ring
arrays:
  - {name: A_slots, element: f32, space: shared, tensor: A, extents: [2, 8], scope: "", alignment: 128, ring: r, slots: 3}
statements:
  - name: copy_A
    kind: copy_in
    statement: ""
    atom: bulk
    box: [{name: ii, radix: 2}, {name: jj, radix: 8}]
    instance_steps: []
    write_array: A_slots
    write_steps: [[0, 0], [1, 0], [0, 1]]
    read_arrays: [A]
    read_steps: [[[1, 0], [0, 1]]]
    index_steps: []
    zero_fill: true
    signal: full
rings:
  - {name: r, slots: 3}
barriers:
  - {name: full, scope: mbarrier, ring: r, arrivals: 1}
  - {name: all, scope: block, ring: "", arrivals: 0}
synchronizations:
  - {name: advance, kind: advance, target: r, ring: "", elected: false, bytes: 0}
  - {name: await, kind: await, target: mma, ring: r, elected: false, bytes: 0}
  - {name: expect, kind: expect, target: full, ring: "", elected: true, bytes: 64}
  - {name: meet, kind: barrier, target: all, ring: "", elected: false, bytes: 0}
  - {name: wait, kind: wait, target: full, ring: "", elected: false, bytes: 0}
body:
  - for: t
    digit: t
    level: grid
    lower: "0"
    upper: T - 1
    step: 1
    persistent: true
    body:
      - allocate: [A_slots]
        rings: [r]
        body:
          - roles:
              - name: producer
                threads: 1
                body:
                  - {sync: expect, position: k}
                  - leaf: copy_A
                    instance: []
                    write: [k, "0", "0"]
                    reads: [[2 * t, "0"]]
                    indices: []
                    extents: []
                    signal_position: k
                  - {sync: advance, position: N}
              - name: consumer
                threads: 128
                body:
                  - {sync: wait, position: k}
                  - {sync: await, position: k - 1, pending: 1}
                  - {sync: meet}
)";

TEST(AstDocument, RingsAndRolesWriteReadWriteGiveTheSameBytes) {
  const Ast ast = Ast::read(parse_yaml(ring_text, "ast.yaml"), "ast.yaml");
  const std::string first = to_yaml(ast.write());
  EXPECT_EQ(first, to_yaml(Ast::read(parse_yaml(first, "ast.yaml"), "ast.yaml").write()));
  EXPECT_EQ(ast.arrays[0].slots, 3);
  EXPECT_EQ(ast.synchronizations.at("expect").bytes, 64);
  EXPECT_TRUE(synchronizes(ast.root));
  const auto& tiles = std::get<AstFor>(ast.root->node);
  EXPECT_TRUE(tiles.persistent);
  const auto& scope = std::get<AstAllocate>(tiles.body->node);
  EXPECT_EQ(scope.rings, std::vector<std::string>{"r"});
  const auto& roles = std::get<AstRoles>(scope.body->node).roles;
  ASSERT_EQ(roles.size(), 2u);
  EXPECT_EQ(roles[1].threads, 128);
  const auto& consumer = std::get<AstBlock>(roles[1].body->node).children;
  EXPECT_EQ(std::get<AstSync>(consumer[1]->node).pending, 1);
  EXPECT_EQ(std::get<AstSync>(consumer[2]->node).position, nullptr);
  const Ast plain = Ast::read(parse_yaml(gemm_text, "ast.yaml"), "ast.yaml");
  EXPECT_FALSE(synchronizes(plain.root));
  EXPECT_EQ(to_yaml(plain.write()).find("rings"), std::string::npos);
}

TEST(AstDocument, RefusesMalformedRings) {
  const auto refused = [](const std::string& from, const std::string& to, const std::string& message) {
    std::string text = ring_text;
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    try {
      Ast::read(parse_yaml(text, "ast.yaml"), "ast.yaml");
      FAIL() << "accepted " << to;
    } catch (const Errors& error) {
      EXPECT_EQ(error.diagnostics().at(0).code, ErrorCode::invalid_dump);
      EXPECT_NE(error.diagnostics().at(0).message.find(message), std::string::npos) << error.what();
    }
  };
  refused("ring: r, slots: 3", "ring: r, slots: 0", "`arrays[0].slots`");
  refused("{name: r, slots: 3}", "{name: r, slots: 0}", "`rings[0].slots`");
  refused("{name: r, slots: 3}", "{name: q, slots: 3}", "`barriers[0].ring`: ring `r` is not declared");
  refused("scope: mbarrier", "scope: mbarier", "unknown value `mbarier`, expected one of none, warp, named, block, mbarrier");
  refused("scope: mbarrier, ring: r", "scope: mbarrier, ring: \"\"", "an mbarrier names the ring");
  refused("kind: await", "kind: waits", "unknown value `waits`");
  refused("target: full", "target: empty", "barrier `empty` is not declared");
  refused("elected: false, bytes: 0}", "elected: false, bytes: 8}", "only `expect` announces bytes");
  refused("rings: [r]", "rings: [q]", "ring `q` is not declared");
  refused("threads: 128", "threads: 0", "at least one thread");
  refused("name: consumer", "name: producer", "a second role `producer`");
  refused("sync: meet", "sync: meat", "statement `meat` is not declared in synchronizations");
  refused("{sync: wait, position: k}", "{sync: wait, position: k, pending: 1}", "groups in flight of an await");
  refused("                    signal_position: k\n", "", "a leaf has a signal_position where");
}

}  // namespace
}  // namespace tileopt
