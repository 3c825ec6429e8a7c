#include "engine/models/qwen2_vl/qwen2_vl.h"

#include "engine/base/error.h"
#include "engine/models/qwen_vl_parts/cell_detail.h"
#include "engine/models/qwen_vl_parts/patch_processor.h"
#include "engine/models/qwen_vl_parts/qwen_vl_weight_names.h"

namespace winnow {

Qwen2Vl::Qwen2Vl(const Qwen2VlFolder& folder, WeightReader& weights)
    : config_(folder.model), processors_(folder.processors), text_(config_.text, weights, ""), tower_(config_.vision, weights, "visual.") {}

PatchProcessorConfig Qwen2Vl::processor(const MediaFacts& facts) const {
  return of_at_most(facts.most_tokens, facts.kind == MediaKind::kVideo ? processors_.video : processors_.image);
}

std::vector<TokenOrigin> Qwen2Vl::origins_of(const MediaFacts& facts) const {
  const std::int64_t frames = facts.kind == MediaKind::kVideo ? facts.frames : 1;
  return cell_origins(cell_grid(size_of(facts), processor(facts)), frames, config_.vision.patches.joined_frames);
}

PixelValues Qwen2Vl::preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  require(facts.kind == MediaKind::kVideo || pictures.size() == 1, "preprocess: an image is one picture");
  const PixelSize target = smart_resize(size_of(facts), processor(facts));
  return {patch_rows(pictures, target, processor(facts)), facts.picture.height_px, facts.picture.width_px};
}

EncodedParts Qwen2Vl::encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                             const InterruptToken& interrupt) const {
  CellFeatures cells = tower_.encode(pixels.pixels, cell_grid(size_of(facts), processor(facts)), judge, interrupt);
  return {std::move(cells.features), std::move(cells.importance)};
}

MediaFeatures Qwen2Vl::join(const MediaFacts& facts, const EncodedParts& parts) const {
  MediaFeatures media;
  media.features = parts.features.flatten(0, 1);
  if (parts.importance.defined()) media.importance = parts.importance.flatten();
  media.origins = origins_of(facts);
  require(media.features.size(0) == std::ssize(media.origins), "a medium's tokens and their origins differ in number");
  return media;
}

std::unique_ptr<VisionLanguageModel> load_qwen2_vl(ModelLoad& load) {
  const Qwen2VlFolder folder = read_qwen2_vl(load.package());
  load.info.traits.joined_frames = folder.model.vision.patches.joined_frames;
  offer_cells(load.info, folder.model.vision.patches);
  return std::make_unique<Qwen2Vl>(folder, load.weights(qwen_vl_weight_name_rules()));
}

}  // namespace winnow
