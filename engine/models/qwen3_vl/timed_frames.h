// The tokens that an image or a video becomes in Qwen3-VL's and GLM-4V's prompts: which of them stand for pixels, which are words between
// them.
//
// Used by qwen3_vl.h. An image is its cells, and what the template writes around them is text. A video's sets of joined frames are
// pictures, each between two marks and with its time. Qwen3-VL (transformers' Qwen3VLProcessor) has the time before the marks, "<1.5
// seconds>"; the three tokens that the template writes for a video are one place (texts()). The first set's time is the prompt's text
// (before()), because it is encoded together with what is before it; a medium then begins and ends with special tokens. A set's time is the
// middle of its first and its last frame's own times, the last frame as often as its set lacks some. Of a source that is still running the
// first time is that of the first frame: how many frames come with it is not known when it is written again. GLM-4V (Glm4vProcessor,
// Glm46VProcessor) has the time of a set's first frame behind its marks: "1" or "1.5 seconds". Special tokens are on either side of it,
// those that the template writes around the video among them. No torch. Threads: engine thread (the tokenizer's).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/models/media_facts.h"
#include "engine/models/medium_tokens.h"
#include "engine/models/qwen_vl_parts/patch_grid.h"
#include "engine/text/tokenizer.h"

namespace winnow {

// Token ids of config.json.
struct Qwen3VlTokens {
  std::int64_t image = 0;
  std::int64_t video = 0;         // of a video's cells
  std::int64_t vision_start = 0;  // around the cells of a set
  std::int64_t vision_end = 0;
};

// How a set is told its time.
enum class FrameTimes : int {
  kBefore = 1,           // Qwen3-VL's
  kBehind = 2,           // GLM-4.6V's: in tenths of a second
  kBehindInSeconds = 3,  // GLM-4.1V's: in whole seconds, cut
};

class TimedFrames {
 public:
  TimedFrames(std::shared_ptr<const Tokenizer> tokenizer, const Qwen3VlTokens& tokens, std::int64_t joined_frames,
              FrameTimes times = FrameTimes::kBefore);

  // That a template writes for a video, longest first.
  std::span<const std::string_view> texts() const;

  MediumTokens image(const CellGrid& grid) const;

  // `frame` counts from 0; words before a set have its first frame. facts.times_s has every frame.
  MediumTokens frames(const CellGrid& grid, const MediaFacts& facts) const;

  // The first set's time, where that is before it.
  std::string before(const VideoTimes& video) const;

  std::int64_t words() const { return words_; }  // of a set, below 1,000 seconds

 private:
  // The text of the set that begins with times_s.front().
  std::string time_text(std::span<const double> times_s) const;
  std::vector<std::int64_t> time_words(std::span<const double> times_s) const;

  std::shared_ptr<const Tokenizer> tokenizer_;  // of the loaded model
  Qwen3VlTokens tokens_;
  std::int64_t joined_;
  FrameTimes times_;
  std::int64_t words_ = 0;
};

}  // namespace winnow
