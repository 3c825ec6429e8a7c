// Patches of a video's frames pooled to fewer tokens.
//
// Used by the LLaVA families that read videos; how many tokens that gives says frame_pooling.h. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include "engine/models/llava_parts/frame_pooling.h"

namespace winnow {

// patches: [frames, side * side, width], row by row; result: [frames, rules.side(side) squared, width].
at::Tensor pooled_frames(const at::Tensor& patches, std::int64_t side, FramePoolingRules rules);

}  // namespace winnow
