// A family that has nothing in common with LLaVA but the decoder's layers: positions of three axes (M-RoPE: time, height and width inside a
// medium, the same on all of them in text, after a medium the largest so far plus one), frames joined in pairs, pictures of native size, a
// tower of its own that judges nothing, and nothing written around a medium. As Qwen2-VL, small enough to be read.
//
// The tower: the mean colour of each cell of 16 px, of two frames in a row (an image twice), times a fixed matrix.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "engine/model_files/hugging_face_folder.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/families/llava_onevision_folder.h"
#include "engine/models/vision/llava_vision_config.h"
#include "engine/models/vision_language_model.h"

namespace winnow::testing {

using Axes = std::array<std::int64_t, 3>;

// What the decoder was given, token by token of the cache.
struct Seen {
  std::vector<Axes> prompt;           // of the last prefill
  std::vector<std::int64_t> decoded;  // since then
  std::vector<std::size_t> steps;     // since then: the tokens of each decode step
};

class ThreeAxisText final : public TextDecoder {
 public:
  ThreeAxisText(const std::string& folder, Seen& seen) : seen_(seen) {
    const HuggingFaceFolder package(folder);
    DecoderConfig config = read_llava_onevision(package).model.text;
    for (std::int64_t i = 0; i < config.head_dim / 2; ++i) config.rotary.frequency_axis.push_back(i * 3 / (config.head_dim / 2));
    ModelWeights files(package.tensors(), llava_weight_name_rules());
    WeightReader weights(files, {at::kFloat, nullptr}, at::kCPU);
    inner_ = std::make_unique<TransformerDecoder>(config, weights, "language_model.");
  }
  std::int64_t layers() const override { return inner_->layers(); }
  std::int64_t heads() const override { return inner_->heads(); }
  std::int64_t context_tokens() const override { return inner_->context_tokens(); }
  KvShape kv_shape() const override { return inner_->kv_shape(); }
  std::int64_t vocabulary() const override { return inner_->vocabulary(); }
  std::int64_t hidden_size() const override { return inner_->hidden_size(); }
  at::Tensor embed(const at::Tensor& ids) const override { return inner_->embed(ids); }
  void prefill_layer(LayerId layer, at::Tensor& hidden, const at::Tensor& positions, std::span<const std::int32_t> original, KvCache& cache,
                     PrefillObserver* observer, const AttentionWindow& window, const InterruptToken& interrupt) const override {
    if (layer == 0) seen_ = {};
    if (layer == layers() - 1) {  // after pruning between layers
      seen_.prompt.resize(static_cast<std::size_t>(positions.size(1)));
      for (std::size_t i = 0; i < seen_.prompt.size(); ++i)
        for (std::size_t axis = 0; axis < 3; ++axis)
          seen_.prompt[i][axis] = positions[static_cast<std::int64_t>(axis)][static_cast<std::int64_t>(i)].item<std::int64_t>();
    }
    inner_->prefill_layer(layer, hidden, positions, original, cache, observer, window, interrupt);
  }
  at::Tensor logits(const at::Tensor& hidden) const override { return inner_->logits(hidden); }
  at::Tensor decode_together(std::span<StepRow> rows) const override {
    for (const StepRow& row : rows) seen_.decoded.push_back(row.token.position);
    seen_.steps.push_back(rows.size());
    return inner_->decode_together(rows);
  }

 private:
  std::unique_ptr<TransformerDecoder> inner_;
  Seen& seen_;
};

class ThreeAxisSight final : public Sight {
 public:
  static constexpr std::int64_t kJoined = 2;
  static constexpr int kCellPx = 16;

  explicit ThreeAxisSight(std::int64_t hidden)
      : tower_(at::sin(at::arange(6 * hidden, at::TensorOptions().dtype(at::kFloat)).mul(0.37)).view({6, hidden}).mul(0.05)) {}

