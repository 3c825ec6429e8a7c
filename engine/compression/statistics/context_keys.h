// What the context's keys and values say without any query (methods-conversation: ST-key, ST-vnorm).
//
//   key_likeness: cos(k_j, anchor), anchor = mean over the context's j of k_j / norm(k_j); keys after rotary. KeyDiff, arXiv 2504.15364,
//   section 3; NVIDIA/kvpress keydiff_press.py.   value_norms: norm(v_j).
// Used by LayerWatch. Segments without retained rows only. fp32; memory: the context's keys or values of one layer in fp32.
#pragma once

#include "engine/layers/layer_view.h"
#include "engine/recipes/segment_info.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

HeadScores key_likeness(const LayerView& view, const SegmentInfo& segment);
HeadScores value_norms(const LayerView& view, const SegmentInfo& segment);

}  // namespace winnow
