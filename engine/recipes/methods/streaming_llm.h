// StreamingLLM: attention sinks plus a sliding window. Xiao et al., "Efficient Streaming Language Models with Attention Sinks",
// ICLR 2024, arXiv 2309.17453, section 3.2 and figure 4; reference code mit-han-lab/streaming-llm, streaming_llm/kv_cache.py.
//
// kept = first n_sink tokens of the conversation + last (b - n_sink); while decoding the oldest slot that is no sink leaves when m > b.
// Deviations: keys keep their original rotary positions (rope=in-cache: positions inside the cache, as the authors have it); the sinks are
// system tokens, never image tokens.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition streaming_llm(OptionReader& options);
MethodInfo streaming_llm_info();

}  // namespace winnow
