// Mistral Small 3.1 and 3.2 and Ministral 3 with vision: a Pixtral tower, a patch merger and a two-layer projector before a Mistral
// decoder.
//
// Made by registry.h, used as VisionLanguageModel. A picture keeps its proportions and becomes rows of cells; a row ends with [IMG_BREAK],
// the last one with [IMG_END], tokens of the medium with the text model's embeddings. Features follow transformers'
// Mistral3Model.get_image_features. The class has no video processor: videos are refused (ModelTraits::reads_videos). Threads: engine
// thread; methods need c10::InferenceMode. Errors: kDamagedFile naming the tensor, Interrupted.
#pragma once

#include <memory>

#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"
#include "engine/models/medium_tokens.h"
#include "engine/models/mistral3/chat_template.h"
#include "engine/models/mistral3/mistral3_config.h"
#include "engine/models/mistral3/pixtral_tower.h"
#include "engine/models/model_load.h"
#include "engine/models/transformer_decoder.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

// Ids of the tokens that end a picture's rows.
struct RowEnds {
  std::int64_t of_row = 0;
  std::int64_t of_picture = 0;
};

class Mistral3 final : public VisionLanguageModel {
 public:
  Mistral3(const Mistral3Folder& folder, const RowEnds& ends, WeightReader& weights);

  const TextDecoder& text() const override { return text_; }
  std::string_view chat_template() const override { return kMistral3Template; }
  std::int64_t image_token_id() const override { return folder_.model.image_token_id; }
  std::int64_t video_token_id() const override { return kVideoPlaceholder; }
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override {
    return one_axis_stream_positions(origins, stream, std::ssize(origins));
  }
  std::vector<TokenOrigin> origins_of(const MediaFacts& facts) const override { return tokens_of(facts).origins; }
  PixelValues preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts) const override;

 private:
  PixelSize size_in_tower(const MediaFacts& facts) const;
  CellGrid grid_of(const MediaFacts& facts) const;
  MediumTokens tokens_of(const MediaFacts& facts) const;

  Mistral3Folder folder_;
  RowEnds ends_;
  TransformerDecoder text_;
  PixtralTower tower_;
  RmsNorm norm_;
  Linear merger_;  // [vision hidden, merge^2 * vision hidden]: a channel's patches side by side
  PlainMlp projector_;
};

std::unique_ptr<VisionLanguageModel> load_mistral3(ModelLoad& load);

}  // namespace winnow
