#include "engine/models/llava_onevision/llava_onevision.h"

#include "engine/base/error.h"
#include "engine/models/llava_onevision/llava_weight_names.h"

namespace winnow {
namespace {

// As transformers does for nested image lists: several images in one message are not tiled.
ImageTiling tiling_of(const MediaFacts& facts) { return facts.only_image ? ImageTiling::kAnyRes : ImageTiling::kSingle; }

PixelSize size_of(const MediaFacts& facts) { return {facts.picture.height_px, facts.picture.width_px}; }

PlainMlp read_projector(const LlavaOnevisionConfig& config, WeightReader& weights) {
  const auto bias = config.projector_bias ? WeightReader::Bias::kRequired : WeightReader::Bias::kNone;
  const std::int64_t features = config.vision.hidden_size * static_cast<std::int64_t>(config.feature_states.size());
  PlainMlp projector;
  projector.first = weights.linear("multi_modal_projector.linear_1", config.text.hidden_size, features, bias);
  projector.second = weights.linear("multi_modal_projector.linear_2", config.text.hidden_size, config.text.hidden_size, bias);
  projector.activation = config.projector_activation;
  return projector;
}

// maps: [count, rows, columns, hidden]. As torch.nn.functional.interpolate(mode="bilinear") on channels first.
at::Tensor bilinear(const at::Tensor& maps, std::int64_t rows, std::int64_t columns) {
  return at::upsample_bilinear2d(maps.permute({0, 3, 1, 2}).contiguous(), {rows, columns}, /*align_corners=*/false).permute({0, 2, 3, 1});
}

}  // namespace

LlavaOnevision::LlavaOnevision(const LlavaOnevisionFolder& folder, WeightReader& weights)
    : config_(folder.model),
      processor_(folder.processor.image, folder.processor.video),
      text_(config_.text, weights, "language_model."),
      tower_(config_.vision, config_.feature_states, weights, "vision_tower.vision_model."),
      projector_(read_projector(config_, weights)),
      newline_(weights.tensor("image_newline", {config_.text.hidden_size})) {}

TokenPositions LlavaOnevision::positions_of_stream(std::span<const TokenOrigin> origins, const StreamPlaces& places) const {
  const std::int64_t cells = frame_tokens(config_.grid);
  std::vector<std::int64_t> positions;
  std::int32_t frame = -1;
  std::int64_t next = places.base_position;
  for (const TokenOrigin& origin : origins) {
    if (origin.frame != frame) next = places.base_position + origin.frame / places.frames_a_place * cells;
    frame = origin.frame;
    positions.push_back(next++);
  }
  return {at::tensor(positions, at::kLong).unsqueeze(0), next};
}

std::vector<TokenOrigin> LlavaOnevision::origins_of(const MediaFacts& facts) const {
  if (facts.kind == MediaKind::kVideo) return video_origins(facts.frames, config_.grid);
  return tiling_of(facts) == ImageTiling::kSingle ? single_image_origins(config_.grid) : anyres_image_origins(size_of(facts), config_.grid);
}

PixelValues LlavaOnevision::preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  if (facts.kind == MediaKind::kVideo) return processor_.frames(pictures);
  require(pictures.size() == 1, "preprocess: an image is one picture");
  return processor_.image(pictures.front(), tiling_of(facts));
}

EncodedParts LlavaOnevision::project(const at::Tensor& pixels, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const {
  TowerFeatures tower = tower_.encode(pixels, judge, interrupt);
  if (config_.select_strategy == FeatureSelectStrategy::kDefault) {
    tower.features = tower.features.narrow(1, 1, tower.features.size(1) - 1);
    if (judge) tower.importance = tower.importance.narrow(1, 1, tower.importance.size(1) - 1);
  }
  return {projector_(tower.features), judge ? tower.importance : at::Tensor()};
}

EncodedParts LlavaOnevision::encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                                    const InterruptToken& interrupt) const {
  if (facts.kind == MediaKind::kImage) return project(pixels.pixels, judge, interrupt);
  const std::int64_t per_frame = frame_tokens(config_.grid);  // refuses what cannot be pooled before the tower runs
  const EncodedParts patches = project(pixels.pixels, judge, interrupt);
  EncodedParts pooled;
  pooled.features = pool_frames(patches.features);
  require(pooled.features.size(1) == per_frame, "a frame's tokens differ in number from what was announced");
  if (judge) pooled.importance = pool_frames(patches.importance.unsqueeze(2)).squeeze(2);
  return pooled;
}

