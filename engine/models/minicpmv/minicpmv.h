// MiniCPM-V 4.6 and 4.7: pictures in their own proportions, large ones with slices of them, before Qwen3.5's decoder. Positions are along
// one axis; in 4.7 pictures lie on canvases of three (canvas_positions.h).
//
// Made by registry.h, used as VisionLanguageModel. A picture's or frame's tokens, marks included, are tokens of the medium
// (media_tokens.h), the marks with the text model's embeddings. Before an image stands its number in the thread; frames have none, and are
// cut only under a detail (minicpmv_folder.h). Follows transformers 5.24's MiniCPMV4_6ForConditionalGeneration and MiniCPMV4_7's. A second
// head for guessing several tokens (mtp) is left unread. Threads: engine thread; methods need c10::InferenceMode. Errors: kDamagedFile
// naming the tensor, Interrupted.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/models/minicpmv/chat_template.h"
#include "engine/models/minicpmv/media_tokens.h"
#include "engine/models/minicpmv/minicpmv_folder.h"
#include "engine/models/minicpmv/minicpmv_tower.h"
#include "engine/models/model_load.h"
#include "engine/models/transformer_decoder.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

class MiniCpmV final : public VisionLanguageModel {
 public:
  MiniCpmV(const MiniCpmVFolder& folder, MiniCpmVTokens tokens, WeightReader& weights);

  const TextDecoder& text() const override { return text_; }
  std::string_view chat_template() const override { return kMiniCpmVTemplate; }
  TextAround text_around(const PictureSize& image, std::int64_t images_before) const override;
  std::int64_t image_token_id() const override { return tokens_.ids().image; }
  std::int64_t video_token_id() const override { return tokens_.ids().video; }
  TokenPositions positions_for(const TokensToPlace& tokens) const override;
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override;
  std::vector<TokenOrigin> origins_of(const MediaFacts& facts) const override { return tokens_of(facts).origins; }
  PixelValues preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts) const override;

 private:
  const MiniCpmVPixels& pixels_of(const MediaFacts& facts) const { return facts.kind == MediaKind::kVideo ? frame_ : image_; }
  SliceRules rules(const MediaFacts& facts) const { return tokens_.of_at_most(facts.most_tokens, size_of(facts), pixels_of(facts).slices); }
  MediumTokens tokens_of(const MediaFacts& facts) const;

  MiniCpmVTokens tokens_;
  MiniCpmVPixels image_;
  MiniCpmVPixels frame_;
  bool numbers_images_;
  std::optional<std::int64_t> canvas_line_id_;  // 4.7: MiniCpmVConfig::marks
  TransformerDecoder text_;
  MiniCpmVTower tower_;
};

std::unique_ptr<VisionLanguageModel> load_minicpmv(ModelLoad& load);

}  // namespace winnow
