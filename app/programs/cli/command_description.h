// The commands and options of the program as data, read from the command line's own tables: for what is written from them.
//
// Used by completion_command.cpp and manual_command.cpp. Pure; threads: any.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace winnow::cli {

struct OptionDescription {
  std::vector<std::string> names;    // "-h", "--help"; of a positional argument its one name
  std::string value;                 // "TEXT", "INT:1 to 1024=64"; empty: a flag
  std::vector<std::string> choices;  // the words that it takes; empty: any
  std::string help;
};

struct CommandDescription {
  std::string name;
  std::string help;
  std::vector<OptionDescription> options;
  std::vector<OptionDescription> arguments;  // positional
};

CommandDescription describe_command(const CLI::App& command);
// Those of the program, in the order of --help.
std::vector<CommandDescription> describe_commands(const CLI::App& program);

}  // namespace winnow::cli
