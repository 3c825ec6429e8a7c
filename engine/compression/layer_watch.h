// What an event and the decoding after it have to know of a segment's attention: computed layer by layer while the prefill shows it, then
// from the first answer token where the recipe waits for it.
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

// Attention that the candidates of a head got from all rows (with turn policy whole also from those of earlier turns), and its squares;
// `past`: that slots retained before got where they are no candidates, in slot order, empty if there are none.
struct AccumulatedAttention {
  std::span<const float> sums;
  std::span<const float> squares;  // empty if not needed
  std::span<const float> past_sums;
  std::span<const float> past_squares;
};

class LayerWatch {
 public:
  // Of one layer, per set of candidates.
  template <class Value>
  using PerSet = std::vector<Value>;

  // for_event: scores and measures are wanted; follows: accumulated attention is, too.
  LayerWatch(const Recipe& recipe, const CandidateSets& sets, std::int64_t layers, bool for_event, bool follows);

  // False: nothing has to be seen, neither by see() nor by see_probe().
  bool sees_layers() const { return !seen_.empty(); }
  bool wants_views() const { return sees_layers() && recipe_->needs().of_prefill(); }
  // Of what the views show, what attention can count as it goes.
  ReceivedNeed wants_received() const;
  // Layers in any order, each once.
  void see(const LayerView& view) { see(view, nullptr); }
  // shared: what others have computed of the same layer; it counts in ms() nevertheless.
  void see(const LayerView& view, StatisticsMemo& shared) { see(view, &shared); }
  // In place of see() where a probe judges: its votes for every row, [kv_heads, n].
  void see_probe(LayerId layer, HeadScores votes);
  bool has_seen(LayerId layer) const { return seen_[layer]; }
  bool has_seen_all() const { return seen_count_ == seen_.layers(); }
  // The segment's last token, which the candidates now have and the layer's sums not yet.
  void see_first_token(LayerId layer, const DecodeRow& row);

  // The allocator's numbers; empty measures where it needs none.
  const PerLayer<LayerMeasure>& measured() const { return measured_; }
  // Of a layer that was seen, as the recipe's granularity wants them; what is not finite ranks last.
  const PerSet<HeadScores>& scores(LayerId layer) const;
  // Where nothing has to be seen: made of the rows alone.
  PerSet<HeadScores> scores_without_views(LayerId layer) const;
  // Of such scores, one per candidate of a head.
  std::span<const float> row_of(const PerSet<HeadScores>& scores, LayerId layer, KvHead kv_head) const;
  // The scorer's second score, in the same way; empty where it has none.
  std::span<const float> protection(LayerId layer, KvHead kv_head) const;
  // Only where attention is followed and the layer has been seen; the second from the last composition().decode.local_rows rows only.
  bool has_accumulated() const { return !accumulated_.empty(); }
  AccumulatedAttention accumulated(LayerId layer, KvHead kv_head) const;
  AccumulatedAttention accumulated_locally(LayerId layer, KvHead kv_head) const;

  double ms() const { return ms_; }
  // No row after the last visual token: the last rows judged instead.
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
  PerLayer<PerSet<HeadScores>> protection_;      // where the scorer has them
  PerLayer<PerSet<RowStatistics>> accumulated_;  // where decode rows are followed
  PerLayer<PerSet<RowStatistics>> locally_;      // the same from the last rows only
  double ms_ = 0.0;
  bool fallback_rows_ = false;
  std::int64_t non_finite_ = 0;
};

}  // namespace winnow
