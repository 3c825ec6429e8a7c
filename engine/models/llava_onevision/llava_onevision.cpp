#include "engine/models/llava_onevision/llava_onevision.h"

#include "engine/base/error.h"
#include "engine/models/llava_parts/llava_weight_names.h"
#include "engine/models/llava_parts/tile_packing.h"

namespace winnow {
namespace {

// As transformers does for nested image lists: several images in one message are not tiled.
ImageTiling tiling_of(const MediaFacts& facts) { return facts.only_image ? ImageTiling::kAnyRes : ImageTiling::kSingle; }

}  // namespace

LlavaOnevision::LlavaOnevision(const LlavaOnevisionFolder& folder, WeightReader& weights)
    : config_(folder.model),
      processor_(folder.processor.image, folder.processor.video),
      text_(config_.text, weights, "language_model."),
      vision_(config_, config_.text.hidden_size, weights),
      newline_(weights.tensor("image_newline", {config_.text.hidden_size})) {}

TokenPositions LlavaOnevision::positions_of_stream(std::span<const TokenOrigin> origins, const StreamPlaces& places) const {
  return one_axis_stream_positions(origins, places, frame_tokens(config_.grid));
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

EncodedParts LlavaOnevision::encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                                    const InterruptToken& interrupt) const {
  if (facts.kind == MediaKind::kImage) return vision_.encode(pixels.pixels, judge, interrupt);
  const std::int64_t per_frame = frame_tokens(config_.grid);  // refuses what cannot be pooled before the tower runs
  const EncodedParts patches = vision_.encode(pixels.pixels, judge, interrupt);
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
  const bool single = tiles.features.size(0) == 1;  // anyres always has a tile beside the base
  if (!single) return packed_tiles(size_of(facts), config_.grid, tiles, newline_);
  MediaFeatures media = with_newline(tiles);
  media.origins = single_image_origins(config_.grid);
  return media;
}

at::Tensor LlavaOnevision::pool_frames(const at::Tensor& patches) const {
  const std::int64_t side = config_.grid.patches_per_side;
  const std::int64_t pooled = (side + 1) / 2;
  const at::Tensor maps = patches.view({patches.size(0), side, side, patches.size(2)});
  return resized_maps(maps, pooled, pooled).reshape({patches.size(0), pooled * pooled, patches.size(2)});
}

MediaFeatures LlavaOnevision::join_frames(const EncodedParts& frames) const {
  MediaFeatures media = with_newline(frames);
  media.origins = video_origins(frames.features.size(0), config_.grid);
  return media;
}

MediaFeatures LlavaOnevision::with_newline(const EncodedParts& parts) const {
  MediaFeatures media;
  media.features = at::cat({parts.features.flatten(0, 1), newline_.unsqueeze(0)}, 0);
  if (parts.importance.defined()) {
    media.importance = at::cat({parts.importance.flatten(0, 1), at::zeros({1}, parts.importance.options())}, 0);
  }
  return media;
}

std::unique_ptr<VisionLanguageModel> load_llava_onevision(ModelLoad& load) {
  const LlavaOnevisionFolder folder = read_llava_onevision(load.package());
  const GridRules& grid = folder.model.grid;
  load.info.visual_tokens_per_frame = grid.drop_first_feature ? 0 : frame_tokens(grid);
  return std::make_unique<LlavaOnevision>(folder, load.weights(llava_weight_name_rules()));
}

}  // namespace winnow
