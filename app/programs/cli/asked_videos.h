// One question put to each of many videos: which of them show it, and when.
//
// Used by `find --ask`. Each video is read and compressed before the question (Prepare), and what is left of it is kept in the data folder,
// so that a later question reads nothing again. A question of the form "Which shows X?" is put to each as "Is there X?"; where the answer
// says so, "When does X appear?" follows. Any other is put as it is, and its own times count. Errors: Exception with the engine's error.
// Main thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/engine/cache_store/conversation_caches.h"
#include "app/programs/cli/session.h"
#include "app/programs/cli/turn_options.h"

namespace winnow::cli {

struct PutQuestion {
  std::string whether;
  std::string when;  // empty: there is none
};
PutQuestion put_to_each(const std::string& asked);

enum class Verdict : int { kYes = 1, kNo = 2, kUnclear = 3 };
// The verdict of an answer on whether it is there: by its first word, or by "there is" and "there is no".
Verdict verdict_of(const std::string& answer);
// "0:15", "1:02:03", "12 seconds", in seconds, those of the video.
std::vector<double> times_in(const std::string& answer, double duration_s);

struct AskedVideo {
  std::string path;
  bool kept = false;  // what was read of it before; nothing is read again
  std::string answer;
  Verdict verdict = Verdict::kUnclear;
  std::vector<double> times_s;
};

class VideoQuestions {
 public:
  // options: of all videos, but for the videos. All outlive it.
  VideoQuestions(Session& session, const TurnOptions& options, const ModelInfo& model);

  // Nothing: it was interrupted.
  std::optional<AskedVideo> ask(const std::string& video, const PutQuestion& question);

 private:
  std::optional<Turn> prepared(const TurnOptions& of_video, ConversationId number, bool& kept);
  std::optional<std::string> answer(Turn& turn, const std::string& question);

  Session& session_;
  const TurnOptions& options_;
  const ModelInfo& model_;
  app::ConversationCaches caches_;
  ConsoleSink silent_;
};

// The videos among files and folders, those of a folder as people count. Throws Exception for a folder without one.
std::vector<std::string> videos_in(const std::vector<std::string>& paths);

}  // namespace winnow::cli
