// MiniCPM-V 4.6 and 4.7: pictures in their own proportions, large ones with slices of them, before Qwen3.5's decoder. Positions are along
// one axis; in 4.7 pictures lie on canvases of three (canvas_positions.h).
//
// A picture's or frame's tokens, marks included, are tokens of the medium (minicpmv_folder.h), the marks with the text model's embeddings.
// Before an image stands its number in the thread; frames have none, and are cut only under a detail (minicpmv_folder.h). Follows
// transformers 5.24's MiniCPMV4_6ForConditionalGeneration and MiniCPMV4_7's. A second head for guessing several tokens (mtp) is left
// unread. Errors: kDamagedFile naming the tensor, Interrupted.
#include <algorithm>
#include <array>
#include <memory>
#include <ranges>
#include <span>
#include <utility>

#include "engine/base/error.h"
#include "engine/model_files/family_templates.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/families/canvas_positions.h"
#include "engine/models/families/minicpmv_folder.h"
#include "engine/models/families/minicpmv_tower.h"
#include "engine/models/family_rows.h"
#include "engine/models/model_load.h"
#include "engine/models/vision/medium_features.h"
#include "engine/models/vision/patch_processor.h"
#include "engine/models/vision_language_model.h"
#include "engine/text/tokenizer.h"

namespace winnow {
namespace {

constexpr std::array<WeightNameRule, 4> kMiniCpmVNames = {{
    {"model.language_model.", "text.model."},
    {"lm_head.", "text.lm_head."},
    {"model.vision_tower.", "tower."},
    {"model.merger.", "merger."},
}};

// Detail of a square picture that is not cut, and of so many slices a side.
DetailChoices slice_detail(const MiniCpmVTokens& tokens, SliceRules rules, std::int64_t middle, std::int64_t most) {
  rules.joined = rules.most_joined;
  const auto square = [&](std::int64_t slices) {
    rules.most_slices = slices * slices;
    const std::int64_t side = slices * rules.scale_px;
    return tokens.count(sliced_picture({side, side}, rules));
  };
  return {DetailKind::kTiles, square(1), square(middle), square(most), 0};
}

// Positions go by them: they have to be those that pictures are written with.
void require_marks(const ModelLoad& load, const CanvasMarks& marks, const MiniCpmVTokens& tokens) {
  load.require_token("image_start_id", "<image>", marks.begin);
  load.require_token("image_end_id", "</image>", marks.end);
  load.require_token("slice_start_id", "<slice>", marks.slice_begin);
  load.require_token("slice_end_id", "</slice>", marks.slice_end);
  if (!std::ranges::equal(tokens.line(), std::array{marks.line}))
    throw Exception(ErrorCode::kDamagedFile, load.package().subject(ModelPart::kConfig) + ": newline_id",
                    "the tokenizer's line has another id");
}

class MiniCpmV final : public Sight {
 public:
  MiniCpmV(const MiniCpmVFolder& folder, MiniCpmVTokens tokens, WeightReader& weights);

  MediumTokens tokens_of(const MediaFacts& facts) const override;
  PixelValues pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const override;
  EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                      const InterruptToken& interrupt) const override;
  TextAround text_around(const PictureSize& image, std::int64_t images_before) const override;
  TokenPositions positions_for(const TokensToPlace& tokens) const override;
  TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const override;

 private:
  const MiniCpmVPixels& rules_of(const MediaFacts& facts) const { return facts.kind == MediaKind::kVideo ? frame_ : image_; }
  SliceRules rules(const MediaFacts& facts) const { return tokens_.of_at_most(facts.most_tokens, size_of(facts), rules_of(facts).slices); }

