// Scorer: how important each token of the segment is, higher = keep.
//
// One file per rule. Const and pure: what a scorer knows of the layer is in the statistics that it declared. No torch.
#pragma once

#include <optional>
#include <string>

#include "engine/recipes/segment_info.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

class Scorer {
 public:
  virtual ~Scorer() = default;
  // Short and stable: recipes name it.
  virtual std::string name() const = 0;
  virtual StatisticsNeeds needs() const { return {}; }
  // Scores for kv_heads heads, or for one that stands for all heads of the layer. Values that are not finite rank last.
  virtual HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const = 0;
  // A second score, of the same shape: the highest are protected beside sinks and window (RoCo). Empty: there is none.
  virtual HeadScores protection_score(const LayerStatistics&, const SegmentInfo&) const { return {}; }
  // Whether the score of a slot can be kept up to date while decoding (phase decode).
  virtual bool follows_decode() const { return false; }
};

}  // namespace winnow
