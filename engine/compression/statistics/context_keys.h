// Query-free statistics of the context's keys and values (methods-conversation: ST-key, ST-vnorm).
//
//   key_likeness: cos(k_j, anchor), anchor = mean over the context's j of k_j / norm(k_j); keys after rotary. KeyDiff, arXiv 2504.15364,
//   section 3; NVIDIA/kvpress keydiff_press.py.   value_norms: norm(v_j).
// Used by LayerWatch and, for media that come in clips, by streamed_keys.h. Segments without retained rows only. fp32; memory: the
// context's keys or values of one layer in fp32.
#pragma once

#include <ATen/ATen.h>

#include "engine/layers/layer_view.h"
#include "engine/recipes/segment_info.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

// keys [heads, n, d] -> fp32, each of length 1; zero keys stay zero.
at::Tensor key_directions(const at::Tensor& keys);
// The cosine of directions [heads, n, d] with their mean: [heads, n].
at::Tensor likeness_to_mean(const at::Tensor& directions);

HeadScores key_likeness(const LayerView& view, const SegmentInfo& segment);
HeadScores value_norms(const LayerView& view, const SegmentInfo& segment);

}  // namespace winnow
