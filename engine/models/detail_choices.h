// The ways in which a model can bound the tokens of a picture, or of a video frame.
//
// Filled by a family when it is loaded, part of ModelInfo; read where a request is met (generation/segment/media_encoder.h) and wherever
// the setting is offered. How a family meets a number is its own: a bound on pixels, fewer tiles, a smaller budget. Plain data, no torch.
#pragma once

#include <cstdint>

#include "engine/media/frame_source.h"
#include "engine/media/media_detail.h"

namespace winnow {

// Sent: never renumbered.
enum class DetailKind : int {
  kFixed = 1,    // always as many tokens as the model's files say
  kAnySize = 2,  // a picture keeps its proportions, up to a bound
  kTiles = 3,    // a picture is cut into tiles
  kBudgets = 4,  // a few numbers that the model was trained for
};

struct DetailChoices {
  DetailKind kind = DetailKind::kFixed;
  // The words' meaning in tokens; 0 for kFixed.
  std::int64_t low = 0;
  std::int64_t medium = 0;
  std::int64_t high = 0;
  std::int64_t token_px = 0;  // of kAnySize where a bound on pixels bounds the tokens: a token's side

  friend bool operator==(const DetailChoices&, const DetailChoices&) = default;
};

// True if a picture takes more tokens than its user, who asked for no detail, will expect: told before the question is asked, and never
// cut by itself.
inline bool takes_many_unasked(MediaKind kind, const MediaDetail& detail, std::int64_t visual_tokens) {
  return kind == MediaKind::kImage && detail == MediaDetail() && visual_tokens > 4096;
}

// At most so many tokens; 0: as the model's files say.
inline std::int64_t most_tokens(const MediaDetail& detail, const DetailChoices& choices) {
  if (choices.kind == DetailKind::kFixed) return 0;
  switch (detail.level) {
    case DetailLevel::kLow: return choices.low;
    case DetailLevel::kMedium: return choices.medium;
    case DetailLevel::kHigh: return choices.high;
    case DetailLevel::kTokens: return detail.tokens;
    case DetailLevel::kAuto: break;
  }
  return 0;
}

}  // namespace winnow
