// Patch importance from a vision tower's attention: row weights distributed to the keys that the rows attend to (vision_judge.h).
//
// Used by the vision towers. Rows go in tiles, so that heads x patches x patches is never stored. Inference only. Engine thread.
#pragma once

#include <ATen/ATen.h>

#include <optional>

#include "engine/models/vision/vision_judge.h"

namespace winnow {

// weights: fp32 [n]; query, key: [heads, n, d], any dtype and strides. Returns fp32 [n]: the weights times the heads' mean attention.
at::Tensor through_attention(const at::Tensor& weights, const at::Tensor& query, const at::Tensor& key);

// A judge's result from a tower's row weights. last, before_last: what the layers left behind for it, if there are so many;
// through(weights, layer): the weights that the layer's rows hand on to what they attend to.
template <class Seen, class Through>
at::Tensor judged_weights(VisionJudge judge, at::Tensor weights, const std::optional<Seen>& last, const std::optional<Seen>& before_last,
                          Through through) {
  for (const std::optional<Seen>* layer : {&last, &before_last}) {
    if (!*layer) break;
    const at::Tensor handed_on = through(weights, **layer);
    weights = judge == VisionJudge::kRollout ? (handed_on + weights) * 0.5 : handed_on;
    if (judge == VisionJudge::kAttention) break;
  }
  return weights;
}

}  // namespace winnow
