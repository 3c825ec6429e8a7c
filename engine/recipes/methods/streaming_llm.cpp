#include "engine/recipes/methods/streaming_llm.h"

#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/scorers/recency.h"

namespace winnow {

Composition streaming_llm(OptionReader& options) {
  Composition composition;
  composition.method = "streaming-llm";
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<RecencyScorer>();
  composition.granularity = Granularity::kLayer;
  composition.protection.sinks = options.whole("sinks", 4, 0, 1024);
  composition.phase = MethodPhase::kDecode;
  composition.closed_ranks = options.choice<bool>("rope", {{"original", false}, {"in-cache", true}});
  return composition;
}

MethodInfo streaming_llm_info() {
  MethodInfo info;
  info.name = "streaming-llm";
  info.title = "StreamingLLM";
  info.source = "Xiao et al., ICLR 2024, arXiv 2309.17453";
  return info;
}

}  // namespace winnow
