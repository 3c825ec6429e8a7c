// Gemma 3 with vision: a SigLIP tower, pooled patches and a linear projector before a Gemma 3 decoder with bidirectional attention within
// a picture.
//
// Features follow transformers' Gemma3Model.get_image_features: the tower's last state after its norm, the mean of a token's patches, a
// centred RMS norm, the projection. In every layer, sliding-window layers included, a picture's tokens attend to all of that picture
// (bidirectional_spans(), transformers' token_type_ids_mask_function). `<start_of_image>` and its like are tokens of the medium, with the
// text model's embeddings, which alone are scaled (gemma3_folder.h). The class has no video processor: videos are refused
// (ModelTraits::reads_videos). Errors: kDamagedFile naming the tensor, Interrupted.
#include <ATen/ATen.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/layers/norm.h"
#include "engine/model_files/family_templates.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/families/gemma3_folder.h"
#include "engine/models/families/gemma3_pixels.h"
#include "engine/models/family_rows.h"
#include "engine/models/model_load.h"
#include "engine/models/vision/picture_spans.h"
#include "engine/models/vision/vit_tower.h"
#include "engine/models/vision_language_model.h"
#include "engine/text/tokenizer.h"

namespace winnow {
namespace {

// Names that transformers writes, and those of folders saved with its version 4.
constexpr std::array<WeightNameRule, 10> kGemma3Names = {{
    {"language_model.model.", "text.model."},
    {"language_model.lm_head.", "text.lm_head."},
    {"model.language_model.", "text.model."},
    {"lm_head.", "text.lm_head."},
    {"vision_tower.vision_model.", "tower."},
    {"model.vision_tower.vision_model.", "tower."},
    {"vision_tower.", "tower."},  // models that transformers 5.24 made and did not load
    {"model.vision_tower.", "tower."},
    {"multi_modal_projector.", "projector."},
    {"model.multi_modal_projector.", "projector."},
}};

class Gemma3 final : public Sight {
 public:
  Gemma3(const Gemma3Folder& folder, Gemma3Tokens tokens, WeightReader& weights);

  MediumTokens tokens_of(const MediaFacts& facts) const override { return tokens_.image(crops(facts.picture)); }
  PixelValues pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  TextAround text_around(const PictureSize& image, std::int64_t) const override { return tokens_.around(crops(image)); }
  std::vector<RowSpan> bidirectional_spans(std::span<const TokenOrigin> origins) const override { return spans_of_pictures(origins); }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override {
    return one_axis_stream_positions(origins, stream, std::ssize(tokens_.image({}).ids));
  }

 private:
  CropGrid crops(const PictureSize& image) const { return crops_of({image.height_px, image.width_px}, pixels_.crops); }
  // The mean of each token's patches: [pictures, patches, channels] -> [pictures, tokens, channels].
  at::Tensor pooled(const at::Tensor& of_patches) const;

  Gemma3Tokens tokens_;
  Gemma3Pixels pixels_;
  std::int64_t patches_per_side_;
  std::int64_t pooled_;  // patches along a token's side
  VitTower tower_;
  LayerNorm tower_norm_;
  RmsNorm soft_norm_;
  at::Tensor projection_;  // [vision hidden, hidden]
};

Gemma3::Gemma3(const Gemma3Folder& folder, Gemma3Tokens tokens, WeightReader& weights)
    : tokens_(std::move(tokens)),
      pixels_(folder.pixels),
      patches_per_side_(folder.model.vision.patches_per_side),
      pooled_(folder.model.pooled()),
      tower_(folder.model.vision, {folder.model.vision.layers}, weights, "tower."),
      tower_norm_(weights.layer_norm("tower.post_layernorm", folder.model.vision.hidden_size, folder.model.vision.layer_norm_eps)),
      soft_norm_(
          weights.centred_rms_norm("projector.mm_soft_emb_norm", folder.model.vision.hidden_size, folder.model.vision.layer_norm_eps)),
      projection_(
          weights.tensor("projector.mm_input_projection_weight", {folder.model.vision.hidden_size, folder.model.text.hidden_size})) {}

PixelValues Gemma3::pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  return gemma3_squares(pictures.front(), pixels_);
}

at::Tensor Gemma3::pooled(const at::Tensor& of_patches) const {
  const at::Tensor maps = of_patches.transpose(1, 2).reshape({of_patches.size(0), -1, patches_per_side_, patches_per_side_}).contiguous();
  return at::avg_pool2d(maps, {pooled_, pooled_}, {pooled_, pooled_}).flatten(2).transpose(1, 2);
}

EncodedParts Gemma3::encode(const MediaFacts&, const PixelValues& pixels, std::optional<VisionJudge> judge,
                            const InterruptToken& interrupt) const {
  const TowerFeatures tower = tower_.encode(pixels.pixels, judge, interrupt);
  EncodedParts parts{.features = at::matmul(soft_norm_(pooled(tower_norm_(tower.features)).contiguous()), projection_)};
  if (judge) parts.importance = pooled(tower.importance.unsqueeze(2)).squeeze(2).contiguous();
  return parts;
}

}  // namespace

std::unique_ptr<VisionLanguageModel> load_gemma3_vision(ModelLoad& load) {
  const Gemma3Folder folder = read_gemma3(load.package());
  Gemma3Tokens tokens(load.package().shared_tokenizer(), folder.model.side, load.package().path());
  load.require_token("image_token_index", "<image_soft_token>", folder.model.image_token_id);
  load.info.traits.reads_videos = false;
  WeightReader& weights = load.weights(kGemma3Names);
  auto text = std::make_unique<TransformerDecoder>(folder.model.text, weights, "text.");
  const MediaPrompt prompt{family_template("gemma3"), tokens.begin_token_id()};
  return std::make_unique<VisionLanguageModel>(prompt, std::move(text), std::make_unique<Gemma3>(folder, std::move(tokens), weights));
}

}  // namespace winnow
