#include "engine/generation/segment/media_encoder.h"

#include <algorithm>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/device/cuda_plugin.h"

namespace winnow {
namespace {

// `content`: the file's hash, or its path.
std::string cache_key(const OpenedMedia& media, const std::string& content, std::optional<VisionJudge> judge) {
  const FramePlan& plan = media.request.plan;
  std::ostringstream key;
  key.precision(17);
  key << content << '|' << static_cast<int>(media.request.kind);
  if (media.request.kind == MediaKind::kImage) {
    key << '|' << static_cast<int>(media.tiling);
  } else {
    key << '|' << plan.frame_count << '|' << plan.every_s << '|' << plan.from_s << '|' << plan.to_s << '|' << plan.max_frames;
  }
  if (judge) key << "|judge " << static_cast<int>(*judge);
  return key.str();
}

}  // namespace

std::vector<VideoTimes> video_times(std::span<const OpenedMedia> media) {
  std::vector<VideoTimes> times;
  for (const OpenedMedia& item : media) {
    if (item.request.kind == MediaKind::kVideo) times.push_back({item.source->duration_s(), item.source->frame_count()});
  }
  return times;
}

std::vector<OpenedMedia> MediaEncoder::open_all(std::span<const Message> messages, const InterruptToken& interrupt) const {
  std::vector<OpenedMedia> opened;
  for (const Message& message : messages) {
    const auto images = std::count_if(message.items.begin(), message.items.end(), [](const Item& item) {
      const auto* media = std::get_if<MediaItem>(&item);
      return media != nullptr && media->media.kind == MediaKind::kImage;
    });
    for (const Item& item : message.items) {
      const auto* media = std::get_if<MediaItem>(&item);
      if (media == nullptr) continue;
      // As transformers does for nested image lists: several images in one message are not tiled.
      opened.push_back(open(media->media, images > 1 ? ImageTiling::kSingle : ImageTiling::kAnyRes, interrupt));
    }
  }
  return opened;
}

std::vector<TokenOrigin> MediaEncoder::foreseen_origins(const OpenedMedia& media) const {
  if (media.request.kind == MediaKind::kVideo) return model_.video_origins(media.source->frame_count());
  const PictureSize size = media.source->picture_size();
  return model_.image_origins(size.height_px, size.width_px, media.tiling);
}

const CachedFeatures* MediaEncoder::remembered(const OpenedMedia& media, std::optional<VisionJudge> judge) const {
  return cache_.find_request(cache_key(media, media.request.path, judge));
}

OpenedMedia MediaEncoder::open(const MediaRequest& request, ImageTiling tiling, const InterruptToken& interrupt) const {
  if (opener_ == nullptr) throw Exception(ErrorCode::kUnsupportedFormat, request.path, "this build cannot read media files");
  OpenedMedia media;
  media.request = request;
  media.tiling = tiling;
  media.source = opener_->open(request, interrupt);
  if (request.kind == MediaKind::kVideo) media.video_tokens = model_.video_tokens(media.source->frame_count());
  return media;
}

CachedFeatures MediaEncoder::encode(OpenedMedia& media, std::optional<VisionJudge> judge, TimingsMs& timings, TurnTrace* trace,
                                    const OnProgress& progress, const InterruptToken& interrupt) const {
  const std::string key = cache_key(media, media.source->content_hash(), judge);
  const std::string asked = cache_key(media, media.request.path, judge);
  if (trace == nullptr) {
    if (auto known = cache_.find(key, asked)) return *known;
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
    const PixelValues pixels = model_.preprocess_image(frames[0].image, media.tiling);
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
  cache_.insert(key, asked, result);
  return result;
}

}  // namespace winnow
