// KVzip: what the model looks at when it repeats the media is kept for every later question.
//
// Kim et al., NeurIPS 2025, arXiv 2505.23416, sections 3.1 to 3.3 and Algorithm 1; code snu-mllab/KVzip. On a VLM, which is not trained to
// emit visual embeddings, heads compete within a layer by default (compete=layer) and not over the whole cache as the paper has it
// (compete=all). Further: the request says "video" or "image", the template's own line feeds stand before it (the code: two always), the
// whole lead is in the restricted softmax, the best slots are taken exactly (the code: those above the threshold), chunks end with a frame.
// KVzip+ weighs the probabilities by norms: arXiv 2601.07891, section 3.1 (kvpress, kvzap_press.py). All of its heads compete, a fifth of
// an equal share apart (floor=0.2), which a language model's text needs; the demo world's pictures would do better within layers.
// Ours: rows=reading judges by the rows as they were first read, without a second pass (votes_as_read()).
// kvzip-head runs nothing: each head's largest score over calibration media, measured beforehand (option head_scores, or
// "kvzip_head_scores" in the model's winnow.json; the paper takes an English book), says which heads keep the media whole; the others keep
// only what is around them (sections 3 and 4.2; 0.6 of the heads is recommended there).
#include "engine/base/error.h"
#include "engine/base/per_layer.h"
#include "engine/recipes/allocators/global_pairs.h"
#include "engine/recipes/measured_options.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/context_scorer.h"

namespace winnow {

namespace {

// The attention of a head measured beforehand: the same score for all its slots (KVzip's head scores, arXiv 2505.23416, section 4.2).
class MeasuredHeadsScorer : public ContextScorer {
 public:
  // Empty: not measured, which a recipe refuses.
  explicit MeasuredHeadsScorer(HeadTable table) : table_(std::move(table)) {}
  std::string name() const override { return "measured-heads"; }
  std::optional<Refusal> fits(const Composition& parts) const override {
    if (table_.empty()) {
      return Refusal{
          kHeadTableOption,
          "it was not measured for this model how much its heads look at videos (kvzip_head_scores in winnow.json); give it as the "
          "option head_scores=0.9:0.6/0.8:0.9, layers by / and heads by colons"};
    }
    return ContextScorer::fits(parts);
  }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo& segment) const override {
    if (table_.layers() != segment.layers || std::ssize(table_.front()) != segment.kv_heads) {
      throw Exception(ErrorCode::kIllegalRecipe, kHeadTableOption,
                      "these are " + std::to_string(table_.layers()) + " layers of " + std::to_string(table_.front().size()) +
                          " heads; this model has " + std::to_string(segment.layers) + " of " + std::to_string(segment.kv_heads));
    }
    HeadScores scores{segment.kv_heads, segment.tokens, {}};
    for (const double score : table_[statistics.layer])
      scores.values.insert(scores.values.end(), static_cast<std::size_t>(segment.tokens), static_cast<float>(score));
    return scores;
  }

 private:
  PerLayer<std::vector<double>> table_;  // per kv head
};

// Whole heads: those with the best scored slot keep all that competes, the others nothing of it.
//
// KVzip's budgets without the context, arXiv 2505.23416, sections 3 and 4.2: with B the share kept, the best round(B * layers * kv heads)
// heads. Where the user pinned slots, which every head keeps, the last of these heads has that many fewer.
class WholeHeadsAllocator : public GlobalAllocator {
 public:
  std::string name() const override { return "whole-heads"; }
  bool whole_heads() const override { return true; }
};

Composition repeated(OptionReader& options, bool norms) {
  Composition composition = before_the_question();
  const RepetitionProbe probe{
      .chunk = options.whole("chunk", 2000, 1, 1 << 20),
      .judgement = {norms},
      .rows = options.choice<Repetition>("rows", {{"again", Repetition::kRunAgain}, {"reading", Repetition::kAsRead}}),
  };
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
