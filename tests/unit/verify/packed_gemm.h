/// The packed gemm of docs/proofs.md, every place where it can go wrong as a text.
#pragma once

#include "builder.h"

namespace tileopt::test {

struct PackedGemm {
  // i = 96 ic + 6 ir + ii, j = 1024 jc + 16 jr + jj, k = 256 kc + kk
  std::string kk_last = "min(255, K - 256 * kc - 1)";
  std::string ir_last = "min(15, floord(M - 1, 6) - 16 * ic)";
  std::string jr_last = "min(63, floord(N - 1, 16) - 64 * jc)";
  std::vector<std::string> a_written = {"ir", "kk", "0"};
  Steps a_written_steps = {{0}, {0}, {1}};
  std::vector<std::string> a_copied = {"96 * ic + 6 * ir", "256 * kc + kk"};
  Steps a_copied_steps = {{1}, {0}};
  bool a_zero_fill = true;
  bool a_late = false;
  bool b_dropped = false;
  bool store_dropped = false;
  bool load_dropped = false;
  bool init_dropped = false;
  bool kk_before_init = false;
  bool c_store_padded = false;
  std::string first = "kc == 0";
  std::vector<long> a_extents = {16, 256, 6};
  std::string ic_level = "serial", jc_level = "serial", kc_level = "serial";
  bool a_shared = false;  ///< A_packed allocated outside of ic
  bool lanes_lost = false;  ///< C ends at its extents, but for what its register holds beyond them along jj
  bool upper = false;       ///< the sum of k from j on: lanes join in as kk goes on
  std::vector<std::string> store_extents = {"M - 96 * ic - 6 * ir", "N - 1024 * jc - 16 * jr"};

  static Program program(isl::ctx ctx, bool upper = false) {
    ProgramWriter w(ctx, "gemm", {"M", "N", "K"}, "M >= 1 and N >= 1 and K >= 1");
    w.tensor("A", TensorRole::in, {"M", "K"});
    w.tensor("B", TensorRole::in, {"K", "N"});
    w.tensor("C", TensorRole::out, {"M", "N"});
    w.statement("C_init", {"i", "j"}, "0 <= i < M and 0 <= j < N", "C[i, j]", Combine::assign, {}, 3);
    w.statement("C", {"i", "j", "k"}, std::string("0 <= i < M and 0 <= j < N and 0 <= k < K") + (upper ? " and j <= k" : ""), "C[i, j]", Combine::sum, {"A[i, k]", "B[k, j]"}, 3);
    return w.build("i > j > (C_init ; C: k)");
  }

  Ast ast() const {
    const std::vector<AstStatement::BoxDigit> tile = {{"ii", 6}, {"jj", 16}}, updated = {{"ii", 6}, {"jj", 16, lanes_lost}}, row = {{"ii", 6}}, lanes = {{"jj", 16}};
    const Steps both = {{1, 0}, {0, 1}};
    const std::vector<AstStatement> statements = {
        copy("A_copy", "copy_in", "A_packed", "A", row, a_written_steps, a_copied_steps, a_zero_fill),
        copy("B_copy", "copy_in", "B_packed", "B", lanes, {{0}, {0}, {1}}, {{0}, {1}}, true),
        compute("C_init", "C_tile", {}, tile, both, both, {}, "vector_box"),
        copy("C_load", "copy_in", "C_tile", "C", tile, both, both, true),
        compute("C", "C_tile", {"A_packed", "B_packed"}, updated, {{1, 0}, {0, 1}, {0, 0}}, both,
                {{{0, 0}, {0, 0}, {1, 0}}, {{0, 0}, {0, 0}, {0, 1}}}, "outer_product_fma"),
        copy("C_store", "copy_out", "C", "C_tile", tile, both, both)};
    const std::string i = "96 * ic + 6 * ir", j = "1024 * jc + 16 * jr", k = "256 * kc + kk";
    const std::vector<std::string> edge = {"M - " + std::string("96 * ic - 6 * ir"), "N - 1024 * jc - 16 * jr"};
    const AstNodePtr pack_b = loop("jr", "0", "min(63, floord(N - 1, 16) - 64 * jc)",
                                   loop("kk", "0", "min(255, K - 256 * kc - 1)",
                                        leaf("B_copy", {}, {"jr", "kk", "0"}, {{k, j}}, {"N - 1024 * jc - 16 * jr"})));
    const AstNodePtr pack_a = loop("ir", "0", ir_last, loop("kk", "0", "min(255, K - 256 * kc - 1)",
                                                            leaf("A_copy", {}, a_written, {a_copied}, {"M - 96 * ic - 6 * ir"})));
    const AstNodePtr init = leaf("C_init", {i, j}, {"0", "0"}, {});
    const AstNodePtr load = leaf("C_load", {}, {"0", "0"}, {{i, j}}, edge);
    const AstNodePtr nothing = block({});
    const AstNodePtr begin = branch(first, init_dropped ? nothing : init, load_dropped ? nullptr : load);
    std::vector<std::string> c_extents;
    if (lanes_lost || upper) c_extents = edge;
    if (upper) c_extents[1] = "min(" + edge[1] + ", " + k + " - 1024 * jc - 16 * jr + 1)";
    const AstNodePtr update = loop("kk", "0", kk_last, leaf("C", {i, j, k}, {"0", "0"}, {{"ir", "kk", "0"}, {"jr", "kk", "0"}}, c_extents));
    const AstNodePtr store = leaf("C_store", {}, {i, j}, {{"0", "0"}}, c_store_padded ? std::vector<std::string>{} : store_extents);
    std::vector<AstNodePtr> micro = {begin, update, store};
    if (kk_before_init) micro = {update, begin, store};
    if (store_dropped) micro.pop_back();
    const AstNodePtr tiles = loop("jr", "0", jr_last, loop("ir", "0", ir_last, allocate({"C_tile"}, block(micro))));
    std::vector<AstNodePtr> panel = {pack_a, tiles};
    if (a_late) panel = {tiles, pack_a};
    AstNodePtr ic_body = block(panel);
    if (!a_shared) ic_body = allocate({"A_packed"}, ic_body);
    AstNodePtr ic_loop = loop("ic", "0", "floord(M - 1, 96)", ic_body, ic_level);
    if (a_shared) ic_loop = allocate({"A_packed"}, ic_loop);
    std::vector<AstNodePtr> inner = {pack_b, ic_loop};
    if (b_dropped) inner = {ic_loop};
    const AstNodePtr root =
        loop("jc", "0", "floord(N - 1, 1024)",
             loop("kc", "0", "floord(K - 1, 256)", allocate({"B_packed"}, block(inner)), kc_level), jc_level);
    return kernel("gemm",
                  {promoted("A_packed", "A", "stack", a_extents), promoted("B_packed", "B", "workspace", {64, 256, 16}),
                   promoted("C_tile", "C", "register", {6, 16})},
                  statements, root);
  }
};

}  // namespace tileopt::test
