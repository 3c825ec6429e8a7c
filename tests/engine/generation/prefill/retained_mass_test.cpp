#include "engine/generation/prefill/retained_mass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "engine/recipes/recipe.h"
#include "tests/engine/compression/layer_fixture.h"

namespace winnow {
namespace {

using testing::random_view;
using testing::segment_of;

std::vector<Modality> mostly_visual(std::size_t n) {
  std::vector<Modality> modality(n, Modality::kVisual);
  std::fill(modality.end() - 12, modality.end(), Modality::kText);
  return modality;
}

void show(SegmentCompressor& compressor, std::int64_t layers, std::int64_t n, double spread) {
  for (LayerId layer{0}; layer < layers; ++layer) {
    LayerView view = random_view(layer, 4, 2, n, 8, {}, spread);
    testing::set_log_sum_exp(view);
    compressor.on_layer(view);
  }
}

// By sorting, as the definition has it.
double sorted_mass(const SegmentCompressor& compressor, double share, bool visual_only) {
  double sum = 0.0;
  double rankings = 0.0;
  for (LayerId layer{0}; layer < compressor.segment().layers; ++layer) {
    for (KvHead head{0}; head < compressor.segment().kv_heads; ++head) {
      const std::span<const float> scores = compressor.scores(layer, head);
      std::vector<double> sorted;
      for (std::size_t row = 0; row < compressor.segment().modality.size(); ++row) {
        if (visual_only && compressor.segment().modality[row] != Modality::kVisual) continue;
        const double score = scores[row];
        sorted.push_back(std::isfinite(score) ? std::max(0.0, score) : 0.0);
      }
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      const auto best = static_cast<std::ptrdiff_t>(std::round(share * static_cast<double>(sorted.size())));
      sum += std::accumulate(sorted.begin(), sorted.begin() + best, 0.0) / std::accumulate(sorted.begin(), sorted.end(), 0.0);
      rankings += 1.0;
    }
  }
  return sum / rankings;
}

TEST(RetainedMass, IsTheBestTokensShareOfTheScoresWithoutSortingThem) {
  const std::vector<Modality> modality = mostly_visual(300);
  for (const std::string method : {"vl-cache", "snapkv", "h2o", "aircache"}) {
    RecipeSpec spec{.method = method, .retention = 0.2};
    const Recipe recipe = Recipe::from_spec(spec);
    SegmentCompressor compressor(recipe, segment_of(modality, 3, 4, 2));
    show(compressor, 3, 300, 6.0);
    const std::vector<RetainedMass> points = retained_mass(compressor);
    ASSERT_EQ(points.size(), 20U) << method;
    EXPECT_EQ(points.back().retention, 1.0);
    EXPECT_NEAR(points.back().mass, 1.0, 1e-6) << method;
    double before = 0.0;
    for (const RetainedMass& point : points) {
      EXPECT_GE(point.mass, before) << method << " at " << point.retention;
      EXPECT_GE(point.mass, point.retention - 0.01) << method << ": the best hold at least their share";
      EXPECT_NEAR(point.mass, sorted_mass(compressor, point.retention, recipe.composition().scope == Scope::kVisual), 0.003)
          << method << " at " << point.retention;
      before = point.mass;
    }
    EXPECT_GT(points[5].mass, 0.2) << method << ": a tenth of the tokens holds much more than a tenth";
  }
}

TEST(RetainedMass, MethodsThatScoreNothingHaveNone) {
  const std::vector<Modality> modality = mostly_visual(300);
  for (const std::string method : {"full", "streaming-llm", "random", "fastv"}) {
    RecipeSpec spec{.method = method};
    const Recipe recipe = Recipe::from_spec(spec);
    EXPECT_TRUE(retained_mass(SegmentCompressor(recipe, segment_of(modality, 2, 4, 2))).empty()) << method;
  }
}

}  // namespace
}  // namespace winnow
