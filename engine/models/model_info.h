// Facts about a loaded model that the program shows. Plain data, no torch; filled by engine/models, sent with ModelLoaded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/models/detail_choices.h"
#include "engine/recipes/model_traits.h"
#include "engine/sampling/sampling.h"

namespace winnow {

// An ability that an engine may lack with a model: a server in the engine's place (app/engine/remote) answers questions and little else.
// Sent: never renumbered.
enum class Ability : int {
  kCompress = 1,  // cache methods, and all that is known of the cache: budgets, bytes, kept-token maps, pins, guards
  kPlan = 2,      // Plan
  kPrepare = 3,   // Prepare
  kCompare = 4,   // Compare
  kScore = 5,     // Score
  kWatch = 6,     // WatchClip
  kKeep = 7,      // SaveConversation and LoadConversation
  kExport = 8,    // ExportTurn
  kContinue = 9,  // Turn::answer_begun and thought_begun
};

struct ModelInfo {
  std::string folder{};
  std::string projector{};  // of a GGUF model: the mmproj file named in LoadModel
  std::string name{};       // folder's last component
  std::string family{};
  std::string device{};       // "cpu" or "cuda"
  std::string dtype{};        // of the arithmetic, "fp32", "bf16", "fp16"; with quantised matrices also their type, "fp32, Q4_1"
  std::string device_note{};  // why a faster device or dtype was not used; usually empty
  std::int64_t layers = 0;    // that attend, and so have slots
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t context_tokens = 0;
  std::int64_t visual_tokens_per_frame = 0;  // 0: depends on the picture
  std::int64_t parameter_count = 0;
  std::int64_t weight_bytes = 0;
  std::int64_t kv_bytes_per_token = 0;  // all layers, K and V, uncompressed
  std::int64_t state_layers = 0;        // beside `layers`: without slots, which keep a state of fixed size
  std::int64_t state_bytes = 0;         // of all of them
  std::string time_instruction{};       // from winnow.json, else from the model's own files; empty: none
  std::int64_t video_frames = 0;        // from winnow.json: frames of the longest training videos; 0: unknown
  std::int64_t vision_products = 0;     // multiply-adds of a patch in the matrices of the vision encoder and the projector
  double frame_ms = 0.0;                // that a frame of a video takes on this CPU: measured, else guessed; 0: unknown, or on a GPU
  SamplingChoice recommended{};         // from generation_config.json; empty: none
  ModelTraits traits{};
  bool thinks = false;             // its chat template has markers for reasoning
  bool thinking_switch = false;    // its chat template has a variable that turns reasoning on or off
  std::string server{};            // that runs it, "vLLM at gpu:8000"; empty: the program's own engine
  std::int64_t most_pictures = 0;  // images and frames that one request may hold; 0: as many as the context takes
  std::vector<Ability> lacks{};    // ascending; empty: everything can be done with it
  DetailChoices picture_detail{};  // tokens of an image
  DetailChoices frame_detail{};    // tokens of a frame of a video, of joined frames together
};

inline bool can(const ModelInfo& model, Ability ability) { return std::ranges::find(model.lacks, ability) == model.lacks.end(); }

// No limit but a high one and the model's context, in which reasoning needs more room.
inline void answer_to_the_end(Sampling& sampling, const ModelInfo& model) {
  constexpr std::int64_t kRoomWithThoughts = 1024;
  const bool thinks = model.thinks && sampling.thought_tokens != 0;
  sampling.max_new_tokens = Sampling::kLongestUnasked;
  sampling.room_tokens = Sampling::kRoom;
  if (thinks)
    sampling.room_tokens = static_cast<int>(std::clamp(model.context_tokens / 4, std::int64_t{Sampling::kRoom}, kRoomWithThoughts));
}

// So many frames of a video, `usual` at most, that the first answer comes after about a minute.
inline int frames_in_a_minute(const ModelInfo& model, int usual) {
  constexpr double kMinuteMs = 60'000.0;
  constexpr int kLeast = 4;
  if (model.frame_ms <= 0.0 || usual * model.frame_ms <= kMinuteMs) return usual;
  return std::max(std::min(kLeast, usual), static_cast<int>(kMinuteMs / model.frame_ms));
}

}  // namespace winnow
