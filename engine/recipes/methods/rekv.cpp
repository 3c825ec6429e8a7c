#include "engine/recipes/methods/rekv.h"

#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/frame_likeness.h"

namespace winnow {

Composition rekv(OptionReader& options) {
  Composition composition = before_the_question("rekv");
  composition.phase = MethodPhase::kRetrieve;
  composition.granularity = Granularity::kLayer;
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.media_window = options.whole("local_window", 15'000, 1, 1 << 24);
  composition.scorer = std::make_unique<FrameLikenessScorer>(options.choice<bool>("sim", {{"dot", false}, {"cosine", true}}));
  return composition;
}

MethodInfo rekv_info() {
  MethodInfo info;
  info.name = "rekv";
  info.title = "ReKV";
  info.source = "Di et al., ICLR 2025, arXiv 2503.00540";
  info.query_aware = true;
  info.needs = {"likeness of the question's queries and each frame's keys, before rotary"};
  return info;
}

}  // namespace winnow
