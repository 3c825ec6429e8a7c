#include "engine/compression/segment_compressor.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "engine/base/error.h"

namespace winnow {

namespace {

const SegmentInfo& checked(const SegmentInfo& segment) {
  require(segment.tokens >= 0 && segment.layers > 0 && segment.kv_heads > 0 && std::ssize(segment.modality) == segment.tokens,
          "SegmentCompressor: one modality per token, at least one layer and head");
  return segment;
}

bool has_visual(const SegmentInfo& segment) {
  return std::find(segment.modality.begin(), segment.modality.end(), Modality::kVisual) != segment.modality.end();
}

bool is_short_text(const Recipe& recipe, const SegmentInfo& segment) {
  return !has_visual(segment) && segment.tokens < recipe.min_event_tokens();
}

// Whether this segment is one that the recipe compresses at all, whatever its budget says.
bool is_due(const Recipe& recipe, const SegmentInfo& segment) {
  const bool first_only = recipe.turn_policy() == TurnPolicy::kFirstOnly;
  if (!recipe.compresses() || (first_only && (!has_visual(segment) || segment.compressed_before))) return false;
  return !is_short_text(recipe, segment) || segment.retained != nullptr;
}

// In an event over the whole cache a short text is a candidate that stays.
SlotChoice choice_of(const Recipe& recipe, const SegmentInfo& segment, bool keeps_text) {
  return SlotChoice(recipe.composition(), keeps_text ? segment.tokens : 0);
}

EventBudgets budgets_of(const Recipe& recipe, const SegmentInfo& segment, const CandidateSets& sets, const SlotChoice& choice) {
  std::vector<LayerDemand> layers;
  if (is_due(recipe, segment)) {
    for (LayerId layer{0}; layer < segment.layers; ++layer) {
      LayerDemand& most = layers.emplace_back();
      for (const Candidates& set : sets.of_layer(layer)) {
        most.competing = std::max(most.competing, choice.competing(set));
        most.guarded = std::max(most.guarded, choice.protected_slots(set));
        most.pinned = std::max(most.pinned, choice.competing_pins(set));
      }
    }
  }
  std::optional<std::int64_t> seen;
  if (segment.retained != nullptr)
    seen = recipe.composition().scope == Scope::kVisual ? segment.retained->visual_seen : segment.retained->tokens_seen;
  return EventBudgets(recipe, layers, seen);
}

bool follows(const Recipe& recipe, bool will_compress) {
  const Composition& parts = recipe.composition();
  return (will_compress && parts.event_at_first_decode) || (recipe.compresses() && parts.decode.accumulates);
}

}  // namespace

SegmentCompressor::SegmentCompressor(const Recipe& recipe, const SegmentInfo& segment)
    : recipe_(recipe),
      segment_(checked(segment)),
      sets_(segment),
      choice_(choice_of(recipe, segment, is_short_text(recipe, segment))),
      budgets_(budgets_of(recipe, segment, sets_, choice_)),
      watch_(recipe, sets_, segment.layers, budgets_.take_place(), follows(recipe, budgets_.take_place())),
      awaits_first_token_(budgets_.take_place() && recipe.composition().event_at_first_decode) {
  if (will_compress() && recipe.static_budgets()) non_finite_weights_ = budgets_.decide(watch_.measured());
}

void SegmentCompressor::on_layer(const LayerView& view) {
  StatisticsMemo own;
  on_layer(view, own);
}

void SegmentCompressor::on_layer(const LayerView& view, StatisticsMemo& shared) {
  watch_.see(view, shared);
  if (will_compress() && !recipe_.static_budgets() && watch_.has_seen_all()) non_finite_weights_ = budgets_.decide(watch_.measured());
}

void SegmentCompressor::add_first_token() {
  require(awaits_first_token_ && with_first_token_.empty(), "SegmentCompressor: no first token is awaited");
  const bool keeps_text = is_short_text(recipe_, segment_);
  with_first_token_.assign(segment_.modality.begin(), segment_.modality.end());
  with_first_token_.push_back(Modality::kText);
  segment_.modality = with_first_token_;
  segment_.tokens += 1;
  sets_ = CandidateSets(segment_);
  choice_ = choice_of(recipe_, segment_, keeps_text);
}

void SegmentCompressor::on_first_token(LayerId layer, const DecodeRow& row) {
  require(awaits_first_token_ && !with_first_token_.empty() && std::ssize(row.probabilities) == segment_.kv_heads,
          "SegmentCompressor: an unexpected first token");
  watch_.see_first_token(layer, row);
  if (++first_token_layers_ == segment_.layers) awaits_first_token_ = false;
}

bool SegmentCompressor::plan_ready(LayerId layer) const {
  require(layer >= 0 && layer < segment_.layers, "SegmentCompressor: no such layer");
  if (!will_compress() || awaits_first_token_ || !budgets_.decided()) return false;
  return !wants_views() || watch_.has_seen(layer);
}

LayerPlan SegmentCompressor::plan(LayerId layer) const {
  require(plan_ready(layer), "SegmentCompressor: this layer's plan is not ready");
  LayerPlan plan;
  plan.budget = budgets_.slots()[static_cast<std::size_t>(layer)];
  LayerWatch::PerSet<HeadScores> without_views;
  if (!wants_views()) without_views = watch_.scores_without_views(layer);
  const LayerWatch::PerSet<HeadScores>& scores = wants_views() ? watch_.scores(layer) : without_views;
  for (KvHead head{0}; head < segment_.kv_heads; ++head) {
    const Candidates& set = sets_.of(layer, head);
    const HeadScores& found = scores[sets_.set_index(layer, head)];
    require(found.columns == set.info.tokens && (found.heads == 1 || found.heads == set.info.kv_heads),
            "SegmentCompressor: a scorer must score every token for one or all kv heads");
    if (head > 0 && found.heads == 1 && sets_.of_layer(layer).size() == 1) {
      plan.kept.push_back(plan.kept.front());
    } else {
      plan.kept.push_back(choice_.choose(set, watch_.row_of(scores, layer, head), watch_.protection(layer, head), plan.budget));
    }
  }
  return plan;
}

std::vector<std::int64_t> SegmentCompressor::budgets() const {
  if (!will_compress()) return std::vector<std::int64_t>(static_cast<std::size_t>(segment_.layers), segment_.tokens);
  require(budgets_.decided(), "SegmentCompressor: budgets are known after the last layer");
  return budgets_.slots();
}

std::vector<std::vector<std::int64_t>> SegmentCompressor::foreseen_slots() const {
  const std::vector<std::int64_t> budgets = will_compress() ? budgets_.foreseen() : std::vector<std::int64_t>{};
  std::vector<std::vector<std::int64_t>> slots(static_cast<std::size_t>(segment_.layers));
  for (std::size_t layer = 0; layer < slots.size(); ++layer) {
    for (const Candidates& set : sets_.of_layer(LayerId(layer)))
      slots[layer].push_back(will_compress() ? choice_.count(set, budgets[layer]) : set.info.tokens);
    slots[layer].resize(static_cast<std::size_t>(segment_.kv_heads), slots[layer].back());  // one set of candidates may stand for all heads
  }
  return slots;
}

std::vector<std::pair<std::string, double>> SegmentCompressor::reasons(LayerId layer) const {
  std::vector<std::pair<std::string, double>> reasons;
  if (!will_compress()) return reasons;
  const std::vector<std::string> names = recipe_.composition().allocator->measure_names();
  const LayerMeasure& measure = watch_.measured()[static_cast<std::size_t>(layer)];
  for (std::size_t i = 0; i < names.size() && i < measure.size(); ++i) reasons.emplace_back(names[i], measure[i]);
  return reasons;
}

SegmentCompressor::Notes SegmentCompressor::notes() const {
  return {.fallback_rows = watch_.fallback_rows(),
          .non_finite = watch_.non_finite() + non_finite_weights_,
          .raised_to_floor = budgets_.raised_to_floor(),
          .pins_above_budget = budgets_.pins_above_budget()};
}

}  // namespace winnow
