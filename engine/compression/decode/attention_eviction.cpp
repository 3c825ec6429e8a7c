#include "engine/compression/decode/attention_eviction.h"

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "engine/base/error.h"
#include "engine/compression/decode/nearest_slots.h"
#include "engine/compression/reducers/merge.h"
#include "engine/layers/for_heads.h"
#include "engine/recipes/budget.h"

namespace winnow {

namespace {

// Original index of the count-th newest slot: this one and all newer ones are recent.
std::int32_t first_recent(std::span<const std::int32_t> original, std::int64_t count) {
  if (count <= 0) return std::numeric_limits<std::int32_t>::max();
  if (count >= std::ssize(original)) return std::numeric_limits<std::int32_t>::min();
  // The newest tokens mostly follow each other: then nothing has to be put in order.
  std::int32_t newest = original.front();
  for (const std::int32_t token : original) newest = std::max(newest, token);
  const std::int32_t guess = newest - static_cast<std::int32_t>(count) + 1;
  std::int64_t recent = 0;
  for (const std::int32_t token : original) recent += token >= guess ? 1 : 0;
  if (recent == count) return guess;
  std::vector<std::int32_t> order(original.begin(), original.end());
  const auto at = order.end() - count;
  std::nth_element(order.begin(), at, order.end());
  return *at;
}

// The slot with the lowest rank among those that may leave, the oldest of equals; nothing if none may.
template <class MayLeave, class Rank>
std::optional<std::size_t> least_of(std::span<const std::int32_t> original, const MayLeave& may_leave, const Rank& rank) {
  std::optional<std::size_t> victim;
  double least = 0.0;
  for (std::size_t slot = 0; slot < original.size(); ++slot) {
    if (!may_leave(slot)) continue;
    const double value = rank(slot);
    // NaN ranks below everything.
    if (victim && !(value < least || (value == least && original[slot] < original[*victim]))) continue;
    victim = slot;
    least = value;
  }
  return victim;
}

double deviation_of(const SlotAttention& slots, std::size_t slot) {
  const double rows = slots.rows[slot];
  const double mean = slots.sum[slot] / rows;
  return std::sqrt(std::max(0.0, slots.square[slot] / rows - mean * mean));
}

// The flows as rows that receive once from the leaving slot; nothing where one receives more.
std::optional<std::vector<Inflow>> single_inflows(const Merging& merging, std::int64_t leaving) {
  std::map<std::int32_t, Inflow> of_rows;
  const auto inflow_of = [&](std::int32_t row) -> Inflow& {
    const auto [place, is_new] = of_rows.try_emplace(row);
    if (is_new) place->second = {.from = leaving, .into = row, .weight = 0.0F, .value_only = merging.values_only};
    return place->second;
  };
  for (const Merging::Scaled& scaled : merging.scaled) {
    Inflow& inflow = inflow_of(scaled.row);
    inflow.own = static_cast<float>(scaled.scale.own);
    inflow.divisor = static_cast<float>(scaled.scale.divisor);
  }
  for (const Merging::Flow& flow : merging.flows) {
    Inflow& inflow = inflow_of(flow.into);
    if (inflow.weight != 0.0F) return std::nullopt;
    inflow.weight = static_cast<float>(flow.weight);
  }
  std::vector<Inflow> inflows;
  inflows.reserve(of_rows.size());
  for (const auto& [row, inflow] : of_rows) inflows.push_back(inflow);
  return inflows;
}

}  // namespace

AttentionEviction::AttentionEviction(std::vector<std::int64_t> caps, const Composition& parts, std::int64_t kv_heads,
                                     std::vector<SlotAttention> slots, PinnedTokens pinned)
    : caps_(std::move(caps)),
      protection_(parts.protection),
      rule_(parts.decode),
      reducer_(parts.reducer),
      kv_heads_(kv_heads),
      slots_(std::move(slots)),
      pinned_(std::move(pinned)) {
  require(slots_.size() == static_cast<std::size_t>(caps_.layers() * kv_heads), "AttentionEviction: accumulators for every head");
}

void AttentionEviction::follow(SlotAttention& slots, std::span<const float> probabilities) const {
  require(slots.sum.size() + 1 == probabilities.size(), "AttentionEviction: accumulators and cache have parted");
  slots.sum.push_back(0.0F);
  slots.rows.push_back(0);
  const bool squares = rule_.victim == DecodeRule::Victim::kLeastMean;
  if (squares) slots.square.push_back(0.0F);
  const std::size_t count = probabilities.size();
  const float* const got = probabilities.data();
  float* const sum = slots.sum.data();
  for (std::size_t slot = 0; slot < count; ++slot) sum[slot] += got[slot];
  float* const square = slots.square.data();
  for (std::size_t slot = 0; squares && slot < count; ++slot) square[slot] += got[slot] * got[slot];
  for (std::int32_t& rows : slots.rows) ++rows;
}

std::int64_t AttentionEviction::choose(std::span<const std::int32_t> original, const SlotAttention& slots, std::int64_t cap) const {
  const std::int64_t recent =
      std::max<std::int64_t>(1, protection_.recent_share > 0.0 ? share_of(protection_.recent_share, cap) : protection_.window);
  std::int64_t sinks = protection_.sinks;
  std::int64_t last = std::min(recent, cap);
  std::int64_t completed = 0;
  if (rule_.victim == DecodeRule::Victim::kLeastMean) {
    completed = std::clamp<std::int64_t>(round_half_up(protection_.completed_share * static_cast<double>(cap)) + sinks, 1,
                                         std::max<std::int64_t>(1, cap - 1));
    last = std::min(last, completed);
    sinks = std::min(sinks, completed - last);
  }
  const std::int32_t newest_from = first_recent(original, last);
  const auto is_free = [&](std::size_t slot) {
    return original[slot] >= sinks && original[slot] < newest_from && !pinned_.contains(original[slot]);
  };
  std::optional<std::size_t> victim;
  switch (rule_.victim) {
    case DecodeRule::Victim::kLeastAttention:
      victim = least_of(original, is_free, [&](std::size_t slot) { return static_cast<double>(slots.sum[slot]); });
      break;
    case DecodeRule::Victim::kLeastMean: {
      // Only the steadiest may leave; what fluctuates is protected like the recent ones. Pins take their part of the cap first.
      std::vector<std::size_t> free;
      for (std::size_t slot = 0; slot < original.size(); ++slot) {
        if (is_free(slot)) free.push_back(slot);
      }
      if (free.empty()) break;
      const auto steady = static_cast<std::size_t>(std::clamp<std::int64_t>(cap - pinned_.count() - completed, 1, std::ssize(free)));
      std::vector<std::pair<double, std::int32_t>> keys(original.size());
      for (const std::size_t slot : free) keys[slot] = {deviation_of(slots, slot), original[slot]};
      std::nth_element(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(steady - 1), free.end(),
                       [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
      std::vector<bool> is_steady(original.size(), false);
      for (std::size_t i = 0; i < steady; ++i) is_steady[free[i]] = true;
      victim = least_of(
          original, [&](std::size_t slot) { return is_steady[slot]; },
          [&](std::size_t slot) { return slots.sum[slot] / static_cast<double>(slots.rows[slot]); });
      break;
    }
    default: victim = least_of(original, is_free, [&](std::size_t slot) { return static_cast<double>(original[slot]); });
  }
  return static_cast<std::int64_t>(victim ? *victim : oldest_unpinned(original, sinks));
}

// If pins, sinks and recent slots fill the cap, the oldest that is no sink goes, or the oldest of all, but never a pinned one.
std::size_t AttentionEviction::oldest_unpinned(std::span<const std::int32_t> original, std::int64_t sinks) const {
  std::size_t oldest = original.size();
  for (std::size_t slot = 0; slot < original.size(); ++slot) {
    if (pinned_.contains(original[slot])) continue;
    if (oldest == original.size()) oldest = slot;
    const bool better_kind = original[slot] >= sinks && original[oldest] < sinks;
    const bool same_kind = (original[slot] >= sinks) == (original[oldest] >= sinks);
    if (better_kind || (same_kind && original[slot] < original[oldest])) oldest = slot;
  }
  require(oldest < original.size(), "AttentionEviction: the cap must leave room beside the pins");
  return oldest;
}

void AttentionEviction::merge(KvCache& cache, const Leaving& leaving, double threshold) const {
  const LayerId layer = leaving.layer;
  const KvHead head = leaving.head;
  const LeavingSlot about{
      .slot = leaving.nearest.row,
      .original = cache.original(layer, head),
      .nearest = leaving.nearest,
      .attention = slots(layer, head).sum,
      .threshold = threshold,
      .layer = layer,
      .kv_head = head,
  };
  if (reducer_->needs_similarity() && leaving.nearest.into < 0) return;  // there is no other slot
  Merging merging = reducer_->at_step(about);
  if (merging.flows.empty()) return;
  if (!cache.shape().device.is_cpu()) {
    if (const std::optional<std::vector<Inflow>> inflows = single_inflows(merging, about.slot)) {
      for (const Inflow& inflow : *inflows) DeviceSide::receive(cache, layer, head, inflow);
      return;
    }
  }

  // Only rows that change and the leaving one, which comes last, are read: the merging is told in their numbers.
  std::vector<std::int32_t> changed;
  const auto place_of = [&](std::int32_t slot) {
    const auto place = static_cast<std::int32_t>(std::find(changed.begin(), changed.end(), slot) - changed.begin());
    if (place == std::ssize(changed)) changed.push_back(slot);
    return place;
  };
  for (Merging::Flow& flow : merging.flows) flow.into = place_of(flow.into);
  for (Merging::Scaled& scaled : merging.scaled) scaled.row = place_of(scaled.row);
  for (Merging::Flow& flow : merging.flows) flow.from = static_cast<std::int32_t>(changed.size());
  std::vector<at::Tensor> keys, values;
  const auto read = [&](std::int64_t slot) {
    const auto [key, value] = cache.row_views(layer, head, slot);
    keys.push_back(key);
    values.push_back(value);
  };
  for (const std::int32_t slot : changed) read(slot);
  read(about.slot);
  std::vector<std::int32_t> staying(changed.size());
  std::iota(staying.begin(), staying.end(), 0);
  const MergedSlots merged = carry_out(merging, at::stack(keys).to(at::kFloat), at::stack(values).to(at::kFloat), staying);
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    cache.write(layer, head, changed[i], merged.keys.narrow(0, at, 1), merged.values.narrow(0, at, 1));
  }
}

void AttentionEviction::remove(KvCache& cache, LayerId layer, KvHead head, std::int64_t slot) {
  cache.evict(layer, head, slot);  // the last slot moves into this one
  forget(layer, head, slot);
}

void AttentionEviction::forget(LayerId layer, KvHead head, std::int64_t slot) {
  SlotAttention& slots = mutable_slots(layer, head);
  const auto forget_in = [at = static_cast<std::size_t>(slot)](auto& values) {
    if (values.empty()) return;
    values[at] = values.back();
    values.pop_back();
  };
  forget_in(slots.sum);
  forget_in(slots.rows);
  forget_in(slots.square);
  forget_in(slots.original);
}

// One slot of every head that holds too many.
std::vector<AttentionEviction::Leaving> AttentionEviction::choose_leaving(const KvCache& cache, LayerId first, std::int64_t layers) const {
  std::vector<LeavingSlotOf> chosen;
  for (LayerId layer = first; layer < first + layers; ++layer) {
    for (KvHead head{0}; head < kv_heads_; ++head) {
      if (cache.slots(layer, head) > caps_.at(layer)) chosen.push_back({layer, head, -1, cache.original(layer, head)});
    }
  }
  for_heads(std::ssize(chosen), cache.slots(first, KvHead(0)), [&](std::int64_t i) {
    auto& [layer, head, slot, original] = chosen[static_cast<std::size_t>(i)];
    slot = choose(original, slots(layer, head), caps_.at(layer));
  });
  std::vector<MergePair> nearest;
  if (reducer_->needs_similarity()) nearest = most_similar(cache, chosen, SlotLikeness::kKeys);
  std::vector<Leaving> leaving;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const MergePair alone{static_cast<std::int32_t>(chosen[i].slot), -1, 0.0F};
    leaving.push_back({chosen[i].layer, chosen[i].head, nearest.empty() ? alone : nearest[i]});
  }
  return leaving;
}

// A threshold of the whole layer needs to see them together.
void AttentionEviction::let_leave(KvCache& cache, std::span<const Leaving> of_layer, MergeState& state) {
  double mean_cosine = 0.0;
  for (const Leaving& one : of_layer) mean_cosine += one.nearest.cosine;
  mean_cosine /= static_cast<double>(of_layer.size());
  for (const Leaving& one : of_layer) {
    double threshold = 0.0;
    if (reducer_->needs_similarity()) {
      double& remembered = state.threshold(cache.shape(), one.layer, one.head);
      remembered = reducer_->next_threshold(remembered, one.nearest.cosine, mean_cosine).value_or(remembered);
      threshold = remembered;
    }
    if (reducer_->merges()) merge(cache, one, threshold);
    remove(cache, one.layer, one.head, one.nearest.row);
  }
}

void AttentionEviction::after_layers(KvCache& cache, LayerId first, std::span<const DecodeRow> rows, MergeState& state) {
  for (const DecodeRow& row : rows)
    require(row.probabilities.size() == static_cast<std::size_t>(kv_heads_), "AttentionEviction: the decoded row's attention is missing");
  for_heads(std::ssize(rows) * kv_heads_, cache.slots(first, KvHead(0)), [&](std::int64_t i) {
    const LayerId layer(first + i / kv_heads_);
    const KvHead head(i % kv_heads_);
    SlotAttention& of_head = mutable_slots(layer, head);
    follow(of_head, rows[static_cast<std::size_t>(i / kv_heads_)].probabilities[static_cast<std::size_t>(head)]);
    if (cache.shape().window(layer) > 0) of_head.original.push_back(cache.original(layer, head).back());
  });
  for (;;) {
    const std::vector<Leaving> leaving = choose_leaving(cache, first, std::ssize(rows));
    if (leaving.empty()) return;
    for (std::size_t begin = 0, end = 0; begin < leaving.size(); begin = end) {
      while (end < leaving.size() && leaving[end].layer == leaving[begin].layer) ++end;
      let_leave(cache, std::span(leaving).subspan(begin, end - begin), state);
    }
  }
}

FollowedTokens AttentionEviction::retained_attention(const KvCache& cache, LayerId layer, KvHead kv_head, std::int32_t before) const {
  const SlotAttention& about = slots(layer, kv_head);  // of the first slots: what was added since lies behind them
  const std::span<const std::int32_t> original = about.original.empty() ? cache.original(layer, kv_head) : about.original;
  FollowedTokens tokens;
  for (std::size_t slot = 0; slot < std::min(about.sum.size(), original.size()); ++slot) {
    if (original[slot] >= before) continue;
    const float square = about.square.empty() ? 0.0F : about.square[slot];
    tokens[original[slot]] = {.sum = about.sum[slot], .square = square, .rows = about.rows[slot]};
  }
  return tokens;
}

std::int64_t AttentionEviction::bytes_metadata() const {
  std::int64_t bytes = 0;
  for (const SlotAttention& slots : slots_) {
    bytes += static_cast<std::int64_t>(slots.sum.size() * sizeof(float) + slots.square.size() * sizeof(float) +
                                       (slots.rows.size() + slots.original.size()) * sizeof(std::int32_t));
  }
  return bytes;
}

}  // namespace winnow