  MiniCpmVTokens tokens_;
  MiniCpmVPixels image_;
  MiniCpmVPixels frame_;
  bool numbers_images_;
  std::optional<std::int64_t> canvas_line_id_;  // 4.7: MiniCpmVConfig::marks
  MiniCpmVTower tower_;
};

MiniCpmV::MiniCpmV(const MiniCpmVFolder& folder, MiniCpmVTokens tokens, WeightReader& weights)
    : tokens_(std::move(tokens)),
      image_(folder.image),
      frame_(folder.frame),
      numbers_images_(folder.numbers_images),
      canvas_line_id_(folder.model.marks ? std::optional(folder.model.marks->line) : std::nullopt),
      tower_(folder.model.vision, folder.model.text.hidden_size, weights) {}

TextAround MiniCpmV::text_around(const PictureSize& /*image*/, std::int64_t images_before) const {
  return numbers_images_ ? TextAround{MiniCpmVTokens::before(images_before), ""} : TextAround{};
}

MediumTokens MiniCpmV::tokens_of(const MediaFacts& facts) const {
  const SlicedPicture cut = sliced_picture(size_of(facts), rules(facts));
  return facts.kind == MediaKind::kVideo ? tokens_.frames(cut, facts.frames) : tokens_.image(cut);
}

TokenPositions MiniCpmV::positions_for(const TokensToPlace& tokens) const {
  return canvas_line_id_ ? canvas_positions(tokens, *canvas_line_id_) : Sight::positions_for(tokens);
}

TokenPositions MiniCpmV::positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const {
  if (canvas_line_id_) return canvas_stream_positions(origins, stream);
  const auto shown = [](const TokenOrigin& origin) { return origin.modality == Modality::kVisual; };
  const auto last = std::ranges::find_if(origins | std::views::reverse, shown);
  const std::int32_t frame = last != origins.rend() ? last->frame : 0;
  const auto tokens = static_cast<std::int64_t>(
      std::ranges::count_if(origins, [&](const TokenOrigin& each) { return shown(each) && each.frame == frame; }));
  return stream_positions_of_pictures(origins, stream, {tokens, tokens});
}

PixelValues MiniCpmV::pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const {
  const MiniCpmVPixels& pixels = rules_of(facts);
  const SliceRules chosen = rules(facts);
  const SlicedPicture cut = sliced_picture(size_of(facts), chosen);
  const std::int64_t token_px = chosen.token_px();
  const auto rows_of = [&](std::int64_t rows, std::int64_t columns) {
    return patch_rows(pictures, {rows * token_px, columns * token_px}, pixels.patches);
  };
  at::Tensor patches = rows_of(cut.whole.rows, cut.whole.columns);
  if (cut.slices() > 0) {
    const std::int64_t down = cut.slice.rows * chosen.joined;
    const std::int64_t across = cut.slice.columns * chosen.joined;
    const std::int64_t frames = std::ssize(pictures);
    const std::int64_t values = patches.size(1);
    const at::Tensor all = rows_of(cut.rows * cut.slice.rows, cut.columns * cut.slice.columns);
    const at::Tensor slices =
        all.view({frames, cut.rows, down, cut.columns, across, values}).permute({0, 1, 3, 2, 4, 5}).reshape({frames, -1, values});
    patches = at::cat({patches.view({frames, -1, values}), slices}, 1).flatten(0, 1);
  }
  return {patches, facts.picture.height_px, facts.picture.width_px};
}

EncodedParts MiniCpmV::encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                              const InterruptToken& interrupt) const {
  const SliceRules chosen = rules(facts);
  const SlicedPicture cut = sliced_picture(size_of(facts), chosen);
  const std::int64_t unit = chosen.joined * chosen.joined;
  const at::Tensor pictures = pixels.pixels.view({-1, cut.cells() * unit, pixels.pixels.size(1)});
  const std::int64_t whole = cut.whole.cells() * unit;
  MergedCells found = tower_.encode(pictures.narrow(1, 0, whole).flatten(0, 1), cut.whole, chosen.joined, judge, interrupt);
  if (cut.slices() > 0) {
    const at::Tensor rest = pictures.narrow(1, whole, pictures.size(1) - whole).flatten(0, 1);
    const MergedCells slices = tower_.encode(rest, cut.slice, chosen.joined, judge, interrupt);
    const std::int64_t count = pictures.size(0);
    found.features = at::cat({found.features, slices.features.view({count, -1, slices.features.size(2)})}, 1);
    if (judge) found.importance = at::cat({found.importance, slices.importance.view({count, -1})}, 1);
  }
  return {std::move(found.features), std::move(found.importance)};
}

}  // namespace

std::unique_ptr<VisionLanguageModel> load_minicpmv(ModelLoad& load) {
  MiniCpmVFolder folder = read_minicpmv(load.package());
  const std::shared_ptr<const Tokenizer> tokenizer = load.package().shared_tokenizer();
  load.require_token("image_token_id", "<|image_pad|>", folder.model.image_token_id);
  load.require_token("video_token_id", "<|video_pad|>", folder.model.video_token_id);
  MiniCpmVTokens tokens(*tokenizer, {folder.model.image_token_id, folder.model.video_token_id}, load.package().path());
  if (folder.model.marks) require_marks(load, *folder.model.marks, tokens);
  WeightReader& weights = load.weights(kMiniCpmVNames);
  if (folder.model.joined == 2 && !weights.has("tower.vit_merger.linear_1.weight")) {
    folder.model.vision.joins_squares = false;
    folder.image.slices.most_joined = folder.frame.slices.most_joined = 2;
  }
  load.info.picture_detail = slice_detail(tokens, folder.image.slices, 3, 6);
  load.info.frame_detail = slice_detail(tokens, folder.frame.slices, 2, 3);
  auto text = std::make_unique<TransformerDecoder>(folder.model.text, weights, "text.");
  const MediaPrompt prompt{family_template("minicpmv"), folder.model.image_token_id, folder.model.video_token_id};
  return std::make_unique<VisionLanguageModel>(prompt, std::move(text), std::make_unique<MiniCpmV>(folder, std::move(tokens), weights));
}

}  // namespace winnow
