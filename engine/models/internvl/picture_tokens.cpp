#include "engine/models/internvl/picture_tokens.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr const char* kBegin = "<img>";
constexpr const char* kImage = "<IMG_CONTEXT>";
constexpr const char* kEnd = "</img>";

std::int64_t id_of(const Tokenizer& tokenizer, const char* token, const std::string& file) {
  return special_token_id(tokenizer, token, "an InternVL", file);
}

}  // namespace

InternVlTokens::InternVlTokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t side, const std::string& file)
    : tokenizer_(std::move(tokenizer)),
      side_(side),
      begin_(id_of(*tokenizer_, kBegin, file)),
      image_(id_of(*tokenizer_, kImage, file)),
      end_(id_of(*tokenizer_, kEnd, file)) {
  require(side > 0, "a tile has tokens");
}

MediumTokens InternVlTokens::image(const TileCount& grid, bool thumbnail) const {
  MediumTokens tokens;
  const bool cut = grid.tiles() > 1;
  const bool whole = !cut || thumbnail;
  tokens.add_words(std::array{begin_}, cut ? 1 : 0);
  for (std::int64_t tile = 0; cut && tile < grid.tiles(); ++tile)
    tokens.add_square({side_, 1 + tile, tile / grid.columns * side_, tile % grid.columns * side_}, image_);
  if (whole) tokens.add_square({side_}, image_);
  tokens.add_words(std::array{end_}, whole ? 0 : grid.tiles());
  return tokens;
}

MediumTokens InternVlTokens::frames(const MediaFacts& facts) const {
  MediumTokens tokens;
  for (std::int64_t frame = 0; frame < facts.frames; ++frame) {
    const std::int64_t number = facts.frames_before + frame + 1;
    if (number > 1) tokens.add_words(number_line(number), frame);
    tokens.add_words(std::array{begin_}, frame);
    tokens.add_square({side_, frame}, image_);
    tokens.add_words(std::array{end_}, frame);
  }
  return tokens;
}

std::vector<std::int64_t> InternVlTokens::number_line(std::int64_t number) const {
  // Between its neighbours: some tokenizers put something before a text that has none.
  std::vector<std::int64_t> ids =
      tokenizer_->encode(kEnd + ("\nFrame" + std::to_string(number) + ": ") + kBegin, SpecialText::kParse, TextStart::kAfterToken);
  const auto begin = std::ranges::find(ids, end_);
  require(begin != ids.end() && ids.back() == begin_, "special tokens are found in a text");
  return {begin + 1, ids.end() - 1};
}

}  // namespace winnow
