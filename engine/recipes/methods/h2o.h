// H2O. Zhang et al., "H2O: Heavy-Hitter Oracle for Efficient Generative Inference of Large Language Models", NeurIPS 2023,
// arXiv 2306.14048, algorithm 1; reference code FMInference/H2O; the event as Zefan-Cai/KVCache-Factory,
// pyramidkv/pyramidkv_utils.py, H2OKVCluster.
//
// Score: column sums of all rows per kv head; half of the budget are recent tokens. While decoding every row is added, and the least
// attended slot outside the recent ones leaves when m > b. Options: phase=once (KVCache-Factory), score=mean (by the number of rows that
// see a token, NVIDIA/kvpress; once only). Deviation: evicts once after the prefill and then per step, where the authors' code evicts on
// every forward, prefill rows included.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition h2o(OptionReader& options);
MethodInfo h2o_info();

}  // namespace winnow
