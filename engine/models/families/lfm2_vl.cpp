// LFM2-VL: a SigLIP 2 tower that takes pictures in their own proportions, a pixel unshuffle and a two-layer projector before an LFM2
// decoder, whose layers are short convolutions but for a few that attend.
//
// Features follow transformers' Lfm2VlModel.get_image_features: the tower's last state after its norm, merge x merge patches side by side
// in one token, a layer norm if the folder has one, two products. The words around pictures and tiles are tokens of the medium, with the
// text model's embeddings (lfm2_vl_folder.h). The class has no video processor: videos are refused (ModelTraits::reads_videos). Errors:
// kDamagedFile naming the tensor, Interrupted.
#include <ATen/ATen.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"
#include "engine/media/frame_source.h"
#include "engine/model_files/family_templates.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/families/lfm2_vl_folder.h"
#include "engine/models/family_rows.h"
#include "engine/models/model_load.h"
#include "engine/models/vision/vit_tower.h"
#include "engine/models/vision_language_model.h"
#include "engine/text/tokenizer.h"
#include "engine/vision/pixel_size.h"
#include "engine/vision/resize.h"

namespace winnow {
namespace {

std::int64_t patches_of(PixelSize size, std::int64_t patch) { return size.height_px / patch * (size.width_px / patch); }

// Puts the rows of a resized picture in their places: tiles one after the other, of a tile its patches.
struct TiledPatches {
  PixelSize tile;
  std::int64_t tiles_across = 1;
  std::int64_t patch = 0;

  std::int64_t values() const { return 3 * patch * patch; }
  // Offset of a pixel's first colour; the others follow a patch's area apart.
  std::int64_t offset(std::int64_t y, std::int64_t x) const {
    const std::int64_t number = y / tile.height_px * tiles_across + x / tile.width_px;
    const std::int64_t inside = y % tile.height_px / patch * (tile.width_px / patch) + x % tile.width_px / patch;
    return (number * patches_of(tile, patch) + inside) * values() + y % patch * patch + x % patch;
  }
};

// The picture at that size into `target`. Returns what is behind its last value.
float* write_resized(const RgbImage& image, PixelSize size, const TiledPatches& to, const Lfm2PictureRules& rules, float* target) {
  const PixelSize source = checked_size(image);
  const ByteTable table = torch_table(rules.scaling);
  const std::vector<std::uint8_t> rgb =
      resize_rgb8({image.rgb.data(), source, source, {0, 0}, {0, 0, 0}}, size, rules.filter, ResizeArithmetic::kTorch);
  const std::uint8_t* byte = rgb.data();
  for (std::int64_t y = 0; y < size.height_px; ++y) {
    for (std::int64_t x = 0; x < size.width_px; ++x) {
      float* const pixel = target + to.offset(y, x);
      for (std::size_t c = 0; c < 3; ++c) pixel[static_cast<std::int64_t>(c) * to.patch * to.patch] = table[c][*byte++];
    }
  }
  return target + size.height_px * size.width_px * 3;
}

at::Tensor lfm2_patches(const RgbImage& image, const Lfm2PicturePlan& plan, const Lfm2PictureRules& rules) {
  const std::int64_t patch = rules.patch_px;
  const PixelSize tile{rules.tiles.side_px, rules.tiles.side_px};
  const std::int64_t of_tiles = plan.cut() ? plan.tiles.tiles() * patches_of(tile, patch) : 0;
  const std::int64_t of_whole = plan.has_whole() ? patches_of(plan.whole, patch) : 0;
  at::Tensor rows = at::empty({of_tiles + of_whole, 3, patch, patch}, at::TensorOptions().dtype(at::kFloat));
  float* target = rows.data_ptr<float>();
  if (plan.cut()) {
    const PixelSize stretched{plan.tiles.rows * tile.height_px, plan.tiles.columns * tile.width_px};
    target = write_resized(image, stretched, {tile, plan.tiles.columns, patch}, rules, target);
  }
  if (plan.has_whole()) write_resized(image, plan.whole, {plan.whole, 1, patch}, rules, target);
  return rows;
}

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

class Lfm2Vl final : public Sight {
 public:
  Lfm2Vl(const Lfm2VlFolder& folder, Lfm2PictureTokens tokens, WeightReader& weights);

  MediumTokens tokens_of(const MediaFacts& facts) const override { return tokens_.image(plan_of(facts), pictures_); }
  PixelValues pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;

 private:
  Lfm2PicturePlan plan_of(const MediaFacts& facts) const {
    return lfm2_picture_plan(size_of(facts), of_at_most(facts.most_tokens, size_of(facts), pictures_));
  }
  // Cells of merge x merge patches side by side. of_patches: [pictures, patches, channels], row by row.
  at::Tensor cells_of(const at::Tensor& of_patches, const VitTower::PatchRows& grid) const;

  Lfm2PictureTokens tokens_;
  Lfm2PictureRules pictures_;
  VitTower tower_;
  LayerNorm tower_norm_;
  std::optional<LayerNorm> projector_norm_;
  PlainMlp projector_;
};

Lfm2Vl::Lfm2Vl(const Lfm2VlFolder& folder, Lfm2PictureTokens tokens, WeightReader& weights)
    : tokens_(std::move(tokens)),
      pictures_(folder.pictures),
      tower_(folder.model.vision, {folder.model.vision.layers}, weights, "tower."),
      tower_norm_(weights.layer_norm("tower.post_layernorm", folder.model.vision.hidden_size, folder.model.vision.layer_norm_eps)),
      projector_norm_(read_projector_norm(folder.model, weights)),
      projector_(read_unshuffled_projector(folder.model, weights)) {}

PixelValues Lfm2Vl::pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
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
  EncodedParts parts{.features = projector_(projector_norm_ ? (*projector_norm_)(cells) : cells).unsqueeze(0)};
  if (judge) parts.importance = at::cat(importance, 0).unsqueeze(0);
  return parts;
}

}  // namespace

std::unique_ptr<VisionLanguageModel> load_lfm2_vl(ModelLoad& load) {
  const Lfm2VlFolder folder = read_lfm2_vl(load.package());
  load.require_token("image_token_id", "<image>", folder.model.image_token_id);
  Lfm2PictureTokens tokens(load.package().shared_tokenizer(), folder.model.image_token_id, load.package().path());
  load.info.traits.reads_videos = false;
  load.info.picture_detail = lfm2_detail(folder.pictures);
  WeightReader& weights = load.weights(kLfm2VlNames);
  auto text = std::make_unique<TransformerDecoder>(folder.model.text, weights, "text.");
  const MediaPrompt prompt{family_template("lfm2_vl"), folder.model.image_token_id};
  return std::make_unique<VisionLanguageModel>(prompt, std::move(text), std::make_unique<Lfm2Vl>(folder, std::move(tokens), weights));
}

}  // namespace winnow
