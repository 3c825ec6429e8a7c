// FastV. Chen et al., "An Image is Worth 1/2 Tokens After Layer 2: Plug-and-Play Inference Acceleration for Large Vision-Language Models",
// ECCV 2024, arXiv 2403.06764, section 4.1; reference code pkunlp-icler/FastV
// (src/transformers/src/transformers/models/llama/modeling_llama.py).
//
// At the input of layer K (default 2) the visual tokens that the prompt's last token attended least in layer K - 1 (mean over heads) leave
// the hidden states; layers from K on never see them, layers before keep them. Positions stay. Retention is the share kept, the paper's
// 1 - R. Option phi=received judges by the mean over all rows, as the paper words it. Deviation: rows are really removed, where the
// reference code masks them; K = 0 (a random choice in the code) is refused.
#include "engine/recipes/methods/method.h"
#include "engine/recipes/methods/shared_options.h"

namespace winnow {

namespace {

Composition fastv(OptionReader& options) {
  const auto judge =
      options.choice<Pruning::Judge>("phi", {{"last-row", Pruning::Judge::kLastRow}, {"received", Pruning::Judge::kReceived}});
  return pruned({.judge = judge, .layer = options.whole("layer", 2, 1, 1024)});
}

}  // namespace

const Method kFastv{
    .name = "fastv", .title = "FastV", .source = "Chen et al., ECCV 2024, arXiv 2403.06764", .compose = fastv, .query_aware = true};

}  // namespace winnow
