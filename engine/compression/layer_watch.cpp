#include "engine/compression/layer_watch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/compression/statistics/context_keys.h"
#include "engine/compression/statistics/expected_attention.h"

namespace winnow {

namespace {

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
  require(statistics.column_squares.empty(), "LayerWatch: squares of a first answer token's attention are not followed");
  HeadScores wider{candidates.kv_heads, candidates.tokens, {}};
  for (KvHead head{0}; head < candidates.kv_heads; ++head) {
    const std::span<const float> attention = row.probabilities[static_cast<std::size_t>(candidates.first_head + head)];
    require(std::ssize(attention) >= candidates.tokens, "LayerWatch: a row without the segment");
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

LayerWatch::LayerWatch(const Recipe& recipe, const CandidateSets& sets, std::int64_t layers, bool for_event, bool follows)
    : recipe_(&recipe), sets_(&sets), for_event_(for_event) {
  if (for_event) measured_ = PerLayer<LayerMeasure>::of(layers);
  const SegmentInfo& first = sets.of(LayerId(0), KvHead(0)).info;
  const bool has_new_tokens = first.tokens > first.first_row;
  if (!has_new_tokens || recipe.needs().empty() || !(for_event || follows)) return;
  seen_ = PerLayer<bool>::of(layers);
  if (for_event) scores_ = protection_ = PerLayer<PerSet<HeadScores>>::of(layers);
  if (follows) accumulated_ = PerLayer<PerSet<RowStatistics>>::of(layers);
  if (follows && recipe.composition().decode.local_rows > 0) locally_ = PerLayer<PerSet<RowStatistics>>::of(layers);
  for (const StatisticsNeed& need : recipe.needs().attention) fallback_rows_ = fallback_rows_ || rows_of(need.rows, first).fallback;
}

// Without an event only what decode rows are added to is worth its time.
bool LayerWatch::computes(const StatisticsNeed& need) const {
  const RowRule local = RowRule::last(recipe_->composition().decode.local_rows);
  const bool followed = need.rows == RowRule::all() || (!locally_.empty() && need.rows == local);
  return for_event_ || (followed && need.column_sums);
}

ReceivedNeed LayerWatch::wants_received() const {
  ReceivedNeed most = ReceivedNeed::kNothing;
  if (!wants_views()) return most;
  for (const StatisticsNeed& need : recipe_->needs_for(sets_->of(LayerId(0), KvHead(0)).info).attention) {
    if (computes(need)) most = std::max(most, received_need(need));
  }
  return most;
}

LayerStatistics LayerWatch::statistics_of(const Candidates& set, const LayerView& view, StatisticsMemo* shared, double& charged_ms) {
  const LayerView seen = set.view_of(view);
  const StatisticsNeeds needs = recipe_->needs_for(set.info);
  const std::int64_t local_rows = recipe_->composition().decode.local_rows;
  LayerStatistics statistics{.layer = view.layer};
  StatisticsMemo own;
  StatisticsMemo* const memo = shared != nullptr ? shared : &own;
  for (const StatisticsNeed& need : needs.attention) {
    if (!computes(need)) continue;
    statistics.by_rows.push_back(shared != nullptr ? shared->rows(seen, set.info, need, charged_ms)
                                                   : attention_statistics(seen, set.info, need));
    set.add_earlier(statistics.by_rows.back(), local_rows);
  }
  for (const RowStatistics& each : statistics.by_rows) count_non_finite(each.column_sums);
  if (for_event_ && needs.cross_modal) statistics.cross_modal = memo->cross_modal(seen, set.info, *needs.cross_modal, charged_ms);
  if (for_event_ && needs.elite) statistics.elite = memo->elite(seen, set.info, *needs.elite, charged_ms);
  if (statistics.elite && statistics.elite->fallback) fallback_rows_ = true;
  if (for_event_ && needs.key_likeness) statistics.key_likeness = key_likeness(seen, set.info);
  if (for_event_ && needs.value_norms) statistics.value_norms = value_norms(seen, set.info);
  if (for_event_ && needs.expected) statistics.expected = expected_attention(seen, set.info, *needs.expected);
  for (const HeadScores* each : {&statistics.key_likeness, &statistics.value_norms, &statistics.expected}) count_non_finite(*each);
  return statistics;
}

void LayerWatch::see(const LayerView& view, StatisticsMemo* shared) {
  const LayerId layer = view.layer;
  require(seen_.has(layer) && !seen_[layer], "LayerWatch: an unexpected layer view");
  const Stopwatch watch;
  const Composition& parts = recipe_->composition();
  const auto sets = sets_->of_layer(layer);
  double charged_ms = 0.0;
  for (const Candidates& set : sets) {
    // Extended segments are nobody else's.
    LayerStatistics statistics = statistics_of(set, view, set.retained != nullptr ? nullptr : shared, charged_ms);
    if (for_event_) {
      if (!parts.allocator->needs().empty())
        add_measure(measured_[layer], parts.allocator->measure(statistics, set.info), std::ssize(sets));
      scores_[layer].push_back(joined(parts.scorer->score(statistics, set.info)));
      protection_[layer].push_back(joined(parts.scorer->protection_score(statistics, set.info)));
    }
    if (!locally_.empty()) locally_[layer].push_back(statistics.at(RowRule::last(parts.decode.local_rows)));
    if (!accumulated_.empty()) accumulated_[layer].push_back(statistics.taken(RowRule::all()));
  }
  seen_[layer] = true;
  ++seen_count_;
  ms_ += watch.elapsed_ms() + charged_ms;
}

void LayerWatch::see_probe(LayerId layer, HeadScores votes) {
  const auto sets = sets_->of_layer(layer);
  require(for_event_ && seen_.has(layer) && !seen_[layer] && sets.size() == 1, "LayerWatch: an unexpected probe");
  count_non_finite(votes);
  LayerStatistics statistics{.layer = layer, .probe = std::move(votes)};
  scores_[layer].push_back(joined(recipe_->composition().scorer->score(statistics, sets.front().info)));
  protection_[layer].emplace_back();
  seen_[layer] = true;
  ++seen_count_;
}

void LayerWatch::see_first_token(LayerId layer, const DecodeRow& row) {
  const Stopwatch watch;
  const auto sets = sets_->of_layer(layer);
  for (std::size_t set = 0; set < sets.size(); ++set) {
    add_row(accumulated_.at(layer)[set], row, sets[set].info);
    LayerStatistics seen{.layer = layer};
    seen.by_rows.push_back(accumulated_[layer][set]);
    scores_[layer][set] = joined(recipe_->composition().scorer->score(seen, sets[set].info));
  }
  ms_ += watch.elapsed_ms();
}

void LayerWatch::count_non_finite(const HeadScores& scores) {
  std::int32_t found = 0;  // of one layer
  for (const float score : scores.values) found += std::isfinite(score) ? 0 : 1;
  non_finite_ += found;
}

HeadScores LayerWatch::joined(HeadScores scores) const {
  if (scores.empty()) return scores;
  if (recipe_->composition().granularity == Granularity::kLayer && scores.heads > 1) scores = mean_over_heads(scores);
  for (float& score : scores.values) score = std::isfinite(score) ? score : -std::numeric_limits<float>::infinity();
  return scores;
}

const LayerWatch::PerSet<HeadScores>& LayerWatch::scores(LayerId layer) const { return scores_.at(layer); }

LayerWatch::PerSet<HeadScores> LayerWatch::scores_without_views(LayerId layer) const {
  PerSet<HeadScores> scores;
  LayerStatistics nothing{.layer = layer};
  for (const Candidates& set : sets_->of_layer(layer)) scores.push_back(joined(recipe_->composition().scorer->score(nothing, set.info)));
  return scores;
}

std::span<const float> LayerWatch::row_of(const PerSet<HeadScores>& scores, LayerId layer, KvHead kv_head) const {
  const HeadScores& found = scores[sets_->set_index(layer, kv_head)];
  if (found.empty()) return {};
  return found.row(found.heads == 1 ? 0 : sets_->row_of(layer, kv_head));
}

std::span<const float> LayerWatch::protection(LayerId layer, KvHead kv_head) const {
  return protection_.empty() ? std::span<const float>() : row_of(protection_.at(layer), layer, kv_head);
}

AccumulatedAttention LayerWatch::accumulated_in(const PerLayer<PerSet<RowStatistics>>& layers, LayerId layer, KvHead kv_head) const {
  require(layers.has(layer) && has_seen(layer), "LayerWatch: this layer's attention was not accumulated");
  const RowStatistics& found = layers[layer][sets_->set_index(layer, kv_head)];
  const std::int64_t row = sets_->row_of(layer, kv_head);
  const auto past = static_cast<std::size_t>(kv_head);
  AccumulatedAttention accumulated{.sums = found.column_sums.row(row)};
  if (!found.column_squares.empty()) accumulated.squares = found.column_squares.row(row);
  if (!found.past_sums.empty()) accumulated.past_sums = found.past_sums[past];
  if (!found.past_squares.empty()) accumulated.past_squares = found.past_squares[past];
  return accumulated;
}

AccumulatedAttention LayerWatch::accumulated(LayerId layer, KvHead kv_head) const { return accumulated_in(accumulated_, layer, kv_head); }

AccumulatedAttention LayerWatch::accumulated_locally(LayerId layer, KvHead kv_head) const {
  return accumulated_in(locally_, layer, kv_head);
}

}  // namespace winnow
