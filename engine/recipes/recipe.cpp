#include "engine/recipes/recipe.h"

#include <cmath>
#include <string>
#include <utility>

#include "engine/recipes/composition_parts.h"
#include "engine/recipes/reducers/shared_entries.h"
#include "engine/recipes/stored_bits.h"

namespace winnow {

namespace {

[[noreturn]] void refuse(const std::string& setting, const std::string& reason) {
  throw Exception(ErrorCode::kIllegalRecipe, setting, reason);
}

BudgetRequest checked_budget(const RecipeSpec& spec) {
  BudgetRequest request;
  if (spec.budget_tokens) {
    if (*spec.budget_tokens < 1) refuse("budget", "a budget is at least one token per layer");
    request.tokens = *spec.budget_tokens;
  } else {
    // Written so that NaN is refused too.
    if (!(spec.retention > 0.0 && spec.retention <= 1.0)) refuse("retention", "the share to keep must be over 0 and at most 1");
    request.retention = spec.retention;
  }
  return request;
}

// One more row can be added to what it is made of.
bool adds_rows(const Scorer& scorer) {
  StatisticsNeed sums{.rows = RowRule::all(), .column_sums = true};
  return scorer.needs().attention == std::vector<StatisticsNeed>{sums} && !scorer.needs().cross_modal && !scorer.needs().elite;
}

void check_demands(const Composition& composition) {
  const PhaseEntry& phase = phase_entry(composition.phase);
  const PhaseDemands& demands = phase.demands;
  const auto want = [](const char* reason, bool met, const char* setting) {
    if (reason != nullptr && !met) refuse(setting, reason);
  };
  want(demands.context_scope, composition.scope == Scope::kContext, "scope");
  want(demands.same_heads, composition.granularity != Granularity::kRagged, "granularity");
  if (phase.facts.in_clips && !composition.scorer->judges_streams()) {
    refuse("scorer", composition.scorer->name() +
                         " cannot judge media clip by clip; these can: repetition, repetition-norms, description, " +
                         "temporal-change, key-difference, recency");
  }
  want(demands.known_budgets, composition.allocator->needs().empty(), "allocator");
  want(demands.bounded_heads, !composition.allocator->whole_heads(), "allocator");
  want(demands.dropping, composition.reducer->name() == "drop", "reducer");
}

void check_parts(const Composition& composition) {
  const bool has_allocator = composition.allocator != nullptr;
  const bool has_scorer = composition.scorer != nullptr;
  if (has_allocator != has_scorer) refuse("method", "an allocator and a scorer belong together");
  const Protection& protection = composition.protection;
  if (protection.sinks < 0 || protection.window < 0 || !(protection.recent_share >= 0.0 && protection.recent_share <= 1.0)) {
    refuse("method", "protected slots are not negative, and a protected share is at most 1");
  }
  if (!(composition.min_fraction >= 0.0 && composition.min_fraction <= 1.0)) {
    refuse("method", "the least share of a layer is between 0 and 1");
  }
  if (composition.pruning) {
    if (has_scorer) refuse("method", "tokens leave either the network or the cache, not both");
    if (composition.phase != MethodPhase::kPrefill || composition.pruning->layer < 0)
      refuse("method", "pruning happens during the prefill");
    return;
  }
  if (!has_scorer) {
    if (composition.phase != MethodPhase::kOnce) refuse("method", "evicting while decoding needs a score that can follow each token");
    return;
  }
  if (composition.scope == Scope::kVisual && protection.all_text) refuse("scope", "keeping all text is what scope visual does by itself");
  const std::string scorer = composition.scorer->name();
  if (composition.phase == MethodPhase::kDecode && !composition.scorer->follows_decode())
    refuse("scorer", "evicting while decoding needs a score that can follow each token; " + scorer + " cannot");
  if (composition.closed_ranks && (composition.reducer->merges() || composition.decode.accumulates)) {
    refuse("rope", "positions inside the cache are for methods that only drop tokens; this one merges them or follows their attention");
  }
  if (composition.event_at_first_decode && !adds_rows(*composition.scorer)) {
    refuse("event_at_first_decode",
           "the first answer token's attention can only be added to accumulated attention; " + scorer + " is made of other numbers");
  }
  const bool before_question = phase_facts(composition.phase).before_question;
  if (composition.granularity == Granularity::kRagged) {
    if (composition.scope == Scope::kAll || !before_question)
      refuse("granularity", "heads compete for the slots of media only, in an event before the question (kvzip, self-study)");
    if (composition.reducer->sharing() != nullptr) refuse("reducer", "shared slots need as many slots in every head");
  }
  check_demands(composition);
  if (before_question) {
    if (composition.scope == Scope::kAll)
      refuse("scope", "an event before the question is about the media; this needs scope context or visual");
    if (composition.scorer->observes_from_a_window())
      refuse("scorer", scorer + " judges by the question, which is read after this method's event");
    if (composition.decode.accumulates)
      refuse("reducer", "this reducer follows the attention of the whole prompt, which is read after this method's event");
    if (composition.scorer->needs().probe && composition.allocator->needs().of_prefill())
      refuse("allocator", "this allocator judges by the rows of a question, which are read after this method's event");
  }
  for (const std::optional<Refusal>& refusal :
       {composition.allocator->fits(composition), composition.scorer->fits(composition), composition.reducer->fits(composition)}) {
    if (refusal) refuse(refusal->setting, refusal->reason);
  }
}

bool judged_by_the_tower(const Composition& composition) {
  return composition.pruning &&
         (composition.pruning->judge == Pruning::Judge::kVision || composition.pruning->judge == Pruning::Judge::kRollout);
}

void check_before(const BeforeDecoder& before, const Composition& composition) {
  const bool in_range = before.amount <= 1.0 && (before.by_pixels() ? before.amount >= 0.0 : before.amount > 0.0);  // false for NaN
  if (before.method < BeforeMethod::kNone || before.method > BeforeMethod::kPixelPrune || !in_range)
    refuse("before", std::string("must be ") + kBeforeForm);
  if (before.method == BeforeMethod::kNone) return;
  if (phase_facts(composition.phase).in_clips)
    refuse("before", "what is never read is chosen over a whole video, and this method reads it clip by clip");
  if (judged_by_the_tower(composition))
    refuse("before", composition.method + " takes visual tokens out before the decoder by a rule of its own: choose one of both");
}

// The part that goes by tokens which a layer with a window has left behind; null: there is none.
const char* unfit_for_windows(const Composition& composition) {
  const PhaseFacts& phase = phase_facts(composition.phase);
  if (phase.fetches) return "it fetches from all of the media";
  if (phase.in_clips) return "it holds slots of all clips";
  if (composition.reducer->sharing() != nullptr) return "its slots are shared by tokens of different ages";
  if (composition.closed_ranks) return "it counts positions inside the cache";
  if (composition.event_at_first_decode) return "its event waits for the first answer token";
  if (composition.allocator != nullptr && composition.allocator->whole_heads()) return "it keeps heads whole";
  if (composition.pruning && composition.pruning->at_layer(0.5) < 1.0) return "it judges pictures by the attention of a layer";
  return nullptr;
}

}  // namespace

Recipe::Recipe(Composition composition, BudgetRequest budget, const RecipeSpec& spec)
    : composition_(std::move(composition)), budget_(budget), spec_(spec) {
  if (composition_.allocator != nullptr) needs_ = with_allocator(composition_.allocator->needs());
}

StatisticsNeeds Recipe::needs_for(const SegmentInfo& segment) const {
  return composition_.allocator != nullptr ? with_allocator(composition_.allocator->needs_for(segment)) : StatisticsNeeds{};
}

StatisticsNeeds Recipe::with_allocator(StatisticsNeeds allocator) const {
  std::vector<StatisticsNeeds> needs = {std::move(allocator), composition_.scorer->needs()};
  if (composition_.decode.accumulates) {
    StatisticsNeed followed{
        .rows = RowRule::all(), .column_sums = true, .column_squares = composition_.decode.victim == DecodeRule::Victim::kLeastMean};
    needs.push_back({{followed}, {}, {}});
    if (composition_.decode.local_rows > 0) {
      StatisticsNeed local{.rows = RowRule::last(composition_.decode.local_rows), .column_sums = true};
      needs.push_back({{local}, {}, {}});
    }
  }
  return merge_needs(needs);
}

const char* Recipe::needs_sight() const {
  if (const char* frames = phase_entry(composition_.phase).demands.frames; frames != nullptr) return frames;
  return composition_.pruning ? "it takes tokens of pictures out of the network" : nullptr;
}

std::optional<Error> Recipe::misfit(const ModelTraits& model) const {
  const auto error = [&](const std::string& reason) { return Error{ErrorCode::kIllegalRecipe, composition_.method, reason}; };
  if (const char* why = needs_sight(); why != nullptr && !model.sees) return error(why + std::string(", and this model reads text only"));
  const auto before_error = [](const char* reason) { return Error{ErrorCode::kIllegalRecipe, "before", reason}; };
  if (spec_.before.method != BeforeMethod::kNone && !model.sees)
    return before_error("visual tokens can leave before the decoder, and this model reads text only");
  if (spec_.before.by_pixels() && !model.encodes_parts)
    return before_error("pixelprune encodes parts of a picture, and this model's vision encoder needs whole pictures");
  if (const int bits = stored_bits(spec_, model); bits < model.arithmetic_bits && !model.reads_narrow_cache)
    return Error{ErrorCode::kIllegalRecipe, "kv",
                 "a cache in " + std::to_string(bits) + " bits is for the CPU: the GPU's attention reads numbers as it computes them"};
  const SharingRule* sharing = composition_.reducer->sharing();
  if (model.position_axes > 1) {
    if (composition_.closed_ranks) return error("it counts positions inside the cache, and this model's have time, height and width");
    if (sharing != nullptr && sharing->rotation != SharedEntries::Rotation::kStored)
      return error("it keeps keys without their positions, and this model's have time, height and width");
  }
  if (const char* why = model.window > 0 ? unfit_for_windows(composition_) : nullptr; why != nullptr)
    return error(why + std::string(", and some layers of this model look back over ") + std::to_string(model.window) + " tokens only");
  if (judged_by_the_tower(composition_) && !model.judges_patches)
    return error("it uses the attention of the vision encoder, which this model does not provide");
  return std::nullopt;
}

Recipe Recipe::from_spec(const RecipeSpec& spec) { return from_parts(spec, compose(spec)); }

Recipe Recipe::from_parts(const RecipeSpec& spec, Composition composition) {
  const BudgetRequest budget = checked_budget(spec);
  if (composition.pruning && budget.tokens) refuse("budget", "token pruning keeps a share of the visual tokens; give a retention");
  for (const WholeSetting& setting : kWholeSettings) {
    if (setting.allows(spec.*setting.value)) continue;
    std::string words;
    for (const SettingWord& each : setting.words) words += (words.empty() ? "" : ", ") + std::string(each.word);
    refuse(setting.name, setting.words.empty()
                             ? "must lie between " + std::to_string(setting.least) + " and " + std::to_string(setting.most)
                             : "must be one of " + words);
  }
  if (composition.pruning && spec.full_layers > composition.pruning->layer) {
    refuse("full_layers", "this method takes tokens out of the network before layer " + std::to_string(composition.pruning->layer) +
                              ": later layers never see them");
  }
  switch (spec.turn_policy) {
    case TurnPolicy::kSegment:
    case TurnPolicy::kFirstOnly: break;
    case TurnPolicy::kWhole:
      if (composition.pruning)
        refuse("turn_policy", "token pruning drops tokens before the cache holds them: there is nothing to compress again");
      break;
    default: refuse("turn_policy", "there is no such turn policy");
  }
  check_parts(composition);
  check_before(spec.before, composition);
  if ((composition.scope == Scope::kContext || phase_facts(composition.phase).before_question) && spec.turn_policy == TurnPolicy::kWhole)
    refuse("turn_policy",
           "this method keeps the same of the media for every question, so nothing is compressed again (choose another turn policy)");
  return Recipe(std::move(composition), budget, spec);
}

double Pruning::before_decoder(double retention) const {
  if (judge == Judge::kVision) return retention;
  return judge == Judge::kRollout ? std::sqrt(retention) : 1.0;
}

double Pruning::at_layer(double retention) const {
  if (judge == Judge::kVision) return 1.0;
  return judge == Judge::kRollout ? std::sqrt(retention) : retention;
}

bool Recipe::whole_cache() const {
  // A decode-phase method with an absolute budget holds it over all turns.
  const bool held = turn_policy() == TurnPolicy::kSegment && composition_.phase == MethodPhase::kDecode && budget_.tokens;
  return compresses() && (turn_policy() == TurnPolicy::kWhole || held);
}

bool Recipe::compresses() const { return composition_.scorer != nullptr && (budget_.tokens || budget_.retention < 1.0); }

bool Recipe::keeps_whole(LayerId layer, std::int64_t layers) const {
  return layer < spec_.full_layers || (composition_.skip_outer_layers && (layer < 2 || layer == layers - 1));
}

bool Recipe::static_budgets() const {
  return composition_.allocator == nullptr || (composition_.allocator->needs().empty() && !composition_.allocator->best_of_all_layers());
}

}  // namespace winnow
