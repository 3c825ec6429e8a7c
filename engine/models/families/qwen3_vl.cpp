// Qwen3-VL and Qwen3-VL-MoE: a tower for pictures of native resolution with deepstack, and a Qwen3 decoder with M-RoPE (time, height,
// width); the second is a mixture of experts. Also what Qwen3.5 and GLM-4V do with media (qwen3_5_config.h, glm4v_config.h), whose towers
// have no deepstack.
//
// A vision token's row holds the last layer's features, followed by deepstack features of earlier tower layers, which the decoder adds
// after its first layers (DecoderConfig::deepstack_layers). Caching, pruning and reading in clips therefore handle both alike. An image is
// its cells; a video is pictures of joined frames, each with its time (qwen3_vl_config.h). Follows transformers 5.2's defaults, including
// its torchvision processors. The size of frames depends on their number; for a running source on that of one batch. Errors: kDamagedFile
// naming the tensor, Interrupted.
#include <algorithm>
#include <memory>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/families/glm4v_config.h"
#include "engine/models/families/qwen3_5_config.h"
#include "engine/models/families/qwen3_vl_config.h"
#include "engine/models/family_rows.h"
#include "engine/models/model_load.h"
#include "engine/models/vision/patch_grid.h"
#include "engine/models/vision/patch_processor.h"
#include "engine/models/vision/qwen_vision_config.h"
#include "engine/models/vision/qwen_vl_tower.h"
#include "engine/models/vision/time_positions.h"
#include "engine/models/vision_language_model.h"

namespace winnow {
namespace {

void require_token(const ModelLoad& load, const Tokenizer& tokenizer, const char* text, std::int64_t id) {
  if (tokenizer.token_id(text) == id) return;
  throw Exception(ErrorCode::kDamagedFile, load.package().subject(ModelPart::kConfig),
                  std::string("the tokenizer's ") + text + " is not token " + std::to_string(id));
}

// Frames that a source without an end is taken to have, where their number decides how large they are.
constexpr std::int64_t kFramesOfEndless = 8;

// The size of frames depends on this count, so that a part of a plan's frames has the tokens that all of them would give it.
std::int64_t counted_frames(const MediaFacts& facts) {
  const bool endless = facts.kind == MediaKind::kVideo && facts.duration_s == 0.0;
  return endless ? kFramesOfEndless : std::max(facts.frames, facts.planned_frames);
}

class Qwen3Vl final : public Sight {
 public:
  Qwen3Vl(const Qwen3VlFolder& folder, TimedFrames tokens, WeightReader& weights);

  MediumTokens tokens_of(const MediaFacts& facts) const override;
  PixelValues pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  TextAround text_around(const VideoTimes& video) const override { return {tokens_.before(video), ""}; }
  TokenPositions positions_for(const TokensToPlace& tokens) const override {
    return three_axis_positions(tokens.origins, tokens.next_position, tokens.frame_s,
                                {.joined_frames = joined_frames(), .sets_apart = true});
  }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override {
    return apart_stream_positions(origins, stream, joined_frames(), tokens_.words());
  }

 private:
  std::int64_t joined_frames() const { return config_.vision.patches.joined_frames; }
  PatchProcessorConfig processor(const MediaFacts& facts) const;
  PixelSize target_size(const MediaFacts& facts) const;
  CellGrid grid(const MediaFacts& facts) const;

  Qwen3VlConfig config_;
  QwenVlProcessors processors_;
  TimedFrames tokens_;
  QwenVlTower tower_;
};

Qwen3Vl::Qwen3Vl(const Qwen3VlFolder& folder, TimedFrames tokens, WeightReader& weights)
    : config_(folder.model), processors_(folder.processors), tokens_(std::move(tokens)), tower_(config_.vision, weights, "visual.") {}

PatchProcessorConfig Qwen3Vl::processor(const MediaFacts& facts) const {
  return of_at_most(facts.most_tokens, facts.kind == MediaKind::kVideo ? processors_.video : processors_.image, counted_frames(facts));
}

PixelSize Qwen3Vl::target_size(const MediaFacts& facts) const {
  return smart_resize({facts.picture.height_px, facts.picture.width_px}, processor(facts), counted_frames(facts));
}

CellGrid Qwen3Vl::grid(const MediaFacts& facts) const {
  const PixelSize size = target_size(facts);
  const std::int64_t cell_px = config_.vision.patches.cell_px();
  return {size.height_px / cell_px, size.width_px / cell_px};
}

MediumTokens Qwen3Vl::tokens_of(const MediaFacts& facts) const {
  return facts.kind == MediaKind::kVideo ? tokens_.frames(grid(facts), facts) : tokens_.image(grid(facts));
}

PixelValues Qwen3Vl::pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  return patch_values(pictures, target_size(facts), processor(facts), facts.picture);
}

EncodedParts Qwen3Vl::encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                             const InterruptToken& interrupt) const {
  CellFeatures cells = tower_.encode(pixels, grid(facts), judge, interrupt);
  return {std::move(cells.features), std::move(cells.importance)};
}

// The model of a folder that has been read.
std::unique_ptr<VisionLanguageModel> load_qwen3_vl_of(ModelLoad& load, const Qwen3VlFolder& folder) {
  std::shared_ptr<const Tokenizer> tokenizer = load.package().shared_tokenizer();
  const Qwen3VlTokens& tokens = folder.model.tokens;
  require_token(load, *tokenizer, folder.texts.image, tokens.image);
  require_token(load, *tokenizer, folder.texts.video, tokens.video);
  require_token(load, *tokenizer, folder.texts.vision_start, tokens.vision_start);
  require_token(load, *tokenizer, folder.texts.vision_end, tokens.vision_end);
  const std::int64_t joined = folder.model.vision.patches.joined_frames;
  load.info.traits.joined_frames = joined;
  load.info.traits.encodes_parts = !folder.model.vision.downsample;  // GLM-4V's parts were compared with nothing
  offer_cells(load.info, folder.model.vision.patches);
  // Bounds of pixels that count a picture for a set are no bound of the picture's own.
  if (folder.processors.image.counted == CountedPixels::kOfSets) load.info.picture_detail.token_px = load.info.frame_detail.token_px = 0;
  TimedFrames frames(std::move(tokenizer), tokens, joined, folder.times);
  MediaPrompt prompt{folder.chat_template, tokens.image};
  prompt.video_texts = frames.texts();
  WeightReader& weights = load.weights(qwen_vl_weight_name_rules());
  auto text = std::make_unique<TransformerDecoder>(folder.model.text, weights, "");
  auto sight = std::make_unique<Qwen3Vl>(folder, std::move(frames), weights);
  return std::make_unique<VisionLanguageModel>(std::move(prompt), std::move(text), std::move(sight));
}

}  // namespace

std::unique_ptr<VisionLanguageModel> load_qwen3_vl(ModelLoad& load) { return load_qwen3_vl_of(load, read_qwen3_vl(load.package())); }

std::unique_ptr<VisionLanguageModel> load_qwen3_5(ModelLoad& load) { return load_qwen3_vl_of(load, read_qwen3_5(load.package())); }

std::unique_ptr<VisionLanguageModel> load_glm4v(ModelLoad& load) { return load_qwen3_vl_of(load, read_glm4v(load.package())); }

}  // namespace winnow
