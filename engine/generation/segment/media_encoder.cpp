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

std::vector<VideoTimes> video_times(std::span<const MediaSampled> media) {
  std::vector<VideoTimes> times;
  for (const MediaSampled& item : media) {
    if (item.kind != MediaKind::kVideo) continue;
    const auto frames = static_cast<int>(item.asked_s.size());
    times.push_back({item.duration_s, (frames + item.frames_a_place - 1) / item.frames_a_place});
  }
  return times;
}

std::vector<OpenedMedia> MediaEncoder::open_all(std::span<const Message> messages) const {
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
      opened.push_back(open(media->media, images > 1 ? ImageTiling::kSingle : ImageTiling::kAnyRes));
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

OpenedMedia MediaEncoder::open(const MediaRequest& request, ImageTiling tiling) const {
  if (context_.opener == nullptr) throw Exception(ErrorCode::kUnsupportedFormat, request.path, "this build cannot read media files");
  OpenedMedia media;
  media.request = request;
  media.tiling = tiling;
  media.source = context_.opener->open(request, context_.interrupt);
  return media;
}

EncodedSource MediaEncoder::encode(OpenedMedia& media, std::optional<VisionJudge> judge, TimingsMs& timings) const {
  const MediaRequest& request = media.request;
  std::string hash = media.source->content_hash();
  const std::string key = cache_key(media, hash, judge);
  const std::string asked = cache_key(media, request.path, judge);
  std::optional<CachedFeatures> known;
  if (context_.trace == nullptr) known = cache_.find(key, asked);
  if (!known) {
    known = request.kind == MediaKind::kImage ? encode_image(media, judge, timings) : encode_video(media, judge, timings);
    cache_.insert(key, asked, *known);
  }
  MediaSampled sampled{request.path, request.kind, media.source->duration_s(), known->asked_s, known->actual_s, request.plan};
  context_.emit(sampled);
  return {std::move(known->features), std::move(sampled), std::move(hash)};
}

CachedFeatures MediaEncoder::encode_image(OpenedMedia& media, std::optional<VisionJudge> judge, TimingsMs& timings) const {
  say(Phase::kDecodeMedia, 0, 1);
  const std::vector<SampledFrame> frames = read(media, 0, 1, timings);
  require(frames.size() == 1, "an image source must deliver one picture");
  say(Phase::kEncodeFrames, 0, 1);
  Stopwatch watch;
  const PixelValues pixels = model_.preprocess_image(frames[0].image, media.tiling);
  timings.preprocess += watch.restart_ms();
  if (context_.trace != nullptr) context_.trace->image_pixels.push_back(pixels.pixels.clone());
  CachedFeatures result;
  result.features = model_.encode_image(pixels, judge, context_.interrupt);
  synchronize_device();
  timings.vision += watch.elapsed_ms();
  say(Phase::kEncodeFrames, 1, 1);
  return result;
}

CachedFeatures MediaEncoder::encode_video(OpenedMedia& media, std::optional<VisionJudge> judge, TimingsMs& timings) const {
  CachedFeatures result;
  const int frames = media.source->frame_count();
  std::vector<at::Tensor> batches, importance;
  for (int first = 0; first < frames; first += kFramesPerBatch) {
    const int count = std::min(kFramesPerBatch, frames - first);
    say(Phase::kDecodeMedia, first, frames);
    std::vector<SampledFrame> sampled = read(media, first, count, timings);
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
    if (context_.trace != nullptr) context_.trace->video_pixels.push_back(pixels.pixels.clone());
    const FrameFeatures encoded = model_.encode_frames(pixels, judge, context_.interrupt);
    batches.push_back(encoded.features);
    if (judge) importance.push_back(encoded.importance);
    synchronize_device();
    timings.vision += watch.elapsed_ms();
    say(Phase::kEncodeFrames, first + count, frames);
  }
  result.features = model_.join_frames({at::cat(batches, 0), judge ? at::cat(importance, 0) : at::Tensor()});
  return result;
}

MediaFeatures MediaEncoder::encode_clip(std::vector<SampledFrame> frames, TimingsMs& timings) const {
  const int total = static_cast<int>(frames.size());
  std::vector<at::Tensor> features;
  for (std::size_t first = 0; first < frames.size();) {
    // The processor takes frames of one size at a time.
    std::vector<RgbImage> images;
    for (; first < frames.size() && images.size() < kFramesPerBatch; ++first) {
      RgbImage& image = frames[first].image;
      if (!images.empty() && (image.width_px != images.front().width_px || image.height_px != images.front().height_px)) break;
      images.push_back(std::move(image));
    }
    say(Phase::kEncodeFrames, static_cast<int>(first - images.size()), total);
    Stopwatch watch;
    const PixelValues pixels = model_.preprocess_frames(images);
    timings.preprocess += watch.restart_ms();
    features.push_back(model_.encode_frames(pixels, std::nullopt, context_.interrupt).features);
    synchronize_device();
    timings.vision += watch.elapsed_ms();
  }
  say(Phase::kEncodeFrames, total, total);
  return model_.join_frames({at::cat(features, 0), at::Tensor()});
}

std::vector<SampledFrame> MediaEncoder::read(OpenedMedia& media, int first, int count, TimingsMs& timings) const {
  const Stopwatch watch;
  std::vector<SampledFrame> frames = media.source->read(first, count, context_.interrupt);
  timings.media += watch.elapsed_ms();
  return frames;
}

void MediaEncoder::say(Phase phase, int done, int total) const {
  context_.emit(Progress{phase, static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(total)});
}

}  // namespace winnow
