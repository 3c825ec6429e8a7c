#include "engine/compression/compression_event.h"

#include <utility>

#include "engine/compression/closed_ranks.h"
#include "engine/compression/reducers/merge.h"
#include "engine/compression/reducers/shared_entries.h"
#include "engine/device/work_team.h"
#include "engine/recipes/select.h"

namespace winnow {

namespace {

using Counts = std::vector<std::vector<std::int32_t>>;  // as apply_plan() returns them

// One KV head before anything leaves.
struct HeadMerge {
  SlotRows rows;  // [n, d], as the cache stores them
  std::vector<std::int32_t> leaving;
  std::vector<MergePair> nearest;
  double threshold = 0.0;
  Merging merging;
};

// Moves what the reducer remembers of the layer by this event.
void move_thresholds(const Reducer& reducer, const KvShape& shape, LayerId layer, const std::vector<HeadMerge>& heads, MergeState& state) {
  double layer_mean = 0.0;
  for (const HeadMerge& head : heads) layer_mean += mean_cosine(head.nearest) / static_cast<double>(heads.size());
  for (std::size_t head = 0; head < heads.size(); ++head) {
    if (heads[head].nearest.empty()) continue;
    double& threshold = state.threshold(shape, layer, KvHead(head));
    threshold = reducer.next_threshold(threshold, mean_cosine(heads[head].nearest), layer_mean).value_or(threshold);
  }
}

void compact(KvCache& cache, const SegmentCompressor& compressor, LayerId layer, const LayerPlan& plan) {
  if (compressor.whole_cache()) {
    cache.compact_all(layer, plan);
  } else {
    cache.compact(layer, compressor.candidates(layer, KvHead(0)).info.tokens, plan);
  }
  if (!compressor.recipe().composition().closed_ranks) return;
  for (KvHead head{0}; head < cache.shape().kv_heads; ++head) {
    const std::vector<std::int32_t>& kept = plan.kept[static_cast<std::size_t>(head)];
    const std::int64_t dropped = compressor.candidates(layer, head).info.tokens - std::ssize(kept);
    // Slots of earlier turns lie before all that was dropped; a kept row has its rank less than its number of dropped rows before it.
    std::vector<std::int64_t> positions(static_cast<std::size_t>(cache.slots(layer, head)), dropped);
    const std::size_t first = positions.size() - kept.size();
    for (std::size_t j = 0; j < kept.size(); ++j) positions[first + j] = dropped - (kept[j] - static_cast<std::int64_t>(j));
    move_keys(cache, layer, head, at::tensor(positions, at::kLong).unsqueeze(0));
  }
}

// Whom what leaves resembles.
void find_nearest(const LayerPlan& plan, std::vector<HeadMerge>& heads) {
  std::vector<LeavingRows> leaving;
  for (std::size_t head = 0; head < heads.size(); ++head) leaving.push_back({heads[head].rows.keys, plan.kept[head], heads[head].leaving});
  std::vector<std::vector<MergePair>> nearest = nearest_by_cosine(leaving);
  for (std::size_t head = 0; head < heads.size(); ++head) heads[head].nearest = std::move(nearest[head]);
}

// Dropped rows flow into those that stay. Heads are side by side where the host works on them, and are told to a GPU together.
Counts merge_layer(KvCache& cache, const SegmentCompressor& compressor, LayerId layer, const LayerPlan& plan, MergeState& state) {
  const Reducer& reducer = *compressor.recipe().composition().reducer;
  const KvShape& shape = cache.shape();
  std::vector<HeadMerge> heads(static_cast<std::size_t>(shape.kv_heads));
  const auto for_heads = [&](const auto& work) {
    share_work(shape.kv_heads, 1, [&](std::int64_t begin, std::int64_t end) {
      for (KvHead head{begin}; head < end; ++head) work(head, heads[static_cast<std::size_t>(head)]);
    });
  };
  for_heads([&](KvHead head, HeadMerge& merge) {
    const std::vector<std::int32_t>& kept = plan.kept[static_cast<std::size_t>(head)];
    // A head that keeps nothing has nowhere to merge to.
    if (!kept.empty()) merge.leaving = rows_outside(compressor.candidates(layer, head).info.tokens, kept);
  });
  std::vector<std::int64_t> candidates;
  for (KvHead head{0}; head < shape.kv_heads; ++head) candidates.push_back(compressor.candidates(layer, head).info.tokens);
  std::vector<SlotRows> before = WholeLayer::last(cache, layer, candidates);
  for (std::size_t head = 0; head < heads.size(); ++head) heads[head].rows = std::move(before[head]);
  if (reducer.needs_similarity()) {
    find_nearest(plan, heads);
    move_thresholds(reducer, shape, layer, heads, state);
    for (KvHead head{0}; head < shape.kv_heads; ++head)
      heads[static_cast<std::size_t>(head)].threshold = state.threshold(shape, layer, head);
  }
  for_heads([&](KvHead head, HeadMerge& merge) {
    merge.merging = reducer.at_event({
        .candidates = compressor.candidates(layer, head).info,
        .kept = plan.kept[static_cast<std::size_t>(head)],
        .leaving = merge.leaving,
        .nearest = merge.nearest,
        .attention = reducer.needs_attention() ? compressor.accumulated(layer, head).sums : std::span<const float>(),
        .threshold = merge.threshold,
        .layer = layer,
        .kv_head = head,
    });
  });
  std::vector<HeadFlows> flows;
  for (std::size_t head = 0; head < heads.size(); ++head)
    flows.push_back({heads[head].merging, heads[head].rows.keys, heads[head].rows.values, plan.kept[head]});
  std::vector<MergedSlots> merged = carry_out(flows);
  flows.clear();
  heads.clear();
  compact(cache, compressor, layer, plan);
  Counts counts;
  std::vector<SlotRows> after;
  for (MergedSlots& slots : merged) {
    after.push_back({std::move(slots.keys), std::move(slots.values)});
    counts.push_back(std::move(slots.merged));
  }
  WholeLayer::write_last(cache, layer, after);
  return counts;
}

// Moves the layer's memory as the plan says, merging what the recipe merges.
Counts reduce_layer(KvCache& cache, const SegmentCompressor& compressor, LayerId layer, const LayerPlan& plan, MergeState& state) {
  const Reducer& reducer = *compressor.recipe().composition().reducer;
  bool all_stay = true;
  for (KvHead head{0}; head < cache.shape().kv_heads; ++head) {
    all_stay = all_stay && std::ssize(plan.kept[static_cast<std::size_t>(head)]) == compressor.candidates(layer, head).info.tokens;
  }
  if (!all_stay && reducer.sharing() != nullptr) {
    const SharedLayer shared = share_layer(cache, compressor, layer, plan);
    compact(cache, compressor, layer, plan);
    return write_shared(cache, compressor, layer, plan, shared);
  }
  if (!all_stay && reducer.merges_at_event()) return merge_layer(cache, compressor, layer, plan, state);
  compact(cache, compressor, layer, plan);
  return {};
}

}  // namespace

std::vector<std::vector<std::int32_t>> apply_plan(KvCache& cache, const SegmentCompressor& compressor, LayerId layer, MergeState& state) {
  const LayerPlan plan = compressor.plan(layer);
  Counts counts = reduce_layer(cache, compressor, layer, plan, state);
  // Segments come in the order of their tokens, and so do their kept rows: the lists stay ascending.
  for (std::size_t head = 0; head < counts.size(); ++head) {
    std::vector<MergedInto>& known = state.merged_into(cache.shape(), layer, KvHead(head));
    for (std::size_t i = 0; i < counts[head].size(); ++i) {
      if (counts[head][i] > 0)
        known.push_back({compressor.candidates(layer, KvHead(head)).info.original(plan.kept[head][i]), counts[head][i]});
    }
  }
  return counts;
}

}  // namespace winnow
