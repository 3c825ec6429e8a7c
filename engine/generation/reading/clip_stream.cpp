#include "engine/generation/reading/clip_stream.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/compression/pinned_tokens.h"
#include "engine/device/cuda_plugin.h"
#include "engine/generation/reading/context_probe.h"
#include "engine/recipes/budget.h"
#include "engine/recipes/event_budgets.h"
#include "engine/recipes/select.h"

namespace winnow {
namespace {

constexpr std::int64_t kEndless = std::int64_t{1} << 32;  // tokens: more than any stream is read

bool shows_a_frame(const TokenOrigin& origin) { return origin.modality == Modality::kVisual && origin.row >= 0; }

}  // namespace

std::vector<std::pair<std::int64_t, std::int64_t>> clips_of(std::span<const TokenOrigin> origins, std::int64_t frames) {
  std::vector<std::pair<std::int64_t, std::int64_t>> clips;
  std::int64_t begun = 0;
  std::int64_t shown = 0;
  std::pair<std::int32_t, std::int32_t> last{-1, -1};
  for (std::int64_t at = 0; at < std::ssize(origins); ++at) {
    const TokenOrigin& origin = origins[static_cast<std::size_t>(at)];
    if (!is_of_a_frame(origin)) continue;
    // Tiles of an image are one picture.
    const bool video = origin.frame >= 0 && last.first == origin.media && last.second != origin.frame;
    if (last.first == origin.media && !video) continue;
    last = {origin.media, origin.frame};
    if (shown == frames) {
      clips.emplace_back(begun, at - begun);
      begun = at;
      shown = 0;
    }
    ++shown;
  }
  if (begun < std::ssize(origins)) clips.emplace_back(begun, std::ssize(origins) - begun);
  return clips;
}

EventOutcome streamed_outcome(const ClipStream& stream, const KvShape& shape) {
  EventOutcome outcome;
  for (LayerId layer{0}; layer < shape.layers; ++layer)
    outcome.budgets.push_back(round_half_up(static_cast<double>(stream.most_slots(layer)) / static_cast<double>(shape.kv_heads)));
  outcome.why.resize(outcome.budgets.size());
  outcome.best_scores.resize(outcome.budgets.size());
  if (stream.raised_to_floor()) outcome.notes.push_back(CompressionNote::kRaisedToFloor);
  if (stream.pins_above_budget()) outcome.notes.push_back(CompressionNote::kPinsAboveBudget);
  return outcome;
}

ClipStream::ClipStream(const Recipe& recipe, const KvCache& before, const SegmentTokens& segment)
    : ClipStream(recipe, before, segment.first_original + static_cast<std::int32_t>(segment.context_begin()),
                 {segment.size() - segment.context_begin(), segment.pinned_in_context()}) {}

ClipStream::ClipStream(const Recipe& recipe, const KvCache& before, std::int32_t first_original)
    : ClipStream(recipe, before, first_original, {kEndless, 0}) {}

ClipStream::ClipStream(const Recipe& recipe, const KvCache& before, std::int32_t first_original, const Expected& expected)
    : ragged_(recipe.composition().granularity == Granularity::kRagged),
      target_(recipe.composition().streaming.target),
      first_original_(first_original) {
  const KvShape& shape = before.shape();
  const auto [tokens, pinned] = expected;
  const std::vector<LayerDemand> demand(static_cast<std::size_t>(shape.layers), LayerDemand{tokens, pinned, pinned});
  EventBudgets budgets(recipe, demand, std::nullopt, shape.kv_heads);
  pinned_ = pinned;
  pins_above_budget_ = budgets.pins_above_budget();
  raised_to_floor_ = budgets.raised_to_floor();
  if (recipe.composition().allocator->best_of_all_layers()) {
    const std::int64_t each = budgets.total() / shape.layers;
    caps_ = PerLayer<std::int64_t>::of(shape.layers, each);
    const std::int64_t left = budgets.total() - each * shape.layers;
    for (LayerId layer{0}; layer < left; ++layer) ++caps_[layer];
  } else {
    budgets.decide(std::vector<LayerMeasure>(static_cast<std::size_t>(shape.layers)));
    caps_ = PerLayer(budgets.slots());
  }
  for (const std::int64_t cap : caps_) whole_.push_back(cap >= tokens * (ragged_ ? shape.kv_heads : 1));
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    std::vector<std::int64_t> heads;
    for (KvHead head{0}; head < shape.kv_heads; ++head) heads.push_back(before.slots(layer, head));
    before_.push_back(std::move(heads));
    scores_.push_back(StreamedScores(static_cast<std::size_t>(shape.kv_heads)));
  }
}

