#include "engine/compression/segment_compressor.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>

#include "engine/base/error.h"
#include "engine/device/work_team.h"
#include "engine/recipes/budget.h"
#include "engine/recipes/select.h"

namespace winnow {

namespace {

// From so many candidates of a layer on its heads choose side by side: a thread takes longer to wake than fewer take.
constexpr std::int64_t kSharedRows = 16384;

const SegmentInfo& checked(const SegmentInfo& segment) {
  require(segment.tokens >= 0 && segment.layers > 0 && segment.kv_heads > 0 && std::ssize(segment.modality) == segment.tokens,
          "SegmentCompressor: one modality per token, at least one layer and head");
  return segment;
}

bool has_visual(const SegmentInfo& segment) { return std::ranges::any_of(segment.modality, is_attached); }

bool is_short_text(const Recipe& recipe, const SegmentInfo& segment) {
  return !has_visual(segment) && segment.tokens < recipe.min_event_tokens();
}

// True if this segment is one that the recipe compresses at all, whatever its budget says.
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
      const std::int64_t window = segment.window(layer);
      for (const Candidates& set : sets.of_layer(layer)) {
        most.competing = std::max(most.competing, choice.competing(set));
        most.guarded = std::max(most.guarded, choice.protected_slots(set));
        most.pinned = std::max(most.pinned, choice.competing_pins(set));
      }
      if (window > 0) most.reach = segment.retained != nullptr ? window - 1 : most.competing;
    }
  }
  std::optional<std::int64_t> seen;
  if (segment.retained != nullptr)
    seen = recipe.composition().scope == Scope::kVisual ? segment.retained->visual_seen : segment.retained->tokens_seen;
  return EventBudgets(recipe, layers, seen, segment.kv_heads);
}

float best_of(std::span<const float> scores) {
  return scores.empty() ? -std::numeric_limits<float>::infinity() : *std::max_element(scores.begin(), scores.end());
}

// One KV head's part of what is given per layer and head.
std::span<const std::vector<std::int32_t>> pairs_of(std::span<const std::vector<std::int32_t>> all, LayerId layer, std::int64_t kv_heads) {
  return all.subspan(static_cast<std::size_t>(layer * kv_heads), static_cast<std::size_t>(kv_heads));
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
  if (will_compress() && (recipe.static_budgets() || !watch_.sees_layers())) decide();
}

void SegmentCompressor::decide() {
  if (!recipe_.composition().allocator->best_of_all_layers()) {
    non_finite_weights_ = budgets_.decide(watch_.measured().values());
    return;
  }
  pairs_of_all_ = best_pairs([this](LayerId layer) { return competing_scores(layer); });
  std::vector<std::int64_t> slots;
  for (LayerId layer{0}; layer < segment_.layers; ++layer) {
    std::int64_t& of_layer = slots.emplace_back(0);
    for (const std::vector<std::int32_t>& head : pairs_of(pairs_of_all_, layer, segment_.kv_heads)) of_layer += std::ssize(head);
  }
  budgets_.take(std::move(slots));
}

std::vector<std::vector<std::int32_t>> SegmentCompressor::best_pairs(const CompetingScores& scores_of) const {
  // Layers that keep everything take their slots first.
  std::vector<LayerId> competing;
  std::int64_t pairs = budgets_.total();
  for (LayerId layer{0}; layer < segment_.layers; ++layer) {
    if (recipe_.keeps_whole(layer, segment_.layers)) {
      pairs -= competing_in(layer) * segment_.kv_heads;
    } else {
      competing.push_back(layer);
    }
  }
  const std::vector<std::vector<std::int32_t>> best = chosen_pairs(competing, pairs, scores_of);
  std::vector<std::vector<std::int32_t>> all;
  auto next = best.begin();
  for (LayerId layer{0}; layer < segment_.layers; ++layer) {
    std::vector<std::int32_t> everything(static_cast<std::size_t>(competing_in(layer)));
    std::iota(everything.begin(), everything.end(), 0);
    for (KvHead head{0}; head < segment_.kv_heads; ++head)
      all.push_back(recipe_.keeps_whole(layer, segment_.layers) ? everything : *next++);
  }
  return all;
}

