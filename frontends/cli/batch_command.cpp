#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <thread>

#include "cost_models/machines.h"
#include "frontends/cli/batch_index.h"
#include "frontends/cli/batch_journal.h"
#include "frontends/cli/colour.h"
#include "frontends/cli/compile_one.h"
#include "frontends/cli/crash_report.h"
#include "frontends/cli/guard.h"
#include "frontends/cli/inputs.h"
#include "frontends/cli/outputs.h"
#include "frontends/cli/progress.h"
#include "frontends/cli/sources.h"
#include "frontends/cli/stop_signal.h"
#include "frontends/cli/workers.h"
#include "support/document_reader.h"
#include "support/json_text.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void reject(const std::string& message, const std::string& hint) { throw Errors(Diagnostic{ErrorCode::invalid_option, {}, message, hint, ""}); }

std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> all;
  for (std::size_t start = 0; start <= names.size();) {
    const std::size_t end = std::min(names.find(',', start), names.size());
    if (end == start) reject("--machines: a name is missing in `" + names + "`", "write them as zen4,h100,mi300x");
    all.push_back(names.substr(start, end - start));
    start = end + 1;
  }
  return all;
}

/// The options as they are for one machine, and what its programs share.
struct Target {
  Options options;
  Shared shared;
  std::string machine() const { return shared.machine.name; }
};

std::vector<Target> read_targets(const Options& options) {
  if (!options.plan.empty() && !options.plan.starts_with("@")) reject("--plan: a plan is for one machine", "use --pin, or a @schedule function of the program: --plan @NAME");
  std::vector<Target> targets;
  for (const std::string& name : split(options.machines)) {
    Target target{options, {}};
    target.options.machine = name;
    target.shared = read_shared(target.options);
    const std::string folder = target.machine();
    // It becomes the name of a folder.
    if (folder.empty() || folder.starts_with(".") || folder.find('/') != std::string::npos) reject("--machines: the name `" + folder + "` cannot be a folder's", "rename the machine in its file");
    if (std::any_of(targets.begin(), targets.end(), [&](const Target& other) { return other.machine() == folder; }))
      reject("--machines: `" + folder + "` is given twice", "name every machine once");
    target.options.output = target.options.certificate = options.output + "/" + folder + "/";
    targets.push_back(std::move(target));
  }
  return targets;
}

/// Hash of the program that runs: kernels of two builds need not be alike.
std::string hash_of_tool() {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  return failure ? "" : hash_text(read_file(self.string()));
}

/// All that decides what a file becomes on a machine.
std::string key_of(const std::string& text, const Target& target, const std::string& tool) {
  const Options& options = target.options;
  const Document key = {{"text", hash_text(text)}, {"machine", target.shared.machine.write()}, {"version", TILEOPT_VERSION}, {"tool", tool}, {"program", options.program},
                        {"plan", options.plan}, {"pins", options.pins}, {"sizes", options.sizes}, {"threads", options.threads}, {"prove", options.prove}};
  return hash_text(key.dump());
}

/// What failures are counted by.
std::string reason_of(const ItemResult& result) {
  const Document& details = result.details;
  switch (result.exit_code) {
    case exit_done: return "";
    case exit_user_error: return details.contains("diagnostics") ? "error " + details["diagnostics"].front()["code"].get<std::string>() : "error";
    case exit_infeasible: return details.contains("infeasible") ? "infeasible " + details["infeasible"]["code"].get<std::string>() : "infeasible";
    case exit_not_proved: {
      if (!details.contains("certificate")) return "not proved";
      for (const std::string verdict : {"refuted", "not_attempted"})
        for (const Document& obligation : details["certificate"]["obligations"])
          if (obligation["verdict"] == verdict) return (verdict == "refuted" ? "refuted " : "unproved ") + obligation["name"].get<std::string>();
      return "not proved";
    }
    default: return status_name(result.exit_code);
  }
}

Document document_of(const std::string& program, const ItemResult& result) {
  Document document = {{"program", program}, {"status", status_name(result.exit_code)}, {"exit_code", result.exit_code}, {"reason", reason_of(result)}};
  for (const auto& [key, value] : result.details.items())
    if (key != "certificate") document[key] = value;
  return document;
}

/// A file on a machine.
struct Task {
  std::string file, key;
  const Target* target = nullptr;
  Document results = Document::array();
  bool kept = false;
  bool skipped = false;  ///< the file has not the program that is asked for
};

