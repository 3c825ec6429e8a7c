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

}  // namespace

MediaTokens::MediaTokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t image_token_id, std::int64_t side)
    : tokenizer_(std::move(tokenizer)), image_token_id_(image_token_id), side_(side) {
  require(tokenizer_ != nullptr && side > 0, "media tokens need a tokenizer and a square");
  frame_tokens_ = picture_tokens() + std::ssize(encoded(time_line(0.0)));
}

bool MediaTokens::writes_videos() const { return tokenizer_->token_id("<|im_start|>").has_value(); }

std::vector<std::int64_t> MediaTokens::encoded(const std::string& text) const {
  return tokenizer_->encode(text, SpecialText::kParse, TextStart::kAfterToken);
}

MediumTokens MediaTokens::image(const TileGrid& grid) const {
  MediumTokens tokens;
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const std::int64_t tile = 1 + row * grid.columns + column;
      const std::string line_end = row > 0 && column == 0 ? "\n" : "";
      tokens.add_words(encoded(line_end + kFake + "<row_" + std::to_string(row + 1) + "_col_" + std::to_string(column + 1) + ">"), tile);
      tokens.add_square({side_, tile, row * side_, column * side_}, image_token_id_);
    }
  }
  tokens.add_words(encoded((grid.rows > 0 ? "\n\n" : "") + std::string(kWholePicture)), 0);
  tokens.add_square({side_}, image_token_id_);
  tokens.add_words(encoded(kFake), 0);
  return tokens;
}

TileRules MediaTokens::of_at_most(std::int64_t tokens, PixelSize source, TileRules rules) const {
  if (tokens == 0 || !rules.split) return rules;
  for (std::int64_t tiles = (rules.longest_edge_px - 1) / rules.side_px;; --tiles) {
    const TileGrid grid = tile_grid(source, rules);
    const std::int64_t pixels = (grid.rows * grid.columns + 1) * side_ * side_;  // saves the words of grids that are far too large
    if (grid.rows == 0 || tiles < 1 || (pixels <= tokens && std::ssize(image(grid).ids) <= tokens)) return rules;
    const std::int64_t edge = tiles * rules.side_px;
    rules.longest_edge_px = edge - edge % 2;  // the shorter edge is rounded up to an even number, which may not begin another tile
  }
}

MediumTokens MediaTokens::frames(const MediaFacts& facts) const {
  require(std::ssize(facts.times_s) == facts.frames, "every frame has its time");
  MediumTokens tokens;
  for (std::int64_t frame = 0; frame < facts.frames; ++frame) {
    const bool first = frame == 0 && facts.frames_before == 0;  // its time is the prompt's text
    const std::string time = first ? "" : time_line(facts.times_s[static_cast<std::size_t>(frame)]);
    tokens.add_words(encoded(time + kWholePicture), frame);
    tokens.add_square({side_, frame}, image_token_id_);
    tokens.add_words(encoded(kFake), frame);
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
