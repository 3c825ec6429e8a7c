// Rotary positions of consecutive tokens.
//
// Made by a model (vision_language_model.h), carried by engine/generation. There is one axis, or three for models with time, height and
// width (M-RoPE). A position is neither a token index nor a slot, so next_position cannot be derived from the number of tokens.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <span>

#include "engine/base/token_origin.h"

namespace winnow {

// Seconds between the frames of each medium, by TokenOrigin::media; 0 for media without frames. For models with positions in time.
using FrameSeconds = std::span<const double>;

// Consecutive tokens whose positions are asked for.
struct TokensToPlace {
  std::span<const TokenOrigin> origins;  // `media` set
  std::int64_t next_position = 0;        // that of a text token in place of the first
  FrameSeconds frame_s{};
  // For families whose line ends after a picture belong to it (MiniCPM-V 4.7): ids of all, media's in name only; empty: not known. The
  // position in time of the token before, if it is a medium's.
  std::span<const std::int64_t> ids{};
  std::optional<std::int64_t> beside{};
};

// Positions of an endless source's frames.
struct StreamPositions {
  std::int64_t base_position = 0;        // of the first frame
  std::int64_t frames_per_position = 1;  // consecutive frames that share their positions
  double frame_s = 0.0;                  // seconds from one frame to the next
};

struct TokenPositions {
  at::Tensor positions;            // int64 [axes, n]
  std::int64_t next_position = 0;  // of the next token, on every axis
};

// Consecutive positions, for text and media alike.
inline TokenPositions one_axis_positions(std::int64_t tokens, std::int64_t next_position) {
  return {at::arange(next_position, next_position + tokens, at::kLong).unsqueeze(0), next_position + tokens};
}

// Frames of an endless source, frame_tokens tokens each, and the family's tokens after them.
TokenPositions one_axis_stream_positions(std::span<const TokenOrigin> origins, const StreamPositions& stream, std::int64_t frame_tokens);

}  // namespace winnow
