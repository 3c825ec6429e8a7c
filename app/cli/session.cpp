#include "app/cli/session.h"

#include "app/media/media_opener.h"

namespace winnow::cli {

Session::Session() : opener_(std::make_unique<app::FfmpegMediaOpener>()), engine_(make_engine(opener_.get())) {}
Session::~Session() = default;

ModelInfo Session::load(const LoadModel& request, ProgressOutput progress) {
  ConsoleSink sink(AnswerOutput::kSilent, progress);
  run(request, sink);
  require(sink.model.has_value(), "a loaded model must be described");
  return *sink.model;
}

void Session::run(RequestBody body, ConsoleSink& sink) {
  InterruptSource interrupt;
  const InterruptOnSignal on_signal(interrupt);
  engine_->handle({++last_id_, std::move(body)}, sink, interrupt.token());
  if (sink.error) throw Exception(*sink.error);
}

}  // namespace winnow::cli
