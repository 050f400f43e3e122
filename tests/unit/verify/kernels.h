/// Small kernels, every place where they can go wrong as a field. Each has the Program and one right Ast.
#pragma once

#include "builder.h"

namespace tileopt::test {

inline const std::vector<AstStatement::BoxDigit> kLanes = {{"l", 8}};

/// Copy: Y[i] = X[i], eight lanes, the last vector cut short.
struct CopyKernel {
  std::string last = "floord(N - 1, 8)";
  std::vector<std::string> extents = {"N - 8 * ib"};
  std::string level = "thread";
  std::string read = "8 * ib";
  long read_step = 1;
  long write_step = 1;

  static Program program(isl::ctx ctx) {
    ProgramWriter w(ctx, "copy", {"N"}, "N >= 0");
    w.tensor("X", TensorRole::in, {"N"});
    w.tensor("Y", TensorRole::out, {"N"});
    w.statement("Y", {"i"}, "0 <= i < N", "Y[i]", Combine::assign, {"X[i]"}, 2);
    return w.build("i");
  }
  Ast ast() const {
    const AstStatement statement = compute("Y", "Y", {"X"}, kLanes, {{1}}, {{write_step}}, {{{read_step}}}, "vector_box");
    return kernel("copy", {}, {statement},
                  loop("ib", "0", last, leaf("Y", {"8 * ib"}, {"8 * ib"}, {{read}}, extents), level));
  }
};

/// Transposition through a tile on the stack.
struct TransposeKernel {
  std::vector<std::string> written = {"0", "0"};
  Steps written_steps = {{1, 0}, {0, 1}};
  std::vector<std::string> tile_read = {"0", "0"};
  Steps tile_read_steps = {{1, 0}, {0, 1}};
  bool late = false;
  std::string level = "thread";

  static Program program(isl::ctx ctx) {
    ProgramWriter w(ctx, "transpose", {"M", "N"}, "M >= 1 and N >= 1");
    w.tensor("A", TensorRole::in, {"M", "N"});
    w.tensor("B", TensorRole::out, {"N", "M"});
    w.statement("B", {"i", "j"}, "0 <= i < M and 0 <= j < N", "B[j, i]", Combine::assign, {"A[i, j]"}, 2);
    return w.build("i > j");
  }
  Ast ast() const {
    const std::vector<AstStatement::BoxDigit> box = {{"ii", 16}, {"jj", 16}};
    const Steps plain = {{1, 0}, {0, 1}};
    const std::vector<std::string> extents = {"M - 16 * ib", "N - 16 * jb"};
    const AstNodePtr load = leaf("A_copy", {}, written, {{"16 * ib", "16 * jb"}}, extents);
    const AstNodePtr store = leaf("B", {"16 * ib", "16 * jb"}, {"16 * jb", "16 * ib"}, {tile_read}, extents);
    return kernel("transpose", {promoted("A_tile", "A", "stack", {16, 16})},
                  {copy("A_copy", "copy_in", "A_tile", "A", box, written_steps, plain),
                   compute("B", "B", {"A_tile"}, box, plain, {{0, 1}, {1, 0}}, {tile_read_steps})},
                  loop("ib", "0", "floord(M - 1, 16)",
                       loop("jb", "0", "floord(N - 1, 16)",
                            allocate({"A_tile"}, late ? block({store, load}) : block({load, store}))),
                       level));
  }
};

/// Softmax: running maximum and sum in registers, simd reductions.
struct SoftmaxKernel {
  bool maximum_fused = false;   ///< the sum runs in the loop of the maximum
  bool shared = false;          ///< accumulators allocated outside of the parallel loop
  bool sum_init_dropped = false;
  bool exponent_in_sum = false; ///< the result uses the sum inside its simd loop
  std::string maximum_read = "i";

