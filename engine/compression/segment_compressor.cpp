#include "engine/compression/segment_compressor.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/recipes/select.h"

namespace winnow {

namespace {

// Scores rank last where they are not finite.
void settle(HeadScores& scores) {
  for (float& score : scores.values) {
    if (!std::isfinite(score)) score = -std::numeric_limits<float>::infinity();
  }
}

// A layer's measure is the mean over its sets of candidates; where these differ in length, what is missing of the shorter is its last
// number.
void add_measure(LayerMeasure& mean, const LayerMeasure& of_set, std::ptrdiff_t sets) {
  if (sets == 1) {
    mean = of_set;
    return;
  }
  const double so_far = mean.empty() ? 0.0 : mean.back();
  if (mean.size() < of_set.size()) mean.resize(of_set.size(), so_far);
  for (std::size_t i = 0; i < mean.size() && !of_set.empty(); ++i)
    mean[i] += of_set[std::min(i, of_set.size() - 1)] / static_cast<double>(sets);
}

// Adds the attention of the candidates' last token, which the sums have no column for yet.
void add_row(RowStatistics& statistics, const DecodeRow& row, const SegmentInfo& candidates) {
  require(statistics.column_squares.empty(), "SegmentCompressor: squares of a first answer token's attention are not followed");
  HeadScores wider{candidates.kv_heads, candidates.tokens, {}};
  for (std::int64_t head = 0; head < candidates.kv_heads; ++head) {
    const std::span<const float> attention = row.probabilities[static_cast<std::size_t>(candidates.first_head + head)];
    require(std::ssize(attention) >= candidates.tokens, "SegmentCompressor: a row without the segment");
    // Candidates are the last slots; those before them stay anyway.
    const std::span<const float> past = attention.first(attention.size() - static_cast<std::size_t>(candidates.tokens));
    const std::span<const float> own = attention.subspan(past.size());
    const std::span<const float> sums = statistics.column_sums.row(head);
    std::transform(sums.begin(), sums.end(), own.begin(), std::back_inserter(wider.values), std::plus<>());
    wider.values.push_back(own.back());
    if (statistics.past_sums.empty()) continue;
    std::vector<float>& earlier = statistics.past_sums[static_cast<std::size_t>(head)];
    std::transform(earlier.begin(), earlier.end(), past.begin(), earlier.begin(), std::plus<>());
  }
  statistics.column_sums = std::move(wider);
  statistics.row_count += 1;
}

}  // namespace

SegmentCompressor::SegmentCompressor(const Recipe& recipe, const SegmentInfo& segment)
    : recipe_(recipe), segment_(segment), sets_(segment) {
  const std::int64_t n = segment.tokens;
  require(n >= 0 && segment.layers > 0 && segment.kv_heads > 0 && static_cast<std::int64_t>(segment.modality.size()) == n,
          "SegmentCompressor: one modality per token, at least one layer and head");
  const Composition& parts = recipe.composition();
  const auto layers = static_cast<std::size_t>(segment.layers);
  will_compress_ = bound_event();
  awaits_first_token_ = will_compress_ && parts.event_at_first_decode;
  const bool follows_decode = awaits_first_token_ || (recipe.compresses() && parts.decode.accumulates);
  wants_views_ = n > 0 && !recipe.needs().empty() && (will_compress_ || follows_decode);
  if (wants_views_) {
    seen_.assign(layers, false);
    if (will_compress_) scores_.resize(layers);
    if (follows_decode) accumulated_.resize(layers);
    if (follows_decode && parts.decode.local_rows > 0) locally_.resize(layers);
    const SegmentInfo& first = sets_.of(0, 0).info;
    for (const StatisticsNeed& need : recipe.needs().attention)
      notes_.fallback_rows = notes_.fallback_rows || rows_of(need.rows, first).fallback;
  }
  if (!will_compress_) {
    budgets_.assign(layers, n);
    return;
  }
  measured_.resize(layers);
  protection_.resize(layers);
  if (recipe.static_budgets()) decide_budgets();
}

// Sets the bounds of every layer's budget. False: everything stays.
bool SegmentCompressor::bound_event() {
  const Composition& parts = recipe_.composition();
  const bool visual_only = parts.scope == Scope::kVisual;
  const bool has_visual = std::find(segment_.modality.begin(), segment_.modality.end(), Modality::kVisual) != segment_.modality.end();
  const bool short_text = !has_visual && segment_.tokens < recipe_.min_event_tokens();
  const bool not_its_turn = recipe_.turn_policy() == TurnPolicy::kFirstOnly && (!has_visual || segment_.compressed_before);
  if (!recipe_.compresses() || not_its_turn || (short_text && !whole_cache())) return false;
  if (short_text) kept_new_rows_ = segment_.tokens;

  std::int64_t pins = 0;
  for (std::int64_t layer = 0; layer < segment_.layers; ++layer) {
    std::int64_t high = 0, guarded = 0, pinned = 0;
    for (const Candidates& set : sets_.of_layer(layer)) {
      high = std::max(high, competing(set));
      guarded = std::max(guarded, protected_slots(set));
      pinned = std::max(pinned, competing_pins(set));
    }
    bounds_.high.push_back(high);
    bounds_.low.push_back(std::min(high, guarded));
    bounds_.scope_tokens = std::max(bounds_.scope_tokens, high);
    pins += pinned;
  }
  if (bounds_.scope_tokens == 0) return false;
  const std::int64_t seen = !whole_cache() ? bounds_.scope_tokens
                            : visual_only  ? segment_.retained->visual_seen
                                           : segment_.retained->tokens_seen;
  bounds_.total = total_budget(recipe_.budget(), segment_.layers, seen);
  bounds_.guarded = bounds_.low;
  for (std::size_t layer = 0; layer < bounds_.low.size(); ++layer) {
    bounds_.low[layer] = std::min(bounds_.high[layer], lower_bound_slots(recipe_.budget(), seen, bounds_.low[layer], parts.min_fraction));
  }
  if (parts.skip_outer_layers) {
    for (const std::size_t layer : {std::size_t{0}, std::size_t{1}, bounds_.low.size() - 1}) {
      if (layer < bounds_.low.size()) bounds_.low[layer] = bounds_.high[layer];
    }
  }
  // The no-op rule: if every layer may keep all it has, the cache stays bit-identical to an uncompressed one.
  const std::int64_t least = std::accumulate(bounds_.low.begin(), bounds_.low.end(), std::int64_t{0});
  const std::int64_t most = std::accumulate(bounds_.high.begin(), bounds_.high.end(), std::int64_t{0});
  const bool asked_for_less = bounds_.total < most;
  const bool happens = least < most && asked_for_less;
  notes_.pins_above_budget = asked_for_less && pins > bounds_.total;
  notes_.raised_to_floor = happens && !notes_.pins_above_budget && least > bounds_.total;
  return happens;
}

// Rows that may be dropped.
std::int64_t SegmentCompressor::competing(const Candidates& set) const {
  return recipe_.composition().scope == Scope::kVisual ? std::ssize(set.visual) : set.info.tokens;
}

std::int64_t SegmentCompressor::competing_pins(const Candidates& set) const {
  if (recipe_.composition().scope != Scope::kVisual) return std::ssize(set.pinned);
  return std::count_if(set.pinned.begin(), set.pinned.end(),
                       [&](std::int32_t row) { return set.info.modality[static_cast<std::size_t>(row)] == Modality::kVisual; });
}

// Slots protected by number: pins, and beside them sinks, the window, and one more (the last token, or room for a vote). Scope visual: pins
// alone.
std::int64_t SegmentCompressor::protected_slots(const Candidates& set) const {
  if (recipe_.composition().scope == Scope::kVisual) return competing_pins(set);
  const Protection& protection = recipe_.composition().protection;
  const std::int64_t n = set.info.tokens;
  const auto pinned_in = [&](std::int64_t begin, std::int64_t end) {
    return std::count_if(set.pinned.begin(), set.pinned.end(), [&](std::int32_t row) { return row >= begin && row < end; });
  };
  if (protection.completed_share > 0.0) return pinned_in(0, n - 1) + 1;
  const std::int64_t sinks = set.info.rows_before(protection.sinks);
  const std::int64_t window = std::max(protection.window, kept_new_rows_);
  // Sharing needs two slots to compare.
  const std::int64_t shared = recipe_.composition().reducer->sharing() != nullptr ? 1 : 0;
  return pinned_in(sinks, n - window) + sinks + window + 1 + shared;
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
  budgets_ = shared_by(weights);
}

std::vector<std::int64_t> SegmentCompressor::shared_by(std::span<const double> weights) const {
  if (!recipe_.composition().faithful_clip) return allocate(weights, bounds_.total, bounds_.low, bounds_.high);
  std::vector<std::int64_t> budgets = allocate_without_redistribution(weights, bounds_.total, bounds_.scope_tokens);
  for (std::size_t layer = 0; layer < budgets.size(); ++layer) {
    std::int64_t guarded = 0;
    for (const Candidates& set : sets_.of_layer(static_cast<std::int64_t>(layer))) guarded = std::max(guarded, protected_slots(set));
    budgets[layer] = std::min(bounds_.high[layer], std::max(budgets[layer], guarded));
  }
  return budgets;
}

std::vector<std::vector<std::int64_t>> SegmentCompressor::foreseen_slots() const {
  const auto layers = static_cast<std::size_t>(segment_.layers);
  const std::vector<std::int64_t> budgets = budgets_.empty() ? shared_by(std::vector<double>(layers, 1.0)) : budgets_;
  std::vector<std::vector<std::int64_t>> slots(layers);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    for (const Candidates& set : sets_.of_layer(static_cast<std::int64_t>(layer))) {
      if (!will_compress_ || budgets[layer] >= competing(set)) {
        slots[layer].push_back(set.info.tokens);
        continue;
      }
      // How many stay does not depend on which: the rules that choose are asked with scores that are all alike.
      const std::vector<float> alike(static_cast<std::size_t>(set.info.tokens), 0.0F);
      const bool visual_only = recipe_.composition().scope == Scope::kVisual;
      slots[layer].push_back(
          std::ssize(visual_only ? select_visual(set, alike, budgets[layer]) : select_all(set, alike, {}, budgets[layer])));
    }
    slots[layer].resize(static_cast<std::size_t>(segment_.kv_heads), slots[layer].back());  // one set of candidates may stand for all heads
  }
  return slots;
}

