#include "driver/trace.h"

#include <filesystem>
#include <sstream>

#include "support/text.h"

namespace tileopt {

namespace {

void make_folder(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure || !std::filesystem::is_directory(path))
    throw Errors(Diagnostic{ErrorCode::file_access, {path, 0, 0}, "cannot make the folder: " + failure.message(),
                            "give a folder that can be written", ""});
}

#ifndef NDEBUG
void check_reparse(const StageFile& file) {
  if (!file.name.ends_with(".yaml")) return;
  TILEOPT_CHECK(StageDump::read(file.text, file.name).write() == file.text, "dump " + file.name + " does not re-parse to itself");
}
#endif

}  // namespace

const std::vector<std::string>& stage_names() {
  static const std::vector<std::string> names = {"05-rewritten", "10-dependences", "15-kernels",  "20-schedule",
                                                 "30-digits",    "40-fitted",      "50-promoted", "55-pipelined",
                                                 "58-synchronized", "60-ast",      "70-source",   "80-certificate"};
  return names;
}

std::string find_stage(const std::string& name) {
  for (const std::string& stage : stage_names())
    if (name == stage || name == stage.substr(0, 2) || name == stage.substr(3)) return stage;
  throw Errors(Diagnostic{ErrorCode::invalid_option, {}, "unknown stage `" + name + "`", "stages: " + join(stage_names(), ", "), ""});
}

Trace::Trace(TraceOptions options) : options_(std::move(options)) {
  for (std::string* stage : {&options_.stop_after, &options_.planted_failure})
    if (!stage->empty()) *stage = find_stage(*stage);
}

void Trace::begin(std::shared_ptr<const Program> program, const Plan& plan, const Machine& machine) {
  timings_.clear();
  context_ = {std::move(program), plan, machine};
  if (!options_.dumps()) return;
  write_files("", "", {{"00-program.tile", context_.program->text()}, {"plan.json", plan.write().dump(2) + "\n"}});
}

void Trace::write_files(const std::string&, const std::string& kernel, const std::vector<StageFile>& files) {
  const std::string prefix = kernel.empty() ? "" : kernel + "/";
  if (!options_.dump_dir.empty()) make_folder(options_.dump_dir + "/" + prefix);
  for (const StageFile& file : files) {
#ifndef NDEBUG
    check_reparse(file);
#endif
    if (!options_.dump_dir.empty()) write_file(options_.dump_dir + "/" + prefix + file.name, file.text);
    if (options_.on_file) options_.on_file(prefix + file.name, file.text);
  }
}

void Trace::add_timing(const std::string& stage, const std::string& kernel, double milliseconds) {
  timings_.push_back({stage, kernel, milliseconds});
  if (options_.dump_dir.empty()) return;
  std::ostringstream table;
  table << "stage\tkernel\tmilliseconds\n";
  for (const Timing& timing : timings_) table << timing.stage << '\t' << timing.kernel << '\t' << timing.milliseconds << '\n';
  write_file(options_.dump_dir + "/timing.tsv", table.str());
}

}  // namespace tileopt