  static Program program(isl::ctx ctx) {
    ProgramWriter w(ctx, "softmax", {"R", "N"}, "R >= 1 and N >= 1");
    w.tensor("X", TensorRole::in, {"R", "N"});
    w.tensor("Y", TensorRole::out, {"R", "N"});
    w.tensor("m", TensorRole::local, {"R"});
    w.tensor("l", TensorRole::local, {"R"});
    const std::string row = "0 <= i < R", all = "0 <= i < R and 0 <= j < N";
    w.statement("m_init", {"i"}, row, "m[i]", Combine::assign, {}, 2);
    w.statement("m", {"i", "j"}, all, "m[i]", Combine::max, {"X[i, j]"}, 3);
    w.statement("l_init", {"i"}, row, "l[i]", Combine::assign, {}, 4);
    w.statement("l", {"i", "j"}, all, "l[i]", Combine::sum, {"X[i, j]", "m[i]"}, 5);
    w.statement("Y", {"i", "j"}, all, "Y[i, j]", Combine::assign, {"X[i, j]", "m[i]", "l[i]"}, 6);
    return w.build("i > (m_init ; m: j ; l_init ; l: j ; Y: j)");
  }
  Ast ast() const {
    const std::vector<AstStatement> statements = {
        scalar("m_init", 1, "m_reg", 1, {}), scalar("m", 2, "m_reg", 1, {{"X", 2}}), scalar("l_init", 1, "l_reg", 1, {}),
        scalar("l", 2, "l_reg", 1, {{"X", 2}, {"m_reg", 1}}), scalar("Y", 2, "Y", 2, {{"X", 2}, {"m_reg", 1}, {"l_reg", 1}})};
    const AstNodePtr m_init = leaf("m_init", {"i"}, {"0"}, {});
    const AstNodePtr l_init = leaf("l_init", {"i"}, {"0"}, {});
    const AstNodePtr m = leaf("m", {"i", "j"}, {"0"}, {{maximum_read, "j"}});
    const AstNodePtr l = leaf("l", {"i", "j"}, {"0"}, {{"i", "j"}, {"0"}});
    const AstNodePtr y = leaf("Y", {"i", "j"}, {"i", "j"}, {{"i", "j"}, {"0"}, {"0"}});
    const auto lanes = [](AstNodePtr body) { return loop("j", "0", "N - 1", std::move(body), "simd"); };
    std::vector<AstNodePtr> row = {m_init, lanes(m), l_init, lanes(l), lanes(y)};
    if (maximum_fused) row = {m_init, l_init, lanes(block({m, l})), lanes(y)};
    if (sum_init_dropped) row = {m_init, lanes(m), lanes(l), lanes(y)};
    if (exponent_in_sum) row = {m_init, lanes(m), l_init, lanes(block({l, y}))};
    AstNodePtr body = block(row);
    if (!shared) body = allocate({"m_reg", "l_reg"}, body);
    AstNodePtr root = loop("i", "0", "R - 1", body, "thread");
    if (shared) root = allocate({"m_reg", "l_reg"}, root);
    return kernel("softmax", {promoted("m_reg", "m", "register", {1}), promoted("l_reg", "l", "register", {1})}, statements, root);
  }
};

/// Triangle: C[i, j] += for j <= i, only the touched blocks.
struct TriangleKernel {
  std::string block_last = "floord(i, 8)";
  std::vector<std::string> extents = {"min(8, i - 8 * jb + 1)"};

  static Program program(isl::ctx ctx) {
    ProgramWriter w(ctx, "triangle", {"N"}, "N >= 1");
    w.tensor("C", TensorRole::inout, {"N", "N"});
    w.tensor("A", TensorRole::in, {"N", "N"});
    w.statement("C", {"i", "j"}, "0 <= i < N and 0 <= j <= i", "C[i, j]", Combine::sum, {"A[i, j]"}, 2);
    return w.build("i > j");
  }
  Ast ast() const {
    return kernel("triangle", {}, {compute("C", "C", {"A"}, kLanes, {{0}, {1}}, {{0}, {1}}, {{{0}, {1}}}, "vector_box")},
                  loop("i", "0", "N - 1",
                       loop("jb", "0", block_last, leaf("C", {"i", "8 * jb"}, {"i", "8 * jb"}, {{"i", "8 * jb"}}, extents)), "thread"));
  }
};

/// Jacobi in one dimension: skewed tiles over time.
struct JacobiKernel {
  std::string skew = "2 * t";
  std::string tile_level = "serial", space_level = "serial";
  bool swapped = false;

