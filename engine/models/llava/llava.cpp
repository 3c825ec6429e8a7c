#include "engine/models/llava/llava.h"

#include "engine/base/error.h"
#include "engine/models/llava/chat_template.h"
#include "engine/models/llava_parts/llava_weight_names.h"
#include "engine/models/llava_parts/picture_preparation.h"
#include "engine/models/llava_parts/pooled_frames.h"
#include "engine/models/llava_parts/tile_packing.h"

namespace winnow {
namespace {

// One square; the first feature may be a class token, or missing.
std::vector<TokenOrigin> square_origins(const LlavaConfig& config) {
  std::vector<TokenOrigin> origins = frame_origins(1, config.vision.patches_per_side);
  if (config.vision.class_token && !config.drops_first()) origins.insert(origins.begin(), origin_beside_patches(0));
  if (!config.vision.class_token && config.drops_first()) origins.erase(origins.begin());
  return origins;
}

MediaFeatures in_a_row(const EncodedParts& parts) {
  MediaFeatures media;
  media.features = parts.features.flatten(0, 1);
  if (parts.importance.defined()) media.importance = parts.importance.flatten(0, 1);
  return media;
}

}  // namespace

Llava::Llava(const LlavaFolder& folder, WeightReader& weights)
    : config_(folder.model),
      processor_(folder.processor),
      text_(config_.text, weights, "language_model."),
      vision_(config_, config_.text.hidden_size, weights),
      newline_(config_.sight.tiles ? weights.tensor("image_newline", {config_.text.hidden_size}) : at::Tensor()) {}

// The NeXT classes were published with several decoders, each with a template of its own.
std::string_view Llava::chat_template() const { return config_.sight.tiles ? std::string_view() : kLlavaTemplate; }

TokenPositions Llava::positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const {
  return one_axis_stream_positions(origins, stream, config_.frame_side() * config_.frame_side());
}

std::vector<TokenOrigin> Llava::origins_of(const MediaFacts& facts) const {
  if (facts.kind == MediaKind::kImage)
    return config_.sight.tiles ? anyres_image_origins(size_of(facts), grid_of(facts)) : square_origins(config_);
  require(config_.sight.videos, "a model that reads no videos was given one");
  return frame_origins(facts.frames, config_.frame_side());
}

PixelValues Llava::preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  if (facts.kind == MediaKind::kVideo) return whole_pictures(pictures, processor_.video);
  require(pictures.size() == 1, "preprocess: an image is one picture");
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

MediaFeatures Llava::join(const MediaFacts& facts, const EncodedParts& parts) const {
  if (facts.kind == MediaKind::kImage && config_.sight.tiles) return packed_tiles(size_of(facts), grid_of(facts), parts, newline_);
  MediaFeatures media = in_a_row(parts);
  media.origins = facts.kind == MediaKind::kImage ? square_origins(config_) : frame_origins(parts.features.size(0), config_.frame_side());
  require(media.features.size(0) == std::ssize(media.origins), "a medium's tokens and their origins differ in number");
  return media;
}

std::unique_ptr<VisionLanguageModel> load_llava(ModelLoad& load) {
  const LlavaFolder folder = read_llava(load.package(), load.info.family);
  const LlavaConfig& model = folder.model;
  load.info.traits.reads_videos = model.sight.videos;
  if (model.sight.videos) load.info.visual_tokens_per_frame = model.frame_side() * model.frame_side();
  if (model.sight.tiles) {
    const auto most = [&](std::int64_t tiles) { return most_tokens_of_tiles(tiles, model.grid); };
    load.info.picture_detail = {DetailKind::kTiles, most(1), most(2), most(kMostTilesOfAGrid), 0};
  }
  return std::make_unique<Llava>(folder, load.weights(llava_weight_name_rules()));
}

}  // namespace winnow
