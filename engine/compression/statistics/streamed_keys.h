// What the keys and values of one head's slots say of media that come in clips (methods-conversation: ST-key, ST-vnorm, TaR).
//
//   key_likeness, value_norms: as context_keys.h, over the head's slots.
//   change: -(mean cosine between a key and the keys of its place in the newest r frames), r = max(1, round(recent_share * f)), f = whole
//   frames that are left; 0 for a place that these do not show. InfiniPot-V, arXiv 2506.15745v2, Algorithm 1. Keys after rotary.
// Used by engine/generation/reading/clip_stream.h. fp32; memory: slots * slots of the newest frames floats.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "engine/recipes/statistics/layer_statistics.h"
#include "engine/recipes/statistics/streamed_slots.h"

namespace winnow {

// Which frame and which place in it a slot shows; -1: none (text between images).
struct StreamedPlace {
  std::int32_t frame = -1;
  std::int32_t cell = -1;
};

// keys, values [n, d]; places: n, frames not falling. cells: places of a whole frame; read if needs.change counts by rank, and for f.
StreamedSlots streamed_slots(const at::Tensor& keys, const at::Tensor& values, std::span<const StreamedPlace> places, std::int64_t cells,
                             const StatisticsNeeds& needs);

}  // namespace winnow
