#include "engine/generation/segment/media_encoder.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/device/cuda_plugin.h"
#include "engine/generation/segment/frame_sets.h"
#include "engine/generation/segment/picture_batches.h"
#include "engine/generation/segment/turn_pins.h"
#include "engine/media/frame_count.h"
#include "engine/models/vision/equal_pixels.h"

namespace winnow {
namespace {

constexpr double kLongMs = 10'000.0;  // an encoder that somebody may not want to wait for

// `content`: the file's hash, or its path. Of a part of a plan: the whole plan's.
std::string plan_key(const OpenedMedia& media, const std::string& content, const Encoding& how) {
  const FramePlan& plan = media.request.plan;
  std::ostringstream key;
  key.precision(17);
  key << content << '|' << static_cast<int>(media.request.kind);
  if (media.request.kind == MediaKind::kImage) {
    key << '|' << media.only_image;
  } else {
    key << '|' << plan.frame_count << '|' << plan.every_s << '|' << plan.from_s << '|' << plan.to_s << '|' << plan.max_frames;
  }
  if (media.request.pages != PageRange()) key << "|page " << media.request.pages.first;
  if (media.most_tokens > 0) key << "|most " << media.most_tokens;
  if (how.judge) key << "|judge " << static_cast<int>(*how.judge);
  if (how.equal_pixels) {
    key << "|equal " << *how.equal_pixels;
    for (const Pin& pin : how.pins) {
      if (pin.media == how.number) key << "|pin " << pin.from_s << ' ' << pin.to_s;
    }
  }
  return key.str();
}

std::string cache_key(const OpenedMedia& media, const std::string& content, const Encoding& how) {
  const FramePlan& plan = media.request.plan;
  std::string key = plan_key(media, content, how);
  if (plan.taken > 0) key += "|taken " + std::to_string(plan.taken) + " by " + std::to_string(plan.set_frames);
  return key;
}

std::string words_of(const FrameSource& document, const std::string& path) {
  std::string text = document.text();
  if (text.empty() && !document.page_lines().empty())
    throw Exception(ErrorCode::kNoTextInPages, path, "its pages are pictures without text: a model that sees can read them (as pages)");
  return text;
}

void add_times(std::span<const SampledFrame> frames, CachedFeatures& to) {
  for (const SampledFrame& frame : frames) {
    to.asked_s.push_back(frame.asked_s);
    to.actual_s.push_back(frame.actual_s);
  }
}

std::vector<RgbImage> pictures_of(std::vector<SampledFrame> frames) {
  std::vector<RgbImage> pictures;
  pictures.reserve(frames.size());
  for (SampledFrame& frame : frames) pictures.push_back(std::move(frame.image));
  return pictures;
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

// Per set of joined frames of a batch, whether a pin holds one of them.
std::vector<bool> pinned_sets(const Encoding& how, const MediaRequest& request, std::span<const double> begins_s,
                              std::span<const double> until_s, std::int64_t joined) {
  std::vector<bool> sets;
  const std::size_t frames = request.kind == MediaKind::kVideo ? begins_s.size() : 1;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    if (frame % static_cast<std::size_t>(joined) == 0) sets.push_back(false);
    for (const Pin& pin : how.pins) {
      if (pin.media != how.number) continue;
      sets.back() = sets.back() || request.kind != MediaKind::kVideo ||
                    is_shown_during(pin, begins_s[frame], frame < until_s.size() ? until_s[frame] : begins_s[frame]);
    }
  }
  return sets;
}

}  // namespace

Encoding encoding_of(const Turn& turn, std::optional<VisionJudge> judge, std::int32_t number) {
  Encoding how{judge};
  if (!turn.recipe.before.by_pixels()) return how;
  how.equal_pixels = turn.recipe.before.amount;
  how.pins = turn.pins;
  how.number = number;
  return how;
}

MediaFacts OpenedMedia::facts() const {
  const bool video = request.kind == MediaKind::kVideo;
  return {request.kind,
          source->picture_size(),
          source->frame_count(),
          source->duration_s(),
          only_image,
          video ? source->shown_times_s() : std::vector<double>(),
          0,
          most_tokens,
          video ? source->planned_frames() : 0};
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
    if (request.plan.taken > 0) sampled.planned_frames = media.source->planned_frames();
  }
  sampled.tokens = std::ssize(media.document.ids);
  sampled.all_tokens = media.document.all;
  sampled.most_tokens = request.most_tokens;
  sampled.subtitles = request.subtitles;
  sampled.encoding = request.encoding;
  sampled.detail = request.detail;
  sampled.pages = request.pages;
  sampled.page_lines = media.source->page_lines();
  sampled.lines = media.subtitles.lines;
  if (request.kind != MediaKind::kDocument) sampled.picture = media.source->picture_size();
  sampled.notices = media.source->notices();
  return sampled;
}

