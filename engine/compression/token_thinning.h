// Chooses which patches of a medium reach the decoder, by the projector's features alone: no question, no attention.
//
// VidCom2: Liu et al., EMNLP 2025, arXiv 2505.14454 (code xuyang-liu16/VidCom2). EVS: Bagrov et al., arXiv 2510.14624, equations 1 to 3.
// DivPrune: Alvar et al., CVPR 2025, arXiv 2503.02175, algorithm 1, over a whole medium. Sums are fp32 on the features' device. Deviations:
// pinned patches are exempt; ties go to the first patch. An image is one frame, of which EVS leaves nothing out. Used by
// segment/media_pruning.h. Threads: engine thread; callers hold c10::InferenceMode. Errors: Interrupted, polled once a patch by divpruned.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/recipes/before_decoder.h"

namespace winnow {

struct PatchesToThin {
  at::Tensor features;       // [frames, patches of a frame, width], any dtype and device; an image is one frame
  std::vector<bool> pinned;  // per patch; empty: none
};

// True for each patch that stays, in order. before: thins(), not by pixels. As many as patches_that_stay() says where that is exact.
std::vector<bool> patches_kept(const PatchesToThin& patches, const BeforeDecoder& before, std::uint64_t seed,
                               const InterruptToken& interrupt);

}  // namespace winnow