/// What a worker does: all programs of a file for one machine. Gives a line of JSON: `results`, and `messages` for stderr.
std::string compile_file(const Source& source, const Target& target, const BatchJournal& journal, const std::map<std::string, std::string>& declared,
                         const std::vector<std::string>& inputs) {
  Document results = Document::array();
  std::string messages;
  for (const std::shared_ptr<const Program>& program : programs_of(source, target.options)) {
    const std::string name = program->name();
    std::optional<Item> started;
    const auto report = [&](const std::string& message) { return started ? write_crash_report(message, *started) : write_crash_report(message); };
    const ItemResult result = guarded(source_texts(target.options, &source), report, [&]() -> ItemResult {
      if (declared.at(name) != source.path)
        throw Errors(Diagnostic{ErrorCode::duplicate_name, {source.path, 0, 0}, "program `" + name + "` is declared in " + declared.at(name) + " too",
                                "their output files would be the same: rename one, or compile them one by one", ""});
      check_outputs(target.options, {name}, inputs);
      Item item = make_item(source, program, target.options, target.shared);
      const Outputs outputs = outputs_of(target.options, name, true);
      make_folders(target.options, true);
      item.several = true;
      item.output = outputs.source;
      item.certificate = outputs.certificate;
      item.trace = {"", "", target.options.planted_failure};
      started = item;
      ItemResult compiled = compile_one(item, true);
      // Its proof's certificate is written even where the proof fails.
      const bool certified = compiled.exit_code == exit_done || compiled.details.contains("certificate");
      std::vector<std::string> written;
      if (compiled.exit_code == exit_done) written = {item.output, header_path(item.output)};
      if (certified) written.push_back(item.certificate);
      const std::string place = target.machine() + "/";
      Document hashes = Document::object();
      for (const std::string& path : written) hashes[place + fs::path(path).filename().string()] = journal.hash_of(place + fs::path(path).filename().string());
      for (const char* key : {"source_file", "header_file"}) compiled.details.erase(key);
      compiled.details["outputs"] = std::move(hashes);
      return compiled;
    });
    messages += result.messages;
    results.push_back(document_of(name, result));
  }
  return Document{{"results", results}, {"messages", messages}}.dump(-1, ' ', false, Document::error_handler_t::replace);
}

/// Inputs whose names a result could have. @throws Errors where the index would replace one.
std::vector<std::string> replaceable_inputs(const Options& options, const std::vector<Input>& inputs) {
  const std::vector<std::string> extensions = {".c", ".cu", ".hip", ".h", ".json", ".jsonl", ".txt"};
  std::vector<std::string> replaceable;
  for (const Input& input : inputs)
    if (contains(extensions, fs::path(input.path).extension().string())) replaceable.push_back(input.path);
  for (const char* name : {"index.json", "index.txt", "batch.jsonl"})
    for (const std::string& input : replaceable) {
      std::error_code ignored;
      if (fs::equivalent(options.output + "/" + name, input, ignored)) reject("the index would replace the input " + input, "write it elsewhere");
    }
  return replaceable;
}

class Batch {
 public:
  /// `replaceable`: inputs whose names a result could have.
  Batch(const Options& options, std::vector<Target> targets, std::vector<std::string> replaceable)
      : options_(options), targets_(std::move(targets)), replaceable_(std::move(replaceable)), journal_(options.output), workers_(jobs_of(options)) {}

  int run(const std::vector<Input>& inputs) {
    const std::string tool = hash_of_tool();
    const StopSignal stop;
    Progress progress(inputs.size() * targets_.size());
    for (const Input& input : inputs)
      for (const Target& target : targets_) tasks_.push_back({input.path, "", &target});
    for (std::size_t i = 0; i < inputs.size() && StopSignal::noted() == 0; ++i) {
      start_file(inputs[i], i * targets_.size(), tool, progress);
      progress.clear();
    }
    while (!workers_.idle() && StopSignal::noted() == 0) finish_one();
    check_found();
    write_index();
    return end();
  }

 private:
  static int jobs_of(const Options& options) {
    return options.batch_jobs > 0 ? options.batch_jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  }

  /// Its tasks begin at `first`.
  void start_file(const Input& input, std::size_t first, const std::string& tool, Progress& progress) {
    std::optional<Source> source;
    std::string text;
    std::optional<Errors> errors = input.errors;
    if (!errors) {
      try {
        text = read_file(input.path);
      } catch (const Errors& unreadable) {
        errors = unreadable;
      }
    }
    for (std::size_t t = 0; t < targets_.size() && StopSignal::noted() == 0; ++t) {
      Task& task = tasks_[first + t];
      progress.step(input.path + " " + task.target->machine());
      task.key = key_of(text, *task.target, tool);
      const std::optional<BatchEntry> kept = errors ? std::nullopt : journal_.kept(task.file, task.target->machine(), task.key);
      if (kept && declare(kept->results, task.file)) {
        task.results = kept->results;
        task.kept = true;
        continue;
      }
      if (!errors && !source) {
        // Parsed once, here: its workers share it.
        source = load_source(options_, input.path);
        if (source->errors) errors = source->errors;
        else declare(*source);
      }
      task.skipped = !errors && !options_.program.empty() && programs_of(*source, options_).empty();
      if (task.skipped) continue;
      if (!errors && source->parsed.programs.empty())
        errors = Errors(Diagnostic{ErrorCode::invalid_option, {source->path, 0, 0}, "no program in the file", "a tile file declares programs by `def`", ""});
      if (errors) fail_task(task, *errors, source ? &*source : nullptr, t == 0);
      else start(first + t, *source);
    }
  }

