#include "engine/compression/segment_compressor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/compression/select.h"
#include "engine/compression/statistics/attention_statistics.h"

namespace winnow {

SegmentCompressor::SegmentCompressor(const Recipe& recipe, const SegmentInfo& segment) : recipe_(recipe), segment_(segment) {
  const std::int64_t n = segment.tokens;
  require(n >= 0 && segment.layers > 0 && segment.kv_heads > 0 && static_cast<std::int64_t>(segment.modality.size()) == n,
          "SegmentCompressor: one modality per token, at least one layer and head");
  const bool visual = segment.last_visual() >= 0;
  const bool short_text = !visual && n < recipe.min_event_tokens();
  const bool not_its_turn = recipe.turn_policy() == TurnPolicy::kFirstOnly && (!visual || segment.compressed_before);
  const Composition& parts = recipe.composition();
  if (n > 0 && recipe.compresses() && !short_text && !not_its_turn) {
    total_ = total_budget(recipe.budget(), segment.layers, n);
    low_ = lower_bound_slots(recipe.budget(), n, protected_slots(), parts.min_fraction);
    // The no-op rule: if every layer may keep all it has, the cache stays bit-identical to an uncompressed one.
    will_compress_ = low_ < n && total_ < segment.layers * n;
  }
  const auto layers = static_cast<std::size_t>(segment.layers);
  if (!will_compress_) {
    budgets_.assign(layers, n);
    return;
  }
  notes_.raised_to_floor = segment.layers * low_ > total_;
  if (!recipe.needs().empty()) {
    seen_.assign(layers, false);
    scores_.resize(layers);
    for (const StatisticsNeed& need : recipe.needs()) notes_.fallback_rows = notes_.fallback_rows || rows_of(need.rows, segment_).fallback;
  }
  measured_.assign(layers, 0.0);
  if (recipe.static_budgets()) decide_budgets();
}

// Slots protected by number: sinks that lie in this segment, the window, and one more (the last token, or room for a vote).
std::int64_t SegmentCompressor::protected_slots() const {
  const Protection& protection = recipe_.composition().protection;
  const std::int64_t sinks = std::clamp<std::int64_t>(protection.sinks - segment_.first_original, 0, segment_.tokens);
  return sinks + protection.window + 1;
}

void SegmentCompressor::decide_budgets() {
  const Composition& parts = recipe_.composition();
  std::vector<double> weights = parts.allocator->weights(measured_);
  for (double& weight : weights) {
    if (std::isfinite(weight)) continue;
    weight = 0.0;
    ++notes_.non_finite;
  }
  budgets_ = allocate(weights, total_, low_, segment_.tokens);
  if (parts.faithful_clip) {
    budgets_ = allocate_without_redistribution(weights, total_, segment_.tokens);
    for (std::int64_t& budget : budgets_) budget = std::max(budget, std::min(segment_.tokens, protected_slots()));
  }
}

void SegmentCompressor::on_layer(const LayerView& view) {
  const auto layer = static_cast<std::size_t>(view.layer);
  require(wants_views() && view.layer >= 0 && layer < seen_.size() && !seen_[layer], "SegmentCompressor: an unexpected layer view");
  const Stopwatch watch;
  LayerStatistics statistics;
  statistics.layer = view.layer;
  for (const StatisticsNeed& need : recipe_.needs()) statistics.by_rows.push_back(attention_statistics(view, segment_, need));

  const Composition& parts = recipe_.composition();
  if (parts.allocator->need()) measured_[layer] = parts.allocator->measure(statistics);
  for (const RowStatistics& each : statistics.by_rows) {
    const std::vector<float>& sums = each.column_sums.values;
    notes_.non_finite += std::count_if(sums.begin(), sums.end(), [](float x) { return !std::isfinite(x); });
  }
  scores_[layer] = parts.scorer->score(statistics, segment_);
  for (float& score : scores_[layer].values) {
    if (!std::isfinite(score)) score = -std::numeric_limits<float>::infinity();
  }
  seen_[layer] = true;
  ++seen_count_;
  if (!recipe_.static_budgets() && seen_count_ == segment_.layers) decide_budgets();
  statistics_ms_ += watch.elapsed_ms();
}

bool SegmentCompressor::plan_ready(std::int64_t layer) const {
  require(layer >= 0 && layer < segment_.layers, "SegmentCompressor: no such layer");
  if (!will_compress_ || budgets_.empty()) return false;
  return !wants_views() || seen_[static_cast<std::size_t>(layer)];
}

const std::vector<std::int64_t>& SegmentCompressor::budgets() const {
  require(!budgets_.empty(), "SegmentCompressor: budgets are known after the last layer");
  return budgets_;
}

LayerPlan SegmentCompressor::plan(std::int64_t layer) const {
  require(plan_ready(layer), "SegmentCompressor: this layer's plan is not ready");
  const Protection& protection = recipe_.composition().protection;
  LayerPlan plan;
  plan.budget = budgets_[static_cast<std::size_t>(layer)];
  const std::int64_t recent = protection.recent_share > 0.0 ? share_of(protection.recent_share, plan.budget) : protection.window;
  const std::int64_t sinks = std::max<std::int64_t>(0, protection.sinks - segment_.first_original);
  const std::vector<std::int32_t> forced = protected_rows(segment_.tokens, sinks, recent);

  HeadScores without_view;
  if (!wants_views()) {
    LayerStatistics statistics;
    statistics.layer = layer;
    without_view = recipe_.composition().scorer->score(statistics, segment_);
  }
  const HeadScores& scores = wants_views() ? scores_[static_cast<std::size_t>(layer)] : without_view;
  require(scores.columns == segment_.tokens && (scores.heads == 1 || scores.heads == segment_.kv_heads),
          "SegmentCompressor: a scorer must score every token for one or all kv heads");
  for (std::int64_t head = 0; head < segment_.kv_heads; ++head) {
    if (scores.heads == 1 && head > 0) {
      plan.kept.push_back(plan.kept.front());
    } else {
      plan.kept.push_back(select_rows(scores.row(head), plan.budget, forced));
    }
  }
  return plan;
}

}  // namespace winnow
