#include "engine/models/gemma3/gemma3.h"

#include <array>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/gemma3/image_processor.h"
#include "engine/models/medium_features.h"
#include "engine/models/picture_spans.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_file.h"

namespace winnow {
namespace {

// Names that transformers writes, and those of folders saved with its version 4.
constexpr std::array<WeightNameRule, 8> kGemma3Names = {{
    {"language_model.model.", "text.model."},
    {"language_model.lm_head.", "text.lm_head."},
    {"model.language_model.", "text.model."},
    {"lm_head.", "text.lm_head."},
    {"vision_tower.vision_model.", "tower."},
    {"model.vision_tower.vision_model.", "tower."},
    {"multi_modal_projector.", "projector."},
    {"model.multi_modal_projector.", "projector."},
}};

}  // namespace

Gemma3::Gemma3(const Gemma3Folder& folder, Gemma3Tokens tokens, WeightReader& weights)
    : tokens_(std::move(tokens)),
      pixels_(folder.pixels),
      patches_per_side_(folder.model.vision.patches_per_side),
      pooled_(folder.model.pooled()),
      text_(folder.model.text, weights, "text."),
      tower_(folder.model.vision, {folder.model.vision.layers}, weights, "tower."),
      tower_norm_(weights.layer_norm("tower.post_layernorm", folder.model.vision.hidden_size, folder.model.vision.layer_norm_eps)),
      soft_norm_(
          weights.centred_rms_norm("projector.mm_soft_emb_norm", folder.model.vision.hidden_size, folder.model.vision.layer_norm_eps)),
      projection_(
          weights.tensor("projector.mm_input_projection_weight", {folder.model.vision.hidden_size, folder.model.text.hidden_size})) {}

std::vector<RowSpan> Gemma3::bidirectional_spans(std::span<const TokenOrigin> origins) const { return spans_of_pictures(origins); }

TokenPositions Gemma3::positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const {
  return one_axis_stream_positions(origins, stream, std::ssize(tokens_.image({}).ids));
}

PixelValues Gemma3::preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  require(facts.kind == MediaKind::kImage && pictures.size() == 1, "preprocess: an image is one picture");
  return gemma3_squares(pictures.front(), pixels_);
}

at::Tensor Gemma3::pooled(const at::Tensor& of_patches) const {
  const at::Tensor maps = of_patches.transpose(1, 2).reshape({of_patches.size(0), -1, patches_per_side_, patches_per_side_}).contiguous();
  return at::avg_pool2d(maps, {pooled_, pooled_}, {pooled_, pooled_}).flatten(2).transpose(1, 2);
}

EncodedParts Gemma3::encode(const MediaFacts&, const PixelValues& pixels, std::optional<VisionJudge> judge,
                            const InterruptToken& interrupt) const {
  const TowerFeatures tower = tower_.encode(pixels.pixels, judge, interrupt);
  EncodedParts parts;
  parts.features = at::matmul(soft_norm_(pooled(tower_norm_(tower.features)).contiguous()), projection_);
  if (judge) parts.importance = pooled(tower.importance.unsqueeze(2)).squeeze(2).contiguous();
  return parts;
}

MediaFeatures Gemma3::join(const MediaFacts& facts, const EncodedParts& parts) const {
  return features_among_words(tokens_.image(crops(facts.picture)), parts, text_);
}

std::unique_ptr<VisionLanguageModel> load_gemma3_vision(ModelLoad& load) {
  const Gemma3Folder folder = read_gemma3(load.package());
  Gemma3Tokens tokens(load.package().shared_tokenizer(), folder.model.side, load.package().path());
  load.require_token("image_token_index", "<image_soft_token>", folder.model.image_token_id);
  load.info.traits.reads_videos = false;
  return std::make_unique<Gemma3>(folder, std::move(tokens), load.weights(kGemma3Names));
}

}  // namespace winnow
