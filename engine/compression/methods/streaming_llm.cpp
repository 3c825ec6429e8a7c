#include "engine/compression/methods/streaming_llm.h"

#include "engine/base/error.h"
#include "engine/compression/allocators/uniform.h"
#include "engine/compression/scorers/recency.h"

namespace winnow {

Composition compose_streaming_llm(const StreamingLlmOptions& options) {
  if (options.sinks < 0) throw Exception(ErrorCode::kIllegalRecipe, "streaming-llm", "the number of sinks must not be negative");
  Composition composition;
  composition.method = "streaming-llm";
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<RecencyScorer>();
  composition.protection.sinks = options.sinks;
  composition.phase = MethodPhase::kDecode;
  return composition;
}

MethodInfo streaming_llm_info() {
  MethodInfo info;
  info.name = "streaming-llm";
  info.title = "StreamingLLM";
  info.source = "Xiao et al., ICLR 2024, arXiv 2309.17453";
  info.phase = "decode";
  info.options = {"sinks=4"};
  return info;
}

}  // namespace winnow
