// How the patches of a video's frame become fewer tokens: how many, without pixels or tensors.
//
// Read by the LLaVA families' configurations, which name the modes in their own keys; done by pooled_frames.h. Follows LLaVA-NeXT's
// get_2dPool and transformers' LLaVA-NeXT-Video and LLaVA-OneVision. No torch. Threads: plain values.
#pragma once

#include <cstdint>

namespace winnow {

enum class FramePooling : int {
  kAverage = 1,   // of stride x stride patches; what fills no square at the end is left out
  kMaximum = 2,   // likewise
  kBilinear = 3,  // the map resized to the next whole number of its side / stride
};

struct FramePoolingRules {
  FramePooling mode = FramePooling::kAverage;
  std::int64_t stride = 2;

  // Tokens a side; 0 where a stride beyond the patches leaves none.
  std::int64_t side(std::int64_t patches_per_side) const {
    return mode == FramePooling::kBilinear ? (patches_per_side + stride - 1) / stride : patches_per_side / stride;
  }
};

}  // namespace winnow
