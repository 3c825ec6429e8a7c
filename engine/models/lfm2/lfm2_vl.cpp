#include "engine/models/lfm2/lfm2_vl.h"

#include <array>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/models/lfm2/image_processor.h"
#include "engine/models/medium_features.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_file.h"

namespace winnow {
namespace {

constexpr double kTokenNormEpsilon = 1e-5;  // torch's own

// Names that transformers 5 writes, and those of 4, whose tower is a model inside a model.
constexpr std::array<WeightNameRule, 5> kLfm2VlNames = {{
    {"model.language_model.", "text.model."},
    {"lm_head.", "text.lm_head."},
    {"model.vision_tower.vision_model.", "tower."},
    {"model.vision_tower.", "tower."},
    {"model.multi_modal_projector.", "projector."},
}};

PlainMlp read_unshuffled_projector(const Lfm2VlConfig& config, WeightReader& weights) {
  const auto bias = config.projector_bias ? WeightReader::Bias::kRequired : WeightReader::Bias::kNone;
  return {weights.tower_linear("projector.linear_1", config.projector_size, config.token_channels(), bias),
          weights.tower_linear("projector.linear_2", config.text.hidden_size, config.projector_size, bias), config.projector_activation};
}

std::optional<LayerNorm> read_projector_norm(const Lfm2VlConfig& config, WeightReader& weights) {
  if (!config.projector_norm) return std::nullopt;
  return weights.layer_norm("projector.layer_norm", config.token_channels(), kTokenNormEpsilon);
}

// A picture that is not cut, four tiles and the thumbnail, as many as the folder says; where nothing is cut, shares of what that allows.
DetailChoices lfm2_detail(const Lfm2PictureRules& rules) {
  const std::int64_t most = rules.most_tokens;
  if (!rules.cuts()) return {DetailKind::kAnySize, (most + 3) / 4, (most + 1) / 2, most, 0};
  const auto tiles = [&](std::int64_t count) { return most_tokens_of_tiles(std::min(count, rules.tiles.most), rules); };
  return {DetailKind::kTiles, most + Lfm2PictureRules::kMarks, tiles(4), tiles(rules.tiles.most), 0};
}

}  // namespace

Lfm2Vl::Lfm2Vl(const Lfm2VlFolder& folder, Lfm2PictureTokens tokens, WeightReader& weights)
    : tokens_(std::move(tokens)),
      pictures_(folder.pictures),
      text_(folder.model.text, weights, "text."),
      tower_(folder.model.vision, {folder.model.vision.layers}, weights, "tower."),
      tower_norm_(weights.layer_norm("tower.post_layernorm", folder.model.vision.hidden_size, folder.model.vision.layer_norm_eps)),
      projector_norm_(read_projector_norm(folder.model, weights)),
      projector_(read_unshuffled_projector(folder.model, weights)) {}

PixelValues Lfm2Vl::preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  require(facts.kind == MediaKind::kImage && pictures.size() == 1, "preprocess: an image is one picture");
  return {lfm2_patches(pictures.front(), plan_of(facts), pictures_), facts.picture.height_px, facts.picture.width_px};
}

at::Tensor Lfm2Vl::cells_of(const at::Tensor& of_patches, const VitTower::PatchRows& grid) const {
  const std::int64_t merge = pictures_.merge;
  return of_patches.reshape({of_patches.size(0), grid.rows / merge, merge, grid.columns / merge, merge, of_patches.size(2)})
      .permute({0, 1, 3, 2, 4, 5})
      .reshape({of_patches.size(0) * grid.patches() / (merge * merge), merge * merge * of_patches.size(2)});
}

EncodedParts Lfm2Vl::encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                            const InterruptToken& interrupt) const {
  const Lfm2PicturePlan plan = plan_of(facts);
  std::vector<at::Tensor> features, importance;
  std::int64_t first = 0;
  const auto encode_pictures = [&](std::int64_t count, PixelSize size) {
    const VitTower::PatchRows grid{size.height_px / pictures_.patch_px, size.width_px / pictures_.patch_px};
    const at::Tensor patches = pixels.pixels.narrow(0, first, count * grid.patches()).reshape({count, grid.patches(), -1});
    first += count * grid.patches();
    const TowerFeatures tower = tower_.encode_patches(patches, grid, judge, interrupt);
    features.push_back(cells_of(tower_norm_(tower.features), grid));
    if (judge) importance.push_back(cells_of(tower.importance.unsqueeze(2), grid).sum(1));
  };
  if (plan.cut()) encode_pictures(plan.tiles.tiles(), {pictures_.tiles.side_px, pictures_.tiles.side_px});
  if (plan.has_whole()) encode_pictures(1, plan.whole);
  const at::Tensor cells = at::cat(features, 0);
  EncodedParts parts;
  parts.features = projector_(projector_norm_ ? (*projector_norm_)(cells) : cells).unsqueeze(0);
  if (judge) parts.importance = at::cat(importance, 0).unsqueeze(0);
  return parts;
}

MediaFeatures Lfm2Vl::join(const MediaFacts& facts, const EncodedParts& parts) const {
  return features_among_words(tokens_of(facts), parts, text_);
}

std::unique_ptr<VisionLanguageModel> load_lfm2_vl(ModelLoad& load) {
  const Lfm2VlFolder folder = read_lfm2_vl(load.package());
  load.require_token("image_token_id", "<image>", folder.model.image_token_id);
  Lfm2PictureTokens tokens(load.package().shared_tokenizer(), folder.model.image_token_id, load.package().path());
  load.info.traits.reads_videos = false;
  load.info.picture_detail = lfm2_detail(folder.pictures);
  return std::make_unique<Lfm2Vl>(folder, std::move(tokens), load.weights(kLfm2VlNames));
}

}  // namespace winnow
