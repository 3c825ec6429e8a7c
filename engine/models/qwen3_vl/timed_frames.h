// The tokens that an image or a video becomes in Qwen3-VL's prompt: which of them stand for pixels, which are words between them.
//
// Used by qwen3_vl.h. Follows transformers' Qwen3VLProcessor: an image is its cells, and what the template writes around them is text. A
// video's sets of joined frames are pictures, each after its time, "<1.5 seconds>", and between <|vision_start|> and <|vision_end|>; the
// three tokens that the template writes for a video are one place (kTexts). The first set's time is the prompt's text (before()), because
// it is encoded together with what is before it; a medium then begins and ends with special tokens. A set's time is the middle of its
// first and its last frame's own times, the last frame as often as its set lacks some. Of a source that is still running the
// first time is that of the first frame: how many frames come with it is not known when it is written again.
// No torch. Threads: engine thread (the tokenizer's).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/models/media_facts.h"
#include "engine/models/medium_tokens.h"
#include "engine/models/qwen_vl_parts/patch_grid.h"
#include "engine/text/tokenizer.h"

namespace winnow {

// Of config.json.
struct Qwen3VlTokens {
  std::int64_t image = 0;
  std::int64_t video = 0;
  std::int64_t vision_start = 0;
  std::int64_t vision_end = 0;
};

class TimedFrames {
 public:
  static constexpr std::array<std::string_view, 2> kTexts = {"<|vision_start|><|video_pad|><|vision_end|>", "<|video_pad|>"};

  TimedFrames(std::shared_ptr<const Tokenizer> tokenizer, const Qwen3VlTokens& tokens, std::int64_t joined_frames);

  MediumTokens image(const CellGrid& grid) const;

  // `frame` counts from 0; words before a set have its first frame. facts.times_s has every frame.
  MediumTokens frames(const CellGrid& grid, const MediaFacts& facts) const;

  // The first set's time.
  std::string before(const VideoTimes& video) const;

  std::int64_t words() const { return words_; }  // of a set, below 1,000 seconds

 private:
  // Of the set that begins with times_s.front().
  std::string time_text(std::span<const double> times_s) const;

  std::shared_ptr<const Tokenizer> tokenizer_;  // of the loaded model
  Qwen3VlTokens tokens_;
  std::int64_t joined_;
  std::int64_t words_ = 0;
};

}  // namespace winnow
