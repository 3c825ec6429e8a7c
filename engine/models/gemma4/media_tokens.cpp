#include "engine/models/gemma4/media_tokens.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr const char* kBeginOfPicture = "<|image>";
constexpr const char* kEndOfPicture = "<image|>";

std::int64_t special_id(const Tokenizer& tokenizer, const char* token, const std::string& file) {
  return special_token_id(tokenizer, token, "a Gemma 4", file);
}

// "01:05", as Python's int() cuts the seconds.
std::string minutes_and_seconds(double time_s) {
  const auto seconds = static_cast<std::int64_t>(std::floor(time_s));
  const auto digits = [](std::int64_t number) { return std::string(number < 10 ? "0" : "").append(std::to_string(number)); };
  return digits(seconds / 60) + ":" + digits(seconds % 60);
}

}  // namespace

Gemma4Tokens::Gemma4Tokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t video_token_id, const std::string& file)
    : tokenizer_(std::move(tokenizer)),
      begin_(special_id(*tokenizer_, kBeginOfPicture, file)),
      image_(special_id(*tokenizer_, "<|image|>", file)),
      video_(video_token_id),
      end_(special_id(*tokenizer_, kEndOfPicture, file)) {
  words_ = std::ssize(between(0.0)) + 2;
}

void Gemma4Tokens::add_picture(MediumTokens& tokens, const TokenGrid& grid, std::int64_t frame, std::int64_t id) const {
  tokens.add_words(std::array{begin_}, frame);
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      tokens.origins.push_back(
          {Modality::kVisual, -1, static_cast<std::int32_t>(frame), static_cast<std::int16_t>(row), static_cast<std::int16_t>(column)});
      tokens.ids.push_back(id);
    }
  }
  tokens.add_words(std::array{end_}, frame);
}

MediumTokens Gemma4Tokens::image(const TokenGrid& grid) const {
  MediumTokens tokens;
  add_picture(tokens, grid, 0, image_);
  return tokens;
}

MediumTokens Gemma4Tokens::frames(const TokenGrid& grid, const MediaFacts& facts) const {
  require(std::ssize(facts.times_s) == facts.frames, "every frame has its time");
  MediumTokens tokens;
  for (std::int64_t frame = 0; frame < facts.frames; ++frame) {
    if (frame > 0 || facts.frames_before > 0) tokens.add_words(between(facts.times_s[static_cast<std::size_t>(frame)]), frame);
    add_picture(tokens, grid, frame, video_);
  }
  return tokens;
}

std::string Gemma4Tokens::before(const VideoTimes& video) { return minutes_and_seconds(video.first_s()) + " "; }

std::vector<std::int64_t> Gemma4Tokens::between(double time_s) const {
  // Between its neighbours: some tokenizers put something before a text that has none.
  const std::string text = kEndOfPicture + (" " + minutes_and_seconds(time_s) + " ") + kBeginOfPicture;
  const std::vector<std::int64_t> ids = tokenizer_->encode(text, SpecialText::kParse, TextStart::kAfterToken);
  const auto end = std::ranges::find(ids, end_);
  require(end != ids.end() && ids.back() == begin_, "special tokens are found in a text");
  return {end + 1, ids.end() - 1};
}

}  // namespace winnow
