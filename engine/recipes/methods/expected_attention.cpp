#include "engine/recipes/methods/expected_attention.h"

#include <optional>

#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/expected_attention.h"
#include "engine/recipes/scorers/probe_votes.h"

namespace winnow {

Composition expected_attention(OptionReader& options) {
  Composition composition = before_the_question("expected-attention");
  using Rows = ProbeNeed::Rows;
  // Of whose queries the statistics are; none: of the media's own.
  const auto words = options.choice<std::optional<Rows>>("stats", {{"media", {}}, {"request", Rows::kRequest}, {"answer", Rows::kStudy}});
  ExpectedNeed expected;
  expected.horizon = options.whole("horizon", 512, 1, 1 << 16);
  const double epsilon = options.real("eps", 0.02, 0.0, 1.0);
  if (words) {
    ProbeNeed probe;
    probe.rows = *words;
    probe.expected = expected;
    probe.epsilon = epsilon;
    probe.ask = options.sentences("ask");
    probe.answer_tokens = options.whole("answer", 256, 8, 4096);
    composition.scorer = std::make_unique<ProbeVotesScorer>("expected-attention", probe);
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
