#include "frontends/cli/crash_report.h"

#include <stdlib.h>
#include <sys/utsname.h>

#include <filesystem>

#include "frontends/tile_text/tile_text.h"
#include "poly/isl.h"

namespace tileopt::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_copy = 16u << 20;

struct ReportContext {
  std::vector<std::string> arguments;
  std::string folder = "/tmp";
};
ReportContext context;

std::string quoted(const std::string& argument) {
  if (!argument.empty() && argument.find_first_of(" \t\n\"'\\$`*?[](){}<>|&;#~!") == std::string::npos) return argument;
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string command_text() {
  std::string text;
  for (const std::string& argument : context.arguments) text += (text.empty() ? "" : " ") + quoted(argument);
  return text + "\n";
}

std::string version_text() {
  utsname system{};
  const bool known = uname(&system) == 0;
  return "tileopt " TILEOPT_VERSION " (" + poly::isl_version_text() + ", compiler " __VERSION__ ")\n" +
         (known ? std::string(system.sysname) + " " + system.release + " " + system.machine + "\n" : "");
}

/// Files that the command line names, e.g. tile files, a plan or a machine file.
void copy_inputs(const std::string& folder) {
  std::error_code ignored;
  for (std::size_t i = 1; i < context.arguments.size(); ++i) {
    const fs::path path = context.arguments[i];
    if (!fs::is_regular_file(path, ignored) || fs::file_size(path, ignored) > largest_copy) continue;
    fs::create_directories(folder + "/inputs", ignored);
    fs::copy_file(path, folder + "/inputs/" + path.filename().string(), fs::copy_options::skip_existing, ignored);
  }
}

std::string make_report(const std::string& message) {
  std::string folder = context.folder + "/tileopt-report-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return "";
  write_file(folder + "/version.txt", version_text());
  write_file(folder + "/command.txt", command_text());
  write_file(folder + "/message.txt", message + "\n");
  copy_inputs(folder);
  return folder;
}

void dump_stages_again(const std::string& folder, const Item& item) {
  Item again = item;
  again.trace.dump_dir = folder + "/stages";
  again.certificate.clear();
  try {
    compile_item(again);
  } catch (const std::exception&) {
    // The fault that is being reported.
  }
}

}  // namespace

void begin_reports(int argc, const char* const* argv) {
  context.arguments.assign(argv, argv + argc);
  for (const char* name : {"TMPDIR", "TILEOPT_REPORT_DIR"})
    if (const char* folder = getenv(name); folder != nullptr && *folder != '\0') context.folder = folder;
}

std::string write_crash_report(const std::string& message) {
  try {
    return make_report(message);
  } catch (const std::exception&) {
    return "";
  }
}

std::string write_crash_report(const std::string& message, const Item& item) {
  const std::string folder = write_crash_report(message);
  if (folder.empty()) return "";
  try {
    write_file(folder + "/input.tile", item.program->text());
    write_file(folder + "/machine.json", item.request.machine.write().dump(2) + "\n");
    if (item.request.plan) write_file(folder + "/plan.json", item.request.plan->write().dump(2) + "\n");
    if (!item.request.pins.pins.empty()) write_file(folder + "/pins.txt", print_pins(item.request.pins));
    dump_stages_again(folder, item);
  } catch (const std::exception&) {
    // A part of a report is better than none.
  }
  return folder;
}

}  // namespace tileopt::cli