  TokenPositions positions_for(const TokensToPlace& tokens) const override {
    std::vector<Axes> all;
    std::int32_t medium = -1;
    std::int64_t next_position = tokens.next_position;
    std::int64_t first = next_position;
    for (const TokenOrigin& origin : tokens.origins) {
      if (origin.media != medium) first = next_position;
      medium = origin.media;
      all.push_back(origin.modality == Modality::kVisual ? place_of(origin, first, 1) : Axes{first, first, first});
      next_position = std::max(next_position, *std::max_element(all.back().begin(), all.back().end()) + 1);
      if (origin.modality != Modality::kVisual) first = next_position;
    }
    return {tensor_of(all), next_position};
  }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override {
    std::vector<Axes> all;
    std::int64_t next = stream.base_position;
    for (const TokenOrigin& origin : origins) {
      all.push_back(place_of(origin, stream.base_position, stream.frames_per_position));
      next = std::max(next, *std::max_element(all.back().begin(), all.back().end()) + 1);
    }
    return {tensor_of(all), next};
  }

  MediumTokens tokens_of(const MediaFacts& facts) const override {
    const auto [rows, columns] = grid_of(facts);
    std::vector<TokenOrigin> origins;
    const bool video = facts.kind == MediaKind::kVideo;
    for (std::int64_t frame = 0; frame < (video ? facts.frames : 1); frame += kJoined) {
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) {
          origins.push_back(
              {Modality::kVisual, -1, static_cast<std::int32_t>(frame), static_cast<std::int16_t>(row), static_cast<std::int16_t>(column)});
        }
      }
    }
    return {std::move(origins), {}};
  }
  // [pictures, cells, 3]; the last of an odd number twice.
  PixelValues pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const override {
    const auto [rows, columns] = grid_of(facts);
    std::vector<at::Tensor> cells;
    for (const RgbImage& picture : pictures) {
      const at::Tensor rgb = at::tensor(picture.rgb, at::kByte).view({picture.height_px, picture.width_px, 3}).to(at::kFloat).div(255.0);
      cells.push_back(at::adaptive_avg_pool2d(rgb.permute({2, 0, 1}), {rows, columns}).flatten(1).t());
    }
    if (cells.size() % kJoined != 0) cells.push_back(cells.back());
    return {at::stack(cells), 0, 0};
  }
  EncodedParts encode(const MediaFacts&, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken&) const override {
    require(!judge, "this tower judges nothing");
    const at::Tensor pairs = pixels.pixels.view({-1, kJoined, pixels.pixels.size(1), 3}).permute({0, 2, 1, 3}).flatten(2);
    return {at::matmul(pairs, tower_), {}};
  }

 private:
  static std::pair<std::int64_t, std::int64_t> grid_of(const MediaFacts& facts) {
    return {std::max(1, facts.picture.height_px / kCellPx), std::max(1, facts.picture.width_px / kCellPx)};
  }
  static Axes place_of(const TokenOrigin& origin, std::int64_t first, std::int64_t frames_per_position) {
    return {first + origin.frame / kJoined / frames_per_position, first + origin.row, first + origin.column};
  }
  static at::Tensor tensor_of(const std::vector<Axes>& all) {
    at::Tensor positions = at::empty({3, std::ssize(all)}, at::kLong);
    for (std::int64_t i = 0; i < std::ssize(all); ++i)
      for (std::int64_t axis = 0; axis < 3; ++axis) positions[axis][i] = all[static_cast<std::size_t>(i)][static_cast<std::size_t>(axis)];
    return positions;
  }

  at::Tensor tower_;  // [6, hidden]
};

// llava: gives tokens and template; its network is not used.
inline std::unique_ptr<VisionLanguageModel> three_axis_model(const VisionLanguageModel& llava, Seen& seen) {
  auto text = std::make_unique<ThreeAxisText>(llava.info().folder, seen);
  const std::int64_t hidden = text->embed(at::zeros({1}, at::kLong)).size(1);
  auto model = std::make_unique<VisionLanguageModel>(llava.prompt(), std::move(text), std::make_unique<ThreeAxisSight>(hidden));
  ModelInfo info = llava.info();
  info.family = "three_axes";
  info.visual_tokens_per_frame = 0;
  info.traits.position_axes = 3;
  info.traits.joined_frames = ThreeAxisSight::kJoined;
  info.traits.judges_patches = false;
  model->set_info(std::move(info));
  return model;
}

}  // namespace winnow::testing
