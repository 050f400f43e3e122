/// Compiles programs for GPUs, proves what was printed, and runs it in the emulator.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "backends/runner/emulated_kernel.h"
#include "cost_models/machines.h"
#include "driver/check_kernel.h"
#include "driver/request.h"
#include "driver/resume.h"
#include "driver/stage_dump.h"
#include "frontends/tile_text/tile_text.h"
#include "support/text.h"
#include "verify/verify.h"

namespace tileopt::test {

/// `node` with `change` applied to every node below it that it changes.
inline AstNodePtr edited(const AstNodePtr& node, const std::function<AstNodePtr(const AstNodePtr&)>& change) {
  if (node == nullptr) return nullptr;
  const AstNodePtr here = change(node);
  if (here != node) return here;
  if (const auto* block = std::get_if<AstBlock>(&node->node)) {
    AstBlock result;
    for (const AstNodePtr& child : block->children) result.children.push_back(edited(child, change));
    return make_node(std::move(result));
  }
  if (const auto* loop = std::get_if<AstFor>(&node->node)) {
    AstFor result = *loop;
    result.body = edited(loop->body, change);
    return make_node(std::move(result));
  }
  if (const auto* branch = std::get_if<AstIf>(&node->node)) return make_node(AstIf{branch->condition, edited(branch->then_body, change), edited(branch->else_body, change)});
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) return make_node(AstAllocate{allocate->arrays, edited(allocate->body, change), allocate->rings});
  return node;
}

/// Every `statement` replaced by what `change` makes of it; without it: nothing.
inline std::function<void(Ast&)> at_sync(const std::string& statement, const std::function<AstNodePtr(AstSync)>& change) {
  return [=](Ast& ast) {
    ast.root = edited(ast.root, [&](const AstNodePtr& node) {
      const auto* sync = std::get_if<AstSync>(&node->node);
      return sync != nullptr && sync->statement == statement ? change(*sync) : node;
    });
  };
}

struct Fault {
  const char* name;
  std::vector<std::string> expected;  ///< obligations, any of which refutes it
  std::function<void(Ast&)> apply;
};

class GpuTest : public testing::Test {
 protected:
  std::shared_ptr<const Program> parse(const std::string& text) { return std::make_shared<const Program>(parse_tile_file(context_.get(), text, "test.tile").programs.at(0)); }

  Module compile(const std::shared_ptr<const Program>& program, const std::string& pins, const std::string& machine = "h200", const Sizes& typical = {}) {
    Request request;
    request.machine = find_machine(machine);
    request.backend = request.machine.backend;
    request.proof.attempt = false;
    for (const auto& [name, size] : typical) request.resolve.typical_sizes[name] = size;
    if (!pins.empty()) request.pins = parse_pins(pins, "test");
    Trace trace;
    Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
    if (const auto* refused = std::get_if<Infeasible>(&outcome)) throw std::runtime_error(to_string(*refused));
    return std::move(std::get<Outcome>(outcome).module);
  }
  Certificate prove(const Program& program, const std::vector<Ast>& asts, const SourceText& text, const std::string& machine = "h200") {
    ProofOptions patient;  // the quota of operations decides, not how much else the machine does
    patient.each = std::chrono::seconds(100);
    patient.total = std::chrono::seconds(600);
    return verify(program, asts, text.facts, find_machine(machine), TILEOPT_VERSION, patient);
  }
  CheckReport emulate(const Program& program, const SourceText& text, const std::vector<Sizes>& sizes, const std::string& machine = "h200") {
    const EmulatedKernel kernel = EmulatedKernel::compile(program, text);
    std::vector<EmulatedKernel> settings;
    for (const emulator::Settings& setting : check_settings(find_machine(machine), 5)) settings.push_back(kernel.with(setting));
    return check_kernels(program, {&settings[0], &settings[1]}, sizes, 7, 0);
  }
  SourceText print(const Program& program, const std::vector<Ast>& asts, const std::string& machine = "h200") {
    const Machine target = find_machine(machine);
    Candidate<SourceText> text = find_backend(target.backend).print(program, asts, target, TILEOPT_VERSION);
    if (const auto* refused = std::get_if<Infeasible>(&text)) throw std::runtime_error(to_string(*refused));
    return std::get<SourceText>(std::move(text));
  }
  void expect_right(const std::string& program_text, const std::string& pins, const std::vector<Sizes>& sizes, const std::string& machine = "h200", const Sizes& typical = {}) {
    const std::shared_ptr<const Program> program = parse(program_text);
    const Module module = compile(program, pins, machine, typical);
    int unproved = 0;
    const Certificate certificate = prove(*program, module.asts, module.text, machine);
    const Obligation* first = first_unproved(certificate, unproved);
    EXPECT_EQ(unproved, 0) << pins << ": " << (first == nullptr ? "" : unproved_text(certificate));
    const CheckReport report = emulate(*program, module.text, sizes, machine);
    EXPECT_EQ(report.failure, "") << pins;
    EXPECT_GT(report.runs, 0);
  }
  /// What comes of going on from a stage's dump that `edit` has changed: proved, or the test fails.
  Module resumed_after(const std::shared_ptr<const Program>& program, const std::string& stage, const std::function<void(StageDump&)>& edit) {
    const std::string folder = testing::TempDir() + "resumed_" + program->name() + stage;
    Request request;
    request.machine = find_machine("h200");
    request.backend = "cuda";
    request.proof.attempt = false;
    TraceOptions dumped;
    dumped.dump_dir = folder;
    Trace trace(dumped);
    EXPECT_TRUE(feasible(resolve_and_compile(program, request, trace)));
    const std::string path = folder + "/" + program->name() + "/" + stage + ".yaml", edited = folder + "/edited.yaml";
    StageDump dump = StageDump::read(read_file(path), path);
    edit(dump);
    write_file(edited, dump.write());
    const Resumed resumed = resume_from(context_.get(), edited);
    request.plan = resumed.plan;
    request.proof.attempt = true;
    Trace again;
    Candidate<Outcome> outcome = resolve_and_compile(resumed.program, request, again);
    if (const auto* refused = std::get_if<Infeasible>(&outcome)) throw std::runtime_error(to_string(*refused));
    Module module = std::move(std::get<Outcome>(outcome).module);
    int unproved = 0;
    first_unproved(module.certificate, unproved);
    EXPECT_EQ(unproved, 0) << unproved_text(module.certificate);
    return module;
  }
  /// The fault is refuted by an obligation that was named beforehand, and the emulator sees it.
  void expect_refuted(const Program& program, const Module& module, const Fault& fault, const Sizes& sizes) {
    SCOPED_TRACE(fault.name);
    std::vector<Ast> asts = module.asts;
    fault.apply(asts.front());
    ASSERT_NE(asts.front().write(), module.asts.front().write());
    const SourceText text = print(program, asts);
    const Certificate certificate = prove(program, asts, text);
    std::vector<std::string> refuted;
    for (const Obligation& obligation : certificate.obligations)
      if (obligation.verdict == Verdict::refuted && !contains(refuted, obligation.name)) refuted.push_back(obligation.name);
    EXPECT_TRUE(std::any_of(fault.expected.begin(), fault.expected.end(), [&](const std::string& name) { return contains(refuted, name); })) << "refuted: " << join(refuted, ", ");
    EXPECT_NE(emulate(program, text, {sizes}).failure, "");
  }
  poly::Context context_;
};

}  // namespace tileopt::test
