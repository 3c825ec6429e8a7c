#include "engine/compression/segment_compressor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/compression/select.h"
#include "engine/compression/statistics/attention_statistics.h"
#include "engine/compression/statistics/cross_modal_entropy.h"
#include "engine/compression/statistics/elite_attention.h"

namespace winnow {

namespace {

// Scores rank last where they are not finite.
void settle(HeadScores& scores) {
  for (float& score : scores.values) {
    if (!std::isfinite(score)) score = -std::numeric_limits<float>::infinity();
  }
}

}  // namespace

SegmentCompressor::SegmentCompressor(const Recipe& recipe, const SegmentInfo& segment) : recipe_(recipe), segment_(segment) {
  const std::int64_t n = segment.tokens;
  require(n >= 0 && segment.layers > 0 && segment.kv_heads > 0 && static_cast<std::int64_t>(segment.modality.size()) == n,
          "SegmentCompressor: one modality per token, at least one layer and head");
  for (std::int64_t row = 0; row < n; ++row) {
    if (segment.modality[static_cast<std::size_t>(row)] == Modality::kVisual) visual_.push_back(static_cast<std::int32_t>(row));
  }
  const bool short_text = visual_.empty() && n < recipe.min_event_tokens();
  const bool not_its_turn = recipe.turn_policy() == TurnPolicy::kFirstOnly && (visual_.empty() || segment.compressed_before);
  const Composition& parts = recipe.composition();
  const bool visual_only = parts.scope == Scope::kVisual;
  pinned_ = segment.pinned_rows();
  if (visual_only) {
    std::erase_if(pinned_, [&](std::int32_t row) { return segment.modality[static_cast<std::size_t>(row)] != Modality::kVisual; });
  }
  const std::int64_t candidates = visual_only ? std::ssize(visual_) : n;
  const auto layers = static_cast<std::size_t>(segment.layers);
  if (candidates > 0 && recipe.compresses() && !short_text && !not_its_turn) {
    bounds_.scope_tokens = candidates;
    bounds_.total = total_budget(recipe.budget(), segment.layers, candidates);
    const std::int64_t low = lower_bound_slots(recipe.budget(), candidates, protected_slots(), parts.min_fraction);
    bounds_.low.assign(layers, low);
    bounds_.high.assign(layers, candidates);
    if (parts.skip_outer_layers) {
      for (const std::size_t layer : {std::size_t{0}, std::size_t{1}, layers - 1}) {
        if (layer < layers) bounds_.low[layer] = candidates;
      }
    }
    // The no-op rule: if every layer may keep all it has, the cache stays bit-identical to an uncompressed one.
    const std::int64_t least = std::accumulate(bounds_.low.begin(), bounds_.low.end(), std::int64_t{0});
    const bool asked_for_less = bounds_.total < segment.layers * candidates;
    will_compress_ = least < segment.layers * candidates && asked_for_less;
    notes_.pins_above_budget = asked_for_less && segment.layers * std::ssize(pinned_) > bounds_.total;
    notes_.raised_to_floor = will_compress_ && !notes_.pins_above_budget && least > bounds_.total;
  }
  const bool follows_decode = recipe.compresses() && parts.decode.accumulates;
  wants_views_ = n > 0 && !recipe.needs().empty() && (will_compress_ || follows_decode);
  if (wants_views_) {
    seen_.assign(layers, false);
    if (will_compress_) scores_.resize(layers);
    if (follows_decode) accumulated_.resize(layers);
    if (follows_decode && parts.decode.local_rows > 0) locally_.resize(layers);
    for (const StatisticsNeed& need : recipe.needs().attention) notes_.fallback_rows = notes_.fallback_rows || rows_of(need.rows, segment_).fallback;
  }
  if (!will_compress_) {
    budgets_.assign(layers, n);
    return;
  }
  measured_.resize(layers);
  protection_.resize(layers);
  if (recipe.static_budgets()) decide_budgets();
}

// Pinned rows in [begin, end).
std::int64_t SegmentCompressor::pinned_in(std::int64_t begin, std::int64_t end) const {
  return std::count_if(pinned_.begin(), pinned_.end(), [&](std::int32_t row) { return row >= begin && row < end; });
}

// Slots protected by number: pins, and beside them sinks that lie in this segment, the window, and one more (the last token, or room for
// a vote). Scope visual: pins alone.
std::int64_t SegmentCompressor::protected_slots() const {
  if (recipe_.composition().scope == Scope::kVisual) return std::ssize(pinned_);
  const Protection& protection = recipe_.composition().protection;
  const std::int64_t n = segment_.tokens;
  if (protection.completed_share > 0.0) return pinned_in(0, n - 1) + 1;
  const std::int64_t sinks = std::clamp<std::int64_t>(protection.sinks - segment_.first_original, 0, n);
  // Sharing needs two slots to compare.
  const std::int64_t shared = recipe_.composition().reduction.kind == Reduction::Kind::kSharedEntries ? 1 : 0;
  return pinned_in(sinks, n - protection.window) + sinks + protection.window + 1 + shared;
}

void SegmentCompressor::decide_budgets() {
  const Composition& parts = recipe_.composition();
  const std::int64_t least = std::accumulate(bounds_.low.begin(), bounds_.low.end(), std::int64_t{0});
  if (least < bounds_.total) {
    if (auto budgets = parts.allocator->budgets(measured_, bounds_)) {
      budgets_ = std::move(*budgets);
      return;
    }
  }
  std::vector<double> weights = parts.allocator->weights(measured_);
  for (double& weight : weights) {
    if (std::isfinite(weight)) continue;
    weight = 0.0;
    ++notes_.non_finite;
  }
  budgets_ = allocate(weights, bounds_.total, bounds_.low, bounds_.high);
  if (parts.faithful_clip) {
    budgets_ = allocate_without_redistribution(weights, bounds_.total, bounds_.scope_tokens);
    for (std::int64_t& budget : budgets_) budget = std::max(budget, std::min(bounds_.scope_tokens, protected_slots()));
  }
}

void SegmentCompressor::on_layer(const LayerView& view) {
  const auto layer = static_cast<std::size_t>(view.layer);
  require(wants_views() && view.layer >= 0 && layer < seen_.size() && !seen_[layer], "SegmentCompressor: an unexpected layer view");
  const Stopwatch watch;
  const Composition& parts = recipe_.composition();
  const StatisticsNeeds& needs = recipe_.needs();
  LayerStatistics statistics;
  statistics.layer = view.layer;
  const RowRule local = RowRule::last(parts.decode.local_rows);
  for (const StatisticsNeed& need : needs.attention) {
    // Without an event only what decode rows are added to is worth its time.
    const bool followed = need.rows == RowRule::all() || (!locally_.empty() && need.rows == local);
    if (!will_compress_ && !(followed && need.column_sums)) continue;
    statistics.by_rows.push_back(attention_statistics(view, segment_, need));
  }
  for (const RowStatistics& each : statistics.by_rows) {
    const std::vector<float>& sums = each.column_sums.values;
    notes_.non_finite += std::count_if(sums.begin(), sums.end(), [](float x) { return !std::isfinite(x); });
  }
  if (will_compress_) {
    if (needs.cross_modal) statistics.cross_modal = cross_modal_entropy(view, segment_, *needs.cross_modal);
    if (needs.elite) statistics.elite = elite_attention(view, segment_, *needs.elite);
    if (statistics.elite && statistics.elite->fallback) notes_.fallback_rows = true;
    if (!parts.allocator->needs().empty()) measured_[layer] = parts.allocator->measure(statistics, segment_);
    scores_[layer] = parts.scorer->score(statistics, segment_);
    protection_[layer] = parts.scorer->protection_score(statistics, segment_);
    if (parts.granularity == Granularity::kLayer && scores_[layer].heads > 1) {
      scores_[layer] = mean_over_heads(scores_[layer]);
      if (!protection_[layer].empty()) protection_[layer] = mean_over_heads(protection_[layer]);
    }
    settle(scores_[layer]);
    settle(protection_[layer]);
  }
  if (!accumulated_.empty()) accumulated_[layer] = statistics.at(RowRule::all());
  if (!locally_.empty()) locally_[layer] = statistics.at(local);
  seen_[layer] = true;
  ++seen_count_;
  if (will_compress_ && !recipe_.static_budgets() && seen_count_ == segment_.layers) decide_budgets();
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

std::vector<std::pair<std::string, double>> SegmentCompressor::reasons(std::int64_t layer) const {
  std::vector<std::pair<std::string, double>> reasons;
  if (!will_compress_) return reasons;
  const std::vector<std::string> names = recipe_.composition().allocator->measure_names();
  const LayerMeasure& measure = measured_.at(static_cast<std::size_t>(layer));
  for (std::size_t i = 0; i < names.size() && i < measure.size(); ++i) reasons.emplace_back(names[i], measure[i]);
  return reasons;
}

const RowStatistics& SegmentCompressor::accumulated(std::int64_t layer) const {
  require(layer >= 0 && static_cast<std::size_t>(layer) < accumulated_.size() && seen_[static_cast<std::size_t>(layer)],
          "SegmentCompressor: this layer's attention was not accumulated");
  return accumulated_[static_cast<std::size_t>(layer)];
}

const RowStatistics& SegmentCompressor::accumulated_locally(std::int64_t layer) const {
  require(layer >= 0 && static_cast<std::size_t>(layer) < locally_.size() && seen_[static_cast<std::size_t>(layer)],
          "SegmentCompressor: this layer's last rows were not accumulated apart");
  return locally_[static_cast<std::size_t>(layer)];
}

std::vector<std::int32_t> SegmentCompressor::select_all(std::span<const float> scores, std::span<const float> protection_scores,
                                                        std::int64_t budget) const {
  const Protection& protection = recipe_.composition().protection;
  const std::int64_t recent = protection.recent_share > 0.0 ? share_of(protection.recent_share, budget) : protection.window;
  if (protection.all_text) return select_with_all_text(scores, budget, recent);
  const std::int64_t sinks = std::max<std::int64_t>(0, protection.sinks - segment_.first_original);
  std::vector<std::int32_t> forced = pinned_;
  for (const std::int32_t row : protected_rows(segment_.tokens, sinks, recent)) {
    if (!std::binary_search(pinned_.begin(), pinned_.end(), row)) forced.push_back(row);
  }
  if (protection.completed_share > 0.0) {
    const std::int64_t beside_pins = std::clamp<std::int64_t>(
        round_half_up(protection.completed_share * static_cast<double>(budget)) + protection.sinks, 1, std::max<std::int64_t>(1, budget - 1));
    const std::int64_t wanted = std::min(budget, std::max(beside_pins, std::ssize(pinned_) + 1));
    if (std::ssize(forced) > wanted) forced.resize(static_cast<std::size_t>(wanted));
    if (!protection_scores.empty() && std::ssize(forced) < wanted) forced = select_rows(protection_scores, wanted, forced);
  }
  return select_rows(scores, budget, forced);
}

// Only visual rows compete; all others stay beside the budget.
std::vector<std::int32_t> SegmentCompressor::select_visual(std::span<const float> scores, std::int64_t budget) const {
  std::vector<float> competing;
  std::vector<std::int32_t> forced;
  for (const std::int32_t row : visual_) {
    if (std::binary_search(pinned_.begin(), pinned_.end(), row)) forced.push_back(static_cast<std::int32_t>(competing.size()));
    competing.push_back(scores[static_cast<std::size_t>(row)]);
  }
  std::vector<bool> stays(static_cast<std::size_t>(segment_.tokens), true);
  for (const std::int32_t row : visual_) stays[static_cast<std::size_t>(row)] = false;
  for (const std::int32_t index : select_rows(competing, budget, forced)) {
    stays[static_cast<std::size_t>(visual_[static_cast<std::size_t>(index)])] = true;
  }
  std::vector<std::int32_t> kept;
  for (std::int32_t row = 0; row < segment_.tokens; ++row) {
    if (stays[static_cast<std::size_t>(row)]) kept.push_back(row);
  }
  return kept;
}

// Every text row, every recent row and every pinned row stays; what text before the recent rows leaves of the budget goes to visual rows by score.
std::vector<std::int32_t> SegmentCompressor::select_with_all_text(std::span<const float> scores, std::int64_t budget, std::int64_t recent) const {
  const std::int64_t first_recent = std::max<std::int64_t>(0, segment_.tokens - std::max<std::int64_t>(1, recent));
  std::vector<std::int32_t> kept, images;
  std::vector<float> competing;
  for (std::int32_t row = 0; row < segment_.tokens; ++row) {
    const bool visual = segment_.modality[static_cast<std::size_t>(row)] == Modality::kVisual;
    if (!visual || row >= first_recent || std::binary_search(pinned_.begin(), pinned_.end(), row)) {
      kept.push_back(row);
    } else {
      images.push_back(row);
      competing.push_back(scores[static_cast<std::size_t>(row)]);
    }
  }
  const std::int64_t left = std::clamp<std::int64_t>(budget - std::ssize(kept), 0, std::ssize(images));
  for (const std::int32_t index : select_rows(competing, left, {})) kept.push_back(images[static_cast<std::size_t>(index)]);
  std::sort(kept.begin(), kept.end());
  return kept;
}

LayerPlan SegmentCompressor::plan(std::int64_t layer) const {
  require(plan_ready(layer), "SegmentCompressor: this layer's plan is not ready");
  const Composition& parts = recipe_.composition();
  const auto index = static_cast<std::size_t>(layer);
  LayerPlan plan;
  plan.budget = budgets_[index];

  HeadScores without_view;
  if (!wants_views()) {
    LayerStatistics statistics;
    statistics.layer = layer;
    without_view = parts.scorer->score(statistics, segment_);
    if (parts.granularity == Granularity::kLayer && without_view.heads > 1) without_view = mean_over_heads(without_view);
  }
  const HeadScores& scores = wants_views() ? scores_[index] : without_view;
  require(scores.columns == segment_.tokens && (scores.heads == 1 || scores.heads == segment_.kv_heads),
          "SegmentCompressor: a scorer must score every token for one or all kv heads");
  const HeadScores& protection = protection_[index];
  for (std::int64_t head = 0; head < segment_.kv_heads; ++head) {
    if (plan.budget >= bounds_.scope_tokens) {
      std::vector<std::int32_t> all(static_cast<std::size_t>(segment_.tokens));
      std::iota(all.begin(), all.end(), 0);
      plan.kept.push_back(std::move(all));
    } else if (scores.heads == 1 && head > 0) {
      plan.kept.push_back(plan.kept.front());
    } else if (parts.scope == Scope::kVisual) {
      plan.kept.push_back(select_visual(scores.row(head), plan.budget));
    } else {
      plan.kept.push_back(select_all(scores.row(head), protection.empty() ? std::span<const float>() : protection.row(head), plan.budget));
    }
  }
  return plan;
}

}  // namespace winnow
