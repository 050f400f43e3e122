#include "driver/stage_dump.h"

#include <utility>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "support/json_text.h"
#include "support/text.h"

namespace tileopt {

namespace {

[[noreturn]] void reject(const std::string& path, const std::string& message, const std::string& hint) {
  throw Errors(Diagnostic{ErrorCode::invalid_dump, {path, 0, 0}, message, hint, ""});
}

const Document& entry(const Document& document, const std::string& key, const std::string& path) {
  const auto found = document.find(key);
  if (found == document.end())
    reject(path, "the dump has no entry `" + key + "`", "a dump is complete as `--dump-dir` wrote it; only edit its `decisions`");
  return *found;
}

std::string text_entry(const Document& document, const std::string& key, const std::string& path) {
  const Document& value = entry(document, key, path);
  if (!value.is_string()) reject(path, "entry `" + key + "` is not a text", "restore the entry from a fresh dump");
  return value.get<std::string>();
}

/// Built-in machines by name, others (detected, from a file, changed) as a whole: the dump stands on its own.
Document machine_entry(const Machine& machine) {
  const Document whole = machine.write();
  if (machine.name != "host" && contains(machine_names(), machine.name) && find_machine(machine.name).write() == whole) return machine.name;
  return whole;
}

Document maps_document(const isl::union_map& relation) {  // { S[..] -> T[..] }
  Document maps = Document::array();
  for (const isl::map& map : poly::sorted_maps(relation)) maps.push_back(poly::to_text(map.coalesce()));
  return maps;
}

Document kernel_document(const KernelPlan& kernel, const std::vector<std::string>& keys) {
  const Document whole = write_kernel_plan(kernel);
  Document part = Document::object();
  for (const std::string& key : keys)
    if (whole.contains(key)) part[key] = whole[key];
  return part;
}

/// The kernel as the dump's plan has it: the Plan, not the stage, is where decisions live.
const KernelPlan& planned_kernel(const DumpContext& context, const std::string& kernel) {
  for (const KernelPlan& plan : context.plan.kernels)
    if (plan.name == kernel) return plan;
  TILEOPT_CHECK(false, "no kernel `" + kernel + "` in the plan");
}

std::vector<StageFile> yaml_file(const std::string& stage, const std::string& kernel, Document decisions, Document facts,
                                 const DumpContext& context) {
  StageDump dump;
  dump.stage = stage;
  dump.kernel = kernel;
  dump.version = TILEOPT_VERSION;
  dump.program = context.program->name();
  dump.file = context.program->file();
  dump.text = context.program->text();
  dump.machine = machine_entry(context.machine);
  dump.plan = context.plan.write();
  dump.decisions = std::move(decisions);
  dump.facts = std::move(facts);
  return {{stage + ".yaml", dump.write()}};
}

template <class Stage>
std::vector<StageFile> kernel_stage_file(const std::string& stage, const std::string& kernel, const Stage& value,
                                         const DumpContext& context) {
  return yaml_file(stage, kernel, kernel_document(planned_kernel(context, kernel), owned_decisions(stage)), value.write(), context);
}

}  // namespace

std::vector<std::string> owned_decisions(const std::string& stage) {
  if (stage == "05-rewritten") return {"rewrites"};
  if (stage == "15-kernels") return {"name", "statements", "when"};
  if (stage == "20-schedule") return {"schedule", "members"};
  if (stage == "30-digits") return {"digits", "tree"};
  if (stage == "40-fitted") return {"atoms"};
  if (stage == "50-promoted") return {"promotions"};
  if (stage == "55-pipelined") return {"pipelines"};
  return {};
}

std::string StageDump::write() const {
  Document document = Document::object();
  document["format"] = format;
  document["stage"] = stage;
  document["kernel"] = kernel;
  document["version"] = version;
  document["machine"] = machine;
  document["program"] = program;
  document["file"] = file;
  document["text"] = text;
  document["decisions"] = decisions;
  document["plan"] = plan;
  document["facts"] = facts;
  return to_yaml(document);
}

StageDump StageDump::read(const std::string& text, const std::string& path) {
  const Document document = parse_yaml(text, path);
  if (!document.is_object()) reject(path, "not a dump of a stage", "give a file that `--dump-dir` wrote, e.g. D/gemm/30-digits.yaml");
  const std::string format_text = text_entry(document, "format", path);
  if (format_text != format)
    reject(path, "the format is `" + format_text + "`, expected `" + format + "`", "give a file that `--dump-dir` of this version wrote");
  StageDump dump;
  dump.version = text_entry(document, "version", path);
  if (dump.version != TILEOPT_VERSION)
    reject(path, "the dump was made by tileopt " + dump.version + ", this is " TILEOPT_VERSION, "dump the stage again with this version");
  dump.stage = text_entry(document, "stage", path);
  dump.kernel = text_entry(document, "kernel", path);
  dump.program = text_entry(document, "program", path);
  dump.file = text_entry(document, "file", path);
  dump.text = text_entry(document, "text", path);
  dump.machine = entry(document, "machine", path);
  dump.plan = entry(document, "plan", path);
  dump.decisions = entry(document, "decisions", path);
  dump.facts = entry(document, "facts", path);
  return dump;
}

namespace {
Document statement_document(const Statement& s) {
  Document reads = Document::array(), indices = Document::array(), guards = Document::array();
  for (const Access& read : s.reads) reads.push_back(poly::to_text(read.index));
  for (const isl::pw_aff& index : s.indices) indices.push_back(poly::to_text(index));
  for (const Guard& guard : s.guards) guards.push_back(s.iterators[guard.iterator] + " == " + expr_text(guard.value));
  Document d = {{"name", s.name},           {"source", std::to_string(s.where.line) + ":" + std::to_string(s.where.column)},
                {"domain", poly::to_text(s.domain)}, {"write", poly::to_text(s.write.index)},
                {"combine", s.updates() ? update_class(s) : combine_name(s.combine)}, {"body", expr_text(s.body)}};
  if (!s.reads.empty()) d["reads"] = std::move(reads);
  if (!s.indices.empty()) d["indices"] = std::move(indices);
  if (!s.guards.empty()) d["guards"] = std::move(guards);
  if (s.predicate) d["predicate"] = expr_text(s.predicate);
  return d;
}
}  // namespace

std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const RewrittenProgram& rewritten,
                                   const DumpContext& context) {
  Document facts = Document::object();
  facts["order"] = rewritten.program->order().write();
  facts["statements"] = Document::array();
  for (const Statement& statement : rewritten.program->statements()) facts["statements"].push_back(statement_document(statement));
  return yaml_file(stage, kernel, Document{{"rewrites", write_rewrites(context.plan.rewrites)}}, std::move(facts), context);
}

