// Similarity of each media frame to a question, by one layer's unrotated queries and keys (methods-conversation: ST-block).
//
// ReKV, arXiv 2503.00540; code Becomebright/ReKV. q = mean over the rows of the question's words of every query head;
// k_t = mean over frame t's slots of every KV head; dot: the sum over query heads of q.k_t, cosine: that over the norms of the heads'
// concatenation. Used by engine/generation/reading/frame_retrieval.h. fp32.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

namespace winnow {

// queries [H, r, d], keys [Hkv, n, d]; frames: per slot its frame, from 0, not decreasing, without gaps. Returns one value per frame.
std::vector<float> frame_likeness(const at::Tensor& queries, const at::Tensor& keys, std::span<const std::int64_t> frames, bool cosine);

}  // namespace winnow
