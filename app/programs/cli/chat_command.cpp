#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>

#include "app/ground/notices/notice_text.h"
#include "app/programs/cli/chat_attachments.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/interrupt_signals.h"
#include "app/programs/cli/pin_options.h"
#include "app/programs/cli/session.h"
#include "engine/base/line_reader.h"

namespace winnow::cli {
namespace {

constexpr const char* kHelp =
    "/image FILE          attach an image to the next question\n/video FILE [N]      attach a video to the next question, with N "
    "frames\n/document FILE       attach a text, or what is said in a sound, to the next question\n/detach [N]          remove attachment "
    "N from the next question; "
    "without N, all\n/method NAME         compression method from now on\n/retention R         share of the cache to keep, above 0 and at "
    "most 1\n/pin WHAT            always keep: 12.0-15.5 (seconds of the only video), 2:12.0-15.5 (of the second\n                     "
    "image or video), 2 (all of it)\n/unpin               remove all pins\n/continue            continue the last answer where it was cut "
    "or stopped\n/figures             tokens, memory and times of the last answer\n/reload              load the model again after its "
    "file has changed; the conversation goes "
    "on\n/drop [N]            leave out the oldest question and its answer, or the N oldest, and ask again what did not fit\n/new          "
    "       "
    "ask what did not fit in a new conversation\n/reset               start over\n/help, /quit\n";

class Chat {
 public:
  explicit Chat(const CommandOptions& options) : options_(options) {
    attached_.hear_with([this](TurnOptions& media) { listen_to_media(session_, media, options_.listen); });
  }

  ExitStatus run() {
    print_err("%s. /help lists the commands.\n", load().c_str());
    reset();
    const bool interactive = isatty(STDIN_FILENO) == 1;
    LineReader lines = LineReader::standard_input();
    std::string line;
    while (true) {
      if (interactive) print_err("> ");
      if (!lines.next(line)) return ExitStatus::kAnswered;
      if (line.empty()) continue;
      try {
        if (line[0] == '/') {
          if (!command(line)) return ExitStatus::kAnswered;
        } else {
          ask(line);
        }
      } catch (const Exception& problem) {
        if (problem.error().subject == kStandardOutput) throw;  // nobody would read the answers
        say(problem.error(), line[0] == '/' ? Asked::kCommand : Asked::kQuestion);
      } catch (const Interrupted&) {
        print_err(model_is_lost_ ? "(stopped; /reload tries again)\n" : "(stopped; nothing was attached)\n");
      }
      if (termination_requested()) throw Interrupted(Interrupt::kStop);
      forget_ctrl_c();
    }
  }

 private:
  enum class Asked : int { kQuestion = 1, kCommand = 2 };

  // The conversation goes on.
  void say(const Error& problem, Asked asked) {
    print_err("%s\n", error_sentence(problem).c_str());
    model_is_lost_ = model_is_lost_ || problem.code == ErrorCode::kModelFileChanged;
    if (model_is_lost_) print_err("(/reload loads the model again, and the conversation goes on)\n");
    const bool too_long = problem.code == ErrorCode::kContextFull && !unasked_.empty();
    if (!too_long) unasked_.clear();
    if (too_long && questions_asked() > 0)
      print_err("(/drop leaves out the oldest question and its answer, /new asks in a new conversation, /reset starts over)\n");
    if (asked == Asked::kQuestion && !attached_.media().empty()) print_err("(%s; remove with /detach)\n", attached_.list().c_str());
  }

  // Says which model it is.
  std::string load() {
    model_is_lost_ = true;
    model_ = session_.load(load_request(options_.model));
    model_is_lost_ = false;
    attached_.set_traits(model_.traits);
    suit_model(options_.turn, model_);
    return model_.name + (model_.server.empty() ? " on " + model_.device + " (" + model_.dtype + ")" : " on " + model_.server);
  }

  void reset() {
    begin_anew();
    unasked_.clear();
    attached_.clear();
    attached_.add_all(options_.turn);
  }