std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel,
                                   const std::shared_ptr<const Dependences>& dependences, const DumpContext& context) {
  Document facts = Document::object();
  facts["flow"] = maps_document(dependences->flow);
  facts["anti"] = maps_document(dependences->anti);
  facts["output"] = maps_document(dependences->output);
  facts["relaxed"] = maps_document(dependences->relaxed);
  facts["live_in"] = maps_document(dependences->live_in);
  return yaml_file(stage, kernel, Document::object(), std::move(facts), context);
}

std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const std::vector<Kernel>& kernels,
                                   const DumpContext& context) {
  Document decisions = Document::array();
  Document facts = Document::array();
  for (const Kernel& each : kernels) {
    decisions.push_back(kernel_document(planned_kernel(context, each.name()), owned_decisions(stage)));
    facts.push_back(each.write());
  }
  return yaml_file(stage, kernel, std::move(decisions), std::move(facts), context);
}

std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const Schedule& schedule,
                                   const DumpContext& context) {
  return kernel_stage_file(stage, kernel, schedule, context);
}
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const DigitSchedule& digits,
                                   const DumpContext& context) {
  return kernel_stage_file(stage, kernel, digits, context);
}
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const FittedSchedule& fitted,
                                   const DumpContext& context) {
  return kernel_stage_file(stage, kernel, fitted, context);
}
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const PromotedSchedule& promoted,
                                   const DumpContext& context) {
  return kernel_stage_file(stage, kernel, promoted, context);
}
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const PipelinedSchedule& pipelined,
                                   const DumpContext& context) {
  return kernel_stage_file(stage, kernel, pipelined, context);
}
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel,
                                   const SynchronizedSchedule& synchronized, const DumpContext& context) {
  return kernel_stage_file(stage, kernel, synchronized, context);
}

std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const Ast& ast,
                                   const DumpContext& context) {
  return yaml_file(stage, kernel, ast.write(), Document::object(), context);
}

std::vector<StageFile> stage_files(const std::string& stage, const std::string&, const SourceText& source, const DumpContext& context) {
  return {{stage + find_backend(context.machine.backend).extension(), source.source}, {stage + ".h", source.header}};
}

std::vector<StageFile> stage_files(const std::string& stage, const std::string&, const Certificate& certificate,
                                   const DumpContext&) {
  return {{stage + ".json", json_text(certificate.write()) + "\n"}};
}

}  // namespace tileopt
