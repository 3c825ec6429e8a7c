// Heads that are shorter than the cache's rows: Gemma 4's layers with a window have smaller heads than those that look back over
// everything.
//
// Used by transformer_decoder.h. A cache has rows of one size, so a shorter head is stored with zeros behind each of its halves. A pair of
// elements that rotate together then lies as in a longer head (RotaryScheme::rotated), products and sums are the same, and whoever judges,
// moves or rotates cached rows need not know. The zeros take memory in such layers, of which a window bounds the slots. Plain functions.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace winnow {

// [n, heads, d], contiguous -> [n, heads, head_dim].
inline at::Tensor widened_heads(const at::Tensor& heads, std::int64_t head_dim) {
  const std::int64_t half = heads.size(2) / 2;
  const at::Tensor halves = heads.view({heads.size(0), heads.size(1), 2, half});
  return at::constant_pad_nd(halves, {0, head_dim / 2 - half}).view({heads.size(0), heads.size(1), head_dim});
}

// The other way round.
inline at::Tensor narrowed_heads(const at::Tensor& wide, std::int64_t head_dim) {
  return wide.view({wide.size(0), wide.size(1), 2, -1}).narrow(3, 0, head_dim / 2).reshape({wide.size(0), wide.size(1), head_dim});
}

}  // namespace winnow
