/// The subcommands and options of tileopt-schedule as one object: parsed for a run, walked for shell completion and the manual
/// page, which therefore cannot fall behind.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <utility>
#include <vector>

#include "frontends/cli/options.h"

namespace tileopt::cli {

class CommandLine {
 public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Options options;  ///< first: the app writes into it
  CLI::App app;

  /// The subcommand that was parsed.
  Command command() const;
  /// What an option of this type name, called `option` ("--machine"; a positional's name), may be given; {}: anything.
  std::vector<std::string> choices(const std::string& type_name, const std::string& option) const;

 private:
  CLI::App& add_command(const std::string& name, const std::string& description, Command command);
  void add_compilers();
  void add_measurers();
  void add_searchers();
  void add_writers();
  void add_informers();

  std::vector<std::pair<const CLI::App*, Command>> commands_;
};

}  // namespace tileopt::cli
