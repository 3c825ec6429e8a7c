#include "engine/models/gemma3/picture_tokens.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr const char* kBegin = "<start_of_image>";
constexpr const char* kImage = "<image_soft_token>";
constexpr const char* kEnd = "<end_of_image>";
constexpr std::string_view kEmptyLine = "\n\n";
constexpr std::string_view kBeforeCrops = " and here are some crops to help you see better ";

std::int64_t id_of(const Tokenizer& tokenizer, const char* token, const std::string& file) {
  return special_token_id(tokenizer, token, "a Gemma 3", file);
}

}  // namespace

Gemma3Tokens::Gemma3Tokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t side, const std::string& file)
    : tokenizer_(std::move(tokenizer)),
      side_(side),
      begin_(id_of(*tokenizer_, kBegin, file)),
      image_(id_of(*tokenizer_, kImage, file)),
      end_(id_of(*tokenizer_, kEnd, file)) {
  require(side > 0, "a picture has tokens");
}

void Gemma3Tokens::add_picture(MediumTokens& tokens, const TokenSquare& square) const {
  tokens.add_words(std::array{begin_}, square.frame);
  tokens.add_square(square, image_);
  tokens.add_words(std::array{end_}, square.frame);
}

MediumTokens Gemma3Tokens::image(const CropGrid& grid) const {
  MediumTokens tokens;
  add_picture(tokens, {side_});
  for (std::int64_t crop = 0; crop < grid.crops(); ++crop) {
    tokens.add_words(between(crop == 0 ? kBeforeCrops : " "), 1 + crop);
    add_picture(tokens, {side_, 1 + crop, crop / grid.columns * side_, crop % grid.columns * side_});
  }
  return tokens;
}

TextAround Gemma3Tokens::around(const CropGrid& grid) const {
  const std::string before = grid.crops() > 0 ? "Here is the original image " : "";
  return {before + std::string(kEmptyLine), std::string(kEmptyLine)};
}

std::vector<std::int64_t> Gemma3Tokens::between(std::string_view words) const {
  // Between its neighbours: some tokenizers put something before a text that has none.
  std::string text = kEnd;
  text.append(kEmptyLine).append(words).append(kEmptyLine).append(kBegin);
  const std::vector<std::int64_t> ids = tokenizer_->encode(text, SpecialText::kParse, TextStart::kAfterToken);
  const auto end = std::ranges::find(ids, end_);
  require(end != ids.end() && ids.back() == begin_, "special tokens are found in a text");
  return {end + 1, ids.end() - 1};
}

}  // namespace winnow
