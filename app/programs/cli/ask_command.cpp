#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "app/programs/cli/answer_json.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/option_checks.h"
#include "app/programs/cli/output_target.h"
#include "app/programs/cli/session.h"
#include "app/programs/cli/turn_options.h"
#include "engine/base/error.h"

namespace winnow::cli {
namespace {

bool same_budget(const RecipeSpec& a, const RecipeSpec& b) { return a.retention == b.retention && a.budget_tokens == b.budget_tokens; }

bool same_but_for_the_seed(RecipeSpec a, const RecipeSpec& b) {
  a.seed = b.seed;
  return a == b;
}

// True if the file was made with what this option asks for; true for options that say nothing of the recipe.
bool agrees(const std::string& option, const RecipeSpec& asked, const RecipeSpec& made) {
  if (option == "--recipe") return same_but_for_the_seed(asked, made);
  if (option == "--method") return asked.method == made.method;
  if (option == "--retention" || option == "--budget") return same_budget(asked, made);
  if (option == "--method-option") return asked.options == made.options;
  if (option == "--before") return asked.before == made.before;
  if (option == "--turn-policy") return asked.turn_policy == made.turn_policy;
  for (const WholeSetting& setting : kWholeSettings) {
    if (option == option_of(setting.name)) return asked.*setting.value == made.*setting.value;
  }
  for (const PartSetting& part : kPartSettings) {
    if (option == option_of(part.kind)) return asked.*part.name == made.*part.name;
  }
  return true;
}

// The recipe of a saved cache, and what a command that loads it asks for beside it.
//
// A cache is gone on from as it was made: another method, share or storage would mean that everything is read again, which the file is
// there to avoid.

// options.given: what the command line named; anything else is the file's. made: of the file.
void require_recipe_of_file(const TurnOptions& options, const RecipeSpec& made) {
  const RecipeSpec asked = recipe_of(options);
  for (const std::string& option : options.given) {
    if (agrees(option, asked, made)) continue;
    throw Exception(
        ErrorCode::kInvalidArgument, options.load_cache,
        "was made with another " + option + " (its method is " + made.method + "): leave the option out, or ask without --load-cache");
  }
}

struct AskOptions : CommandOptions {
  bool check = false;  // then check the answer against the full cache
  std::optional<double> within_s;
};

struct ExportOptions : CommandOptions {
  std::string out;
  bool all_logits = false;
};

// A second request, so that the figures of the first are those of an ordinary turn. Nothing if it was interrupted.
std::optional<Agreement> checked(Session& session, const Turn& turn, const Finished& finished) {
  if (finished.reason == StopReason::kInterrupted) return std::nullopt;
  ConsoleSink sink(AnswerOutput::kSilent);
  session.run(Score{turn, finished.answer, finished.thought, finished.reason}, sink);
  return sink.agreement;
}

// The question, asked about the media that the file has prepared, or else after what was said last.
Turn turn_after(const Restored& restored, const AskOptions& options) {
  if (!options.turn.images.empty() || !options.turn.videos.empty() || !options.turn.documents.empty())
    throw Exception(ErrorCode::kInvalidArgument, options.turn.load_cache,
                    "brings its own media: leave out --image, --video and --document");
  require_recipe_of_file(options.turn, restored.recipe);
  const bool prepared = !restored.prepared.empty();
  Turn turn{
      1, prepared ? restored.prepared : restored.thread, sampling_of(options.turn), restored.recipe, options.turn.guard, restored.pins};
  if (!prepared) turn.messages.push_back({Role::kUser, {}});
  turn.messages.back().items.emplace_back(TextItem{options.question});
  turn.prompt = prompt_settings(options.turn);
  if (options.turn.day.empty() && !restored.prompt.day.empty()) turn.prompt.day = restored.prompt.day;
  return turn;
}

ExitStatus run_ask(AskOptions options) {
  take_question(options);
  const LoadModel load = load_request(options.model);
  if (!options.turn.save_cache.empty()) {
    require_cache_target(options.turn.save_cache, inputs_of(options.turn, load.folder));
    name_media_for_every_folder(options.turn);
  }
  Session session;
  listen_to_media(session, options.turn, options.listen);
  const ModelInfo model = session.load(load);
  if (!options.turn.save_cache.empty()) session.fingerprint();
  if (!model.device_note.empty()) print_err("%s\n", model.device_note.c_str());
  suit_model(options.turn, model);

  Turn turn = options.turn.load_cache.empty() ? turn_of(options.turn, first_thread(options.turn, options.question))
                                              : turn_after(session.load_cache(options.turn.load_cache), options);
  ConsoleSink sink(options.format == OutputFormat::kText ? AnswerOutput::kStream : AnswerOutput::kSilent);
  options.within_s ? session.answer_within(turn, *options.within_s, sink) : session.run(turn, sink);
  if (options.format == OutputFormat::kText) {
    print_out("\n");
    print_err("%s", figures_text(sink).c_str());
  }
  if (!options.turn.save_cache.empty() && sink.finished->reason != StopReason::kInterrupted) session.save_cache(options.turn.save_cache);
  const std::optional<Agreement> agreement = options.check ? checked(session, turn, *sink.finished) : std::nullopt;
  const std::string no_word = empty_answer_text(*sink.finished);
  if (options.format == OutputFormat::kJson) {
    if (!no_word.empty()) print_err("note: %s\n", no_word.c_str());
    nlohmann::ordered_json object = answer_json(sink, model);
    if (options.check) object["agreement"] = agreement ? agreement_json(*agreement) : nlohmann::ordered_json();
    print_out("%s\n", json_line(object, 2).c_str());
  } else if (agreement) {
    print_err("%s", agreement_text(*agreement).c_str());
  }
  const bool interrupted = sink.finished->reason == StopReason::kInterrupted || (options.check && !agreement);
  if (interrupted) return ExitStatus::kInterrupted;
  return no_word.empty() ? ExitStatus::kAnswered : ExitStatus::kNoWord;
}

ExitStatus run_export(const ExportOptions& options) {
  const LoadModel load = load_request(options.model);
  require_export_target(options.out, inputs_of(options.turn, load.folder));
  Session session;
  session.load(load);
  ExportTurn request;
  request.turn = turn_of(options.turn, first_thread(options.turn, options.question));
  request.path = options.out;
  request.logits = options.all_logits ? ExportLogits::kAllPositions : ExportLogits::kLastPosition;
  ConsoleSink sink(AnswerOutput::kSilent);
  session.run(std::move(request), sink);
  if (sink.finished->reason == StopReason::kInterrupted) return ExitStatus::kInterrupted;
  print_err("%s", figures_text(sink).c_str());
  print_err("wrote %s\n", options.out.c_str());
  return ExitStatus::kAnswered;
}

}  // namespace

RunCommand add_ask(CLI::App& command) {
  const auto options = std::make_shared<AskOptions>();
  add_turn_options(command, *options);
  add_load_cache_option(command, options->turn);
  add_save_cache_option(command, options->turn);
  add_sampling_options(command, options->turn);
  add_json_option(command, *options, "print one JSON object only");
  add_question(command, *options, "ask about a bundled sample video");
  command
      .add_option("--within", options->within_s,
                  "wait S seconds for the frames of the video, then answer from those that are there (first, last, middle, quarters ...)")
      ->check(number_above_zero(kLongestS));
  add_listen_options(command, options->listen);
  command.add_flag("--check", options->check, "check the answer against the full cache, word by word");
  return [&command, options] {
    for (const CLI::Option* option : command.get_options()) {
      if (option->count() > 0) options->turn.given.push_back(option->get_name());
    }
    return run_ask(*options);
  };
}

RunCommand add_export(CLI::App& command) {
  const auto options = std::make_shared<ExportOptions>();
  add_turn_options(command, *options);
  add_sampling_options(command, options->turn);
  command.add_option("--out", options->out, "the file to write")->required()->check(file_name_problem);
  command.add_flag("--all-logits", options->all_logits, "logits of every position");
  command.add_option("question", options->question, "the question")->required();
  return [options] { return run_export(*options); };
}

}  // namespace winnow::cli
