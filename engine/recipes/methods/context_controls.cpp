// Controls of methods that compress before the question: slots of the media by lot, every k-th of them, and the newest.
//
// last-frames is the control of streams: what fits of the newest frames, nothing of the others. In a public comparison (SimpleStream,
// arXiv 2604.02317) a model that was shown the last four frames alone answered better than with any of thirteen stream methods. Deviation:
// there these frames are read by themselves; here they were read behind the older ones, of which something remains in their keys and
// values.
#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/random_score.h"
#include "engine/recipes/scorers/recency.h"

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

}  // namespace

const Method kRandomContext{
    .name = "random-context", .title = "Random, before the question", .source = "control", .compose = random_context};
const Method kEveryK{.name = "every-k", .title = "Every k-th token", .source = "control", .compose = every_k};
const Method kLastFrames{
    .name = "last-frames", .title = "Last frames only", .source = "control; after SimpleStream, arXiv 2604.02317", .compose = last_frames};

}  // namespace winnow
