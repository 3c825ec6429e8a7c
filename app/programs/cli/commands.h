// The commands of the terminal program: each adds its options to the command line and returns what runs when it is chosen.
//
// Used by program.cpp, whose table names them. What runs may throw CLI::ParseError (wrong usage) and Exception, which the program turns
// into a sentence and an exit status. The options belong to what is returned, shared because it is copied.
#pragma once

#include <functional>

#include "app/programs/cli/command_options.h"
#include "app/programs/cli/exit_status.h"

namespace winnow::cli {

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
RunCommand add_completion(CLI::App& command);
RunCommand add_manual(CLI::App& command);

}  // namespace winnow::cli
