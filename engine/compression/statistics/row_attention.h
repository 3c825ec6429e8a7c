// Attention of every row of a pass to the last slots of the cache before it, averaged over all heads of a layer.
//
// Used by engine/generation/reading/context_probe.h to find the frames that the words of a description are about. fp32; extra memory: rows
// * slots floats. Deterministic.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "engine/layers/layer_view.h"

namespace winnow {

// fp32 [rows, slots], on the view's device: the mean over query heads of the probability of each of the last `slots` past slots.
at::Tensor row_attention(const LayerView& view, std::int64_t slots);

}  // namespace winnow
