#include "engine/compression/next_decode_policy.h"

#include <algorithm>

#include "engine/compression/decode/attention_eviction.h"
#include "engine/compression/decode/ratio_removal.h"
#include "engine/compression/decode/recency_eviction.h"
#include "engine/compression/decode/shared_entry_merging.h"
#include "engine/compression/pinned_tokens.h"

namespace winnow {

namespace {

std::int64_t largest_head(const KvCache& cache, LayerId layer) {
  std::int64_t slots = 0;
  for (KvHead head{0}; head < cache.shape().kv_heads; ++head) slots = std::max(slots, cache.slots(layer, head));
  return slots;
}

// The attention that the earlier turns' rows (before), this segment's rows, and nothing yet of the answer's, gave to every slot of a head.
SlotAttention attention_of(const FollowedTokens& before, const SegmentCompressor& compressor, const KvCache& cache, LayerId layer,
                           KvHead head) {
  const bool squares = compressor.recipe().composition().decode.victim == DecodeRule::Victim::kLeastMean;
  const std::span<const std::int32_t> original = cache.original(layer, head);
  const SegmentInfo& candidates = compressor.candidates(layer, head).info;
  AccumulatedAttention found;
  if (compressor.has_accumulated()) found = compressor.accumulated(layer, head);
  SlotAttention slots;
  if (cache.shape().window(layer) > 0) slots.original.assign(original.begin(), original.end());
  for (std::size_t slot = 0; slot < original.size(); ++slot) {
    float sum = 0.0F;
    float square = 0.0F;
    std::int64_t saw = 0;
    const std::int64_t row = candidates.rows_before(original[slot]);
    if (row < candidates.tokens && candidates.original(row) == original[slot]) {
      if (!found.sums.empty()) sum = found.sums[static_cast<std::size_t>(row)];
      if (squares && !found.squares.empty()) square = found.squares[static_cast<std::size_t>(row)];
      saw = candidates.rows_that_saw(row);
    } else {
      // Slots of earlier turns come first and in the order in which the segment's statistics saw them.
      if (const auto earlier = before.find(original[slot]); earlier != before.end()) {
        sum = earlier->second.sum;
        square = earlier->second.square;
        saw = earlier->second.rows;
      }
      if (!found.past_sums.empty()) sum += found.past_sums[slot];
      if (squares && !found.past_squares.empty()) square += found.past_squares[slot];
      saw += candidates.tokens;
    }
    slots.sum.push_back(sum);
    slots.rows.push_back(static_cast<std::int32_t>(saw));
    if (squares) slots.square.push_back(square);
  }
  return slots;
}

}  // namespace

std::unique_ptr<DecodePolicy> next_decode_policy(const DecodePolicy* previous, const Recipe& recipe, const SegmentCompressor& compressor,
                                                 KvCache& cache) {
  const Composition& parts = recipe.composition();
  if (!phase_facts(parts.phase).evicts_while_decoding || parts.scope != Scope::kAll || !recipe.compresses()) return nullptr;
  const bool absolute = recipe.budget().tokens.has_value();
  const bool capped_before = previous != nullptr && previous->removes();
  const bool capped = absolute || capped_before || compressor.will_compress();
  if (!capped && !parts.decode.accumulates) return nullptr;

  const KvShape& shape = cache.shape();
  const PinnedTokens pinned(compressor.segment().pinned);
  if (parts.phase == MethodPhase::kRatioDecode) {
    if (absolute && !compressor.will_compress() && previous == nullptr) return nullptr;
    std::vector<RatioRemoval::Layer> layers;
    const std::int64_t seen = compressor.segment().first_original + compressor.segment().tokens;
    for (LayerId layer{0}; layer < shape.layers; ++layer) {
      const std::int64_t slots = largest_head(cache, layer);
      layers.push_back(
          {recipe.keeps_whole(layer, shape.layers) ? 1.0 : static_cast<double>(slots) / static_cast<double>(shape.held(layer, seen)),
           slots});
    }
    return std::make_unique<RatioRemoval>(std::move(layers), parts.decode.distance, parts.protection.sinks, shape.kv_heads, pinned);
  }

  // Sinks, pins and one slot more; where slots are shared, with pins, what the event's budgets leave room for too.
  const bool shares = parts.reducer->sharing() != nullptr;
  std::int64_t least_cap = parts.protection.sinks + pinned.count_from(parts.protection.sinks) + 1;
  if (shares && pinned.count() > 0) least_cap += parts.protection.window + 1;
  const bool all_competed = compressor.whole_cache() || compressor.segment().first_original == 0;
  std::vector<std::int64_t> caps;
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    const bool asked = absolute && !(compressor.will_compress() && all_competed);
    const bool uncapped = !capped || recipe.keeps_whole(layer, shape.layers);
    const std::int64_t cap = uncapped ? DecodePolicy::kNoCap : asked ? *recipe.budget().tokens : largest_head(cache, layer);
    caps.push_back(std::max(cap, least_cap));
  }
  if (shares) {
    // A cap that holds little more than the window leaves nothing to share.
    const std::int64_t least = *std::min_element(caps.begin(), caps.end());
    if (least > pinned.count() + parts.protection.window + 1)
      return next_shared_entry_merging(previous, compressor, cache, PerLayer(std::move(caps)));
    return std::make_unique<RecencyEviction>(std::move(caps), 0, shape.kv_heads, pinned);
  }
  if (!parts.decode.accumulates) {
    auto policy = std::make_unique<RecencyEviction>(std::move(caps), parts.protection.sinks, shape.kv_heads, pinned);
    if (parts.closed_ranks) policy->close_ranks(cache);
    return policy;
  }

  std::vector<SlotAttention> slots;
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      FollowedTokens before;
      if (previous != nullptr && !compressor.whole_cache())
        before = previous->retained_attention(cache, layer, head, compressor.segment().first_original);
      slots.push_back(attention_of(before, compressor, cache, layer, head));
    }
  }
  return std::make_unique<AttentionEviction>(std::move(caps), parts, shape.kv_heads, std::move(slots), pinned);
}

}  // namespace winnow
