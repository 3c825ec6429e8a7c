// StreamingLLM: attention sinks plus a sliding window. Xiao et al., "Efficient Streaming Language Models with Attention Sinks",
// ICLR 2024, arXiv 2309.17453, section 3.2 and figure 4; reference code mit-han-lab/streaming-llm, streaming_llm/kv_cache.py.
//
// kept = first n_sink tokens of the conversation + last (b - n_sink); while decoding the oldest slot that is no sink leaves when m > b.
// Deviations: keys keep their original rotary positions (rope=in-cache: positions inside the cache, as the authors have it); the sinks are
// system tokens, never image tokens.
#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/scorers/position_scores.h"

namespace winnow {

namespace {

Composition streaming_llm(OptionReader& options) {
  return {.allocator = std::make_unique<UniformAllocator>(),
          .scorer = std::make_unique<RecencyScorer>(),
          .granularity = Granularity::kLayer,
          .protection = {.sinks = options.whole("sinks", 4, 0, 1024)},
          .phase = MethodPhase::kDecode,
          .closed_ranks = options.choice<bool>("rope", {{"original", false}, {"in-cache", true}})};
}

}  // namespace

const Method kStreamingLlm{
    .name = "streaming-llm", .title = "StreamingLLM", .source = "Xiao et al., ICLR 2024, arXiv 2309.17453", .compose = streaming_llm};

}  // namespace winnow
