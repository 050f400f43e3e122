/// A dump file: program, machine and Plan, the decisions that its stage owns, and the facts derived from them.
///
/// Only the decisions (and what they rest on) are read back: facts are derived again, so an edited dump cannot lie.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/ast.h"
#include "ir/certificate.h"
#include "ir/machine.h"
#include "ir/module.h"
#include "ir/plan.h"
#include "ir/program.h"
#include "ir/stages.h"
#include "rewrites/apply_rewrites.h"
#include "support/document.h"

namespace tileopt {

/// What every dump of one compile bundles.
struct DumpContext {
  std::shared_ptr<const Program> program;
  Plan plan;
  Machine machine;
};

struct StageDump {
  static constexpr const char* format = "tileopt-dump/1";
  std::string stage;         ///< full name, e.g. "30-digits"
  std::string kernel;        ///< "" for stages of the whole module
  std::string version;       ///< of tileopt
  std::string program;       ///< program name; `text` may not declare another
  std::string file;          ///< the user's file, for positions in messages
  std::string text;          ///< canonical tile text
  Document machine;          ///< a built-in machine's name, or the whole machine
  Document plan;             ///< tileopt-plan/2
  Document decisions;        ///< the part of the Plan that this stage owns; 60-ast: the Ast
  Document facts;            ///< derived, for the reader's eyes

  /// YAML. write(read(text)) = text for every text that write gave.
  std::string write() const;
  /// @throws Errors(invalid_dump): malformed text, another format or version, missing or mistyped entries.
  static StageDump read(const std::string& text, const std::string& path);
};

/// One file of a dump folder. `name` is relative to the folder (or to the kernel's folder).
struct StageFile {
  std::string name;
  std::string text;
};

/// The files that a stage's value is dumped as.
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel,
                                   const RewrittenProgram& rewritten, const DumpContext& context);
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel,
                                   const std::shared_ptr<const Dependences>& dependences, const DumpContext& context);
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const std::vector<Kernel>& kernels,
                                   const DumpContext& context);
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const Schedule& schedule,
                                   const DumpContext& context);
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const DigitSchedule& digits,
                                   const DumpContext& context);
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const FittedSchedule& fitted,
                                   const DumpContext& context);
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const PromotedSchedule& promoted,
                                   const DumpContext& context);
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const PipelinedSchedule& pipelined,
                                   const DumpContext& context);
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel,
                                   const SynchronizedSchedule& synchronized, const DumpContext& context);
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const Ast& ast,
                                   const DumpContext& context);
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const SourceText& source,
                                   const DumpContext& context);
std::vector<StageFile> stage_files(const std::string& stage, const std::string& kernel, const Certificate& certificate,
                                   const DumpContext& context);

/// The keys of a kernel's Plan document that a stage owns ("30-digits": "digits", "tree"), of the Plan itself for 05-rewritten;
/// empty for stages that own none.
std::vector<std::string> owned_decisions(const std::string& stage);

}  // namespace tileopt