std::vector<std::vector<float>> SegmentCompressor::competing_scores(LayerId layer) const {
  LayerWatch::PerSet<HeadScores> without_views;
  if (!watch_.sees_layers()) without_views = watch_.scores_without_views(layer);
  const LayerWatch::PerSet<HeadScores>& found = watch_.sees_layers() ? watch_.scores(layer) : without_views;
  const Candidates& rows = sets_.of(layer, KvHead(0));  // the same for all heads: nothing was retained
  std::vector<std::vector<float>> scores;
  for (KvHead head{0}; head < segment_.kv_heads; ++head) {
    const std::span<const float> all = watch_.row_of(found, layer, head);
    std::vector<float>& of_head = scores.emplace_back();
    for (const std::int32_t row : choice_.competing_rows(rows)) of_head.push_back(all[static_cast<std::size_t>(row)]);
  }
  return scores;
}

std::vector<std::vector<std::int32_t>> SegmentCompressor::chosen_pairs(std::span<const LayerId> layers, std::int64_t pairs,
                                                                       const CompetingScores& scores_of) const {
  std::vector<std::vector<float>> scores;
  std::vector<std::vector<std::int32_t>> pinned;  // per layer
  std::vector<CompetingHead> heads;
  scores.reserve(layers.size() * static_cast<std::size_t>(segment_.kv_heads));
  pinned.reserve(layers.size());
  for (const LayerId layer : layers) {
    pinned.push_back(choice_.pinned_among(sets_.of(layer, KvHead(0))));
    const double floor_share = recipe_.composition().head_floor * budgets_.retention();
    const auto floor_slots = static_cast<std::int64_t>(floor_share * static_cast<double>(competing_in(layer)));
    for (std::vector<float>& of_head : scores_of(layer)) {
      if (recipe_.composition().allocator->whole_heads()) std::fill(of_head.begin(), of_head.end(), best_of(of_head));
      heads.push_back({scores.emplace_back(std::move(of_head)), pinned.back(), floor_slots});
    }
  }
  return select_pairs(heads, pairs);
}

void SegmentCompressor::on_layer(const LayerView& view) {
  watch_.see(view);
  after_layer();
}

void SegmentCompressor::on_layer(const LayerView& view, StatisticsMemo& shared) {
  watch_.see(view, shared);
  after_layer();
}

void SegmentCompressor::after_layer() {
  if (will_compress() && !recipe_.static_budgets() && watch_.has_seen_all()) decide();
}

void SegmentCompressor::on_probe(LayerId layer, HeadScores votes) {
  watch_.see_probe(layer, std::move(votes));
  if (!recipe_.static_budgets() && watch_.has_seen_all()) decide();
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
  return !has_scores() || watch_.has_seen(layer);
}

LayerPlan SegmentCompressor::plan(LayerId layer) const {
  require(plan_ready(layer), "SegmentCompressor: this layer's plan is not ready");
  LayerPlan plan{.budget = PerLayer(budgets())[layer]};
  if (ragged()) {
    if (!pairs_of_all_.empty()) return plan_of_pairs(layer, plan.budget, pairs_of(pairs_of_all_, layer, segment_.kv_heads));
    const auto scores_of = [this](LayerId of) { return competing_scores(of); };
    return plan_of_pairs(layer, plan.budget, chosen_pairs({{layer}}, PerLayer(budgets_.slots())[layer], scores_of));
  }
  LayerWatch::PerSet<HeadScores> without_views;
  if (!has_scores()) without_views = watch_.scores_without_views(layer);
  const LayerWatch::PerSet<HeadScores>& scores = has_scores() ? watch_.scores(layer) : without_views;
  std::vector<KvHead> choosing;  // the others keep what the first does
  std::int64_t rows = 0;
  for (KvHead head{0}; head < segment_.kv_heads; ++head) {
    const Candidates& set = sets_.of(layer, head);
    const HeadScores& found = scores[sets_.set_index(layer, head)];
    require(found.columns == set.info.tokens && (found.heads == 1 || found.heads == set.info.kv_heads),
            "SegmentCompressor: a scorer must score every token for one or all kv heads");
    if (head > 0 && found.heads == 1 && sets_.of_layer(layer).size() == 1) continue;
    choosing.push_back(head);
    rows += set.info.tokens;
  }
  plan.kept.resize(static_cast<std::size_t>(segment_.kv_heads));
  const std::int64_t chosen = std::ssize(choosing);
  share_work(chosen, rows >= kSharedRows ? 1 : chosen, [&](std::int64_t begin, std::int64_t end) {
    for (const KvHead head : std::span(choosing).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin))) {
      plan.kept[static_cast<std::size_t>(head)] =
          choice_.choose(sets_.of(layer, head), watch_.row_of(scores, layer, head), watch_.protection(layer, head), plan.budget);
    }
  });
  if (chosen == 1) std::fill(plan.kept.begin() + 1, plan.kept.end(), plan.kept.front());
  return plan;
}

