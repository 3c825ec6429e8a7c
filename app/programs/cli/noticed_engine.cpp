#include "app/programs/cli/noticed_engine.h"

#include <unistd.h>

#include <utility>

#include "app/ground/notices/notice_text.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/detail_options.h"

namespace winnow::cli {

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

void NoticedEngine::handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) {
  Sink noticed(sink, said_, model_);
  engine_->handle(request, noticed, interrupt);
}

}  // namespace winnow::cli
