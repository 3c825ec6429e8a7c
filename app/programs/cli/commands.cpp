#include "app/programs/cli/commands.h"

#include "app/ground/resources/bundled_files.h"
#include "app/programs/cli/console_output.h"
#include "engine/base/error.h"

namespace winnow::cli {

void add_turn_options(CLI::App& command, CommandOptions& options) {
  add_model_options(command, options.model);
  add_media_options(command, options.turn);
  add_method_options(command, options.turn);
}

void add_json_option(CLI::App& command, CommandOptions& options, const char* help) {
  command.add_flag_callback(
      "--json", [&options] { options.format = OutputFormat::kJson; }, help);
}

void add_question(CLI::App& command, CommandOptions& options, const char* sample_help) {
  command.add_flag("--sample", options.sample, sample_help);
  command.add_option("question", options.question, "the question");
}

void take_question(CommandOptions& options) {
  if (options.question.empty() && !options.sample) throw CLI::RequiredError("question");
  if (!options.sample) return;
  const QList<app::Sample> samples = app::demoSamples();
  for (const app::Sample& sample : samples) {
    if (sample.questions.isEmpty() || sample.kind != MediaKind::kVideo) continue;
    options.turn.images.clear();
    options.turn.videos = {sample.file.toStdString()};
    if (options.question.empty()) options.question = sample.questions.first().question.toStdString();
    print_err("%s\n> %s\n", sample.file.toStdString().c_str(), options.question.c_str());
    return;
  }
  throw Exception(ErrorCode::kFileNotFound, "", "the bundled sample videos are missing");
}

}  // namespace winnow::cli
