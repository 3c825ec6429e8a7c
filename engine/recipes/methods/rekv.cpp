// ReKV: everything stays in memory, and every question fetches the frames that fit it, layer by layer.
//
// Di et al., ICLR 2025, arXiv 2503.00540; code Becomebright/ReKV. Frames are compared by the mean of their keys before rotary and the mean
// of the question's queries before rotary (the code's dot product; option sim=cosine: the paper's cosine): its words alone, as in the code,
// without time line, template and what was said before. Meant for questions that are each asked alone (guard alone): in a conversation the
// text stays that was read with other frames. Differences: one pass (a layer's frames are chosen in the prompt's own prefill, not in one
// before it, so that the words have seen what stands between them and the media), keys keep their positions, so that the window (option
// local_window) sees true distances to what stands before the media, too, the share or number of slots says how much is fetched (64 frames
// there), its last frame perhaps in part.
#include "engine/base/error.h"
#include "engine/recipes/composition.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/scorer.h"

namespace winnow {

namespace {

// How much a frame is like a question: every slot has its frame's score, so that whole frames are fetched, the best first (ReKV).
class FrameLikenessScorer : public Scorer {
 public:
  explicit FrameLikenessScorer(bool cosine) : cosine_(cosine) {}
  std::string name() const override { return "frame-likeness"; }
  std::optional<Refusal> fits(const Composition& parts) const override {
    if (phase_facts(parts.phase).fetches) return std::nullopt;
    return Refusal{"scorer", name() + " compares frames with a question when it comes; start from rekv"};
  }
  StatisticsNeeds needs() const override { return {.probe = QuestionProbe{cosine_}}; }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo&) const override {
    require(statistics.probe.has_value(), "FrameLikenessScorer: there was no question");
    return *statistics.probe;
  }

 private:
  bool cosine_;
};

Composition rekv(OptionReader& options) {
  Composition composition = before_the_question();
  composition.phase = MethodPhase::kRetrieve;
  composition.granularity = Granularity::kLayer;
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.media_window = options.whole("local_window", 15'000, 1, 1 << 24);
  composition.scorer = std::make_unique<FrameLikenessScorer>(options.choice<bool>("sim", {{"dot", false}, {"cosine", true}}));
  return composition;
}

}  // namespace

const Method kRekv{
    .name = "rekv", .title = "ReKV", .source = "Di et al., ICLR 2025, arXiv 2503.00540", .compose = rekv, .query_aware = true};

}  // namespace winnow
