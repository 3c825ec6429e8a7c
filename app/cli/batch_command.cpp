#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "app/cli/answer_json.h"
#include "app/cli/batch_line.h"
#include "app/cli/commands.h"
#include "app/cli/console_output.h"
#include "app/cli/session.h"
#include "app/notices/notice_text.h"
#include "engine/base/json_document.h"
#include "engine/base/line_reader.h"

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

ExitStatus run_batch(const BatchOptions& options) {
  LineReader lines = options.file == "-" ? LineReader::standard_input() : LineReader(options.file);
  Session session;
  TurnOptions defaults = options.turn;
  const ModelInfo model = session.load(load_request(options.model), ProgressOutput::kTerminalOnly);
  suit_model(defaults, model);

  for (std::string text; lines.next(text);) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    BatchLine asked = read_batch_line(text, lines.where(), defaults);
    suit_model(asked.turn, model);
    ordered_json line = parse_ordered_json(text, lines.where(), {.max_bytes = LineReader::kLongestLine});
    ordered_json answers = ordered_json::array();
    ordered_json thoughts = ordered_json::array();
    ordered_json kept = ordered_json::array();
    ordered_json waited = ordered_json::array();
    std::set<std::string> noticed;
    bool thinks = false;
    std::vector<Message> thread;
    const auto forget = [&] {
      ConsoleSink silent(AnswerOutput::kSilent, ProgressOutput::kTerminalOnly);
      session.run(ForgetConversation{1}, silent);
      thread.clear();
    };
    for (const std::string& question : asked.questions) {
      if (thread.empty()) {
        thread = first_thread(asked.turn, question);
      } else {
        thread.push_back({Role::kUser, {TextItem{question}}});
      }
      ConsoleSink sink(AnswerOutput::kSilent, ProgressOutput::kTerminalOnly);
      session.run(turn_of(asked.turn, thread), sink);
      if (sink.finished->reason == StopReason::kInterrupted) return ExitStatus::kInterrupted;
      for (const MediaSampled& medium : sink.media) {
        for (const MediaNotice& notice : medium.notices) noticed.insert(medium.path + ": " + app::noticeText(notice));
      }
      answers.push_back(sink.finished->answer);
      if (const std::string why = empty_answer_text(*sink.finished); !why.empty())
        noticed.insert("answer " + std::to_string(answers.size()) + ": " + why);
      thoughts.push_back(sink.finished->thought);
      thinks = thinks || !sink.finished->thought.empty();
      kept.push_back(sink.finished->figures.achieved_retention);
      waited.push_back(sink.finished->figures.timings_ms.ttft);
      thread.push_back({Role::kAssistant, {TextItem{sink.finished->answer}}, sink.finished->thought});
      if (!options.together) forget();
    }
    if (options.together) forget();
    line["answers"] = answers;
    if (thinks) line["thoughts"] = thoughts;
    const std::string think = think_word(asked.turn.sampling);
    line["think"] = think.empty() ? ordered_json() : ordered_json(think);
    line["achieved_retention"] = kept;
    if (options.together) line["ttft_ms"] = waited;
    if (!noticed.empty()) line["notices"] = noticed;
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
  command.add_flag("--together", options->together, "ask the questions of a line in one conversation");
  command.add_option("file", options->file, "file with one JSON object per line; -: stdin")->required();
  return [options] { return run_batch(*options); };
}

}  // namespace winnow::cli