  static Program program(isl::ctx ctx) {
    ProgramWriter w(ctx, "jacobi", {"T", "N"}, "T >= 1 and N >= 3");
    w.tensor("A", TensorRole::inout, {"N"});
    w.tensor("B", TensorRole::local, {"N"});
    const std::string inner = "0 <= t < T and 1 <= i < N - 1";
    w.statement("B_init", {"i"}, "0 <= i < N", "B[i]", Combine::assign, {"A[i]"}, 2);
    w.statement("B", {"t", "i"}, inner, "B[i]", Combine::assign, {"A[i - 1]", "A[i]", "A[i + 1]"}, 3);
    w.statement("A", {"t", "i"}, inner, "A[i]", Combine::assign, {"B[i - 1]", "B[i]", "B[i + 1]"}, 4);
    return w.build("(B_init: i ; B, A: t > (B: i ; A: i))");
  }
  /// s = 2 t + i for B, 2 t + i + 1 for A; tiles of 32 in s.
  Ast ast() const {
    const std::vector<AstStatement> statements = {scalar("B_init", 1, "B", 1, {{"A", 1}}),
                                                  scalar("B", 2, "B", 1, {{"A", 1}, {"A", 1}, {"A", 1}}),
                                                  scalar("A", 2, "A", 1, {{"B", 1}, {"B", 1}, {"B", 1}})};
    const std::string i = "s - " + skew, h = "s - " + skew + " - 1";
    const AstNodePtr b = branch("s - " + skew + " >= 1 && s - " + skew + " <= N - 2",
                                leaf("B", {"t", i}, {i}, {{i + " - 1"}, {i}, {i + " + 1"}}));
    const AstNodePtr a = branch("s - " + skew + " - 1 >= 1 && s - " + skew + " - 1 <= N - 2",
                                leaf("A", {"t", h}, {h}, {{h + " - 1"}, {h}, {h + " + 1"}}));
    return kernel("jacobi", {}, statements,
                  block({loop("i", "0", "N - 1", leaf("B_init", {"i"}, {"i"}, {{"i"}}), "thread"),
                         loop("st", "0", "floord(2 * T + N, 32)",
                              loop("t", "0", "T - 1",
                                   loop("s", "32 * st", "32 * st + 31", swapped ? block({a, b}) : block({b, a}), space_level)),
                              tile_level)}));
  }
};

/// Seidel in place: wavefronts i + j.
struct SeidelKernel {
  std::string front_level = "serial", along_level = "thread";
  std::string column = "w - i";
  std::string first = "max(1, w - N + 2)";

  static Program program(isl::ctx ctx) {
    ProgramWriter w(ctx, "seidel", {"N"}, "N >= 3");
    w.tensor("A", TensorRole::inout, {"N", "N"});
    w.statement("A", {"i", "j"}, "1 <= i < N - 1 and 1 <= j < N - 1", "A[i, j]", Combine::assign,
                {"A[i - 1, j]", "A[i, j - 1]", "A[i, j]", "A[i + 1, j]", "A[i, j + 1]"}, 2);
    return w.build("i > j");
  }
  Ast ast() const {
    const AstStatement statement = scalar("A", 2, "A", 2, {{"A", 2}, {"A", 2}, {"A", 2}, {"A", 2}, {"A", 2}});
    const std::string j = column;
    return kernel("seidel", {}, {statement},
                  loop("w", "2", "2 * N - 4",
                       loop("i", first, "min(N - 2, w - 1)",
                            leaf("A", {"i", j}, {"i", j}, {{"i - 1", j}, {"i", j + " - 1"}, {"i", j}, {"i + 1", j}, {"i", j + " + 1"}}),
                            along_level),
                       front_level));
  }
};

/// Overlapped tiles: a producer recomputed in every tile.
struct OverlapKernel {
  std::string halo_last = "9";
  long extent = 10;
  std::string level = "thread";

