// Selects the visual tokens that continue after a decoder layer during prefill: FastV and IVTP.
//
// Made per segment by engine/generation, given to TextDecoder::prefill_layer as observer of the layers before layer(); kept_rows() then
// returns the rows of the hidden states that continue. Knows no model and moves nothing. Recipe and SegmentInfo::modality must outlive it.
// Methods: Chen et al., arXiv 2403.06764 (FastV); Huang et al., ECCV 2024 (IVTP, approximated by attention rollout over the text after the
// images). Engine thread only.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "engine/layers/layer_view.h"
#include "engine/recipes/recipe.h"
#include "engine/recipes/segment_info.h"

namespace winnow {

class TokenPruner : public PrefillObserver {
 public:
  // Layers of a rollout.
  static constexpr std::int64_t kRolloutLayers = 2;

  TokenPruner(const Recipe& recipe, const SegmentInfo& segment);

  // Rows are pruned at this layer's input; the layer count if nothing is pruned.
  std::int64_t layer() const { return layer_; }
  // Rows that continue from there.
  std::int64_t kept_count() const { return segment_.tokens - std::ssize(visual_) + keep_; }
  bool wants_views() const override { return layer_ < segment_.layers; }
  // Layers before layer(), in order.
  void on_layer(const LayerView& view) override;
  // Ascending rows of the segment, all pinned ones among them. After on_layer() of layer() - 1.
  std::vector<std::int32_t> kept_rows() const;

  // The user's pins alone exceed the kept share.
  bool pins_above_budget() const { return pins_above_budget_; }
  double statistics_ms() const { return statistics_ms_; }

 private:
  std::vector<double> first_weights() const;

  Pruning pruning_;
  SegmentInfo segment_;
  std::vector<std::int32_t> visual_;
  std::vector<std::int32_t> pinned_;  // indices into visual_
  std::int64_t keep_ = 0;
  bool pins_above_budget_ = false;
  std::int64_t layer_ = 0;
  std::optional<LayerView> earlier_;  // rollout: the layer before the last one used
  std::vector<float> importance_;     // per row
  double statistics_ms_ = 0.0;
};

// Visual tokens of `count` that a stage keeps: FastV's rounding, count - rnd((1 - share) * count).
std::int64_t kept_visual_tokens(std::int64_t count, double share);

}  // namespace winnow
