// One of many videos, step by step: read and compressed before any question, kept on the disk, then asked from what is kept.
//
// Used by the window's page of a folder and by `find --ask`: they hand each request to the engine, and its events back. What is left of a
// video is kept under a number that its content, the model, the recipe and the plan of its frames give, so that nothing is read twice,
// whatever the file is called. The engine holds one video at a time; whoever drives frees it. Errors: error(). Threads: one at a time;
// next() touches the disk.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/engine/cache_store/conversation_caches.h"
#include "app/engine/video_shelf/video_question.h"
#include "engine/messages/events.h"

namespace winnow::app {

// A video before it is read.
struct UnreadVideo {
  Turn turn;            // ends with the video alone, as for Prepare
  std::string content;  // its hash
  double durationS = 0.0;
  std::string model;  // the loaded model's fingerprint
};
ConversationId keptNumber(const UnreadVideo& video);

struct VideoAnswer {
  std::string text;
  Verdict verdict = Verdict::kUnclear;
  std::vector<double> timesS;
};

class VideoSteps {
 public:
  // question: none: the video is prepared alone. caches outlive it.
  VideoSteps(ConversationCaches& caches, UnreadVideo video, std::optional<PutQuestion> question);

  // Nothing: that was the last one.
  std::optional<RequestBody> next();
  // Each event of the request.
  void take(const EventBody& event);

  bool wasKept() const { return m_wasKept; }  // from before: nothing of it was read
  bool interrupted() const { return m_interrupted; }
  const std::optional<Error>& error() const { return m_error; }
  const VideoAnswer& answer() const { return m_answer; }

 private:
  enum class Step : int { kBegin = 1, kLoad, kPrepare, kSave, kWhether, kWhen, kEnd };
  RequestBody prepare();
  std::optional<RequestBody> ask(Step step, const std::string& question);
  void takeAnswer(const Finished& finished);

  ConversationCaches& m_caches;
  const UnreadVideo m_video;
  const std::optional<PutQuestion> m_question;
  const ConversationId m_number;
  Turn m_turn;
  Step m_step = Step::kBegin;
  bool m_wasKept = false;
  bool m_compressed = false;
  bool m_saved = false;
  bool m_interrupted = false;
  std::optional<Error> m_error;
  VideoAnswer m_answer;
};

}  // namespace winnow::app
