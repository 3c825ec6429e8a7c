#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/pin_options.h"
#include "app/cli/session.h"

namespace winnow::cli {
namespace {

// A second request, so that the figures of the first are those of an ordinary turn. Nothing if it was interrupted.
std::optional<Agreement> checked(Session& session, const Turn& turn, const Finished& finished) {
  if (finished.reason == StopReason::kInterrupted) return std::nullopt;
  ConsoleSink sink(AnswerOutput::kSilent);
  session.run(Score{turn, finished.answer}, sink);
  return sink.agreement;
}

}  // namespace

ExitStatus run_ask(const AskOptions& given) {
  AskOptions options = given;
  if (options.sample) take_sample(options.turn, options.question);
  Session session;
  const ModelInfo model = session.load(load_request(options.model));
  if (!model.device_note.empty()) std::fprintf(stderr, "%s\n", model.device_note.c_str());

  Turn turn;
  turn.conversation = 1;
  turn.messages = first_thread(options.turn, options.question);
  turn.sampling = sampling_of(options.turn);
  turn.recipe = recipe_of(options.turn);
  turn.pins = pins_of(options.turn.pins, turn.messages);
  ConsoleSink sink(options.format == OutputFormat::kText ? AnswerOutput::kStream : AnswerOutput::kSilent);
  session.run(turn, sink);
  if (options.format == OutputFormat::kText) {
    std::printf("\n");
    std::fflush(stdout);
    std::fprintf(stderr, "%s", figures_text(sink).c_str());
  }
  const std::optional<Agreement> agreement = options.check ? checked(session, turn, *sink.finished) : std::nullopt;
  if (options.format == OutputFormat::kJson) {
    nlohmann::ordered_json object = answer_json(sink, model);
    if (options.check) object["agreement"] = agreement ? agreement_json(*agreement) : nlohmann::ordered_json();
    std::printf("%s\n", json_line(object, 2).c_str());
  } else if (agreement) {
    std::fprintf(stderr, "%s", agreement_text(*agreement).c_str());
  }
  const bool interrupted = sink.finished->reason == StopReason::kInterrupted || (options.check && !agreement);
  return interrupted ? ExitStatus::kInterrupted : ExitStatus::kAnswered;
}

ExitStatus run_export(const ExportOptions& options) {
  Session session;
  session.load(load_request(options.model));
  ExportTurn request;
  request.turn.conversation = 1;
  request.turn.messages = first_thread(options.turn, options.question);
  request.turn.sampling = sampling_of(options.turn);
  request.turn.recipe = recipe_of(options.turn);
  request.turn.pins = pins_of(options.turn.pins, request.turn.messages);
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
