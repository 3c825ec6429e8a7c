// AirCache. Huang et al., "AirCache: Activating Inter-modal Relevancy KV Cache Compression for Efficient Large Vision-Language Model
// Inference", ICCV 2025, arXiv 2503.23956: elite observation window (equations 4-6), strength and skew budgets (7-11). No public code.
//
// Only visual slots are compressed. The instruction tokens that the last token attends to most (at least alpha times the largest) judge
// the visual tokens, every head by its own (the paper leaves out head and layer "to simplify"); layers with strong and concentrated visual
// attention get more (statistics/elite_attention.h, allocators/strength_skew.h). Options: elite_heads=mean (one elite for all heads of a
// layer, from their mean), elite_rule=share (the top 1 - alpha by attention, the other reading that the words allow), the paper's ablations
// (alloc, skew_norm, elite_text, merge_fraction: that share of the dropped tokens, most similar first, is averaged into kept ones) and
// granularity=head.
// Deviations, where the paper's formulas are not readable: mean over heads of the importance, sample standard deviation, causal order among
// elite rows, negative skew counts as 0, both halves normalised to mean 1 over layers; a layer keeps at least one visual token.
#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/allocators/pyramid.h"
#include "engine/recipes/allocators/strength_skew.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/reducers/joining.h"
#include "engine/recipes/scorers/scorer.h"

namespace winnow {

namespace {

// Attention of the instruction's elite tokens (AirCache, arXiv 2503.23956, equations 7-8). Visual columns only: made for scope visual.
class EliteScorer : public Scorer {
 public:
  explicit EliteScorer(EliteNeed elite) : elite_(elite) {}
  std::string name() const override { return "elite"; }
  StatisticsNeeds needs() const override { return {{}, {}, elite_}; }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo&) const override { return statistics.elite->importance; }

 private:
  EliteNeed elite_;
};

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
    case Rule::kUniform: return std::make_unique<UniformAllocator>();
    case Rule::kPyramid: return std::make_unique<PyramidAllocator>(0, 20.0);
    case Rule::kStrength: return std::make_unique<StrengthSkewAllocator>(elite, Use::kStrength, norm);
    case Rule::kSkew: return std::make_unique<StrengthSkewAllocator>(elite, Use::kSkew, norm);
    case Rule::kBoth: break;
  }
  return std::make_unique<StrengthSkewAllocator>(elite, Use::kBoth, norm);
}

Composition aircache(OptionReader& options) {
  EliteNeed elite;
  elite.alpha = options.real("alpha", 0.9, 0.0, 1.0);
  elite.rule = options.choice<EliteNeed::Rule>("elite_rule", {{"max", EliteNeed::Rule::kMaximum}, {"share", EliteNeed::Rule::kShare}});
  elite.heads = options.choice<EliteNeed::Heads>("elite_heads", {{"each", EliteNeed::Heads::kEach}, {"mean", EliteNeed::Heads::kMean}});
  elite.all_instruction = options.choice<bool>("elite_text", {{"after_images", false}, {"all_instruction", true}});
  Composition composition;
  composition.allocator = allocator_of(options, elite);
  composition.scorer = std::make_unique<EliteScorer>(elite);
  composition.scope = Scope::kVisual;
  composition.granularity = Granularity::kLayer;
  const double merge_fraction = options.real("merge_fraction", 0.0, 0.0, 1.0);
  if (merge_fraction > 0.0) composition.reducer = std::make_shared<AverageReducer>(merge_fraction);
  return composition;
}

}  // namespace

const Method kAircache{.name = "aircache",
                       .title = "AirCache",
                       .source = "Huang et al., ICCV 2025, arXiv 2503.23956",
                       .compose = aircache,
                       .query_aware = true};

}  // namespace winnow