void SegmentCompressor::on_layer(const LayerView& view) {
  StatisticsMemo own;
  on_layer(view, own);
}

void SegmentCompressor::on_layer(const LayerView& view, StatisticsMemo& shared) {
  const auto layer = static_cast<std::size_t>(view.layer);
  require(wants_views() && view.layer >= 0 && layer < seen_.size() && !seen_[layer], "SegmentCompressor: an unexpected layer view");
  const Stopwatch watch;
  const Composition& parts = recipe_.composition();
  const RowRule local = RowRule::last(parts.decode.local_rows);
  const auto sets = sets_.of_layer(view.layer);
  double charged_ms = 0.0;
  for (const Candidates& set : sets) {
    const LayerView seen = set.view_of(view);
    const StatisticsNeeds needs = recipe_.needs_for(set.info);
    StatisticsMemo of_set;  // extended segments are nobody else's
    StatisticsMemo& memo = whole_cache() ? of_set : shared;
    LayerStatistics statistics;
    statistics.layer = view.layer;
    for (const StatisticsNeed& need : needs.attention) {
      // Without an event only what decode rows are added to is worth its time.
      const bool followed = need.rows == RowRule::all() || (!locally_.empty() && need.rows == local);
      if (!will_compress_ && !(followed && need.column_sums)) continue;
      statistics.by_rows.push_back(memo.rows(seen, set.info, need, charged_ms));
      set.add_earlier(statistics.by_rows.back(), parts.decode.local_rows);
    }
    for (const RowStatistics& each : statistics.by_rows) {
      const std::vector<float>& sums = each.column_sums.values;
      notes_.non_finite += std::count_if(sums.begin(), sums.end(), [](float x) { return !std::isfinite(x); });
    }
    if (will_compress_) {
      if (needs.cross_modal) statistics.cross_modal = memo.cross_modal(seen, set.info, *needs.cross_modal, charged_ms);
      if (needs.elite) statistics.elite = memo.elite(seen, set.info, *needs.elite, charged_ms);
      if (statistics.elite && statistics.elite->fallback) notes_.fallback_rows = true;
      if (!parts.allocator->needs().empty())
        add_measure(measured_[layer], parts.allocator->measure(statistics, set.info), std::ssize(sets));
      scores_[layer].push_back(joined(parts.scorer->score(statistics, set.info)));
      protection_[layer].push_back(joined(parts.scorer->protection_score(statistics, set.info)));
    }
    if (!accumulated_.empty()) accumulated_[layer].push_back(statistics.at(RowRule::all()));
    if (!locally_.empty()) locally_[layer].push_back(statistics.at(local));
  }
  seen_[layer] = true;
  ++seen_count_;
  if (will_compress_ && !recipe_.static_budgets() && seen_count_ == segment_.layers) decide_budgets();
  statistics_ms_ += watch.elapsed_ms() + charged_ms;
}

