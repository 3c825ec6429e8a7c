#include "engine/compression/compression_event.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "engine/compression/reducers/merge.h"

namespace winnow {

namespace {

using Kind = Reduction::Kind;

bool by_cosine(Kind kind) { return kind == Kind::kAverage || kind == Kind::kPivot || kind == Kind::kWeighted || kind == Kind::kGated; }

struct HeadMerge {
  at::Tensor keys;    // fp32 [n, d]
  at::Tensor values;
  NearestKept nearest;
};

// Kept slots that may take others in: all but the fixed first ones and the last.
std::vector<std::int32_t> anchors_of(const std::vector<std::int32_t>& kept, std::int64_t segment_tokens, std::int64_t fixed_first) {
  std::vector<std::int32_t> anchors;
  for (std::size_t j = 0; j < kept.size(); ++j) {
    if (kept[j] >= fixed_first && kept[j] != segment_tokens - 1) anchors.push_back(static_cast<std::int32_t>(j));
  }
  return anchors;
}

// Updates the thresholds of the layer by this event.
void move_thresholds(const Reduction& reduction, const KvShape& shape, std::int64_t layer, const std::vector<HeadMerge>& heads, MergeState& state) {
  double layer_mean = 0.0;
  for (const HeadMerge& head : heads) layer_mean += head.nearest.mean_cosine() / static_cast<double>(heads.size());
  for (std::size_t head = 0; head < heads.size(); ++head) {
    if (heads[head].nearest.leaving.empty()) continue;
    const double mean =
        reduction.threshold_scope == Reduction::ThresholdScope::kLayer ? layer_mean : heads[head].nearest.mean_cosine();
    double& threshold = state.threshold(shape, layer, static_cast<std::int64_t>(head));
    threshold = next_threshold(threshold, mean, reduction.threshold_decay);
  }
}

}  // namespace

double& MergeState::threshold(const KvShape& shape, std::int64_t layer, std::int64_t kv_head) {
  if (thresholds.empty()) thresholds.assign(static_cast<std::size_t>(shape.layers * shape.kv_heads), std::numeric_limits<double>::quiet_NaN());
  return thresholds.at(static_cast<std::size_t>(layer * shape.kv_heads + kv_head));
}

double next_threshold(double previous, double mean_cosine, double weight_of_current) {
  return std::isnan(previous) ? mean_cosine : weight_of_current * mean_cosine + (1.0 - weight_of_current) * previous;
}

std::vector<std::vector<std::int32_t>> apply_plan(KvCache& cache, const SegmentCompressor& compressor, std::int64_t layer, MergeState& state) {
  const LayerPlan plan = compressor.plan(layer);
  const Reduction& reduction = compressor.recipe().composition().reduction;
  const KvShape& shape = cache.shape();
  const std::int64_t n = compressor.segment().tokens;
  bool all_stay = true;
  for (const auto& kept : plan.kept) all_stay = all_stay && static_cast<std::int64_t>(kept.size()) == n;
  if (reduction.kind == Kind::kDrop || all_stay) {
    cache.compact(layer, n, plan);
    return {};
  }

  std::vector<HeadMerge> heads;
  for (std::int64_t head = 0; head < shape.kv_heads; ++head) {
    const std::vector<std::int32_t>& kept = plan.kept[static_cast<std::size_t>(head)];
    const std::int64_t start = cache.slots(layer, head) - n;
    HeadMerge merge;
    merge.keys = cache.gather_keys(layer, head).narrow(0, start, n).to(at::kFloat);
    merge.values = cache.gather_values(layer, head).narrow(0, start, n).to(at::kFloat);
    if (by_cosine(reduction.kind)) merge.nearest = nearest_by_cosine(merge.keys, kept);
    if (reduction.kind == Kind::kNearestIndex) merge.nearest = nearest_by_index(n, kept, anchors_of(kept, n, reduction.fixed_first));
    heads.push_back(std::move(merge));
  }
  if (reduction.kind == Kind::kGated) move_thresholds(reduction, shape, layer, heads, state);

  std::vector<std::int32_t> original(static_cast<std::size_t>(n));
  std::iota(original.begin(), original.end(), compressor.segment().first_original);
  std::vector<MergedSlots> merged;
  for (std::int64_t head = 0; head < shape.kv_heads; ++head) {
    const std::vector<std::int32_t>& kept = plan.kept[static_cast<std::size_t>(head)];
    const HeadMerge& merge = heads[static_cast<std::size_t>(head)];
    if (reduction.kind == Kind::kValuePush) {
      merged.push_back(push_values(reduction, merge.keys, merge.values, kept,
                                   {compressor.accumulated(layer).column_sums.row(head), original, layer, head}));
    } else {
      const double threshold = reduction.kind == Kind::kGated ? state.threshold(shape, layer, head) : 0.0;
      merged.push_back(merge_into_targets(reduction, merge.keys, merge.values, kept, merge.nearest, threshold));
    }
  }
  heads.clear();
  cache.compact(layer, n, plan);
  std::vector<std::vector<std::int32_t>> counts;
  for (std::int64_t head = 0; head < shape.kv_heads; ++head) {
    MergedSlots& slots = merged[static_cast<std::size_t>(head)];
    cache.write(layer, head, cache.slots(layer, head) - slots.keys.size(0), slots.keys, slots.values);
    counts.push_back(std::move(slots.merged));
  }
  return counts;
}

}  // namespace winnow
