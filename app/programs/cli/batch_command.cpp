#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/ground/notices/notice_text.h"
#include "app/ground/recipes/recipe_json.h"
#include "app/programs/cli/answer_json.h"
#include "app/programs/cli/batch_line.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/media_options.h"
#include "app/programs/cli/session.h"
#include "engine/base/json_document.h"
#include "engine/base/line_reader.h"
#include "engine/recipes/method_info.h"

namespace winnow::cli {

using nlohmann::ordered_json;

namespace {

// One JSON object a line: {"video" or "image", "frames", "method", "retention", "questions": [..]} -> the same with "answers". Questions
// are independent conversations, or those of a line one; features of a file are computed once.
// turn: defaults of what a line leaves out.
struct BatchOptions : CommandOptions {
  std::string file;
  bool together = false;  // the questions of a line are one conversation
};

ConsoleSink silent_sink() { return ConsoleSink(AnswerOutput::kSilent, ProgressOutput::kTerminalOnly); }

// The answers of a comparison's columns, and what they share.
class ColumnSinks final : public EventSink {
 public:
  explicit ColumnSinks(std::size_t columns) : columns(columns, silent_sink()) {}
  void on_event(Event event) override {
    if (const auto* done = std::get_if<Compared>(&event.body)) complete = !done->stopped;
    ConsoleSink& sink = event.column == Event::kNoColumn ? common : columns.at(static_cast<std::size_t>(event.column));
    sink.on_event(std::move(event));
  }

  ConsoleSink common = silent_sink();
  std::vector<ConsoleSink> columns;
  bool complete = false;
};

// The answers of one line, in the order of its questions and of the recipes that each is compared under.
class Answers {
 public:
  void add(const ConsoleSink& sink, const ModelInfo& model) {
    const Finished& finished = *sink.finished;
    for (const MediaSampled& medium : sink.media) {
      for (const MediaNotice& notice : medium.notices) noticed_.insert(medium.path + ": " + app::noticeText(notice));
    }
    answers_.push_back(finished.answer);
    if (const std::string why = empty_answer_text(finished); !why.empty())
      noticed_.insert("answer " + std::to_string(answers_.size()) + ": " + why);
    thoughts_.push_back(finished.thought);
    thinks_ = thinks_ || !finished.thought.empty();
    kept_.push_back(finished.figures.achieved_retention);
    waited_.push_back(finished.figures.timings_ms.ttft);
    add_scores(results_.emplace_back(answer_json(sink, model)), sink);
  }

  void write_to(ordered_json& line, const BatchLine& asked, OutputFormat format) const {
    line["answers"] = answers_;
    if (thinks_) line["thoughts"] = thoughts_;
    const std::string think = think_word(asked.turn.sampling);
    line["think"] = think.empty() ? ordered_json() : ordered_json(think);
    line["achieved_retention"] = kept_;
    if (asked.together) line["ttft_ms"] = waited_;
    if (!noticed_.empty()) line["notices"] = noticed_;
    if (format == OutputFormat::kJson) line["results"] = results_;
  }

 private:
  ordered_json answers_ = ordered_json::array(), thoughts_ = ordered_json::array(), kept_ = ordered_json::array();
  ordered_json waited_ = ordered_json::array(), results_ = ordered_json::array();
  std::set<std::string> noticed_;
  bool thinks_ = false;
};

// Asks the questions of lines. False: it was interrupted.
class Batch {
 public:
  Batch(Session& session, const ModelInfo& model) : session_(session), model_(model) {}

  bool ask(const BatchLine& asked, Answers& answers) {
    std::vector<Message> thread;
    for (const std::vector<Item>& question : asked.questions) {
      if (thread.empty()) {
        thread = first_thread(asked.turn, question);
      } else {
        thread.push_back({Role::kUser, question});
      }
      if (!(asked.recipes.empty() ? ask_turn(asked, thread, answers) : compare(asked, thread, answers))) return false;
      if (asked.together) continue;
      forget();
      thread.clear();
    }
    if (asked.together) forget();
    return true;
  }

