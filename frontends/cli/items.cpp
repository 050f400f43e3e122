#include "frontends/cli/items.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>

#include "driver/device_report.h"
#include "frontends/cli/colour.h"
#include "frontends/cli/crash_report.h"
#include "frontends/cli/guard.h"
#include "frontends/cli/outputs.h"
#include "frontends/cli/progress.h"
#include "frontends/cli/sources.h"
#include "support/document_reader.h"
#include "support/json_text.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

/// Collects the results of a run and says at its end what failed.
class Results {
 public:
  explicit Results(const Options& options) : options_(options) {}

  void add(const std::string& file, const std::string& program, ItemResult result) {
    exit_code_ = std::max(exit_code_, result.exit_code);
    ++count_;
    const std::string name = program.empty() ? file : program;
    if (result.exit_code != exit_done) failures_.push_back(name + " (" + status_name(result.exit_code) + "): " + result.summary);
    std::cerr << (colours_wanted() ? coloured(result.messages) : result.messages);
    if (code_.empty() && result.details.contains("diagnostics")) code_ = result.details["diagnostics"].front()["code"].get<std::string>();
    if (code_.empty() && result.details.contains("infeasible")) code_ = result.details["infeasible"]["code"].get<std::string>();
    if (result.exit_code == exit_done && !result.summary.empty() && !options_.json) std::cerr << name << ": " << result.summary << "\n";
    Document entry = {{"file", file}, {"program", program}, {"status", status_name(result.exit_code)}, {"exit_code", result.exit_code}};
    for (const auto& [key, value] : result.details.items()) entry[key] = value;
    results_.push_back(std::move(entry));
  }

  int finish() const {
    if (count_ > 1 && !failures_.empty()) {
      std::cerr << count_ - static_cast<int>(failures_.size()) << " of " << count_ << " done, " << failures_.size() << " failed:\n";
      for (const std::string& failure : failures_) std::cerr << "  " << failure << "\n";
    }
    if (!code_.empty() && isatty(STDERR_FILENO) == 1) std::cerr << "More about an error: tileopt-schedule explain-error " << code_ << "\n";
    if (options_.json)
      std::cout << json_text(Document{{"format", "tileopt-result/1"}, {"version", TILEOPT_VERSION}, {"exit_code", exit_code_}, {"results", results_}}) << "\n";
    return exit_code_;
  }

 private:
  const Options& options_;
  int exit_code_ = exit_done;
  int count_ = 0;
  std::vector<std::string> failures_;
  std::string code_;  // of the first error
  Document results_ = Document::array();
};

/// One name for each item; a file with errors counts as one program, so that it does not change where the others go.
std::vector<std::string> names_of(const std::vector<Source>& sources, const Options& options) {
  std::vector<std::string> names;
  for (const Source& source : sources) {
    if (source.errors) names.push_back(std::filesystem::path(source.path).stem().string());
    else
      for (const std::shared_ptr<const Program>& program : programs_of(source, options)) names.push_back(program->name());
  }
  return names;
}

std::vector<std::string> paths_of(const std::vector<Source>& sources) {
  std::vector<std::string> paths;
  for (const Source& source : sources)
    if (!source.resumed) paths.push_back(source.path);
  return paths;
}

Errors no_program(const std::vector<Source>& sources, const Options& options) {
  if (options.program.empty()) return Errors(Diagnostic{ErrorCode::invalid_option, {}, "no program in the input", "a tile file declares programs by `def`", ""});
  Options all = options;
  all.program.clear();
  const std::vector<std::string> names = names_of(sources, all);
  const std::string nearest = nearest_name(options.program, names);
  return Errors(Diagnostic{ErrorCode::invalid_option, {}, "no program `" + options.program + "` in the input",
                           nearest.empty() ? "programs: " + join(names, ", ") : "did you mean `" + nearest + "`?", ""});
}

/// Registers are counted by the proof: where a pin asks for more than there are, that pin is refused.
std::optional<Infeasible> beyond_capacity(const Certificate& certificate, const Item& item) {
  int count = 0;
  const Obligation* first = first_unproved(certificate, count);
  // A promoted array is called after its tensor.
  const auto pin = std::find_if(item.request.pins.pins.begin(), item.request.pins.pins.end(), [&](const Pin& p) {
    return p.primitive == "promote" && !p.arguments.empty() && first != nullptr && first->subject.starts_with(p.arguments.front() + "_");
  });
  const bool alone = std::all_of(certificate.obligations.begin(), certificate.obligations.end(),
                                 [](const Obligation& o) { return o.verdict == Verdict::proved || o.name == "capacity"; });
  if (first == nullptr || first->verdict != Verdict::refuted || !alone || pin == item.request.pins.pins.end()) return std::nullopt;
  return Infeasible{"capacity", "verify", "", first->plan_entry, first->subject + ": " + first->reason, pin->where, first->witness, "promote less, or below another loop"};
}

ItemResult not_proved(const Certificate& certificate, const Item& item) {
  int count = 0;
  const Obligation* first = first_unproved(certificate, count);
  const std::string summary = "not proved: " + unproved_text(certificate);
  if (first == nullptr) return failure(exit_not_proved, summary, item.program->name() + ": " + summary + "\n");
  const std::string message = "program `" + item.program->name() + "` is not proved: " + first->name + " of " + first->subject +
                              (first->verdict == Verdict::refuted ? " is refuted: " : " was not attempted: ") + first->reason +
                              (count > 1 ? " (and " + std::to_string(count - 1) + " more)" : "");
  const bool given = !item.edited.empty() || item.request.plan.has_value();
  std::string hint = "nothing was written; this is a bug in tileopt, please report it";
  if (given) hint = "nothing was written; the plan or dump that was given is wrong there";
  else if (first->verdict == Verdict::not_attempted) hint = "nothing was written; the proof ended at a limit and found no fault: another schedule may be within it, e.g. --pin 'schedule(\"original\")'";
  const SourceLocation where = first->where.line == 0 ? SourceLocation{item.file, 0, 0} : first->where;
  return failure(exit_not_proved, summary, render_message(where, message, "not-proved", first->witness, hint, item.texts) + "\n");
}

}  // namespace

