#include "frontends/cli/outputs.h"

#include <filesystem>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "support/document.h"
#include "support/error.h"

namespace tileopt::cli {

namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) { return path.ends_with('/') || fs::is_directory(path); }

std::string place(const std::string& path, const std::string& program, const std::string& extension, bool several) {
  if (path.empty() || (!several && !is_folder(path))) return path;
  return (fs::path(path) / (program + extension)).string();
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code failure;
  if (fs::equivalent(a, b, failure)) return true;
  const fs::path left = fs::weakly_canonical(a, failure), right = fs::weakly_canonical(b, failure);
  return !failure && left == right;
}

[[noreturn]] void refuse(const std::string& path, const std::string& message, const std::string& hint) {
  throw Errors(Diagnostic{ErrorCode::invalid_option, {path, 0, 0}, message, hint, ""});
}

/// A name with the extension of a file is meant as one.
void check_folder(const std::string& path, const std::string& option, const std::string& extension) {
  if (path.ends_with(extension) && !is_folder(path))
    refuse(path, "several programs cannot share one file", "give a folder, e.g. " + option + " out/, or one program with --program");
}

/// The options whose files are read beside the inputs.
std::vector<std::string> files_of_options(const Options& options) {
  std::vector<std::string> files;
  if (!options.plan.starts_with("@")) files.push_back(options.plan);
  files.push_back(options.machine);
  files.push_back(options.start_from);
  files.push_back(options.records);
  std::erase_if(files, [](const std::string& file) { return file.empty() || !fs::is_regular_file(file); });
  return files;
}

void check_not_read(const std::string& written, const std::vector<std::string>& read) {
  for (const std::string& file : read)
    if (same_file(written, file)) refuse(written, "the result would replace an input of this command", "write it elsewhere");
}

}  // namespace

std::string header_path(const std::string& source) { return fs::path(source).replace_extension(".h").string(); }

std::string source_extension(const Options& options) {
  if (!options.backend.empty()) return find_backend(options.backend).extension();
  const bool plan = options.machine.empty() && !options.plan.empty() && options.plan[0] != '@';
  const std::string machine = plan ? Plan::read(parse_json(read_file(options.plan), options.plan), options.plan).machine : options.machine;
  return machine.empty() ? ".c" : find_backend(find_machine(machine).backend).extension();
}

Outputs outputs_of(const Options& options, const std::string& program, bool several) {
  const bool nested = several && !options.dump_dir.empty();
  return {place(options.output, program, source_extension(options), several), place(options.certificate, program, ".json", several),
          place(options.module, program, ".json", several), nested ? options.dump_dir + "/" + program : options.dump_dir};
}

void check_outputs(const Options& options, const std::vector<std::string>& programs, const std::vector<std::string>& inputs) {
  const bool several = programs.size() > 1;
  if (several) {
    check_folder(options.output, "-o", source_extension(options));
    check_folder(options.certificate, "--certificate", ".json");
    check_folder(options.module, "--module", ".json");
  }
  std::vector<std::string> read = files_of_options(options);
  read.insert(read.end(), inputs.begin(), inputs.end());
  for (const std::string& program : programs) {
    const Outputs outputs = outputs_of(options, program, several);
    std::vector<std::string> written;
    if (!outputs.source.empty()) written = {outputs.source, header_path(outputs.source)};
    for (const std::string& file : written) {
      check_not_read(file, read);
      if (!outputs.certificate.empty() && same_file(file, outputs.certificate))
        refuse(file, "the certificate would replace the C", "give -o and --certificate different files");
    }
    if (!outputs.certificate.empty()) check_not_read(outputs.certificate, read);
    // A resumed dump may be written anew; a tile file is its writer's.
    if (!outputs.dump_dir.empty()) check_not_read((fs::path(outputs.dump_dir) / "00-program.tile").string(), inputs);
    if (outputs.module.empty()) continue;
    check_not_read(outputs.module, read);
    for (const std::string& file : {outputs.source, outputs.source.empty() ? "" : header_path(outputs.source), outputs.certificate})
      if (!file.empty() && same_file(file, outputs.module)) refuse(file, "the module would replace another result", "give --module a file of its own");
  }
}

void make_folders(const Options& options, bool several) {
  for (const std::string& path : {options.output, options.certificate, options.module}) {
    if (path.empty() || (!several && !is_folder(path))) continue;
    std::error_code failure;
    fs::create_directories(path, failure);
    if (!fs::is_directory(path))
      throw Errors(Diagnostic{ErrorCode::file_access, {path, 0, 0}, "cannot make the folder: " + failure.message(),
                              "several programs need a folder that can be written", ""});
  }
}

}  // namespace tileopt::cli
