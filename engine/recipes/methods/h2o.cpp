// H2O. Zhang et al., "H2O: Heavy-Hitter Oracle for Efficient Generative Inference of Large Language Models", NeurIPS 2023,
// arXiv 2306.14048, algorithm 1; reference code FMInference/H2O; the event as Zefan-Cai/KVCache-Factory,
// pyramidkv/pyramidkv_utils.py, H2OKVCluster.
//
// Score: column sums of all rows per kv head; half of the budget are recent tokens. While decoding every row is added, and the least
// attended slot outside the recent ones leaves when m > b. Options: phase=once (KVCache-Factory), score=mean (by the number of rows that
// see a token, NVIDIA/kvpress; once only). Deviation: evicts once after the prefill and then per step, where the authors' code evicts on
// every forward, prefill rows included.
#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/accumulated.h"

namespace winnow {

namespace {

Composition h2o(OptionReader& options) {
  const bool per_row = options.choice<bool>("score", {{"sum", false}, {"mean", true}});
  Composition composition;
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<AccumulatedScorer>(group_reduce(options), per_row);
  composition.protection.recent_share = options.real("recent_share", 0.5, 0.0, 1.0);
  composition.phase = options.choice<MethodPhase>("phase", {{"decode", MethodPhase::kDecode}, {"once", MethodPhase::kOnce}});
  if (per_row) composition.phase = MethodPhase::kOnce;
  composition.decode.victim = DecodeRule::Victim::kLeastAttention;
  composition.decode.accumulates = composition.phase == MethodPhase::kDecode;
  return composition;
}

}  // namespace

const Method kH2o{.name = "h2o", .title = "H2O", .source = "Zhang et al., NeurIPS 2023, arXiv 2306.14048", .compose = h2o};

}  // namespace winnow
