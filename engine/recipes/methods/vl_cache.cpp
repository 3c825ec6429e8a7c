// VL-Cache. Tu et al., "VL-Cache: Sparsity and Modality-Aware KV Cache Compression for Vision-Language Model Inference Acceleration",
// ICLR 2025, arXiv 2410.23317: sparsity with relative threshold p (equation 1), layer budgets (algorithm 1), post-vision attention score
// (equation 4, algorithm 2). No public code.
//
// P = rows after the last visual token. gamma = mean over heads of the share of allowed entries of P below p times their row maximum;
// budgets in proportion to 1 - gamma; score = column sums of P over all columns; the last 10 % of a layer's budget are protected.
// Options: min_stat_rows extends P backwards (template tokens alone are noisy judges), max_stat_rows takes its last rows only (0: all).
// Deviations: shares cut by clipping are given to the other layers, so that the total is exact (faithful_clip: as printed); each kv head
// keeps its own set (the paper does not say); keys are all columns, as its algorithm listing has it, not the last rows only, as its
// formula is printed; without visual tokens, or with none after them, P is the last 32 rows.
#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/scorers/scorer.h"

namespace winnow {

namespace {

// Attention of the text after the images: column sums of the post-vision rows over all columns (VL-Cache).
class PostVisionScorer : public Scorer {
 public:
  explicit PostVisionScorer(RowRule rows) : rows_(rows) {}
  std::string name() const override { return "post-vision"; }
  StatisticsNeeds needs() const override {
    StatisticsNeed need{.rows = rows_, .column_sums = true};
    return {{need}, {}, {}};
  }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo&) const override { return statistics.at(rows_).column_sums; }
  bool sums_attention() const override { return true; }

 private:
  RowRule rows_;
};

// Layers whose attention is dense get more: weight = 1 - share of near-zero entries (VL-Cache, arXiv 2410.23317, section 4.1).
class SparsityAllocator : public Allocator {
 public:
  // p: an entry is near zero below p times its row's maximum.
  SparsityAllocator(RowRule rows, double p) : rows_(rows), p_(p) {}
  std::string name() const override { return "sparsity"; }
  StatisticsNeeds needs() const override {
    StatisticsNeed need{.rows = rows_, .sparsity_p = p_};
    return {{need}, {}, {}};
  }
  LayerMeasure measure(const LayerStatistics& statistics, const SegmentInfo&) const override { return {statistics.at(rows_).sparsity}; }
  std::vector<std::string> measure_names() const override { return {"sparsity"}; }
  std::vector<double> weights(std::span<const LayerMeasure> measured) const override {
    std::vector<double> weights;
    for (const LayerMeasure& layer : measured) weights.push_back(1.0 - layer.at(0));
    return weights;
  }

 private:
  RowRule rows_;
  double p_;
};

Composition vl_cache(OptionReader& options) {
  RowRule rows;
  rows.kind = RowRule::Kind::kPostVision;
  rows.min_rows = options.whole("min_stat_rows", 1, 1, 1 << 20);
  rows.max_rows = options.whole("max_stat_rows", 0, 0, 1 << 20);
  return {.allocator = std::make_unique<SparsityAllocator>(rows, options.real("p", 0.01, 1e-9, 1.0)),
          .scorer = std::make_unique<PostVisionScorer>(rows),
          .protection = {.recent_share = options.real("recent_share", 0.10, 0.0, 1.0)},
          .min_fraction = 0.01,
          .faithful_clip = options.flag("faithful_clip", false)};
}

}  // namespace

const Method kVlCache{
    .name = "vl-cache", .title = "VL-Cache", .source = "Tu et al., ICLR 2025, arXiv 2410.23317", .compose = vl_cache, .query_aware = true};

}  // namespace winnow
