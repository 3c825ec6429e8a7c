// Media items to features: opens the files, pulls a few frames at a time, runs processor and vision tower, reports progress.
//
// Used by TurnRunner. Never holds more than kFramesPerBatch decoded frames. Throws Exception or Interrupted. Engine thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/api/events.h"
#include "engine/generation/feature_cache.h"
#include "engine/generation/turn_trace.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

// One opened media item of a turn, before anything is encoded.
struct OpenedMedia {
  MediaRequest request;
  std::unique_ptr<FrameSource> source;
  std::int64_t video_tokens = 0;  // 0 for images: their count needs the pixels' size
};

class MediaEncoder {
 public:
  static constexpr int kFramesPerBatch = 8;

  MediaEncoder(const VisionLanguageModel& model, MediaOpener* opener, FeatureCache& cache) : model_(model), opener_(opener), cache_(cache) {}

  OpenedMedia open(const MediaRequest& request, const InterruptToken& interrupt) const;

  // Called with (phase, frames done, frames in all).
  using OnProgress = std::function<void(Phase, std::uint64_t, std::uint64_t)>;
  // trace: receives the pixels (and then cached features are not used); may be null.
  CachedFeatures encode(OpenedMedia& media, ImageTiling tiling, std::optional<VisionJudge> judge, TimingsMs& timings, TurnTrace* trace, const OnProgress& progress,
                        const InterruptToken& interrupt) const;

 private:
  const VisionLanguageModel& model_;
  MediaOpener* opener_;
  FeatureCache& cache_;
};

}  // namespace winnow
