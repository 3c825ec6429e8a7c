#include "engine/models/internvl/internvl.h"

#include <utility>

#include "engine/base/error.h"
#include "engine/models/internvl/original_config.h"
#include "engine/models/llava_parts/picture_preparation.h"
#include "engine/models/medium_features.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_file.h"

namespace winnow {
namespace {

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

std::unique_ptr<VisionLanguageModel> load_folder(const InternVlFolder& folder, ModelLoad& load) {
  InternVlTokens tokens(load.package().shared_tokenizer(), folder.side(), load.package().path());
  if (folder.model.image_token_id) load.require_token("image_token_id", "<IMG_CONTEXT>", *folder.model.image_token_id);
  load.info.visual_tokens_per_frame = tokens.frame_tokens();
  load.info.picture_detail = internvl_detail(tokens, folder.pixels.tiles);
  return std::make_unique<InternVl>(folder, std::move(tokens), load.weights(folder.names));
}

}  // namespace

InternVl::InternVl(const InternVlFolder& folder, InternVlTokens tokens, WeightReader& weights)
    : tokens_(std::move(tokens)),
      pixels_(folder.pixels),
      own_template_(folder.own_template),
      scale_(folder.model.scale),
      text_(folder.model.text, weights, "text."),
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

PixelValues InternVl::preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  if (facts.kind == MediaKind::kVideo) return whole_pictures(pictures, pixels_.video);
  require(pictures.size() == 1, "preprocess: an image is one picture");
  const TileCount tiles = tiles_of(facts);
  if (tiles.tiles() == 1) return whole_pictures(pictures, pixels_.image);
  return stretched_tiles(pictures.front(), pixels_.image, {tiles.rows, tiles.columns, pixels_.tiles.thumbnail});
}

EncodedParts InternVl::encode(const MediaFacts&, const PixelValues& pixels, std::optional<VisionJudge> judge,
                              const InterruptToken& interrupt) const {
  const TowerFeatures tower = tower_.encode(pixels.pixels, judge, interrupt);
  const auto patches = [](const at::Tensor& of_tokens) { return of_tokens.narrow(1, 1, of_tokens.size(1) - 1); };
  const at::Tensor features = shuffled_patches(patches(tower_norm_ ? (*tower_norm_)(tower.features) : tower.features), scale_);
  EncodedParts parts;
  parts.features = projector_(projector_norm_(features));
  if (judge) parts.importance = shuffled_patches(patches(tower.importance).unsqueeze(2), scale_).sum(2);
  return parts;
}

MediaFeatures InternVl::join(const MediaFacts& facts, const EncodedParts& parts) const {
  return features_among_words(tokens_of(facts), parts, text_);
}

std::unique_ptr<VisionLanguageModel> load_internvl(ModelLoad& load) { return load_folder(read_internvl(load.package()), load); }

std::unique_ptr<VisionLanguageModel> load_internvl_chat(ModelLoad& load) { return load_folder(read_internvl_chat(load.package()), load); }

}  // namespace winnow
