// The options that several commands have, as one struct: a command adds those that it takes, and derives where it has more.
//
// Used by the commands. Errors: CLI::ParseError for wrong usage, Exception for what cannot be found.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "app/programs/cli/turn_options.h"

namespace winnow::cli {

enum class OutputFormat : int { kText = 1, kJson = 2 };

struct CommandOptions {
  LoadModel model;
  TurnOptions turn;
  OutputFormat format = OutputFormat::kText;
  std::string question;
  bool sample = false;  // ask about the first bundled sample video; without a question, its first one
};

// Options for the media, the model and the method: everything but the question.
void add_turn_options(CLI::App& command, CommandOptions& options);
void add_json_option(CLI::App& command, CommandOptions& options, const char* help);
// --sample and the question.
void add_question(CLI::App& command, CommandOptions& options, const char* sample_help);
// Throws where nothing is asked. With --sample, attaches the video and says on stderr what is asked.
void take_question(CommandOptions& options);

}  // namespace winnow::cli