  static Program program(isl::ctx ctx) {
    ProgramWriter w(ctx, "overlap", {"N"}, "N >= 3");
    w.tensor("A", TensorRole::in, {"N"});
    w.tensor("X", TensorRole::local, {"N"});
    w.tensor("Y", TensorRole::out, {"N"});
    w.statement("X", {"i"}, "0 <= i < N", "X[i]", Combine::assign, {"A[i]"}, 2);
    w.statement("Y", {"i"}, "1 <= i < N - 1", "Y[i]", Combine::assign, {"X[i - 1]", "X[i + 1]"}, 3);
    return w.build("(X: i ; Y: i)");
  }
  Ast ast() const {
    const std::vector<AstStatement> statements = {scalar("X", 1, "X_tile", 1, {{"A", 1}}),
                                                  scalar("Y", 1, "Y", 1, {{"X_tile", 1}, {"X_tile", 1}})};
    const AstNodePtr produce = loop("h", "0", "min(" + halo_last + ", N - 1 - 8 * b)", leaf("X", {"8 * b + h"}, {"h"}, {{"8 * b + h"}}));
    const AstNodePtr consume = loop("p", "0", "min(7, N - 3 - 8 * b)", leaf("Y", {"8 * b + p + 1"}, {"8 * b + p + 1"}, {{"p"}, {"p + 2"}}));
    return kernel("overlap", {promoted("X_tile", "X", "stack", {extent})}, statements,
                  loop("b", "0", "floord(N - 3, 8)", allocate({"X_tile"}, block({produce, consume})), level));
  }
};

/// Gemm without promotion.
inline Program plain_gemm(isl::ctx ctx, bool reassociate = true) {
  ProgramWriter w(ctx, "gemm", {"M", "N", "K"}, "M >= 0 and N >= 0 and K >= 0");
  w.tensor("A", TensorRole::in, {"M", "K"});
  w.tensor("B", TensorRole::in, {"K", "N"});
  w.tensor("C", TensorRole::out, {"M", "N"});
  w.statement("C_init", {"i", "j"}, "0 <= i < M and 0 <= j < N", "C[i, j]", Combine::assign, {}, 3);
  w.statement("C", {"i", "j", "k"}, "0 <= i < M and 0 <= j < N and 0 <= k < K", "C[i, j]", Combine::sum, {"A[i, k]", "B[k, j]"}, 3);
  Numerics numerics;
  numerics.reassociate = reassociate;
  w.builder.numerics(numerics);
  return w.build("i > j > (C_init ; C: k)");
}

inline const std::vector<AstStatement> kPlainGemm = {
    scalar("C_init", 2, "C", 2, {}), scalar("C", 3, "C", 2, {{"A", 2}, {"B", 2}})};

/// k outermost.
inline Ast plain_gemm_ast(const std::string& k_value, const std::string& i_level, const std::string& k_level) {
  const AstNodePtr init = loop("i", "0", "M - 1", loop("j", "0", "N - 1", leaf("C_init", {"i", "j"}, {"i", "j"}, {})));
  const AstNodePtr update = leaf("C", {"i", "j", k_value}, {"i", "j"}, {{"i", k_value}, {k_value, "j"}});
  return kernel("gemm", {}, kPlainGemm,
                block({init, loop("k", "0", "K - 1", loop("i", "0", "M - 1", loop("j", "0", "N - 1", update), i_level), k_level)}));
}

}  // namespace tileopt::test
