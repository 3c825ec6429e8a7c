#include "engine/models/qwen3_vl/timed_frames.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::array<std::string_view, 2> kQwenVideoTexts = {"<|vision_start|><|video_pad|><|vision_end|>", "<|video_pad|>"};
constexpr std::array<std::string_view, 1> kGlmVideoTexts = {"<|video|>"};

// Python's "{:.1f}" and, where the format says so, "{:d}" of int(): the double itself is rounded, halves to even, or cut.
std::string written_time(double time_s, FrameTimes times) {
  std::array<char, 352> text{};
  switch (times) {
    case FrameTimes::kBefore:
      std::snprintf(text.data(), text.size(), "<%.1f seconds>", time_s);
      break;
    case FrameTimes::kBehind:
      std::snprintf(text.data(), text.size(), "%.1f seconds", time_s);
      break;
    case FrameTimes::kBehindInSeconds:
      std::snprintf(text.data(), text.size(), "%.0f", std::trunc(time_s));
      break;
  }
  return text.data();
}

}  // namespace

TimedFrames::TimedFrames(std::shared_ptr<const Tokenizer> tokenizer, const Qwen3VlTokens& tokens, std::int64_t joined_frames,
                         FrameTimes times)
    : tokenizer_(std::move(tokenizer)), tokens_(tokens), joined_(joined_frames), times_(times) {
  require(tokenizer_ != nullptr && joined_ > 0, "timed frames need a tokenizer and sets of frames");
  const std::array<double, 2> longest = {999.9, 999.9};
  words_ = std::ssize(time_words(longest)) + 2;
}

std::span<const std::string_view> TimedFrames::texts() const {
  if (times_ == FrameTimes::kBefore) return kQwenVideoTexts;
  return kGlmVideoTexts;
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
    const auto times_s = std::span(facts.times_s).subspan(static_cast<std::size_t>(frame));
    const bool before = times_ == FrameTimes::kBefore && (frame > 0 || facts.frames_before > 0);
    std::vector<std::int64_t> words = before ? time_words(times_s) : std::vector<std::int64_t>();
    words.push_back(tokens_.vision_start);
    tokens.add_words(words, frame);
    for (TokenOrigin cell : cell_origins(grid, 1, 1)) {
      cell.frame = static_cast<std::int32_t>(frame);
      tokens.origins.push_back(cell);
      tokens.ids.push_back(tokens_.video);
    }
    words.assign(1, tokens_.vision_end);
    if (times_ != FrameTimes::kBefore) {
      const std::vector<std::int64_t> time = time_words(times_s);
      words.insert(words.end(), time.begin(), time.end());
    }
    tokens.add_words(words, frame);
  }
  return tokens;
}

std::string TimedFrames::before(const VideoTimes& video) const {
  return times_ == FrameTimes::kBefore ? time_text(video.times_s) : std::string();
}

std::vector<std::int64_t> TimedFrames::time_words(std::span<const double> times_s) const {
  return tokenizer_->encode(time_text(times_s), SpecialText::kParse, TextStart::kAfterToken);
}

std::string TimedFrames::time_text(std::span<const double> times_s) const {
  if (times_s.empty()) return written_time(0.0, times_);
  if (times_ != FrameTimes::kBefore) return written_time(times_s.front(), times_);
  const double last_s = times_s[std::min(times_s.size(), static_cast<std::size_t>(joined_)) - 1];
  return written_time((times_s.front() + last_s) / 2.0, times_);
}

}  // namespace winnow
