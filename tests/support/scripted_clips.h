// A source of clips that tests feed by hand: for tests of app/media/live and of the window. No codecs.
//
// next() waits until a clip was given, a fault was set, it is interrupted or it is asked to stop waiting, as a camera would. Threads: any.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/media/live/clip_reader.h"
#include "engine/base/error.h"

namespace winnow::test {

class ScriptedClips {
 public:
  void give(app::ClipReader::Clip clip) {
    const std::lock_guard lock(mutex_);
    clips_.push_back(std::move(clip));
  }
  // `count` frames that follow the ones before.
  void giveFrames(int count) {
    const std::lock_guard lock(mutex_);
    clips_.push_back(following(count));
  }
  // The same, as the beginning of a clip that is not full yet: there for a reader that is asked to stop waiting.
  void beginClip(int count) {
    const std::lock_guard lock(mutex_);
    begun_ = following(count);
  }
  void end(const std::string& because) {
    app::ClipReader::Clip clip{.ended = true, .endedBecause = because};
    give(std::move(clip));
  }
  void fail(Error error) {
    const std::lock_guard lock(mutex_);
    fault_ = std::move(error);
  }
  int asked() const { return locked(asked_); }    // calls of next()
  int opened() const { return locked(opened_); }  // readers made
  int closed() const { return locked(closed_); }  // and gone
  std::vector<int> most() const { return locked(most_); }
  std::vector<app::WatchRequest> requests() const { return locked(requests_); }

  app::ClipReaderFactory factory() {
    return [this](const app::WatchRequest& request, const InterruptToken&) {
      const std::lock_guard lock(mutex_);
      ++opened_;
      requests_.push_back(request);
      return std::make_unique<Reader>(*this);
    };
  }

 private:
  class Reader final : public app::ClipReader {
   public:
    explicit Reader(ScriptedClips& clips) : clips_(clips) {}
    ~Reader() override {
      const std::lock_guard lock(clips_.mutex_);
      ++clips_.closed_;
    }
    Clip next(int most, const InterruptToken& interrupt) override {
      {
        const std::lock_guard lock(clips_.mutex_);
        ++clips_.asked_;
        clips_.most_.push_back(most);
      }
      for (;;) {
        if (interrupt.state() == Interrupt::kCancel) throw Interrupted(Interrupt::kCancel);
        if (std::optional<Clip> clip = clips_.take()) return *std::move(clip);
        if (interrupt.requested()) return clips_.begun();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }

   private:
    ScriptedClips& clips_;
  };

  app::ClipReader::Clip following(int count) {
    app::ClipReader::Clip clip;
    for (int i = 0; i < count; ++i, ++frames_) {
      const double at = 0.5 * frames_;
      clip.frames.push_back({at, at, {2, 2, std::vector<std::uint8_t>(12, static_cast<std::uint8_t>(frames_))}});
    }
    return clip;
  }
  app::ClipReader::Clip begun() {
    const std::lock_guard lock(mutex_);
    return std::exchange(begun_, {});
  }
  std::optional<app::ClipReader::Clip> take() {
    const std::lock_guard lock(mutex_);
    if (!clips_.empty()) {
      app::ClipReader::Clip clip = std::move(clips_.front());
      clips_.pop_front();
      return clip;
    }
    if (fault_) throw Exception(*std::exchange(fault_, std::nullopt));
    return std::nullopt;
  }
  template <class Value>
  Value locked(const Value& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }

  mutable std::mutex mutex_;  // guards everything below
  std::deque<app::ClipReader::Clip> clips_;
  app::ClipReader::Clip begun_;
  std::optional<Error> fault_;
  int frames_ = 0;
  int asked_ = 0;
  int opened_ = 0;
  int closed_ = 0;
  std::vector<int> most_;
  std::vector<app::WatchRequest> requests_;
};

}  // namespace winnow::test
