// FastV. Chen et al., "An Image is Worth 1/2 Tokens After Layer 2: Plug-and-Play Inference Acceleration for Large Vision-Language Models",
// ECCV 2024, arXiv 2403.06764, section 4.1; reference code pkunlp-icler/FastV
// (src/transformers/src/transformers/models/llama/modeling_llama.py).
//
// At the input of layer K (default 2) the visual tokens that the prompt's last token attended least in layer K - 1 (mean over heads) leave
// the hidden states; layers from K on never see them, layers before keep them. Positions stay. Retention is the share kept, the paper's
// 1 - R. Option phi=received judges by the mean over all rows, as the paper words it. Deviation: rows are really removed, where the
// reference code masks them; K = 0 (a random choice in the code) is refused.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition fastv(OptionReader& options);
MethodInfo fastv_info();

}  // namespace winnow
