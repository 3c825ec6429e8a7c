// Compresses media that arrive clip by clip to a fixed number of slots (phase stream).
//
// After each clip is prefilled, a probe or the keys score all media slots, and the excess is evicted. One object per stream, from its first
// clip on; copied with its conversation if a clip may have to be undone. Used by prepare_context() for files and by run_watch() for endless
// sources. Errors: Exception, Interrupted. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/per_layer.h"
#include "engine/compression/statistics/streamed_keys.h"
#include "engine/generation/context/request_context.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/generation/prefill/segment_compression.h"
#include "engine/generation/reading/newest_frames.h"
#include "engine/generation/segment/probe_prompts.h"
#include "engine/messages/events.h"
#include "engine/models/model_info.h"
#include "engine/recipes/recipe.h"
#include "engine/recipes/streamed_scores.h"

namespace winnow {

// A clip's tokens: the last of the conversation.
struct ClipTokens {
  at::Tensor embeddings;  // [c, hidden]: the first layer's input
  std::span<const TokenOrigin> origins;
  const ProbePrompts& prompts;
};

class ClipStream {
 public:
  // before: the cache before the media. For a file: segment ends with the media, all of which will follow.
  ClipStream(const Recipe& recipe, const KvCache& before, const SegmentTokens& segment);
  // For an endless source, whose first token has this original index.
  ClipStream(const Recipe& recipe, const KvCache& before, std::int32_t first_original);

  // Scores and compresses. recipe: the same each time.
  Description after_clip(const RequestContext& context, const Recipe& recipe, Conversation& working, const ClipTokens& clip);

  // Media slots that a layer may keep, over all its heads.
  std::int64_t most_slots(LayerId layer) const;
  // How many of `slots` remain after a clip's event; known beforehand.
  std::int64_t slots_after_clip(LayerId layer, std::int64_t slots) const;
  // Media slots in use.
  std::int64_t slots(const KvCache& cache, LayerId layer) const;
  // True if the user's pins exceed the budget; below, if all protected slots do.
  bool pins_above_budget() const { return pins_above_budget_; }
  bool raised_to_floor() const { return raised_to_floor_; }
  // The first original index of the media.
  std::int32_t first_original() const { return first_original_; }
  double statistics_ms() const { return statistics_ms_; }
  double compress_ms() const { return compress_ms_; }

 private:
  // Media tokens that will follow, and how many are pinned.
  struct Expected {
    std::int64_t tokens = 0;
    std::int64_t pinned = 0;
  };
  ClipStream(const Recipe& recipe, const KvCache& before, std::int32_t first_original, const Expected& expected);

  // An event is due above the cap; at the cap, if the event leaves less than that.
  bool is_due(LayerId layer, std::int64_t slots) const;
  // Slots of a cap that an event leaves.
  std::int64_t left_of(std::int64_t cap) const;
  void name_places(std::span<const TokenOrigin> origins);
  std::vector<float> scores_by_keys(const Recipe& recipe, const KvCache& cache, LayerId layer, KvHead head) const;
  void compress(const Recipe& recipe, Conversation& working);
  // of_layer: one order for all heads of the layer. Pinned slots rank first, then those of the newest frames.
  std::vector<float> competing_scores(const Conversation& working, const NewestFrames& newest_frames, LayerId layer, KvHead head,
                                      bool of_layer) const;
  // Per head of the group the media slots to keep, ascending; `pairs` in all.
  std::vector<std::vector<std::int32_t>> choose(const Recipe& recipe, const Conversation& working, const NewestFrames& newest_frames,
                                                std::span<const std::pair<LayerId, KvHead>> group, std::int64_t pairs) const;
  void keep(KvCache& cache, LayerId layer, std::span<const std::vector<std::int32_t>> chosen);

  PerLayer<std::int64_t> caps_;  // per kv head, or over all heads if they compete
  PerLayer<bool> whole_;         // all media fit
  bool ragged_ = false;
  double target_ = 1.0;
  std::int64_t pinned_ = 0;  // protected slots per head
  bool pins_above_budget_ = false;
  bool raised_to_floor_ = false;
  std::int32_t first_original_ = 0;
  PerLayer<std::vector<std::int64_t>> before_;  // per kv head: slots before the media
  PerLayer<StreamedScores> scores_;
  std::vector<StreamedPlace> places_;                     // per token of the media
  std::int64_t cells_ = 1;                                // tokens of the newest frame
  std::pair<std::int32_t, std::int32_t> newest_{-1, -1};  // medium and frame
  std::int32_t frames_ = 0;
  double statistics_ms_ = 0.0;
  double compress_ms_ = 0.0;
};

// Token ranges [first, first + count) of clips: `frames` frames each (an image counts as one), with the text between them.
std::vector<std::pair<std::int64_t, std::int64_t>> clips_of(std::span<const TokenOrigin> origins, std::int64_t frames);

// Without EventOutcome::why, because budgets are fixed beforehand.
EventOutcome streamed_outcome(const ClipStream& stream, const KvShape& shape);

}  // namespace winnow
