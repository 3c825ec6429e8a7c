// Self-study: the model describes the media to itself once; what its words look at stays for every later question, and what a repetition of
// the media would.
//
// The closest published precedent is CacheNotes (Corallo et al., EACL 2026, long paper 309), before it Beyond RAG (Corallo et al., arXiv
// 2503.04973). There a model that is told a task writes notes about texts, and the notes (before: the task and examples) guide one
// compression of the texts' cache, which then serves all questions of that task. Ours: no task is told, pictures and videos are described
// as well, votes are weighed by norms, a repetition votes beside the description, and slots are shared among the heads of all layers.
// The repetition's rows are those of the first reading, as if they came once more behind it (votes_as_read()); with=kvzip runs them again,
// which takes as long as reading and told no more (resources/evaluation). A description of texts is short (text_answer): their own words
// tell what stands in them.
//
// Made after the reference rows of Attention Matching (arXiv 2602.16284) and KVzip+; the votes are probabilities weighed by norms, over
// the rows of the request and of the answer, and over those of the repetition (as KVzip+, not chunked): a slot has the larger of the two
// (with=nothing: the description alone, which forgets what it leaves out, as weak models' do). The best slots of the whole cache stay, and
// a fifth of an equal share in every head (floor=0.2).
#include "engine/recipes/methods/method.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/context_scorer.h"

namespace winnow {

namespace {

Composition self_study(OptionReader& options) {
  Composition composition = before_the_question();
  composition.scorer = std::make_unique<ProbeVotesScorer>("description", studied(options, true, true));
  let_heads_compete(options, composition, CompetingHeads::kOfAllLayers, 0.2);
  return composition;
}

}  // namespace

const Method kSelfStudy{
    .name = "self-study",
    .title = "Self-study",
    .source =
        "Winnow; closest precedent CacheNotes, EACL 2026 (before it Beyond RAG, arXiv 2503.04973); after KVzip+ and Attention Matching, "
        "arXiv 2602.16284",
    .compose = self_study};

}  // namespace winnow