  /// False where another file has one of the programs.
  bool declare(const Document& results, const std::string& file) {
    for (const Document& result : results)
      if (const auto found = declared_.find(result["program"].get<std::string>()); found != declared_.end() && found->second != file) return false;
    for (const Document& result : results) declared_.emplace(result["program"].get<std::string>(), file);
    return true;
  }

  void declare(const Source& source) {
    for (const std::shared_ptr<const Program>& program : programs_of(source, options_)) declared_.emplace(program->name(), source.path);
    for (const Program& program : source.parsed.programs) programs_.push_back(program.name());
  }

  /// @throws Errors where no file has the program that is asked for.
  void check_found() const {
    if (tasks_.empty() || !std::all_of(tasks_.begin(), tasks_.end(), [](const Task& task) { return task.skipped; })) return;
    const std::string nearest = nearest_name(options_.program, programs_);
    throw Errors(Diagnostic{ErrorCode::invalid_option, {}, "no program `" + options_.program + "` in the input",
                            nearest.empty() ? "programs: " + join(programs_, ", ") : "did you mean `" + nearest + "`?", ""});
  }

  void fail_task(Task& task, const Errors& errors, const Source* source, bool first) {
    const ItemResult result = user_error(errors, source_texts(options_, source));
    if (first) show(result.messages);  // once, and not for every machine
    task.results.push_back(document_of("", result));
    finish(task);
  }

  void start(std::size_t index, const Source& source) {
    while (workers_.full() && StopSignal::noted() == 0) finish_one();
    if (StopSignal::noted() != 0) return;
    const Target& target = *tasks_[index].target;
    workers_.start(index, [&] { return compile_file(source, target, journal_, declared_, replaceable_); });
  }

  void finish_one() {
    const std::optional<Workers::Finished> finished = workers_.wait();
    if (!finished || StopSignal::noted() != 0) return;
    Task& task = tasks_[finished->task];
    if (finished->failure.empty()) {
      const Document answer = Document::parse(finished->text);
      task.results = answer["results"];
      show(answer["messages"].get<std::string>());
    } else {
      const ItemResult result = internal_error(task.file + " on " + task.target->machine() + ": " + finished->failure, "");
      show(result.messages);
      task.results.push_back(document_of("", result));
    }
    finish(task);
  }

  void finish(const Task& task) {
    journal_.add({task.file, task.target->machine(), task.key, task.results});
    const auto now = std::chrono::steady_clock::now();
    if (now - index_written_ < std::chrono::seconds(2)) return;
    write_index();
    index_written_ = now;
  }

  BatchIndex index() const {
    std::vector<std::string> machines;
    for (const Target& target : targets_) machines.push_back(target.machine());
    BatchIndex index(machines);
    for (const Task& task : tasks_)
      if (!task.skipped) index.add(task.file, task.target->machine(), task.results, task.kept);
    return index;
  }

  void write_index() const {
    const BatchIndex now = index();
    write_file(options_.output + "/index.json", json_text(now.write(), 1) + "\n");
    write_file(options_.output + "/index.txt", now.table() + now.failures());
  }

  static void show(const std::string& messages) { std::cerr << (colours_wanted() ? coloured(messages) : messages); }

  int end() const {
    const BatchIndex done = index();
    std::cout << (options_.json ? json_text(done.write()) + "\n" : done.table());
    std::cerr << done.failures();
    return StopSignal::noted() != 0 ? 128 + StopSignal::noted() : done.exit_code();
  }

  const Options& options_;
  const std::vector<Target> targets_;
  const std::vector<std::string> replaceable_;
  BatchJournal journal_;
  std::vector<Task> tasks_;
  std::map<std::string, std::string> declared_;  ///< program -> its file
  std::vector<std::string> programs_;            ///< of all files that were parsed, asked for or not
  std::chrono::steady_clock::time_point index_written_ = std::chrono::steady_clock::now();
  Workers workers_;  ///< last: what still runs goes first
};

}  // namespace

int run_batch(const Options& options) {
  if (options.inputs.empty()) reject("no input", "give tile files or folders, e.g. tileopt-schedule compile kernels/ --machines zen4,h100 -o out");
  std::vector<Target> targets = read_targets(options);
  const std::vector<Input> inputs = collect_inputs(options.inputs);
  std::vector<std::string> replaceable = replaceable_inputs(options, inputs);
  if (!options.sizes.empty()) check_size_options(load_sources(options), targets.front().shared.sizes);
  return Batch(options, std::move(targets), std::move(replaceable)).run(inputs);
}

}  // namespace tileopt::cli
