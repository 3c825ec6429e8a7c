// Media that come in clips and are held within a fixed number of slots: what later questions need is judged after every clip.
//
// self-study-stream: the model describes what is left of them (Winnow). kvzip-stream: it repeats the clip (after KVzip, arXiv 2505.23416);
// option proxy=text: only the request to describe votes; proxy=template: the template's text alone, StreamMem's rows (arXiv 2508.15717)
// without its prototypes and its filter of frames that are alike, and with heads that compete within a layer (there all have as many
// slots; compete=nobody). A slot keeps its best vote of all clips. infinipot-v: change over time, then values' norms; see
// scorers/temporal_change.h. Differences from the paper: keys keep their positions, no pooling of the norms (thresholds are not
// published), the last clip is compressed too, so that the slots are never exceeded: where a clip is above a quarter of them, as at small
// shares, every question sees 0.75 of them, the paper's target (option target=1: all of them).
#include "engine/recipes/methods/method.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/context_scorer.h"
#include "engine/recipes/scorers/temporal_change.h"

namespace winnow {

namespace {

Composition in_clips(OptionReader& options) {
  Composition composition = before_the_question();
  come_in_clips(options, composition);
  return composition;
}

Composition probed(OptionReader& options, Composition composition, const char* scorer, const ProbeNeed& probe) {
  protect_newest(options, composition);
  composition.scorer = std::make_unique<ProbeVotesScorer>(scorer, probe);
  composition.streaming.stored_maximum = options.flag("stored", !std::holds_alternative<TemplateProbe>(probe));
  let_heads_compete(options, composition, CompetingHeads::kInALayer, 0.0);
  return composition;
}

Composition self_study_stream(OptionReader& options) {
  Composition composition = in_clips(options);
  const ProbeNeed probe = studied(options, false, false);
  return probed(options, std::move(composition), "description", probe);
}

Composition kvzip_stream(OptionReader& options) {
  Composition composition = in_clips(options);
  enum class Proxy { kRepetition, kText, kTemplate };
  const auto proxy =
      options.choice<Proxy>("proxy", {{"repetition", Proxy::kRepetition}, {"text", Proxy::kText}, {"template", Proxy::kTemplate}});
  const ByAttention judgement{options.flag("norms", false)};
  ProbeNeed probe = RepetitionProbe{0, judgement};
  if (proxy == Proxy::kText) probe = RequestProbe{{}, judgement};
  if (proxy == Proxy::kTemplate) probe = TemplateProbe{judgement};
  return probed(options, std::move(composition), judgement.norms ? "repetition-norms" : "repetition", probe);
}

Composition infinipot_v(OptionReader& options) {
  Composition composition = in_clips(options);
  const double alpha = options.real("change_share", 0.5, 0.0, 1.0);
  ChangeNeed change{.recent_share = options.real("newest", 0.125, 0.001, 1.0),
                    .by_rank = !options.choice<bool>("cells", {{"true", true}, {"rank", false}})};
  composition.streaming.target = options.real("target", 0.75, 0.1, 1.0);
  composition.scorer = std::make_unique<TemporalChangeScorer>(alpha, change);
  composition.allocator = std::make_unique<UniformAllocator>();
  return composition;
}

}  // namespace

const Method kSelfStudyStream{.name = "self-study-stream",
                              .title = "Self-study, clip by clip",
                              .source = "Winnow; after KVzip and Attention Matching, arXiv 2602.16284",
                              .compose = self_study_stream};
const Method kKvzipStream{.name = "kvzip-stream",
                          .title = "KVzip, clip by clip",
                          .source = "Winnow; after KVzip, arXiv 2505.23416, and StreamMem, arXiv 2508.15717",
                          .compose = kvzip_stream};
const Method kInfinipotV{.name = "infinipot-v", .title = "InfiniPot-V", .source = "Kim et al., arXiv 2506.15745v2", .compose = infinipot_v};

}  // namespace winnow
