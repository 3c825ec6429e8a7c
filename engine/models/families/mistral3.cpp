// Mistral Small 3.1 and 3.2 and Ministral 3 with vision: a Pixtral tower, a patch merger and a two-layer projector before a Mistral
// decoder.
//
// A picture keeps its proportions and becomes rows of cells; a row ends with [IMG_BREAK], the last one with [IMG_END], tokens of the medium
// with the text model's embeddings. Features follow transformers' Mistral3Model.get_image_features. The class has no video processor:
// videos are refused (ModelTraits::reads_videos). Errors: kDamagedFile naming the tensor, Interrupted.
#include <array>
#include <memory>
#include <string>

#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"
#include "engine/model_files/family_templates.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/families/mistral3_folder.h"
#include "engine/models/families/pixtral_tower.h"
#include "engine/models/family_rows.h"
#include "engine/models/model_load.h"
#include "engine/models/vision/medium_tokens.h"
#include "engine/models/vision/patch_grid.h"
#include "engine/models/vision/patch_processor.h"
#include "engine/models/vision_language_model.h"
#include "engine/text/tokenizer.h"

namespace winnow {
namespace {

// Names that transformers writes, and those of folders saved with its version 4.
constexpr std::array<WeightNameRule, 7> kMistral3Names = {{
    {"language_model.model.", "text.model."},
    {"language_model.lm_head.", "text.lm_head."},
    {"model.language_model.", "text.model."},
    {"lm_head.", "text.lm_head."},
    {"model.vision_tower.", "vision_tower."},
    {"multi_modal_projector.", "projector."},
    {"model.multi_modal_projector.", "projector."},
}};

WeightReader::Bias bias_of(const Mistral3Config& config) {
  return config.projector_bias ? WeightReader::Bias::kRequired : WeightReader::Bias::kNone;
}

PlainMlp read_merged_projector(const Mistral3Config& config, WeightReader& weights) {
  const std::int64_t hidden = config.text.hidden_size;
  return {weights.tower_linear("projector.linear_1", hidden, config.vision.hidden_size, bias_of(config)),
          weights.tower_linear("projector.linear_2", hidden, hidden, bias_of(config)), config.projector_activation};
}

// Ids of the tokens that end a picture's rows.
struct RowEnds {
  std::int64_t of_row = 0;
  std::int64_t of_picture = 0;
};

class Mistral3 final : public Sight {
 public:
  Mistral3(const Mistral3Folder& folder, const RowEnds& ends, WeightReader& weights);

  MediumTokens tokens_of(const MediaFacts& facts) const override;
  PixelValues pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;

 private:
  PixelSize size_in_tower(const MediaFacts& facts) const;
  CellGrid grid_of(const MediaFacts& facts) const;

  Mistral3Folder folder_;
  RowEnds ends_;
  PixtralTower tower_;
  RmsNorm norm_;
  Linear merger_;  // [vision hidden, merge^2 * vision hidden]: a channel's patches side by side
  PlainMlp projector_;
};

Mistral3::Mistral3(const Mistral3Folder& folder, const RowEnds& ends, WeightReader& weights)
    : folder_(folder),
      ends_(ends),
      tower_(folder.model.vision, folder.pixels.patches, weights, "vision_tower."),
      norm_(weights.rms_norm("projector.norm", folder.model.vision.hidden_size, folder.model.text.norm_eps)),
      merger_(weights.tower_linear("projector.patch_merger.merging_layer", folder.model.vision.hidden_size,
                                   folder.model.vision.hidden_size * folder.pixels.patches.cell_patches(), WeightReader::Bias::kNone)),
      projector_(read_merged_projector(folder.model, weights)) {}

PixelSize Mistral3::size_in_tower(const MediaFacts& facts) const {
  const std::int64_t cell_px = folder_.pixels.patches.cell_px();
  return pixtral_size(size_of(facts), longest_edge_for(facts.most_tokens, size_of(facts), folder_.longest_edge_px, cell_px), cell_px);
}

CellGrid Mistral3::grid_of(const MediaFacts& facts) const {
  const PixelSize size = size_in_tower(facts);
  return {size.height_px / folder_.pixels.patches.cell_px(), size.width_px / folder_.pixels.patches.cell_px()};
}

MediumTokens Mistral3::tokens_of(const MediaFacts& facts) const {
  const CellGrid grid = grid_of(facts);
  MediumTokens tokens;
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    tokens.add_row({row, grid.columns}, folder_.model.image_token_id);
    tokens.add_words(std::array{row + 1 < grid.rows ? ends_.of_row : ends_.of_picture}, 0);
  }
  return tokens;
}

PixelValues Mistral3::pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  const std::int64_t patch = folder_.pixels.patches.patch_px;
  const at::Tensor patches = patch_rows(pictures, size_in_tower(facts), folder_.pixels).view({-1, 3, patch, patch});
  return {patches, facts.picture.height_px, facts.picture.width_px};
}

EncodedParts Mistral3::encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                              const InterruptToken& interrupt) const {
  const CellGrid grid = grid_of(facts);
  const PatchFeatures patches = tower_.encode(pixels.pixels, grid, judge, interrupt);
  const std::int64_t unit = folder_.pixels.patches.cell_patches();
  // The order of torch's unfold(): a channel's patches side by side.
  const at::Tensor cells = norm_(patches.features).view({grid.cells(), unit, -1}).transpose(1, 2).reshape({grid.cells(), -1});
  EncodedParts parts{.features = projector_(merger_(cells)).unsqueeze(0)};
  if (patches.importance.defined()) parts.importance = patches.importance.view({1, grid.cells(), unit}).mean(2);
  return parts;
}

}  // namespace

std::unique_ptr<VisionLanguageModel> load_mistral3(ModelLoad& load) {
  const Mistral3Folder folder = read_mistral3(load.package());
  const std::shared_ptr<const Tokenizer> tokenizer = load.package().shared_tokenizer();
  const auto id_of = [&](const std::string& token) { return special_token_id(*tokenizer, token, "a Mistral 3", load.package().path()); };
  id_of(folder.image_token);  // is there, and special
  load.require_token("image_token_index", folder.image_token, folder.model.image_token_id);
  const RowEnds ends{id_of(folder.break_token), id_of(folder.end_token)};
  load.info.traits.reads_videos = false;
  load.info.picture_detail = kCellsOfPictures;
  WeightReader& weights = load.weights(kMistral3Names);
  auto text = std::make_unique<TransformerDecoder>(folder.model.text, weights, "text.");
  const MediaPrompt prompt{family_template("mistral3"), folder.model.image_token_id};
  return std::make_unique<VisionLanguageModel>(prompt, std::move(text), std::make_unique<Mistral3>(folder, ends, weights));
}

}  // namespace winnow
