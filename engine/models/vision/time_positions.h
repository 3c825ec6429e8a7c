// Positions with three axes, time, height and width (M-RoPE): text has the same on all of them, a medium's tokens lie in its place as the
// picture does, and what follows a medium goes on behind its largest.
//
// Used by qwen2_vl.cpp and qwen3_vl.cpp. Follows get_rope_index of transformers 5.2's Qwen2-VL, Qwen2.5-VL and Qwen3-VL. In the second the
// seconds of a set of joined frames are cut to a whole number before they are multiplied with tokens_per_second: two frames that are less
// than a second apart together take no time at all. In the third a set is a picture behind the one before, its time is a text between them:
// words among a medium's tokens (no row) are placed as text is. Subtitles among a video's frames are text in all of them; the frames behind
// them are a medium of their own, whose first set is at its beginning, as the third has it behind each of its written times. Threads: plain
// functions. Errors: none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/base/token_origin.h"
#include "engine/models/token_positions.h"

namespace winnow {

struct TimeScale {
  std::int64_t joined_frames = 2;
  std::optional<std::int64_t> positions_a_second{};  // none: a set of joined frames takes one position
  bool sets_apart = false;                           // each set of joined frames is a picture of its own
};

// Like VisionLanguageModel::positions_for() and positions_of_stream().
TokenPositions three_axis_positions(std::span<const TokenOrigin> origins, std::int64_t next_position, FrameSeconds frame_s,
                                    const TimeScale& scale);
TokenPositions three_axis_stream_positions(std::span<const TokenOrigin> origins, const StreamPositions& stream, const TimeScale& scale);

// The same of sets that are apart. words: tokens of a set beside its picture, one of them right before it. A picture stands in its place,
// its time ends there: one that is longer than expected shares positions with the set before, whichever came before.
TokenPositions apart_stream_positions(std::span<const TokenOrigin> origins, const StreamPositions& stream, std::int64_t joined_frames,
                                      std::int64_t words);

}  // namespace winnow