bool ClipStream::is_due(LayerId layer, std::int64_t slots) const {
  if (whole_[layer]) return false;
  return target_ < 1.0 ? slots >= most_slots(layer) : slots > most_slots(layer);
}

std::int64_t ClipStream::left_of(std::int64_t cap) const {
  const std::int64_t least = std::max<std::int64_t>(1, ragged_ ? pinned_ * std::ssize(before_.front()) : pinned_);
  return std::max(least, round_half_up(target_ * static_cast<double>(cap)));
}

std::int64_t ClipStream::most_slots(LayerId layer) const { return ragged_ ? caps_[layer] : caps_[layer] * std::ssize(before_[layer]); }

std::int64_t ClipStream::slots_after_clip(LayerId layer, std::int64_t slots) const {
  const std::int64_t cap = caps_[layer];
  const std::int64_t sets = ragged_ ? 1 : std::ssize(before_[layer]);
  return is_due(layer, slots) ? std::min(slots, sets * left_of(cap)) : slots;
}

std::int64_t ClipStream::slots(const KvCache& cache, LayerId layer) const {
  std::int64_t slots = 0;
  for (KvHead head{0}; head < cache.shape().kv_heads; ++head)
    slots += cache.slots(layer, head) - before_[layer][static_cast<std::size_t>(head)];
  return slots;
}

Description ClipStream::after_clip(const RequestContext& context, const Recipe& recipe, Conversation& working, const ClipTokens& clip) {
  name_places(clip.origins);
  Description description;
  const Stopwatch watch;
  const StatisticsNeeds& needs = recipe.needs();
  const bool maximum = recipe.composition().streaming.stored_maximum;
  bool due = false;
  for (LayerId layer{0}; layer < caps_.layers(); ++layer) due = due || is_due(layer, slots(working.cache, layer));
  // Votes of this clip's rows count later too, if the best are kept.
  if (needs.probe && (due || maximum)) {
    const ProbedClip probed{{working, clip.embeddings, clip.origins, clip.prompts}, before_};
    description = probe_clip(context, probed, *needs.probe, [&](LayerId layer, std::vector<std::vector<float>> votes) {
      scores_[layer].judge(std::move(votes), maximum);
    });
  } else if (due) {
    for (LayerId layer{0}; layer < caps_.layers(); ++layer) {
      std::vector<std::vector<float>> scores;
      for (KvHead head{0}; head < working.cache.shape().kv_heads; ++head)
        scores.push_back(scores_by_keys(recipe, working.cache, layer, head));
      scores_[layer].judge(std::move(scores), /*best_of_all=*/false);
    }
  }
  synchronize_device();
  statistics_ms_ += watch.elapsed_ms();
  if (!due) return description;
  const Stopwatch compressing;
  compress(recipe, working);
  synchronize_device();
  compress_ms_ += compressing.elapsed_ms();
  return description;
}

void ClipStream::name_places(std::span<const TokenOrigin> origins) {
  std::int32_t cell = 0;
  for (const TokenOrigin& origin : origins) {
    if (origin.modality != Modality::kVisual) {
      places_.emplace_back();
      continue;
    }
    const std::pair<std::int32_t, std::int32_t> shown{origin.media, origin.frame};
    const bool of_frame = shows_a_frame(origin);
    if (of_frame && shown != newest_) {
      newest_ = shown;
      ++frames_;
      cell = 0;
    }
    places_.push_back({frames_ - 1, cell++});  // a newline embedding is the place after the frame's last
    if (of_frame) cells_ = cell;
  }
}

std::vector<float> ClipStream::scores_by_keys(const Recipe& recipe, const KvCache& cache, LayerId layer, KvHead head) const {
  const std::int64_t first = before_[layer][static_cast<std::size_t>(head)];
  const std::int64_t count = cache.slots(layer, head) - first;
  const auto originals = cache.original(layer, head).subspan(static_cast<std::size_t>(first));
  std::vector<StreamedPlace> places;
  for (const std::int32_t token : originals) places.push_back(places_[static_cast<std::size_t>(token - first_original_)]);
  StreamedSlots seen = streamed_slots(cache.gather_keys(layer, head).narrow(0, first, count),
                                      cache.gather_values(layer, head).narrow(0, first, count), places, cells_, recipe.needs());
  seen.layer = layer;
  seen.head = head;
  seen.originals.assign(originals.begin(), originals.end());
  return recipe.composition().scorer->stream_scores(seen, left_of(ragged_ ? caps_[layer] / std::ssize(before_[layer]) : caps_[layer]));
}

