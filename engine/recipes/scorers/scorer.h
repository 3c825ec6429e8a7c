// Scorer: how important each token of the segment is, higher = keep.
//
// One file per rule or for rules of one kind; a rule that one preset alone has is in the preset's file. Const and pure: what a scorer knows
// of the layer is in the statistics that it declared. No torch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/recipes/refusal.h"
#include "engine/recipes/segment_info.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

struct Composition;

class Scorer {
 public:
  virtual ~Scorer() = default;
  // Short and stable: recipes name it.
  virtual std::string name() const = 0;
  // Refuses a composition whose other parts leave it no room; nothing: it fits.
  virtual std::optional<Refusal> fits(const Composition&) const { return std::nullopt; }
  virtual StatisticsNeeds needs() const { return {}; }
  // Scores for kv_heads heads, or for one that stands for all heads of the layer. Values that are not finite rank last.
  virtual HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const = 0;
  // A second score, of the same shape: the highest are protected beside sinks and window (RoCo). Empty: there is none.
  virtual HeadScores protection_score(const LayerStatistics&, const SegmentInfo&) const { return {}; }
  // True if the score of a slot can be kept up to date while decoding (phase decode).
  virtual bool follows_decode() const { return false; }
  // A score is a sum (or a mean) of attention that the token got, and nothing else: scores of a layer are shares of its attention mass.
  virtual bool sums_attention() const { return false; }
  // True if it can judge media that come in clips (phase stream).
  virtual bool judges_streams() const { return false; }
  // Scores every slot of the media in one kv head when a clip has been read and no probe judges; `target` of them stay.
  virtual std::vector<float> stream_scores(const StreamedSlots&, std::int64_t /*target*/) const { return {}; }
  // Only the last rows of a segment judge, which stay themselves: an observation window.
  virtual bool observes_from_a_window() const { return false; }
};

}  // namespace winnow
