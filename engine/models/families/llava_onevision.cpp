// LLaVA-OneVision: SigLIP tower, two-layer projector, Qwen2 decoder; anyres images and pooled video frames.
//
// Features follow transformers' LlavaOnevisionModel (get_image_features, pack_image_features, get_video_features): an image of its own is
// its base tile, then the stitched, unpadded and, where the tiles are too many, bilinearly reduced grid with a newline embedding after each
// row; an image among several is one tile and one newline; a video is its frames pooled to half the side and one newline at the end, or as
// a LLaVA-Video's file has it (llava_onevision_folder.h). Errors: kDamagedFile naming the tensor, kUnsupportedModel where the select
// strategy leaves no square grid, Interrupted.
#include <memory>

#include "engine/base/error.h"
#include "engine/model_files/family_templates.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/families/llava_onevision_folder.h"
#include "engine/models/families/llava_onevision_pixels.h"
#include "engine/models/family_rows.h"
#include "engine/models/model_load.h"
#include "engine/models/vision/llava_vision.h"
#include "engine/models/vision/llava_vision_config.h"
#include "engine/models/vision_language_model.h"

namespace winnow {
namespace {

// Several images in one message are not tiled, as transformers does for nested image lists. Neither is one that may not take the tokens of
// a base tile and one more.
ImageTiling tiling_of(const MediaFacts& facts, const GridRules& grid) {
  const bool room = facts.most_tokens == 0 || facts.most_tokens >= most_tokens_of_tiles(1, grid);
  return facts.only_image && room ? ImageTiling::kAnyRes : ImageTiling::kSingle;
}

// Low is an image among several, medium four tiles beside the base, high as many as the files allow.
DetailChoices onevision_detail(const GridRules& grid) {
  if (grid.drop_first_feature) return {};  // nothing is tiled
  return {DetailKind::kTiles, std::ssize(single_image_origins(grid)), most_tokens_of_tiles(4, grid),
          most_tokens_of_tiles(kMostTilesOfAGrid, grid), 0};
}

class LlavaOnevision final : public Sight {
 public:
  LlavaOnevision(const LlavaOnevisionFolder& folder, WeightReader& weights);

  MediumTokens tokens_of(const MediaFacts& facts) const override;
  PixelValues pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts, const TextDecoder& text) const override;
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override {
    return one_axis_stream_positions(origins, stream, frame_tokens(config_.grid, config_.video));
  }

 private:
  MediaFeatures join_tiles(const MediaFacts& facts, const EncodedParts& tiles) const;
  MediaFeatures join_frames(const EncodedParts& frames) const;
  // All tokens of the parts, a newline after every so many; without origins.
  MediaFeatures with_newlines(const EncodedParts& parts, std::int64_t every) const;

  LlavaOnevisionConfig config_;
  ImageProcessor processor_;
  LlavaVision vision_;
  at::Tensor newline_;  // [hidden]
};

LlavaOnevision::LlavaOnevision(const LlavaOnevisionFolder& folder, WeightReader& weights)
    : config_(folder.model),
      processor_(folder.processor.image, folder.processor.video),
      vision_(config_, config_.text.hidden_size, weights),
      newline_(weights.tensor("image_newline", {config_.text.hidden_size})) {}

MediumTokens LlavaOnevision::tokens_of(const MediaFacts& facts) const {
  if (facts.kind == MediaKind::kVideo) return {video_origins(facts.frames, config_.grid, config_.video), {}};
  if (tiling_of(facts, config_.grid) == ImageTiling::kSingle) return {single_image_origins(config_.grid), {}};
  return {anyres_image_origins(size_of(facts), of_at_most(facts.most_tokens, config_.grid)), {}};
}

PixelValues LlavaOnevision::pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  if (facts.kind == MediaKind::kVideo) return processor_.frames(pictures);
  return processor_.image(pictures.front(), tiling_of(facts, config_.grid), of_at_most(facts.most_tokens, config_.grid).pinpoints);
}

