// Media items to features: opens the files, pulls a few frames at a time, runs processor and vision tower, reports progress.
//
// Used by TurnRunner. Never holds more than kFramesPerBatch decoded frames. Throws Exception or Interrupted. Engine thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/generation/context/feature_cache.h"
#include "engine/generation/context/turn_trace.h"
#include "engine/generation/segment/prompt.h"
#include "engine/messages/events.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

// One opened media item of a turn, before anything is encoded.
struct OpenedMedia {
  MediaRequest request;
  std::unique_ptr<FrameSource> source;
  ImageTiling tiling = ImageTiling::kAnyRes;
  std::int64_t video_tokens = 0;  // 0 for images
};

// Of the videos among them.
std::vector<VideoTimes> video_times(std::span<const OpenedMedia> media);

class MediaEncoder {
 public:
  static constexpr int kFramesPerBatch = 8;

  MediaEncoder(const VisionLanguageModel& model, MediaOpener* opener, FeatureCache& cache)
      : model_(model), opener_(opener), cache_(cache) {}

  // The media of all messages, in thread order.
  std::vector<OpenedMedia> open_all(std::span<const Message> messages, const InterruptToken& interrupt) const;
  // One token each as encode() will deliver them, with `media` at -1; nothing is decoded.
  std::vector<TokenOrigin> foreseen_origins(const OpenedMedia& media) const;
  // What encode() gave for the same request before, if it is still there; valid until the next encode(). Null otherwise.
  const CachedFeatures* remembered(const OpenedMedia& media, std::optional<VisionJudge> judge) const;

  // Called with (phase, frames done, frames in all).
  using OnProgress = std::function<void(Phase, std::uint64_t, std::uint64_t)>;
  // trace: receives the pixels (and then cached features are not used); may be null.
  CachedFeatures encode(OpenedMedia& media, std::optional<VisionJudge> judge, TimingsMs& timings, TurnTrace* trace,
                        const OnProgress& progress, const InterruptToken& interrupt) const;

 private:
  OpenedMedia open(const MediaRequest& request, ImageTiling tiling, const InterruptToken& interrupt) const;

  const VisionLanguageModel& model_;
  MediaOpener* opener_;
  FeatureCache& cache_;
};

}  // namespace winnow
