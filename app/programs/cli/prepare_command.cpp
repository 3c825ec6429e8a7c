#include <nlohmann/json.hpp>
#include <string>

#include "app/programs/cli/answer_json.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/output_target.h"
#include "app/programs/cli/session.h"

namespace winnow::cli {
namespace {

std::string text_of(const Description& description) {
  std::string text;
  for (const DescribedWord& word : description.words) text += word.bytes;
  return text;
}

// For people: what is kept of what, and in which words the model described it.
std::string prepared_text(const ConsoleSink& sink) {
  std::string text = media_text(sink.media);
  if (!sink.prepared->compressed) {
    return text + "the media are encoded. This method compresses after the question (self-study and kvzip compress before it).\n";
  }
  text += "kept " + bytes_text(sink.report->kv_bytes.after_event) + " of " + bytes_text(sink.report->kv_bytes.full) + "\n";
  if (!sink.report->description.words.empty()) text += "described as: " + text_of(sink.report->description) + "\n";
  if (!sink.report->description.useful) text += "the description says little, so what the model needs to repeat everything was kept too\n";
  return text;
}

nlohmann::ordered_json prepared_json(const ConsoleSink& sink) {
  nlohmann::ordered_json object = {
      {"compressed", sink.prepared->compressed}, {"elapsed_ms", sink.prepared->elapsed_ms}, {"media", media_json(sink.media)}};
  if (!sink.prepared->compressed) return object;
  object["kv_bytes"] = {{"full", sink.report->kv_bytes.full}, {"after_event", sink.report->kv_bytes.after_event}};
  object["description"] = text_of(sink.report->description);
  object["description_useful"] = sink.report->description.useful;
  return object;
}

// Media read and compressed before anything is asked: what is kept, in the model's own words.
ExitStatus run_prepare(CommandOptions options) {
  const LoadModel load = load_request(options.model);
  if (!options.turn.save_cache.empty()) {
    require_cache_target(options.turn.save_cache, inputs_of(options.turn, load.folder));
    name_media_for_every_folder(options.turn);
  }
  Session session;
  session.load(load);
  if (!options.turn.save_cache.empty()) session.fingerprint();
  ConsoleSink sink(AnswerOutput::kSilent);
  session.run(Prepare{turn_of(options.turn, first_thread(options.turn, ""))}, sink);
  if (!sink.prepared) return ExitStatus::kInterrupted;
  if (!options.turn.save_cache.empty()) {
    if (!sink.prepared->compressed)
      throw Exception(ErrorCode::kInvalidArgument, options.turn.recipe.method,
                      "compresses after the question: there is nothing to save yet");
    session.save_cache(options.turn.save_cache);
  }
  if (options.format == OutputFormat::kJson) {
    print_out("%s\n", json_line(prepared_json(sink), 2).c_str());
  } else {
    print_out("%s", prepared_text(sink).c_str());
  }
  return ExitStatus::kAnswered;
}

}  // namespace

RunCommand add_prepare(CLI::App& command) {
  const auto options = std::make_shared<CommandOptions>();
  add_turn_options(command, *options);
  add_save_cache_option(command, options->turn);
  add_json_option(command, *options, "print a JSON object");
  return [options] { return run_prepare(*options); };
}

}  // namespace winnow::cli
