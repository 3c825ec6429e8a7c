#include "engine/recipes/reducers/value_push.h"

#include <algorithm>

#include "engine/recipes/composition.h"
#include "engine/recipes/random_hash.h"

namespace winnow {

std::optional<Refusal> ValuePushReducer::fits(const Composition& parts) const {
  if (!parts.scorer->follows_decode())
    return Refusal{"reducer", "pushing values needs a score that can follow each token; " + parts.scorer->name() + " cannot"};
  if (!merges_at_event() && (parts.phase != MethodPhase::kDecode || parts.scope == Scope::kVisual))
    return Refusal{"reducer", "the prompt's values are dropped, and this recipe evicts nothing while decoding: no value would be pushed"};
  if (parts.granularity == Granularity::kLayer) return Refusal{"granularity", "pushing values needs a set per kv head"};
  return std::nullopt;
}

double ValuePushReducer::probability(float attention, std::span<const float> others) const {
  double reference = 0.0;
  for (const float value : others) {
    if (options_.reference == Reference::kMaximum) {
      reference = std::max(reference, static_cast<double>(value));
    } else {
      reference += static_cast<double>(value) / static_cast<double>(others.size());
    }
  }
  if (!(reference > 0.0)) return attention > 0.0F ? 1.0 : 0.0;
  return std::clamp(static_cast<double>(attention) / reference, 0.0, 1.0);
}

double ValuePushReducer::factor(double probability, LayerId layer, KvHead kv_head, std::int32_t original) const {
  if (options_.expected) return probability;
  return random_hash_uniform(options_.seed, layer, kv_head, original) < probability ? 1.0 : 0.0;
}

Merging ValuePushReducer::at_event(const EventSlots& slots) const {
  Merging merging{.values_only = true};
  std::vector<float> of_kept;
  for (const std::int32_t row : slots.kept) of_kept.push_back(slots.attention[static_cast<std::size_t>(row)]);
  // The leaving rows take turns: each is divided among the rows that follow it, whether those stay or leave later.
  for (const std::int32_t row : slots.leaving) {
    const std::int64_t receivers = std::min<std::int64_t>(slots.candidates.tokens - 1 - row, options_.window);
    if (receivers == 0) continue;
    const auto at = static_cast<std::size_t>(row);
    const std::span<const float> following = slots.attention.subspan(at + 1, static_cast<std::size_t>(receivers));
    const double chance =
        probability(slots.attention[at], options_.reference == Reference::kMaximum ? std::span<const float>(of_kept) : following);
    const double pushed = factor(chance, slots.layer, slots.kv_head, slots.candidates.original(row));
    if (pushed == 0.0) continue;
    for (std::int32_t into = row + 1; into <= row + receivers; ++into)
      merging.flows.push_back({row, into, pushed / static_cast<double>(receivers)});
  }
  return merging;
}

Merging ValuePushReducer::at_step(const LeavingSlot& leaving) const {
  const auto at = [](std::int32_t slot) { return static_cast<std::size_t>(slot); };
  const std::int32_t token = leaving.original[at(leaving.slot)];
  std::vector<std::int32_t> later;
  for (std::int32_t slot = 0; slot < std::ssize(leaving.original); ++slot) {
    if (leaving.original[at(slot)] > token) later.push_back(slot);
  }
  const auto count = std::min<std::ptrdiff_t>(std::ssize(later), options_.window);
  Merging merging{.values_only = true};
  if (count == 0) return merging;
  const auto older = [&](std::int32_t a, std::int32_t b) { return leaving.original[at(a)] < leaving.original[at(b)]; };
  std::partial_sort(later.begin(), later.begin() + count, later.end(), older);
  later.resize(static_cast<std::size_t>(count));

  std::vector<float> others;
  if (options_.reference == Reference::kMaximum) {
    others.assign(leaving.attention.begin(), leaving.attention.end());
    others.erase(others.begin() + leaving.slot);
  } else {
    for (const std::int32_t slot : later) others.push_back(leaving.attention[at(slot)]);
  }
  const double pushed = factor(probability(leaving.attention[at(leaving.slot)], others), leaving.layer, leaving.kv_head, token);
  if (pushed == 0.0) return merging;
  for (const std::int32_t slot : later) merging.flows.push_back({leaving.slot, slot, pushed / static_cast<double>(count)});
  return merging;
}

}  // namespace winnow