Document certificate_summary(const Certificate& certificate) {
  int proved = 0, refuted = 0, open = 0;
  for (const Obligation& obligation : certificate.obligations) {
    switch (obligation.verdict) {
      case Verdict::proved: ++proved; break;
      case Verdict::refuted: ++refuted; break;
      case Verdict::not_attempted: ++open; break;
    }
  }
  return {{"proved", proved}, {"refuted", refuted}, {"not_attempted", open}};
}

ItemResult refused_result(const Item& item, const Infeasible& refused) {
  if (refused.code == stopped_code) {
    ItemResult result;
    result.summary = refused.reason;
    return result;
  }
  return refusal(refused, item.texts);
}

Compiled compile_item(const Item& item) {
  Compiled compiled;
  const auto start = std::chrono::steady_clock::now();
  Trace trace(item.trace);
  Candidate<Outcome> candidate = resolve_and_compile(item.program, item.request, trace, item.edited);
  compiled.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (const auto* refused = std::get_if<Infeasible>(&candidate)) {
    compiled.failed = refused_result(item, *refused);
    return compiled;
  }
  auto& outcome = std::get<Outcome>(candidate);
  if (item.device_report) outcome.module.certificate.device = report_device_code(*item.program, outcome.module.text, item.request.machine);
  if (!item.certificate.empty()) write_file(item.certificate, json_text(outcome.module.certificate.write()) + "\n");
  const std::string unproved = item.request.proof.attempt ? unproved_text(outcome.module.certificate) : "";
  if (!unproved.empty()) {
    const std::optional<Infeasible> beyond = beyond_capacity(outcome.module.certificate, item);
    compiled.failed = beyond ? refused_result(item, *beyond) : not_proved(outcome.module.certificate, item);
    compiled.failed.details["certificate"] = outcome.module.certificate.write();
    return compiled;
  }
  compiled.reasons = std::move(outcome.reasons);
  compiled.module = std::move(outcome.module);
  return compiled;
}

int run_items(const Options& options, const std::function<ItemResult(const Item&)>& command) {
  Results results(options);
  std::vector<Source> sources;
  Shared shared;
  const auto report = [](const std::string& message) { return write_crash_report(message); };
  const ItemResult loaded = guarded(source_texts(options, nullptr), report, [&] {
    sources = load_sources(options);
    shared = options.start_from.empty() ? read_shared(options) : shared_of_dump(sources.front(), options);
    Trace(TraceOptions{"", options.stop_after, ""});
    return ItemResult();
  });
  if (loaded.exit_code != exit_done) {
    results.add("", "", loaded);
    return results.finish();
  }

  std::size_t total = 0;
  for (const Source& source : sources) total += source.errors ? 1 : programs_of(source, options).size();
  const bool several = total > 1;
  const ItemResult checked = guarded(source_texts(options, nullptr), report, [&] {
    check_size_options(sources, shared.sizes);
    check_outputs(options, names_of(sources, options), paths_of(sources));
    return ItemResult();
  });
  if (checked.exit_code != exit_done) {
    results.add("", "", checked);
    return results.finish();
  }
  Progress progress(total);
  std::map<std::string, std::string> declared;  // program -> file
  for (Source& source : sources) {
    if (source.errors) {
      progress.step(source.path);
      const ItemResult result = guarded(source_texts(options, &source), report, [&]() -> ItemResult { throw *source.errors; });
      progress.clear();
      results.add(source.path, "", result);
      continue;
    }
    for (const std::shared_ptr<const Program>& program : programs_of(source, options)) {
      const std::string name = program->name();
      progress.step(name);
      std::optional<Item> started;
      const auto report_item = [&](const std::string& message) {
        return started ? write_crash_report(message, *started) : write_crash_report(message);
      };
      const ItemResult result = guarded(source_texts(options, &source), report_item, [&]() -> ItemResult {
        const auto [first, fresh] = declared.emplace(name, source.path);
        if (!fresh && !(options.output.empty() && options.certificate.empty() && options.module.empty() && options.dump_dir.empty()))
          throw Errors(Diagnostic{ErrorCode::duplicate_name, {source.path, 0, 0}, "program `" + name + "` is declared in " + first->second + " too",
                                  "their output files would be the same: rename one, or compile them one by one", ""});
        Item item = make_item(source, program, options, shared);
        if (source.resumed) item.edited = source.resumed->asts;
        const Outputs outputs = outputs_of(options, name, several);
        make_folders(options, several);
        item.several = several;
        item.output = outputs.source;
        item.certificate = outputs.certificate;
        item.module = outputs.module;
        item.device_report = options.device_report;
        item.trace = {outputs.dump_dir, options.stop_after, options.planted_failure};
        started = item;
        return command(item);
      });
      progress.clear();
      results.add(source.path, name, result);
    }
  }
  progress.clear();
  if (total == 0) {
    results.add("", "", guarded(source_texts(options, nullptr), report, [&]() -> ItemResult { throw no_program(sources, options); }));
  }
  return results.finish();
}

}  // namespace tileopt::cli
