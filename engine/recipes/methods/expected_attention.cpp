#include "engine/recipes/methods/expected_attention.h"

#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/expected_attention.h"
#include "engine/recipes/scorers/probe_votes.h"

namespace winnow {

Composition expected_attention(OptionReader& options) {
  Composition composition = before_the_question("expected-attention");
  enum class Words { kMedia, kRequest, kAnswer };  // of whose queries the statistics are; media: of their own
  const auto words = options.choice<Words>("stats", {{"media", Words::kMedia}, {"request", Words::kRequest}, {"answer", Words::kAnswer}});
  ExpectedNeed expected;
  expected.horizon = options.whole("horizon", 512, 1, 1 << 16);
  const double epsilon = options.real("eps", 0.02, 0.0, 1.0);
  if (words != Words::kMedia) {
    DescriptionProbe probe;
    probe.ask = options.sentences("ask");
    probe.answer_tokens = options.whole("answer", 256, 8, 4096);
    probe.judgement = ByExpectation{expected, epsilon};
    const ProbeNeed need = words == Words::kAnswer ? ProbeNeed(probe) : RequestProbe{probe.ask, probe.judgement};
    composition.scorer = std::make_unique<ProbeVotesScorer>("expected-attention", need);
  } else {
    composition.scorer = std::make_unique<ExpectedAttentionScorer>(expected, epsilon);
  }
  let_heads_compete(options, composition, CompetingHeads::kNobody, 0.2);
  return composition;
}

MethodInfo expected_attention_info() {
  MethodInfo info;
  info.name = "expected-attention";
  info.title = "Expected Attention";
  info.source = "Devoto et al., arXiv 2510.00636";
  info.needs = {"mean and covariance of queries, the media's or words'", "norms of values", "one-axis rotary positions"};
  return info;
}

}  // namespace winnow