std::vector<TokenOrigin> foreseen_origins(const VisionLanguageModel& model, const OpenedMedia& media) {
  if (media.request.kind == MediaKind::kDocument) return media.document.origins;
  return with_subtitles(model.origins_of(media.facts()), media.subtitles);
}

void require_pictures(std::span<const OpenedMedia> media, const BeforeDecoder& before) {
  const auto document = std::ranges::find(media, MediaKind::kDocument, [](const OpenedMedia& item) { return item.request.kind; });
  if (before.thins() && document != media.end())
    throw Exception(ErrorCode::kIllegalRecipe, "before", "a document has no visual tokens that could be left out");
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

const CachedFeatures* MediaEncoder::remembered(const OpenedMedia& media, const Encoding& how) const {
  return cache_.find_request(cache_key(media, media.request.path, how));
}

bool MediaEncoder::in_sets(const OpenedMedia& media, const Encoding& how) const {
  if (media.request.kind != MediaKind::kVideo || how.equal_pixels || context_.trace != nullptr) return false;
  // A part that was taken for a model that joins other frames has no whole sets of this one's.
  const FramePlan& plan = media.request.plan;
  if (plan.taken > 0) return plan.set_frames % joined_frames() == 0;
  return media.source->frame_count() * model_info(context_.model).frame_ms >= kLongMs;
}

int MediaEncoder::unremembered_frames(const OpenedMedia& media, const Encoding& how) const {
  int frames = media.source->frame_count();
  if (remembered(media, how) != nullptr) return 0;
  if (!in_sets(media, how)) return frames;
  const FrameSets sets(media, static_cast<int>(joined_frames()));
  const std::string plan = plan_key(media, media.request.path, how);
  for (const int set : sets.sets()) {
    if (cache_.find_request(sets.key(plan, set)) != nullptr) frames -= static_cast<int>(sets.frames_of(set).size());
  }
  return frames;
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
  OpenedMedia media{.request = request, .only_image = only_image};
  if (!document) media.most_tokens = most_tokens_of(request.detail, request.kind, request.path);
  MediaRequest asked = request;
  const std::int64_t token_px = model_.info().picture_detail.token_px;
  if (request.pages.first > 0 && !document) asked.most_pixels = media.most_tokens * token_px * token_px;
  media.source = context_.opener->open(asked, context_.interrupt);
  if (document) media.document = tokens_of(words_of(*media.source, request.path), request);
  if (request.kind == MediaKind::kVideo && !request.subtitles.empty()) {
    std::vector<TimedLine> lines = lines_between(media.source->lines(), request.plan.from_s, request.plan.to_s);
    media.subtitles = subtitle_tokens(*context_.model.tokenizer, std::move(lines), media.source->asked_times_s());
  }
  return media;
}

EncodedSource MediaEncoder::encode(OpenedMedia& media, const Encoding& how, TimingsMs& timings) const {
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
    return {0, {model_.text().embed(at::tensor(read.ids, at::kLong)), {}, read.origins, read.ids}, std::move(sampled), std::move(name)};
  }
  EncodedSource source;
  const std::string key = cache_key(media, hash, how);
  const std::string asked = cache_key(media, request.path, how);
  std::optional<CachedFeatures> known;
  if (context_.trace == nullptr) known = cache_.find(key, asked);
  if (!known) {
    const bool sets = in_sets(media, how);
    known = sets ? encode_in_sets(media, how, source, timings) : encode_pictures(media, how, timings);
    if (!sets && request.kind == MediaKind::kVideo) source.encoded_frames = media.source->frame_count();
    known->notices = media.source->notices();
    cache_.insert(key, asked, *known);
  }
  MediaSampled sampled = sampled_before_decoding(media);
  sampled.asked_s = known->asked_s;
  sampled.actual_s = known->actual_s;
  sampled.visual_tokens = std::ssize(known->features.origins);
  add_notices(sampled.notices, known->notices);
  const auto token_px = static_cast<int>(model_.info().picture_detail.token_px);
  for (const TokenOrigin& cell : model_.origins_of(media.facts())) {
    sampled.read_width_px = std::max(sampled.read_width_px, (cell.column + 1) * token_px);
    sampled.read_height_px = std::max(sampled.read_height_px, (cell.row + 1) * token_px);
  }
  context_.emit(sampled);
  source.features = std::move(known->features);
  source.sampled = std::move(sampled);
  source.content_hash = name_of_content(*media.source);
  return source;
}

