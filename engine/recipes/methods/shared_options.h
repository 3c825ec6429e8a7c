// Options that several methods have under the same name.
#pragma once

#include <memory>

#include "engine/recipes/allocators/global_pairs.h"
#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/composition.h"
#include "engine/recipes/method_options.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

// How the query heads of a group are joined.
inline GroupReduce group_reduce(OptionReader& options) {
  return options.choice<GroupReduce>("gqa_reduce",
                                     {{"mean", GroupReduce::kMean}, {"max", GroupReduce::kMaximum}, {"sum", GroupReduce::kSum}});
}

// Whom heads compete with (granularity ragged); the first is the method's default.
enum class CompetingHeads : int { kInALayer = 1, kOfAllLayers = 2 };
inline std::unique_ptr<const Allocator> competing_heads(OptionReader& options, CompetingHeads otherwise) {
  const std::pair<const char*, CompetingHeads> pool{"layer", CompetingHeads::kInALayer};
  const std::pair<const char*, CompetingHeads> global{"all", CompetingHeads::kOfAllLayers};
  const CompetingHeads heads = otherwise == CompetingHeads::kInALayer ? options.choice<CompetingHeads>("compete", {pool, global})
                                                                      : options.choice<CompetingHeads>("compete", {global, pool});
  if (heads == CompetingHeads::kOfAllLayers) return std::make_unique<GlobalAllocator>();
  return std::make_unique<UniformAllocator>();
}

// What methods have in common whose event comes between the media and the question.
inline Composition before_the_question(const char* method) {
  Composition composition;
  composition.method = method;
  composition.scope = Scope::kContext;
  composition.phase = MethodPhase::kContext;
  return composition;
}

}  // namespace winnow