void SegmentCompressor::add_first_token() {
  require(awaits_first_token_ && with_first_token_.empty(), "SegmentCompressor: no first token is awaited");
  with_first_token_.assign(segment_.modality.begin(), segment_.modality.end());
  with_first_token_.push_back(Modality::kText);
  segment_.modality = with_first_token_;
  segment_.tokens += 1;
  sets_ = CandidateSets(segment_);
  if (kept_new_rows_ > 0) kept_new_rows_ = segment_.tokens;
}

void SegmentCompressor::on_first_token(std::int64_t layer, const DecodeRow& row) {
  require(awaits_first_token_ && !with_first_token_.empty() && std::ssize(row.probabilities) == segment_.kv_heads,
          "SegmentCompressor: an unexpected first token");
  const Stopwatch watch;
  const auto index = static_cast<std::size_t>(layer);
  const auto sets = sets_.of_layer(layer);
  for (std::size_t set = 0; set < sets.size(); ++set) {
    add_row(accumulated_.at(index)[set], row, sets[set].info);
    LayerStatistics seen;
    seen.layer = layer;
    seen.by_rows.push_back(accumulated_[index][set]);
    scores_[index][set] = joined(recipe_.composition().scorer->score(seen, sets[set].info));
  }
  if (++first_token_layers_ == segment_.layers) awaits_first_token_ = false;
  statistics_ms_ += watch.elapsed_ms();
}

