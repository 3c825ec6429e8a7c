// What a recipe has to know of a model.
//
// Part of ModelInfo, filled by engine/models; asked by recipe_problem() when a recipe is chosen, and before it runs. Plain data, no torch.
#pragma once

#include <cstdint>

#include "engine/recipes/measured_options.h"

namespace winnow {

struct ModelTraits {
  std::int64_t position_axes = 1;  // of the rotary positions: 1, or time, height and width
  std::int64_t joined_frames = 1;  // so many frames of a video become one set of tokens
  bool sees = true;                // images and videos; false: it reads text only
  bool reads_videos = true;        // false: images alone, where it sees
  std::int64_t window = 0;         // of the layer that looks back over the fewest tokens; 0: all look back over everything
  bool judges_patches = true;      // the vision tower can say how much attention a patch gets
  int arithmetic_bits = 32;        // of a number that it computes with
  int kv_bits = 32;                // of a stored number of K and V where a recipe says nothing; at most as many
  bool reads_narrow_cache = true;  // attention on its device reads a cache in fewer bits than it computes with
  MeasuredOptions measured;        // of winnow.json
};

}  // namespace winnow
