#include "engine/recipes/methods/aircache.h"

#include "engine/recipes/allocators/pyramid.h"
#include "engine/recipes/allocators/strength_skew.h"
#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/reducers/average.h"
#include "engine/recipes/scorers/elite.h"

namespace winnow {

namespace {

std::unique_ptr<const Allocator> allocator_of(OptionReader& options, const EliteNeed& elite) {
  using Use = StrengthSkewAllocator::Use;
  using SkewNorm = StrengthSkewAllocator::SkewNorm;
  enum class Rule : int { kBoth = 1, kStrength = 2, kSkew = 3, kUniform = 4, kPyramid = 5 };
  const Rule rule = options.choice<Rule>("alloc", {{"both", Rule::kBoth},
                                                   {"strength", Rule::kStrength},
                                                   {"skew", Rule::kSkew},
                                                   {"uniform", Rule::kUniform},
                                                   {"pyramid", Rule::kPyramid}});
  const SkewNorm norm = options.choice<SkewNorm>("skew_norm", {{"mean", SkewNorm::kMeanOne}, {"minmax", SkewNorm::kMinMax}});
  switch (rule) {
    case Rule::kUniform:
      return std::make_unique<UniformAllocator>();
    case Rule::kPyramid:
      return std::make_unique<PyramidAllocator>(0, 20.0);
    case Rule::kStrength:
      return std::make_unique<StrengthSkewAllocator>(elite, Use::kStrength, norm);
    case Rule::kSkew:
      return std::make_unique<StrengthSkewAllocator>(elite, Use::kSkew, norm);
    case Rule::kBoth:
      break;
  }
  return std::make_unique<StrengthSkewAllocator>(elite, Use::kBoth, norm);
}

}  // namespace

Composition aircache(OptionReader& options) {
  EliteNeed elite;
  elite.alpha = options.real("alpha", 0.9, 0.0, 1.0);
  elite.rule = options.choice<EliteNeed::Rule>("elite_rule", {{"max", EliteNeed::Rule::kMaximum}, {"share", EliteNeed::Rule::kShare}});
  elite.heads = options.choice<EliteNeed::Heads>("elite_heads", {{"each", EliteNeed::Heads::kEach}, {"mean", EliteNeed::Heads::kMean}});
  elite.all_instruction = options.choice<bool>("elite_text", {{"after_images", false}, {"all_instruction", true}});
  Composition composition;
  composition.method = "aircache";
  composition.allocator = allocator_of(options, elite);
  composition.scorer = std::make_unique<EliteScorer>(elite);
  composition.scope = Scope::kVisual;
  composition.granularity = Granularity::kLayer;
  const double merge_fraction = options.real("merge_fraction", 0.0, 0.0, 1.0);
  if (merge_fraction > 0.0) composition.reducer = std::make_shared<AverageReducer>(merge_fraction);
  return composition;
}

MethodInfo aircache_info() {
  MethodInfo info;
  info.name = "aircache";
  info.title = "AirCache";
  info.source = "Huang et al., ICCV 2025, arXiv 2503.23956";
  info.query_aware = true;
  info.needs = {"attention of elite instruction tokens"};
  return info;
}

}  // namespace winnow
