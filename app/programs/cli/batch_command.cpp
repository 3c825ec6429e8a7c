#include <functional>
#include <list>
#include <nlohmann/json.hpp>
#include <optional>
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
#include "app/programs/cli/interrupt_signals.h"
#include "app/programs/cli/media_options.h"
#include "app/programs/cli/option_checks.h"
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
  int at_once = 1;        // lines
};

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

// A line, and what is printed of it.
struct ReadLine {
  BatchLine asked;
  ordered_json line;
};

// Lines whose questions are turns and nothing more, several at a time. Each has conversations of its own, and one question runs of each.
class LinesTogether final : public Waiting {
 public:
  using Read = std::function<std::optional<ReadLine>()>;  // nothing: there are no more for now
  using Write = std::function<void(ReadLine& line, const Answers& answers)>;

  LinesTogether(const ModelInfo& model, std::size_t at_once, InterruptToken interrupt, Read read, Write write)
      : model_(model), at_once_(at_once), interrupt_(std::move(interrupt)), read_(std::move(read)), write_(std::move(write)) {}

  std::optional<AskedRequest> next(const MayJoin& may_join) override {
    if (!forgotten_.empty()) {
      const ForgetConversation forget{forgotten_.back()};
      if (!may_join({0, forget})) return std::nullopt;
      forgotten_.pop_back();
      return AskedRequest{{0, forget}, &unheard_, {}};
    }
    Asked* const asked = to_ask();
    if (asked == nullptr || interrupted) return std::nullopt;
    Request request{0, asked->turn()};
    if (!may_join(request)) return std::nullopt;
    asked->runs = true;
    return AskedRequest{std::move(request), asked, interrupt_};
  }

  bool interrupted = false;
  std::optional<Error> error;  // of the first line that failed; those before it are answered

 private:
  struct Asked final : EventSink {
    Asked(LinesTogether& lines, ReadLine line) : owner(lines), read(std::move(line)) {}

    Turn turn() {
      const std::vector<Item>& question = read.asked.questions[answered];
      if (!read.asked.together) thread.clear();
      if (thread.empty()) {
        thread = first_thread(read.asked.turn, question);
        conversation = ++owner.last_conversation_;
      } else if (thread.back().role != Role::kUser) {
        thread.push_back({Role::kUser, question});
      }
      Turn turn = turn_of(read.asked.turn, thread);
      turn.conversation = conversation;
      return turn;
    }
    void on_event(Event event) override {
      const bool ends = ends_request(event);
      if (const auto* failed = std::get_if<Failed>(&event.body)) error = failed->error;
      sink.on_event(std::move(event));
      if (ends) owner.ended(*this);
    }

    LinesTogether& owner;
    ReadLine read;
    Answers answers;
    ConsoleSink sink = silent_sink();
    std::vector<Message> thread;
    ConversationId conversation = 0;
    std::size_t answered = 0;  // questions
    bool runs = false;
    std::optional<Error> error;
  };

  bool is_done(const Asked& asked) const { return asked.answered == asked.read.asked.questions.size(); }

  // The first line that has a question and runs none; null: there is none.
  Asked* to_ask() {
    std::size_t going = 0;
    for (Asked& asked : lines_) {
      if (asked.error) return nullptr;
      if (is_done(asked)) continue;
      ++going;
      if (!asked.runs) return &asked;
    }
    if (going >= at_once_ || lines_.size() >= kMostUnwritten * at_once_ || interrupted) return nullptr;
    std::optional<ReadLine> read = read_();
    return read ? &lines_.emplace_back(*this, *std::move(read)) : nullptr;
  }

