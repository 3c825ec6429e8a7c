// Qwen2-VL and Qwen2.5-VL: a tower for pictures of native resolution, a Qwen2 decoder with M-RoPE (time, height, width).
//
// A medium is its cells and nothing around them (the template writes where it begins and ends): an image is joined with itself, frames of a
// video two by two, the last of an odd number twice. What transformers 5.2 computes by default is followed, its torchvision processors for
// images and videos included; positions say time_positions.h. Errors: kDamagedFile naming the tensor, Interrupted.
#include <memory>

#include "engine/model_files/family_templates.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/families/qwen2_vl_config.h"
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

class Qwen2Vl final : public Sight {
 public:
  Qwen2Vl(const Qwen2VlFolder& folder, WeightReader& weights);

  MediumTokens tokens_of(const MediaFacts& facts) const override;
  PixelValues pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  TokenPositions positions_for(const TokensToPlace& tokens) const override {
    return three_axis_positions(tokens.origins, tokens.next_position, tokens.frame_s, time_scale());
  }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override {
    return three_axis_stream_positions(origins, stream, time_scale());
  }

 private:
  PatchProcessorConfig processor(const MediaFacts& facts) const;
  TimeScale time_scale() const { return {config_.vision.patches.joined_frames, config_.positions_a_second}; }

  Qwen2VlConfig config_;
  QwenVlProcessors processors_;
  QwenVlTower tower_;
};

Qwen2Vl::Qwen2Vl(const Qwen2VlFolder& folder, WeightReader& weights)
    : config_(folder.model), processors_(folder.processors), tower_(config_.vision, weights, "visual.") {}

PatchProcessorConfig Qwen2Vl::processor(const MediaFacts& facts) const {
  return of_at_most(facts.most_tokens, facts.kind == MediaKind::kVideo ? processors_.video : processors_.image);
}

MediumTokens Qwen2Vl::tokens_of(const MediaFacts& facts) const {
  const std::int64_t frames = facts.kind == MediaKind::kVideo ? facts.frames : 1;
  return {cell_origins(cell_grid(size_of(facts), processor(facts)), frames, config_.vision.patches.joined_frames), {}};
}

PixelValues Qwen2Vl::pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  const PixelSize target = smart_resize(size_of(facts), processor(facts));
  return patch_values(pictures, target, processor(facts), facts.picture);
}

EncodedParts Qwen2Vl::encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                             const InterruptToken& interrupt) const {
  CellFeatures cells = tower_.encode(pixels, cell_grid(size_of(facts), processor(facts)), judge, interrupt);
  return {std::move(cells.features), std::move(cells.importance)};
}

}  // namespace

std::unique_ptr<VisionLanguageModel> load_qwen2_vl(ModelLoad& load) {
  const Qwen2VlFolder folder = read_qwen2_vl(load.package());
  load.info.traits.joined_frames = folder.model.vision.patches.joined_frames;
  load.info.traits.encodes_parts = !folder.model.vision.windows;
  offer_cells(load.info, folder.model.vision.patches);
  WeightReader& weights = load.weights(qwen_vl_weight_name_rules());
  auto text = std::make_unique<TransformerDecoder>(folder.model.text, weights, "");
  const MediaPrompt prompt{family_template("qwen2_vl"), folder.model.image_token_id, folder.model.video_token_id};
  return std::make_unique<VisionLanguageModel>(prompt, std::move(text), std::make_unique<Qwen2Vl>(folder, weights));
}

}  // namespace winnow
