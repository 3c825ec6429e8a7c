// The interface of a vision-language model: media in, embeddings out, and a text decoder over a KvCache.
//
// Used by engine/generation. Each family implements it in a folder of its own (llava_onevision/); registry.h selects the family from
// config.json and sets the ModelInfo. A VLM is a language model plus two steps: encode the media, merge it into the input embeddings.
// Threads: engine thread only. Errors: Exception.
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
  at::Tensor importance;             // fp32 [tokens], 0 for newline embeddings; undefined without a VisionJudge
  std::vector<TokenOrigin> origins;  // one per token; `media` is left at -1
  // Token ids of a document, or of a picture with text among its tokens (tile markers, frame times). Empty: all are placeholders.
  std::vector<std::int64_t> ids{};
};

// The placeholder of a video for families without a video token; no vocabulary has this id. kVideoMark is its text in their templates: a
// code point that is no character.
inline constexpr std::int64_t kVideoPlaceholder = -3;
inline constexpr std::string_view kVideoMark = "\xEF\xB7\x91";  // U+FDD1

// The tower's output for an image or consecutive frames. What a part is depends on the family: a tile, a frame, or joined frames.
struct EncodedParts {
  at::Tensor features;    // [parts, tokens of a part, width]
  at::Tensor importance;  // fp32 [parts, tokens of a part]; undefined without a VisionJudge
};

// A token to decode: text, with the same position on every axis.
struct NextToken {
  std::int64_t id = 0;
  std::int64_t position = 0;
  std::int32_t original = 0;
};

class TextDecoder {
 public:
  virtual ~TextDecoder() = default;
  virtual std::int64_t layers() const = 0;
  virtual std::int64_t heads() const = 0;           // query heads
  virtual std::int64_t context_tokens() const = 0;  // positions that it supports
  virtual KvShape kv_shape() const = 0;
  virtual std::int64_t vocabulary() const = 0;

  // ids: int64 [n], on any device. Returns [n, width] on the model's device, like everything below. A row is a token's input hidden state,
  // followed in some models by its deepstack features (Qwen3-VL).
  virtual at::Tensor embed(const at::Tensor& ids) const = 0;

  // One layer over a whole segment, in row tiles. hidden [n, width] is replaced, in place unless rows become narrower. K and V of the
  // segment are appended to the cache's layer with the n original indices, ascending. positions: int64 [axes, n], preferably on the model's
  // device. The observer (may be null; must not want views if window.tokens > 0) sees the layer once, after its attention. Polls the token
  // per tile and throws Interrupted.
  virtual void prefill_layer(LayerId layer, at::Tensor& hidden, const at::Tensor& positions, std::span<const std::int32_t> original,
                             KvCache& cache, PrefillObserver* observer, const AttentionWindow& window,
                             const InterruptToken& interrupt) const = 0;

  // hidden: [rows, hidden] after the last layer. Returns fp32 [rows, vocabulary].
  virtual at::Tensor logits(const at::Tensor& hidden) const = 0;

  // One token through all layers over the (ragged) cache; appends its K and V. Returns fp32 [vocabulary].
  // The observer (may be null) sees every layer after its attention: decode-phase methods evict there.
  virtual at::Tensor decode(const NextToken& token, KvCache& cache, DecodeObserver* observer) const = 0;
};

class VisionLanguageModel {
 public:
  virtual ~VisionLanguageModel() = default;
  const ModelInfo& info() const { return info_; }
  void set_info(ModelInfo info) { info_ = std::move(info); }  // called by registry.h
  virtual const TextDecoder& text() const = 0;
  virtual std::string_view chat_template() const = 0;                // for folders without one; empty: none
  virtual std::string_view own_chat_template() const { return {}; }  // replaces the folder's; empty: the folder's is used
  virtual std::string_view video_chat_template() const {
    return {};
  }  // replaces the folder's in threads with a video; empty: the folder's is used
  // The texts that templates write for a video, to be replaced by kVideoMark; longest first.
  virtual std::span<const std::string_view> video_texts() const { return {}; }
  virtual TextAround text_around(const VideoTimes&) const { return {}; }
  // images_before: in the thread.
  virtual TextAround text_around(const PictureSize& /*image*/, std::int64_t /*images_before*/) const { return {}; }
  virtual std::int64_t image_token_id() const = 0;  // that templates write for an image
  virtual std::int64_t video_token_id() const = 0;
  virtual TokenPositions positions_for(const TokensToPlace& tokens) const {
    return one_axis_positions(std::ssize(tokens.origins), tokens.next_position);
  }
  // Bidirectional spans among consecutive tokens: rows that attend to each other, later ones included. At least two rows each, ascending
  // (AttentionWindow).
  virtual std::vector<RowSpan> bidirectional_spans(std::span<const TokenOrigin>) const { return {}; }
  // Positions of consecutive tokens of a watched source, `frame` counted from the source's first.
  virtual TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const = 0;

  // The origins that join() will return, without running the tower. A token's `frame` is the first of its joined frames
  // (ModelTraits::joined_frames).
  virtual std::vector<TokenOrigin> origins_of(const MediaFacts& facts) const = 0;
  // pictures: the image, or consecutive frames of the video: a multiple of joined_frames, except at its end.
  virtual PixelValues preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const = 0;
  virtual EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                              const InterruptToken& interrupt) const = 0;
  // Joins all parts of the medium, and adds the family's own embeddings (newlines).
  virtual MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts) const = 0;

 private:
  ModelInfo info_;
};

}  // namespace winnow
