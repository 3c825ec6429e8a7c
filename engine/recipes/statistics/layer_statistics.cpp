#include "engine/recipes/statistics/layer_statistics.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"

namespace winnow {

namespace {

[[noreturn]] void refuse_two(const char* what) {
  throw Exception(ErrorCode::kIllegalRecipe, "method", std::string("allocator and scorer want ") + what);
}

template <class Need>
void merge_one(std::optional<Need>& into, const std::optional<Need>& other, const char* what) {
  if (!other) return;
  if (into && *into != *other) refuse_two(what);
  into = other;
}

}  // namespace

RowRange rows_of(const RowRule& rule, const SegmentInfo& segment) {
  constexpr std::int64_t kFallbackRows = 32;
  const std::int64_t n = segment.tokens;
  if (rule.kind == RowRule::Kind::kLast) return {std::max<std::int64_t>(0, n - rule.window), false};
  const std::int64_t last_visual = segment.last_visual();
  const bool fallback = last_visual < 0 || last_visual == n - 1;
  std::int64_t rows = fallback ? kFallbackRows : n - 1 - last_visual;
  rows = std::max(rows, rule.min_rows);
  if (rule.max_rows > 0) rows = std::min(rows, rule.max_rows);
  return {std::max<std::int64_t>(0, n - rows), fallback};
}

const ByAttention* judged_as_read(const ProbeNeed& need) {
  const auto* repeated = std::get_if<RepetitionProbe>(&need);
  if (repeated != nullptr && repeated->rows == Repetition::kAsRead) return &repeated->judgement;
  const auto* described = std::get_if<DescriptionProbe>(&need);
  if (described != nullptr && described->repetition == Repetition::kAsRead) return std::get_if<ByAttention>(&described->judgement);
  return nullptr;
}

std::span<const std::string> asked_instead(const ProbeNeed& need) {
  if (const auto* described = std::get_if<DescriptionProbe>(&need)) return described->ask;
  if (const auto* requested = std::get_if<RequestProbe>(&need)) return requested->ask;
  return {};
}

HeadScores mean_over_heads(const HeadScores& scores) {
  HeadScores mean{1, scores.columns, std::vector<float>(static_cast<std::size_t>(scores.columns))};
  std::vector<double> sums(static_cast<std::size_t>(scores.columns), 0.0);
  for (std::int64_t head = 0; head < scores.heads; ++head) {
    const std::span<const float> row = scores.row(head);
    for (std::size_t column = 0; column < row.size(); ++column) sums[column] += row[column];
  }
  const auto heads = static_cast<double>(scores.heads);
  std::ranges::transform(sums, mean.values.begin(), [heads](double sum) { return static_cast<float>(sum / heads); });
  return mean;
}

const RowStatistics& LayerStatistics::at(const RowRule& rows, GroupReduce reduce) const {
  const auto found =
      std::find_if(by_rows.begin(), by_rows.end(), [&](const RowStatistics& each) { return each.rows == rows && each.reduce == reduce; });
  require(found != by_rows.end(), "LayerStatistics: a part reads a statistic that it did not declare");
  return *found;
}

RowStatistics LayerStatistics::taken(const RowRule& rows, GroupReduce reduce) {
  const auto found = by_rows.begin() + (&at(rows, reduce) - by_rows.data());
  RowStatistics statistics = std::move(*found);
  by_rows.erase(found);
  return statistics;
}

StatisticsNeeds merge_needs(std::span<const StatisticsNeeds> needs) {
  StatisticsNeeds merged;
  for (const StatisticsNeeds& part : needs) {
    merge_one(merged.cross_modal, part.cross_modal, "two kinds of entropy");
    merge_one(merged.elite, part.elite, "two choices of elite tokens");
    merge_one(merged.probe, part.probe, "two probes");
    merge_one(merged.expected, part.expected, "two horizons");
    merge_one(merged.change, part.change, "two ways to follow change");
    merged.key_likeness = merged.key_likeness || part.key_likeness;
    merged.value_norms = merged.value_norms || part.value_norms;
    for (const StatisticsNeed& need : part.attention) {
      const auto same = std::find_if(merged.attention.begin(), merged.attention.end(),
                                     [&](const StatisticsNeed& each) { return each.rows == need.rows && each.reduce == need.reduce; });
      if (same == merged.attention.end()) {
        merged.attention.push_back(need);
        continue;
      }
      same->column_sums = same->column_sums || need.column_sums;
      same->column_squares = same->column_squares || need.column_squares;
      same->head_variance = same->head_variance || need.head_variance;
      same->row_entropy = same->row_entropy || need.row_entropy;
      if (need.sparsity_p && same->sparsity_p && *need.sparsity_p != *same->sparsity_p) refuse_two("two sparsity thresholds");
      if (need.sparsity_p) same->sparsity_p = need.sparsity_p;
    }
  }
  return merged;
}

}  // namespace winnow
