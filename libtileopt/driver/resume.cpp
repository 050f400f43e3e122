#include "driver/resume.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "cost_models/machines.h"
#include "driver/stage_dump.h"
#include "frontends/tile_text/tile_text.h"
#include "support/text.h"

namespace tileopt {

namespace {

[[noreturn]] void reject(const std::string& path, const std::string& message, const std::string& hint) {
  throw Errors(Diagnostic{ErrorCode::invalid_dump, {path, 0, 0}, message, hint, ""});
}

std::shared_ptr<const Program> find_program(isl::ctx ctx, const std::string& text, const std::string& file,
                                            const std::string& name, const std::string& path) {
  for (Program& program : parse_tile_file(ctx, text, file).programs)
    if (program.name() == name) return std::make_shared<const Program>(std::move(program));
  reject(path, "the dump's text declares no program `" + name + "`", "restore `text` from a fresh dump");
}

Machine read_machine(const Document& document, const std::string& path) {
  return document.is_string() ? find_machine(document.get<std::string>()) : Machine::read(document, path);
}

Document* find_kernel(Document& plan, const std::string& name) {
  for (Document& kernel : plan["kernels"])
    if (kernel.is_object() && kernel.value("name", "") == name) return &kernel;
  return nullptr;
}

/// Only the entries that the stage owns may be edited: a promotion in the digits' dump would be silently lost.
void merge_decisions(Document& owner, const Document& decisions, const std::string& stage, const std::string& path) {
  if (!decisions.is_object()) reject(path, "`decisions` is not a mapping", "restore it from a fresh dump");
  const std::vector<std::string> owned = owned_decisions(stage);
  for (const auto& [key, value] : decisions.items()) {
    if (!contains(owned, key))
      reject(path, "stage " + stage + " does not decide `" + key + "`",
             owned.empty() ? "this stage decides nothing" : "it decides: " + join(owned, ", "));
    owner[key] = value;
  }
}

/// 15-kernels: which statements each kernel holds, and the launch order. New kernels have no decisions to run with.
void merge_groups(Document& plan, const Document& decisions, const std::string& path) {
  if (!decisions.is_array()) reject(path, "`decisions` is not a list of kernels", "restore it from a fresh dump");
  Document kernels = Document::array();
  std::set<std::string> seen;
  for (const Document& group : decisions) {
    const std::string name = group.is_object() && group.contains("name") && group["name"].is_string() ? group["name"].get<std::string>() : "";
    Document* kernel = find_kernel(plan, name);
    if (kernel == nullptr)
      reject(path, "the plan has no kernel `" + name + "`", "pin the grouping with fuse(...) so that a plan is made for the new kernel");
    if (!seen.insert(name).second) reject(path, "kernel `" + name + "` is listed twice", "list every kernel once, in launch order");
    merge_decisions(*kernel, group, "15-kernels", path);
    kernels.push_back(*kernel);
  }
  plan["kernels"] = std::move(kernels);
}

Resumed resume_from_text(isl::ctx ctx, const std::string& path) {
  const std::string plan_path = (std::filesystem::path(path).parent_path() / "plan.json").string();
  Resumed resumed;
  resumed.plan = Plan::read(parse_json(read_file(plan_path), plan_path), plan_path);
  resumed.program = find_program(ctx, read_file(path), path, resumed.plan.program, path);
  resumed.machine = find_machine(resumed.plan.machine);
  return resumed;
}

}  // namespace

Resumed resume_from(isl::ctx ctx, const std::string& path) {
  if (path.ends_with(".tile")) return resume_from_text(ctx, path);
  const StageDump dump = StageDump::read(read_file(path), path);
  Document plan = dump.plan;
  if (!plan.is_object() || !plan.contains("kernels") || !plan["kernels"].is_array())
    reject(path, "the dump's `plan` has no kernels", "restore it from a fresh dump");
  Resumed resumed;
  resumed.program = find_program(ctx, dump.text, dump.file, dump.program, path);
  resumed.machine = read_machine(dump.machine, path);
  if (dump.stage == "05-rewritten") {
    merge_decisions(plan, dump.decisions, dump.stage, path);
  } else if (dump.stage == "15-kernels") {
    merge_groups(plan, dump.decisions, path);
  } else if (!dump.kernel.empty()) {
    Document* kernel = find_kernel(plan, dump.kernel);
    if (kernel == nullptr) reject(path, "the plan has no kernel `" + dump.kernel + "`", "restore `kernel` from a fresh dump");
    if (dump.stage == "60-ast") {
      resumed.asts.emplace(dump.kernel, Ast::read(dump.decisions, path));
    } else {
      merge_decisions(*kernel, dump.decisions, dump.stage, path);
    }
  }
  resumed.plan = Plan::read(plan, path);
  return resumed;
}

}  // namespace tileopt
