#include "engine/models/qwen3_vl/timed_frames.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace winnow {
namespace {

// Python's "<{:.1f} seconds>": the double itself is rounded, halves to even.
std::string time_words(double time_s) {
  std::array<char, 352> text{};
  std::snprintf(text.data(), text.size(), "<%.1f seconds>", time_s);
  return text.data();
}

}  // namespace

TimedFrames::TimedFrames(std::shared_ptr<const Tokenizer> tokenizer, const Qwen3VlTokens& tokens, std::int64_t joined_frames)
    : tokenizer_(std::move(tokenizer)), tokens_(tokens), joined_(joined_frames) {
  require(tokenizer_ != nullptr && joined_ > 0, "timed frames need a tokenizer and sets of frames");
  words_ = std::ssize(tokenizer_->encode(time_words(999.9), SpecialText::kParse, TextStart::kAfterToken)) + 2;
}

MediumTokens TimedFrames::image(const CellGrid& grid) const {
  MediumTokens tokens;
  tokens.origins = cell_origins(grid, 1, 1);
  tokens.ids.assign(tokens.origins.size(), tokens_.image);
  return tokens;
}

MediumTokens TimedFrames::frames(const CellGrid& grid, const MediaFacts& facts) const {
  require(std::ssize(facts.times_s) == facts.frames, "every frame has its time");
  MediumTokens tokens;
  for (std::int64_t frame = 0; frame < facts.frames; frame += joined_) {
    std::vector<std::int64_t> words;
    if (frame > 0 || facts.frames_before > 0)
      words = tokenizer_->encode(time_text(std::span(facts.times_s).subspan(static_cast<std::size_t>(frame))), SpecialText::kParse,
                                 TextStart::kAfterToken);
    words.push_back(tokens_.vision_start);
    const TokenOrigin word{Modality::kVisual, -1, static_cast<std::int32_t>(frame), -1, -1};
    tokens.ids.insert(tokens.ids.end(), words.begin(), words.end());
    tokens.origins.insert(tokens.origins.end(), words.size(), word);
    for (TokenOrigin cell : cell_origins(grid, 1, 1)) {
      cell.frame = word.frame;
      tokens.origins.push_back(cell);
      tokens.ids.push_back(tokens_.video);
    }
    tokens.ids.push_back(tokens_.vision_end);
    tokens.origins.push_back(word);
  }
  return tokens;
}

std::string TimedFrames::before(const VideoTimes& video) const { return time_text(video.times_s); }

std::string TimedFrames::time_text(std::span<const double> times_s) const {
  if (times_s.empty()) return time_words(0.0);
  const double last_s = times_s[std::min(times_s.size(), static_cast<std::size_t>(joined_)) - 1];
  return time_words((times_s.front() + last_s) / 2.0);
}

}  // namespace winnow
