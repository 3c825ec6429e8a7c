// Options that several methods have under the same name.
#pragma once

#include <algorithm>
#include <memory>

#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/allocators/global_pairs.h"
#include "engine/recipes/composition.h"
#include "engine/recipes/method_options.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

// How the query heads of a group are joined.
inline GroupReduce group_reduce(OptionReader& options) {
  return options.choice<GroupReduce>("gqa_reduce",
                                     {{"mean", GroupReduce::kMean}, {"max", GroupReduce::kMaximum}, {"sum", GroupReduce::kSum}});
}

// Whom heads compete with for slots.
enum class CompetingHeads : int { kNobody = 1, kInALayer = 2, kOfAllLayers = 3 };

inline CompetingHeads competing_heads(OptionReader& options, CompetingHeads otherwise) {
  const std::pair<const char*, CompetingHeads> nobody{"nobody", CompetingHeads::kNobody};
  const std::pair<const char*, CompetingHeads> layer{"layer", CompetingHeads::kInALayer};
  const std::pair<const char*, CompetingHeads> all{"all", CompetingHeads::kOfAllLayers};
  if (otherwise == CompetingHeads::kNobody) return options.choice<CompetingHeads>("compete", {nobody, layer, all});
  if (otherwise == CompetingHeads::kInALayer) return options.choice<CompetingHeads>("compete", {layer, all, nobody});
  return options.choice<CompetingHeads>("compete", {all, layer, nobody});
}

// Allocator, granularity and floor by the options compete and floor, whose defaults are given.
inline void let_heads_compete(OptionReader& options, Composition& composition, CompetingHeads otherwise, double floor) {
  const CompetingHeads heads = competing_heads(options, otherwise);
  if (heads == CompetingHeads::kOfAllLayers) {
    composition.allocator = std::make_unique<GlobalAllocator>();
  } else {
    composition.allocator = std::make_unique<UniformAllocator>();
  }
  composition.granularity = heads == CompetingHeads::kNobody ? Granularity::kHead : Granularity::kRagged;
  composition.head_floor = options.real("floor", floor, 0.0, 0.99);
}

// The rows of self-study by the options ask, words and with. repeats: whether the words of the repetition count by default, too.
inline ProbeNeed studied(OptionReader& options, bool norms, bool repeats) {
  DescriptionProbe probe{.ask = options.sentences("ask")};
  const bool request_alone = options.choice<bool>("words", {{"answer", false}, {"request", true}});
  using With = std::pair<const char*, std::optional<Repetition>>;
  const With alone{"nothing", std::nullopt};
  const With both{"kvzip", Repetition::kRunAgain};
  const With as_read{"reading", Repetition::kAsRead};
  probe.repetition = repeats && !request_alone ? options.choice<std::optional<Repetition>>("with", {as_read, both, alone})
                                               : options.choice<std::optional<Repetition>>("with", {alone, both});
  if (request_alone && probe.repetition) {
    options.refuse("words=request", "leaves no answer that with=kvzip could stand beside");
  }
  probe.judgement = ByAttention{options.flag("norms", norms)};
  probe.answer_tokens = options.whole("answer", 256, 8, 4096);
  const bool text_repeats = repeats && probe.repetition;  // then a description of it tells little more
  probe.text_tokens = text_repeats ? std::min(options.whole("text_answer", 64, 8, 4096), probe.answer_tokens) : probe.answer_tokens;
  if (request_alone) return RequestProbe{probe.ask, probe.judgement};
  return probe;
}

// The common part of methods whose visual tokens leave on the way through the model.
inline Composition pruned(Pruning pruning) {
  return {.pruning = pruning, .scope = Scope::kVisual, .granularity = Granularity::kLayer, .phase = MethodPhase::kPrefill};
}

// The common part of methods whose event comes between the media and the question.
inline Composition before_the_question() { return {.scope = Scope::kContext, .phase = MethodPhase::kContext}; }

// Phase stream: judged after every so many frames.
inline void come_in_clips(OptionReader& options, Composition& composition) {
  constexpr std::int64_t kLongestClip = 1024;  // frames
  composition.phase = MethodPhase::kStream;
  composition.streaming.clip_frames = options.whole("clip", 8, 1, kLongestClip);
}

// Phase stream: so many newest frames stay whatever they score.
inline void protect_newest(OptionReader& options, Composition& composition) {
  composition.streaming.newest_frames = options.whole("newest", 0, 0, kMostNewestFrames);
}

// In one event, or clip by clip, which alone has the options clip and newest.
inline void once_or_in_clips(OptionReader& options, Composition& composition) {
  if (!options.choice<bool>("event", {{"once", false}, {"clips", true}})) return;
  come_in_clips(options, composition);
  protect_newest(options, composition);
}

}  // namespace winnow
