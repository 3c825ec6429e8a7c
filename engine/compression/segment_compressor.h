// One compression event: watches the prefill of a segment, decides the budgets, says which slots stay.
//
// Made per segment by engine/generation and given to TextDecoder::prefill_layer as observer while will_compress(). The caller applies each
// plan with KvCache::compact(layer, segment tokens, plan): at once for layers whose plan is ready, the rest after the last layer. Recipe
// and SegmentInfo::modality must outlive it. It moves no memory and knows no model. Engine thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compression/recipe.h"
#include "engine/compression/segment_info.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/layer_view.h"

namespace winnow {

class SegmentCompressor : public PrefillObserver {
 public:
  // Things worth a line in the log.
  struct Notes {
    bool fallback_rows = false;       // no row after the last visual token: the last rows judged instead
    std::int64_t non_finite = 0;      // statistics replaced because they were NaN or infinite
    bool raised_to_floor = false;     // protected slots need more than was asked for
  };

  SegmentCompressor(const Recipe& recipe, const SegmentInfo& segment);

  // False: every slot stays (full cache, share of 1, short text segment, budget that covers the segment); no view is needed and no plan
  // exists.
  bool will_compress() const { return will_compress_; }

  bool wants_views() const override { return will_compress_ && !recipe_.needs().empty(); }
  // Layers in any order, each once. Only called if wants_views().
  void on_layer(const LayerView& view) override;

  // Nothing more has to be seen for this layer's plan. With static budgets true right after the layer's on_layer() (from the start if no
  // views are wanted: the caller knows which layers are prefilled), with dynamic budgets after the last layer's.
  bool plan_ready(std::int64_t layer) const;
  LayerPlan plan(std::int64_t layer) const;

  // Slots per kv head granted to each layer; all segment tokens where nothing is compressed. Dynamic budgets: after the last layer.
  const std::vector<std::int64_t>& budgets() const;

  double statistics_ms() const { return statistics_ms_; }
  const Notes& notes() const { return notes_; }
  const SegmentInfo& segment() const { return segment_; }

 private:
  std::int64_t protected_slots() const;
  void decide_budgets();

  const Recipe& recipe_;
  SegmentInfo segment_;
  bool will_compress_ = false;
  std::int64_t total_ = 0;  // slots of all layers
  std::int64_t low_ = 0;    // least slots of a layer
  std::vector<std::int64_t> budgets_;
  std::vector<bool> seen_;
  std::int64_t seen_count_ = 0;
  std::vector<double> measured_;     // the allocator's number per layer
  std::vector<HeadScores> scores_;   // per layer; O(layers * kv_heads * n)
  double statistics_ms_ = 0.0;
  Notes notes_;
};

}  // namespace winnow
