// Idefics3, SmolVLM and SmolVLM2: a SigLIP-like tower, a pixel shuffle and a linear projector before a Llama decoder; pictures are cut into
// tiles with text between them.
//
// Features follow transformers' SmolVLMModel.get_image_features, which Idefics3Model shares: the tower's last state after its norm,
// scale_factor x scale_factor patches side by side in one token, projected. Positions of patches are found by fractional coordinates
// (bucketize), in fp32 whatever the type of the arithmetic; transformers rounds them to that type first. A medium's words between its first
// and last token are tokens of the medium, with the text model's embeddings (smolvlm_folder.h). Errors: kDamagedFile naming the tensor,
// Interrupted.
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "engine/layers/linear.h"
#include "engine/layers/norm.h"
#include "engine/model_files/family_templates.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/families/smolvlm_folder.h"
#include "engine/models/families/smolvlm_pixels.h"
#include "engine/models/family_rows.h"
#include "engine/models/model_load.h"
#include "engine/models/vision/medium_features.h"
#include "engine/models/vision/vit_tower.h"
#include "engine/models/vision_language_model.h"
#include "engine/text/tokenizer.h"

namespace winnow {
namespace {

// Names that transformers 4 and 5 write.
constexpr std::array<WeightNameRule, 4> kSmolVlmNames = {{
    {"model.text_model.", "text.model."},
    {"model.vision_model.", "tower."},
    {"model.connector.modality_projection.", "connector."},
    {"lm_head.", "text.lm_head."},
}};

// For every patch the row of a position table for table_side x table_side patches: SmolVLMVisionEmbeddings.forward in fp32.
std::vector<std::int64_t> rows_of_patches(std::int64_t table_side, std::int64_t side) {
  const auto single = at::TensorOptions().dtype(at::kFloat);
  const double step = 1.0 / static_cast<double>(table_side);
  const at::Tensor boundaries = at::arange(step, 1.0, step, single);
  const at::Tensor coordinates = at::arange(side, single).mul(1.0F / static_cast<float>(side)).clamp_max(1.0 - 1e-6);
  const at::Tensor buckets = at::bucketize(coordinates, boundaries, /*out_int32=*/false, /*right=*/true);
  const at::Tensor rows = (buckets.unsqueeze(1) * table_side + buckets.unsqueeze(0)).flatten().contiguous();
  return {rows.const_data_ptr<std::int64_t>(), rows.const_data_ptr<std::int64_t>() + rows.numel()};
}

VitConfig placed(VitConfig vision) {
  const auto table_side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(vision.position_rows))));
  vision.row_of_patch = rows_of_patches(table_side, vision.patches_per_side);
  return vision;
}

// Low is a square picture of one tile, medium of two a side, high of as many as the processor's file says.
DetailChoices smolvlm_detail(const MediaTokens& tokens, const TileRules& rules) {
  if (!rules.split || rules.longest_edge_px <= rules.side_px) return {};
  const auto square = [&](std::int64_t tiles) { return std::ssize(tokens.image({{}, {}, tiles, tiles}).ids); };
  return {DetailKind::kTiles, square(0), square(2), square((rules.longest_edge_px + rules.side_px - 1) / rules.side_px), 0};
}

class SmolVlm final : public Sight {
 public:
  SmolVlm(const SmolVlmFolder& folder, MediaTokens tokens, WeightReader& weights);

  MediumTokens tokens_of(const MediaFacts& facts) const override;
  PixelValues pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  TextAround text_around(const VideoTimes& video) const override { return tokens_.around(video); }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override;

 private:
  TileRules rules_of(const MediaFacts& facts) const { return tokens_.of_at_most(facts.most_tokens, size_of(facts), tiles_); }

  MediaTokens tokens_;
  TileRules tiles_;
  SmolVlmImageProcessor processor_;
  std::int64_t scale_;
  VitTower tower_;
  LayerNorm tower_norm_;
  Linear projection_;
};

SmolVlm::SmolVlm(const SmolVlmFolder& folder, MediaTokens tokens, WeightReader& weights)
    : tokens_(std::move(tokens)),
      tiles_(folder.processor.image.tiles),
      processor_(folder.processor),
      scale_(folder.model.scale_factor),
      tower_(placed(folder.model.vision), {folder.model.vision.layers}, weights, "tower."),
      tower_norm_(weights.layer_norm("tower.post_layernorm", folder.model.vision.hidden_size, folder.model.vision.layer_norm_eps)),
      projection_(weights.tower_linear("connector.proj", folder.model.text.hidden_size, folder.model.vision.hidden_size * scale_ * scale_,
                                       WeightReader::Bias::kNone)) {}

TokenPositions SmolVlm::positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const {
  return stream_positions_of_pictures(origins, stream, {tokens_.frame_tokens(), tokens_.picture_tokens()});
}

MediumTokens SmolVlm::tokens_of(const MediaFacts& facts) const {
  if (facts.kind == MediaKind::kVideo) return tokens_.frames(facts);
  return tokens_.image(tile_grid(size_of(facts), rules_of(facts)));
}

PixelValues SmolVlm::pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  if (facts.kind == MediaKind::kVideo) return processor_.frames(pictures);
  return processor_.image(pictures.front(), rules_of(facts));
}

EncodedParts SmolVlm::encode(const MediaFacts&, const PixelValues& pixels, std::optional<VisionJudge> judge,
                             const InterruptToken& interrupt) const {
  const TowerFeatures tower = tower_.encode(pixels.pixels, judge, interrupt);
  EncodedParts parts{.features = projection_(shuffled_patches(tower_norm_(tower.features), scale_))};
  if (judge) parts.importance = shuffled_patches(tower.importance.unsqueeze(2), scale_).sum(2);
  return parts;
}

}  // namespace

std::unique_ptr<VisionLanguageModel> load_smolvlm(ModelLoad& load) {
  const SmolVlmFolder folder = read_smolvlm(load.package());
  load.require_token("image_token_id", "<image>", folder.model.image_token_id);
  MediaTokens tokens(load.package().shared_tokenizer(), folder.model.image_token_id, folder.side());
  load.info.visual_tokens_per_frame = tokens.frame_tokens();
  load.info.picture_detail = smolvlm_detail(tokens, folder.processor.image.tiles);
  WeightReader& weights = load.weights(kSmolVlmNames);
  auto text = std::make_unique<TransformerDecoder>(folder.model.text, weights, "text.");
  MediaPrompt prompt{family_template("smolvlm"), folder.model.image_token_id};
  if (tokens.writes_videos()) prompt.video_template = family_template("smolvlm_video");
  auto sight = std::make_unique<SmolVlm>(folder, std::move(tokens), weights);
  return std::make_unique<VisionLanguageModel>(std::move(prompt), std::move(text), std::move(sight));
}

}  // namespace winnow
