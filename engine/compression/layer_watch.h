// Statistics of a segment's attention for the event and for decoding after it: computed layer by layer during prefill, then from the first
// answer token if the recipe waits for it.
//
// Owned by SegmentCompressor, which decides with it. Recipe and candidates must outlive it. Engine thread only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/compression/candidates.h"
#include "engine/compression/statistics/statistics_memo.h"
#include "engine/layers/layer_view.h"
#include "engine/recipes/recipe.h"

namespace winnow {

// Attention that a head's candidates received from all rows (with turn policy whole also from earlier turns' rows), and its squares.
// `past`: the same for retained slots that are not candidates, in slot order; may be empty.
struct AccumulatedAttention {
  std::span<const float> sums;
  std::span<const float> squares{};  // empty if not needed
  std::span<const float> past_sums{};
  std::span<const float> past_squares{};
};

class LayerWatch {
 public:
  // One value per set of candidates of a layer.
  template <class Value>
  using PerSet = std::vector<Value>;

  // for_event: compute scores and measures; follows: also accumulated attention.
  LayerWatch(const Recipe& recipe, const CandidateSets& sets, std::int64_t layers, bool for_event, bool follows);

  // False: no views are needed, neither by see() nor by see_probe().
  bool sees_layers() const { return !seen_.empty(); }
  bool wants_views() const { return sees_layers() && recipe_->needs().of_prefill(); }
  // The part of the views that attention can accumulate as it runs.
  ReceivedNeed wants_received() const;
  // Layers in any order, each once.
  void see(const LayerView& view) { see(view, nullptr); }
  // shared: statistics that others have computed for the same layer; their time counts in ms(), too.
  void see(const LayerView& view, StatisticsMemo& shared) { see(view, &shared); }
  // Instead of see() if a probe scores the cache: its votes for every row, [kv_heads, n].
  void see_probe(LayerId layer, HeadScores votes);
  bool has_seen(LayerId layer) const { return seen_[layer]; }
  bool has_seen_all() const { return seen_count_ == seen_.layers(); }
  // The segment's last token, which the candidates include but the layer's sums do not yet.
  void see_first_token(LayerId layer, const DecodeRow& row);

  // The allocator's measures; empty if it needs none.
  const PerLayer<LayerMeasure>& measured() const { return measured_; }
  // The scores of a layer that was seen, in the recipe's granularity; NaN and infinity rank last.
  const PerSet<HeadScores>& scores(LayerId layer) const;
  // If no views are needed: computed from the rows only.
  PerSet<HeadScores> scores_without_views(LayerId layer) const;
  // One head's scores, one per candidate.
  std::span<const float> row_of(const PerSet<HeadScores>& scores, LayerId layer, KvHead kv_head) const;
  // The scorer's second score, likewise; empty if it has none.
  std::span<const float> protection(LayerId layer, KvHead kv_head) const;
  // Only if attention is accumulated and the layer has been seen; the second from the last composition().decode.local_rows rows only.
  bool has_accumulated() const { return !accumulated_.empty(); }
  AccumulatedAttention accumulated(LayerId layer, KvHead kv_head) const;
  AccumulatedAttention accumulated_locally(LayerId layer, KvHead kv_head) const;

  double ms() const { return ms_; }
  // No row follows the last visual token, so the last rows were used.
  bool fallback_rows() const { return fallback_rows_; }
  // Statistics replaced because they were NaN or infinite.
  std::int64_t non_finite() const { return non_finite_; }

 private:
  bool computes(const StatisticsNeed& need) const;
  void see(const LayerView& view, StatisticsMemo* shared);
  // shared: may be null.
  LayerStatistics statistics_of(const Candidates& set, const LayerView& view, StatisticsMemo* shared, double& charged_ms);
  void count_non_finite(const HeadScores& scores);
  HeadScores joined(HeadScores scores) const;
  AccumulatedAttention accumulated_in(const PerLayer<PerSet<RowStatistics>>& layers, LayerId layer, KvHead kv_head) const;

  const Recipe* recipe_;
  const CandidateSets* sets_;
  bool for_event_;
  PerLayer<bool> seen_;
  std::int64_t seen_count_ = 0;
  PerLayer<LayerMeasure> measured_;
  PerLayer<PerSet<HeadScores>> scores_;          // O(layers * kv_heads * n)
  PerLayer<PerSet<HeadScores>> protection_;      // if the scorer has them
  PerLayer<PerSet<RowStatistics>> accumulated_;  // if decode rows are accumulated
  PerLayer<PerSet<RowStatistics>> locally_;      // likewise from the last rows only
  double ms_ = 0.0;
  bool fallback_rows_ = false;
  std::int64_t non_finite_ = 0;
};

}  // namespace winnow
