/// Completion scripts for bash, zsh and fish, generated from the command model.
#include <iostream>
#include <sstream>

#include "frontends/cli/command_model.h"
#include "frontends/cli/commands.h"
#include "support/error.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

constexpr const char* tool = "tileopt-schedule";

std::vector<std::string> command_names(const std::vector<CommandModel>& commands) {
  std::vector<std::string> names;
  for (const CommandModel& command : commands) names.push_back(command.name);
  return names;
}

std::vector<std::string> option_names(const CommandModel& command) {
  std::vector<std::string> names;
  for (const OptionModel& option : command.options)
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::string single_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// Bash commands that fill COMPREPLY with the values of an option.
std::string bash_values(const OptionModel& option) {
  std::string text;
  if (!option.choices.empty()) text += "COMPREPLY+=($(compgen -W \"" + join(option.choices, " ") + "\" -- \"$cur\"));";
  if (option.files) text += "compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- \"$cur\"));";
  return text;
}

std::string bash_script(const CommandModel& general, const std::vector<CommandModel>& commands) {
  std::ostringstream text;
  text << "# bash completion for " << tool << "; use: source <(" << tool << " completion bash)\n"
       << "_tileopt_schedule() {\n"
       << "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" command=\"\" i\n"
       << "  COMPREPLY=()\n"
       << "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
       << "    case \"${COMP_WORDS[i]}\" in\n"
       << "      " << join(command_names(commands), "|") << ") command=\"${COMP_WORDS[i]}\"; break ;;\n"
       << "    esac\n"
       << "  done\n"
       << "  case \"$command $prev\" in\n";
  for (const CommandModel& command : commands)
    for (const OptionModel& option : command.options) {
      if (option.positional || option.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) patterns.push_back("\"" + command.name + " " + name + "\"");
      text << "    " << join(patterns, "|") << ") " << bash_values(option) << " return ;;\n";
    }
  text << "  esac\n"
       << "  case \"$command\" in\n"
       << "    \"\") COMPREPLY=($(compgen -W \"" << join(command_names(commands), " ") << " " << join(option_names(general), " ")
       << "\" -- \"$cur\")) ;;\n";
  for (const CommandModel& command : commands) {
    text << "    " << command.name << ")\n"
         << "      if [[ \"$cur\" == -* ]]; then\n"
         << "        COMPREPLY=($(compgen -W \"" << join(option_names(command), " ") << "\" -- \"$cur\"))\n"
         << "      else\n"
         << "        :\n";
    for (const OptionModel& option : command.options)
      if (option.positional && !bash_values(option).empty()) text << "        " << bash_values(option) << "\n";
    text << "      fi ;;\n";
  }
  text << "  esac\n"
       << "}\n"
       << "complete -F _tileopt_schedule " << tool << "\n";
  return text.str();
}

/// Text inside [...] and between colons of a zsh specification.
std::string zsh_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_action(const OptionModel& option) {
  const std::string choices = option.choices.empty() ? "" : "(" + join(option.choices, " ") + ")";
  if (option.files && !choices.empty()) return "{_alternative 'values:value:" + choices + "' 'files:file:_files'}";
  return option.files ? "_files" : choices.empty() ? " " : choices;
}

std::string zsh_spec(const OptionModel& option) {
  const std::string description = "[" + zsh_escaped(option.description) + "]";
  const std::string value = option.value.empty() ? "" : ":" + zsh_escaped(option.value) + ":" + zsh_action(option);
  if (option.positional) return single_quoted((option.repeats ? "*" : "") + value);
  std::vector<std::string> specs;
  for (const std::string& name : option.names)
    specs.push_back(single_quoted((option.repeats ? "*" : "(" + join(option.names, " ") + ")") + name + description + value));
  return join(specs, " ");
}

std::string zsh_script(const CommandModel& general, const std::vector<CommandModel>& commands) {
  std::ostringstream text;
  text << "#compdef " << tool << "\n"
       << "# zsh completion; put it into a folder of $fpath as _" << tool << "\n"
       << "_tileopt_schedule() {\n"
       << "  local context state state_descr line\n"
       << "  typeset -A opt_args\n"
       << "  _arguments -C \\\n";
  for (const OptionModel& option : general.options) text << "    " << zsh_spec(option) << " \\\n";
  text << "    '1:command:->command' '*::argument:->argument'\n"
       << "  case \"$state\" in\n"
       << "    command)\n"
       << "      local -a commands=(\n";
  for (const CommandModel& command : commands) text << "        " << single_quoted(zsh_escaped(command.name) + ":" + command.description) << "\n";
  text << "      )\n"
       << "      _describe command commands ;;\n"
       << "    argument)\n"
       << "      case \"${line[1]}\" in\n";
  for (const CommandModel& command : commands) {
    text << "        " << command.name << ") _arguments";
    for (const OptionModel& option : command.options) text << " \\\n          " << zsh_spec(option);
    text << " ;;\n";
  }
  text << "      esac ;;\n"
       << "  esac\n"
       << "}\n"
       << "_tileopt_schedule \"$@\"\n";
  return text.str();
}

std::string fish_script(const CommandModel& general, const std::vector<CommandModel>& commands) {
  std::ostringstream text;
  const std::string start = std::string("complete -c ") + tool;
  text << "# fish completion; put it into ~/.config/fish/completions/" << tool << ".fish\n" << start << " -f\n";
  const auto write_option = [&](const std::string& condition, const OptionModel& option) {
    text << start << " -n " << single_quoted(condition);
    for (const std::string& name : option.names) {
      if (name.starts_with("--")) text << " -l " << name.substr(2);
      else if (name.starts_with("-")) text << " -s " << name.substr(1);
    }
    if (!option.value.empty() && !option.positional) text << " -r";
    if (option.files) text << " -F";
    if (!option.choices.empty()) text << " -a " << single_quoted(join(option.choices, " "));
    text << " -d " << single_quoted(option.description) << "\n";
  };
  for (const OptionModel& option : general.options) write_option("__fish_use_subcommand", option);
  for (const CommandModel& command : commands)
    text << start << " -n __fish_use_subcommand -a " << command.name << " -d " << single_quoted(command.description) << "\n";
  for (const CommandModel& command : commands)
    for (const OptionModel& option : command.options) write_option("__fish_seen_subcommand_from " + command.name, option);
  return text.str();
}

}  // namespace

int run_completion(const Options& options) {
  const CommandLine line;
  CommandModel general;
  const std::vector<CommandModel> commands = command_models(line, general);
  if (options.shell == "bash") std::cout << bash_script(general, commands);
  else if (options.shell == "zsh") std::cout << zsh_script(general, commands);
  else if (options.shell == "fish") std::cout << fish_script(general, commands);
  else throw Errors(Diagnostic{ErrorCode::invalid_option, {}, "no completion for the shell `" + options.shell + "`", "shells: bash, zsh, fish", ""});
  return exit_done;
}

}  // namespace tileopt::cli
