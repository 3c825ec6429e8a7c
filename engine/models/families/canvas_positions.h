// MiniCPM-V 4.7's positions with three axes, time, height and width: a picture's slices lie side by side on a canvas, its whole is
// stretched over all of it, and its marks lie at their corners.
//
// Used by minicpmv.cpp. Follows get_rope_index() of transformers' MiniCPMV4_7Model. Time stands still on a canvas; text has the same
// position on all axes and goes on behind the longer side. A line's end right behind a picture belongs to its canvas, at the corner. Of a
// picture whose tokens are not all there (pruned, or a part of what is repeated) the canvas is that of the others. Threads: plain
// functions. Errors: none.
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/token_origin.h"
#include "engine/models/token_positions.h"

namespace winnow {

// line_id: the token of a line's end. An image is one picture, of a video every frame.
TokenPositions canvas_positions(const TokensToPlace& tokens, std::int64_t line_id);

// Frames of an endless source. A frame's canvas is where as many of its own size would be before it.
TokenPositions canvas_stream_positions(std::span<const TokenOrigin> origins, const StreamPositions& stream);

}  // namespace winnow
