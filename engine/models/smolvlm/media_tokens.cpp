#include "engine/models/smolvlm/media_tokens.h"

#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/smolvlm/spoken_number.h"

namespace winnow {
namespace {

constexpr const char* kFake = "<fake_token_around_image>";
constexpr const char* kWholePicture = "<fake_token_around_image><global-img>";

std::string two_digits(std::int64_t number) { return std::string(number < 10 ? "0" : "").append(std::to_string(number)); }

std::string time_line(double time_s) {
  const auto seconds = static_cast<std::int64_t>(std::floor(time_s));
  return "\nFrame from " + two_digits(seconds / 60) + ":" + two_digits(seconds % 60) + ":";
}

// Python's str(timedelta(seconds=...)).
std::string clock(std::int64_t seconds) {
  const std::int64_t days = seconds / 86'400;
  const std::string lead = days == 0 ? "" : std::to_string(days) + (days == 1 ? " day, " : " days, ");
  return lead + std::to_string(seconds / 3600 % 24) + ":" + two_digits(seconds / 60 % 60) + ":" + two_digits(seconds % 60);
}

TokenOrigin origin_of(std::int64_t frame, std::int64_t row, std::int64_t column) {
  return {Modality::kVisual, -1, static_cast<std::int32_t>(frame), static_cast<std::int16_t>(row), static_cast<std::int16_t>(column)};
}

}  // namespace

MediaTokens::MediaTokens(std::unique_ptr<const Tokenizer> tokenizer, std::int64_t image_token_id, std::int64_t side)
    : tokenizer_(std::move(tokenizer)), image_token_id_(image_token_id), side_(side) {
  require(tokenizer_ != nullptr && side > 0, "media tokens need a tokenizer and a square");
  frame_tokens_ = picture_tokens() + std::ssize(tokenizer_->encode(time_line(0.0), SpecialText::kParse));
}

bool MediaTokens::writes_videos() const { return tokenizer_->token_id("<|im_start|>").has_value(); }

void MediaTokens::add_words(MediumTokens& tokens, const std::string& text, std::int64_t frame) const {
  const std::vector<std::int64_t> ids = tokenizer_->encode(text, SpecialText::kParse);
  tokens.ids.insert(tokens.ids.end(), ids.begin(), ids.end());
  tokens.origins.insert(tokens.origins.end(), ids.size(), origin_of(frame, -1, -1));
}

void MediaTokens::add_square(MediumTokens& tokens, const Place& place) const {
  for (std::int64_t row = 0; row < side_; ++row) {
    for (std::int64_t column = 0; column < side_; ++column)
      tokens.origins.push_back(origin_of(place.frame, place.row + row, place.column + column));
  }
  tokens.ids.insert(tokens.ids.end(), static_cast<std::size_t>(side_ * side_), image_token_id_);
}

MediumTokens MediaTokens::image(const TileGrid& grid) const {
  MediumTokens tokens;
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const std::int64_t tile = 1 + row * grid.columns + column;
      const std::string line_end = row > 0 && column == 0 ? "\n" : "";
      add_words(tokens, line_end + kFake + "<row_" + std::to_string(row + 1) + "_col_" + std::to_string(column + 1) + ">", tile);
      add_square(tokens, {tile, row * side_, column * side_});
    }
  }
  add_words(tokens, (grid.rows > 0 ? "\n\n" : "") + std::string(kWholePicture), 0);
  add_square(tokens, {0, 0, 0});
  add_words(tokens, kFake, 0);
  return tokens;
}

MediumTokens MediaTokens::frames(const MediaFacts& facts) const {
  require(std::ssize(facts.times_s) == facts.frames, "every frame has its time");
  MediumTokens tokens;
  for (std::int64_t frame = 0; frame < facts.frames; ++frame) {
    const bool first = frame == 0 && facts.frames_before == 0;  // its time is the prompt's text
    const std::string time = first ? "" : time_line(facts.times_s[static_cast<std::size_t>(frame)]);
    add_words(tokens, time + kWholePicture, frame);
    add_square(tokens, {frame, 0, 0});
    add_words(tokens, kFake, frame);
  }
  return tokens;
}

TextAround MediaTokens::around(const VideoTimes& video) const {
  const std::string intro = video.endless ? ""
                                          : "You are provided the following series of " + spoken_number(video.frames) + " frames from a " +
                                                clock(static_cast<std::int64_t>(video.duration_s)) + " [H:MM:SS] video.\n";
  return {intro + time_line(video.first_s()), "\n\n"};
}

}  // namespace winnow
