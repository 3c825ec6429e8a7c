// A checked compression recipe: a composition of parts, a budget and a turn policy. Always legal.
//
// Made from a request by engine/generation, read by SegmentCompressor and next_decode_policy(). Immutable. No torch.
// Errors: kIllegalRecipe with a sentence for people; subject names the offending setting.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/error.h"
#include "engine/base/index.h"
#include "engine/recipes/budget.h"
#include "engine/recipes/composition.h"
#include "engine/recipes/model_traits.h"
#include "engine/recipes/recipe_spec.h"
#include "engine/recipes/segment_info.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

class Recipe {
 public:
  // The preset that spec.method names, with spec's options and parts.
  static Recipe from_spec(const RecipeSpec& spec);
  // Why this model does not support the recipe; nullopt if it does.
  std::optional<Error> misfit(const ModelTraits& model) const;
  // Parts made by the caller; spec.method is only a label.
  static Recipe from_parts(const RecipeSpec& spec, Composition composition);

  const Composition& composition() const { return composition_; }
  const BudgetRequest& budget() const { return budget_; }
  const BeforeDecoder& before() const { return spec_.before; }
  TurnPolicy turn_policy() const { return spec_.turn_policy; }
  int min_event_tokens() const { return spec_.min_event_tokens; }

  // False: the same as no compression at all (method full, or a share of 1).
  bool compresses() const;
  // An event is about all slots of the cache, not only the new segment's (turn policy whole, and decode-phase methods with an absolute
  // budget).
  bool whole_cache() const;
  // True: visual tokens leave the network during the prefill; no event, and no prefill shared with other recipes.
  bool prunes() const { return composition_.pruning && (budget_.tokens || budget_.retention < 1.0); }
  // The statistics to compute per layer; empty if none are needed.
  const StatisticsNeeds& needs() const { return needs_; }
  // The same of one segment: what its tokens make superfluous is left out.
  StatisticsNeeds needs_for(const SegmentInfo& segment) const;
  // The prefill is the same as everybody's, so that several recipes can answer from one; false where tokens leave during it, an event
  // interrupts it, or rows are rounded as they come.
  bool shares_prefill() const { return !prunes() && !context_event() && spec_.kv_bits == 0; }
  // The event comes between the media and what is asked about them.
  bool context_event() const { return phase_facts(composition_.phase).before_question && compresses(); }
  // It comes with every question, about all of the media, which stay as they are.
  bool retrieves() const { return phase_facts(composition_.phase).fetches && compresses(); }
  // There is one after every clip of the media.
  bool streams() const { return phase_facts(composition_.phase).in_clips && compresses(); }
  // It goes by the frames of media, which a document has not.
  bool reads_frames() const { return phase_entry(composition_.phase).demands.frames != nullptr && compresses(); }
  // Nothing leaves this layer, neither at the event nor while decoding. The total stays what was asked for: the other layers pay.
  bool keeps_whole(LayerId layer, std::int64_t layers) const;
  // The prompt may be read twice where that lowers the peak.
  bool reads_twice() const { return spec_.prefill_passes == 2; }
  // Budgets of all layers are known before the prefill.
  bool static_budgets() const;

 private:
  Recipe(Composition composition, BudgetRequest budget, const RecipeSpec& spec);
  // Why it makes no sense without pictures; null if it does.
  const char* needs_sight() const;
  StatisticsNeeds with_allocator(StatisticsNeeds allocator) const;  // and what scorer and decoding need

  Composition composition_;
  BudgetRequest budget_;
  RecipeSpec spec_;
  StatisticsNeeds needs_;
};

}  // namespace winnow
