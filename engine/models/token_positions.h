// Rotary positions of tokens that enter the decoder together.
//
// Made by a model (vision_language_model.h), carried by engine/generation. How many axes there are is between the model and its decoder:
// one, or three where media have time, height and width (M-RoPE). A position is not a token's index, nor a slot: next_position never comes
// from the number of tokens.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "engine/base/token_origin.h"

namespace winnow {

// Of a conversation's media, by TokenOrigin::media: seconds from one frame of a video to the next; 0 of what has no frames. For models
// whose positions tell the time.
using FrameSeconds = std::span<const double>;

// Where the frames of a source without an end stand.
struct StreamPositions {
  std::int64_t base_position = 0;        // of the first frame
  std::int64_t frames_per_position = 1;  // so many frames in a row share their positions
  double frame_s = 0.0;                  // seconds from one frame to the next
};

struct TokenPositions {
  at::Tensor positions;            // int64 [axes, n]
  std::int64_t next_position = 0;  // of the token after them, on every axis
};

// Text and media alike, one after the other.
inline TokenPositions one_axis_positions(std::int64_t tokens, std::int64_t next_position) {
  return {at::arange(next_position, next_position + tokens, at::kLong).unsqueeze(0), next_position + tokens};
}

// Frames of a source without an end, each of frame_tokens tokens, and what the family writes after them.
TokenPositions one_axis_stream_positions(std::span<const TokenOrigin> origins, const StreamPositions& stream, std::int64_t frame_tokens);

}  // namespace winnow