int MediaEncoder::batch_frames() const {
  const auto joined = static_cast<int>(joined_frames());
  return std::max(kFramesPerBatch - kFramesPerBatch % joined, joined);
}

PixelValues MediaEncoder::preprocessed(const MediaFacts& facts, std::vector<RgbImage> pictures, TimingsMs& timings) const {
  const Stopwatch watch;
  PixelValues pixels = model_.preprocess(facts, pictures);
  timings.preprocess += watch.elapsed_ms();
  if (TurnTrace* const trace = context_.trace; trace != nullptr)
    (facts.kind == MediaKind::kVideo ? trace->video_pixels : trace->image_pixels).push_back(pixels.pixels.clone());
  return pixels;
}

EncodedParts MediaEncoder::encoded(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                                   TimingsMs& timings) const {
  const Stopwatch watch;
  EncodedParts parts = model_.encode(facts, pixels, judge, context_.interrupt);
  synchronize_device();
  timings.vision += watch.elapsed_ms();
  return parts;
}

CachedFeatures MediaEncoder::encode_pictures(OpenedMedia& media, const Encoding& how, TimingsMs& timings) const {
  CachedFeatures result;
  std::optional<EqualPixels> equal;
  if (how.equal_pixels) equal.emplace(*how.equal_pixels);
  const MediaFacts facts = media.facts();
  const bool video = facts.kind == MediaKind::kVideo;
  const int all = media.source->frame_count();
  std::vector<at::Tensor> batches, importance;
  PictureBatches batches_left(*media.source, batches_in_order(all, batch_frames()), context_.interrupt);
  for (int done = 0; batches_left.left();) {
    say(Phase::kDecodeMedia, done, all);
    const Stopwatch waited;
    std::vector<SampledFrame> sampled = batches_left.take();
    timings.media += waited.elapsed_ms();
    if (video) add_times(sampled, result);
    say(Phase::kEncodeFrames, done, all);
    const auto first = static_cast<std::size_t>(done);
    done += static_cast<int>(sampled.size());
    PixelValues pixels = preprocessed(facts, pictures_of(std::move(sampled)), timings);
    if (equal) {
      const auto begins = std::span<const double>(result.actual_s).subspan(video ? first : 0);
      const std::vector<double> until = media.source->standing_until_s();
      const auto own = std::span(until).subspan(std::min(until.size(), first));
      pixels.kept = equal->kept(pixels, pinned_sets(how, media.request, begins, own, joined_frames()));
    }
    const EncodedParts parts = encoded(facts, pixels, how.judge, timings);
    batches.push_back(parts.features);
    if (how.judge || equal)
      importance.push_back(parts.importance.defined()
                               ? parts.importance
                               : at::ones({parts.features.size(0), parts.features.size(1)}, at::kFloat).to(parts.features.device()));
    say(Phase::kEncodeFrames, done, all);
  }
  result.features = model_.join(facts, {at::cat(batches, 0), importance.empty() ? at::Tensor() : at::cat(importance, 0)});
  return result;
}

