// The engine as both programs have it: winnow-engine behind ProcessEngine and RetryingEngine, with the demo model. Its home is a folder of
// the test's own.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "app/engine/process/process_engine.h"
#include "app/engine/process/retrying_engine.h"
#include "tests/support/asked_queue.h"
#include "tests/support/event_recorder.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::testing {

class RunningEngine : public ::testing::Test {
 protected:
  RunningEngine() {
    ::setenv("WINNOW_HOME", scratch_.file("home").c_str(), 1);
    auto process = std::make_unique<app::ProcessEngine>(app::EngineProcessSettings{WINNOW_ENGINE});
    process_ = process.get();
    engine_ = std::make_unique<app::RetryingEngine>(std::move(process));
  }

  static LoadModel demo_model(Device device = Device::kCpu) {
    return {.folder = source_folder() + "/resources/demo/model", .device = device};
  }
  void load(const LoadModel& model) {
    const EventRecorder events = run(model);
    ASSERT_TRUE(events.last<ModelLoaded>()) << said(events);
  }

  static Turn question(const std::string& text, int frames) {
    Turn turn{.conversation = 7};
    MediaItem video;
    video.media.path = source_folder() + "/resources/demo/samples/ten-seconds.mp4";
    video.media.kind = MediaKind::kVideo;
    video.media.plan.frame_count = frames;
    turn.messages = {{Role::kUser, {video, TextItem{text}}}};
    turn.recipe.method = "full";
    turn.recipe.retention = 1.0;
    turn.sampling.max_new_tokens = 32;
    return turn;
  }
  // From nothing.
  EventRecorder ask(const Turn& turn, const std::function<void(const Event&)>& hook = {}) {
    run(ForgetConversation{turn.conversation});
    return run(turn, hook);
  }

  enum class Tries { kTwo, kOne };  // of a request at which the process ends
  EventRecorder run(const RequestBody& body, const std::function<void(const Event&)>& hook = {}, Tries tries = Tries::kTwo) {
    EventRecorder events;
    events.hook = hook;
    Engine& engine = tries == Tries::kTwo ? static_cast<Engine&>(*engine_) : *process_;
    engine.handle({++last_id_, body}, events, InterruptToken());
    return events;
  }
  // All of them, together as far as they may be.
  void run_queue(AskedQueue& queue) { queue.run(*engine_); }
  // The next request finds another process, which has read nothing yet.
  void end_process() {
    ::kill(pid(), SIGKILL);
    run(SaveConversation{7, scratch_.file("never"), "m"});
  }

  static std::optional<ErrorCode> failure(const EventRecorder& events) {
    const std::optional<Failed> failed = events.last<Failed>();
    return failed ? std::optional(failed->error.code) : std::nullopt;
  }
  // The answer or why there is none.
  static std::string said(const EventRecorder& events) {
    if (const std::optional<Failed> failed = events.last<Failed>())
      return std::to_string(static_cast<int>(failed->error.code)) + " " + failed->error.subject + ": " + failed->error.reason;
    return events.last<Finished>().value_or(Finished{}).answer;
  }

  pid_t pid() const { return process_->pid(); }

  const test::ScratchFolder scratch_;

 private:
  app::ProcessEngine* process_ = nullptr;
  std::unique_ptr<app::RetryingEngine> engine_;
  RequestId last_id_ = 0;
};

}  // namespace winnow::testing
