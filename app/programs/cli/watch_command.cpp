#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/ground/notices/notice_text.h"
#include "app/media/files/live/live_source.h"
#include "app/programs/cli/answer_json.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/interrupt_signals.h"
#include "app/programs/cli/media_options.h"
#include "app/programs/cli/option_checks.h"
#include "app/programs/cli/session.h"
#include "app/programs/cli/typed_questions.h"
#include "app/words/format_text.h"
#include "engine/base/json_document.h"
#include "engine/base/line_reader.h"

namespace winnow::cli {
namespace {

// Questions for certain moments of a source, from a file of JSON lines: {"at": seconds, "question": text}.
struct TimedQuestion {
  double at_s = 0.0;  // of the source; asked when all frames before this moment were seen
  std::string question;
};

// By time; equal times in the order of the file.
std::vector<TimedQuestion> read_timed_questions(const std::string& path) {
  LineReader lines(path);
  std::vector<TimedQuestion> questions;
  for (std::string text; lines.next(text);) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Json given = parse_json(text, lines.where(), {.max_bytes = LineReader::kLongestLine});
    const JsonObject line(given, lines.where());
    questions.push_back({line.real("at", 0.0, kLongestS), line.string("question", LineReader::kLongestLine)});
  }
  std::stable_sort(questions.begin(), questions.end(), [](const TimedQuestion& a, const TimedQuestion& b) { return a.at_s < b.at_s; });
  return questions;
}

// A source that is still running: frames are read as they come, questions are answered about all that was seen.
// turn: plan.every_s between frames, recipe.budget_tokens slots to hold them within.
struct WatchOptions : CommandOptions {
  std::string source;
  double stall_s = 10.0;
  std::string questions;  // file of {"at": seconds, "question": text}; empty: a line of stdin each
};

constexpr int kClipFrames = 8;  // that are read together; fewer where a question comes

std::string stall_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g %s", seconds, seconds == 1.0 ? "second" : "seconds");
  return text;
}

class Watch {
 public:
  explicit Watch(const WatchOptions& options)
      : options_(options), json_(options.format == OutputFormat::kJson), source_(request_of(options)) {
    if (!options.questions.empty()) {
      timed_ = read_timed_questions(options.questions);
    } else if (options.source != "-") {
      typed_ = std::make_unique<TypedQuestions>();
    }
  }

  ExitStatus run() {
    suit_model(options_.turn, session_.load(load_request(options_.model)));
    while (!ended_) {
      if (!ask_due()) return ExitStatus::kInterrupted;
      if (!read_clip()) return ExitStatus::kInterrupted;
    }
    if (frames_ == 0) {
      throw Exception(ErrorCode::kFileUnreadable, options_.source,
                      stalled_ ? "no frames arrived for " + stall_text(options_.stall_s) : "it ended before the first frame");
    }
    return ask_rest() ? ExitStatus::kAnswered : ExitStatus::kInterrupted;
  }

 private:
  static app::LiveRequest request_of(const WatchOptions& options) {
    return {app::parseLiveAddress(options.source), options.source, options.turn.plan.every_s, options.stall_s};
  }

  Turn turn(const std::string& question) const {
    FramePlan plan = options_.turn.plan;
    plan.frame_count = 0;
    MediaRequest source{options_.source, MediaKind::kVideo, plan};
    source.detail = options_.turn.detail.frames;
    Message message{Role::kUser, {MediaItem{std::move(source)}}};
    if (!question.empty()) message.items.emplace_back(TextItem{question});
    std::vector<Message> thread;
    if (!options_.turn.system_prompt.empty()) thread.push_back({Role::kSystem, {TextItem{options_.turn.system_prompt}}});
    thread.push_back(std::move(message));
    Turn turn = turn_of(options_.turn, std::move(thread));
    turn.guard = Guard::kAlone;
    return turn;
  }

  // Frames until the next timed question is due; 0: now.
  int frames_to_read() const {
    if (next_timed_ == timed_.size()) return kClipFrames;
    const double every_s = options_.turn.plan.every_s;
    const double left = std::ceil((timed_[next_timed_].at_s - seen_s_) / every_s - 1e-9);
    return static_cast<int>(std::clamp(left, 0.0, static_cast<double>(kClipFrames)));
  }

  // False: interrupted.
  bool ask_due() {
    while (next_timed_ < timed_.size() && frames_to_read() == 0) {
      if (!ask(timed_[next_timed_++].question)) return false;
    }
    while (typed_) {
      const std::optional<TypedQuestion> question = typed_->next();
      if (!question) break;
      if (!ask(question->text, question->asked)) return false;
    }
    return true;
  }

  bool ask_rest() {
    for (; next_timed_ < timed_.size(); ++next_timed_) {
      if (!ask(timed_[next_timed_].question)) return false;
    }
    while (typed_) {
      InterruptSource stop;
      const InterruptOnSignal on_signal(stop);
      const std::optional<TypedQuestion> question = typed_->wait(stop.token());
      if (!question) return !stop.token().requested();
      if (!ask(question->text, question->asked)) return false;
    }
    return true;
  }

