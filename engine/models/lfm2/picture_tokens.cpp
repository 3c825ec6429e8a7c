#include "engine/models/lfm2/picture_tokens.h"

#include <utility>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr const char* kPictureStart = "<|image_start|>";
constexpr const char* kPictureEnd = "<|image_end|>";
constexpr const char* kThumbnail = "<|img_thumbnail|>";

std::string name_of_tile(std::int64_t row, std::int64_t column) {
  return "<|img_row_" + std::to_string(row + 1) + "_col_" + std::to_string(column + 1) + "|>";
}

}  // namespace

Lfm2PictureTokens::Lfm2PictureTokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t image_token_id, const std::string& file)
    : tokenizer_(std::move(tokenizer)), image_(image_token_id) {
  require(tokenizer_ != nullptr, "picture tokens need a tokenizer");
  for (const char* const word : {kPictureStart, kPictureEnd}) special_token_id(*tokenizer_, word, "an LFM2-VL", file);
}

void Lfm2PictureTokens::add_mark(MediumTokens& tokens, const std::string& word, std::int64_t frame) const {
  tokens.add_words(tokenizer_->encode(word, SpecialText::kParse, TextStart::kAfterToken), frame);
}

MediumTokens Lfm2PictureTokens::image(const Lfm2PicturePlan& plan, const Lfm2PictureRules& rules) const {
  MediumTokens tokens;
  const std::int64_t side = rules.tile_side();
  const TileCount& grid = plan.tiles;
  add_mark(tokens, kPictureStart, plan.cut() ? 1 : 0);
  for (std::int64_t tile = 0; plan.cut() && tile < grid.tiles(); ++tile) {
    const std::int64_t row = tile / grid.columns;
    const std::int64_t column = tile % grid.columns;
    add_mark(tokens, name_of_tile(row, column), 1 + tile);
    tokens.add_square({side, 1 + tile, row * side, column * side}, image_);
  }
  if (plan.has_whole()) {
    if (plan.cut()) add_mark(tokens, kThumbnail, 0);
    for (std::int64_t row = 0; row < plan.whole.height_px / rules.cell_px(); ++row)
      tokens.add_row({row, plan.whole.width_px / rules.cell_px()}, image_);
  }
  add_mark(tokens, kPictureEnd, plan.has_whole() ? 0 : grid.tiles());
  return tokens;
}

}  // namespace winnow
