#include "frontends/cli/options.h"

#include <cstdlib>

#include "frontends/cli/app.h"
#include "support/document_reader.h"
#include "support/error.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

/// The subcommand that the words start with, or the tool itself.
const CLI::App& command_of(const CommandLine& line, int argc, const char* const* argv) {
  for (const CLI::App* command : line.app.get_subcommands([](const CLI::App*) { return true; }))
    for (int i = 1; i < argc; ++i)
      if (command->get_name() == argv[i]) return *command;
  return line.app;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> command_names(const CommandLine& line) {
  std::vector<std::string> names;
  for (const CLI::App* command : line.app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(command->get_name());
  return names;
}

/// "The following argument was not expected: --colour" -> "--colour", else "".
std::string unexpected_word(const std::string& message) {
  const std::size_t start = message.find("not expected: ");
  if (start == std::string::npos) return "";
  const std::string words = message.substr(start + 14);
  return words.substr(0, words.find_first_of(" \n"));
}

/// What CLI11 found wrong, in the form of every other error.
Errors command_line_error(const CommandLine& line, const CLI::App& command, const CLI::ParseError& error, const std::string& first_word) {
  const bool tool = &command == &line.app;
  const std::string help = "see `tileopt-schedule " + (tool ? "" : command.get_name() + " ") + "--help`";
  const std::string unexpected = unexpected_word(error.what());
  const std::string word = tool && unexpected.empty() ? first_word : unexpected;
  Diagnostic diagnostic{ErrorCode::invalid_option, {}, error.what(), help, ""};
  if (tool && (word.empty() || !word.starts_with("-"))) {
    const std::string near = nearest_name(word, command_names(line));
    diagnostic.message = word.empty() ? "no command is given" : "there is no command `" + word + "`";
    diagnostic.hint = near.empty() ? "commands: " + join(command_names(line), ", ") : "did you mean `" + near + "`?";
  } else if (!word.empty()) {
    const std::string near = nearest_name(word, option_names(command));
    diagnostic.message = (word.starts_with("-") ? "there is no option `" : "nothing is expected where `") + word + (word.starts_with("-") ? "`" : "` stands");
    diagnostic.hint = near.empty() ? help : "did you mean `" + near + "`?";
  }
  return Errors(std::move(diagnostic));
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw command_line_error(line, command_of(line, argc, argv), error, argc > 1 ? argv[1] : "");
    line.app.exit(error);  // --help, --version
    return {std::nullopt, exit_done};
  }
  line.options.command = line.command();
  if (const char* planted = std::getenv("TILEOPT_TEST_FAIL"); planted != nullptr) line.options.planted_failure = planted;
  return {line.options, exit_done};
}

}  // namespace tileopt::cli
