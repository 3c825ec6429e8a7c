// How the vision tower scores its patches, for methods that prune vision tokens: by the attention row of its class token, or by the mean of
// all rows if it has none.
#pragma once

namespace winnow {

enum class VisionJudge : int {
  kAttention = 1,  // attention that a patch receives, mean over heads and those rows, in the layer of the features
  kRollout = 2,    // attention rollout over the last two layers: products of (attention + identity) / 2
};

}  // namespace winnow
