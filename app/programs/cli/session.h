// One engine with one model, driven synchronously: what every command that asks something uses.
//
// Errors: Exception with the engine's error; Interrupted where a request that has no partial result was stopped. Main thread only.
#pragma once

#include <memory>
#include <string>

#include "app/programs/cli/console.h"
#include "engine/api/engine.h"

namespace winnow::cli {

// The engine of a command, with all that it needs.
std::unique_ptr<Engine> session_engine();

class Session {
 public:
  Session();
  ~Session();

  // Loads the model; progress goes to stderr.
  ModelInfo load(const LoadModel& request, ProgressOutput progress = ProgressOutput::kPhases);
  // Runs any other request; Ctrl+C stops it. Throws the engine's error; an interrupted turn is an outcome.
  void run(RequestBody body, EventSink& sink);
  // Runs all that the queue gives, together where the engine can, and numbers it. Errors are their sinks'; who asks looks after Ctrl+C.
  void run_together(Waiting& queue);
  // A turn that waits so long for the frames of its video, then is answered from those that are there: `turn` says how many.
  void answer_within(Turn& turn, double within_s, EventSink& sink);
  // The caches of conversation 1 to a file and back. Errors: Exception; kInvalidArgument where there is nothing that can be kept.
  void save_cache(const std::string& path);
  Restored load_cache(const std::string& path);
  // The loaded model's fingerprint (app/engine/cache_store/model_fingerprint.h). Its files are read at the first call after load(): call at
  // once where a cache will be saved, since another model may lie under the same name when the answer ends.
  const std::string& fingerprint();
  // For commands that drive it themselves.
  Engine& engine() { return *engine_; }

 private:
  void run(RequestBody body, EventSink& sink, InterruptSource& interrupt);

  std::unique_ptr<Engine> engine_;
  RequestId last_id_ = 0;
  ModelInfo model_;          // the loaded one
  std::string fingerprint_;  // of it; empty: not asked for yet
};

}  // namespace winnow::cli
