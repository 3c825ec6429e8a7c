#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/session.h"
#include "app/model_library/model_library.h"

namespace winnow::cli {
namespace {

void fill_from_sample(AskOptions& options) {
  const QList<app::Sample> samples = app::demoSamples();
  for (const app::Sample& sample : samples) {
    if (sample.questions.isEmpty() || sample.kind != MediaKind::kVideo) continue;
    options.turn.images.clear();
    options.turn.videos = {sample.file.toStdString()};
    if (options.question.empty()) options.question = sample.questions.first().question.toStdString();
    std::fprintf(stderr, "%s\n> %s\n", sample.file.toStdString().c_str(), options.question.c_str());
    return;
  }
  throw Exception(ErrorCode::kFileNotFound, "", "the bundled sample videos were not found");
}

}  // namespace

ExitStatus run_ask(const AskOptions& given) {
  AskOptions options = given;
  if (options.sample) fill_from_sample(options);
  Session session;
  const ModelInfo model = session.load(load_request(options.model));
  if (!model.device_note.empty()) std::fprintf(stderr, "%s\n", model.device_note.c_str());

  Turn turn;
  turn.conversation = 1;
  turn.messages = first_thread(options.turn, options.question);
  turn.sampling = sampling_of(options.turn);
  turn.recipe = recipe_of(options.turn);
  ConsoleSink sink(options.format == OutputFormat::kText ? AnswerOutput::kStream : AnswerOutput::kSilent);
  session.run(std::move(turn), sink);

  if (options.format == OutputFormat::kJson) {
    std::printf("%s\n", json_line(answer_json(sink, model), 2).c_str());
  } else {
    std::printf("\n");
    std::fflush(stdout);
    std::fprintf(stderr, "%s", figures_text(sink).c_str());
  }
  return sink.finished->reason == StopReason::kInterrupted ? ExitStatus::kInterrupted : ExitStatus::kAnswered;
}

ExitStatus run_export(const ExportOptions& options) {
  Session session;
  session.load(load_request(options.model));
  ExportTurn request;
  request.turn.conversation = 1;
  request.turn.messages = first_thread(options.turn, options.question);
  request.turn.sampling = sampling_of(options.turn);
  request.turn.recipe = recipe_of(options.turn);
  request.path = options.out;
  request.logits = options.all_logits ? ExportLogits::kAllPositions : ExportLogits::kLastPosition;
  ConsoleSink sink(AnswerOutput::kSilent);
  session.run(std::move(request), sink);
  if (sink.finished->reason == StopReason::kInterrupted) return ExitStatus::kInterrupted;
  std::fprintf(stderr, "%s", figures_text(sink).c_str());
  std::fprintf(stderr, "wrote %s\n", options.out.c_str());
  return ExitStatus::kAnswered;
}

}  // namespace winnow::cli
