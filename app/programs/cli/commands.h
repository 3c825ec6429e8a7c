// The commands of the terminal program: each adds its options to the command line and returns what runs when it is chosen.
//
// Used by program.cpp, whose table names them. What runs may throw CLI::ParseError (wrong usage) and Exception, which the program turns
// into a sentence and an exit status. The options belong to what is returned, shared because it is copied.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "app/programs/cli/exit_status.h"
#include "app/programs/cli/listening.h"
#include "app/programs/cli/turn_options.h"

namespace winnow::cli {

// The options that several commands have, as one struct: a command adds those that it takes, and derives where it has more.
//
// Errors: CLI::ParseError for wrong usage, Exception for what cannot be found.
enum class OutputFormat : int { kText = 1, kJson = 2 };

struct CommandOptions {
  LoadModel model;
  TurnOptions turn;
  OutputFormat format = OutputFormat::kText;
  std::string question;
  bool sample = false;  // ask about the first bundled sample video; without a question, its first one
  ListenOptions listen;
};

// Options for the media, the model and the method: everything but the question.
void add_turn_options(CLI::App& command, CommandOptions& options);
void add_json_option(CLI::App& command, CommandOptions& options, const char* help);
// --sample and the question.
void add_question(CLI::App& command, CommandOptions& options, const char* sample_help);
// Throws where nothing is asked. With --sample, attaches the video and says on stderr what is asked.
void take_question(CommandOptions& options);

using RunCommand = std::function<ExitStatus()>;

RunCommand add_ask(CLI::App& command);
RunCommand add_plan(CLI::App& command);
RunCommand add_prepare(CLI::App& command);
RunCommand add_watch(CLI::App& command);
RunCommand add_compare(CLI::App& command);
RunCommand add_chat(CLI::App& command);
RunCommand add_get(CLI::App& command);
RunCommand add_models(CLI::App& command);
RunCommand add_methods(CLI::App& command);
RunCommand add_system(CLI::App& command);
RunCommand add_probe(CLI::App& command);
RunCommand add_export(CLI::App& command);
RunCommand add_batch(CLI::App& command);
RunCommand add_serve(CLI::App& command);
RunCommand add_transcribe(CLI::App& command);
RunCommand add_find(CLI::App& command);
RunCommand add_completion(CLI::App& command);
RunCommand add_manual(CLI::App& command);

}  // namespace winnow::cli
