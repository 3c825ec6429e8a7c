// Media that come clip by clip and are held within a fixed number of slots (phase stream).
//
// After a clip is in the cache, a probe or the keys judge all slots of the media that are left, and what is too much leaves. One object for
// one stream, from its first clip on; copied with its conversation where a clip may have to be taken back. Used by prepare_context() for
// files, and by run_watch() for sources without an end. Errors: Exception, Interrupted. Engine thread only.
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

// The tokens of a clip, which are the conversation's last.
struct ClipTokens {
  at::Tensor embeddings;  // [c, hidden]: as they entered the first layer
  std::span<const TokenOrigin> origins;
  const ProbePrompts& prompts;
};

class ClipStream {
 public:
  // before: has read everything but the media. Of a file: segment ends with them, and all of them will come.
  ClipStream(const Recipe& recipe, const KvCache& before, const SegmentTokens& segment);
  // Of a source without an end, whose first token has this original index.
  ClipStream(const Recipe& recipe, const KvCache& before, std::int32_t first_original);

  // Judges and compresses. recipe: the same each time.
  Description after_clip(const RequestContext& context, const Recipe& recipe, Conversation& working, const ClipTokens& clip);

  // Slots of the media that a layer may keep: of all its heads together, whether they compete or not.
  std::int64_t most_slots(LayerId layer) const;
  // What an event after a clip leaves of so many, which is known beforehand.
  std::int64_t slots_after_clip(LayerId layer, std::int64_t slots) const;
  // That it holds.
  std::int64_t slots(const KvCache& cache, LayerId layer) const;
  // The user's pins alone are more than was asked for; and the same of all that stays whatever it scores.
  bool pins_above_budget() const { return pins_above_budget_; }
  bool raised_to_floor() const { return raised_to_floor_; }
  // The first original index of the media.
  std::int32_t first_original() const { return first_original_; }
  double statistics_ms() const { return statistics_ms_; }
  double compress_ms() const { return compress_ms_; }

 private:
  // The media's tokens that will come, and those that the user pinned.
  struct Expected {
    std::int64_t tokens = 0;
    std::int64_t pinned = 0;
  };
  ClipStream(const Recipe& recipe, const KvCache& before, std::int32_t first_original, const Expected& expected);

  // An event comes when there are too many slots; where it leaves less than the cap, when they are full.
  bool is_due(LayerId layer, std::int64_t slots) const;
  // What an event leaves of a cap.
  std::int64_t left_of(std::int64_t cap) const;
  void name_places(std::span<const TokenOrigin> origins);
  std::vector<float> scores_by_keys(const Recipe& recipe, const KvCache& cache, LayerId layer, KvHead head) const;
  void compress(const Recipe& recipe, Conversation& working);
  // of_layer: one order for all heads of the layer. Pinned slots come first, then those of the newest frames.
  std::vector<float> competing_scores(const Conversation& working, const NewestFrames& newest_frames, LayerId layer, KvHead head,
                                      bool of_layer) const;
  // For each of these heads ascending slots of the media that stay, of `pairs` in all.
  std::vector<std::vector<std::int32_t>> choose(const Recipe& recipe, const Conversation& working, const NewestFrames& newest_frames,
                                                std::span<const std::pair<LayerId, KvHead>> group, std::int64_t pairs) const;
  void keep(KvCache& cache, LayerId layer, std::span<const std::vector<std::int32_t>> chosen);

  PerLayer<std::int64_t> caps_;  // per kv head, or of all heads where they compete
  PerLayer<bool> whole_;         // all media fit
  bool ragged_ = false;
  double target_ = 1.0;
  std::int64_t pinned_ = 0;  // slots of a head that stay in any case
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

// [first, first + count) of the tokens: so many frames each (an image counts as one), with the text that stands among them.
std::vector<std::pair<std::int64_t, std::int64_t>> clips_of(std::span<const TokenOrigin> origins, std::int64_t frames);

// The allocator says nothing of why: budgets were known beforehand.
EventOutcome streamed_outcome(const ClipStream& stream, const KvShape& shape);

}  // namespace winnow