EncodedParts LlavaOnevision::encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                                    const InterruptToken& interrupt) const {
  if (facts.kind == MediaKind::kImage) return vision_.encode(pixels.pixels, judge, interrupt);
  const std::int64_t pooled_side = frame_side(config_.grid, config_.video);  // refuses what cannot be pooled before the tower runs
  const EncodedParts patches = vision_.encode(pixels.pixels, judge, interrupt);
  EncodedParts pooled;
  const std::int64_t side = config_.grid.patches_per_side;
  pooled.features = pooled_frames(patches.features, side, config_.video.pooling);
  require(pooled.features.size(1) == pooled_side * pooled_side, "a frame's tokens differ in number from what was announced");
  // The attention among the patches that a token stands for: the greatest of their features says nothing of it.
  FramePoolingRules importance = config_.video.pooling;
  if (importance.mode == FramePooling::kMaximum) importance.mode = FramePooling::kAverage;
  if (judge) pooled.importance = pooled_frames(patches.importance.unsqueeze(2), side, importance).squeeze(2);
  return pooled;
}

MediaFeatures LlavaOnevision::join(const MediaFacts& facts, const EncodedParts& parts, const TextDecoder&) const {
  MediaFeatures media = facts.kind == MediaKind::kImage ? join_tiles(facts, parts) : join_frames(parts);
  require(media.features.size(0) == std::ssize(media.origins), "a medium's tokens and their origins differ in number");
  return media;
}

MediaFeatures LlavaOnevision::join_tiles(const MediaFacts& facts, const EncodedParts& tiles) const {
  const bool single = tiles.features.size(0) == 1;  // anyres always has a tile beside the base
  if (!single) return packed_tiles(size_of(facts), of_at_most(facts.most_tokens, config_.grid), tiles, newline_);
  MediaFeatures media = with_newlines(tiles, tiles.features.size(1));
  media.origins = single_image_origins(config_.grid);
  return media;
}

MediaFeatures LlavaOnevision::join_frames(const EncodedParts& frames) const {
  const std::int64_t count = frames.features.size(0);
  const std::int64_t tokens = frames.features.size(1);
  const auto joined = [&] {
    switch (config_.video.newline) {
      case NewlinePlace::kRow: return with_newlines(frames, frame_side(config_.grid, config_.video));
      case NewlinePlace::kFrame: return with_newlines(frames, tokens);
      case NewlinePlace::kVideo: return with_newlines(frames, count * tokens);
      case NewlinePlace::kNowhere: break;
    }
    MediaFeatures plain{.features = frames.features.flatten(0, 1)};
    if (frames.importance.defined()) plain.importance = frames.importance.flatten(0, 1);
    return plain;
  };
  MediaFeatures media = joined();
  media.origins = video_origins(count, config_.grid, config_.video);
  return media;
}

MediaFeatures LlavaOnevision::with_newlines(const EncodedParts& parts, std::int64_t every) const {
  const std::int64_t width = newline_.size(0);
  const at::Tensor rows = parts.features.reshape({-1, every, width});
  MediaFeatures media{.features = at::cat({rows, newline_.expand({rows.size(0), 1, width})}, 1).flatten(0, 1)};
  if (parts.importance.defined()) {
    const at::Tensor importance = parts.importance.reshape({-1, every});
    media.importance = at::cat({importance, at::zeros({importance.size(0), 1}, importance.options())}, 1).flatten();
  }
  return media;
}

}  // namespace

std::unique_ptr<VisionLanguageModel> load_llava_onevision(ModelLoad& load) {
  const LlavaOnevisionFolder folder = read_llava_onevision(load.package());
  const GridRules& grid = folder.model.grid;
  load.info.traits.reads_videos = !grid.drop_first_feature;  // "default" leaves no square of features to pool frames
  load.info.visual_tokens_per_frame = grid.drop_first_feature ? 0 : frame_tokens(grid, folder.model.video);
  load.info.picture_detail = onevision_detail(grid);
  if (folder.model.video.tells_times) load.info.time_instruction = kLlavaVideoTimes;
  WeightReader& weights = load.weights(llava_weight_name_rules());
  auto text = std::make_unique<TransformerDecoder>(folder.model.text, weights, "language_model.");
  const MediaPrompt prompt{family_template("llava_onevision"), folder.model.image_token_id, folder.model.video_token_id};
  return std::make_unique<VisionLanguageModel>(prompt, std::move(text), std::make_unique<LlavaOnevision>(folder, weights));
}

}  // namespace winnow
