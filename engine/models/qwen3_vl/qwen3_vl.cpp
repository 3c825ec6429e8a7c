#include "engine/models/qwen3_vl/qwen3_vl.h"

#include <utility>

#include "engine/base/error.h"
#include "engine/models/medium_features.h"
#include "engine/models/qwen_vl_parts/cell_detail.h"
#include "engine/models/qwen_vl_parts/patch_processor.h"
#include "engine/models/qwen_vl_parts/qwen_vl_weight_names.h"
#include "engine/text/tokenizer_file.h"

namespace winnow {
namespace {

void require_token(const ModelLoad& load, const Tokenizer& tokenizer, const char* text, std::int64_t id) {
  if (tokenizer.token_id(text) == id) return;
  throw Exception(ErrorCode::kDamagedFile, load.package().subject(ModelPart::kConfig),
                  std::string("the tokenizer's ") + text + " is not token " + std::to_string(id));
}

// The size of frames depends on this count.
std::int64_t counted_frames(const MediaFacts& facts) {
  const bool endless = facts.kind == MediaKind::kVideo && facts.duration_s == 0.0;
  return endless ? Qwen3Vl::kFramesOfEndless : facts.frames;
}

}  // namespace

Qwen3Vl::Qwen3Vl(const Qwen3VlFolder& folder, TimedFrames tokens, WeightReader& weights)
    : chat_template_(folder.chat_template),
      config_(folder.model),
      processors_(folder.processors),
      tokens_(std::move(tokens)),
      text_(config_.text, weights, ""),
      tower_(config_.vision, weights, "visual.") {}

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

PixelValues Qwen3Vl::preprocess(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  require(facts.kind == MediaKind::kVideo || pictures.size() == 1, "preprocess: an image is one picture");
  return {patch_rows(pictures, target_size(facts), processor(facts)), facts.picture.height_px, facts.picture.width_px};
}

EncodedParts Qwen3Vl::encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                             const InterruptToken& interrupt) const {
  CellFeatures cells = tower_.encode(pixels.pixels, grid(facts), judge, interrupt);
  return {std::move(cells.features), std::move(cells.importance)};
}

MediaFeatures Qwen3Vl::join(const MediaFacts& facts, const EncodedParts& parts) const {
  return features_among_words(tokens_of(facts), parts, text_);
}

std::unique_ptr<VisionLanguageModel> load_qwen3_vl(ModelLoad& load) { return load_qwen3_vl_of(load, read_qwen3_vl(load.package())); }

std::unique_ptr<VisionLanguageModel> load_qwen3_vl_of(ModelLoad& load, const Qwen3VlFolder& folder) {
  std::shared_ptr<const Tokenizer> tokenizer = load.package().shared_tokenizer();
  const Qwen3VlTokens& tokens = folder.model.tokens;
  require_token(load, *tokenizer, folder.texts.image, tokens.image);
  require_token(load, *tokenizer, folder.texts.video, tokens.video);
  require_token(load, *tokenizer, folder.texts.vision_start, tokens.vision_start);
  require_token(load, *tokenizer, folder.texts.vision_end, tokens.vision_end);
  const std::int64_t joined = folder.model.vision.patches.joined_frames;
  load.info.traits.joined_frames = joined;
  offer_cells(load.info, folder.model.vision.patches);
  // Bounds of pixels that count a picture for a set are no bound of the picture's own.
  if (folder.processors.image.counted == CountedPixels::kOfSets) load.info.picture_detail.token_px = load.info.frame_detail.token_px = 0;
  TimedFrames frames(std::move(tokenizer), tokens, joined, folder.times);
  return std::make_unique<Qwen3Vl>(folder, std::move(frames), load.weights(qwen_vl_weight_name_rules()));
}

}  // namespace winnow
