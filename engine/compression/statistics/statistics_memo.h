// Statistics of one layer that several recipes need: computed once, and their time is charged to each.
//
// Used by SegmentCompressor; shared by the recipes of a comparison, which watch the same prefill. One memo per layer view and segment.
// Engine thread only.
#pragma once

#include <utility>
#include <vector>

#include "engine/base/stopwatch.h"
#include "engine/compression/statistics/attention_statistics.h"
#include "engine/compression/statistics/cross_modal_entropy.h"
#include "engine/compression/statistics/elite_attention.h"

namespace winnow {

class StatisticsMemo {
 public:
  // view and segment must be the same at every call. Adds a statistic's time to `charged_ms` if it was computed earlier.
  const RowStatistics& rows(const LayerView& view, const SegmentInfo& segment, const StatisticsNeed& need, double& charged_ms) {
    return found(rows_, need, charged_ms, [&] { return attention_statistics(view, segment, need); });
  }
  const CrossModalEntropy& cross_modal(const LayerView& view, const SegmentInfo& segment, const CrossModalNeed& need, double& charged_ms) {
    return found(cross_modal_, need, charged_ms, [&] { return cross_modal_entropy(view, segment, need); });
  }
  const EliteAttention& elite(const LayerView& view, const SegmentInfo& segment, const EliteNeed& need, double& charged_ms) {
    return found(elite_, need, charged_ms, [&] { return elite_attention(view, segment, need); });
  }

 private:
  template <class Need, class Value>
  struct Entry {
    Need need;
    Value value;
    double took_ms = 0.0;
  };

  template <class Need, class Value, class Compute>
  static const Value& found(std::vector<Entry<Need, Value>>& entries, const Need& need, double& charged_ms, const Compute& compute) {
    for (const Entry<Need, Value>& entry : entries) {
      if (entry.need != need) continue;
      charged_ms += entry.took_ms;
      return entry.value;
    }
    const Stopwatch watch;
    Value value = compute();
    entries.push_back({need, std::move(value), watch.elapsed_ms()});
    return entries.back().value;
  }

  std::vector<Entry<StatisticsNeed, RowStatistics>> rows_;
  std::vector<Entry<CrossModalNeed, CrossModalEntropy>> cross_modal_;
  std::vector<Entry<EliteNeed, EliteAttention>> elite_;
};

}  // namespace winnow
