#include "engine/recipes/methods/expected_attention.h"

#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/expected_attention.h"

namespace winnow {

Composition expected_attention(OptionReader& options) {
  Composition composition = before_the_question("expected-attention");
  ExpectedNeed expected;
  expected.horizon = options.whole("horizon", 512, 1, 1 << 16);
  composition.scorer = std::make_unique<ExpectedAttentionScorer>(expected, options.real("eps", 0.02, 0.0, 1.0));
  let_heads_compete(options, composition, CompetingHeads::kNobody, 0.2);
  return composition;
}

MethodInfo expected_attention_info() {
  MethodInfo info;
  info.name = "expected-attention";
  info.title = "Expected Attention";
  info.source = "Devoto et al., arXiv 2510.00636";
  info.phase = "context";
  info.needs = {"mean and covariance of the media's queries", "norms of values", "one-axis rotary positions"};
  return info;
}

}  // namespace winnow
