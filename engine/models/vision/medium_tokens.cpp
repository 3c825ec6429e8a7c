#include "engine/models/vision/medium_tokens.h"

#include "engine/base/error.h"

namespace winnow {
namespace {

TokenOrigin origin_of(std::int64_t frame, std::int64_t row, std::int64_t column) {
  return {Modality::kVisual, -1, static_cast<std::int32_t>(frame), static_cast<std::int16_t>(row), static_cast<std::int16_t>(column)};
}

}  // namespace

std::int64_t special_token_id(const Tokenizer& tokenizer, const std::string& token, const std::string& whose, const std::string& file) {
  const auto id = tokenizer.token_id(token);
  if (!id || !tokenizer.is_special(*id))
    throw Exception(ErrorCode::kDamagedFile, file, whose + "'s tokenizer has the special token " + token);
  return *id;
}

void MediumTokens::add_words(std::span<const std::int64_t> words, std::int64_t frame) {
  ids.insert(ids.end(), words.begin(), words.end());
  origins.insert(origins.end(), words.size(), origin_of(frame, -1, -1));
}

void MediumTokens::add_row(const TokenRow& row, std::int64_t image_token_id) {
  for (std::int64_t column = 0; column < row.columns; ++column) origins.push_back(origin_of(0, row.row, column));
  ids.insert(ids.end(), static_cast<std::size_t>(row.columns), image_token_id);
}

void MediumTokens::add_square(const TokenSquare& square, std::int64_t image_token_id) {
  for (std::int64_t row = 0; row < square.side; ++row) {
    for (std::int64_t column = 0; column < square.side; ++column)
      origins.push_back(origin_of(square.frame, square.row + row, square.column + column));
  }
  ids.insert(ids.end(), static_cast<std::size_t>(square.side * square.side), image_token_id);
}

}  // namespace winnow
