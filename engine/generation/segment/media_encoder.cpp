#include "engine/generation/segment/media_encoder.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/device/cuda_plugin.h"
#include "engine/generation/segment/picture_batches.h"
#include "engine/media/frame_count.h"

namespace winnow {
namespace {

// `content`: the file's hash, or its path.
std::string cache_key(const OpenedMedia& media, const std::string& content, std::optional<VisionJudge> judge) {
  const FramePlan& plan = media.request.plan;
  std::ostringstream key;
  key.precision(17);
  key << content << '|' << static_cast<int>(media.request.kind);
  if (media.request.kind == MediaKind::kImage) {
    key << '|' << media.only_image;
  } else {
    key << '|' << plan.frame_count << '|' << plan.every_s << '|' << plan.from_s << '|' << plan.to_s << '|' << plan.max_frames;
  }
  if (media.most_tokens > 0) key << "|most " << media.most_tokens;
  if (judge) key << "|judge " << static_cast<int>(*judge);
  return key.str();
}

void require_few(std::span<const Message> messages) {
  std::size_t media = 0;
  for (const Message& message : messages)
    media += static_cast<std::size_t>(
        std::ranges::count_if(message.items, [](const Item& item) { return std::holds_alternative<MediaItem>(item); }));
  if (media <= kMostMedia) return;
  throw Exception(ErrorCode::kLimitExceeded, "",
                  "there are " + std::to_string(media) + " images, videos and documents to read, and at most " +
                      std::to_string(kMostMedia) + " can be read at once");
}

}  // namespace

MediaFacts OpenedMedia::facts() const {
  const bool video = request.kind == MediaKind::kVideo;
  return {request.kind,
          source->picture_size(),
          source->frame_count(),
          source->duration_s(),
          only_image,
          video ? source->shown_times_s() : std::vector<double>(),
          0,
          most_tokens};
}

// A plan's own step, because the frames at it cover a little more than the video where its length is no multiple of the step.
double OpenedMedia::frame_s() const {
  if (request.kind != MediaKind::kVideo) return 0.0;
  const double every_s = request.plan.every_s;
  const int frames = std::max(1, source->frame_count());
  if (every_s <= 0.0) return source->duration_s() / frames;
  const std::vector<double> until = source->standing_until_s();
  if (until.empty()) return every_s;
  const auto times = std::max<std::int64_t>(frames, std::llround((until.back() - source->asked_times_s().front()) / every_s) + 1);
  return times == frames ? every_s : every_s * static_cast<double>(times) / frames;
}

MediaSampled sampled_before_decoding(const OpenedMedia& media) {
  const MediaRequest& request = media.request;
  MediaSampled sampled{request.path, request.kind, media.source->duration_s(), {}, {}, request.plan};
  if (request.kind == MediaKind::kVideo) {
    sampled.asked_s = media.source->asked_times_s();
    sampled.told_s = media.source->shown_times_s();
  }
  sampled.tokens = std::ssize(media.document.ids);
  sampled.all_tokens = media.document.all;
  sampled.most_tokens = request.most_tokens;
  sampled.subtitles = request.subtitles;
  sampled.encoding = request.encoding;
  sampled.detail = request.detail;
  sampled.lines = media.subtitles.lines;
  if (request.kind == MediaKind::kImage) sampled.picture = media.source->picture_size();
  sampled.notices = media.source->notices();
  return sampled;
}

std::vector<TokenOrigin> foreseen_origins(const VisionLanguageModel& model, const OpenedMedia& media) {
  if (media.request.kind == MediaKind::kDocument) return media.document.origins;
  return with_subtitles(model.origins_of(media.facts()), media.subtitles);
}

PromptMedia prompt_media(std::span<const OpenedMedia> media) {
  PromptMedia said;
  for (const OpenedMedia& item : media) {
    if (item.request.kind == MediaKind::kImage) said.images.push_back(item.source->picture_size());
    if (item.request.kind != MediaKind::kVideo) continue;
    said.videos.push_back({item.source->duration_s(), item.source->frame_count(), item.source->shown_times_s()});
  }
  return said;
}

PromptMedia prompt_media(std::span<const MediaSampled> media) {
  PromptMedia said;
  for (const MediaSampled& item : media) {
    if (item.kind == MediaKind::kImage) said.images.push_back(item.picture);
    if (item.kind != MediaKind::kVideo) continue;
    const auto frames = static_cast<int>(item.asked_s.size());
    const std::vector<double>& told = item.told_s.empty() ? item.asked_s : item.told_s;
    const auto known = told.begin() + (item.endless ? std::min(frames, 1) : frames);
    said.videos.push_back(
        {item.duration_s, (frames + item.frames_per_position - 1) / item.frames_per_position, {told.begin(), known}, item.endless});
  }
  return said;
}

std::vector<OpenedMedia> MediaEncoder::open_all(std::span<const Message> messages) const {
  require_few(messages);
  std::vector<OpenedMedia> opened;
  for (const Message& message : messages) {
    const auto images = std::count_if(message.items.begin(), message.items.end(), [](const Item& item) {
      const auto* media = std::get_if<MediaItem>(&item);
      return media != nullptr && media->media.kind == MediaKind::kImage;
    });
    for (const Item& item : message.items) {
      const auto* media = std::get_if<MediaItem>(&item);
      if (media == nullptr) continue;
      opened.push_back(open(media->media, images <= 1));
    }
  }
  return opened;
}

const CachedFeatures* MediaEncoder::remembered(const OpenedMedia& media, std::optional<VisionJudge> judge) const {
  return cache_.find_request(cache_key(media, media.request.path, judge));
}

const DocumentTokens& MediaEncoder::tokens_of(std::string text, const MediaRequest& request) const {
  DocumentMemo& memo = context_.model.documents;
  if (const DocumentTokens* known = memo.find(text, request.most_tokens)) return *known;
  DocumentTokens tokens = document_tokens(*context_.model.tokenizer, text, request.most_tokens, request.path);
  return memo.keep(std::move(text), request.most_tokens, std::move(tokens));
}

std::int64_t MediaEncoder::most_tokens_of(const MediaDetail& detail, MediaKind kind, const std::string& path) const {
  if (!detail.valid()) {
    throw Exception(ErrorCode::kInvalidArgument, path,
                    "a detail is auto, low, medium, high or 1 to " + std::to_string(MediaDetail::kMostTokens) + " tokens");
  }
  const ModelInfo& info = model_.info();
  return most_tokens(detail, kind == MediaKind::kVideo ? info.frame_detail : info.picture_detail);
}

OpenedMedia MediaEncoder::open(const MediaRequest& request, bool only_image) const {
  const bool document = request.kind == MediaKind::kDocument;
  if (!document && !model_.info().traits.sees) throw Exception(ErrorCode::kModelReadsText, request.path, "this model reads text only");
  if (request.kind == MediaKind::kVideo && !model_.info().traits.reads_videos)
    throw Exception(ErrorCode::kModelReadsImages, request.path, "this model reads images, but no videos");
  if (context_.opener == nullptr) throw Exception(ErrorCode::kUnsupportedFormat, request.path, "this build cannot read media files");
  OpenedMedia media;
  media.request = request;
  media.only_image = only_image;
  if (!document) media.most_tokens = most_tokens_of(request.detail, request.kind, request.path);
  media.source = context_.opener->open(request, context_.interrupt);
  if (document) media.document = tokens_of(media.source->text(), request);
  if (request.kind == MediaKind::kVideo && !request.subtitles.empty()) {
    std::vector<TimedLine> lines = lines_between(media.source->lines(), request.plan.from_s, request.plan.to_s);
    media.subtitles = subtitle_tokens(*context_.model.tokenizer, std::move(lines), media.source->asked_times_s());
  }
  return media;
}

EncodedSource MediaEncoder::encode(OpenedMedia& media, std::optional<VisionJudge> judge, TimingsMs& timings) const {
  const MediaRequest& request = media.request;
  const Stopwatch naming;
  const std::string hash = media.source->content_hash();  // of the pictures: features are the same under any subtitles
  timings.media += naming.elapsed_ms();
  if (!request.content.empty() && request.content != hash)
    throw Exception(ErrorCode::kMediaChanged, request.path, "this is not the file that was attached: its bytes have changed");
  if (request.kind == MediaKind::kDocument) {
    const DocumentTokens& read = media.document;
    std::string name = name_of_content(*media.source);
    MediaSampled sampled = sampled_before_decoding(media);
    context_.emit(sampled);
    return {{model_.text().embed(at::tensor(read.ids, at::kLong)), {}, read.origins, read.ids}, std::move(sampled), std::move(name)};
  }
  const std::string key = cache_key(media, hash, judge);
  const std::string asked = cache_key(media, request.path, judge);
  std::optional<CachedFeatures> known;
  if (context_.trace == nullptr) known = cache_.find(key, asked);
  if (!known) {
    known = encode_pictures(media, judge, timings);
    known->notices = media.source->notices();
    cache_.insert(key, asked, *known);
  }
  MediaSampled sampled = sampled_before_decoding(media);
  sampled.asked_s = known->asked_s;
  sampled.actual_s = known->actual_s;
  sampled.visual_tokens = std::ssize(known->features.origins);
  add_notices(sampled.notices, known->notices);
  context_.emit(sampled);
  return {std::move(known->features), std::move(sampled), name_of_content(*media.source)};
}

int MediaEncoder::batch_frames() const {
  const auto joined = static_cast<int>(joined_frames());
  return std::max(kFramesPerBatch - kFramesPerBatch % joined, joined);
}

EncodedParts MediaEncoder::encode_batch(const MediaFacts& facts, std::vector<RgbImage> pictures, std::optional<VisionJudge> judge,
                                        TimingsMs& timings) const {
  Stopwatch watch;
  const PixelValues pixels = model_.preprocess(facts, pictures);
  pictures.clear();
  timings.preprocess += watch.restart_ms();
  if (TurnTrace* const trace = context_.trace; trace != nullptr)
    (facts.kind == MediaKind::kVideo ? trace->video_pixels : trace->image_pixels).push_back(pixels.pixels.clone());
  EncodedParts encoded = model_.encode(facts, pixels, judge, context_.interrupt);
  synchronize_device();
  timings.vision += watch.elapsed_ms();
  return encoded;
}

CachedFeatures MediaEncoder::encode_pictures(OpenedMedia& media, std::optional<VisionJudge> judge, TimingsMs& timings) const {
  CachedFeatures result;
  const MediaFacts facts = media.facts();
  const bool video = facts.kind == MediaKind::kVideo;
  const int all = media.source->frame_count();
  std::vector<at::Tensor> batches, importance;
  PictureBatches batch(*media.source, batch_frames(), context_.interrupt);
  while (batch.count() > 0) {
    const int first = batch.first();
    say(Phase::kDecodeMedia, first, all);
    const Stopwatch waited;
    std::vector<SampledFrame> sampled = batch.take();
    timings.media += waited.elapsed_ms();
    std::vector<RgbImage> pictures;
    pictures.reserve(sampled.size());
    for (SampledFrame& frame : sampled) {
      if (video) {
        result.asked_s.push_back(frame.asked_s);
        result.actual_s.push_back(frame.actual_s);
      }
      pictures.push_back(std::move(frame.image));
    }
    say(Phase::kEncodeFrames, first, all);
    const EncodedParts encoded = encode_batch(facts, std::move(pictures), judge, timings);
    batches.push_back(encoded.features);
    if (judge) importance.push_back(encoded.importance);
    say(Phase::kEncodeFrames, batch.first(), all);
  }
  result.features = model_.join(facts, {at::cat(batches, 0), judge ? at::cat(importance, 0) : at::Tensor()});
  return result;
}

MediaFeatures MediaEncoder::encode_clip(std::vector<SampledFrame> frames, std::int64_t frames_before, const MediaDetail& detail,
                                        TimingsMs& timings) const {
  const int all = static_cast<int>(frames.size());
  const RgbImage& picture = frames.front().image;
  MediaFacts facts{MediaKind::kVideo, {picture.width_px, picture.height_px}, all, 0.0, true};
  for (const SampledFrame& frame : frames) facts.times_s.push_back(frame.asked_s);
  facts.frames_before = frames_before;
  facts.most_tokens = most_tokens_of(detail, MediaKind::kVideo, "");
  std::vector<at::Tensor> features;
  for (int first = 0; first < all; first += batch_frames()) {
    std::vector<RgbImage> pictures;
    for (int i = first; i < std::min(all, first + batch_frames()); ++i)
      pictures.push_back(std::move(frames[static_cast<std::size_t>(i)].image));
    say(Phase::kEncodeFrames, first, all);
    features.push_back(encode_batch(facts, std::move(pictures), std::nullopt, timings).features);
  }
  say(Phase::kEncodeFrames, all, all);
  return model_.join(facts, {at::cat(features, 0), at::Tensor()});
}

void MediaEncoder::say(Phase phase, int done, int total) const {
  context_.emit(Progress{phase, static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(total)});
}

}  // namespace winnow
