// Controls: what methods are compared with. The full cache, slots by lot, the last ones; and before the question slots of the media by lot,
// every k-th of them, and the newest.
//
// last-frames is the control of streams: what fits of the newest frames, nothing of the others. In a public comparison (SimpleStream, arXiv
// 2604.02317) a model that was shown the last four frames alone answered better than with any of thirteen stream methods. Deviation: there
// these frames are read by themselves; here they were read behind the older ones, of which something remains in their keys and values.
#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/position_scores.h"

namespace winnow {

namespace {

Composition random_context(OptionReader& options) {
  Composition composition = before_the_question();
  composition.allocator = std::make_unique<UniformAllocator>();
  once_or_in_clips(options, composition);
  composition.scorer = std::make_unique<RandomScorer>(options.seed(), options.flag("same_all_layers", false));
  return composition;
}

Composition every_k(OptionReader&) {
  Composition composition = before_the_question();
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<RecencyScorer>();
  composition.evenly_spaced = true;
  return composition;
}

Composition last_frames(OptionReader& options) {
  Composition composition = before_the_question();
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.scorer = std::make_unique<RecencyScorer>();
  come_in_clips(options, composition);
  return composition;
}

// Everything stays: the reference for all others. The same path with the event disabled.
Composition full(OptionReader&) {
  Composition composition;
  return composition;
}

// Random eviction: the control. Any method that does not beat it says nothing; report the mean over at least three seeds.
//
// kept = the last token + the highest hashes of (seed, layer, kv head, original token index). No paper.
Composition random_eviction(OptionReader& options) {
  return {.allocator = std::make_unique<UniformAllocator>(),
          .scorer = std::make_unique<RandomScorer>(options.seed(), options.flag("same_all_layers", false))};
}

// LocalWindow: the last b tokens and nothing else; the window baseline of Xiao et al., arXiv 2309.17453, figure 1 (b).
//
// While decoding the oldest slot leaves when m > b. Deviation: none; keys keep their original rotary positions.
Composition local_window(OptionReader&) {
  return {.allocator = std::make_unique<UniformAllocator>(),
          .scorer = std::make_unique<RecencyScorer>(),
          .granularity = Granularity::kLayer,
          .phase = MethodPhase::kDecode};
}

}  // namespace

const Method kRandomContext{
    .name = "random-context", .title = "Random, before the question", .source = "control", .compose = random_context};
const Method kEveryK{.name = "every-k", .title = "Every k-th token", .source = "control", .compose = every_k};
const Method kLastFrames{
    .name = "last-frames", .title = "Last frames only", .source = "control; after SimpleStream, arXiv 2604.02317", .compose = last_frames};

const Method kFull{.name = "full", .title = "Full cache", .source = "no compression", .compose = full};

const Method kRandom{.name = "random", .title = "Random", .source = "control", .compose = random_eviction};

const Method kLocalWindow{
    .name = "local-window", .title = "Local window", .source = "baseline of Xiao et al., arXiv 2309.17453", .compose = local_window};

}  // namespace winnow
