// Key and value statistics of one head's slots for media that arrive in clips (methods-conversation: ST-key, ST-vnorm, TaR).
//
//   key_likeness, value_norms: as context_keys.h, over the head's slots.
//   change: -(mean cosine between a key and the keys of its patch in the newest r frames), r = max(1, round(recent_share * f)), f = whole
//   frames left; 0 for a patch without a key in these. InfiniPot-V, arXiv 2506.15745v2, Algorithm 1. Keys after rotary. Used by
//   engine/generation/reading/clip_stream.h. fp32; memory: slots * slots of the newest frames floats.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

// A slot's frame and its patch in it; -1: none (text between images).
struct StreamedPlace {
  std::int32_t frame = -1;
  std::int32_t cell = -1;
};

// keys, values [n, d]; places: n, frames not decreasing. cells: patches of a whole frame; read if needs.change counts by rank, and for f.
StreamedSlots streamed_slots(const at::Tensor& keys, const at::Tensor& values, std::span<const StreamedPlace> places, std::int64_t cells,
                             const StatisticsNeeds& needs);

}  // namespace winnow
