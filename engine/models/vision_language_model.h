// A vision-language model as engine/generation sees it: media in, embeddings out, and a text decoder over a KvCache.
//
// One folder per family implements it (llava_onevision/); registry.h picks the family by config.json and fills in what is said of the
// model. A VLM is a language model plus two steps: encode the media, merge it into the input embeddings. Threads: engine thread only.
// Errors: Exception.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/interrupt.h"
#include "engine/base/row_span.h"
#include "engine/base/token_origin.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/attention_window.h"
#include "engine/layers/layer_view.h"
#include "engine/media/frame_source.h"
#include "engine/models/media_facts.h"
#include "engine/models/model_info.h"
#include "engine/models/token_positions.h"
#include "engine/models/vision_judge.h"
#include "engine/vision/pixel_values.h"

namespace winnow {

// Embeddings of one image or video, in prompt order.
struct MediaFeatures {
  at::Tensor features;               // [tokens, width], decoder dtype
  at::Tensor importance;             // fp32 [tokens], 0 for newline embeddings; undefined unless a judge was asked for
  std::vector<TokenOrigin> origins;  // one per token; `media` is left at -1
  // Of a document's tokens, or of a picture's where some are words (markers of tiles, times of frames). Empty: a placeholder for each.
  std::vector<std::int64_t> ids{};
};

// Stands for a video in prompts of families that have no token for it; no vocabulary has it. kVideoMark is its text in their template: a
// code point that is no character.
inline constexpr std::int64_t kVideoPlaceholder = -3;
inline constexpr std::string_view kVideoMark = "\xEF\xB7\x91";  // U+FDD1

// What the tower makes of an image, or of some frames in a row. What a part is the family knows: a tile, a frame, frames that it joins.
struct EncodedParts {
  at::Tensor features;    // [parts, tokens of a part, width]
  at::Tensor importance;  // fp32 [parts, tokens of a part]; undefined unless a judge was asked for
};

// A token to decode. It is text, whose position is the same on every axis.
struct NextToken {
  std::int64_t id = 0;
  std::int64_t position = 0;
  std::int32_t original = 0;
};

class TextDecoder {
 public:
  virtual ~TextDecoder() = default;
  virtual std::int64_t layers() const = 0;
  virtual std::int64_t heads() const = 0;           // of queries
  virtual std::int64_t context_tokens() const = 0;  // positions that it was made for
  virtual KvShape kv_shape() const = 0;
  virtual std::int64_t vocabulary() const = 0;

  // ids: int64 [n], on any device. Returns [n, width] on the model's device, as everything below does. A row is what a token brings along:
  // its first hidden states, and in some models what is added to them behind the first layers (Qwen3-VL's deepstack).
  virtual at::Tensor embed(const at::Tensor& ids) const = 0;

  // One layer over a whole segment, in row tiles: hidden [n, width] is replaced, in place unless rows become shorter; K and V of the
  // segment are appended to the cache's layer with the n original indices, ascending. positions: int64 [axes, n], best on the model's
  // device. The observer (may be null; it views nothing where there is a window) sees the layer once, after its attention. Polls the token
  // per tile and throws Interrupted.
  virtual void prefill_layer(LayerId layer, at::Tensor& hidden, const at::Tensor& positions, std::span<const std::int32_t> original,
                             KvCache& cache, PrefillObserver* observer, const AttentionWindow& window,
                             const InterruptToken& interrupt) const = 0;

  // hidden: [rows, hidden] after the last layer. Returns fp32 [rows, vocabulary].
  virtual at::Tensor logits(const at::Tensor& hidden) const = 0;

  // One token through all layers over the (ragged) cache; appends its K and V. Returns fp32 [vocabulary].
  // The observer (may be null) sees every layer when its attention is done: decode-phase methods evict there.
  virtual at::Tensor decode(const NextToken& token, KvCache& cache, DecodeObserver* observer) const = 0;
};

class VisionLanguageModel {
 public:
  virtual ~VisionLanguageModel() = default;
  const ModelInfo& info() const { return info_; }
  void set_info(ModelInfo info) { info_ = std::move(info); }  // by whoever makes the model (registry.h)
  virtual const TextDecoder& text() const = 0;
  virtual std::string_view chat_template() const = 0;                // of folders that have none; empty: there is none
  virtual std::string_view own_chat_template() const { return {}; }  // whatever the folder has; empty: the folder's
  virtual std::string_view video_chat_template() const {
    return {};
  }  // of threads with a video, whatever the folder has; empty: the folder's
  // What templates write for a video where a family reads kVideoMark, the longest first.
  virtual std::span<const std::string_view> video_texts() const { return {}; }
  virtual TextAround text_around(const VideoTimes&) const { return {}; }
  virtual TextAround text_around(const PictureSize& /*image*/) const { return {}; }
  virtual std::int64_t image_token_id() const = 0;  // as templates write an image
  virtual std::int64_t video_token_id() const = 0;
  // Of consecutive tokens, `media` set; a text token in the first's place would have next_position.
  virtual TokenPositions positions_for(std::span<const TokenOrigin> origins, std::int64_t next_position, FrameSeconds) const {
    return one_axis_positions(std::ssize(origins), next_position);
  }
  // Of consecutive tokens, those that attend to each other whole, later ones too; spans of at least two rows, ascending (AttentionWindow).
  virtual std::vector<RowSpan> bidirectional_spans(std::span<const TokenOrigin>) const { return {}; }
  // Of consecutive tokens of a source that is watched, `frame` counted from its first one.
  virtual TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const = 0;

  // Tokens that the medium will take, as join() will name them; without running the tower. A token's `frame` is the first of those that
  // it stands for (ModelTraits::joined_frames).
  virtual std::vector<TokenOrigin> origins_of(const MediaFacts& facts) const = 0;
  // pictures: the image, or frames of the video in a row: a multiple of joined_frames, but for its last.
  virtual PixelValues preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const = 0;
  virtual EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                              const InterruptToken& interrupt) const = 0;
  // All parts of the medium, and what the family puts around them (newline embeddings).
  virtual MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts) const = 0;

 private:
  ModelInfo info_;
};

}  // namespace winnow
