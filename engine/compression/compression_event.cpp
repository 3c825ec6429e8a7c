#include "engine/compression/compression_event.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/compression/closed_ranks.h"
#include "engine/compression/reducers/merge.h"
#include "engine/compression/reducers/shared_entries.h"
#include "engine/layers/rotary.h"
#include "engine/recipes/scorers/global_local.h"

namespace winnow {

namespace {

using Kind = Reduction::Kind;

bool by_cosine(Kind kind) { return kind == Kind::kAverage || kind == Kind::kPivot || kind == Kind::kWeighted || kind == Kind::kGated; }

struct HeadMerge {
  at::Tensor keys;  // fp32 [n, d]
  at::Tensor values;
  NearestKept nearest;
};

// Kept slots that may take others in: all but the fixed first ones and the last.
std::vector<std::int32_t> anchors_of(const std::vector<std::int32_t>& kept, const SegmentInfo& candidates, std::int64_t fixed_first) {
  const std::int64_t first = candidates.retained != nullptr ? candidates.rows_before(fixed_first) : fixed_first;
  std::vector<std::int32_t> anchors;
  for (std::size_t j = 0; j < kept.size(); ++j) {
    if (kept[j] >= first && kept[j] != candidates.tokens - 1) anchors.push_back(static_cast<std::int32_t>(j));
  }
  return anchors;
}

// Updates the thresholds of the layer by this event.
void move_thresholds(const Reduction& reduction, const KvShape& shape, std::int64_t layer, const std::vector<HeadMerge>& heads,
                     MergeState& state) {
  double layer_mean = 0.0;
  for (const HeadMerge& head : heads) layer_mean += head.nearest.mean_cosine() / static_cast<double>(heads.size());
  for (std::size_t head = 0; head < heads.size(); ++head) {
    if (heads[head].nearest.leaving.empty()) continue;
    const double mean = reduction.threshold_scope == Reduction::ThresholdScope::kLayer ? layer_mean : heads[head].nearest.mean_cosine();
    double& threshold = state.threshold(shape, layer, static_cast<std::int64_t>(head));
    threshold = next_threshold(threshold, mean, reduction.threshold_decay);
  }
}

// Kept slots that may be shared, as indices into `kept`: all before the window but the pinned ones.
std::vector<std::int32_t> centers_of(const std::vector<std::int32_t>& kept, std::int64_t window, const std::vector<std::int32_t>& pinned) {
  std::vector<std::int32_t> centers;
  for (std::int64_t j = 0; j < std::ssize(kept) - window; ++j) {
    if (!std::binary_search(pinned.begin(), pinned.end(), kept[static_cast<std::size_t>(j)]))
      centers.push_back(static_cast<std::int32_t>(j));
  }
  return centers;
}

std::vector<std::int32_t> originals_of(const Candidates& set) {
  std::vector<std::int32_t> originals;
  for (std::int64_t row = 0; row < set.info.tokens; ++row) originals.push_back(set.info.original(row));
  return originals;
}

void compact(KvCache& cache, const SegmentCompressor& compressor, std::int64_t layer, const LayerPlan& plan) {
  if (compressor.whole_cache()) {
    cache.compact_all(layer, plan);
  } else {
    cache.compact(layer, compressor.segment().tokens, plan);
  }
  if (!compressor.recipe().composition().closed_ranks) return;
  for (std::int64_t head = 0; head < cache.shape().kv_heads; ++head) {
    const std::vector<std::int32_t>& kept = plan.kept[static_cast<std::size_t>(head)];
    const std::int64_t dropped = compressor.candidates(layer, head).info.tokens - std::ssize(kept);
    // Slots of earlier turns lie before all that was dropped; a kept row has its rank less than its number of dropped rows before it.
    std::vector<std::int64_t> positions(static_cast<std::size_t>(cache.slots(layer, head)), dropped);
    const std::size_t first = positions.size() - kept.size();
    for (std::size_t j = 0; j < kept.size(); ++j) positions[first + j] = dropped - (kept[j] - static_cast<std::int64_t>(j));
    move_keys(cache, layer, head, positions);
  }
}

// The kept slots before the window are shared with the next best tokens. Counts as apply_plan() returns them.
std::vector<std::vector<std::int32_t>> share_slots(KvCache& cache, const SegmentCompressor& compressor, std::int64_t layer,
                                                   const LayerPlan& plan) {
  const Composition& parts = compressor.recipe().composition();
  const KvShape& shape = cache.shape();
  std::vector<SharedRows> shared;
  std::vector<std::vector<std::int32_t>> centers;
  for (std::int64_t head = 0; head < shape.kv_heads; ++head) {
    const Candidates& set = compressor.candidates(layer, head);
    const std::int64_t n = set.info.tokens;
    const std::int64_t start = cache.slots(layer, head) - n;
    at::Tensor keys = cache.gather_keys(layer, head).narrow(0, start, n).to(at::kFloat);
    const at::Tensor values = cache.gather_values(layer, head).narrow(0, start, n).to(at::kFloat);
    if (parts.reduction.rotation != SharedEntries::Rotation::kStored) {
      keys = turned_keys(keys, at::tensor(originals_of(set)).to(keys.options()).neg(), shape.rope_theta);
    }
    const std::vector<float> weight =
        global_local(compressor.accumulated(layer, head).sums, compressor.accumulated_locally(layer, head).sums);
    const std::vector<std::int32_t>& kept = plan.kept[static_cast<std::size_t>(head)];
    centers.push_back(centers_of(kept, parts.protection.window, set.pinned));
    shared.push_back(share_rows(parts.reduction, keys, values, kept, centers.back(), compressor.scores(layer, head), weight));
  }
  compact(cache, compressor, layer, plan);
  std::vector<std::vector<std::int32_t>> counts;
  for (std::int64_t head = 0; head < shape.kv_heads; ++head) {
    const SharedRows& rows = shared[static_cast<std::size_t>(head)];
    const std::vector<std::int32_t>& kept = plan.kept[static_cast<std::size_t>(head)];
    const std::int64_t start = cache.slots(layer, head) - std::ssize(kept);
    const std::vector<std::int32_t>& written = centers[static_cast<std::size_t>(head)];
    for (std::size_t first_center = 0, run = 0; first_center < written.size(); first_center += run) {
      // Centers that lie one after the other are written together.
      run = 1;
      while (first_center + run < written.size() && written[first_center + run] == written[first_center] + static_cast<std::int32_t>(run))
        ++run;
      const auto at = static_cast<std::int64_t>(first_center);
      const auto count = static_cast<std::int64_t>(run);
      cache.write(layer, head, start + written[first_center], rows.directions.narrow(0, at, count), rows.values.narrow(0, at, count));
    }
    const SharedEntries* earlier = cache.shared_entries(layer, head);
    SharedEntries table = earlier != nullptr ? *earlier : SharedEntries{};
    table.rotation = parts.reduction.rotation;
    table.zero_counts = parts.reduction.zero_counts;
    std::vector<std::int32_t> count(kept.size(), 0);
    for (std::size_t i = 0; i < rows.row.size(); ++i) {
      table.original.push_back(compressor.candidates(layer, head).info.original(rows.row[i]));
      table.slot.push_back(rows.target[i] == SharedEntries::kZero ? SharedEntries::kZero
                                                                  : static_cast<std::int32_t>(start) + rows.target[i]);
      table.norm.push_back(rows.norm[i]);
      if (rows.target[i] != SharedEntries::kZero && kept[static_cast<std::size_t>(rows.target[i])] != rows.row[i]) {
        ++count[static_cast<std::size_t>(rows.target[i])];
      }
    }
    cache.set_shared_entries(layer, head, std::move(table));
    counts.push_back(std::move(count));
  }
  return counts;
}

// Moves the layer's memory as the plan says, merging what the recipe merges. Counts as apply_plan() returns them.
std::vector<std::vector<std::int32_t>> reduce_layer(KvCache& cache, const SegmentCompressor& compressor, std::int64_t layer,
                                                    const LayerPlan& plan, MergeState& state) {
  const Reduction& reduction = compressor.recipe().composition().reduction;
  const KvShape& shape = cache.shape();
  bool all_stay = true;
  for (std::int64_t head = 0; head < shape.kv_heads; ++head) {
    all_stay = all_stay && std::ssize(plan.kept[static_cast<std::size_t>(head)]) == compressor.candidates(layer, head).info.tokens;
  }
  if (reduction.kind == Kind::kDrop || all_stay) {
    compact(cache, compressor, layer, plan);
    return {};
  }
  if (reduction.kind == Kind::kSharedEntries) return share_slots(cache, compressor, layer, plan);

  std::vector<HeadMerge> heads;
  for (std::int64_t head = 0; head < shape.kv_heads; ++head) {
    const std::vector<std::int32_t>& kept = plan.kept[static_cast<std::size_t>(head)];
    const Candidates& set = compressor.candidates(layer, head);
    const std::int64_t n = set.info.tokens;
    const std::int64_t start = cache.slots(layer, head) - n;
    HeadMerge merge;
    merge.keys = cache.gather_keys(layer, head).narrow(0, start, n).to(at::kFloat);
    merge.values = cache.gather_values(layer, head).narrow(0, start, n).to(at::kFloat);
    if (by_cosine(reduction.kind)) merge.nearest = nearest_by_cosine(merge.keys, kept);
    if (reduction.kind == Kind::kNearestIndex)
      merge.nearest = nearest_by_index(originals_of(set), kept, anchors_of(kept, set.info, reduction.fixed_first));
    heads.push_back(std::move(merge));
  }
  if (reduction.kind == Kind::kGated) move_thresholds(reduction, shape, layer, heads, state);

  std::vector<MergedSlots> merged;
  for (std::int64_t head = 0; head < shape.kv_heads; ++head) {
    const std::vector<std::int32_t>& kept = plan.kept[static_cast<std::size_t>(head)];
    const HeadMerge& merge = heads[static_cast<std::size_t>(head)];
    if (reduction.kind == Kind::kValuePush) {
      merged.push_back(
          push_values(reduction, merge.keys, merge.values, kept,
                      {compressor.accumulated(layer, head).sums, originals_of(compressor.candidates(layer, head)), layer, head}));
    } else {
      const double threshold = reduction.kind == Kind::kGated ? state.threshold(shape, layer, head) : 0.0;
      merged.push_back(merge_into_targets(reduction, merge.keys, merge.values, kept, merge.nearest, threshold));
    }
  }
  heads.clear();
  compact(cache, compressor, layer, plan);
  std::vector<std::vector<std::int32_t>> counts;
  for (std::int64_t head = 0; head < shape.kv_heads; ++head) {
    MergedSlots& slots = merged[static_cast<std::size_t>(head)];
    cache.write(layer, head, cache.slots(layer, head) - slots.keys.size(0), slots.keys, slots.values);
    counts.push_back(std::move(slots.merged));
  }
  return counts;
}

}  // namespace

double& MergeState::threshold(const KvShape& shape, std::int64_t layer, std::int64_t kv_head) {
  if (thresholds.empty())
    thresholds.assign(static_cast<std::size_t>(shape.layers * shape.kv_heads), std::numeric_limits<double>::quiet_NaN());
  return thresholds.at(static_cast<std::size_t>(layer * shape.kv_heads + kv_head));
}

std::vector<MergedInto>& MergeState::merged_into(const KvShape& shape, std::int64_t layer, std::int64_t kv_head) {
  if (merged.empty()) merged.resize(static_cast<std::size_t>(shape.layers * shape.kv_heads));
  return merged.at(static_cast<std::size_t>(layer * shape.kv_heads + kv_head));
}

double next_threshold(double previous, double mean_cosine, double weight_of_current) {
  return std::isnan(previous) ? mean_cosine : weight_of_current * mean_cosine + (1.0 - weight_of_current) * previous;
}

std::vector<std::vector<std::int32_t>> apply_plan(KvCache& cache, const SegmentCompressor& compressor, std::int64_t layer,
                                                  MergeState& state) {
  const LayerPlan plan = compressor.plan(layer);
  std::vector<std::vector<std::int32_t>> counts = reduce_layer(cache, compressor, layer, plan, state);
  // Segments come in the order of their tokens, and so do their kept rows: the lists stay ascending.
  for (std::size_t head = 0; head < counts.size(); ++head) {
    std::vector<MergedInto>& known = state.merged_into(cache.shape(), layer, static_cast<std::int64_t>(head));
    for (std::size_t i = 0; i < counts[head].size(); ++i) {
      if (counts[head][i] > 0) known.push_back({compressor.segment().first_original + plan.kept[head][i], counts[head][i]});
    }
  }
  return counts;
}

}  // namespace winnow
