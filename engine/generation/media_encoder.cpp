#include "engine/generation/media_encoder.h"

#include <algorithm>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/device/cuda_plugin.h"

namespace winnow {
namespace {

std::string cache_key(const OpenedMedia& media, ImageTiling tiling, std::optional<VisionJudge> judge) {
  const FramePlan& plan = media.request.plan;
  std::ostringstream key;
  key.precision(17);
  key << media.source->content_hash() << '|' << static_cast<int>(media.request.kind);
  if (media.request.kind == MediaKind::kImage) {
    key << '|' << static_cast<int>(tiling);
  } else {
    key << '|' << plan.frame_count << '|' << plan.every_s << '|' << plan.from_s << '|' << plan.to_s << '|' << plan.max_frames;
  }
  if (judge) key << "|judge " << static_cast<int>(*judge);
  return key.str();
}

}  // namespace

OpenedMedia MediaEncoder::open(const MediaRequest& request, const InterruptToken& interrupt) const {
  if (opener_ == nullptr) throw Exception(ErrorCode::kUnsupportedFormat, request.path, "this build cannot read media files");
  OpenedMedia media;
  media.request = request;
  media.source = opener_->open(request, interrupt);
  if (request.kind == MediaKind::kVideo) media.video_tokens = model_.video_tokens(media.source->frame_count());
  return media;
}

CachedFeatures MediaEncoder::encode(OpenedMedia& media, ImageTiling tiling, std::optional<VisionJudge> judge, TimingsMs& timings, TurnTrace* trace,
                                    const OnProgress& progress, const InterruptToken& interrupt) const {
  const std::string key = cache_key(media, tiling, judge);
  if (trace == nullptr) {
    if (auto known = cache_.find(key)) return *known;
  }

  CachedFeatures result;
  const auto timed_read = [&](int first, int count) {
    const Stopwatch watch;
    std::vector<SampledFrame> frames = media.source->read(first, count, interrupt);
    timings.media += watch.elapsed_ms();
    return frames;
  };

  if (media.request.kind == MediaKind::kImage) {
    progress(Phase::kDecodeMedia, 0, 1);
    const std::vector<SampledFrame> frames = timed_read(0, 1);
    require(frames.size() == 1, "an image source must deliver one picture");
    progress(Phase::kEncodeFrames, 0, 1);
    Stopwatch watch;
    const PixelValues pixels = model_.preprocess_image(frames[0].image, tiling);
    timings.preprocess += watch.restart_ms();
    if (trace != nullptr) trace->image_pixels.push_back(pixels.pixels.clone());
    result.features = model_.encode_image(pixels, judge, interrupt);
    synchronize_device();
    timings.vision += watch.elapsed_ms();
    progress(Phase::kEncodeFrames, 1, 1);
  } else {
    const int frames = media.source->frame_count();
    std::vector<at::Tensor> batches, importance;
    for (int first = 0; first < frames; first += kFramesPerBatch) {
      const int count = std::min(kFramesPerBatch, frames - first);
      progress(Phase::kDecodeMedia, static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(frames));
      std::vector<SampledFrame> sampled = timed_read(first, count);
      require(static_cast<int>(sampled.size()) == count, "a video source must deliver the frames of its plan");
      std::vector<RgbImage> images;
      images.reserve(sampled.size());
      for (SampledFrame& frame : sampled) {
        result.asked_s.push_back(frame.asked_s);
        result.actual_s.push_back(frame.actual_s);
        images.push_back(std::move(frame.image));
      }
      Stopwatch watch;
      const PixelValues pixels = model_.preprocess_frames(images);
      timings.preprocess += watch.restart_ms();
      if (trace != nullptr) trace->video_pixels.push_back(pixels.pixels.clone());
      const FrameFeatures encoded = model_.encode_frames(pixels, judge, interrupt);
      batches.push_back(encoded.features);
      if (judge) importance.push_back(encoded.importance);
      synchronize_device();
      timings.vision += watch.elapsed_ms();
      progress(Phase::kEncodeFrames, static_cast<std::uint64_t>(first + count), static_cast<std::uint64_t>(frames));
    }
    result.features = model_.join_frames({at::cat(batches, 0), judge ? at::cat(importance, 0) : at::Tensor()});
  }
  cache_.insert(key, result);
  return result;
}

}  // namespace winnow
