// KVzip: what the model looks at when it repeats the media is kept for every later question.
//
// Kim et al., NeurIPS 2025, arXiv 2505.23416, sections 3.1 to 3.3 and Algorithm 1; code snu-mllab/KVzip. On a VLM, which is not trained to
// emit visual embeddings, heads compete within a layer by default (compete=layer) and not over the whole cache as the paper has it
// (compete=all). Further: the request says "video" or "image", the template's own line feeds stand before it (the code: two always), the
// whole lead is in the restricted softmax, the best slots are taken exactly (the code: those above the threshold), chunks end with a frame.
// KVzip+ weighs the probabilities by norms: arXiv 2601.07891, section 3.1 (kvpress, kvzap_press.py). All of its heads compete, a fifth of
// an equal share apart (floor=0.2), which a language model's text needs; the demo world's pictures would do better within layers.
// kvzip-head runs nothing: each head's largest score over calibration media, measured beforehand (option head_scores, or
// "kvzip_head_scores" in the model's winnow.json; the paper takes an English book), says which heads keep the media whole; the others keep
// only what is around them (sections 3 and 4.2; 0.6 of the heads is recommended there).
#include "engine/recipes/allocators/whole_heads.h"
#include "engine/recipes/measured_options.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/measured_heads.h"
#include "engine/recipes/scorers/probe_votes.h"

namespace winnow {

namespace {

Composition repeated(OptionReader& options, bool norms) {
  Composition composition = before_the_question();
  const RepetitionProbe probe{.chunk = options.whole("chunk", 2000, 1, 1 << 20), .judgement = {norms}};
  composition.scorer = std::make_unique<ProbeVotesScorer>(norms ? "repetition-norms" : "repetition", probe);
  if (norms) {
    let_heads_compete(options, composition, CompetingHeads::kOfAllLayers, 0.2);
  } else {
    let_heads_compete(options, composition, CompetingHeads::kInALayer, 0.0);
  }
  return composition;
}

Composition kvzip(OptionReader& options) { return repeated(options, false); }

Composition kvzip_plus(OptionReader& options) { return repeated(options, true); }

Composition kvzip_head(OptionReader& options) {
  Composition composition = before_the_question();
  composition.scorer = std::make_unique<MeasuredHeadsScorer>(options.head_table(kHeadTableOption));
  composition.allocator = std::make_unique<WholeHeadsAllocator>();
  composition.granularity = Granularity::kRagged;
  return composition;
}

}  // namespace

const Method kKvzip{.name = "kvzip", .title = "KVzip", .source = "Kim et al., NeurIPS 2025, arXiv 2505.23416", .compose = kvzip};
const Method kKvzipPlus{
    .name = "kvzip+", .title = "KVzip+", .source = "Jegou and Jeblick (KVzap), 2026, arXiv 2601.07891, section 3.1", .compose = kvzip_plus};
const Method kKvzipHead{
    .name = "kvzip-head", .title = "KVzip (heads)", .source = "Kim et al., NeurIPS 2025, arXiv 2505.23416", .compose = kvzip_head};

}  // namespace winnow
