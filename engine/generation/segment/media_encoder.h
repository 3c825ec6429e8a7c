// Media items to features (of documents, the embeddings of their tokens): opens the files, pulls a few frames at a time, runs processor and
// vision tower, reports progress.
//
// Used by encode_media() and plan_turn(). Holds at most two batches of decoded frames (picture_batches.h). Throws Exception or Interrupted.
// Engine thread only.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/generation/context/feature_cache.h"
#include "engine/generation/context/request_context.h"
#include "engine/generation/segment/document_tokens.h"
#include "engine/generation/segment/prompt.h"
#include "engine/generation/segment/subtitle_tokens.h"
#include "engine/messages/events.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

// One opened media item of a turn, before anything is encoded.
struct OpenedMedia {
  MediaRequest request;
  std::unique_ptr<FrameSource> source{};
  bool only_image = true;        // of its message
  std::int64_t most_tokens = 0;  // MediaFacts::most_tokens: what the request's detail means to the model
  DocumentTokens document{};     // of a document
  SubtitleTokens subtitles{};    // of a video

  MediaFacts facts() const;
  double frame_s() const;  // of a video, as FrameSeconds has it; 0: no video
};

// A recipe's wishes of the vision encoder beside features.
struct Encoding {
  std::optional<VisionJudge> judge{};  // its scores
  // The largest difference of pixels that count as equal: cells that equal their neighbours are not encoded, but for those of pinned
  // frames.
  std::optional<double> equal_pixels{};
  std::span<const Pin> pins{};
  std::int32_t number = 0;  // of the medium in the thread
};
// judge: of a recipe that prunes by it.
Encoding encoding_of(const Turn& turn, std::optional<VisionJudge> judge, std::int32_t number);

struct EncodedSource {
  int encoded_frames = 0;  // of a video, that were not remembered
  MediaFeatures features;
  MediaSampled sampled;
  std::string content_hash;  // name_of_content()
};

// The MediaSampled of a medium before decoding; for a document complete.
MediaSampled sampled_before_decoding(const OpenedMedia& media);

// The medium's tokens in prompt order, subtitles included, with `media` at -1; nothing is decoded.
std::vector<TokenOrigin> foreseen_origins(const VisionLanguageModel& model, const OpenedMedia& media);

// Refuses documents under a recipe that leaves visual tokens unread. Errors: kIllegalRecipe.
void require_pictures(std::span<const OpenedMedia> media, const BeforeDecoder& before);

PromptMedia prompt_media(std::span<const OpenedMedia> media);
PromptMedia prompt_media(std::span<const MediaSampled> media);

class MediaEncoder {
 public:
  static constexpr int kFramesPerBatch = 8;

  explicit MediaEncoder(const RequestContext& context) : context_(context), model_(context.network()), cache_(context.model.features) {}

  const VisionLanguageModel& model() const { return model_; }
  const InterruptToken& interrupt() const { return context_.interrupt; }
  std::int64_t joined_frames() const { return model_.info().traits.joined_frames; }
  // The media of all messages, in thread order.
  std::vector<OpenedMedia> open_all(std::span<const Message> messages) const;
  // The cached result of encode() for the same request; valid until the next encode(). Returns null if not cached.
  const CachedFeatures* remembered(const OpenedMedia& media, const Encoding& how) const;
  // Frames of a video that encode() has to encode.
  int unremembered_frames(const OpenedMedia& media, const Encoding& how) const;

  // Encodes a clip of a running source, frames numbered from 0; frames_before: frames read earlier. Not cached.
  MediaFeatures encode_clip(std::vector<SampledFrame> frames, std::int64_t frames_before, const MediaDetail& detail,
                            TimingsMs& timings) const;

  // Without a video's subtitles. Adds to timings. Emits Progress, then MediaSampled. A trace receives the pixels; cached features are then
  // not used. A video that takes long is encoded in coarse_order(); what was done before an interrupt is remembered, and
  // FramePlan::taken of as many frames as the last Progress named needs no more.
  EncodedSource encode(OpenedMedia& media, const Encoding& how, TimingsMs& timings) const;

 private:
  // The most tokens of a picture or a frame. Refuses an invalid detail.
  std::int64_t most_tokens_of(const MediaDetail& detail, MediaKind kind, const std::string& path) const;
  OpenedMedia open(const MediaRequest& request, bool only_image) const;
  const DocumentTokens& tokens_of(std::string text, const MediaRequest& request) const;
  CachedFeatures encode_pictures(OpenedMedia& media, const Encoding& how, TimingsMs& timings) const;
  CachedFeatures encode_in_sets(OpenedMedia& media, const Encoding& how, EncodedSource& source, TimingsMs& timings) const;
  // True if sets of its frames are remembered one by one. They are not where a frame's cells depend on the frame before.
  bool in_sets(const OpenedMedia& media, const Encoding& how) const;
  // Pictures of one medium to the tower's pixels, and through it.
  PixelValues preprocessed(const MediaFacts& facts, std::vector<RgbImage> pictures, TimingsMs& timings) const;
  EncodedParts encoded(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge, TimingsMs& timings) const;
  // Frames per batch of the tower.
  int batch_frames() const;
  void say(Phase phase, int done, int total, bool part_will_do = false) const;

  const RequestContext& context_;
  const VisionLanguageModel& model_;
  FeatureCache& cache_;
};

}  // namespace winnow
