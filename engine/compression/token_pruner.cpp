#include "engine/compression/token_pruner.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/compression/statistics/attention_statistics.h"
#include "engine/recipes/budget.h"
#include "engine/recipes/select.h"

namespace winnow {

namespace {

// One factor of a rollout, taken from the left: weights * (attention + identity) / 2.
std::vector<double> rolled(const LayerView& view, const std::vector<double>& weights) {
  std::vector<double> through = weighted_columns(view, weights);
  for (std::size_t i = 0; i < through.size(); ++i) through[i] = 0.5 * (through[i] + weights[i]);
  return through;
}

}  // namespace

std::int64_t kept_visual_tokens(std::int64_t count, double share) {
  return count - round_half_up((1.0 - share) * static_cast<double>(count));
}

TokenPruner::TokenPruner(const Recipe& recipe, const SegmentInfo& segment) : pruning_(*recipe.composition().pruning), segment_(segment) {
  const std::vector<std::int32_t> pinned = segment.pinned_rows();
  for (std::int32_t row = 0; row < segment.tokens; ++row) {
    if (!is_attached(segment.modality[static_cast<std::size_t>(row)])) continue;
    if (std::binary_search(pinned.begin(), pinned.end(), row)) pinned_.push_back(static_cast<std::int32_t>(visual_.size()));
    visual_.push_back(row);
  }
  const double share = pruning_.at_layer(recipe.budget().retention);
  keep_ = kept_visual_tokens(std::ssize(visual_), share);
  const bool nothing = visual_.empty() || share >= 1.0 || pruning_.layer >= segment.layers;
  layer_ = nothing ? segment.layers : pruning_.layer;
  pins_above_budget_ = !nothing && std::ssize(pinned_) > keep_;
  keep_ = std::max(keep_, std::ssize(pinned_));
}

std::vector<double> TokenPruner::first_weights() const {
  const auto n = static_cast<std::size_t>(segment_.tokens);
  std::vector<double> weights(n, 0.0);
  switch (pruning_.judge) {
    case Pruning::Judge::kLastRow: weights.back() = 1.0; break;
    case Pruning::Judge::kReceived: weights.assign(n, 1.0 / static_cast<double>(n)); break;
    default: {
      const RowRange rows = rows_of({RowRule::Kind::kPostVision}, segment_);
      for (std::size_t row = static_cast<std::size_t>(rows.first); row < n; ++row)
        weights[row] = 1.0 / static_cast<double>(segment_.tokens - rows.first);
    }
  }
  return weights;
}

void TokenPruner::on_layer(const LayerView& view) {
  if (view.layer + kRolloutLayers < layer_ || view.layer >= layer_) return;
  const Stopwatch watch;
  const bool rollout = pruning_.judge == Pruning::Judge::kRollout;
  if (view.layer + 1 < layer_) {
    if (rollout) earlier_ = view;
    return;
  }
  std::vector<double> weights = first_weights();
  weights = rollout ? rolled(view, weights) : weighted_columns(view, weights);
  if (earlier_) weights = rolled(*earlier_, weights);
  earlier_.reset();
  importance_.assign(weights.begin(), weights.end());
  statistics_ms_ += watch.elapsed_ms();
}

std::vector<std::int32_t> TokenPruner::kept_rows() const {
  require(!importance_.empty(), "TokenPruner: the layer before has not been seen");
  std::vector<float> competing;
  for (const std::int32_t row : visual_) competing.push_back(importance_[static_cast<std::size_t>(row)]);
  std::vector<bool> stays(static_cast<std::size_t>(segment_.tokens), true);
  for (const std::int32_t row : visual_) stays[static_cast<std::size_t>(row)] = false;
  for (const std::int32_t index : select_rows(competing, keep_, pinned_)) {
    stays[static_cast<std::size_t>(visual_[static_cast<std::size_t>(index)])] = true;
  }
  std::vector<std::int32_t> kept;
  for (std::int32_t row = 0; row < segment_.tokens; ++row) {
    if (stays[static_cast<std::size_t>(row)]) kept.push_back(row);
  }
  return kept;
}

}  // namespace winnow