  void begin_anew() {
    ConsoleSink sink(AnswerOutput::kSilent);
    session_.run(ForgetConversation{1}, sink);
    thread_.clear();
    cut_.reset();
    noted_ = false;
    if (!options_.turn.system_prompt.empty()) thread_.push_back({Role::kSystem, {TextItem{options_.turn.system_prompt}}});
  }

  std::ptrdiff_t questions_asked() const { return std::ranges::count(thread_, Role::kUser, &Message::role); }

  // Asks again what the model had no room for, without the conversation's beginning. Pins name attachments by their number, so they go,
  // too.
  void drop(std::ptrdiff_t questions) {
    if (questions < 1 || questions > questions_asked())
      throw Exception(ErrorCode::kInvalidArgument, "/drop", std::to_string(questions_asked()) + " questions can be left out");
    const auto first = std::ranges::find(thread_, Role::kUser, &Message::role);
    thread_.erase(first, first + 2 * questions);
    options_.turn.pins.clear();
    cut_.reset();
    print_err("(left out with what was attached to them: %lld)\n", static_cast<long long>(questions));
    if (!unasked_.empty()) ask(std::string(unasked_));
  }

  void ask_anew() {
    if (unasked_.empty()) throw Exception(ErrorCode::kInvalidArgument, "/new", "no question was too long");
    begin_anew();
    ask(std::string(unasked_));
  }

  void ask(const std::string& question) {
    unasked_ = question;
    Message user;
    for (const MediaRequest& media : attached_.media()) user.items.emplace_back(MediaItem{media});
    user.items.emplace_back(TextItem{question});
    std::vector<Message> thread = thread_;
    thread.push_back(std::move(user));
    Turn turn = turn_of(options_.turn, std::move(thread));
    ConsoleSink sink(AnswerOutput::kStream);
    session_.run(turn, sink);
    unasked_.clear();
    print_out("\n");
    figures_ = figures_text(sink);
    if (sink.finished->restored) {
      print_err("(cancelled: the question was not asked)\n");
      return;
    }
    note_empty_answer(*sink.finished);
    note_what_was_dropped(turn, *sink.finished);
    for (const CompressionNote note : sink.finished->figures.notes) {
      if (is_said_once(note)) print_err("(%s)\n", app::cacheNoteText(note, turn.recipe.min_event_tokens).c_str());
    }
    thread_ = turn.messages;
    thread_.push_back({Role::kAssistant, {TextItem{sink.finished->answer}}, sink.finished->thought});
    attached_.clear();
    keep_if_cut(std::move(turn), *sink.finished);
  }

  void go_on() {
    if (!cut_) throw Exception(ErrorCode::kInvalidArgument, "/continue", "the last answer is complete");
    Turn turn = *cut_;
    ConsoleSink sink(AnswerOutput::kStream);
    session_.run(turn, sink);
    print_out("\n");
    figures_ = figures_text(sink);
    if (sink.finished->restored) return;
    note_empty_answer(*sink.finished);
    thread_.back() = {Role::kAssistant, {TextItem{turn.answer_begun + sink.finished->answer}}, turn.thought_begun + sink.finished->thought};
    keep_if_cut(std::move(turn), *sink.finished);
  }

  static void note_empty_answer(const Finished& finished) {
    if (const std::string why = empty_answer_text(finished); !why.empty()) print_err("(%s)\n", why.c_str());
  }

  // The turn that /continue asks for.
  void keep_if_cut(Turn turn, const Finished& finished) {
    cut_.reset();
    const bool stopped = finished.reason == StopReason::kInterrupted;
    turn.answer_begun += finished.answer;
    turn.thought_begun += finished.thought;
    if ((!stopped && finished.reason != StopReason::kLength) || begins_anew(turn)) return;
    print_err("(%s at %lld tokens; continue with /continue)\n", stopped ? "stopped" : "cut",
              static_cast<long long>(finished.figures.tokens.generated));
    cut_ = std::move(turn);
  }

