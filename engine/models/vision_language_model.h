// A vision-language model as engine/generation sees it: media in, embeddings out, and a text decoder over a KvCache.
//
// One folder per family implements it (llava_onevision/); registry.h picks the family by config.json. A VLM is a language model plus two
// steps: encode the media, merge it into the input embeddings. Threads: engine thread only. Errors: Exception.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/interrupt.h"
#include "engine/base/token_origin.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/attention_window.h"
#include "engine/layers/layer_view.h"
#include "engine/media/frame_source.h"
#include "engine/models/model_info.h"
#include "engine/models/token_positions.h"
#include "engine/models/vision_judge.h"
#include "engine/vision/pixel_values.h"

namespace winnow {

// Embeddings of one image or video, in prompt order.
struct MediaFeatures {
  at::Tensor features;               // [tokens, hidden], decoder dtype
  at::Tensor importance;             // fp32 [tokens], 0 for newline embeddings; undefined unless a judge was asked for
  std::vector<TokenOrigin> origins;  // one per token; `media` is left at -1
};

struct FrameFeatures {
  at::Tensor features;    // [frames, tokens per frame, hidden]
  at::Tensor importance;  // fp32 [frames, tokens per frame]; undefined unless a judge was asked for
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
  virtual KvShape kv_shape() const = 0;
  virtual std::int64_t vocabulary() const = 0;

  // ids: int64 [n], on any device. Returns [n, hidden] on the model's device, as everything below does.
  virtual at::Tensor embed(const at::Tensor& ids) const = 0;

  // One layer over a whole segment, in row tiles: hidden [n, hidden] is replaced in place; K and V of the segment are appended to the
  // cache's layer with the n original indices, ascending. positions: int64 [axes, n], best on the model's device.
  // The observer (may be null; it views nothing where there is a window) sees the layer once, after its attention. Polls the token per tile
  // and throws Interrupted.
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
  virtual const ModelInfo& info() const = 0;
  virtual const TextDecoder& text() const = 0;
  virtual std::string_view chat_template() const = 0;  // of folders that have none; empty: there is none
  virtual std::int64_t image_token_id() const = 0;
  virtual std::int64_t video_token_id() const = 0;
  // Of consecutive tokens, `media` set; a text token in the first's place would have next_position.
  virtual TokenPositions positions_for(std::span<const TokenOrigin> origins, std::int64_t next_position) const = 0;

  virtual PixelValues preprocess_image(const RgbImage& image, ImageTiling tiling) const = 0;
  virtual PixelValues preprocess_frames(std::span<const RgbImage> frames) const = 0;

  // Tokens that the media will take, as encode_image() and join_frames() will name them; without running the tower.
  virtual std::vector<TokenOrigin> image_origins(std::int64_t height_px, std::int64_t width_px, ImageTiling tiling) const = 0;
  virtual std::vector<TokenOrigin> video_origins(std::int64_t frames) const = 0;

  virtual MediaFeatures encode_image(const PixelValues& image, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const = 0;
  // A few frames at a time.
  virtual FrameFeatures encode_frames(const PixelValues& frames, std::optional<VisionJudge> judge,
                                      const InterruptToken& interrupt) const = 0;
  // Joins the frames of one video and adds what the family puts around them (newline embeddings).
  virtual MediaFeatures join_frames(const FrameFeatures& frames) const = 0;
};

}  // namespace winnow
