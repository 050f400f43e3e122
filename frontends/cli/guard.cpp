#include "frontends/cli/guard.h"

#include <new>

#include "support/entry_location.h"

namespace tileopt::cli {

namespace {

Document place_document(const SourceLocation& where) {
  Document place = {{"file", where.file}, {"line", where.line}, {"column", where.column}};
  if (where.end_line > 0) {
    place["end_line"] = where.end_line;
    place["end_column"] = where.end_column;
  }
  return place;
}

Document diagnostics_document(const Errors& errors) {
  Document list = Document::array();
  for (const Diagnostic& diagnostic : errors.diagnostics()) {
    Document entry = place_document(diagnostic.where);
    entry["code"] = error_code_name(diagnostic.code);
    entry["message"] = diagnostic.message;
    entry["hint"] = diagnostic.hint;
    entry["witness"] = diagnostic.witness;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

ItemResult failure(int exit_code, const std::string& summary, const std::string& messages) {
  ItemResult result;
  result.messages = messages;
  result.exit_code = exit_code;
  result.summary = summary;
  result.details["message"] = summary;
  return result;
}

ItemResult user_error(const Errors& unlocated, const SourceTexts& texts) {
  const Errors errors = locate_entries(unlocated, texts);
  const std::size_t count = errors.diagnostics().size();
  ItemResult result = failure(exit_user_error, count == 1 ? errors.diagnostics().front().message : std::to_string(count) + " errors",
                              render_errors(errors, texts) + "\n");
  result.details["diagnostics"] = diagnostics_document(errors);
  return result;
}

ItemResult refusal(const Infeasible& infeasible, const SourceTexts& texts) {
  ItemResult result = failure(exit_infeasible, infeasible.reason + " [" + infeasible.code + "]", render_refusal(infeasible, texts) + "\n");
  Document details = {{"code", infeasible.code}, {"stage", infeasible.stage}, {"kernel", infeasible.kernel},
                      {"plan_entry", infeasible.plan_entry}, {"reason", infeasible.reason},
                      {"witness", infeasible.witness}, {"hint", infeasible.hint}};
  if (infeasible.where.line > 0) details["where"] = place_document(infeasible.where);
  result.details["infeasible"] = std::move(details);
  return result;
}

ItemResult wrong_result(const std::string& file, const std::string& program, const std::string& what) {
  const std::string hint = "the kernel was proved, so this is a bug in tileopt or in the C compiler: please report it";
  return failure(exit_not_proved, what,
                 render_message({file, 0, 0}, "program `" + program + "`: check failed " + what, "not-proved", "", hint, SourceTexts()) + "\n");
}

ItemResult internal_error(const std::string& message, const std::string& report) {
  std::string text = "internal error: " + message + " [internal]\n  This is a bug in tileopt, not in your program.\n";
  text += report.empty() ? "  hint: report it with the input and the command line (no report could be written)\n"
                         : "  hint: report it, with the folder " + report + "\n        (version, command line, input, machine, plan, stages)\n";
  ItemResult result = failure(exit_internal, "internal error: " + message, text);
  if (!report.empty()) result.details["report"] = report;
  return result;
}

ItemResult guarded(const SourceTexts& texts, const std::function<std::string(const std::string& message)>& write_report,
                   const std::function<ItemResult()>& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return user_error(Errors(Diagnostic{ErrorCode::invalid_size, {}, "there is not enough memory for the arrays of these sizes", "choose smaller sizes", ""}), texts);
  } catch (const Errors& errors) {
    return user_error(errors, texts);
  } catch (const ToolchainError& error) {
    return failure(exit_no_toolchain, error.what(), std::string("error: ") + error.what() + " [no-toolchain]\n");
  } catch (const std::exception& error) {
    return internal_error(error.what(), write_report(error.what()));
  } catch (...) {
    return internal_error("unknown exception", write_report("unknown exception"));
  }
}

std::string status_name(int exit_code) {
  switch (exit_code) {
    case exit_done: return "done";
    case exit_user_error: return "error";
    case exit_infeasible: return "infeasible";
    case exit_not_proved: return "failed";
    case exit_no_toolchain: return "no toolchain";
    case 130:
    case 143: return "interrupted";
    default: return "internal error";
  }
}

}  // namespace tileopt::cli
