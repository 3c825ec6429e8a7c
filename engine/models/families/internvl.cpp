// InternVL: InternViT, a pixel shuffle and a two-layer projector before a Qwen2, Llama, Qwen3 or InternLM2 decoder; pictures are stretched
// over tiles, followed by a thumbnail.
//
// Features follow transformers' InternVLModel.get_image_features, which computes what the original models' extract_feature (ps_version v2)
// does: a state of the tower without its class token, scale x scale patches side by side in one token, a layer norm, two products. `<img>`,
// `</img>` and the numbers of frames are tokens of the medium, with the text model's embeddings (internvl_folder.h). A template writes
// `<video>` for a video, whether the vocabulary has that or not (video_texts()). Errors: kDamagedFile naming the tensor, Interrupted.
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"
#include "engine/model_files/family_templates.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/families/internvl_chat_config.h"
#include "engine/models/families/internvl_folder.h"
#include "engine/models/family_rows.h"
#include "engine/models/model_load.h"
#include "engine/models/vision/medium_features.h"
#include "engine/models/vision/picture_preparation.h"
#include "engine/models/vision/vit_tower.h"
#include "engine/models/vision_language_model.h"
#include "engine/text/tokenizer.h"

namespace winnow {
namespace {

constexpr std::array<std::string_view, 1> kInternVlVideoTexts = {"<video>"};
constexpr double kProjectorEpsilon = 1e-5;  // torch's own

std::int64_t channels_of_token(const InternVlConfig& config) { return config.vision.hidden_size * config.scale * config.scale; }

PlainMlp read_internvl_projector(const InternVlConfig& config, WeightReader& weights) {
  const auto bias = WeightReader::Bias::kRequired;
  PlainMlp projector;
  projector.first = weights.tower_linear("projector.first", config.text.hidden_size, channels_of_token(config), bias);
  projector.second = weights.tower_linear("projector.second", config.text.hidden_size, config.text.hidden_size, bias);
  projector.activation = config.projector_activation;
  return projector;
}

std::optional<LayerNorm> read_tower_norm(const InternVlConfig& config, WeightReader& weights) {
  if (!config.last_norm) return std::nullopt;
  return weights.layer_norm("tower.layernorm", config.vision.hidden_size, config.vision.layer_norm_eps);
}

// Low is a picture of one tile, medium of four and a thumbnail, high of as many as the models were published with.
DetailChoices internvl_detail(const InternVlTokens& tokens, const TileBounds& bounds) {
  const auto tiles = [&](std::int64_t count) { return tokens_of_tiles(count, bounds, tokens.tile_tokens(), InternVlTokens::kMarks); };
  return {DetailKind::kTiles, tiles(1), tiles(4), tiles(12), 0};
}

class InternVl final : public Sight {
 public:
  InternVl(const InternVlFolder& folder, InternVlTokens tokens, WeightReader& weights);

  MediumTokens tokens_of(const MediaFacts& facts) const override;
  PixelValues pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  TextAround text_around(const VideoTimes&) const override { return tokens_.around(); }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override;

 private:
  TileCount tiles_of(const MediaFacts& facts) const;

  InternVlTokens tokens_;
  InternVlPixels pixels_;
  std::int64_t scale_;
  VitTower tower_;
  std::optional<LayerNorm> tower_norm_;
  LayerNorm projector_norm_;
  PlainMlp projector_;
};

InternVl::InternVl(const InternVlFolder& folder, InternVlTokens tokens, WeightReader& weights)
    : tokens_(std::move(tokens)),
      pixels_(folder.pixels),
      scale_(folder.model.scale),
      tower_(folder.model.vision, {folder.model.feature_state}, weights, "tower."),
      tower_norm_(read_tower_norm(folder.model, weights)),
      projector_norm_(weights.layer_norm("projector.norm", channels_of_token(folder.model), kProjectorEpsilon)),
      projector_(read_internvl_projector(folder.model, weights)) {}

TokenPositions InternVl::positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const {
  return stream_positions_of_pictures(origins, stream, {tokens_.stream_frame_tokens(), tokens_.picture_tokens()});
}

TileCount InternVl::tiles_of(const MediaFacts& facts) const {
  return closest_tiles(size_of(facts), of_at_most(facts.most_tokens, pixels_.tiles, tokens_.tile_tokens(), InternVlTokens::kMarks));
}

MediumTokens InternVl::tokens_of(const MediaFacts& facts) const {
  if (facts.kind == MediaKind::kVideo) return tokens_.frames(facts);
  return tokens_.image(tiles_of(facts), pixels_.tiles.thumbnail);
}

PixelValues InternVl::pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  if (facts.kind == MediaKind::kVideo) return whole_pictures(pictures, pixels_.video);
  const TileCount tiles = tiles_of(facts);
  if (tiles.tiles() == 1) return whole_pictures(pictures, pixels_.image);
  return stretched_tiles(pictures.front(), pixels_.image, {tiles.rows, tiles.columns, pixels_.tiles.thumbnail});
}

EncodedParts InternVl::encode(const MediaFacts&, const PixelValues& pixels, std::optional<VisionJudge> judge,
                              const InterruptToken& interrupt) const {
  const TowerFeatures tower = tower_.encode(pixels.pixels, judge, interrupt);
  const auto patches = [](const at::Tensor& of_tokens) { return of_tokens.narrow(1, 1, of_tokens.size(1) - 1); };
  const at::Tensor features = shuffled_patches(patches(tower_norm_ ? (*tower_norm_)(tower.features) : tower.features), scale_);
  EncodedParts parts{.features = projector_(projector_norm_(features))};
  if (judge) parts.importance = shuffled_patches(patches(tower.importance).unsqueeze(2), scale_).sum(2);
  return parts;
}

std::unique_ptr<VisionLanguageModel> load_folder(const InternVlFolder& folder, ModelLoad& load) {
  InternVlTokens tokens(load.package().shared_tokenizer(), folder.side(), load.package().path());
  if (folder.model.image_token_id) load.require_token("image_token_id", "<IMG_CONTEXT>", *folder.model.image_token_id);
  load.info.visual_tokens_per_frame = tokens.frame_tokens();
  load.info.picture_detail = internvl_detail(tokens, folder.pixels.tiles);
  WeightReader& weights = load.weights(folder.names);
  auto text = std::make_unique<TransformerDecoder>(folder.model.text, weights, "text.");
  MediaPrompt prompt{family_template("internvl"), tokens.image_token_id()};
  prompt.own_template = folder.own_template;
  prompt.video_texts = kInternVlVideoTexts;
  auto sight = std::make_unique<InternVl>(folder, std::move(tokens), weights);
  return std::make_unique<VisionLanguageModel>(std::move(prompt), std::move(text), std::move(sight));
}

}  // namespace

std::unique_ptr<VisionLanguageModel> load_internvl(ModelLoad& load) { return load_folder(read_internvl(load.package()), load); }

std::unique_ptr<VisionLanguageModel> load_internvl_chat(ModelLoad& load) { return load_folder(read_internvl_chat(load.package()), load); }

}  // namespace winnow
