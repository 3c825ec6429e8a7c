// What allocators and scorers may know about one layer: plain numbers, no torch.
//
// A part declares a StatisticsNeed; SegmentCompressor merges the needs of a recipe, has each computed once per layer
// (attention_statistics.h) and hands the results out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/compression/statistics/row_rule.h"

namespace winnow {

// How the query heads of a group are joined into their kv head's number.
enum class GroupReduce : int { kMean = 1, kMaximum = 2, kSum = 3 };

struct StatisticsNeed {
  RowRule rows;
  bool column_sums = false;                // how much attention each segment column gets from the rows
  GroupReduce reduce = GroupReduce::kMean;  // of column sums
  std::optional<double> sparsity_p;        // share of entries below p times their row's maximum
};

// One number per kv head and segment column: values[head * columns + column].
struct HeadScores {
  std::int64_t heads = 0;
  std::int64_t columns = 0;
  std::vector<float> values;

  std::span<const float> row(std::int64_t head) const {
    return std::span(values).subspan(static_cast<std::size_t>(head * columns), static_cast<std::size_t>(columns));
  }
  std::span<float> row(std::int64_t head) {
    return std::span(values).subspan(static_cast<std::size_t>(head * columns), static_cast<std::size_t>(columns));
  }
};

struct RowStatistics {
  RowRule rows;
  GroupReduce reduce = GroupReduce::kMean;
  HeadScores column_sums;                // [kv_heads, n]; empty if nobody asked
  std::vector<std::int64_t> zero_counts;  // per query head: entries below p times the row maximum; empty if nobody asked
  double sparsity = 0.0;                 // mean over query heads of zero count / allowed entries; NaN if a row was not finite
};

struct LayerStatistics {
  std::int64_t layer = 0;
  std::vector<RowStatistics> by_rows;

  // What was computed for this rule; a part only asks for what it declared.
  const RowStatistics& at(const RowRule& rows, GroupReduce reduce = GroupReduce::kMean) const;
};

// Needs over the same rows (and group reduction) are served by one pass.
std::vector<StatisticsNeed> merge_needs(std::span<const StatisticsNeed> needs);

}  // namespace winnow