  void ended(Asked& asked) {
    asked.runs = false;
    forgotten_.push_back(asked.conversation);
    const std::optional<Finished>& finished = asked.sink.finished;
    if (finished && finished->reason != StopReason::kInterrupted) {
      asked.answers.add(asked.sink, model_);
      asked.thread.push_back({Role::kAssistant, {TextItem{finished->answer}}, finished->thought});
      ++asked.answered;
      if (asked.read.asked.together && !is_done(asked)) forgotten_.pop_back();
      asked.sink = silent_sink();
    } else {
      interrupted = interrupted || !asked.error;
    }
    while (!lines_.empty() && is_done(lines_.front())) {
      write_(lines_.front().read, lines_.front().answers);
      done_.splice(done_.end(), lines_, lines_.begin());  // its sink is still being told
    }
    if (!lines_.empty()) error = lines_.front().error;
  }

  static constexpr std::size_t kMostUnwritten = 16;

  const ModelInfo& model_;
  const std::size_t at_once_;
  const InterruptToken interrupt_;
  const Read read_;
  const Write write_;
  ConsoleSink unheard_ = silent_sink();
  std::list<Asked> lines_;  // in their order; they stay where they are
  std::list<Asked> done_;
  std::vector<ConversationId> forgotten_;  // to be
  ConversationId last_conversation_ = 1;
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
  if (options.listen.listen) defaults.subtitles = "auto";  // those of a video win
  const ModelInfo model = session.load(load_request(options.model), ProgressOutput::kTerminalOnly);
  suit_model(defaults, model);
  if (options.format == OutputFormat::kJson) require_own_cache(model, "leave out --json");

  const auto read = [&]() -> std::optional<ReadLine> {
    for (std::string text; lines.next(text);) {
      if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
      BatchLine asked = read_batch_line(text, lines.where(), defaults, options.together);
      suit_model(asked.turn, model);
      return ReadLine{std::move(asked), parse_ordered_json(text, lines.where(), {.max_bytes = LineReader::kLongestLine})};
    }
    return std::nullopt;
  };
  const auto write = [&](ReadLine& read_line, const Answers& answers) {
    auto& [asked, line] = read_line;
    if (options.format == OutputFormat::kJson) {
      if (!asked.recipes.empty()) line["recipes"] = recipes_json(asked.recipes);
      line["model"] = loaded_json(model, session.fingerprint());
    }
    answers.write_to(line, asked, options.format);
    print_out("%s\n", json_line(line, -1).c_str());
  };
  Batch batch(session, model);
  std::optional<ReadLine> line;
  // Those that are only asked run together; what is compared, checked or given comes between them, by itself.
  const auto next_together = [&]() -> std::optional<ReadLine> {
    if (!line) line = read();
    const bool only_asked =
        line && line->asked.recipes.empty() && !line->asked.check && !line->asked.given && !wants_hearing(line->asked.turn, options.listen);
    return only_asked ? std::exchange(line, std::nullopt) : std::nullopt;
  };
  while (true) {
    if (options.at_once > 1) {
      InterruptSource interrupt;
      const InterruptOnSignal on_signal(interrupt);
      LinesTogether together(model, static_cast<std::size_t>(options.at_once), interrupt.token(), next_together, write);
      session.run_together(together);
      if (together.error) throw Exception(*together.error);
      if (together.interrupted) return ExitStatus::kInterrupted;
    } else {
      line = read();
    }
    if (!line) break;
    if (listen_to_media(session, line->asked.turn, options.listen) && options.at_once > 1) continue;
    Answers answers;
    if (!batch.ask(line->asked, answers)) return ExitStatus::kInterrupted;
    write(*line, answers);
    line.reset();
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
  add_listen_options(command, options->listen);
  command.add_flag("--together", options->together, "ask the questions of a line in one conversation");
  command.add_option("--at-once", options->at_once, "lines that are answered together, each step reading the weights once")
      ->check(whole_number(1, 8))
      ->capture_default_str();
  add_json_option(command, *options, "print each answer with all figures, as ask --json does, and what the model and the recipes are");
  command.add_option("file", options->file, "file with one JSON object per line; -: stdin")->required();
  return [options] { return run_batch(*options); };
}

}  // namespace winnow::cli