  // Once a conversation: what a query-aware method dropped for this question, the next one will not find.
  void note_what_was_dropped(const Turn& turn, const Finished& finished) {
    const bool dropped = finished.figures.kv_bytes.after_event < finished.figures.kv_bytes.full;
    if (noted_ || turn.guard != Guard::kKeep || !dropped) return;
    for (const MethodInfo& method : list_methods()) {
      if (method.name != turn.recipe.method || !method.query_aware) continue;
      print_err("(%s kept what this question needed. With --guard prefill or ram the next question sees everything.)\n",
                method.title.c_str());
      noted_ = true;
    }
  }

  // False: quit.
  bool command(const std::string& line) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "/quit" || name == "/exit") return false;
    if (name == "/method" || name == "/retention" || name == "/pin") require_own_cache(model_, name + " needs a model on this computer");
    if (name == "/help") {
      print_err("%s", kHelp);
    } else if (name == "/reset") {
      options_.turn.images.clear();
      options_.turn.videos.clear();
      options_.turn.documents.clear();
      options_.turn.pins.clear();
      reset();
    } else if (name == "/drop") {
      std::ptrdiff_t questions = 1;
      if (std::string number; words >> number) questions = std::strtol(number.c_str(), nullptr, 10);
      drop(questions);
    } else if (name == "/new") {
      ask_anew();
    } else if (name == "/continue") {
      go_on();
    } else if (name == "/figures") {
      print_err("%s", figures_.empty() ? "no answer yet\n" : figures_.c_str());
    } else if (name == "/reload") {
      print_err("%s, loaded again\n", load().c_str());
    } else if (name == "/method") {
      set_method(words);
    } else if (name == "/retention") {
      double value = 0.0;
      if (!(words >> value) || !(value > 0.0 && value <= 1.0))
        throw Exception(ErrorCode::kInvalidArgument, "/retention", "needs a number above 0 and at most 1");
      options_.turn.recipe.retention = value;
    } else if (name == "/pin") {
      std::string pin;
      words >> pin;
      if (const std::string problem = pin_problem(pin); !problem.empty()) throw Exception(ErrorCode::kInvalidArgument, "/pin", problem);
      options_.turn.pins.push_back(pin);
    } else if (name == "/unpin") {
      options_.turn.pins.clear();
    } else if (name == "/image" || name == "/video" || name == "/document" || name == "/detach") {
      attach(name, std::string_view(line).substr(name.size()));
    } else {
      throw Exception(ErrorCode::kInvalidArgument, name, "is not a command; see /help");
    }
    return true;
  }

  void set_method(std::istringstream& words) {
    std::string method;
    words >> method;
    for (const MethodInfo& known : list_methods()) {
      if (known.name == method) {
        options_.turn.recipe.method = method;
        options_.turn.recipe.options.clear();  // they belonged to the other method
        return;
      }
    }
    throw Exception(ErrorCode::kInvalidArgument, method, "is not a method; see: winnow-cli methods");
  }

  // typed: the rest of the line, which is a path, spaces included.
  void attach(const std::string& name, std::string_view typed) {
    if (name == "/image") attached_.add_image(typed, options_.turn);
    if (name == "/video") attached_.add_video(typed, options_.turn);
    if (name == "/document") attached_.add_document(typed, options_.turn);
    if (name == "/detach") attached_.detach(typed.substr(std::min(typed.find_first_not_of(' '), typed.size())));
    print_err("(%s)\n", attached_.list().c_str());
  }

  CommandOptions options_;
  Session session_;
  ModelInfo model_;
  std::vector<Message> thread_;
  ChatAttachments attached_;
  std::optional<Turn> cut_;  // goes on with the last answer; none: it was not cut
  std::string unasked_;      // the last question, where the conversation was too long for it
  std::string figures_;
  bool noted_ = false;
  bool model_is_lost_ = false;  // its file has changed, or it could not be loaded again
};

}  // namespace

RunCommand add_chat(CLI::App& command) {
  const auto options = std::make_shared<CommandOptions>();
  add_turn_options(command, *options);
  add_guard_option(command, options->turn);
  add_sampling_options(command, options->turn);
  add_listen_options(command, options->listen);
  return [options] { return Chat(*options).run(); };
}

}  // namespace winnow::cli