std::vector<float> ClipStream::competing_scores(const Conversation& working, const NewestFrames& newest_frames, LayerId layer, KvHead head,
                                                bool of_layer) const {
  std::vector<float> scores = scores_[layer].heads()[static_cast<std::size_t>(head)];
  if (of_layer) {
    const std::vector<std::vector<float>>& all = scores_[layer].heads();
    for (std::size_t slot = 0; slot < scores.size(); ++slot) {
      scores[slot] = 0.0F;
      for (const std::vector<float>& each : all) scores[slot] += each[slot] / static_cast<float>(all.size());
    }
  }
  const PinnedTokens pinned(working.pinned);
  const auto originals =
      working.cache.original(layer, head).subspan(static_cast<std::size_t>(before_[layer][static_cast<std::size_t>(head)]));
  for (std::size_t slot = 0; slot < scores.size(); ++slot) {
    // Before all that a scorer puts first.
    scores[slot] = pinned.contains(originals[slot]) ? std::numeric_limits<float>::infinity()
                                                    : newest_frames.score(originals[slot] - first_original_, scores[slot]);
  }
  return scores;
}

std::vector<std::vector<std::int32_t>> ClipStream::choose(const Recipe& recipe, const Conversation& working,
                                                          const NewestFrames& newest_frames,
                                                          std::span<const std::pair<LayerId, KvHead>> group, std::int64_t pairs) const {
  const bool of_layer = recipe.composition().granularity == Granularity::kLayer;
  std::vector<std::vector<float>> scores;
  for (const auto& [layer, head] : group) scores.push_back(competing_scores(working, newest_frames, layer, head, of_layer));
  const std::vector<std::span<const float>> heads(scores.begin(), scores.end());
  const double share = static_cast<double>(pairs) / static_cast<double>(group.size());
  return select_pairs(heads, pairs, {}, static_cast<std::int64_t>(recipe.composition().head_floor * share));
}

void ClipStream::compress(const Recipe& recipe, Conversation& working) {
  const std::int64_t kv_heads = working.cache.shape().kv_heads;
  const NewestFrames newest_frames(places_, recipe.composition().streaming.newest_frames);
  std::vector<std::pair<LayerId, KvHead>> all;
  for (LayerId layer{0}; layer < caps_.layers(); ++layer) {
    for (KvHead head{0}; head < kv_heads; ++head) all.emplace_back(layer, head);
  }
  if (recipe.composition().allocator->best_of_all_layers()) {
    const std::int64_t pairs = std::accumulate(caps_.begin(), caps_.end(), std::int64_t{0});
    const std::vector<std::vector<std::int32_t>> chosen = choose(recipe, working, newest_frames, all, pairs);
    for (LayerId layer{0}; layer < caps_.layers(); ++layer)
      keep(working.cache, layer, std::span(chosen).subspan(static_cast<std::size_t>(layer * kv_heads), static_cast<std::size_t>(kv_heads)));
    return;
  }
  for (LayerId layer{0}; layer < caps_.layers(); ++layer) {
    if (!is_due(layer, slots(working.cache, layer))) continue;
    const std::int64_t left = left_of(caps_[layer]);
    const auto heads = std::span(all).subspan(static_cast<std::size_t>(layer * kv_heads), static_cast<std::size_t>(kv_heads));
    std::vector<std::vector<std::int32_t>> chosen;
    if (ragged_) {
      chosen = choose(recipe, working, newest_frames, heads, left);
    } else {
      for (std::size_t head = 0; head < heads.size(); ++head)
        chosen.push_back(choose(recipe, working, newest_frames, heads.subspan(head, 1), left).front());
    }
    keep(working.cache, layer, chosen);
  }
}

void ClipStream::keep(KvCache& cache, LayerId layer, std::span<const std::vector<std::int32_t>> chosen) {
  LayerPlan plan{.budget = caps_[layer]};
  for (std::size_t head = 0; head < chosen.size(); ++head) {
    const auto first = static_cast<std::int32_t>(before_[layer][head]);
    std::vector<std::int32_t>& kept = plan.kept.emplace_back(static_cast<std::size_t>(first));
    std::iota(kept.begin(), kept.end(), 0);
    for (const std::int32_t slot : chosen[head]) kept.push_back(first + slot);
    scores_[layer].keep(head, chosen[head]);
  }
  cache.compact_all(layer, plan);
}

}  // namespace winnow
