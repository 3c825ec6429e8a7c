// LLaVA-1.5, LLaVA-NeXT and LLaVA-NeXT-Video: CLIP (or SigLIP) tower, two-layer projector, Llama, Vicuna or Mistral decoder.
//
// Features follow transformers' LlavaModel, LlavaNextModel and LlavaNextVideoModel. A LLaVA-1.5 makes one square of an image, with the
// class token before it where the select strategy is "full". The NeXT classes tile every image: the base tile, then the stitched and
// unpadded grid with a newline embedding after each row; nothing is reduced. A video of NeXT-Video is its frames, their patches pooled by 2
// before the projector; nothing stands between or after them. The other two read no videos (ModelTraits::reads_videos). Errors:
// kDamagedFile naming the tensor, Interrupted.
#include <memory>

#include "engine/base/error.h"
#include "engine/model_files/family_templates.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/families/llava_folder.h"
#include "engine/models/family_rows.h"
#include "engine/models/model_load.h"
#include "engine/models/vision/llava_vision.h"
#include "engine/models/vision/llava_vision_config.h"
#include "engine/models/vision/picture_preparation.h"
#include "engine/models/vision_language_model.h"

namespace winnow {
namespace {

// One square; the first feature may be a class token, or missing.
std::vector<TokenOrigin> square_origins(const LlavaConfig& config) {
  std::vector<TokenOrigin> origins = frame_origins(1, config.vision.patches_per_side);
  if (config.vision.class_token && !config.drops_first()) origins.insert(origins.begin(), origin_beside_patches(0));
  if (!config.vision.class_token && config.drops_first()) origins.erase(origins.begin());
  return origins;
}

class Llava final : public Sight {
 public:
  Llava(const LlavaFolder& folder, WeightReader& weights);

  MediumTokens tokens_of(const MediaFacts& facts) const override;
  PixelValues pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts, const TextDecoder& text) const override;
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override {
    return one_axis_stream_positions(origins, stream, config_.frame_side() * config_.frame_side());
  }

 private:
  GridRules grid_of(const MediaFacts& facts) const { return of_at_most(facts.most_tokens, config_.grid); }

  LlavaConfig config_;
  LlavaProcessorConfig processor_;
  LlavaVision vision_;
  at::Tensor newline_;  // [hidden]; of classes that tile
};

Llava::Llava(const LlavaFolder& folder, WeightReader& weights)
    : config_(folder.model),
      processor_(folder.processor),
      vision_(config_, config_.text.hidden_size, weights),
      newline_(config_.sight.tiles ? weights.tensor("image_newline", {config_.text.hidden_size}) : at::Tensor()) {}

MediumTokens Llava::tokens_of(const MediaFacts& facts) const {
  if (facts.kind == MediaKind::kImage)
    return {config_.sight.tiles ? anyres_image_origins(size_of(facts), grid_of(facts)) : square_origins(config_), {}};
  require(config_.sight.videos, "a model that reads no videos was given one");
  return {frame_origins(facts.frames, config_.frame_side()), {}};
}

PixelValues Llava::pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  if (facts.kind == MediaKind::kVideo) return whole_pictures(pictures, processor_.video);
  if (config_.sight.tiles) return tiled_picture(pictures.front(), processor_.image, grid_of(facts).pinpoints);
  return whole_pictures(pictures, processor_.image);
}

EncodedParts Llava::encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                           const InterruptToken& interrupt) const {
  if (facts.kind == MediaKind::kImage) return vision_.encode(pixels.pixels, judge, interrupt);
  const TowerFeatures patches = vision_.features(pixels.pixels, judge, interrupt);
  EncodedParts frames;
  const std::int64_t side = config_.grid.patches_per_side;
  frames.features = vision_.project(pooled_frames(patches.features, side, config_.pooling));
  if (judge) frames.importance = pooled_frames(patches.importance.unsqueeze(2), side, {}).squeeze(2);
  return frames;
}

MediaFeatures Llava::join(const MediaFacts& facts, const EncodedParts& parts, const TextDecoder& text) const {
  if (facts.kind == MediaKind::kImage && config_.sight.tiles) return packed_tiles(size_of(facts), grid_of(facts), parts, newline_);
  return Sight::join(facts, parts, text);
}

}  // namespace

std::unique_ptr<VisionLanguageModel> load_llava(ModelLoad& load) {
  const LlavaFolder folder = read_llava(load.package(), load.info.family);
  const LlavaConfig& model = folder.model;
  load.info.traits.reads_videos = model.sight.videos;
  if (model.sight.videos) load.info.visual_tokens_per_frame = model.frame_side() * model.frame_side();
  if (model.sight.tiles) {
    const auto most = [&](std::int64_t tiles) { return most_tokens_of_tiles(tiles, model.grid); };
    load.info.picture_detail = {DetailKind::kTiles, most(1), most(2), most(kMostTilesOfAGrid), 0};
  }
  WeightReader& weights = load.weights(llava_weight_name_rules());
  auto text = std::make_unique<TransformerDecoder>(model.text, weights, "language_model.");
  // The NeXT classes were published with several decoders, each with a template of its own.
  const MediaPrompt prompt{model.sight.tiles ? std::string_view() : family_template("llava"), model.image_token_id, model.video_token_id};
  return std::make_unique<VisionLanguageModel>(prompt, std::move(text), std::make_unique<Llava>(folder, weights));
}

}  // namespace winnow
