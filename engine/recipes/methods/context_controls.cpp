#include "engine/recipes/methods/context_controls.h"

#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/random_score.h"
#include "engine/recipes/scorers/recency.h"

namespace winnow {

Composition random_context(OptionReader& options) {
  Composition composition = before_the_question("random-context");
  composition.allocator = std::make_unique<UniformAllocator>();
  once_or_in_clips(options, composition);
  composition.scorer = std::make_unique<RandomScorer>(options.seed(), options.flag("same_all_layers", false));
  return composition;
}

MethodInfo random_context_info() {
  MethodInfo info;
  info.name = "random-context";
  info.title = "Random, before the question";
  info.source = "control";
  return info;
}

Composition every_k(OptionReader&) {
  Composition composition = before_the_question("every-k");
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<RecencyScorer>();
  composition.evenly_spaced = true;
  return composition;
}

MethodInfo every_k_info() {
  MethodInfo info;
  info.name = "every-k";
  info.title = "Every k-th token";
  info.source = "control";
  return info;
}

Composition last_frames(OptionReader& options) {
  Composition composition = before_the_question("last-frames");
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<RecencyScorer>();
  come_in_clips(options, composition);
  return composition;
}

MethodInfo last_frames_info() {
  MethodInfo info;
  info.name = "last-frames";
  info.title = "Last frames only";
  info.source = "control; after SimpleStream, arXiv 2604.02317";
  return info;
}

}  // namespace winnow
