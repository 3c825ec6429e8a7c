#include "engine/recipes/methods/stream_presets.h"

#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/probe_votes.h"
#include "engine/recipes/scorers/temporal_change.h"

namespace winnow {
namespace {

Composition in_clips(OptionReader& options, const char* method) {
  Composition composition = before_the_question(method);
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

}  // namespace

Composition self_study_stream(OptionReader& options) {
  Composition composition = in_clips(options, "self-study-stream");
  const ProbeNeed probe = studied(options, "self-study-stream", false, false);
  return probed(options, std::move(composition), "description", probe);
}

MethodInfo self_study_stream_info() {
  MethodInfo info;
  info.name = "self-study-stream";
  info.title = "Self-study, clip by clip";
  info.source = "Winnow; after KVzip and Attention Matching, arXiv 2602.16284";
  info.needs = {"attention of the model's own description of what is left of the media, after every clip"};
  return info;
}

Composition kvzip_stream(OptionReader& options) {
  Composition composition = in_clips(options, "kvzip-stream");
  enum class Proxy { kRepetition, kText, kTemplate };
  const auto proxy =
      options.choice<Proxy>("proxy", {{"repetition", Proxy::kRepetition}, {"text", Proxy::kText}, {"template", Proxy::kTemplate}});
  const ByAttention judgement{options.flag("norms", false)};
  ProbeNeed probe = RepetitionProbe{0, judgement};
  if (proxy == Proxy::kText) probe = RequestProbe{{}, judgement};
  if (proxy == Proxy::kTemplate) probe = TemplateProbe{judgement};
  return probed(options, std::move(composition), judgement.norms ? "repetition-norms" : "repetition", probe);
}

MethodInfo kvzip_stream_info() {
  MethodInfo info;
  info.name = "kvzip-stream";
  info.title = "KVzip, clip by clip";
  info.source = "Winnow; after KVzip, arXiv 2505.23416, and StreamMem, arXiv 2508.15717";
  info.needs = {"attention of every clip's repetition to what is left of the media"};
  return info;
}

Composition infinipot_v(OptionReader& options) {
  Composition composition = in_clips(options, "infinipot-v");
  const double alpha = options.real("change_share", 0.5, 0.0, 1.0);
  ChangeNeed change;
  change.recent_share = options.real("newest", 0.125, 0.001, 1.0);
  change.by_rank = !options.choice<bool>("cells", {{"true", true}, {"rank", false}});
  composition.streaming.target = options.real("target", 0.75, 0.1, 1.0);
  composition.scorer = std::make_unique<TemporalChangeScorer>(alpha, change);
  composition.allocator = std::make_unique<UniformAllocator>();
  return composition;
}

MethodInfo infinipot_v_info() {
  MethodInfo info;
  info.name = "infinipot-v";
  info.title = "InfiniPot-V";
  info.source = "Kim et al., arXiv 2506.15745v2";
  info.needs = {"directions of the media's keys in the newest frames", "norms of the media's values"};
  return info;
}

}  // namespace winnow
