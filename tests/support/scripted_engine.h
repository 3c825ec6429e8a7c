// An engine that replays a script: for tests of engine_host, ui and the terminal program. No model, no torch.
//
// A script is a list of steps per request; the default script answers a Turn with "You asked: <question>" and loads any folder. Between
// steps and during delays the interrupt is polled every millisecond: Stop ends with Finished{kInterrupted} and the text so far, Cancel with
// Finished{kInterrupted, restored}. A stall waits until it is interrupted. A stopped comparison ends the columns that have text and says
// Compared; before the first word it is restored, as a check always is.
// Threads: handle() on the engine's thread; ScriptedEngineLog may be read from anywhere.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/api/engine.h"

namespace winnow::test {

struct Say {  // one event
  EventBody body;
  std::int32_t column = Event::kNoColumn;
};
struct Throw {  // std::runtime_error out of handle(): a broken engine
  std::string what;
};
struct ThrowForeign {};  // something that is no std::exception
struct Stall {};         // waits for an interrupt
struct EndSilently {};   // returns without an outcome

struct Step {
  std::chrono::milliseconds delay{0};
  std::variant<Say, Throw, ThrowForeign, Stall, EndSilently> action;
};
using Script = std::vector<Step>;
using ScriptFunction = std::function<Script(const Request&)>;

// What the engine was asked and on which thread; shared between the test and the engine.
class ScriptedEngineLog {
 public:
  void add(const Request& request);
  void addInterrupt(RequestId id, Interrupt kind);
  std::vector<Request> requests() const;
  Interrupt interruptOf(RequestId id) const;
  // Plans are kept apart: a window asks for one whenever somebody stops typing.
  void addPlan(const Plan& plan);
  std::vector<Plan> plans() const;
  // So are preparations: a window asks for one when something is attached. They end at once unless they are held.
  void addPrepare(const Prepare& prepare);
  std::vector<Prepare> prepares() const;
  void holdPreparations(bool hold) { hold_preparations_ = hold; }
  bool holdsPreparations() const { return hold_preparations_; }
  // One that is held ends and starts again, as an engine's process does.
  void restartPreparation() { restart_preparation_ = true; }
  bool takeRestart() { return restart_preparation_.exchange(false); }
  // What a preparation tells of its frames, if it encodes them in coarse order; 0: it does not.
  void setEncodedFrames(int frames) { encoded_frames_ = frames; }
  int encodedFrames() const { return encoded_frames_; }
  // Clips of a watch are among the requests; they end at once unless they are held, and badly if a fault is set.
  void holdWatches(bool hold) { hold_watches_ = hold; }
  bool holdsWatches() const { return hold_watches_; }
  void failWatches(std::optional<Error> fault);
  std::optional<Error> watchFault() const;
  void describeWatches(Description description);
  Description watchDescription() const;
  int destroyed() const;
  void addDestroyed();

 private:
  mutable std::mutex mutex_;  // guards everything below
  std::vector<Request> requests_;
  std::vector<Plan> plans_;
  std::vector<Prepare> prepares_;
  std::vector<std::pair<RequestId, Interrupt>> interrupts_;
  int destroyed_ = 0;
  std::optional<Error> watch_fault_;
  Description watch_description_;
  std::atomic<bool> hold_preparations_{false};
  std::atomic<bool> restart_preparation_{false};
  std::atomic<int> encoded_frames_{0};
  std::atomic<bool> hold_watches_{false};
};

class ScriptedEngine final : public Engine {
 public:
  // shared: the log outlives the engine, which lives on another thread.
  explicit ScriptedEngine(ScriptFunction script = {}, std::shared_ptr<ScriptedEngineLog> log = {});
  ~ScriptedEngine() override;
  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override;

 private:
  void prepare_media(RequestId id, const Prepare& prepare, EventSink& sink, const InterruptToken& interrupt);

  void watch_clip(RequestId id, const WatchClip& clip, EventSink& sink, const InterruptToken& interrupt);

  ScriptFunction script_;
  std::shared_ptr<ScriptedEngineLog> log_;
  std::map<ConversationId, std::int64_t> watched_frames_;
};

// A whole, plausible turn in the documented order, going on from the cache that the turn names, if it names one: progress, sampled media
// (for each media item), a cache report of `layers` layers over 9 visual tokens a frame, the answer word by word with `wordDelay`, samples,
// Finished.
Script answer_script(const Request& request, const std::string& answer, std::chrono::milliseconds word_delay = {}, int layers = 4);
// What answer_script's turn takes, in the figures of load_script's model: answers every Plan, whatever the script.
Planned planned_for(const Plan& plan);
// A document of kDocumentTokens tokens, or of kLongDocumentTokens if its path contains "long"; a line has kDocumentLineTokens of them.
inline constexpr std::int64_t kDocumentTokens = 200;
inline constexpr std::int64_t kLongDocumentTokens = 5000;
inline constexpr std::int32_t kDocumentLineTokens = 10;
MediaSampled sampled_document(const MediaRequest& document);
// What is left of `frames` frames of 9 tokens under the cap of the clip's recipe: the newest clip is whole as far as it fits, the rest is
// shared evenly, and once the cap is passed the first frame is forgotten.
Watched watched_for(const WatchClip& clip, std::int64_t frames);
// ModelLoaded for the folder asked, shaped like the demo model.
Script load_script(const Request& request, std::chrono::milliseconds shard_delay = {}, int shards = 2);
Script failure_script(ErrorCode code, const std::string& subject, const std::string& reason);
// load_script for a model, answer_script for all else.
ScriptFunction answering(const std::string& answer, std::chrono::milliseconds word_delay = {});
// The script with each of its events of one kind changed: changed<Finished>(script, [](Finished& finished) { ... }).
template <class Body, class Change>
Script changed(Script script, const Change& change) {
  for (Step& step : script) {
    auto* say = std::get_if<Say>(&step.action);
    if (auto* body = say != nullptr ? std::get_if<Body>(&say->body) : nullptr) change(*body);
  }
  return script;
}
// load_script, answer_script, compare_script or score_script by the kind of request.
Script default_script(const Request& request);

}  // namespace winnow::test
