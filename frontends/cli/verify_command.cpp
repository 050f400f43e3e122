#include <iostream>

#include "driver/module_file.h"
#include "frontends/cli/colour.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/crash_report.h"
#include "frontends/cli/guard.h"
#include "frontends/cli/items.h"
#include "support/json_text.h"

namespace tileopt::cli {

namespace {

constexpr std::size_t most_differences = 8;  // that are shown

std::string difference_text(const std::vector<std::string>& differences) {
  std::string text;
  for (std::size_t i = 0; i < differences.size() && i < most_differences; ++i) text += "  " + differences[i] + "\n";
  if (differences.size() > most_differences) text += "  and " + std::to_string(differences.size() - most_differences) + " more\n";
  return text;
}

/// The first thing that the second proof lacks, or where it differs from the certificate of the file.
ItemResult judged(const ModuleFile& file, const ModuleCheck& check, const SourceTexts& texts, const std::string& path) {
  ItemResult result;
  const Document counts = certificate_summary(check.certificate);
  const std::string name = file.program->name();
  if (check.confirmed()) {
    result.summary = counts["proved"].dump() + " obligations proved again";
  } else if (!check.certificate.proved()) {
    int count = 0;
    const Obligation* first = first_unproved(check.certificate, count);
    const std::string message = "module of `" + name + "` is not proved: " + unproved_text(check.certificate);
    result = failure(exit_not_proved, "not proved: " + unproved_text(check.certificate),
                     render_message(first == nullptr ? SourceLocation{path, 0, 0} : first->where, message, "not-proved", first == nullptr ? "" : first->witness,
                                    "the module was changed, or was never proved: compile it again", texts) + "\n" + difference_text(check.differences));
  } else {
    result = failure(exit_not_proved, check.differences.front(),
                     render_message({path, 0, 0}, "module of `" + name + "` is not what its certificate is about", "not-proved", "",
                                    "the module was changed after it was written: compile it again", texts) + "\n" + difference_text(check.differences));
  }
  result.details["obligations"] = counts;
  result.details["differences"] = check.differences;
  result.details["certificate"] = check.certificate.write();
  return result;
}

ItemResult verify_file(const std::string& path, const std::string& certificate, const SourceTexts& texts, std::string& program) {
  poly::Context context;
  const ModuleFile file = read_module(context.get(), path);
  program = file.program->name();
  const ModuleCheck check = check_module(file, {});
  if (!certificate.empty()) write_file(certificate, json_text(check.certificate.write()) + "\n");
  return judged(file, check, texts, path);
}

}  // namespace

int run_verify(const Options& options) {
  int exit_code = exit_done;
  Document results = Document::array();
  for (const std::string& path : options.inputs) {
    SourceTexts texts;
    texts.read_missing_files(true);
    std::string program;
    const auto report = [](const std::string& message) { return write_crash_report(message); };
    const ItemResult result = guarded(texts, report, [&]() -> ItemResult {
      if (options.inputs.size() > 1 && !options.certificate.empty())
        throw Errors(Diagnostic{ErrorCode::invalid_option, {}, "--certificate is for one module", "verify the modules one by one", ""});
      return verify_file(path, options.certificate, texts, program);
    });
    exit_code = std::max(exit_code, result.exit_code);
    std::cerr << (colours_wanted() ? coloured(result.messages) : result.messages);
    if (result.exit_code == exit_done && !options.json) std::cerr << program << ": " << result.summary << "\n";
    Document entry = {{"file", path}, {"program", program}, {"status", status_name(result.exit_code)}, {"exit_code", result.exit_code}};
    for (const auto& [key, value] : result.details.items()) entry[key] = value;
    results.push_back(std::move(entry));
  }
  if (options.json)
    std::cout << json_text(Document{{"format", "tileopt-result/1"}, {"version", TILEOPT_VERSION}, {"exit_code", exit_code}, {"results", results}}) << "\n";
  return exit_code;
}

}  // namespace tileopt::cli
