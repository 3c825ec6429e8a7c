#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/session.h"

namespace winnow::cli {
namespace {

using nlohmann::ordered_json;

// A line may be written by a program that we know nothing about: say which line and which key is wrong.
TurnOptions line_options(const ordered_json& line, const TurnOptions& defaults) {
  TurnOptions options = defaults;
  if (line.contains("video")) options.videos = {line.at("video").get<std::string>()};
  if (line.contains("image")) options.images = {line.at("image").get<std::string>()};
  options.frames = line.value("frames", options.frames);
  options.every_s = line.value("every", options.every_s);
  options.from_s = line.value("from", options.from_s);
  options.to_s = line.value("to", options.to_s);
  options.method = line.value("method", options.method);
  options.retention = line.value("retention", options.retention);
  options.budget_tokens = line.value("budget", options.budget_tokens);
  options.seed = line.value("seed", options.seed);
  options.max_new_tokens = line.value("max_tokens", options.max_new_tokens);
  return options;
}

}  // namespace

ExitStatus run_batch(const BatchOptions& options) {
  std::ifstream file;
  if (options.file != "-") {
    file.open(options.file);
    if (!file) throw Exception(ErrorCode::kFileNotFound, options.file, "cannot be opened");
  }
  std::istream& input = options.file == "-" ? std::cin : file;
  Session session;
  session.load(load_request(options.model), ProgressOutput::kTerminalOnly);

  std::string text;
  for (int number = 1; std::getline(input, text); ++number) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    ordered_json line;
    TurnOptions turn_options;
    std::vector<std::string> questions;
    try {
      line = ordered_json::parse(text);
      turn_options = line_options(line, options.turn);
      questions = line.at("questions").get<std::vector<std::string>>();
    } catch (const ordered_json::exception& problem) {
      throw Exception(ErrorCode::kInvalidArgument, options.file + ":" + std::to_string(number), problem.what());
    }
    ordered_json answers = ordered_json::array();
    ordered_json kept = ordered_json::array();
    for (const std::string& question : questions) {
      Turn turn;
      turn.conversation = 1;
      turn.messages = first_thread(turn_options, question);
      turn.sampling = sampling_of(turn_options);
      turn.recipe = recipe_of(turn_options);
      ConsoleSink sink(AnswerOutput::kSilent, ProgressOutput::kTerminalOnly);
      session.run(std::move(turn), sink);
      if (sink.finished->reason == StopReason::kInterrupted) return ExitStatus::kInterrupted;
      answers.push_back(sink.finished->answer);
      kept.push_back(sink.finished->figures.achieved_retention);
      ConsoleSink silent(AnswerOutput::kSilent, ProgressOutput::kTerminalOnly);
      session.run(ForgetConversation{1}, silent);
    }
    line["answers"] = answers;
    line["achieved_retention"] = kept;
    std::printf("%s\n", json_line(line, -1).c_str());
    std::fflush(stdout);
  }
  return ExitStatus::kAnswered;
}

}  // namespace winnow::cli
