#include "app/programs/cli/session.h"

#include <unistd.h>

#include <QDateTime>
#include <QFile>
#include <chrono>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "app/chats/settings/app_folders.h"
#include "app/chats/settings/speed_file.h"
#include "app/engine/cache_store/model_fingerprint.h"
#include "app/engine/host/turn_builder.h"
#include "app/engine/process/retrying_engine.h"
#include "app/engine/remote/connect_to_server.h"
#include "app/engine/remote/key_ring.h"
#include "app/engine/remote/switching_engine.h"
#include "app/engine/source/engine_source.h"
#include "app/ground/notices/notice_text.h"
#include "app/library/models/model_uses.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/document_passwords.h"
#include "app/programs/cli/interrupt_signals.h"
#include "app/programs/cli/media_options.h"
#include "app/programs/cli/media_reading.h"
#include "engine/base/stopwatch.h"

namespace winnow::cli {
namespace {

// An engine that says on standard error what was noticed of the media that it reads, and which images take many tokens: each thing once,
// whoever asks.
//
// Wrapped around the real one by Session, so that no command can forget it. Main thread.
class NoticedEngine final : public Engine {
 public:
  explicit NoticedEngine(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override {
    NobodyWaits nobody;
    handle_together(request, sink, interrupt, nobody);
  }
  void handle_together(const Request& request, EventSink& sink, const InterruptToken& interrupt, Waiting& waiting) override;

 private:
  class Sink;

  const std::unique_ptr<Engine> engine_;
  std::set<std::string> said_;
  ModelInfo model_;  // that is loaded
};

class NoticedEngine::Sink : public EventSink {
 public:
  Sink(EventSink& sink, std::set<std::string>& said, ModelInfo& model) : sink_(sink), said_(said), model_(model) {}

  void on_event(Event event) override {
    if (const auto* sampled = std::get_if<MediaSampled>(&event.body)) {
      for (const MediaNotice& notice : sampled->notices) say(sampled->path + ": " + app::noticeText(notice));
      if (const std::string many = many_tokens_note(*sampled, model_); !many.empty()) say(many);
    }
    if (const auto* loaded = std::get_if<ModelLoaded>(&event.body)) model_ = loaded->info;
    sink_.on_event(std::move(event));
  }

 private:
  void say(const std::string& line) {
    if (!said_.insert(line).second) return;
    if (isatty(STDERR_FILENO) == 1) status_line("");  // progress stands there
    print_err("note: %s\n", line.c_str());
  }

  EventSink& sink_;
  std::set<std::string>& said_;
  ModelInfo& model_;
};

void NoticedEngine::handle_together(const Request& request, EventSink& sink, const InterruptToken& interrupt, Waiting& waiting) {
  Sink noticed(sink, said_, model_);
  WaitingBehind behind(waiting, [&](const AskedRequest& asked) { return std::make_unique<Sink>(*asked.sink, said_, model_); });
  engine_->handle_together(request, noticed, interrupt, behind);
}

// Keeps the error that ended a request, and says which options would make it fit.
class ErrorWatch : public EventSink {
 public:
  ErrorWatch(EventSink& sink, std::string options) : sink_(sink), options_(std::move(options)) {}
  void on_event(Event event) override {
    if (auto* failed = std::get_if<Failed>(&event.body)) {
      if (failed->error.code == ErrorCode::kContextFull) failed->error.reason += ": " + options_;
      error = failed->error;
    }
    sink_.on_event(std::move(event));
  }

  std::optional<Error> error;

 private:
  EventSink& sink_;
  const std::string options_;
};

// Ends a request when its time is over and frames are there to answer from; nobody hears of that end.
class PartWatch : public EventSink {
 public:
  PartWatch(EventSink& sink, InterruptSource& request, double within_s) : sink_(sink), request_(request), within_s_(within_s) {}
  void on_event(Event event) override {
    const auto* progress = std::get_if<Progress>(&event.body);
    const int there = progress != nullptr ? app::framesToAnswerFrom(*progress) : 0;
    if (frames == 0 && there > 0 && since_.elapsed_ms() >= 1000.0 * within_s_) {
      frames = there;
      request_.request_cancel();
    }
    if (frames == 0) sink_.on_event(std::move(event));
  }

  int frames = 0;  // that were there