 private:
  // Goes on with the thread.
  bool ask_turn(const BatchLine& asked, std::vector<Message>& thread, Answers& answers) {
    ConsoleSink sink = silent_sink();
    const Turn turn = turn_of(asked.turn, thread);
    session_.run(turn, sink);
    const Finished& finished = *sink.finished;
    if (finished.reason == StopReason::kInterrupted) return false;
    if (asked.given || asked.check) {
      ConsoleSink scored = silent_sink();
      session_.run(asked.given ? Score{turn, *asked.given} : Score{turn, finished.answer, finished.thought, finished.reason}, scored);
      if (!scored.agreement) return false;
      sink.agreement = std::move(scored.agreement);
      sink.selection = std::move(scored.selection);
    }
    thread.push_back({Role::kAssistant, {TextItem{finished.answer}}, finished.thought});
    answers.add(sink, model_);
    return true;
  }

  bool compare(const BatchLine& asked, const std::vector<Message>& thread, Answers& answers) {
    Compare compare;
    compare.conversation = 1;
    compare.messages = thread;
    compare.sampling = sampling_of(asked.turn);
    compare.recipes = asked.recipes;
    compare.scores = asked.check ? ColumnScores::kAll : ColumnScores::kNone;
    compare.prompt = prompt_settings(asked.turn);
    ColumnSinks sinks(asked.recipes.size());
    session_.run(std::move(compare), sinks);
    if (!sinks.complete) return false;
    for (ConsoleSink& column : sinks.columns) {
      if (column.media.empty()) column.media = sinks.common.media;
      answers.add(column, model_);
    }
    return true;
  }

  void forget() {
    ConsoleSink silent = silent_sink();
    session_.run(ForgetConversation{1}, silent);
  }

  Session& session_;
  const ModelInfo& model_;
};

// Each with all of its fields, and what decides how it can be asked.
ordered_json recipes_json(const std::vector<RecipeSpec>& recipes) {
  ordered_json list = ordered_json::array();
  for (const RecipeSpec& recipe : recipes) {
    list.push_back(ordered_json::parse(app::recipeToJson({"", recipe}, -1)));
    list.back()["before_question"] = describe(recipe).value_or(RecipeTraits()).before_question;
  }
  return list;
}

ordered_json loaded_json(const ModelInfo& model, const std::string& fingerprint) {
  return {{"name", model.name}, {"folder", model.folder}, {"device", model.device}, {"dtype", model.dtype}, {"fingerprint", fingerprint}};
}

ExitStatus run_batch(const BatchOptions& options) {
  LineReader lines = options.file == "-" ? LineReader::standard_input() : LineReader(options.file);
  Session session;
  TurnOptions defaults = options.turn;
  const ModelInfo model = session.load(load_request(options.model), ProgressOutput::kTerminalOnly);
  suit_model(defaults, model);
  if (options.format == OutputFormat::kJson) require_own_cache(model, "leave out --json");

  Batch batch(session, model);
  for (std::string text; lines.next(text);) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    BatchLine asked = read_batch_line(text, lines.where(), defaults, options.together);
    suit_model(asked.turn, model);
    ordered_json line = parse_ordered_json(text, lines.where(), {.max_bytes = LineReader::kLongestLine});
    Answers answers;
    if (!batch.ask(asked, answers)) return ExitStatus::kInterrupted;
    if (options.format == OutputFormat::kJson) {
      if (!asked.recipes.empty()) line["recipes"] = recipes_json(asked.recipes);
      line["model"] = loaded_json(model, session.fingerprint());
    }
    answers.write_to(line, asked, options.format);
    print_out("%s\n", json_line(line, -1).c_str());
  }
  return ExitStatus::kAnswered;
}

}  // namespace

RunCommand add_batch(CLI::App& command) {
  const auto options = std::make_shared<BatchOptions>();
  add_model_options(command, options->model);
  add_method_options(command, options->turn);
  add_sampling_options(command, options->turn);
  add_guard_option(command, options->turn);
  add_detail_options(command, options->turn.detail);
  command.add_flag("--together", options->together, "ask the questions of a line in one conversation");
  add_json_option(command, *options, "print each answer with all figures, as ask --json does, and what the model and the recipes are");
  command.add_option("file", options->file, "file with one JSON object per line; -: stdin")->required();
  return [options] { return run_batch(*options); };
}

}  // namespace winnow::cli
