/// Programs from tile text and Plans from short tables, run through the passes.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cost_models/machines.h"
#include "frontends/tile_text/tile_text.h"
#include "passes/passes.h"

namespace tileopt {

class PassTest : public ::testing::Test {
 protected:
  poly::Context context_;  // destroyed after every isl object of the test
  isl::ctx ctx() const { return context_.get(); }

  std::shared_ptr<const Program> program(const std::string& text) {
    return std::make_shared<const Program>(parse_tile_file(ctx(), text, "test.tile").programs.front());
  }
  std::shared_ptr<const Dependences> dependences(const std::shared_ptr<const Program>& p) {
    return std::make_shared<const Dependences>(analyze_dependences(*p));
  }
  /// One kernel with all statements, members and tree as proposed.
  KernelPlan proposed_plan(const std::shared_ptr<const Program>& p, const std::string& method) {
    KernelPlan plan;
    plan.name = p->name();
    for (const Statement& s : p->statements()) plan.statements.push_back(s.name);
    const Kernel kernel = std::get<Kernel>(Kernel::create(p, dependences(p), plan));
    const ScheduleProposal proposal = propose_schedule(kernel, method);
    plan.members = proposal.members;
    plan.tree = proposal.tree;
    for (const auto& [name, members] : proposal.members)
      for (const std::string& member : members.members)
        if (std::none_of(plan.digits.begin(), plan.digits.end(), [&](const auto& d) { return d.first == member; }))
          plan.digits.push_back({member, {{member, 0, "serial"}}});
    return plan;
  }
  Candidate<DigitSchedule> digits_of(const std::shared_ptr<const Program>& p, const KernelPlan& plan) {
    TILEOPT_TRY(kernel, Kernel::create(p, dependences(p), plan));
    TILEOPT_TRY(schedule, compute_schedule(kernel));
    return digitize(schedule, machine_);
  }
  Candidate<PromotedSchedule> promoted_of(const std::shared_ptr<const Program>& p, const KernelPlan& plan) {
    TILEOPT_TRY(digits, digits_of(p, plan));
    TILEOPT_TRY(fitted, fit_atoms(digits, machine_));
    return promote_footprints(fitted, machine_);
  }
  Candidate<SynchronizedSchedule> synchronized_of(const std::shared_ptr<const Program>& p, const KernelPlan& plan) {
    TILEOPT_TRY(promoted, promoted_of(p, plan));
    TILEOPT_TRY(pipelined, pipeline_copies(promoted, machine_));
    return place_barriers(pipelined, machine_);
  }
  Candidate<Ast> ast_of(const std::shared_ptr<const Program>& p, const KernelPlan& plan) {
    TILEOPT_TRY(synchronized, synchronized_of(p, plan));
    return build_ast(synchronized);
  }
  template <class T>
  static std::string reason(const Candidate<T>& candidate) {
    const Infeasible* refused = std::get_if<Infeasible>(&candidate);
    return refused == nullptr ? "feasible" : to_string(*refused);
  }
  isl::set set(const std::string& text) const { return isl::set(ctx(), text); }
  isl::union_map relation(const std::string& text) const { return isl::union_map(ctx(), text); }
  Machine machine_ = find_machine("x86-64-v3");
};

inline const char* gemm_text =
    "@numerics(contract=True)\n"
    "def gemm(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):\n"
    "    for i, j in grid(M, N):\n"
    "        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))\n";

/// BLIS blocking of gemm on a 6x16 register tile.
inline KernelPlan packed_gemm_plan() {
  KernelPlan plan;
  plan.name = "gemm";
  plan.statements = {"C_init", "C"};
  plan.members["C_init"] = {{"i", "j", "k"}, "{ C_init[i,j] -> [(i), (j), (0)] }"};
  plan.members["C"] = {{"i", "j", "k"}, "{ C[i,j,k] -> [(i), (j), (k)] }"};
  plan.digits = {{"i", {{"ic", 0, "serial"}, {"ir", 16, "serial"}, {"ii", 6, "atom"}}},
                 {"j", {{"jc", 0, "serial"}, {"jr", 64, "serial"}, {"jj", 16, "atom"}}},
                 {"k", {{"kc", 0, "serial"}, {"kk", 256, "serial"}}}};
  plan.tree = Tree::read("jc > kc > ic > jr > ir > (C_init ; C: kk)", "test");
  plan.atoms["C"] = {"outer_product_fma", {"ii", "jj"}, "padded"};
  plan.atoms["C_init"] = {"vector_box", {"ii", "jj"}, "padded"};
  plan.promotions = {
      {"B", "B_packed", "kc", {}, "workspace", "f32", {{1, "B_jr", 0}, {0, "B_kk", 0}, {1, "B_jj", 16}}, true},
      {"A", "A_packed", "ic", {}, "stack", "f32", {{0, "A_ir", 0}, {1, "A_kk", 0}, {0, "A_ii", 6}}, true},
      {"C", "C_tile", "ir", {}, "register", "f32", {{0, "C_ii", 0}, {1, "C_jj", 0}}, false}};
  return plan;
}

}  // namespace tileopt
