// Expected Attention. Devoto, Jeblick and Jegou, "Expected Attention: KV Cache Compression by Estimating Attention from Future Queries
// Distribution", arXiv 2510.00636; code NVIDIA/kvpress expected_attention_press.py.
//
// Later queries are taken to be distributed as the context's own, at the next `horizon` positions; a slot's score is what they are expected
// to take from it, (a + eps) norm(v) (statistics/expected_attention.h, scorers/context_scorer.h). Defaults of the paper: eps 0.02,
// horizon 512. Every head keeps the same number; the paper's competition of a layer's heads is compete=layer with a floor of 0.2.
// Deviations: only the media compete, once, before the question; what comes before them is the sink and always stays. On a VLM the queries
// that are known are those of pictures, and later ones are words: stats=request takes those of the words that ask for a description (or of
// ask), stats=answer those of the model's answer as well, read once behind the media and forgotten (methods-conversation 12, choice 11).
// These two alone have the options ask and answer.
#include "engine/recipes/methods/method.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/context_scorer.h"

namespace winnow {

namespace {

Composition expected_attention(OptionReader& options) {
  Composition composition = before_the_question();
  enum class Words { kMedia, kRequest, kAnswer };  // of whose queries the statistics are; media: of their own
  const auto words = options.choice<Words>("stats", {{"media", Words::kMedia}, {"request", Words::kRequest}, {"answer", Words::kAnswer}});
  ExpectedNeed expected{.horizon = options.whole("horizon", 512, 1, 1 << 16)};
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

}  // namespace

const Method kExpectedAttention{.name = "expected-attention",
                                .title = "Expected Attention",
                                .source = "Devoto et al., arXiv 2510.00636",
                                .compose = expected_attention};

}  // namespace winnow
