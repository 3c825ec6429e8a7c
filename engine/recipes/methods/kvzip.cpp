#include "engine/recipes/methods/kvzip.h"

#include "engine/recipes/allocators/whole_heads.h"
#include "engine/recipes/measured_options.h"
#include "engine/recipes/methods/shared_options.h"
#include "engine/recipes/scorers/measured_heads.h"
#include "engine/recipes/scorers/probe_votes.h"

namespace winnow {
namespace {

Composition repeated(OptionReader& options, const char* name, bool norms) {
  Composition composition = before_the_question(name);
  const RepetitionProbe probe{.chunk = options.whole("chunk", 2000, 1, 1 << 20), .judgement = {norms}};
  composition.scorer = std::make_unique<ProbeVotesScorer>(norms ? "repetition-norms" : "repetition", probe);
  if (norms) {
    let_heads_compete(options, composition, CompetingHeads::kOfAllLayers, 0.2);
  } else {
    let_heads_compete(options, composition, CompetingHeads::kInALayer, 0.0);
  }
  return composition;
}

}  // namespace

Composition kvzip(OptionReader& options) { return repeated(options, "kvzip", false); }

MethodInfo kvzip_info() {
  MethodInfo info;
  info.name = "kvzip";
  info.title = "KVzip";
  info.source = "Kim et al., NeurIPS 2025, arXiv 2505.23416";
  info.needs = {"attention of the repeated media"};
  return info;
}

Composition kvzip_plus(OptionReader& options) { return repeated(options, "kvzip+", true); }

MethodInfo kvzip_plus_info() {
  MethodInfo info = kvzip_info();
  info.name = "kvzip+";
  info.title = "KVzip+";
  info.source = "Jegou and Jeblick (KVzap), 2026, arXiv 2601.07891, section 3.1";
  info.needs = {"attention of the repeated media", "norms of values behind the output projection"};
  return info;
}

Composition kvzip_head(OptionReader& options) {
  Composition composition = before_the_question("kvzip-head");
  composition.scorer = std::make_unique<MeasuredHeadsScorer>(options.head_table(kHeadTableOption));
  composition.allocator = std::make_unique<WholeHeadsAllocator>();
  composition.granularity = Granularity::kRagged;
  return composition;
}

MethodInfo kvzip_head_info() {
  MethodInfo info = kvzip_info();
  info.name = "kvzip-head";
  info.title = "KVzip (heads)";
  info.needs = {};
  return info;
}

}  // namespace winnow