 private:
  EventSink& sink_;
  InterruptSource& request_;
  const double within_s_;
  Stopwatch since_;
};

// The options that would make a question's media fit the model.
std::string options_that_fit(const RequestBody& body) {
  bool images = false, videos = false, documents = false;
  const auto look = [&](const std::vector<Message>& messages) {
    for (const Message& message : messages) {
      for (const Item& item : message.items) {
        const auto* media = std::get_if<MediaItem>(&item);
        if (media == nullptr) continue;
        images = images || media->media.kind == MediaKind::kImage;
        videos = videos || media->media.kind == MediaKind::kVideo;
        documents = documents || media->media.kind == MediaKind::kDocument;
      }
    }
  };
  std::visit(
      [&]<class Request>(const Request& request) {
        if constexpr (requires { request.messages; }) look(request.messages);
        if constexpr (requires { request.turn.messages; }) look(request.turn.messages);
      },
      body);
  return std::string(documents ? "--document-tokens, " : "") + (images ? "--picture-detail, " : "") + (videos ? "--frames, " : "") +
         "--max-tokens";
}

class OwnEngine final : public Engine {
 public:
  OwnEngine()
      : speeds_(app::AppFolders::standard().cache),
        engine_(std::make_unique<app::RetryingEngine>(
            std::make_unique<app::SwitchingEngine>([this] { return app::makeOwnEngine(&media_reader(), &speeds_, &document_passwords()); },
                                                   [this](const app::ServerAddress& address, const InterruptToken& interrupt) {
                                                     return app::connectToServer(address, &keys_, &media_reader(), interrupt);
                                                   },
                                                   app::SwitchingEngine::Begin::kWithNone))) {}
  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override {
    engine_.handle(request, sink, interrupt);
  }
  void handle_together(const Request& request, EventSink& sink, const InterruptToken& interrupt, Waiting& waiting) override {
    engine_.handle_together(request, sink, interrupt, waiting);
  }

 private:
  app::SpeedFile speeds_;
  app::KeyRing keys_{std::make_unique<app::DesktopSecrets>()};
  NoticedEngine engine_;
};

}  // namespace

std::unique_ptr<Engine> session_engine() { return std::make_unique<OwnEngine>(); }

Session::Session() : engine_(session_engine()) {}
Session::~Session() = default;

ModelInfo Session::load(const LoadModel& request, ProgressOutput progress) {
  ConsoleSink sink(AnswerOutput::kSilent, progress);
  run(request, sink);
  if (!sink.model) throw Interrupted(Interrupt::kStop);
  model_ = *sink.model;
  fingerprint_.clear();
  app::noteModelUse(app::AppFolders::standard().data, QFile::decodeName(QByteArray::fromStdString(request.folder)),
                    QDateTime::currentDateTime());
  return model_;
}

void Session::run(RequestBody body, EventSink& sink) {
  InterruptSource interrupt;
  run(std::move(body), sink, interrupt);
}

void Session::run_together(Waiting& queue) {
  WaitingBehind watched(queue, [this](AskedRequest& asked) {
    asked.request.id = ++last_id_;
    return std::make_unique<ErrorWatch>(*asked.sink, options_that_fit(asked.request.body));
  });
  while (const auto first = watched.next([](const Request&) { return true; }))
    engine_->handle_together(first->request, *first->sink, first->interrupt, watched);
}

void Session::answer_within(Turn& turn, double within_s, EventSink& sink) {
  turn.asked = std::chrono::steady_clock::now();  // the first word is counted from here, whatever is read twice
  InterruptSource interrupt;
  PartWatch watch(sink, interrupt, within_s);
  MediaRequest* const video = app::videoInParts(turn);
  run(turn, video != nullptr ? static_cast<EventSink&>(watch) : sink, interrupt);
  if (watch.frames == 0) return;
  video->plan.taken = watch.frames;
  video->plan.set_frames = static_cast<int>(model_.traits.joined_frames);
  run(turn, sink);
}

void Session::run(RequestBody body, EventSink& sink, InterruptSource& interrupt) {
  const InterruptOnSignal on_signal(interrupt);
  Request request{0, std::move(body)};
  while (true) {
    ErrorWatch watch(sink, options_that_fit(request.body));
    request.id = ++last_id_;
    engine_->handle(request, watch, interrupt.token());
    if (!watch.error) return;
    if (!enter_password(*watch.error)) throw Exception(*watch.error);
  }
}

const std::string& Session::fingerprint() {
  if (fingerprint_.empty()) fingerprint_ = app::modelFingerprint(model_.folder, model_.dtype, model_.projector);
  return fingerprint_;
}

void Session::save_cache(const std::string& path) {
  ConsoleSink sink(AnswerOutput::kSilent);
  run(SaveConversation{1, path, fingerprint()}, sink);
  if (sink.saved && sink.saved->kv_bytes > 0) return;
  throw Exception(ErrorCode::kInvalidArgument, path, "this method removes slots while it answers, so its cache cannot be saved");
}

Restored Session::load_cache(const std::string& path) {
  ConsoleSink sink(AnswerOutput::kSilent);
  run(LoadConversation{1, path, fingerprint()}, sink);
  if (!sink.restored) throw Interrupted(Interrupt::kStop);
  return *std::move(sink.restored);
}

}  // namespace winnow::cli
