// How the vision tower judges its patches, for methods that prune visual tokens: by the rows of its class token, where it has one, else by
// all rows alike.
#pragma once

namespace winnow {

enum class VisionJudge : int {
  kAttention = 1,  // attention that a patch gets, mean over heads and those rows, in the layer whose features are used
  kRollout = 2,    // the same rolled out over the last two layers: products of (attention + identity) / 2
};

}  // namespace winnow