// As the recipe's granularity wants them; what is not finite ranks last.
HeadScores SegmentCompressor::joined(HeadScores scores) const {
  if (scores.empty()) return scores;
  if (recipe_.composition().granularity == Granularity::kLayer && scores.heads > 1) scores = mean_over_heads(scores);
  settle(scores);
  return scores;
}

bool SegmentCompressor::plan_ready(std::int64_t layer) const {
  require(layer >= 0 && layer < segment_.layers, "SegmentCompressor: no such layer");
  if (!will_compress_ || awaits_first_token_ || budgets_.empty()) return false;
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

SegmentCompressor::Accumulated SegmentCompressor::accumulated_in(const std::vector<PerSet<RowStatistics>>& layers, std::int64_t layer,
                                                                 std::int64_t kv_head) const {
  require(layer >= 0 && static_cast<std::size_t>(layer) < layers.size() && seen_[static_cast<std::size_t>(layer)],
          "SegmentCompressor: this layer's attention was not accumulated");
  const RowStatistics& found = layers[static_cast<std::size_t>(layer)][sets_.set_index(layer, kv_head)];
  const std::int64_t row = sets_.row_of(layer, kv_head);
  const auto past = static_cast<std::size_t>(kv_head);
  Accumulated accumulated;
  accumulated.sums = found.column_sums.row(row);
  if (!found.column_squares.empty()) accumulated.squares = found.column_squares.row(row);
  if (!found.past_sums.empty()) accumulated.past_sums = found.past_sums[past];
  if (!found.past_squares.empty()) accumulated.past_squares = found.past_squares[past];
  return accumulated;
}

SegmentCompressor::Accumulated SegmentCompressor::accumulated(std::int64_t layer, std::int64_t kv_head) const {
  return accumulated_in(accumulated_, layer, kv_head);
}

SegmentCompressor::Accumulated SegmentCompressor::accumulated_locally(std::int64_t layer, std::int64_t kv_head) const {
  return accumulated_in(locally_, layer, kv_head);
}

// Of scores that may be the same for all heads.
std::span<const float> SegmentCompressor::row_of(const PerSet<HeadScores>& scores, std::int64_t layer, std::int64_t kv_head) const {
  const HeadScores& found = scores[sets_.set_index(layer, kv_head)];
  if (found.empty()) return {};
  return found.row(found.heads == 1 ? 0 : sets_.row_of(layer, kv_head));
}

std::span<const float> SegmentCompressor::scores(std::int64_t layer, std::int64_t kv_head) const {
  return row_of(scores_.at(static_cast<std::size_t>(layer)), layer, kv_head);
}

std::vector<std::int32_t> SegmentCompressor::select_all(const Candidates& set, std::span<const float> scores,
                                                        std::span<const float> protection_scores, std::int64_t budget) const {
  const Protection& protection = recipe_.composition().protection;
  const std::int64_t asked = protection.recent_share > 0.0 ? share_of(protection.recent_share, budget) : protection.window;
  const std::int64_t recent = std::max(asked, kept_new_rows_);
  if (protection.all_text) return select_with_all_text(set, scores, budget, recent);
  std::vector<std::int32_t> forced = set.pinned;
  for (const std::int32_t row : protected_rows(set.info.tokens, set.info.rows_before(protection.sinks), recent)) {
    if (!std::binary_search(set.pinned.begin(), set.pinned.end(), row)) forced.push_back(row);
  }
  if (protection.completed_share > 0.0) {
    const std::int64_t beside_pins =
        std::clamp<std::int64_t>(round_half_up(protection.completed_share * static_cast<double>(budget)) + protection.sinks, 1,
                                 std::max<std::int64_t>(1, budget - 1));
    const std::int64_t wanted = std::min(budget, std::max(beside_pins, std::ssize(set.pinned) + std::max<std::int64_t>(1, kept_new_rows_)));
    if (std::ssize(forced) > wanted) forced.resize(static_cast<std::size_t>(wanted));
    if (!protection_scores.empty() && std::ssize(forced) < wanted) forced = select_rows(protection_scores, wanted, forced);
  }
  return select_rows(scores, budget, forced);
}

// Only visual rows compete; all others stay beside the budget.
std::vector<std::int32_t> SegmentCompressor::select_visual(const Candidates& set, std::span<const float> scores,
                                                           std::int64_t budget) const {
  std::vector<float> competing;
  std::vector<std::int32_t> forced;
  for (const std::int32_t row : set.visual) {
    if (std::binary_search(set.pinned.begin(), set.pinned.end(), row)) forced.push_back(static_cast<std::int32_t>(competing.size()));
    competing.push_back(scores[static_cast<std::size_t>(row)]);
  }
  std::vector<bool> stays(static_cast<std::size_t>(set.info.tokens), true);
  for (const std::int32_t row : set.visual) stays[static_cast<std::size_t>(row)] = false;
  for (const std::int32_t index : select_rows(competing, budget, forced)) {
    stays[static_cast<std::size_t>(set.visual[static_cast<std::size_t>(index)])] = true;
  }
  std::vector<std::int32_t> kept;
  for (std::int32_t row = 0; row < set.info.tokens; ++row) {
    if (stays[static_cast<std::size_t>(row)]) kept.push_back(row);
  }
  return kept;
}

// Every text row, every recent row and every pinned row stays; what text before the recent rows leaves of the budget goes to visual rows by
// score.
std::vector<std::int32_t> SegmentCompressor::select_with_all_text(const Candidates& set, std::span<const float> scores, std::int64_t budget,
                                                                  std::int64_t recent) const {
  const std::int64_t first_recent = std::max<std::int64_t>(0, set.info.tokens - std::max<std::int64_t>(1, recent));
  std::vector<std::int32_t> kept, images;
  std::vector<float> competing;
  for (std::int32_t row = 0; row < set.info.tokens; ++row) {
    const bool visual = set.info.modality[static_cast<std::size_t>(row)] == Modality::kVisual;
    if (!visual || row >= first_recent || std::binary_search(set.pinned.begin(), set.pinned.end(), row)) {
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

  PerSet<HeadScores> without_views;
  if (!wants_views()) {
    for (const Candidates& set : sets_.of_layer(layer)) {
      LayerStatistics statistics;
      statistics.layer = layer;
      without_views.push_back(joined(parts.scorer->score(statistics, set.info)));
    }
  }
  const PerSet<HeadScores>& scores = wants_views() ? scores_[index] : without_views;
  for (std::int64_t head = 0; head < segment_.kv_heads; ++head) {
    const Candidates& set = sets_.of(layer, head);
    const HeadScores& found = scores[sets_.set_index(layer, head)];
    require(found.columns == set.info.tokens && (found.heads == 1 || found.heads == set.info.kv_heads),
            "SegmentCompressor: a scorer must score every token for one or all kv heads");
    if (plan.budget >= competing(set)) {
      std::vector<std::int32_t> all(static_cast<std::size_t>(set.info.tokens));
      std::iota(all.begin(), all.end(), 0);
      plan.kept.push_back(std::move(all));
    } else if (head > 0 && found.heads == 1 && sets_.of_layer(layer).size() == 1) {
      plan.kept.push_back(plan.kept.front());
    } else if (parts.scope == Scope::kVisual) {
      plan.kept.push_back(select_visual(set, row_of(scores, layer, head), plan.budget));
    } else {
      const std::span<const float> guarding = wants_views() ? row_of(protection_[index], layer, head) : std::span<const float>();
      plan.kept.push_back(select_all(set, row_of(scores, layer, head), guarding, plan.budget));
    }
  }
  return plan;
}

}  // namespace winnow
