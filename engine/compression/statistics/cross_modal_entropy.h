// How diffusely text attends to images and images to text in one layer: softmaxes over the other modality's keys, then entropies.
//
// MEDA, Wan et al., NAACL 2025, arXiv 2502.17599, section 3.2. T = rows of text and system tokens, V = rows of visual tokens of the
// segment.
//   A_TV[i][j] = softmax over j in V of scale * q_i . k_j for i in T; A_VT likewise with T and V swapped; no causal mask unless asked.
//   E_TV = mean over i in T of the entropy of (mean over query heads of A_TV[i]); E_VT likewise. Natural logarithms.
// Rows are processed in tiles, so memory is O(heads * keys). fp32, entropies summed in double. On a GPU by our own kernel where it fits
// (kernels/api/cuda_cross_modal_entropy.h): four launches each way, one wait.
#pragma once

#include "engine/layers/layer_view.h"
#include "engine/recipes/segment_info.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

CrossModalEntropy cross_modal_entropy(const LayerView& view, const SegmentInfo& segment, const CrossModalNeed& need);

}  // namespace winnow
