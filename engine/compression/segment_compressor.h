// One compression event: watches the prefill of a segment, decides the budgets, and plans which slots stay.
//
// Made per segment by engine/generation and given to TextDecoder::prefill_layer as observer. The caller applies each plan with apply_plan()
// (compression_event.h): at once for layers whose plan is ready, the rest after the last layer. Recipe and what SegmentInfo borrows must
// outlive it. With the recipe's event_at_first_decode, plans wait for the first answer token's attention. It moves no memory and knows no
// model. With SegmentInfo::retained (turn policy whole) every slot of the cache is a candidate, and a text segment that is too short for
// its own event is protected. LayerWatch computes, EventBudgets and SlotChoice decide. Engine thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/compression/candidates.h"
#include "engine/compression/layer_watch.h"
#include "engine/compression/statistics/statistics_memo.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/layer_view.h"
#include "engine/recipes/event_budgets.h"
#include "engine/recipes/recipe.h"
#include "engine/recipes/segment_info.h"
#include "engine/recipes/slot_choice.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

class SegmentCompressor : public PrefillObserver {
 public:
  // How an event deviated from the request.
  struct Notes {
    bool fallback_rows = false;      // no row follows the last visual token, so the last rows were used
    std::int64_t non_finite = 0;     // statistics replaced because they were NaN or infinite
    bool raised_to_floor = false;    // protected slots need more than requested
    bool pins_above_budget = false;  // the user's pins alone need more
  };

  SegmentCompressor(const Recipe& recipe, const SegmentInfo& segment);
  SegmentCompressor(const SegmentCompressor&) = delete;  // its parts refer to each other
  SegmentCompressor& operator=(const SegmentCompressor&) = delete;

  // False: every slot stays (full cache, share of 1, short text segment, budget that covers the segment), without a plan.
  bool will_compress() const { return budgets_.take_place(); }
  // Also true without an event if a decode-phase method needs the segment's accumulated attention.
  bool wants_views() const override { return watch_.wants_views(); }
  ReceivedNeed wants_received() const override { return watch_.wants_received(); }
  // Layers in any order, each once. Only called if wants_views().
  void on_layer(const LayerView& view) override;
  // The same if others watch the same layer of the same segment. The time of their shared statistics counts in statistics_ms(), too.
  void on_layer(const LayerView& view, StatisticsMemo& memo);

  // If a probe scores the cache (Recipe::needs().probe): its votes for every row of the segment, [kv_heads, n]. Layers in any order, each
  // once.
  void on_probe(LayerId layer, HeadScores votes);

  // The recipe's event waits for the first answer token, and neither of the next two calls has been made: no plan is ready.
  bool awaits_first_token() const { return awaits_first_token_; }
  // After the prefill: the token becomes the segment's last; its attention follows once for every layer.
  void add_first_token();
  void on_first_token(LayerId layer, const DecodeRow& row);
  // The answer has no token whose attention is read: the event covers the prompt only.
  void without_first_token() { awaits_first_token_ = false; }

  // True if this layer's plan needs no more views. With static budgets true right after the layer's on_layer(), or from the start if no
  // views are needed (the caller knows which layers are prefilled). With dynamic budgets true after the last layer's.
  bool plan_ready(LayerId layer) const;
  LayerPlan plan(LayerId layer) const;

  // Slots per KV head and layer granted within the scope (rounded mean over heads that compete); all segment tokens if nothing is
  // compressed. Dynamic budgets: after the last layer.
  std::vector<std::int64_t> budgets() const;
  // How many candidates of every layer and KV head will stay, as far as known before the prefill. Exact for static budgets; dynamic budgets
  // and those of competing heads count as equal shares of their total. With `more`: those still inside the layers' windows after so many
  // further tokens that do not compete. A window drops early rows. Exact if the plan needs no views, else an upper bound: as if late rows
  // scored best.
  PerLayer<std::vector<std::int64_t>> foreseen_slots(std::int64_t more = 0) const;
  // The allocator's measures for a layer, by name; empty if it needs none or nothing is compressed.
  std::vector<std::pair<std::string, double>> reasons(LayerId layer) const;
  // If heads compete for slots: every KV head's best score among its candidates; after the last layer.
  std::vector<double> best_scores(LayerId layer) const;
  // A head's candidates: the rows of its plan and of the values below.
  const Candidates& candidates(LayerId layer, KvHead kv_head) const { return sets_.of(layer, kv_head); }
  // Plans cover all slots of the cache, not only the segment's.
  bool whole_cache() const { return segment_.retained != nullptr; }

  // Only if the recipe accumulates decode rows (composition().decode.accumulates) and the layer has been seen.
  bool has_accumulated() const { return watch_.has_accumulated(); }
  AccumulatedAttention accumulated(LayerId layer, KvHead kv_head) const { return watch_.accumulated(layer, kv_head); }
  // The same from the last composition().decode.local_rows rows only.
  AccumulatedAttention accumulated_locally(LayerId layer, KvHead kv_head) const { return watch_.accumulated_locally(layer, kv_head); }
  // True if a layer with a plan has scores computed from its view; one per candidate of the head.
  bool has_scores() const { return watch_.sees_layers(); }
  std::span<const float> scores(LayerId layer, KvHead kv_head) const { return watch_.row_of(watch_.scores(layer), layer, kv_head); }

  double statistics_ms() const { return watch_.ms(); }
  Notes notes() const;
  const SegmentInfo& segment() const { return segment_; }
  const Recipe& recipe() const { return recipe_; }

 private:
  void after_layer();
  void decide();
  std::int64_t competing_in(LayerId layer) const {
    return choice_.competing(sets_.of(layer, KvHead(0)));
  }  // per head, without retained slots
  bool ragged() const { return recipe_.composition().granularity == Granularity::kRagged; }
  std::vector<std::int64_t> per_head(std::vector<std::int64_t> slots) const;
  // Scores of one layer, per head, in the order of the competing rows.
  using CompetingScores = std::function<std::vector<std::vector<float>>(LayerId layer)>;
  std::vector<std::vector<float>> competing_scores(LayerId layer) const;
  // Per head of these layers, of `pairs` slots in all: indices of the competing rows.
  std::vector<std::vector<std::int32_t>> chosen_pairs(std::span<const LayerId> layers, std::int64_t pairs,
                                                      const CompetingScores& scores_of) const;
  // If the best of all layers stay: per layer and head.
  std::vector<std::vector<std::int32_t>> best_pairs(const CompetingScores& scores_of) const;
  // The slots that the heads of one layer keep.
  LayerPlan plan_of_pairs(LayerId layer, std::int64_t budget, std::span<const std::vector<std::int32_t>> pairs) const;
  PerLayer<std::vector<std::int64_t>> foreseen_seen(std::int64_t more) const;
  // Plans in which each layer's rows from `first_wanted` on, in its only set of candidates, score best.
  PerLayer<LayerPlan> plans_of_late_rows(const PerLayer<std::int64_t>& first_wanted) const;

  const Recipe& recipe_;
  SegmentInfo segment_;
  std::vector<Modality> with_first_token_;  // borrowed by segment_ with a first token
  CandidateSets sets_;
  SlotChoice choice_;
  EventBudgets budgets_;
  LayerWatch watch_;
  std::vector<std::vector<std::int32_t>> pairs_of_all_;  // if the best of all layers stay: per layer and head
  bool awaits_first_token_ = false;
  std::int64_t first_token_layers_ = 0;  // that have reported the first token's attention
  std::int64_t non_finite_weights_ = 0;
};

}  // namespace winnow
