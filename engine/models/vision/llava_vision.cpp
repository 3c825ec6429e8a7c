#include "engine/models/vision/llava_vision.h"

#include <utility>

#include "engine/base/error.h"

namespace winnow {
namespace {

PlainMlp read_projector(const LlavaVisionConfig& config, std::int64_t hidden_size, WeightReader& weights) {
  const auto bias = config.projector_bias ? WeightReader::Bias::kRequired : WeightReader::Bias::kNone;
  const std::int64_t features = config.vision.hidden_size * std::ssize(config.feature_states);
  return {.first = weights.tower_linear("multi_modal_projector.linear_1", hidden_size, features, bias),
          .second = weights.tower_linear("multi_modal_projector.linear_2", hidden_size, hidden_size, bias),
          .activation = config.projector_activation};
}

// maps: [frames, width, side, side]
at::Tensor pooled_maps(const at::Tensor& maps, std::int64_t side, FramePoolingRules rules) {
  const std::int64_t pooled = rules.side(side);
  switch (rules.mode) {
    case FramePooling::kAverage: return at::avg_pool2d(maps, {rules.stride, rules.stride});
    case FramePooling::kMaximum: return at::max_pool2d(maps, {rules.stride, rules.stride});
    case FramePooling::kBilinear: break;
  }
  return at::upsample_bilinear2d(maps, {pooled, pooled}, /*align_corners=*/false);
}

// tiles: [tiles, patches, channels]; newline: [channels].
at::Tensor stitched(const at::Tensor& tiles, const at::Tensor& newline, const PackedGrid& grid, std::int64_t side) {
  const std::int64_t channels = tiles.size(2);
  at::Tensor map = tiles.reshape({grid.tile_rows, grid.tile_columns, side, side, channels})
                       .permute({0, 2, 1, 3, 4})
                       .reshape({grid.tile_rows * side, grid.tile_columns * side, channels})
                       .narrow(0, grid.first_row, grid.unpadded_rows)
                       .narrow(1, grid.first_column, grid.unpadded_columns);
  if (grid.scaled()) map = resized_maps(map.unsqueeze(0), grid.rows, grid.columns).squeeze(0);
  return at::cat({map, newline.expand({grid.rows, 1, channels})}, 1).flatten(0, 1);
}

}  // namespace

LlavaVision::LlavaVision(const LlavaVisionConfig& config, std::int64_t hidden_size, WeightReader& weights)
    : drops_first_(config.drops_first()),
      tower_(config.vision, config.feature_states, weights, "vision_tower.vision_model."),
      projector_(read_projector(config, hidden_size, weights)) {}

TowerFeatures LlavaVision::features(const at::Tensor& pixels, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const {
  TowerFeatures tower = tower_.encode(pixels, judge, interrupt);
  if (!drops_first_) return tower;
  tower.features = tower.features.narrow(1, 1, tower.features.size(1) - 1);
  if (judge) tower.importance = tower.importance.narrow(1, 1, tower.importance.size(1) - 1);
  return tower;
}

EncodedParts LlavaVision::encode(const at::Tensor& pixels, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const {
  TowerFeatures tower = features(pixels, judge, interrupt);
  return {project(tower.features), std::move(tower.importance)};
}

at::Tensor pooled_frames(const at::Tensor& patches, std::int64_t side, FramePoolingRules rules) {
  const at::Tensor maps = patches.reshape({patches.size(0), side, side, patches.size(2)}).permute({0, 3, 1, 2}).contiguous();
  return pooled_maps(maps, side, rules).flatten(2).transpose(1, 2).contiguous();
}

at::Tensor resized_maps(const at::Tensor& maps, std::int64_t rows, std::int64_t columns) {
  return at::upsample_bilinear2d(maps.permute({0, 3, 1, 2}).contiguous(), {rows, columns}, /*align_corners=*/false).permute({0, 2, 3, 1});
}

MediaFeatures packed_tiles(PixelSize source, const GridRules& rules, const EncodedParts& tiles, const at::Tensor& newline) {
  const PackedGrid grid = packed_grid(source, rules);
  const std::int64_t count = tiles.features.size(0);
  require(count == 1 + grid.tile_rows * grid.tile_columns, "the image's tiles do not fit its size");
  const auto pack = [&](const at::Tensor& all, const at::Tensor& row_end) {
    return at::cat({all.select(0, 0), stitched(all.narrow(0, 1, count - 1), row_end, grid, rules.patches_per_side)}, 0);
  };
  MediaFeatures media{.features = pack(tiles.features, newline)};
  if (tiles.importance.defined())
    media.importance = pack(tiles.importance.unsqueeze(2), at::zeros({1}, tiles.importance.options())).squeeze(1);
  media.origins = anyres_image_origins(source, rules);
  return media;
}

}  // namespace winnow
