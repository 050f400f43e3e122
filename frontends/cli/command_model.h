/// The command line as plain data, read off the CLI11 app: what completion scripts and the manual page are made of.
#pragma once

#include <string>
#include <vector>

#include "frontends/cli/app.h"

namespace tileopt::cli {

struct OptionModel {
  std::vector<std::string> names;     ///< "-m", "--machine"; a positional has one without dashes
  std::string value;                  ///< "NAME|FILE", "" for flags
  std::string description;
  std::string default_value;          ///< "" = none
  std::vector<std::string> choices;   ///< fixed values
  bool positional = false;
  bool repeats = false;
  bool files = false;                 ///< the value may be a path
};

struct CommandModel {
  std::string name, description;
  std::vector<OptionModel> options;   ///< in the order of --help, positionals first
};

/// The subcommands; `general` gets the options of the tool itself.
std::vector<CommandModel> command_models(const CommandLine& line, CommandModel& general);

}  // namespace tileopt::cli
