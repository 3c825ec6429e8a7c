// The properties of a model that recipes depend on.
//
// Part of ModelInfo, filled by engine/models; asked by recipe_problem() when a recipe is chosen, and before it runs. Plain data, no torch.
#pragma once

#include <cstdint>

#include "engine/recipes/measured_options.h"

namespace winnow {

struct ModelTraits {
  std::int64_t position_axes = 1;  // of the rotary positions: 1, or time, height and width
  std::int64_t joined_frames = 1;  // frames of a video that become one set of tokens
  bool sees = true;                // a vision-language model; false: text only
  bool reads_videos = true;        // false: images only
  std::int64_t window = 0;         // smallest sliding window of a layer; 0: no sliding windows
  bool judges_patches = true;      // the vision tower can score patches by attention
  bool encodes_parts = false;      // it can encode some of a picture's tokens by themselves (PixelValues::kept)
  int arithmetic_bits = 32;        // of the arithmetic dtype
  int kv_bits = 32;                // default bits of the KV cache dtype; at most arithmetic_bits
  bool reads_narrow_cache = true;  // attention on its device supports a KV cache narrower than the arithmetic dtype
  MeasuredOptions measured{};      // of winnow.json
};

}  // namespace winnow
