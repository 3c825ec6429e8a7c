// One compression event: watches the prefill of a segment, decides the budgets, says which slots stay.
//
// Made per segment by engine/generation and given to TextDecoder::prefill_layer as observer. The caller applies each plan with apply_plan()
// (compression_event.h): at once for layers whose plan is ready, the rest after the last layer. Recipe and what SegmentInfo borrows must
// outlive it. With the recipe's event_at_first_decode no plan is ready before the first answer token's attention has been shown too. It
// moves no memory and knows no model. With SegmentInfo::retained (turn policy whole) every slot of the cache is a candidate, and a text
// segment that is too short for an event of its own is protected. Engine thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/compression/candidates.h"
#include "engine/compression/statistics/statistics_memo.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/layer_view.h"
#include "engine/recipes/recipe.h"
#include "engine/recipes/segment_info.h"

namespace winnow {

class SegmentCompressor : public PrefillObserver {
 public:
  // Things worth a line in the log.
  struct Notes {
    bool fallback_rows = false;      // no row after the last visual token: the last rows judged instead
    std::int64_t non_finite = 0;     // statistics replaced because they were NaN or infinite
    bool raised_to_floor = false;    // protected slots need more than was asked for
    bool pins_above_budget = false;  // the user's pins alone do
  };

  SegmentCompressor(const Recipe& recipe, const SegmentInfo& segment);

  // False: every slot stays (full cache, share of 1, short text segment, budget that covers the segment); no plan exists.
  bool will_compress() const { return will_compress_; }
  // Also without an event where a decode-phase method needs the segment's accumulated attention.
  bool wants_views() const override { return wants_views_; }
  // Layers in any order, each once. Only called if wants_views().
  void on_layer(const LayerView& view) override;
  // The same where others watch the same layer of the same segment. What they have computed already counts in statistics_ms() nevertheless.
  void on_layer(const LayerView& view, StatisticsMemo& memo);

  // The recipe's event comes after the first answer token, and one of the next two has not been said yet: no plan is ready.
  bool awaits_first_token() const { return awaits_first_token_; }
  // After the prefill: the token becomes the segment's last, and its attention is shown for every layer once.
  void add_first_token();
  void on_first_token(std::int64_t layer, const DecodeRow& row);
  // The answer has none that is read: the event is about the prompt alone.
  void without_first_token() { awaits_first_token_ = false; }

  // Nothing more has to be seen for this layer's plan. With static budgets true right after the layer's on_layer() (from the start if no
  // views are wanted: the caller knows which layers are prefilled), with dynamic budgets after the last layer's.
  bool plan_ready(std::int64_t layer) const;
  LayerPlan plan(std::int64_t layer) const;

  // Slots per kv head and layer granted within the scope; all segment tokens where nothing is compressed. Dynamic budgets: after the last
  // layer.
  const std::vector<std::int64_t>& budgets() const;
  // How many candidates of every layer and kv head will stay, as far as that is known before anything is seen: exact for static budgets;
  // budgets that follow the prompt count as equal shares of their total.
  std::vector<std::vector<std::int64_t>> foreseen_slots() const;
  // Why: the allocator's own numbers for a layer, by name; empty if it needs none or nothing is compressed.
  std::vector<std::pair<std::string, double>> reasons(std::int64_t layer) const;
  // Who competed in a head; the rows of its plan and of the numbers below.
  const Candidates& candidates(std::int64_t layer, std::int64_t kv_head) const { return sets_.of(layer, kv_head); }
  // Plans are about all slots of the cache, not only the segment's.
  bool whole_cache() const { return segment_.retained != nullptr; }

  // Attention that the candidates of a head got from all rows (with turn policy whole also from those of earlier turns), and its squares;
  // `past`: that slots retained before got where they are no candidates, in slot order, empty if there are none. Only where the recipe
  // follows decode rows (composition().decode.accumulates) and the layer has been seen.
  struct Accumulated {
    std::span<const float> sums;
    std::span<const float> squares;  // empty if not needed
    std::span<const float> past_sums;
    std::span<const float> past_squares;
  };
  Accumulated accumulated(std::int64_t layer, std::int64_t kv_head) const;
  bool has_accumulated() const { return !accumulated_.empty(); }
  // The same from the last composition().decode.local_rows rows only.
  Accumulated accumulated_locally(std::int64_t layer, std::int64_t kv_head) const;
  // Of a layer with a plan that needed views, one per candidate of the head.
  std::span<const float> scores(std::int64_t layer, std::int64_t kv_head) const;

  double statistics_ms() const { return statistics_ms_; }
  const Notes& notes() const { return notes_; }
  const SegmentInfo& segment() const { return segment_; }
  const Recipe& recipe() const { return recipe_; }

 private:
  // Of one layer, per set of candidates.
  template <class Value>
  using PerSet = std::vector<Value>;

  std::int64_t protected_slots(const Candidates& set) const;
  std::int64_t competing(const Candidates& set) const;
  std::int64_t competing_pins(const Candidates& set) const;
  bool bound_event();
  void decide_budgets();
  std::vector<std::int64_t> shared_by(std::span<const double> weights) const;
  HeadScores joined(HeadScores scores) const;
  std::span<const float> row_of(const PerSet<HeadScores>& scores, std::int64_t layer, std::int64_t kv_head) const;
  Accumulated accumulated_in(const std::vector<PerSet<RowStatistics>>& layers, std::int64_t layer, std::int64_t kv_head) const;
  std::vector<std::int32_t> select_all(const Candidates& set, std::span<const float> scores, std::span<const float> protection_scores,
                                       std::int64_t budget) const;
  std::vector<std::int32_t> select_visual(const Candidates& set, std::span<const float> scores, std::int64_t budget) const;
  std::vector<std::int32_t> select_with_all_text(const Candidates& set, std::span<const float> scores, std::int64_t budget,
                                                 std::int64_t recent) const;

  const Recipe& recipe_;
  SegmentInfo segment_;
  std::vector<Modality> with_first_token_;  // what segment_ borrows then
  CandidateSets sets_;
  std::int64_t kept_new_rows_ = 0;  // of a short text segment in an event over the whole cache
  bool will_compress_ = false;
  bool wants_views_ = false;
  bool awaits_first_token_ = false;
  std::int64_t first_token_layers_ = 0;  // that have shown its attention
  BudgetBounds bounds_;
  std::vector<std::int64_t> budgets_;
  std::vector<bool> seen_;
  std::int64_t seen_count_ = 0;
  std::vector<LayerMeasure> measured_;              // the allocator's numbers per layer
  std::vector<PerSet<HeadScores>> scores_;          // per layer; O(layers * kv_heads * n)
  std::vector<PerSet<HeadScores>> protection_;      // per layer, where the scorer has them
  std::vector<PerSet<RowStatistics>> accumulated_;  // per layer, where decode rows are followed
  std::vector<PerSet<RowStatistics>> locally_;      // the same from the last rows only
  double statistics_ms_ = 0.0;
  Notes notes_;
};

}  // namespace winnow