CachedFeatures MediaEncoder::encode_in_sets(OpenedMedia& media, const Encoding& how, EncodedSource& source, TimingsMs& timings) const {
  const MediaFacts facts = media.facts();
  const int all = media.source->frame_count();
  const FrameSets sets(media, static_cast<int>(joined_frames()));
  const std::string plan = plan_key(media, media.source->content_hash(), how);
  const std::string asked = plan_key(media, media.request.path, how);
  std::map<int, CachedFeatures> there;  // in the order of time
  std::vector<std::vector<int>> missing;
  const auto each = static_cast<std::size_t>(batch_frames() / joined_frames());
  for (const int set : sets.sets()) {
    if (auto known = cache_.find(sets.key(plan, set), sets.key(asked, set))) {
      there.emplace(set, *std::move(known));
    } else if (missing.empty() || missing.back().size() == each) {
      missing.push_back({set});
    } else {
      missing.back().push_back(set);
    }
  }
  std::vector<FrameBatch> frames;
  for (std::vector<int>& batch : missing) {
    std::ranges::sort(batch);
    frames.emplace_back();
    for (const int set : batch) std::ranges::copy(sets.frames_of(set), std::back_inserter(frames.back()));
  }
  int done = all;
  for (const FrameBatch& batch : frames) done -= static_cast<int>(batch.size());
  source.encoded_frames = all - done;
  PictureBatches pictures(*media.source, std::move(frames), context_.interrupt);
  for (const std::vector<int>& batch : missing) {
    say(Phase::kEncodeFrames, done, all, /*part_will_do=*/true);
    const Stopwatch waited;
    std::vector<SampledFrame> sampled = pictures.take();
    timings.media += waited.elapsed_ms();
    std::vector<CachedFeatures> of_set(batch.size());
    std::size_t frame = 0;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::size_t count = sets.frames_of(batch[i]).size();
      add_times(std::span(sampled).subspan(frame, count), of_set[i]);
      frame += count;
    }
    done += static_cast<int>(sampled.size());
    const EncodedParts parts = encoded(facts, preprocessed(facts, pictures_of(std::move(sampled)), timings), how.judge, timings);
    const std::int64_t parts_each = parts.features.size(0) / std::ssize(batch);
    require(parts_each * std::ssize(batch) == parts.features.size(0), "encode_in_sets: sets of one video have as many parts");
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto first = static_cast<std::int64_t>(i) * parts_each;
      of_set[i].features.features = parts.features.narrow(0, first, parts_each).clone();
      if (how.judge) of_set[i].features.importance = parts.importance.narrow(0, first, parts_each).clone();
      cache_.insert(sets.key(plan, batch[i]), sets.key(asked, batch[i]), of_set[i]);
      there.emplace(batch[i], std::move(of_set[i]));
    }
    say(Phase::kEncodeFrames, done, all, /*part_will_do=*/true);
  }
  CachedFeatures result;
  std::vector<at::Tensor> features, importance;
  for (auto& [set, known] : there) {
    features.push_back(known.features.features);
    if (how.judge) importance.push_back(known.features.importance);
    std::ranges::copy(known.asked_s, std::back_inserter(result.asked_s));
    std::ranges::copy(known.actual_s, std::back_inserter(result.actual_s));
  }
  result.features = model_.join(facts, {at::cat(features, 0), how.judge ? at::cat(importance, 0) : at::Tensor()});
  if (media.request.plan.taken == 0) cache_.forget(sets.set_keys(plan));  // the whole holds them
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
    features.push_back(encoded(facts, preprocessed(facts, std::move(pictures), timings), std::nullopt, timings).features);
  }
  say(Phase::kEncodeFrames, all, all);
  return model_.join(facts, {at::cat(features, 0), at::Tensor()});
}

void MediaEncoder::say(Phase phase, int done, int total, bool part_will_do) const {
  context_.emit(Progress{phase, static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(total), part_will_do});
}

}  // namespace winnow
