#include "frontends/cli/command_model.h"

#include <algorithm>

namespace tileopt::cli {

namespace {

bool names_a_path(const std::string& type_name) {
  for (const char* part : {"PATH", "FILE", "FOLDER", "DUMP"})
    if (type_name.find(part) != std::string::npos) return true;
  return false;
}

OptionModel model_of(const CommandLine& line, const CLI::Option& option) {
  OptionModel model;
  model.positional = option.get_positional();
  if (model.positional) model.names.push_back(option.get_name());
  for (const std::string& name : option.get_snames()) model.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) model.names.push_back("--" + name);
  const bool takes_value = option.get_items_expected_max() > 0 && option.get_type_size() > 0;
  // A check adds its own words, "INT:INT in [1 - 4096]".
  if (takes_value) model.value = option.get_type_name().substr(0, option.get_type_name().find(':'));
  model.description = option.get_description();
  model.default_value = option.get_default_str();
  model.choices = line.choices(model.value, model.names.back());
  model.repeats = option.get_items_expected_max() > 1;
  model.files = names_a_path(model.value);
  return model;
}

CommandModel model_of(const CommandLine& line, const CLI::App& app) {
  CommandModel model{app.get_name(), app.get_description(), {}};
  for (const CLI::Option* option : app.get_options()) model.options.push_back(model_of(line, *option));
  std::stable_partition(model.options.begin(), model.options.end(), [](const OptionModel& option) { return option.positional; });
  return model;
}

}  // namespace

std::vector<CommandModel> command_models(const CommandLine& line, CommandModel& general) {
  general = model_of(line, line.app);
  std::vector<CommandModel> commands;
  for (const CLI::App* command : line.app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(model_of(line, *command));
  return commands;
}

}  // namespace tileopt::cli
