#include "engine/models/llava_onevision/llava_onevision.h"

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr const char* kFamily = "llava_onevision";

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
      newline_(weights.tensor("image_newline", {config_.text.hidden_size})) {
  info_.family = kFamily;
  info_.device = weights.device().is_cuda() ? "cuda" : "cpu";
  info_.dtype = weights.plan_name();
  info_.layers = config_.text.layers;
  info_.heads = config_.text.heads;
  info_.kv_heads = config_.text.kv_heads;
  info_.head_dim = config_.text.head_dim;
  info_.context_tokens = config_.text.max_positions;
  info_.visual_tokens_per_frame = config_.grid.drop_first_feature ? 0 : frame_tokens(config_.grid);
  info_.parameter_count = weights.parameter_count();
  info_.weight_bytes = weights.weight_bytes();
  const KvShape shape = text_.kv_shape();
  info_.kv_bytes_per_token = shape.layers * shape.kv_heads * shape.slot_bytes();
  info_.time_instruction = folder.sidecar.time_instruction;
  info_.video_frames = folder.sidecar.video_frames;
  info_.measured = folder.sidecar.measured_options();
}

PixelValues LlavaOnevision::preprocess_image(const RgbImage& image, ImageTiling tiling) const { return processor_.image(image, tiling); }

PixelValues LlavaOnevision::preprocess_frames(std::span<const RgbImage> frames) const { return processor_.frames(frames); }

std::vector<TokenOrigin> LlavaOnevision::image_origins(std::int64_t height_px, std::int64_t width_px, ImageTiling tiling) const {
  return tiling == ImageTiling::kSingle ? single_image_origins(config_.grid) : anyres_image_origins({height_px, width_px}, config_.grid);
}

std::vector<TokenOrigin> LlavaOnevision::video_origins(std::int64_t frames) const { return winnow::video_origins(frames, config_.grid); }

FrameFeatures LlavaOnevision::project(const at::Tensor& pixels, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const {
  TowerFeatures tower = tower_.encode(pixels, judge, interrupt);
  if (config_.select_strategy == FeatureSelectStrategy::kDefault) {
    tower.features = tower.features.narrow(1, 1, tower.features.size(1) - 1);
    if (judge) tower.importance = tower.importance.narrow(1, 1, tower.importance.size(1) - 1);
  }
  return {projector_(tower.features), judge ? tower.importance.unsqueeze(2) : at::Tensor()};
}

MediaFeatures LlavaOnevision::encode_image(const PixelValues& image, std::optional<VisionJudge> judge,
                                           const InterruptToken& interrupt) const {
  const PixelSize source = {image.source_height_px, image.source_width_px};
  const FrameFeatures tiles = project(image.pixels, judge, interrupt);
  const bool single = image.pixels.size(0) == 1;  // anyres always has a tile beside the base
  PackedGrid grid;
  if (!single) {
    grid = packed_grid(source, config_.grid);
    require(image.pixels.size(0) == 1 + grid.tile_rows * grid.tile_columns, "the image's tiles do not fit its size");
  }
  const auto pack = [&](const at::Tensor& all, const at::Tensor& newline) {
    const at::Tensor rest = single ? newline.unsqueeze(0) : pack_tiles(all.narrow(0, 1, all.size(0) - 1), newline, grid);
    return at::cat({all.select(0, 0), rest}, 0);
  };
  MediaFeatures media;
  media.features = pack(tiles.features, newline_);
  if (judge) media.importance = pack(tiles.importance, at::zeros({1}, tiles.importance.options())).squeeze(1);
  media.origins = single ? single_image_origins(config_.grid) : anyres_image_origins(source, config_.grid);
  require(media.features.size(0) == static_cast<std::int64_t>(media.origins.size()),
          "an image's tokens and their origins differ in number");
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

FrameFeatures LlavaOnevision::encode_frames(const PixelValues& frames, std::optional<VisionJudge> judge,
                                            const InterruptToken& interrupt) const {
  const std::int64_t per_frame = frame_tokens(config_.grid);  // refuses what cannot be pooled before the tower runs
  const FrameFeatures patches = project(frames.pixels, judge, interrupt);
  FrameFeatures pooled;
  pooled.features = pool_frames(patches.features);
  require(pooled.features.size(1) == per_frame, "a frame's tokens differ in number from what was announced");
  if (judge) pooled.importance = pool_frames(patches.importance).squeeze(2);
  return pooled;
}

MediaFeatures LlavaOnevision::join_frames(const FrameFeatures& frames) const {
  MediaFeatures media;
  media.features = at::cat({frames.features.flatten(0, 1), newline_.unsqueeze(0)}, 0);
  if (frames.importance.defined()) {
    media.importance = at::cat({frames.importance.flatten(0, 1), at::zeros({1}, frames.importance.options())}, 0);
  }
  media.origins = winnow::video_origins(frames.features.size(0), config_.grid);
  require(media.features.size(0) == static_cast<std::int64_t>(media.origins.size()), "a video's tokens and their origins differ in number");
  return media;
}

std::unique_ptr<VisionLanguageModel> load_llava_onevision(const ModelSource& source) {
  const LlavaOnevisionFolder folder = read_llava_onevision(*source.package);
  ModelWeights weights(source.package->tensors(), llava_weight_name_rules());
  weights.set_interrupt(source.interrupt);
  weights.set_progress(source.progress);
  WeightReader reader(weights, source.plan, source.device);
  auto model = std::make_unique<LlavaOnevision>(folder, reader);
  model->info_.folder = source.package->path();
  model->info_.device_note = source.device_note;
  model->info_.name = source.package->name();
  return model;
}

}  // namespace winnow
