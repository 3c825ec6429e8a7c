// Expands a tensor over the context's tokens to one value per head and token of the segment.
//
// Used by statistics of the context (context_keys.h, context_scorer.h).
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>

#include "engine/base/error.h"
#include "engine/recipes/segment_info.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

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
