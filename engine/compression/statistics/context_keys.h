// Query-free statistics of the context's keys and values (methods-conversation: ST-key, ST-vnorm).
//
//   key_likeness: cos(k_j, anchor), anchor = mean over the context's j of k_j / norm(k_j); keys after rotary. KeyDiff, arXiv 2504.15364,
//   section 3; NVIDIA/kvpress keydiff_press.py.   value_norms: norm(v_j).
// Used by LayerWatch and, for media that come in clips, by streamed_keys.h. Segments without retained rows only. fp32; memory: the
// context's keys or values of one layer in fp32.
#pragma once

#include <algorithm>
#include <cstdint>

#include <ATen/ATen.h>

#include "engine/base/error.h"
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

// Expands a tensor over the context's tokens to one value per head and token of the segment.

// values: fp32 [heads, count], of the segment's context rows; 0 elsewhere.
inline HeadScores context_columns(const at::Tensor& values, const SegmentInfo& segment) {
  const auto [first, count] = segment.context_rows();
  require(values.dim() == 2 && values.size(1) == count, "context_columns: one number per token of the context");
  const at::Tensor host = values.to(at::kCPU, at::kFloat).contiguous();
  HeadScores columns{host.size(0), segment.tokens, std::vector<float>(static_cast<std::size_t>(host.size(0) * segment.tokens), 0.0F)};
  for (std::int64_t head = 0; head < columns.heads; ++head) {
    const float* const row = host.const_data_ptr<float>() + head * count;
    std::copy_n(row, count, columns.row(head).begin() + first);
  }
  return columns;
}

}  // namespace winnow