LayerPlan SegmentCompressor::plan_of_pairs(LayerId layer, std::int64_t budget, std::span<const std::vector<std::int32_t>> pairs) const {
  LayerPlan plan{.budget = budget};
  for (KvHead head{0}; head < segment_.kv_heads; ++head)
    plan.kept.push_back(choice_.beside(sets_.of(layer, head), pairs[static_cast<std::size_t>(head)]));
  return plan;
}

PerLayer<LayerPlan> SegmentCompressor::plans_of_late_rows(const PerLayer<std::int64_t>& first_wanted) const {
  const auto of_layer = [&](LayerId layer) -> const Candidates& { return sets_.of(layer, KvHead(0)); };
  const auto scores_of = [&](LayerId layer) {
    std::vector<float> scores;
    for (const std::int32_t row : choice_.competing_rows(of_layer(layer))) scores.push_back(row >= first_wanted[layer] ? 1.0F : 0.0F);
    return std::vector<std::vector<float>>(static_cast<std::size_t>(segment_.kv_heads), scores);
  };
  std::vector<std::int64_t> useful;  // of a layer's budget: pins take theirs in any case
  for (LayerId layer{0}; layer < segment_.layers; ++layer) {
    const std::vector<std::int32_t>& rows = choice_.competing_rows(of_layer(layer));
    const std::vector<std::int32_t> pinned = choice_.pinned_among(of_layer(layer));
    const auto late = [&](std::int32_t row) { return row >= first_wanted[layer]; };
    const std::int64_t early_pins = std::ranges::count_if(pinned, [&](std::int32_t i) { return !late(rows[static_cast<std::size_t>(i)]); });
    useful.push_back((std::ranges::count_if(rows, late) + early_pins) * (ragged() ? segment_.kv_heads : 1));
  }
  const PerLayer<std::int64_t> budgets(budgets_.foreseen_for(useful));
  std::vector<std::vector<std::int32_t>> pairs;
  const bool of_all_layers = recipe_.composition().allocator->best_of_all_layers();
  if (of_all_layers) pairs = best_pairs(scores_of);
  PerLayer<LayerPlan> plans;
  for (LayerId layer{0}; layer < segment_.layers; ++layer) {
    if (ragged()) {
      plans.push_back(
          plan_of_pairs(layer, budgets[layer],
                        of_all_layers ? pairs_of(pairs, layer, segment_.kv_heads) : chosen_pairs({{layer}}, budgets[layer], scores_of)));
      continue;
    }
    std::vector<float> wanted(static_cast<std::size_t>(of_layer(layer).info.tokens), 0.0F);
    std::fill(wanted.begin() + static_cast<std::ptrdiff_t>(first_wanted[layer]), wanted.end(), 1.0F);
    const std::vector<std::int32_t> kept = choice_.choose(of_layer(layer), wanted, {}, budgets[layer]);
    plans.push_back({budgets[layer], std::vector(static_cast<std::size_t>(segment_.kv_heads), kept)});
  }
  return plans;
}

std::vector<std::int64_t> SegmentCompressor::budgets() const {
  if (!will_compress()) {
    std::vector<std::int64_t> all;
    for (LayerId layer{0}; layer < segment_.layers; ++layer) {
      const SegmentInfo& rows = sets_.of(layer, KvHead(0)).info;
      all.push_back(rows.tokens - rows.first_row);
    }
    return all;
  }
  require(budgets_.decided(), "SegmentCompressor: budgets are known after the last layer");
  return per_head(budgets_.slots());
}

