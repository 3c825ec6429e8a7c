// Which of several decoders decodes which frame of a plan: groups of pictures are dealt out whole, so that none is decoded twice.
//
// Used by VideoFrameSource. Pure arithmetic; the same plan, file and limits give the same deal, whenever the frames are read.
#pragma once

#include <cstdint>
#include <vector>

#include "app/media/files/limits.h"

namespace winnow::app {

// How many frames a caller asks for at once, as far as it pays to have a decoder for each.
inline constexpr int kFramesAskedTogether = 8;
// A jump to a keyframe costs more than decoding this far.
inline constexpr double kAlwaysDecodeOnS = 0.25;

struct DecodingPlan {
  int decoders = 1;
  int threadsEach = 1;            // FFmpeg's own
  std::vector<int> decoder;       // of each frame, below `decoders`
  std::vector<bool> lastOfGroup;  // of each frame: the next one is decoded from another keyframe
};

// askedS: rising times; keyframes: of each, where its group begins, as VideoContainer::indexedKeyframe() numbers them. Frames that lie
// close together count as one group. framePixels: of one picture.
DecodingPlan planDecoding(const std::vector<double>& askedS, const std::vector<std::int64_t>& keyframes, std::int64_t framePixels,
                          const MediaLimits& limits);

}  // namespace winnow::app