  // asked: when it was typed, while a clip was read perhaps.
  bool ask(const std::string& question, std::chrono::steady_clock::time_point asked = std::chrono::steady_clock::now()) {
    if (frames_ == 0) {
      say("no frame has arrived yet");
      return true;
    }
    if (!json_) print_out("[%s] ", qPrintable(app::formatClock(seen_s_)));
    ConsoleSink sink(json_ ? AnswerOutput::kSilent : AnswerOutput::kStream, ProgressOutput::kTerminalOnly);
    Turn about_it = turn(question);
    about_it.asked = asked;
    session_.run(about_it, sink);
    if (sink.finished->reason == StopReason::kInterrupted) return false;
    if (json_) {
      const TurnFigures& figures = sink.finished->figures;
      print_line({{"seen_s", seen_s_},
                  {"question", question},
                  {"answer", sink.finished->answer},
                  {"ttft_ms", figures.timings_ms.ttft},
                  {"kv_bytes", figures.kv_bytes.after_event}});
    } else {
      print_out("\n");
    }
    return true;
  }

  // False: interrupted by the user.
  bool read_clip() {
    app::LiveClip clip;
    {
      InterruptSource stop;
      const InterruptOnSignal on_signal(stop);
      InterruptSource woken(stop.token());
      if (typed_) typed_->wake(&woken);
      clip = source_.next(std::max(1, frames_to_read()), woken.token());
      if (typed_) typed_->wake(nullptr);
      if (stop.token().requested()) return false;
    }
    for (const MediaNotice& notice : clip.notices) {
      noticed_.push_back(app::noticeText(notice));
      say(noticed_.back());
    }
    if (clip.ended() && clip.end != app::LiveEnd::kInterrupted) {
      ended_ = true;
      stalled_ = clip.end == app::LiveEnd::kStalled;
      say("the source has ended");
    }
    if (clip.frames.empty()) {
      if (json_ && !noticed_.empty()) print_line({{"seen_s", seen_s_}, {"notices", std::exchange(noticed_, {})}});
      return true;
    }
    ConsoleSink sink(AnswerOutput::kSilent, ProgressOutput::kTerminalOnly);
    if (frames_ == 0) begins_s_ = clip.frames.front().asked_s;
    session_.run(WatchClip{turn(""), frames_ == 0, std::move(clip.frames)}, sink);
    if (!sink.watched) return false;
    show(*sink.watched);
    return true;
  }

  void show(const Watched& watched) {
    frames_ = watched.frames;
    seen_s_ = begins_s_ + watched.seen_s;
    const auto forgotten = std::count(watched.shares.begin(), watched.shares.end(), 0.0);
    if (json_) {
      print_line({{"seen_s", seen_s_},
                  {"frames", watched.frames},
                  {"forgotten_frames", forgotten},
                  {"tokens", watched.tokens},
                  {"slots", watched.slots},
                  {"kv_bytes", watched.kv_bytes},
                  {"kv_bytes_full", watched.kv_bytes_full},
                  {"frames_a_position", watched.frames_per_position},
                  {"elapsed_ms", watched.elapsed_ms},
                  {"notices", std::exchange(noticed_, {})}});
    } else {
      status_line(app::formatClock(seen_s_).toStdString() + ", " + std::to_string(watched.frames) + " frames, " +
                  std::to_string(forgotten) + " forgotten, " + bytes_text(watched.kv_bytes) + " of " + bytes_text(watched.kv_bytes_full));
    }
  }

  static void print_line(const nlohmann::ordered_json& object) { print_out("%s\n", json_line(object, -1).c_str()); }
  static void say(const std::string& text) { print_err("%s\n", text.c_str()); }

  WatchOptions options_;
  const bool json_;
  app::LiveSource source_;
  Session session_;
  std::vector<TimedQuestion> timed_;
  std::size_t next_timed_ = 0;
  std::unique_ptr<TypedQuestions> typed_;
  std::int64_t frames_ = 0;
  double begins_s_ = 0.0;  // the first frame's time: a source may begin before its first picture
  double seen_s_ = 0.0;
  std::vector<std::string> noticed_;  // since the last line
  bool ended_ = false;
  bool stalled_ = false;  // it ended because nothing more came
};

}  // namespace

RunCommand add_watch(CLI::App& command) {
  const auto options = std::make_shared<WatchOptions>();
  TurnOptions& turn = options->turn;
  turn.recipe.method = "self-study-stream";
  turn.plan.every_s = 0.5;
  turn.recipe.budget_tokens = 2000;
  add_model_options(command, options->model);
  command.add_option("--every", turn.plan.every_s, "take a frame every S seconds")
      ->check(number_above_zero(kLongestS))
      ->capture_default_str();
  add_frame_detail_option(command, turn.detail.frames);
  command.add_option("--cap", turn.recipe.budget_tokens, "most slots per layer and KV head")
      ->check(whole_number(1, kMostSlots))
      ->default_str("2000");
  command.add_option("--stall", options->stall_s, "end after S seconds without new data")
      ->check(number_above_zero(kLongestS))
      ->capture_default_str();
  command
      .add_option("--questions", options->questions,
                  "instead of stdin: a file of JSON lines {\"at\": seconds, \"question\": text}, each asked at that time of the source")
      ->check(file_name_problem);
  command.add_option("--method", turn.recipe.method, "method of phase stream (see: winnow-cli methods)")->capture_default_str();
  add_method_option_values(command, turn);
  add_word_settings(command, turn.recipe);
  add_sampling_options(command, turn);
  add_json_option(command, *options, "print a JSON object per line for every clip and every answer");
  command.add_option("source", options->source, "source of the frames")->required();
  return [options] { return Watch(*options).run(); };
}

}  // namespace winnow::cli
