#include "app/programs/cli/command_description.h"

#include <sstream>

namespace winnow::cli {
namespace {

// The choices in "TEXT:{auto,cpu,cuda}": how CLI11 writes what IsMember() takes.
std::vector<std::string> choices_in(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t open = type.find(":{");
  if (open == std::string::npos || type.back() != '}') return choices;
  std::istringstream words(type.substr(open + 2, type.size() - open - 3));
  for (std::string word; std::getline(words, word, ',');) choices.push_back(word);
  return choices;
}

OptionDescription describe_option(const CLI::Option& option) {
  OptionDescription described;
  if (option.get_positional()) {
    described.names.push_back(option.get_name(true));
  } else {
    for (const std::string& name : option.get_snames()) described.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) described.names.push_back("--" + name);
  }
  described.help = option.get_description();
  if (option.get_type_size() == 0) return described;
  described.value = option.get_type_name();
  described.choices = choices_in(described.value);
  if (!option.get_default_str().empty()) described.value += "=" + option.get_default_str();
  return described;
}

}  // namespace

CommandDescription describe_command(const CLI::App& command) {
  CommandDescription described{command.get_name(), command.get_description(), {}, {}};
  for (const CLI::Option* option : command.get_options()) {
    (option->get_positional() ? described.arguments : described.options).push_back(describe_option(*option));
  }
  return described;
}

std::vector<CommandDescription> describe_commands(const CLI::App& program) {
  std::vector<CommandDescription> commands;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(describe_command(*command));
  }
  return commands;
}

}  // namespace winnow::cli
