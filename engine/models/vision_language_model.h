// A model as engine/generation has it: a text decoder over a KvCache, what its family does with media (sight.h), and how prompts write
// them.
//
// Made by a family's loader (registry.h), which selects the family from config.json and sets the ModelInfo. A VLM is a language model plus
// two steps: encode the media, merge it into the input embeddings. Threads: engine thread only. Errors: Exception.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/models/decoder/text_decoder.h"
#include "engine/models/model_info.h"
#include "engine/models/sight.h"

namespace winnow {

// The placeholder of a video for families without a video token; no vocabulary has this id. kVideoMark is its text in their templates: a
// code point that is no character.
inline constexpr std::int64_t kVideoPlaceholder = -3;
inline constexpr std::string_view kVideoMark = "\xEF\xB7\x91";  // U+FDD1

// How a family's prompts write media. Texts are of static storage but own_template.
struct MediaPrompt {
  static constexpr std::int64_t kNoToken = -1;

  std::string_view chat_template{};                 // for folders without one; empty: none
  std::int64_t image_token_id = kNoToken;           // that templates write for an image
  std::int64_t video_token_id = kVideoPlaceholder;  // for a video
  std::string own_template{};                       // replaces the folder's; empty: the folder's is used
  std::string_view video_template{};                // replaces the folder's in threads with a video; empty: the folder's is used
  // The texts that templates write for a video, to be replaced by kVideoMark; longest first.
  std::span<const std::string_view> video_texts{};
};

class VisionLanguageModel final {
 public:
  VisionLanguageModel(MediaPrompt prompt, std::unique_ptr<const TextDecoder> text, std::unique_ptr<const Sight> sight)
      : prompt_(std::move(prompt)), text_(std::move(text)), sight_(std::move(sight)) {}

  const ModelInfo& info() const { return info_; }
  void set_info(ModelInfo info) { info_ = std::move(info); }  // called by registry.h
  const MediaPrompt& prompt() const { return prompt_; }
  const TextDecoder& text() const { return *text_; }

  // The family's functions (sight.h).
  std::vector<TokenOrigin> origins_of(const MediaFacts& facts) const { return sight_->tokens_of(facts).origins; }
  PixelValues preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
    require(facts.kind == MediaKind::kVideo || pictures.size() == 1, "preprocess: an image is one picture");
    return sight_->pixels_of(facts, pictures);
  }
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const {
    return sight_->encode(facts, pixels, judge, interrupt);
  }
  MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts) const { return sight_->join(facts, parts, *text_); }
  TokenPositions positions_for(const TokensToPlace& tokens) const { return sight_->positions_for(tokens); }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const {
    return sight_->positions_of_stream(origins, stream);
  }
  std::vector<RowSpan> bidirectional_spans(std::span<const TokenOrigin> origins) const { return sight_->bidirectional_spans(origins); }
  TextAround text_around(const VideoTimes& video) const { return sight_->text_around(video); }
  TextAround text_around(const PictureSize& image, std::int64_t images_before) const { return sight_->text_around(image, images_before); }

 private:
  ModelInfo info_;
  MediaPrompt prompt_;
  std::unique_ptr<const TextDecoder> text_;
  std::unique_ptr<const Sight> sight_;  // may read the text decoder's weights
};

}  // namespace winnow