MediaFeatures LlavaOnevision::join(const MediaFacts& facts, const EncodedParts& parts) const {
  MediaFeatures media = facts.kind == MediaKind::kImage ? join_tiles(facts, parts) : join_frames(parts);
  require(media.features.size(0) == std::ssize(media.origins), "a medium's tokens and their origins differ in number");
  return media;
}

MediaFeatures LlavaOnevision::join_tiles(const MediaFacts& facts, const EncodedParts& tiles) const {
  const std::int64_t count = tiles.features.size(0);
  const bool single = count == 1;  // anyres always has a tile beside the base
  PackedGrid grid;
  if (!single) {
    grid = packed_grid(size_of(facts), config_.grid);
    require(count == 1 + grid.tile_rows * grid.tile_columns, "the image's tiles do not fit its size");
  }
  const auto pack = [&](const at::Tensor& all, const at::Tensor& newline) {
    const at::Tensor rest = single ? newline.unsqueeze(0) : pack_tiles(all.narrow(0, 1, count - 1), newline, grid);
    return at::cat({all.select(0, 0), rest}, 0);
  };
  MediaFeatures media;
  media.features = pack(tiles.features, newline_);
  if (tiles.importance.defined())
    media.importance = pack(tiles.importance.unsqueeze(2), at::zeros({1}, tiles.importance.options())).squeeze(1);
  media.origins = single ? single_image_origins(config_.grid) : anyres_image_origins(size_of(facts), config_.grid);
  return media;
}

at::Tensor LlavaOnevision::pack_tiles(const at::Tensor& tiles, const at::Tensor& newline, const PackedGrid& grid) const {
  const std::int64_t side = config_.grid.patches_per_side;
  const std::int64_t channels = tiles.size(2);
  at::Tensor map = tiles.reshape({grid.tile_rows, grid.tile_columns, side, side, channels})
                       .permute({0, 2, 1, 3, 4})
                       .reshape({grid.tile_rows * side, grid.tile_columns * side, channels})
                       .narrow(0, grid.first_row, grid.unpadded_rows)
                       .narrow(1, grid.first_column, grid.unpadded_columns);
  if (grid.scaled()) map = bilinear(map.unsqueeze(0), grid.rows, grid.columns).squeeze(0);
  return at::cat({map, newline.expand({grid.rows, 1, channels})}, 1).flatten(0, 1);
}

at::Tensor LlavaOnevision::pool_frames(const at::Tensor& patches) const {
  const std::int64_t side = config_.grid.patches_per_side;
  const std::int64_t pooled = (side + 1) / 2;
  const at::Tensor maps = patches.view({patches.size(0), side, side, patches.size(2)});
  return bilinear(maps, pooled, pooled).reshape({patches.size(0), pooled * pooled, patches.size(2)});
}

MediaFeatures LlavaOnevision::join_frames(const EncodedParts& frames) const {
  MediaFeatures media;
  media.features = at::cat({frames.features.flatten(0, 1), newline_.unsqueeze(0)}, 0);
  if (frames.importance.defined()) {
    media.importance = at::cat({frames.importance.flatten(0, 1), at::zeros({1}, frames.importance.options())}, 0);
  }
  media.origins = video_origins(frames.features.size(0), config_.grid);
  return media;
}

std::unique_ptr<VisionLanguageModel> load_llava_onevision(ModelLoad& load) {
  const LlavaOnevisionFolder folder = read_llava_onevision(load.package());
  const GridRules& grid = folder.model.grid;
  load.info.visual_tokens_per_frame = grid.drop_first_feature ? 0 : frame_tokens(grid);
  return std::make_unique<LlavaOnevision>(folder, load.weights(llava_weight_name_rules()));
}

}  // namespace winnow