std::vector<std::int64_t> SegmentCompressor::per_head(std::vector<std::int64_t> slots) const {
  if (!ragged()) return slots;
  const auto heads = static_cast<double>(segment_.kv_heads);
  const std::int64_t pairs = std::accumulate(slots.begin(), slots.end(), std::int64_t{0});
  std::vector<std::int64_t> all;
  for (LayerId layer{0}; layer < segment_.layers; ++layer) all.push_back(competing_in(layer));
  std::vector<double> shares;
  for (const std::int64_t of_layer : slots) shares.push_back(static_cast<double>(of_layer) / heads);
  return round_to_total(shares, round_half_up(static_cast<double>(pairs) / heads), all);
}

PerLayer<std::vector<std::int64_t>> SegmentCompressor::foreseen_slots(std::int64_t more) const {
  if (more > 0) return foreseen_seen(more);
  const PerLayer<std::int64_t> budgets(will_compress() ? budgets_.foreseen() : std::vector<std::int64_t>{});
  auto slots = PerLayer<std::vector<std::int64_t>>::of(segment_.layers);
  for (LayerId layer{0}; layer < segment_.layers; ++layer) {
    if (will_compress() && ragged()) {
      const Candidates& rows = sets_.of(layer, KvHead(0));
      const std::int64_t beside = rows.info.tokens - choice_.competing(rows);
      for (std::int64_t head = 0; head < segment_.kv_heads; ++head)
        slots[layer].push_back(beside + (budgets[layer] + head) / segment_.kv_heads);  // the sum is the layer's
      continue;
    }
    for (const Candidates& set : sets_.of_layer(layer))
      slots[layer].push_back(will_compress() ? choice_.count(set, budgets[layer]) : set.info.tokens);
    slots[layer].resize(static_cast<std::size_t>(segment_.kv_heads), slots[layer].back());  // one set of candidates may stand for all heads
  }
  return slots;
}

PerLayer<std::vector<std::int64_t>> SegmentCompressor::foreseen_seen(std::int64_t more) const {
  require(segment_.retained == nullptr, "SegmentCompressor: an event over the whole cache is followed by no question");
  PerLayer<std::vector<std::int64_t>> seen = foreseen_slots();
  if (!segment_.slides()) return seen;
  SegmentInfo later = segment_;
  later.tokens += more;
  PerLayer<std::int64_t> first_row;
  for (LayerId layer{0}; layer < segment_.layers; ++layer)
    first_row.push_back(sets_.of(layer, KvHead(0)).info.rows_before(later.first_seen(layer)));
  const PerLayer<LayerPlan> late = will_compress() ? plans_of_late_rows(first_row) : PerLayer<LayerPlan>();
  for (LayerId layer{0}; layer < segment_.layers; ++layer) {
    if (!will_compress()) {
      for (std::int64_t& head : seen[layer]) head -= first_row[layer];
      continue;
    }
    const LayerPlan& plan = plan_ready(layer) ? this->plan(layer) : late[layer];
    for (KvHead head{0}; head < segment_.kv_heads; ++head) {
      const std::vector<std::int32_t>& rows = plan.kept[static_cast<std::size_t>(head)];
      seen[layer][static_cast<std::size_t>(head)] = std::ranges::count_if(rows, [&](std::int32_t row) { return row >= first_row[layer]; });
    }
  }
  return seen;
}

std::vector<std::pair<std::string, double>> SegmentCompressor::reasons(LayerId layer) const {
  std::vector<std::pair<std::string, double>> reasons;
  if (!will_compress()) return reasons;
  const std::vector<std::string> names = recipe_.composition().allocator->measure_names();
  const LayerMeasure& measure = watch_.measured()[layer];
  for (std::size_t i = 0; i < names.size() && i < measure.size(); ++i) reasons.emplace_back(names[i], measure[i]);
  return reasons;
}

std::vector<double> SegmentCompressor::best_scores(LayerId layer) const {
  std::vector<double> best;
  if (!will_compress() || !ragged()) return best;
  for (const std::vector<float>& of_head : competing_scores(layer)) {
    const float score = best_of(of_head);
    best.push_back(std::isfinite(score) ? score : 0.0);
  }
  return best;
}

SegmentCompressor::Notes SegmentCompressor::notes() const {
  return {.fallback_rows = watch_.fallback_rows(),
          .non_finite = watch_.non_finite() + non_finite_weights_,
          .raised_to_floor = budgets_.raised_to_floor(),
          .pins_above_budget = budgets_.pins_above_budget()};
}

}  // namespace winnow
